"""Where in a network an attention is: the name of a map or a gate, which needs no tensors."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class MapPlace:
    """Which attention of a network a map or a gate belongs to; `heedful.explain.legends` puts it into words.

    Attributes:
        rule: what a token may look at, for example "forward", "window(3)" or "forward & dependency"; may be empty.
        layer: number of the layer, from 1; None in a single layer.
        head: number of the head, from 1; None where the rules of the heads differ.
        kind: which of several attentions with one rule, for example "self" and "dot"; may be empty.
        number: place among the heads or blocks, from 1, where several have one rule; else None.
        encoder: number of the encoder, from 1, where several stand side by side; else None.
        distance: by which distance tokens far away count less, "word" or "dependency"; may be empty.
        axis: what the last axis of a map holds beside queries and keys, "features", "heads" or "features of the head";
            empty without such an axis. Two places that differ in it alone are the same.
    """

    rule: str = ""
    layer: int | None = None
    head: int | None = None
    kind: str = ""
    number: int | None = None
    encoder: int | None = None
    distance: str = ""
    axis: str = field(default="", compare=False)
