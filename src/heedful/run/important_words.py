"""What a trained model finds important, found within a time: the strongest words of each class, from some texts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heedful.data.examples import Example, WordTags
from heedful.errors import HeedfulError
from heedful.explain import Explanation
from heedful.explain.explainer import explain
from heedful.explain.methods import MethodChoice, Sampling
from heedful.explain.word_sums import WordSum, WordSums
from heedful.opening import open_model
from heedful.tables import in_one_line
from heedful.text.bio import OUTSIDE
from heedful.training.stages import stage

SECONDS, TEXTS = 2.0, 300
_LEAST, _SHARE = 0.8, 1 / 8
"""Seconds, and the share of what the process has taken so far: a short training is not much longer for its words."""
ROUGH = MethodChoice("contributions", Sampling(rough=True))
"""How each of many texts is explained whose contributions are added up."""
_FEW_TEXTS = 10
"""Texts that must have been explained before words are listed: those of one or two say nothing about a class."""
_PATIENCE = 2.5
_LABELS, _WORDS = 12, 6


@dataclass(frozen=True)
class Important:
    """The strongest words.

    Attributes:
        words: class to words and phrases, each with its mean contribution, the strongest first.
        texts: from how many texts.
    """

    words: dict[str, list[tuple[str, float]]]
    texts: int

    def render(self) -> str:
        """Return lines for a terminal."""
        width = max(len(in_one_line(label)) for label in self.words)
        lines = [
            f"  {in_one_line(label):<{width}}  {', '.join(f'{name} {value:+.2f}' for name, value in words)}"
            for label, words in list(self.words.items())[:_LABELS]
        ]
        more = len(self.words) - _LABELS
        lines += [f"  and {more:,} more classes"] if more > 0 else []
        how = f"mean contributions in {self.texts:,} texts, by strength and frequency"
        return "\n".join([f"What the model finds important ({how}):", *lines])


class TimeLeft:
    """Time for explanations: of the processor, or on a busy machine some more by the clock.

    Args:
        seconds: of the processor.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._processor, self._clock = seconds, time.process_time(), time.monotonic()

    @property
    def share(self) -> float:
        """The share of the time that has passed; from 1 on no further text is explained."""
        passed = max(time.process_time() - self._processor, (time.monotonic() - self._clock) / _PATIENCE)
        return passed / self._seconds if self._seconds else 1.0


def important_words(
    folder: Path, examples: Sequence[Example], seconds: float | None = None
) -> Important | None:
    """Explain some examples and add their words up.

    Args:
        folder: of the model.
        examples: from which texts are drawn.
        seconds: of the processor, after which no further text is explained; None takes an eighth of what the process
            has taken so far, from 0.8 to 2.

    Returns:
        The strongest words; None for a model that takes torch to explain, for answers without contributions, and
        where the time was enough for a few texts alone.
    """
    try:
        model = open_model(folder, "runtime")
    except HeedfulError:
        return None
    if "look" not in model.engine.can:
        return None
    if seconds is None:
        seconds = min(max(_SHARE * time.process_time(), _LEAST), SECONDS)

    def explained_at(example: Example, word: str | None = None) -> Explanation:
        return explain(model, example, ROUGH, word, faithfulness=False)

    explained_as = of_one_word(explained_at) if model.kind.of_words else explained_at
    sums, time_left = WordSums(), TimeLeft(seconds)
    drawn = random.Random(0).sample(range(len(examples)), min(TEXTS, len(examples)))
    with stage("looking for important words", len(drawn)) as explained:
        for place in drawn:
            explained.reach(max(explained.count + 1, int(len(drawn) * time_left.share)))
            try:
                sums.add(explained_as(examples[place]))
            except HeedfulError:  # too long a text, say
                continue
            if time_left.share >= 1:
                break
    if sums.texts < min(_FEW_TEXTS, len(drawn)):
        return None
    words = {
        sums.called(label): [(word.name, word.signed) for word in sums.top(label, _WORDS)]
        for label in sorted(sums.labels())
    }
    words = {label: found for label, found in words.items() if found}
    return Important(words, sums.texts) if words else None


def of_one_word(explain: Callable[[Example, str | None], Explanation]) -> Callable[[Example], Explanation]:
    """Return a function that explains the tag of one word of a sentence, drawn from those with a tag other than O.

    Args:
        explain: explains the tag of a word, which is named by its number from 1, or of the least certain one.

    Returns:
        The function; what it returns has the tags alone for labels.
    """

    def explained(example: Example) -> Explanation:
        tags = example.target.tags if isinstance(example.target, WordTags) else ()
        named = [place for place, tag in enumerate(tags, 1) if tag != OUTSIDE] or range(1, len(tags) + 1)
        found = explain(example, str(random.Random(example.row).choice(named)) if named else None)
        every = [each for each in (found.attribution, *found.others) if each is not None]
        first, *others = [replace(each, label=each.label.rpartition(" for ")[0]) for each in every]
        return replace(found, attribution=first, others=tuple(others))

    return explained


class SummedRows:
    """Explains rows in a random order, drawn with a fixed seed, until the time is over, and adds up their words.

    Args:
        examples: the rows.
        explain: explains the answer to one.
        seconds: after which no further row is explained.

    Attributes:
        sums: what was added up.
    """

    def __init__(
        self, examples: Sequence[Example], explain: Callable[[Example], Explanation], seconds: float
    ) -> None:
        self.sums, self._places, time_left = WordSums(), list[int](), TimeLeft(seconds)
        for place in random.Random(0).sample(range(len(examples)), len(examples)):
            try:
                explanation = explain(examples[place])
            except HeedfulError:  # too long a text, say
                continue
            self.sums.add(explanation)
            self._places.append(place)
            if time_left.share >= 1:
                break

    def top(self, label: str, count: int) -> tuple[WordSum, ...]:
        """Return the words that speak most for a class; their texts are places among the examples."""
        return tuple(
            replace(word, texts=tuple((value, self._places[text]) for value, text in word.texts))
            for word in self.sums.top(label, count)
        )
