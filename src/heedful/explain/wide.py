"""What the wide part of a model adds to a prediction, word by word: computed, as a record, as lines, as HTML."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.characters import cells, pad, shorten, visible
from heedful.text.wide_part import Phrase, WidePart

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SaidPhrase:
    """A phrase of several words and what it adds.

    Attributes:
        side: 0 for a text or the first of a pair, 1 for the second.
        start: its first word, from 0.
        end: the word after its last.
        text: the words, lower-cased.
        values: what it adds to the logit of each class, [Y].
    """

    side: int
    start: int
    end: int
    text: str
    values: Values


@dataclass(frozen=True, eq=False)
class Contributions:
    """Everything that a wide part adds to the logits of one example; the sum of it all is what it adds.

    Attributes:
        bias: what it adds to every example, [Y].
        words: for each side what each word adds, by itself and by its runs of characters, [n, Y]. What occurs several
            times is shared evenly among its occurrences.
        phrases: phrases of several words, likewise; those with the largest values first.
    """

    bias: Values
    words: tuple[Values, ...]
    phrases: tuple[SaidPhrase, ...]

    @property
    def total(self) -> Values:
        """The sum of everything, [Y]."""
        added = [side.sum(axis=0) for side in self.words] + [phrase.values for phrase in self.phrases]
        return self.bias + np.sum(added, axis=0)


def contributions(part: WidePart, sides: Sequence[Sequence[str]]) -> Contributions:
    """Take what a wide part adds to the logits of an example apart.

    Args:
        part: the wide part.
        sides: the words of a text, or of both texts of a pair.

    Returns:
        The contributions.
    """
    places: defaultdict[int, list[tuple[int, Phrase]]] = defaultdict(list)
    for side, words in enumerate(sides):
        for phrase in part.rule.phrases(words, side):
            places[phrase.number].append((side, phrase))
    rows, values = part.values(np.array(sorted(places), np.int32))
    own = [np.zeros((len(words), part.outputs)) for words in sides]
    phrases = []
    for row, value in zip(rows.tolist(), values.tolist(), strict=True):
        said = places[int(part.numbers[row])]
        each = part.weight * value * part.weights[row].astype(np.float64) / len(said)
        for side, phrase in said:
            if phrase.end - phrase.start == 1:
                own[side][phrase.start] += each
            else:
                phrases.append(SaidPhrase(side, phrase.start, phrase.end, phrase.text, each))
    phrases.sort(key=lambda phrase: -float(np.ptp(phrase.values)))
    return Contributions(part.weight * part.bias.astype(np.float64), tuple(own), tuple(phrases))


NOTE = (
    "The wide part is a linear model over words, pairs of neighbors and characters whose result is added to the "
    "network's. Each number is what a word or phrase adds to the predicted class's logit, less what it adds to the "
    "other classes on average: above 0 speaks for the prediction, below 0 against it."
)
_SHOWN = 8


@dataclass(frozen=True)
class SignedPhrase:
    """A word or a phrase with its sign.

    Attributes:
        side: 0 for a text or the first of a pair, 1 for the second.
        text: what it says.
        value: what it adds for the prediction; negative against it.
    """

    side: int
    text: str
    value: float


@dataclass(frozen=True, eq=False)
class WideView:
    """What the wide part said, for the predicted class and against the average of the others.

    Attributes:
        words: for each side the value of each of its words, [n].
        phrases: phrases of several words, the strongest first.
        bias: what it adds to every text.
        network: what the network itself says likewise.
    """

    words: tuple[NDArray[np.float64], ...]
    phrases: tuple[SignedPhrase, ...] = field(default_factory=tuple)
    bias: float = 0.0
    network: float = 0.0

    def __post_init__(self) -> None:
        words = tuple(np.array(side, np.float64) for side in self.words)
        phrases = tuple(SignedPhrase(**p) if isinstance(p, Mapping) else p for p in self.phrases)
        for name, value in (("words", words), ("phrases", phrases)):
            object.__setattr__(self, name, value)
        numbers = [self.bias, self.network, *(p.value for p in phrases), *(side.sum() for side in words)]
        if not np.isfinite(np.array(numbers, np.float64)).all() or any(side.ndim != 1 for side in words):
            raise UsageError("wide: every word and phrase needs one finite number")

    @property
    def total(self) -> float:
        """What the whole wide part says for the prediction, phrases that are not listed left out."""
        return self.bias + sum(float(side.sum()) for side in self.words) + sum(p.value for p in self.phrases)

    def strongest(self, names: Sequence[Sequence[str]], count: int = _SHOWN) -> list[SignedPhrase]:
        """Return the words and phrases that say most, for or against.

        Args:
            names: the words of each side.
            count: how many.

        Returns:
            Those of the largest size, the largest first.
        """
        pairs = zip(names, self.words, strict=True)
        single = [
            SignedPhrase(side, word, float(value))
            for side, (words, values) in enumerate(pairs)
            for word, value in zip(words, values, strict=True)
        ]
        ranked = sorted([*single, *self.phrases], key=lambda phrase: -abs(phrase.value))
        return [phrase for phrase in ranked if abs(phrase.value) >= 0.005][:count]

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; the constructor takes them back."""
        plain = {**asdict(self), "words": [side.tolist() for side in self.words]}
        return {**plain, "phrases": [asdict(phrase) for phrase in self.phrases]}


def wide_lines(view: WideView, names: Sequence[Sequence[str]], width: int) -> list[str]:
    """Write what the wide part said for a terminal.

    Args:
        view: what it said.
        names: the words of each side.
        width: columns.

    Returns:
        A title, one line a word or phrase, and what the numbers mean.
    """
    shown = view.strongest(names)
    room = max([cells(_label(phrase, names)) for phrase in shown], default=0)
    room = min(max(room, 15), width - 14)
    lines = [
        f"wide part: {view.total:+.2f} for the prediction, the network {view.network:+.2f}",
        *(f"  {pad(shorten(_label(phrase, names), room), room)} {phrase.value:+.2f}" for phrase in shown),
    ]
    return [*lines, "  above 0 speaks for the prediction, below 0 against it"]


def wide_section(view: WideView, names: Sequence[Sequence[str]]) -> str:
    """Write what the wide part said as a section of a page.

    Args:
        view: what it said.
        names: the words of each side.

    Returns:
        HTML, all text escaped.
    """
    rows = "".join(
        f"<tr><td><bdi>{escape(_label(phrase, names))}</bdi></td><td>{phrase.value:+.2f}</td></tr>"
        for phrase in view.strongest(names)
    )
    head = "<tr><th>word or phrase</th><th>for the prediction</th></tr>"
    return (
        f"<section><h2>Words and phrases, for and against</h2><p>Wide part {view.total:+.2f}, network "
        f'{view.network:+.2f}.</p><table class="signed">{head}{rows}</table>'
        f'<p class="note">{escape(NOTE)}</p></section>'
    )


def _label(phrase: SignedPhrase, names: Sequence[Sequence[str]]) -> str:
    said = visible(phrase.text)
    return said if len(names) == 1 else f"{said} ({phrase.side + 1})"
