"""What a student learns from: the training examples, and behind them texts that a teacher alone has answered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset, Truncate, encode
from heedful.data.gold import Targets
from heedful.data.tokens import TokenizedCorpus
from heedful.text.vocabulary import AnyVocabulary
from heedful.text.wide_part import PhraseRule


@dataclass(frozen=True)
class StudentReading:
    """How the words of a student become numbers; see `heedful.data.encoding.encode` for the attributes."""

    vocabulary: AnyVocabulary
    max_tokens: int
    truncate: Truncate
    phrases: PhraseRule | None = None
    keeps_words: bool = False

    def encoded(self, corpus: TokenizedCorpus, gold: Targets | None = None) -> EncodedDataset:
        """Return a corpus as numbers; a text that is too long is cut or left out, never refused."""
        return encode(
            corpus,
            self.vocabulary,
            gold,
            max_tokens=self.max_tokens,
            truncate="drop" if self.truncate == "error" else self.truncate,
            phrases=self.phrases,
            keeps_words=self.keeps_words,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TransferSet(EncodedDataset):
    """Examples as numbers, with a teacher's answers in their targets.

    Attributes:
        gold: how many of them, the first ones, are training examples with gold.
    """

    gold: int

    @property
    def rest(self) -> EncodedDataset:
        """The examples that only the teacher has answered."""
        return self.select(np.arange(self.gold, len(self)))


def encode_transfer(
    corpus: TokenizedCorpus, reading: StudentReading, values: NDArray[np.generic], gold: int
) -> TransferSet:
    """Turn texts that a teacher answered into numbers.

    Args:
        corpus: their words.
        reading: how they become numbers.
        values: what is learned of each, [N, ...].
        gold: how many of them, the first ones, have gold.

    Returns:
        The texts that are not too long.
    """
    places = Targets(np.arange(len(corpus)), np.ones(len(corpus), bool))
    dataset = reading.encoded(corpus, places)
    kept = np.asarray(dataset.targets, np.int64)
    return TransferSet(**{**vars(dataset), "targets": values[kept]}, gold=int((kept < gold).sum()))
