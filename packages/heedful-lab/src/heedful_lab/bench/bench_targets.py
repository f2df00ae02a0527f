"""What the operations and layers are meant to reach, and whether they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heedful_lab.bench.timing import Row


@dataclass(frozen=True)
class Target:
    """One figure to reach.

    Attributes:
        what: is compared, and at which length.
        limit: the figure.
        at_least: whether more is better.
        measured: what this machine did.
    """

    what: str
    limit: float
    at_least: bool
    measured: float

    @property
    def met(self) -> bool:
        """Whether the figure is reached."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def verdict(self) -> str:
        """The same in a word."""
        return "met" if self.met else "missed"


_PEER = "nn.MultiheadAttention"
_PAIRWISE = {16: 45.0, 64: 120.0, 256: 150.0}
_LINEAR = {256: 3.0, 512: 6.0, 2048: 20.0}
_MTSA_LENGTHS = range(16, 257)


def targets(rows: Sequence[Row], width: int) -> list[Target]:
    """Judge every target whose cases were timed.

    Args:
        rows: the measurements.
        width: features D.

    Returns:
        The targets, met or missed, in a fixed order.
    """
    return list(_Judge(rows, width).all())


class _Judge:
    def __init__(self, rows: Sequence[Row], width: int) -> None:
        self.rows = {(row.name, row.length): row for row in rows}
        self.lengths = sorted({row.length for row in rows})
        self.width = width

    def all(self) -> Iterator[Target]:
        for length, limit in _PAIRWISE.items():
            for ratio in self._times("plain torch DiSA", "DiSA fused", [length]):
                yield Target(
                    f"DiSA pairwise, times faster than plain torch, n = {length}", limit, True, ratio
                )
        for length, limit in _LINEAR.items():
            for ratio in self._times("DiSA fused", "DiSA linear", [length]):
                yield Target(f"DiSA linear, times faster than pairwise, n = {length}", limit, True, ratio)
        yield from self._growth()
        yield from self._memory()
        for ratio in self._times("DiSA layer", _PEER, [64]):
            yield Target(f"DiSA layer, time over {_PEER}, n = 64", 2.0, False, ratio)
        yield from self._worst(
            "DiSA layer, time over Bi-LSTM", 1.0, self._times("DiSA layer", "Bi-LSTM", self.lengths)
        )
        short = [length for length in self.lengths if length in _MTSA_LENGTHS]
        yield from self._worst(
            f"MTSA layer, time over {_PEER}", 1.15, self._times("MTSA layer", _PEER, short)
        )
        memory = [
            self.rows["MTSA layer", length].megabytes / self.rows[_PEER, length].megabytes
            for length in short
            if ("MTSA layer", length) in self.rows and (_PEER, length) in self.rows
        ]
        yield from self._worst(f"MTSA layer, memory over {_PEER}", 1.2, memory)

    def _times(self, over: str, under: str, lengths: Sequence[int]) -> list[float]:
        return [
            self.rows[over, length].milliseconds / self.rows[under, length].milliseconds
            for length in lengths
            if (over, length) in self.rows and (under, length) in self.rows
        ]

    def _worst(self, what: str, limit: float, ratios: Sequence[float]) -> Iterator[Target]:
        if ratios:
            yield Target(f"{what}, the worst of {len(ratios)} lengths", limit, False, max(ratios))

    def _growth(self) -> Iterator[Target]:
        ends = [self.rows.get(("DiSA linear", length)) for length in (512, 4096)]
        if ends[0] and ends[1]:
            short, long = (row.milliseconds / row.batch for row in ends if row)
            yield Target("DiSA linear, time of a sentence, n = 4096 over 512", 10.0, False, long / short)

    def _memory(self) -> Iterator[Target]:
        for length in (64, 512):
            for name in ("DiSA fused", "DiSA linear"):
                if row := self.rows.get((name, length)):
                    inputs = 3 * 4 * row.batch * length * self.width / 1e6
                    yield Target(
                        f"{name}, extra memory over its inputs, n = {length}",
                        3.0,
                        False,
                        row.megabytes / inputs,
                    )
