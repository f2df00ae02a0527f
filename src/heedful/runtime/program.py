"""A network as its description says it: a list of steps for each text, and one from the texts to the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from heedful.errors import UsageError
from heedful.model.attention_records import Sight
from heedful.runtime.attention_recording import align, look, read_shown
from heedful.runtime.kernels import Floats, TextRows
from heedful.runtime.step_chains import Chosen
from heedful.runtime.step_execution import Steps, value_of
from heedful.runtime.weights import Weights
from heedful.runtime.word_values import Ids, Ngrams, WordCounts, WordTables, WordValues

FORMAT = 1
EACH = ("text", "word")
"""What a network gives logits for: an example as a whole, or each word of its text."""
WORDS = "words"
"""The value that holds the word vectors of a text."""
SIDES = ("first", "second")
"""What stands before the name of a text's value in the answer's steps: "first.v7"."""


@dataclass(frozen=True)
class Result:
    """What a network makes of one example.

    Attributes:
        logits: unnormalized scores, [Y]; of a network that answers for each word [L, Y].
        vectors: the vector of each text, [D] each; empty where a network gives none.
    """

    logits: Floats
    vectors: tuple[Floats, ...]


class Program:
    """Runs a network.

    Args:
        description: what `heedful.export.describe` writes.
        weights: the tensors.
        rows: rows of the vocabulary in the trained table, the frozen one and that of n-grams.

    Attributes:
        description: as given.
        weights: as given.
        texts: how many texts an example has.
        width: features of a text's vector; 0 where it has none.
        outputs: how many logits there are, of an example or of each word.
        each: one of `EACH`.
        shown: what an explanation shows; None for a description that does not say it.

    Raises:
        UsageError: naming the first step that is wrong.
    """

    def __init__(
        self, description: Mapping[str, object], weights: Weights, rows: tuple[int, int, int]
    ) -> None:
        if description.get("format") != FORMAT:
            raise UsageError(f"network: format {FORMAT} expected; got {description.get('format')!r:.80}")
        texts = description.get("texts")
        if texts not in (1, 2) or isinstance(texts, bool):
            raise UsageError(f"network: texts must be 1 or 2; got {texts!r:.80}")
        self.description, self.weights, self.texts = description, weights, int(texts)
        self._words = WordTables(weights, description.get("words"), rows)
        self._read = Steps("read", description.get("read"), weights)
        self._answer = Steps("answer", description.get("answer"), weights)
        self.each = str(description.get("each", "text"))
        if self.each not in EACH or (self.each == "word" and texts != 1):
            raise UsageError(f"network: each must be one of {EACH}, word of one text; got {self.each!r:.80}")
        self._logits, self._vector = str(description.get("logits")), description.get("vector")
        prefixes = tuple(f"{side}." for side in SIDES)
        self._needed = frozenset(
            name.partition(".")[2] for name in self._answer.reads if name.startswith(prefixes)
        )
        if isinstance(self._vector, str):
            self._needed |= {self._vector}
        self._alone, self._rest = self._read.parted(WORDS, self._needed)
        self._known = WordValues(self._of_words)
        shown = description.get("shown")
        self.shown = None if shown is None else _Shown(shown, self._read, self._answer)
        some = (np.array([1, 1]), [np.zeros(1, np.int32)] * 2)
        tried = self.answer([self.read([some] * self.texts)])[0]
        self.width = len(tried.vectors[0]) if tried.vectors else 0
        self.outputs = tried.logits.shape[-1]
        if self.each == "word" and len(tried.logits) != len(some[0]):
            raise UsageError(f"network: {len(some[0])} words, and logits of {len(tried.logits)}")

    def remembering(self, memory: int) -> Program:
        """Return the network with other memory for what it makes of words alone; see `WordValues`."""
        found = copy(self)
        found._known = WordValues(self._of_words, memory)
        return found

    @property
    def word_counts(self) -> WordCounts:
        """What became of the words that were read."""
        return self._known.counts

    @property
    def words_width(self) -> int:
        """Features of the vector of a word."""
        return self._words.width

    def word_vectors(self, ids: Ids, ngrams: Ngrams) -> Floats:
        """Return the vectors of words as `read` reads them, [L, D]."""
        return self._words.of(ids, ngrams)

    def values(self, ids: Ids) -> Mapping[str, Floats]:
        """Return every value of one text by name, for a network without n-grams; `read` keeps what the answer needs."""
        return self._read.every({WORDS: self._words.of(ids, ())})

    def read(self, texts: Sequence[tuple[Ids, Ngrams]]) -> list[Mapping[str, Floats]]:
        """Read texts; what one of them gives does not depend on the others.

        Args:
            texts: of each the ids of its words, [L], and the rows of each word's n-grams, if the network has any.

        Returns:
            For each text the values that `answer` needs.
        """
        lengths = tuple(len(ids) for ids, _ in texts)
        ids, ngrams = np.concatenate([ids for ids, _ in texts]), [n for _, rows in texts for n in rows]
        with self._known.lent(ids, ngrams) as (tables, where):
            given = {
                name: TextRows(lengths, x) if where is None else Chosen(lengths, x, where)
                for name, x in tables.items()
            }
            values = self._rest(given, len(texts))
            parts = {name: value_of(values, name).parts for name in self._needed}
        return [{name: each[n] for name, each in parts.items()} for n in range(len(texts))]

    def _of_words(self, ids: Ids, ngrams: Ngrams) -> Mapping[str, Floats]:
        """Return what the first steps make of each word alone."""
        words = TextRows((1,) * len(ids), self._words.of(ids, ngrams))  # so that a few are computed at a time
        return {name: rows.whole for name, rows in self._alone({WORDS: words}, 1).items()}

    def vector(self, read: Mapping[str, Floats]) -> Floats:
        """Return the vector of a text, [D].

        Args:
            read: what `read` returned for it.

        Returns:
            The vector.

        Raises:
            UsageError: if the network reads pairs together and has none.
        """
        if not isinstance(self._vector, str):
            raise UsageError(
                "this network reads two texts together and has no vector of one text alone; encode with a model whose "
                "encoder reads single texts, such as disan"
            )
        return value_of(read, self._vector)[0]

    def answer(self, examples: Sequence[Sequence[Mapping[str, Floats]]]) -> list[Result]:
        """Answer for texts that were read.

        Args:
            examples: what `read` returned, for each text of each example.

        Returns:
            The logits and the vectors of each example.
        """
        given = {
            f"{side}.{name}": TextRows.of([texts[number][name] for texts in examples])
            for number, side in enumerate(SIDES[: self.texts])
            for name in self._needed
        }
        values = self._answer.run(given, len(examples), frozenset({self._logits}))
        logits = value_of(values, self._logits).parts
        has_vectors = isinstance(self._vector, str)
        return [
            Result(
                each if self.each == "word" else each[0],
                tuple(self.vector(text) for text in texts) if has_vectors else (),
            )
            for each, texts in zip(logits, examples, strict=True)
        ]

    def look(self, texts: Sequence[tuple[Ids, Ngrams]]) -> Sight:
        """Read one example and keep what was looked at.

        Args:
            texts: see `read`.

        Returns:
            The record.

        Raises:
            UsageError: if the description does not say what an explanation shows.
        """
        if self.shown is None:
            raise UsageError("the description of the network does not say what an explanation shows")
        read = [self._read.every({WORDS: self._words.of(ids, ngrams)}) for ids, ngrams in texts]
        sides = zip(SIDES, read, strict=False)
        answered = self._answer.every(
            {f"{side}.{name}": x for side, values in sides for name, x in values.items()}
        )
        looked = tuple(look(self.shown.read, values, self._read.weigher(values)) for values in read)
        alignments = align(self.shown.answer, self._answer.weigher(answered))
        averaged = frozenset(
            each.place for each in self.shown.read if each.what == "map" and self._read.averages(each.of[0])
        )
        logits = value_of(answered, self._logits)
        return Sight(logits if self.each == "word" else logits[0], looked, alignments, averaged)

    def run(self, texts: Sequence[Ids]) -> Result:
        """Read the texts of one example, for a network without n-grams, and answer."""
        return self.answer([self.read([(ids, ()) for ids in texts])])[0]


class _Shown:
    """What an explanation shows of the steps of each text, and of the answer's."""

    def __init__(self, description: object, read: Steps, answer: Steps) -> None:
        if not isinstance(description, Mapping):
            raise UsageError(f"network.shown: a table expected; got {description!r:.80}")
        prefix = description.get("prefix", [])
        if not isinstance(prefix, list) or not all(isinstance(token, str) for token in prefix):
            raise UsageError(f"network.shown.prefix: a list of words expected; got {prefix!r:.80}")
        self.prefix: tuple[str, ...] = tuple(prefix)
        self.read, self.answer = (read_shown(description.get(part, [])) for part in ("read", "answer"))
        for steps, entries in ((read, self.read), (answer, self.answer)):
            for name in (name for each in entries if each.what != "unchosen" for name in each.of):
                steps.maker(name)
