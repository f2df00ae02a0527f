"""One line of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One case at one length.

    Attributes:
        name: of the case.
        group: "operation" or "layer".
        peer: name of the case it is compared with.
        ours: whether it is Heedful's.
        length: tokens a sentence.
        batch: sentences.
        milliseconds: median of one training step, forward and backward.
        spread: half the distance between the quartiles, in milliseconds.
        megabytes: most memory held at once beyond inputs and parameters, 10^6 bytes.
        ceiling: least possible time on this machine over the measured time, 0 to 1.
        scaled_from: sentences really run; fewer than batch where all would not fit, time and memory then scaled.
    """

    name: str
    group: str
    peer: str
    ours: bool
    length: int
    batch: int
    milliseconds: float
    spread: float
    megabytes: float
    ceiling: float
    scaled_from: int
