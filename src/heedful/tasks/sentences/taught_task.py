"""What a student learns from a teacher, in the tasks whose network gives one row of numbers for a text or a pair."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.gold import Targets
from heedful.data.tokens import TokenizedCorpus
from heedful.data.transfer_set import StudentReading, TransferSet, encode_transfer
from heedful.errors import UsageError
from heedful.model.answers import AnyAnswer
from heedful.tasks.prepared import TeacherAnswers
from heedful.tasks.sentences.linear_targets import LinearTargets
from heedful.tasks.sentences.part_rows import TaughtRows
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.task import Answered
from heedful.tasks.words.reading_settings import text_settings
from heedful.tasks.words.word_task import WordTask
from heedful.text.vocabulary import AnyVocabulary

if TYPE_CHECKING:
    from heedful.run.run_config import DistilConfig, RunConfig

Model = TypeVar("Model", bound=SentenceModel[AnyAnswer])


class TaughtSentences(WordTask[EncodedDataset, Model, Answered]):
    """Base of `heedful.tasks.sentences.sentence_task.SentenceTask`: gold and a teacher's answers as numbers."""

    @abstractmethod
    def targets(self, corpus: TokenizedCorpus, labels: tuple[str, ...]) -> Targets:
        """Turn gold into numbers.

        Args:
            corpus: whose gold.
            labels: the names that it refers to, in the order of their numbers.

        Returns:
            The numbers.

        Raises:
            DataError: naming the row, if gold is not what it should be.
        """

    @abstractmethod
    def linear_targets(self, model: Model, dataset: EncodedDataset) -> LinearTargets:
        """Return the gold of a data set as linear parts learn it, with how much each example counts.

        Args:
            model: the model that they are for.
            dataset: examples with gold.

        Returns:
            The gold.
        """

    def transfer_set(
        self,
        config: RunConfig,
        corpus: TokenizedCorpus,
        gold: int,
        vocabulary: AnyVocabulary,
        labels: tuple[str, ...],
        taught: TeacherAnswers,
    ) -> TransferSet:
        """See `WordTask.transfer_set`."""
        known = np.asarray(self.targets(corpus, labels).values)[:gold]
        values = self.taught_targets(known, taught.probabilities, taught.vectors, config.distil)
        text = text_settings(config)
        reading = StudentReading(
            vocabulary, text.max_tokens, text.truncate, text.phrases, keeps_words=text.keeps_words
        )
        return encode_transfer(corpus, reading, values, gold)

    def taught_targets(
        self,
        gold: NDArray[np.floating],
        taught: NDArray[np.float32],
        vectors: NDArray[np.float32],
        distil: DistilConfig,
    ) -> NDArray[np.float32]:
        """Return the targets of a transfer set, whose first examples have gold.

        The losses of labels and of numbers are linear in a mixture of targets, up to a constant: to learn from the gold
        and from the teacher with shares of 1 is to learn from their mean with these shares.

        Args:
            gold: as `targets` gives it, [N] or [N, Y].
            taught: the teacher's answers to all examples, [M, Y].
            vectors: the teacher's sentence vectors, [M, V]; V is 0 where none are learned.
            distil: the share of the gold.

        Returns:
            Targets as `targets` gives them, of all examples.

        Raises:
            UsageError: if vectors are to be learned, which only classes do.
        """
        if vectors.shape[1]:
            raise UsageError("distil.vectors: is for classes; set distil.vectors=0")
        found = taught.astype(np.float32)
        known = gold.reshape(len(gold), -1)
        found[: len(gold)] = distil.weight * known + (1 - distil.weight) * found[: len(gold)]
        return found[:, 0] if gold.ndim == 1 else found

    def lessons(self, model: Model, rest: EncodedDataset) -> TaughtRows | None:
        """Return texts with a teacher's answers as linear parts learn them; by default the answers are gold.

        Args:
            model: the model that they are for.
            rest: the texts, with targets of a transfer set.

        Returns:
            Those that were answered; None where there are none.
        """
        return TaughtRows(rest, self.linear_targets(model, rest))
