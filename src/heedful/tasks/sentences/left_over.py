"""The gold that the linear parts of a model learn which learns on."""

from __future__ import annotations

from heedful.data.encoding import EncodedDataset
from heedful.model.answers import AnyAnswer
from heedful.tasks.sentences.fitting_wide import empty_part
from heedful.tasks.sentences.learned_before import Beyond
from heedful.tasks.sentences.linear_targets import LinearTargets
from heedful.tasks.sentences.part_rows import phrases_of
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
