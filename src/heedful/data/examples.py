"""One example: plain text plus gold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from heedful.data.frame import Frame

Gold = str | float | tuple[Frame, ...] | None
"""What is known of an example: its class, its score, or the frames of its predicates."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text or a pair of texts, with its gold label or score if there is one.

    Attributes:
        texts: one string for a text, two for a pair (premise, hypothesis).
        target: class name (str), score (float), the frames of all predicates, or None where there is no gold.
        words: for each text its ready-made tokens where the file has them (binary parse, tree), else None; an empty
            tuple means that no text has them.
        row: 1-based row (line) in the file it came from, header included; 0 where there is no file.
        group: what a breakdown of results goes by (genre, phenomenon); empty where there is none.
        heads: for each text the dependency head of each of its words (ready-made ones, or those the tokenizer makes):
            the head's place from 1, 0 for a root, -1 where unknown; None where a text has no parse. An empty tuple
            means that no text has one.
    """

    texts: tuple[str, ...]
    target: Gold = None
    words: tuple[tuple[str, ...] | None, ...] = ()
    row: int = 0
    group: str = ""
    heads: tuple[tuple[int, ...] | None, ...] = ()


@dataclass(frozen=True)
class Corpus:
    """What a reader returns.

    Attributes:
        examples: the examples, in file order.
        skipped: how many rows were left out, by reason in plain words; never silent.
        source: the file they came from, None for generated data.
    """

    examples: list[Example]
    skipped: Counter[str] = field(default_factory=Counter)
    source: Path | None = None
