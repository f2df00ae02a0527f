"""What a translator answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Translation:
    """What a model says about one request.

    Attributes:
        text: the translation.
        log_probability: of its subwords and its end.
        score: what the search ranked it by: the log-probability divided by the length penalty.
        tokens: subwords that were read.
        truncated: whether the source was cut (only when that was asked for).
        empty: whether the source has no subwords.
    """

    text: str
    log_probability: float
    score: float
    tokens: int
    truncated: bool
    empty: bool

    @property
    def remarks(self) -> str:
        """What a reader should know; empty where there is nothing."""
        notes = ["text without words"] if self.empty else []
        return ", ".join([*notes, f"cut to {self.tokens} subwords"] if self.truncated else notes)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"translation": self.text, **{k: v for k, v in asdict(self).items() if k != "text"}}
