"""Why a text is answered with none of the classes: what makes it unlike all training texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from heedful.model.decisions import ClassDecision
from heedful.model.model import Model

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

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)

    def sentence(self) -> str:
        """Say in one line why."""
        new = ", ".join(self.new_words[:_SHOWN]) + (" ..." if len(self.new_words) > _SHOWN else "")
        words = f"these words are new: {new}" if new else "no word is new"
        signals = ", ".join(f"{name} {added:+.2f}" for name, added in self.parts.items())
        begins = f"{self.label}: unlike all training texts" if self.rejected else "like training texts"
        than = f"more unlike than {self.share:.1%} of known texts"
        return (
            f"{begins} ({than}; score {self.score:.2f} of at most {self.threshold:.2f}: {signals}); {words}; "
            f"nearest class {self.nearest}"
        )


def strangeness(model: Model[Any, Any], request: Any) -> Strangeness | None:
    """Say how unlike all training texts a text is.

    Args:
        model: any model.
        request: one request.

    Returns:
        What was found; None for a model that always answers one of its classes.
    """
    if model.kind.outputs != "classes":
        return None
    decision = model.decision
    reject = decision.reject if isinstance(decision, ClassDecision) else None
    familiar = model.engine.parts.familiar if reject is not None else None
    if reject is None or familiar is None or not isinstance(decision, ClassDecision):
        return None
    block = model.reading.one(request)
    logits = np.asarray(model.engine.run(block), np.float32)
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
