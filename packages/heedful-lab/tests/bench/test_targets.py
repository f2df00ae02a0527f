from __future__ import annotations

import pytest

from heedful_lab.bench.bench_targets import targets
from heedful_lab.bench.timing import Row


def row(name: str, length: int, milliseconds: float, megabytes: float = 1.0, batch: int = 1) -> Row:
    return Row(name, "operation", "", True, length, batch, milliseconds, 0.1, megabytes, 0.5, batch)


def test_each_target_is_judged_from_its_rows() -> None:
    rows = [
        row("plain torch DiSA", 16, 90.0),
        row("DiSA fused", 16, 2.0),
        row("DiSA fused", 2048, 380.0),
        row("DiSA linear", 2048, 20.0),
        row("DiSA linear", 512, 10.0, batch=2),
        row("DiSA linear", 4096, 55.0),
        row("DiSA layer", 64, 4.0),
        row("nn.MultiheadAttention", 64, 2.0, 10.0),
        row("Bi-LSTM", 64, 3.0),
        row("MTSA layer", 64, 2.2, 13.0),
        row("MTSA layer", 512, 99.0, 99.0),
        row("nn.MultiheadAttention", 512, 1.0),
    ]
    found = {target.what: (target.measured, target.met) for target in targets(rows, 300)}
    assert found == {
        "DiSA pairwise, times faster than plain torch, n = 16": (45.0, True),
        "DiSA linear, times faster than pairwise, n = 2048": (19.0, False),
        "DiSA linear, time of a sentence, n = 4096 over 512": (11.0, False),
        "DiSA linear, extra memory over its inputs, n = 512": (pytest.approx(1 / 3.6864), True),
        "DiSA layer, time over nn.MultiheadAttention, n = 64": (2.0, True),
        "DiSA layer, time over Bi-LSTM, the worst of 1 lengths": (pytest.approx(4 / 3), False),
        "MTSA layer, time over nn.MultiheadAttention, the worst of 1 lengths": (pytest.approx(1.1), True),
        "MTSA layer, memory over nn.MultiheadAttention, the worst of 1 lengths": (1.3, False),
    }


def test_what_was_not_timed_is_not_judged() -> None:
    assert targets([row("DiSA fused", 16, 2.0)], 300) == []
