"""What is known of one explained prediction: what the network attended to, in words and numbers. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.attention_names import MapPlace
from heedful.errors import DataError, UsageError
from heedful.explain.attribution import Attribution
from heedful.explain.faithfulness import DeletionScore
from heedful.explain.neighbors import Neighbor
from heedful.explain.novelty import Strangeness
from heedful.explain.parent_shares import ParentShares
from heedful.explain.policy_steps import PolicySteps
from heedful.explain.word_features import WordFeatures
from heedful.storage.fields import Fields

Array = NDArray[Any]
Number = TypeVar("Number", bound=np.generic)
FORMAT = 1
_SLACK = 0.02
"""How far a weight or a sum of weights may leave its range: averages of half-precision softmaxes round by this much."""


@dataclass(frozen=True, eq=False)
class SentenceView:
    """One sentence and how the network read it.

    Attributes:
        name: its name on the page: "text", "premise" or "hypothesis".
        text: the original text.
        words: the n words that the network read.
        spans: [start, end) of each word in ``text``, in characters; (i, i) for a token that is not in the text
            (NULL, [CLS]).
        unknown: for each word, whether the vocabulary lacks it; empty if that was not recorded.
        truncated: whether the text continues after the last word that was read.
        maps: attention by caption, each [n, n], averaged over features: a row is a word, a column is a word that it
            attends to.
        gates: fusion gate by caption, each [n], averaged over features: 1 keeps the word, 0 takes its context.
        weights: source2token weight of each word, [n], averaged over features, sums to 1; None without such pooling.
        tree_distance: number of steps between words in the dependency tree, [n, n] int, or None; -1 means that there is
            no path.
        chosen: pairs (row, column) that a mask selector chose, [n, n] bool, or None.
        fusion: share of each attention in the state of each word, by the map's caption, each [n]; the shares of a
            word sum to 1.
        places: the place of each map in the network, by its caption; a map without a place is drawn without its layer
            and direction.
    """

    name: str
    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    unknown: tuple[bool, ...] = ()
    truncated: bool = False
    maps: Mapping[str, Array] = field(default_factory=dict)
    gates: Mapping[str, Array] = field(default_factory=dict)
    weights: Array | None = None
    tree_distance: Array | None = None
    chosen: Array | None = None
    fusion: Mapping[str, Array] = field(default_factory=dict)
    places: Mapping[str, MapPlace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.words)
        _set(self, words=tuple(self.words), spans=tuple((int(a), int(b)) for a, b in self.spans))
        _set(self, unknown=tuple(bool(flag) for flag in self.unknown) or (False,) * n)
        self._check_words()
        what = f"side {self.name!r}: "
        _set(self, maps={k: _weights(v, (n, n), f"{what}map {k!r}") for k, v in self.maps.items()})
        _set(self, gates={k: _weights(v, (n,), f"{what}gate {k!r}") for k, v in self.gates.items()})
        _set(self, fusion={k: _weights(v, (n,), f"{what}fusion {k!r}") for k, v in self.fusion.items()})
        _set(
            self, places={k: v if isinstance(v, MapPlace) else MapPlace(**v) for k, v in self.places.items()}
        )
        if self.weights is not None:
            weights = _weights(self.weights, (n,), f"{what}weights")
            if n and abs(weights.sum() - 1) > _SLACK:
                raise UsageError(
                    f"{what}weights must sum to 1 over the words; they sum to {weights.sum():.4f}."
                )
            _set(self, weights=weights)
        if self.tree_distance is not None:
            tree = _shaped(self.tree_distance, (n, n), f"{what}tree_distance", np.int64)
            _set(self, tree_distance=tree)
        if self.chosen is not None:
            _set(self, chosen=_shaped(self.chosen, (n, n), f"{what}chosen", np.bool_))

    @classmethod
    def from_words(cls, name: str, words: Sequence[str], **more: object) -> SentenceView:
        """Make a view of a sentence that came as words: its text is the words with single spaces.

        Args:
            name: what the reader calls it.
            words: the words.
            **more: other fields of the record.

        Returns:
            The view.
        """
        starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
        spans = tuple((start, start + len(word)) for start, word in zip(starts, words, strict=False))
        make: Callable[..., SentenceView] = cls  # which checks every field
        return make(name, " ".join(words), tuple(words), spans, **more)

    @property
    def in_text(self) -> tuple[bool, ...]:
        """For each word whether it stands in the text; tokens a model adds do not."""
        return tuple(end > start for start, end in self.spans)

    def _check_words(self) -> None:
        n = len(self.words)
        if len(self.spans) != n or len(self.unknown) != n:
            raise UsageError(
                f"side {self.name!r}: spans and unknown need one entry a word ({n}); got {len(self.spans)} and "
                f"{len(self.unknown)}. Pass the spans that the tokenizer returned with these words."
            )
        for start, end in self.spans:
            if not 0 <= start <= end <= len(self.text):
                raise UsageError(
                    f"side {self.name!r}: span ({start}, {end}) does not lie in a text of {len(self.text)} characters."
                )
        inside = [span for span in self.spans if span[1] > span[0]]
        for before, after in pairwise(inside):
            if after[0] < before[1]:
                raise UsageError(
                    f"side {self.name!r}: spans {before} and {after} overlap or are out of order."
                )


@dataclass(frozen=True)
class TagOfWord:
    """The tag of one word.

    Attributes:
        word: the word.
        tag: its tag.
        probability: of the tag, the word by itself.
    """

    word: str
    tag: str
    probability: float


@dataclass(frozen=True, eq=False)
class ExplanationRecord:
    """One prediction and its explanation, for every system: what `Explanation` shows.

    Attributes:
        sides: one view for a text, two for a pair.
        labels: class names, or grades of a score; may be empty if there is only a score.
        probabilities: one for each label.
        score: predicted score of a pair; None for a classifier.
        score_range: smallest and largest possible score.
        alignments: attention between two sides by name, each [n1, n2]: rows are words of the first side.
        method: name of the system that predicted.
        notes: what each picture means in plain words, by "map NAME", "gate NAME", "alignment NAME", "weights",
            "tree_distance", "chosen" or "fusion".
        faithfulness: the deletion score of the contributions, or else of the weights, if it was computed.
        attribution: what each word contributes, by the method that was asked for; None for attention.
        others: what each word contributes to further classes or labels, the most probable first.
        standing: how the method did on data, in a sentence, if that was measured.
        features: single features of one word, if they were asked for.
        policy: how a policy opened the masks of each sentence, if that was asked for.
        answered: the label that was predicted where costs decide; None for the most probable one.
        tags: the tag of each word, of a model that gives every word one.
        quantity: what the score is called, such as the column of its gold.
        neighbors: training examples that the texts resemble, of a model that keeps them.
        chosen: of several labels those that are answered, the likeliest first; None for a model that answers one.
        none_of_these: how unlike all training texts the texts are, of a model that may answer none of its classes.
        parents: those of classes that are paths, and which node is answered; None where they were not taken as paths.
    """

    sides: tuple[SentenceView, ...]
    labels: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    score: float | None = None
    score_range: tuple[float, float] | None = None
    alignments: Mapping[str, Array] = field(default_factory=dict)
    method: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    faithfulness: DeletionScore | None = None
    attribution: Attribution | None = None
    others: tuple[Attribution, ...] = ()
    standing: str = ""
    features: WordFeatures | None = None
    policy: tuple[PolicySteps, ...] = ()
    answered: str | None = None
    tags: tuple[TagOfWord, ...] = ()
    quantity: str = ""
    neighbors: tuple[Neighbor, ...] = ()
    none_of_these: Strangeness | None = None
    chosen: tuple[str, ...] | None = None
    parents: ParentShares | None = None

    def __post_init__(self) -> None:
        _set(self, sides=tuple(self.sides), labels=tuple(self.labels), notes=dict(self.notes))
        _set(self, probabilities=tuple(float(p) for p in self.probabilities))
        if len(self.sides) not in (1, 2):
            raise UsageError(f"sides must hold one view for a text or two for a pair; got {len(self.sides)}.")
        if len(self.labels) != len(self.probabilities):
            raise UsageError(
                f"labels and probabilities must match; got {len(self.labels)} and {len(self.probabilities)}."
            )
        if not self.labels and self.score is None:
            raise UsageError("a prediction needs labels with probabilities, or a score; got neither.")
        if self.chosen is not None:
            _set(self, chosen=tuple(map(str, self.chosen)))
            if not set(self.chosen) <= set(self.labels):
                raise UsageError(f"chosen must be labels; got {self.chosen!r:.80}.")
        nodes = (*self.labels, *(self.parents.probabilities if self.parents else ()))
        for answer in (self.answered, self.parents and self.parents.answered):
            if answer is not None and answer not in nodes:
                raise UsageError(f"answered must be one of the labels; got {answer!r:.80}.")
        numbers = np.asarray(
            [*self.probabilities, *(() if self.score is None else (self.score,))], dtype=float
        )
        if not np.isfinite(numbers).all():
            raise UsageError(f"probabilities and score must be finite; got {numbers.tolist()}.")
        _set(self, others=tuple(self.others))
        said = [*([] if self.attribution is None else [self.attribution]), *self.others]
        if any([len(v) for v in each.values] != [len(s.words) for s in self.sides] for each in said):
            raise UsageError("attribution must have one number for each word of each side.")
        if self.alignments and len(self.sides) != 2:
            raise UsageError("alignments need two sides; got one.")
        shape = tuple(len(side.words) for side in self.sides)
        _set(self, alignments={k: _weights(v, shape, f"alignment {k!r}") for k, v in self.alignments.items()})

    @property
    def predicted(self) -> str | None:
        """The label that was predicted: none of the classes, or `nearest`; None where only a score was predicted."""
        strange = self.none_of_these
        return strange.label if strange is not None and strange.rejected else self.nearest

    @property
    def nearest(self) -> str | None:
        """The most probable label, or `answered`, or the node of a tree; None where only a score was predicted."""
        if self.parents is not None:
            return self.parents.answered
        if self.answered is not None:
            return self.answered
        return self.labels[int(np.argmax(self.probabilities))] if self.labels else None

    def answers(self, label: str) -> bool:
        """Return whether a label is answered: one of several, or the nearest class."""
        return label == self.nearest if self.chosen is None else label in self.chosen

    @property
    def certainty(self) -> float:
        """The probability of the label that was predicted; 1 where only a score was predicted.

        Where no class fits, the share of known texts that are less unlike.
        """
        if self.none_of_these is not None and self.none_of_these.rejected:
            return self.none_of_these.share
        shares = dict(zip(self.labels, self.probabilities, strict=True))
        return (shares | (self.parents.probabilities if self.parents else {})).get(str(self.predicted), 1.0)

    def to_dict(self) -> dict[str, object]:
        """Turn into plain lists and numbers, ready for ``json.dumps``; `from_dict` gives the same record back."""
        record = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "sides"}
        sides = [{f.name: _plain(getattr(side, f.name)) for f in fields(side)} for side in self.sides]
        return {"format": FORMAT, **record, "sides": sides}

    @classmethod
    def from_dict(cls, record: Mapping[str, object]) -> Self:
        """Rebuild what `to_dict` wrote.

        Args:
            record: the dictionary.

        Returns:
            The explanation.

        Raises:
            DataError: if the version is unknown, or a field is missing, superfluous or malformed.
        """
        table = Fields(record, "", error=DataError)
        if (version := table.record.get("format")) != FORMAT:
            raise table.wrong("format", f"must be {FORMAT}; got {version!r:.80}. Write the file anew")
        made = {name: _part_of(kind, table.part(name)) for name, kind in _PARTS.items() if name in table}
        several = {
            name: tuple(_part_of(kind, part) for part in table.parts(name))
            for name, kind in _SEVERAL.items()
            if name in table
        }
        if "score_range" in table:
            made["score_range"] = tuple(map(float, table.numbers("score_range")))
        rest = {name: value for name, value in table.record.items() if name != "format"}
        try:
            make: Callable[..., Self] = cls  # which checks every field
            return make(**{**rest, **made, **several})
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise DataError(f"not an explanation as written by to_dict: {error}") from error


_PARTS: dict[str, Callable[..., object]] = {
    "faithfulness": DeletionScore,
    "attribution": Attribution,
    "features": WordFeatures,
    "none_of_these": Strangeness,
    "parents": ParentShares,
}
"""A field that is a record of its own, to the class of the record."""
_SEVERAL: dict[str, Callable[..., object]] = {
    "sides": SentenceView,
    "others": Attribution,
    "tags": TagOfWord,
    "neighbors": Neighbor,
    "policy": PolicySteps,
}
"""A field that lists records, to their class."""


def _part_of(kind: Callable[..., object], table: Fields) -> object:
    """Make a part of an explanation, which checks its fields, from a table."""
    try:
        return kind(**table.record)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise table.refused(f"is not as to_dict writes it: {error}") from error


def _set(record: object, **values: object) -> None:
    """Store normalized values in a frozen record, during its construction only."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _shaped(values: object, shape: tuple[int, ...], what: str, dtype: type[Number]) -> NDArray[Number]:
    array = np.array(values, dtype=dtype).reshape(shape) if 0 in shape else np.array(values, dtype=dtype)
    if array.shape != shape:
        raise UsageError(f"{what} must have shape {list(shape)}, one entry a word; got {list(array.shape)}.")
    array.flags.writeable = False
    return array


def _weights(values: object, shape: tuple[int, ...], what: str) -> Array:
    array = _shaped(values, shape, what, np.float64)
    if not np.isfinite(array).all():
        raise UsageError(
            f"{what} must be finite; it holds NaN or infinity. The network's output is not usable."
        )
    if array.size and (array.min() < -_SLACK or array.max() > 1 + _SLACK):
        raise UsageError(f"{what} must lie in 0..1; got {array.min():.4g} to {array.max():.4g}.")
    return array


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Attribution | Neighbor | WordFeatures | PolicySteps | Strangeness | ParentShares):
        return value.as_dict()
    if isinstance(value, DeletionScore | MapPlace | TagOfWord):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return value
