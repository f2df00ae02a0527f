"""The generator against published numbers, and the statistics of its bits."""

from __future__ import annotations

import itertools

import pytest
import torch
from scipy import stats

from heedful.attention.dropouts import STEPS, philox, random_bits

ONES = 0xFFFFFFFF
PUBLISHED = (  # "philox4x32 10" of kat_vectors, Random123 1.14: counter, key, words
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)
COUNT = 200_000
SEEDS = (0, 1, 2, 2**32, 2**62 + 12345)
LEAST = 1e-5  # a p-value below it fails; with the seeds fixed, nothing here is left to chance


@pytest.mark.parametrize(("counter", "key", "words"), PUBLISHED)
def test_philox_gives_the_published_words(
    counter: tuple[int, int, int, int], key: tuple[int, int], words: tuple[int, ...]
) -> None:
    c0, c1, c2, c3 = (torch.tensor([word]) for word in counter)
    assert tuple(word.item() for word in philox((c0, c1, c2, c3), key)) == words


def test_which_bits_an_element_has() -> None:
    seed, bits = 7 + (9 << 32), random_bits(7 + (9 << 32), 1000)
    for e in (0, 1, 2, 15, 16, 33, 63, 64, 100, 999):
        s, counter = e % 64 // 16, 8 * (e // 64) + e % 16 // 2
        block = (torch.tensor(counter), *(torch.tensor(0) for _ in range(3)))
        word = philox(block, (seed % 2**32, seed >> 32))[2 * (s // 2) + e % 2].item()
        assert bits[e].item() == (word >> 16 if s % 2 else word % 2**16)


def test_fewer_elements_are_the_beginning_of_more() -> None:
    assert torch.equal(random_bits(3, 77), random_bits(3, 1000)[:77])
    assert random_bits(3, 0).shape == (0,)


@pytest.mark.parametrize("seed", SEEDS)
def test_bits_are_uniform(seed: int) -> None:
    bits = random_bits(seed, COUNT)
    assert 0 <= bits.min() < 2**8
    assert STEPS - 2**8 < bits.max() < STEPS
    # Cells by the upper and by the lower 8 bits, each expected COUNT / 256 times.
    for cells in (bits >> 8, bits & 0xFF):
        assert stats.chisquare(cells.bincount(minlength=256).numpy()).pvalue > LEAST
    unit = (bits.double() + 0.5) / STEPS
    assert abs(unit.mean() - 0.5) < 5 * (1 / 12 / COUNT) ** 0.5
    assert abs(unit.var() - 1 / 12) < 5 * (1 / 180 / COUNT) ** 0.5


@pytest.mark.parametrize("distance", [1, 2, 7, 16, 32, 48, 64, 300, 512])
def test_positions_are_independent(distance: int) -> None:
    """Pairs at the distances of one word, one vector, one group and one feature of neighboring tokens."""
    for seed in SEEDS:
        bits = random_bits(seed, COUNT) >> 12
        pairs = (16 * bits[:-distance] + bits[distance:]).bincount(minlength=256)
        assert stats.chi2_contingency(pairs.view(16, 16).numpy()).pvalue > LEAST


def test_seeds_are_independent() -> None:
    """Also seeds that differ in one bit, or in one half."""
    seeds = (*SEEDS, 3, 2**32 + 1, 2**63 - 1)
    drawn = {seed: random_bits(seed, COUNT) >> 12 for seed in seeds}
    compared = 0
    for one, other in itertools.combinations(seeds, 2):
        pairs = (16 * drawn[one] + drawn[other]).bincount(minlength=256)
        assert stats.chi2_contingency(pairs.view(16, 16).numpy()).pvalue > LEAST
        compared += 1
    assert compared == 28


def test_runs_of_a_mask_are_as_long_as_they_should_be() -> None:
    """Lengths of runs of dropped elements follow the geometric law: no pattern within or between blocks."""
    p, longest = 0.25, 6
    dropped = random_bits(11, COUNT) < p * STEPS
    lengths = [sum(1 for _ in run) for kind, run in itertools.groupby(dropped.tolist()) if kind]
    seen = [sum(n == length for n in lengths) for length in range(1, longest)]
    seen.append(len(lengths) - sum(seen))
    expected = [len(lengths) * p ** (n - 1) * (1 - p) for n in range(1, longest)]
    expected.append(len(lengths) - sum(expected))
    assert stats.chisquare(seen, expected).pvalue > LEAST


def test_the_device_does_not_matter() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    assert torch.equal(random_bits(5, 1000, "cuda").cpu(), random_bits(5, 1000))
