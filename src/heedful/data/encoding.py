"""From examples to numbers: word ids, beside the gold that a task has turned into numbers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus, Ragged, lengths_of, ragged_of
from heedful.data.gold import Targets
from heedful.data.tokens import PieceTable, TokenizedCorpus, cut, field_name, place, tokenize_corpus, words_of
from heedful.errors import DataError, UsageError, check_known
from heedful.storage.growing_arrays import GrowingArray
from heedful.text.tokenize import Tokenizer
from heedful.text.vocabulary import AnyVocabulary, PieceVocabulary
from heedful.text.wide_part import PhraseRule

Truncate = Literal["error", "head", "drop", "window"]
_LOG = logging.getLogger(__name__)
_AT_ONCE = 4096


@dataclass(frozen=True)
class EncodeReport:
    """What encoding did to the data, in counts.

    Attributes:
        examples: examples kept.
        without_gold: examples left out because their gold is missing.
        dropped_long: examples left out because a text is longer than `max_tokens`.
        truncated: texts cut to `max_tokens`.
        tokens_cut: tokens lost by that.
        empty: texts kept that have no words.
        tokens: tokens kept.
        unknown: of these, tokens without a row of their own or of their base form.
    """

    examples: int
    without_gold: int = 0
    dropped_long: int = 0
    truncated: int = 0
    tokens_cut: int = 0
    empty: int = 0
    tokens: int = 0
    unknown: int = 0


@dataclass(frozen=True, eq=False)
class KeptWords:
    """The words of examples, for what reads words and no ids.

    Attributes:
        forms: the distinct surface forms.
        sides: for each column of texts the numbers of the words that are read, in `forms`.
    """

    forms: tuple[str, ...]
    sides: tuple[Ragged, ...]

    def take(self, rows: NDArray[np.int64]) -> KeptWords:
        """Return the examples at these positions, in this order."""
        return KeptWords(self.forms, tuple(side.take(rows) for side in self.sides))

    def examples(self, rows: Iterable[int]) -> list[list[list[str]]]:
        """Return for each of these examples the words of each of its texts."""
        return [[[self.forms[word] for word in side[row]] for side in self.sides] for row in rows]


@dataclass(frozen=True, eq=False)
class EncodedDataset:
    """Examples as numbers.

    Attributes:
        sides: ids of words, or of word pieces, one record for each column of texts.
        targets: the gold as its task encodes it, N rows: class numbers [N] int64, scores [N] float32; None where no
            gold was asked for.
        rows: row of each example in its file, [N] int64, from 1.
        groups: number of each example's group in `group_names`, [N] int32.
        group_names: the distinct groups.
        labels: the class names in the order of their numbers; empty for scores and without gold.
        report: what encoding left out and cut, of the whole that this may be a part of.
        heads: the dependency head of each word of each text; empty where there is no parse.
        places: the place of each piece's word in its text, from 0, in the rows of `sides`; empty where ids are words.
        spelled: for each column the row of each word in `ngrams`, in the rows of `sides`; empty where there are none.
        ngrams: the rows of the n-grams of each distinct word; None where the vocabulary has no n-grams.
        phrases: the features that a wide part reads of each example, all sides together; None where none is asked for.
        weights: how much each example counts in training, 1 on average, [N] float32; None where all count alike.
        mean_weight: what the weights were on average as they were given, before they were divided by it.
        kept: the words that are read of each example; None where nothing asks for them.
        texts: the texts of each example as they were, where a model is to keep them; else None.
        cells: of each example the values of the columns beside the text, by name; empty where none are read.
    """

    sides: tuple[Ragged, ...]
    targets: NDArray[np.generic] | None
    rows: NDArray[np.int64]
    groups: NDArray[np.int32]
    group_names: tuple[str, ...]
    labels: tuple[str, ...]
    report: EncodeReport
    heads: tuple[Ragged, ...] = ()
    places: tuple[Ragged, ...] = ()
    spelled: tuple[Ragged, ...] = ()
    ngrams: Ragged | None = None
    phrases: Ragged | None = None
    weights: NDArray[np.float32] | None = None
    mean_weight: float = 1.0
    kept: KeptWords | None = None
    texts: tuple[tuple[str, ...], ...] | None = None
    cells: tuple[Mapping[str, object] | None, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each text, words or pieces, [N, sides] int64."""
        return lengths_of(self.sides, len(self))

    def words(self) -> NDArray[np.int64]:
        """Return the number of words of each text, [N, sides] int64."""
        return np.stack([*map(words_of, self.places)], axis=1) if self.places else self.lengths()

    def select(self, indices: NDArray[np.int64]) -> EncodedDataset:
        """Return the examples at these positions (not file rows), in this order."""
        return replace(
            self,
            sides=tuple(side.take(indices) for side in self.sides),
            targets=None if self.targets is None else self.targets[indices],
            rows=self.rows[indices],
            groups=self.groups[indices],
            heads=tuple(heads.take(indices) for heads in self.heads),
            places=tuple(places.take(indices) for places in self.places),
            spelled=tuple(spelled.take(indices) for spelled in self.spelled),
            phrases=None if self.phrases is None else self.phrases.take(indices),
            weights=None if self.weights is None else self.weights[indices],
            kept=None if self.kept is None else self.kept.take(indices),
            texts=None if self.texts is None else tuple(self.texts[place] for place in indices),
            cells=tuple(self.cells[index] for index in indices.tolist()) if self.cells else (),
        )

    def further(self) -> dict[str, NDArray[np.generic]]:
        """Return what the data set holds beside the attributes of this class, as arrays by name, for the cache."""
        return {}

    @classmethod
    def with_further(cls, dataset: EncodedDataset, arrays: Mapping[str, NDArray[np.generic]]) -> Self:
        """Put a data set together again from the attributes of this class and what `further` gave."""
        return cls(**vars(dataset))


def encode(
    corpus: TokenizedCorpus,
    vocabulary: AnyVocabulary,
    gold: Targets | None = None,
    *,
    labels: Sequence[str] = (),
    max_tokens: int | None = None,
    truncate: Truncate = "error",
    phrases: PhraseRule | None = None,
    keeps_words: bool = False,
    whole: bool = False,
) -> EncodedDataset:
    """Turn a tokenized corpus into ids.

    Args:
        corpus: the words.
        vocabulary: gives each word its row, or its pieces.
        gold: the gold of the corpus as its task encodes it; None where it is not used, and nothing is left out.
        labels: the names that the targets refer to, in the order of their numbers.
        max_tokens: longest text allowed, in words, each column by itself; None for no limit. Word pieces have a limit
            of their own beside it, that of their encoder.
        truncate: what happens to a longer one: `error`; `head` keeps its first tokens; `drop` leaves the example out
            (the published SNLI code, with the 97 % quantile of training lengths as the limit). The last two are
            counted in the report and logged as a warning. `window` keeps the whole text, which the network reads in
            windows of that length.
        phrases: which features a wide part reads; None for none.
        keeps_words: whether the words are kept too, for a sentence part.
        whole: whether a text to be read in windows keeps its word pieces beyond the limit of their encoder too.

    Returns:
        The examples in their order, without those that have no gold where it is used, counted in the report.

    Raises:
        DataError: naming the row: a text that is too long.
        UsageError: if a setting is wrong.
    """
    _check_settings(max_tokens, truncate)
    has_gold: NDArray[np.bool_] = np.ones(len(corpus), bool) if gold is None else gold.present
    fits: NDArray[np.bool_] = np.ones(len(corpus), bool)
    truncated = tokens_cut = 0
    sides, all_heads = corpus.sides, corpus.heads
    table = PieceTable.build(corpus.words, vocabulary) if isinstance(vocabulary, PieceVocabulary) else None
    if truncate == "window":
        max_tokens = None
    longest = _longest(corpus, max_tokens, None if whole and truncate == "window" else table)
    over = corpus.lengths() - longest
    if (over > 0).any():
        if truncate == "error":
            _refuse_long(corpus, longest, has_gold, max_tokens)
        elif truncate == "drop":
            fits = over.max(axis=1) <= 0
        else:
            kept_over = over[has_gold]
            truncated, tokens_cut = int((kept_over > 0).sum()), int(kept_over.clip(min=0).sum())
            sides = tuple(side.head(limits) for side, limits in zip(sides, longest.T, strict=True))
            all_heads = tuple(cut(heads, limits) for heads, limits in zip(all_heads, longest.T, strict=False))
    kept = np.flatnonzero(has_gold & fits)
    if len(kept) < len(corpus):
        sides = tuple(side.take(kept) for side in sides)
        all_heads = tuple(heads.take(kept) for heads in all_heads)
    known = np.fromiter(map(vocabulary.knows, corpus.words), bool, len(corpus.words))
    report = EncodeReport(
        examples=len(kept),
        without_gold=int((~has_gold).sum()),
        dropped_long=int((has_gold & ~fits).sum()),
        truncated=truncated,
        tokens_cut=tokens_cut,
        empty=sum(int((side.lengths() == 0).sum()) for side in sides),
        tokens=sum(len(side.values) for side in sides),
        unknown=sum(int((~known[side.values]).sum()) for side in sides),
    )
    _warn(corpus, report, max_tokens)
    places: tuple[Ragged, ...] = ()
    ngrams = None
    if isinstance(vocabulary, PieceVocabulary):
        assert table is not None  # made above
        pieces = [table.cut(side) for side in sides]
        ids, places = tuple(own for own, _ in pieces), tuple(place for _, place in pieces)
    else:
        row_of = vocabulary.ids(corpus.words)
        if vocabulary.ngrams is not None:
            ngrams = ragged_of([vocabulary.rows_of_ngrams(word) for word in corpus.words])
        ids = tuple(Ragged(row_of[side.values], side.offsets) for side in sides)
    weights, mean = (None, 1.0) if corpus.weights is None else _evened(corpus.weights[kept], corpus.source)
    return EncodedDataset(
        sides=ids,
        targets=None if gold is None else gold.values[kept],
        rows=corpus.rows[kept],
        groups=corpus.groups[kept],
        group_names=corpus.group_names,
        labels=tuple(labels),
        report=report,
        heads=all_heads,
        places=places,
        spelled=() if ngrams is None else sides,
        ngrams=ngrams,
        phrases=_phrases(corpus, sides, phrases) if phrases is not None and phrases.reads else None,
        weights=weights,
        mean_weight=mean,
        kept=KeptWords(corpus.words, sides) if keeps_words else None,
        texts=None if corpus.texts is None else tuple(corpus.texts[place] for place in kept),
        cells=tuple(corpus.cells[row] for row in kept.tolist()) if corpus.cells else (),
    )


def _evened(weights: NDArray[np.float32], source: Path | None) -> tuple[NDArray[np.float32], float]:
    """Return weights of examples with a mean of 1, and the mean that they had."""
    mean = float(weights.mean(dtype=np.float64)) if len(weights) else 1.0
    if not mean > 0:
        raise DataError(f"{source or 'data'}: the weights of all examples are 0; at least one must count")
    return (weights / np.float64(mean)).astype(np.float32), mean


def _phrases(corpus: TokenizedCorpus, sides: tuple[Ragged, ...], rule: PhraseRule) -> Ragged:
    """Return the features of each example, those of all its texts together."""
    words, count = corpus.words, len(sides[0]) if sides else 0
    values, lengths = GrowingArray(np.int32), np.zeros(count, np.int64)
    for start in range(0, count, _AT_ONCE):
        texts: list[NDArray[np.int32]] = []
        for row in range(start, min(start + _AT_ONCE, count)):
            own = [
                rule.numbers([words[word] for word in side[row].tolist()], number)
                for number, side in enumerate(sides)
            ]
            texts.append(own[0] if len(own) == 1 else np.unique(np.concatenate(own)))
            lengths[row] = len(texts[-1])
        values.append(np.concatenate(texts))
    return Ragged(values.finished(), np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]))


def refuse_long(corpus: Corpus, vocabulary: AnyVocabulary, cutter: Tokenizer, max_tokens: int) -> None:
    """Refuse texts that are too long, as `encode` would.

    Only those of more characters than tokens are allowed need to be tokenized. A piece of a pretrained encoder may
    stand for less than a character; such a text is refused when it is encoded.

    Args:
        corpus: texts, or pairs.
        vocabulary: see `encode`.
        cutter: cuts texts into words.
        max_tokens: longest text allowed, in words.

    Raises:
        DataError: naming the row.
    """
    long = [e for e in corpus.examples if any(len(text) > max_tokens for text in e.texts)]
    if long:
        words = tokenize_corpus(long, cutter, corpus.source)
        encode(words, vocabulary, max_tokens=max_tokens, truncate="error")


def _check_settings(max_tokens: int | None, truncate: str) -> None:
    check_known(truncate, get_args(Truncate), f"truncate: unknown value {truncate!r}")
    if max_tokens is not None and max_tokens < 1:
        raise UsageError(f"max_tokens: expected at least 1 or None, got {max_tokens}")


def _longest(corpus: TokenizedCorpus, max_tokens: int | None, table: PieceTable | None) -> NDArray[np.int64]:
    """Return how many words of each text may be read, [N, sides] int64."""
    longest = corpus.lengths()
    if table is not None:
        longest = (
            np.stack([table.words_that_fit(side) for side in corpus.sides], axis=1)
            if corpus.sides
            else longest
        )
        longest = np.minimum(longest, corpus.lengths())
    return longest if max_tokens is None else np.minimum(longest, max_tokens)


def _refuse_long(
    corpus: TokenizedCorpus, longest: NDArray[np.int64], has_gold: NDArray[np.bool_], max_tokens: int | None
) -> None:
    lengths = corpus.lengths()
    positions, columns = np.nonzero((lengths > longest) & has_gold[:, None])
    if not len(positions):
        return
    position, column = int(positions[0]), int(columns[0])
    length, allowed = int(lengths[position, column]), int(longest[position, column])
    more = f" ({len(positions)} texts are too long)" if len(positions) > 1 else ""
    if allowed == max_tokens:
        limit = f"at most max_tokens = {max_tokens} allowed{more}. Raise it with --max-tokens, or"
    else:
        limit = f"of which the first {allowed} fill the word pieces that the pretrained encoder reads{more};"
    where = f"{place(corpus.source, int(corpus.rows[position]))}, {field_name(column, len(corpus.sides))}"
    raise DataError(
        f"{where}: {length} tokens, {limit} truncate such texts with --truncate head "
        "(in Python: truncate='head')."
    )


def _warn(corpus: TokenizedCorpus, report: EncodeReport, max_tokens: int | None) -> None:
    source = corpus.source or "data"
    limit = "what the encoder reads" if max_tokens is None else f"{max_tokens} tokens"
    if report.truncated:
        _LOG.warning(
            "%s: texts truncated to %s: %d (%d tokens removed)",
            source,
            limit,
            report.truncated,
            report.tokens_cut,
        )
    if report.dropped_long:
        _LOG.warning("%s: skipped %d examples longer than %s", source, report.dropped_long, limit)
