"""Several texts at once, and on several threads: what one of them gets is the same to the last bit."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from described import MODELS, built, program_of
from heedful.errors import DataError, UsageError
from heedful.model.model import in_order
from heedful.runtime import kernels, load
from waiting import PATIENCE

LENGTHS = (5, 1, 0, 12, 90, 1, 2, 0, 33)
compiled = pytest.mark.skipif(not kernels.compiled(), reason="the kernels are not compiled")


@pytest.mark.parametrize("computing", ["compiled", "plain"])
@pytest.mark.parametrize("name", MODELS)
def test_company_changes_no_bit(
    name: str, tmp_path: Path, computing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if computing == "plain":
        monkeypatch.setattr(kernels, "LIBRARY", None)
    program = program_of(built(MODELS[name]), tmp_path)
    generator = np.random.default_rng(7)
    texts = [(generator.integers(1, 49, length), ()) for length in LENGTHS]
    together, alone = program.read(texts), [program.read([text])[0] for text in texts]
    for mine, theirs in zip(together, alone, strict=True):
        assert list(mine) == list(theirs)
        assert all(np.array_equal(mine[value], theirs[value]) for value in mine)
    examples = [alone[n : n + program.texts] for n in range(len(alone) - 1)]
    for mine, theirs in zip(
        program.answer(examples), (program.answer([e])[0] for e in examples), strict=True
    ):
        assert np.array_equal(mine.logits, theirs.logits)


def drawn(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(shape[0]).standard_normal(shape) * scale).astype(np.float32)


@compiled
@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("width", [1, 5, 16, 300])
@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_weighted_sums_and_gates_are_near_the_exact_ones(width: int, scale: float) -> None:
    value, score = drawn(sum(LENGTHS), width), drawn(sum(LENGTHS) + 1, width, scale=scale)[1:].copy()
    found, start = kernels.weighted_sum(value, score, LENGTHS), 0
    for row, length in zip(found, LENGTHS, strict=True):
        part = slice(start, start := start + length)
        weights = np.exp(score[part].astype(np.float64) - score[part].max(axis=0, initial=-1e9))
        wanted = (weights * value[part]).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
        assert np.abs(row - wanted).max(initial=0) <= 2e-6
    bias = drawn(width)
    exact = 1 / (1 + np.exp(-(score.astype(np.float64) + value + bias)))
    gate = kernels.gated(score, value, bias, value, score)
    assert np.abs(gate - (score + exact * (value.astype(np.float64) - score))).max() <= 2e-6 * scale
    value[1, 0] = score[3, 0] = np.nan
    assert np.isnan(kernels.weighted_sum(value, score, LENGTHS)[0, 0])
    assert np.isnan(kernels.gated(score, value, None, bias + score * 0, score)[[1, 3], 0]).all()


@compiled
@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("width", [1, 5, 16, 300])
def test_means_are_those_of_each_text(width: int) -> None:
    value = drawn(sum(LENGTHS), width)
    found, start = kernels.mean(value, LENGTHS), 0
    for row, length in zip(found, LENGTHS, strict=True):
        part = value[start : (start := start + length)]
        assert np.abs(row - part.astype(np.float64).sum(axis=0) / max(length, 1)).max() <= 1e-6
        assert (row == kernels.mean(part, [length])[0]).all()


def test_threads_change_no_answer(saved: Any) -> None:
    _, path = saved()
    texts = [" ".join(["film", "dull", "a"][: n % 4]) for n in range(200)]
    model = load(path)
    wanted = list(model.predict(texts))
    assert list(model.threaded(3).predict(texts)) == wanted
    assert np.array_equal(model.threaded(2).encode(texts), model.encode(texts))
    assert model.threaded(2).limited(9).threads == 2
    with pytest.raises(UsageError):
        model.threaded(0)
    with pytest.raises(DataError, match="request 151"):
        list(model.threaded(3).predict([*texts[:150], 3]))  # type: ignore[list-item]


def test_results_are_in_order_and_few_are_ahead() -> None:
    ahead, done = [0], [0]

    def items() -> Iterator[int]:
        for number in itertools.count():
            ahead[0] = max(ahead[0], number - done[0])
            yield number

    meet = threading.Barrier(2)

    def slow(number: int) -> tuple[int, str]:
        if number in (1, 2):
            meet.wait(PATIENCE)  # each for the other, so that two threads work
        return number, threading.current_thread().name

    found = []
    for result in itertools.islice(in_order(slow, items(), 3), 40):
        found.append(result)
        done[0] += 1
    assert [number for number, _ in found] == list(range(40))
    assert ahead[0] <= 7
    assert len({name for _, name in found}) > 1
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda n: 1 // (3 - n), range(9), 2))
