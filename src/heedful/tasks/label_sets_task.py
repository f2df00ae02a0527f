"""What tasks share whose examples have a set of labels as gold."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from heedful.data.examples import Corpus, LabelSet
from heedful.data.gold import Targets, has_gold, with_unseen
from heedful.data.tokens import TokenizedCorpus, place
from heedful.errors import DataError
from heedful.model.answers import LabelsAnswer
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.sentences.sentence_task import SentenceTask

OfSets = TypeVar("OfSets", bound=SentenceModel[LabelsAnswer])


class LabelSetsTask(SentenceTask[OfSets, LabelsAnswer]):
    """Base of the tasks whose gold is a set of labels."""

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`; in alphabetical order."""
        found = {name for e in corpus.examples if isinstance(e.target, LabelSet) for name in e.target.names}
        if not found:
            raise DataError(
                f"{corpus.source or 'training data'}: no example has a label. Check the label column."
            )
        return tuple(sorted(found))

    def targets(self, corpus: TokenizedCorpus, labels: tuple[str, ...]) -> Targets:
        """See `SentenceTask.targets`: 1 at the labels of an example, 0 elsewhere, [N, Y] float32.

        Labels that only this corpus has get columns behind the others.
        """
        for row, target in enumerate(corpus.targets):
            if target is not None and not isinstance(target, LabelSet):
                where = place(corpus.source, int(corpus.rows[row]))
                raise DataError(f"{where}: expected a set of labels, got {target!r:.80}")
        found = [target.names if isinstance(target, LabelSet) else () for target in corpus.targets]
        every = with_unseen(found, labels, corpus)
        number = {label: n for n, label in enumerate(every)}
        flags = np.zeros((len(corpus), len(every)), np.float32)
        for row, names in enumerate(found):
            flags[row, [number[name] for name in names]] = 1
        return Targets(flags, has_gold(corpus), every)
