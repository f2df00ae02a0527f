"""Why a text is answered with none of the classes: what makes it unlike all training texts, as a record and in HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.explain.page_frame import safe
from heedful.model.decisions import ClassDecision
from heedful.model.model import Model
from heedful.tables import page_table, percent
from heedful.text.characters import shorten, visible

_SHOWN = 8


@dataclass(frozen=True)
class Strangeness:
    """How unlike all training texts a text is, and why.

    Attributes:
        label: what is answered to a text that fits no class.
        rejected: whether this one is answered so.
        score: how unlike it is.
        threshold: from which score on a text fits no class.
        share: the share of known texts that are less unlike.
        parts: what each signal adds to the score.
        new_words: its words that no training text has.
        nearest: the class that it is answered with otherwise.
    """

    label: str
    rejected: bool
    score: float
    threshold: float
    share: float
    parts: Mapping[str, float]
    new_words: tuple[str, ...]
    nearest: str

    def __post_init__(self) -> None:
        parts = {str(name): float(added) for name, added in self.parts.items()}
        for name, value in (("parts", parts), ("new_words", tuple(map(str, self.new_words)))):
            object.__setattr__(self, name, value)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {**asdict(self), "new_words": list(self.new_words)}

    @property
    def standing(self) -> str:
        """How unlike the text is beside known texts, in words."""
        if self.share >= 1:
            return "more unlike than all known texts"
        share = percent(self.share).replace("> ", "over ").replace("< ", "under ")
        return f"more unlike than {share} of known texts"

    @property
    def words(self) -> str:
        """Which words are new, in words."""
        new = ", ".join(shorten(visible(word), 30) for word in self.new_words[:_SHOWN])
        more = " ..." if len(self.new_words) > _SHOWN else ""
        return f"these words are new: {new}{more}" if new else "no word is new"

    def sentence(self) -> str:
        """Say in one line why."""
        signals = ", ".join(f"{name} {added:+.2f}" for name, added in self.parts.items())
        label = visible(self.label)
        begins = f"{label}: unlike all training texts" if self.rejected else "like training texts"
        return (
            f"{begins} ({self.standing}; score {self.score:.2f} of at most {self.threshold:.2f}: {signals}); "
            f"{self.words}; nearest class {visible(self.nearest)}"
        )


def strangeness(model: Model[Any, Any], block: Any, whole: NDArray[np.floating]) -> Strangeness | None:
    """Say how unlike all training texts a text is.

    Args:
        model: any model.
        block: one request that it read.
        whole: its logits, [Y].

    Returns:
        What was found; None for a model that always answers one of its classes.
    """
    decision = model.decision
    reject = decision.reject if isinstance(decision, ClassDecision) else None
    familiar = model.engine.parts.familiar if reject is not None else None
    if reject is None or familiar is None or not isinstance(decision, ClassDecision):
        return None
    logits = np.asarray(whole, np.float32)[None]
    signals = decision.signals(logits, model.engine.unlike(block))
    score = float(reject.scores(signals)[0])
    cutter = model.reading.cutter
    texts = [cutter.words(text)[: model.reading.max_tokens] for text in model.reading.texts(block)]
    return Strangeness(
        reject.label,
        score > reject.threshold,
        score,
        reject.threshold,
        reject.share(score),
        reject.parts(signals[0]),
        tuple(familiar.new_words(texts)),
        decision.names[int(decision.chosen(decision.probabilities(logits))[0])],
    )


_NOTE = (
    "Each number is what a sign of an unknown kind of text adds to the score, beside known texts: doubt of the "
    "probabilities, logits that are alike, distance from the training texts, and words that none of them has."
)


def strangeness_section(found: Strangeness | None) -> str:
    """Write why a text is answered with no class as a section of a page; folded away for a text like known ones.

    Args:
        found: what was found; None for a model that always answers one of its classes.

    Returns:
        HTML, all text escaped; empty without anything found.
    """
    if found is None:
        return ""
    label = safe(found.label)
    total = f"score; a class is answered up to {found.threshold:.2f}"
    adds = {**{escape(name): added for name, added in found.parts.items()}, total: found.score}
    rows = ([name, f"{added:+.2f}"] for name, added in adds.items())
    marks = [*[""] * len(found.parts), "sum"]
    table = page_table(("sign", "adds"), rows, ("", "r"), marks=marks, name="signed")
    standing = found.standing[0].upper() + found.standing[1:]
    body = (
        f'<p class="note">{standing}; <bdi>{escape(found.words)}</bdi>. Nearest class: '
        f"<bdi>{safe(found.nearest)}</bdi>.</p>{table}"
        f'<p class="note">{_NOTE}</p>'
    )
    if found.rejected:
        return f"<section><h2>Why “{label}”: unlike all training texts</h2>{body}</section>"
    why_not = f"<summary>Why not “{label}”? It is like training texts</summary>"
    return f"<section><details>{why_not}{body}</details></section>"
