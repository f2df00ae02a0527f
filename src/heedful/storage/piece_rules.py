"""How a pretrained encoder's tokenizer cuts words, as it is stored with a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PieceRules:
    """How an encoder's tokenizer cuts words, and what it adds to a text.

    Attributes:
        tokenizer: the rules, as the ``tokenizers`` library writes them in JSON.
        unknown: id of the piece that stands for what it cannot cut.
        start: id of the one token that it puts in front of a text ([CLS]).
        end: id of the one token that it puts behind it ([SEP]).
        limit: most pieces of a text, start and end not counted.
    """

    tokenizer: str
    unknown: int
    start: int
    end: int
    limit: int
