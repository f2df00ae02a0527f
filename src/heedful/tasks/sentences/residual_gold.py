"""The gold that the linear parts of a model learn which learns on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heedful.data.encoding import EncodedDataset
from heedful.data.transfer_set import TransferSet
from heedful.model.answers import AnyAnswer
from heedful.tasks.prepared import TRANSFER
from heedful.tasks.sentences.fitting_wide import empty_part
from heedful.tasks.sentences.linear_targets import LinearTargets
from heedful.tasks.sentences.part_rows import TaughtRows, phrases_of
from heedful.tasks.sentences.previous_part import Beyond
from heedful.tasks.sentences.sentence_model import SentenceModel


def left_over(
    model: SentenceModel[AnyAnswer], targets: LinearTargets, dataset: EncodedDataset, *, grows: bool = False
) -> LinearTargets:
    """Return the gold that linear parts learn: where the model learns on, what its old parts leave over.

    Args:
        model: the model.
        targets: the whole gold of the examples.
        dataset: the examples.
        grows: whether the old parts get the features of these examples too.

    Returns:
        The gold.
    """
    before = model.before
    if before is None:
        return targets
    if grows and model.text.phrases.reads and before.wide is not None:
        own = phrases_of(dataset)
        before = before.within(
            before.grown(targets.outputs, empty_part(model.text.phrases, own, targets.outputs))
        )
        model.before = before
    return Beyond.of_logits(targets, before.logits(dataset))


Lessons = Callable[[Any, EncodedDataset], TaughtRows | None]


def lessons_of(
    model: SentenceModel[AnyAnswer], datasets: Mapping[str, EncodedDataset], lessons: Lessons
) -> TaughtRows | None:
    """Return what linear parts learn of the texts that a teacher alone has answered.

    Args:
        model: the model that they are for.
        datasets: with a teacher, the transfer set among them.
        lessons: what a task makes of the texts; see `heedful.tasks.sentences.sentence_task.SentenceTask.lessons`.

    Returns:
        The texts; None where there are none.
    """
    transfer = datasets.get(TRANSFER)
    if not isinstance(transfer, TransferSet) or transfer.gold == len(transfer):
        return None
    found = lessons(model, transfer.rest)
    return (
        None if found is None else TaughtRows(found.dataset, left_over(model, found.targets, found.dataset))
    )
