"""What the tasks share that predict a number."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.gold import Targets, score_targets
from heedful.data.tokens import TokenizedCorpus
from heedful.errors import DataError
from heedful.evaluation import Report, evaluate_scores
from heedful.evaluation.streaming_reports import KeptScores
from heedful.model.answers import Answer
from heedful.model.decisions.decision import finite
from heedful.models import ModelConfig
from heedful.tasks.prepared import Prepared
from heedful.tasks.sentences.report_inputs import gold_of, group_of_each, notes_of
from heedful.tasks.sentences.sentence_model import ScoreModel
from heedful.tasks.sentences.sentence_task import SentenceTask
from heedful.tasks.words.lexicon import Lexicon

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig

Scored = TypeVar("Scored", bound=ScoreModel)


class ScoreTask(SentenceTask[Scored, Answer]):
    """Base of the tasks that answer with a number."""

    kept = "scores"

    def untrained(self, config: RunConfig, prepared: Prepared[EncodedDataset, Lexicon]) -> Scored:
        """See `Task.untrained`; numbers that are all the same are refused."""
        numbers = gold_of(prepared.datasets["train"]).astype(np.float64)
        if not np.ptp(numbers):
            raise DataError(
                f"all {len(numbers):,} training numbers are {numbers[0]:.10g}: there is nothing to learn; "
                "check the column that data.score names"
            )
        return super().untrained(config, prepared)

    @abstractmethod
    def figures(
        self,
        gold: NDArray[np.floating],
        predicted: NDArray[np.floating],
        weights: NDArray[np.floating] | None = None,
    ) -> dict[str, float]:
        """Compute the metrics of scores, [N] each; with weights, [N], each example counts by its own."""

    def judged(self, model: Scored, rows: NDArray[np.float32], dev: EncodedDataset) -> dict[str, float]:
        """See `SentenceTask.judged`."""
        return self.figures(gold_of(dev).astype(np.float64), model.scores(rows), dev.weights)

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Task.collect_labels`: there are none."""
        return ()

    def targets(self, corpus: TokenizedCorpus, labels: tuple[str, ...]) -> Targets:
        """See `SentenceTask.targets`."""
        return score_targets(corpus)

    def named_outputs(self, model: ModelConfig) -> int:
        """See `WordTask.named_outputs`: numbers have no names."""
        return 0

    def report_of(
        self, model: Scored, dataset: EncodedDataset, rows: NDArray[np.float32], seconds: float
    ) -> Report:
        """See `SentenceTask.report_of`."""
        return evaluate_scores(
            gold_of(dataset).astype(np.float64),
            model.scores(rows),
            groups=group_of_each(dataset),
            lengths=dataset.lengths(),
            seconds=seconds,
            notes=notes_of(dataset, model.knows),
            metrics=self.figures,
        )

    def gold_blocks(self, model: Scored, file: Path, options: Mapping[str, object]) -> Iterator[Corpus]:
        """See `Task.gold_blocks`: a block has at most 8,192 examples."""
        return self.table.gold_blocks(file, options, model.labels, model.about.run)

    def measure_blocks(self, model: Scored, blocks: Iterable[EncodedDataset]) -> Report:
        """See `Task.measure_blocks`: the scores are kept, since ranks need all of them."""
        kept, notes, seconds = KeptScores(), Counter[str](), 0.0
        for dataset in blocks:
            started = time.perf_counter()
            rows = finite("prediction", model.run(dataset)[0])
            gold = gold_of(dataset).astype(np.float32, copy=False)
            kept.add(gold, model.scores(rows), dataset.groups, dataset.group_names, dataset.lengths())
            notes.update(notes_of(dataset, model.knows))
            seconds += time.perf_counter() - started
        return kept.report(self.figures, seconds=seconds, notes=dict(notes))
