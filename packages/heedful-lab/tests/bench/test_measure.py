from __future__ import annotations

import torch

from heedful_lab.bench.timing import Ceiling, Timing, describe_machine, interleave, once, peak_bytes


def test_peak_is_counted_exactly() -> None:
    def step() -> None:
        first = torch.empty(1000, dtype=torch.float32)
        del first
        second = torch.empty(700, dtype=torch.float32)
        third = torch.empty(600, dtype=torch.float32)
        del second, third

    step()
    assert peak_bytes(step) == 4 * 1300


def test_every_case_is_measured_as_often_as_asked() -> None:
    timings = interleave({"a": lambda: None, "b": lambda: None}, 7)
    assert {name: len(t.seconds) for name, t in timings.items()} == {"a": 7, "b": 7}
    assert all(s >= 0 for t in timings.values() for s in t.seconds)


def test_turns_are_taken() -> None:
    calls: list[str] = []
    import heedful_lab.bench.timing as measure

    before = measure._SHORTEST
    measure._SHORTEST = 0.0
    try:
        interleave({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 4)
    finally:
        measure._SHORTEST = before
    assert calls == list("ab" + "abbaabba")


def test_median_and_spread() -> None:
    timing = Timing((1.0, 2.0, 3.0, 4.0, 100.0, 5.0, 6.0))
    assert timing.median == 4.0
    assert timing.spread == 2.0
    assert once(lambda: None) >= 0


def test_roofline_is_the_slower_of_the_two() -> None:
    ceiling = Ceiling(matmul=100.0, bandwidth=10.0)
    assert ceiling.shortest(1e9, 0) == 0.01
    assert ceiling.shortest(1e9, 1e9) == 0.1


def test_the_machine_is_described_without_its_name() -> None:
    import platform

    facts = describe_machine()
    assert {"torch", "threads", "kernels", "processor features"} <= set(facts)
    assert platform.node() not in facts.values()
