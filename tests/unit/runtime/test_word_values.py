"""What first steps make of words alone: computed once for each word, and equal whatever was read before."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from described import built, program_of
from heedful.runtime import word_values
from heedful.runtime.kernels import Floats
from heedful.runtime.program import WORDS
from heedful.runtime.word_values import Ids, Ngrams, WordValues

WIDTH = 3


class Counting:
    """Gives each word its id and the sum of its n-grams, and remembers which words it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, ids: Ids, ngrams: Ngrams) -> Mapping[str, Floats]:
        self.asked.append(ids.tolist())
        sums = [float(rows.sum()) for rows in ngrams] or [0.0] * len(ids)
        rows = np.repeat(np.array(ids, np.float32)[:, None], WIDTH, axis=1)
        return {"own": rows, "spelled": np.array(sums, np.float32)[:, None]}


def ids(*numbers: int) -> Ids:
    return np.array(numbers, np.int64)


def test_by_default_words_take_no_more_than_the_memory_that_is_promised() -> None:
    def compute(words: Ids, ngrams: Ngrams) -> Mapping[str, Floats]:
        return {"wide": np.repeat(words.astype(np.float32)[:, None], 1 << 18, axis=1)}  # 1 MB a word

    values = WordValues(compute)
    for word in range(40):
        assert values.of(ids(word), ())["wide"][0, -1] == word
    assert 8 <= values.counts.kept <= 16


def test_a_word_is_computed_once() -> None:
    compute = Counting()
    values = WordValues(compute)
    assert values.of(ids(5, 2, 5), ())["own"][:, 0].tolist() == [5, 2, 5]
    assert values.of(ids(2, 7), ())["own"][:, 0].tolist() == [2, 7]
    assert compute.asked == [[5, 2], [7]] or compute.asked == [[2, 5], [7]]


def test_unknown_words_differ_by_their_ngrams() -> None:
    compute = Counting()
    grams = [np.array([1, 2], np.int32), np.array([3], np.int32), np.array([1, 2], np.int32)]
    found = WordValues(compute).of(ids(1, 1, 1), grams)
    assert found["spelled"][:, 0].tolist() == [3, 3, 3]
    other = WordValues(compute).of(ids(1, 1), [grams[0], np.array([9], np.int32)])
    assert other["spelled"][:, 0].tolist() == [3, 9]


def test_a_full_memory_forgets_and_a_larger_text_still_fits() -> None:
    compute = Counting()
    values = WordValues(compute, memory=2 * 4 * (WIDTH + 1))
    for asked in ((1, 2), (3,), (1, 3), (4, 5, 6, 7, 4), (1, 2)):
        assert values.of(ids(*asked), ())["own"][:, 1].tolist() == list(asked)
    assert sum(map(len, compute.asked)) == 9  # of 12 words that were asked for, three were still kept


def test_common_words_stay_while_rare_ones_come_and_go() -> None:
    compute = Counting()
    values = WordValues(compute, memory=8 * 4 * (WIDTH + 1))
    for rare in range(100, 160, 2):
        assert values.of(ids(1, 2, rare, 3, rare + 1), ())["own"][:, 1].tolist() == [1, 2, rare, 3, rare + 1]
    assert [word for asked in compute.asked for word in asked if word < 100] == [1, 2, 3]
    assert values.counts.kept == 8


def test_rows_on_loan_stay_as_they_are_while_others_give_way() -> None:
    values = WordValues(Counting(), memory=4 * 4 * (WIDTH + 1))
    with values.lent(ids(1, 2), ()) as (tables, where):
        for other in range(10, 40, 3):
            assert values.of(ids(other, other + 1, other + 2), ())["own"][:, 0].tolist() == [
                other,
                other + 1,
                other + 2,
            ]
        assert where is not None
        assert tables["own"][where, 0].tolist() == [1, 2]
    assert values.counts.kept <= 5  # one more than fits: two on loan and three of a request


def test_memory_is_taken_as_words_come() -> None:
    compute = Counting()
    values = WordValues(compute, memory=10**30)  # more than any array can be
    for asked in ((1,), (2, 3), tuple(range(40)), (3, 39, 1), tuple(range(35, 45))):
        assert values.of(ids(*asked), ())["own"][:, 1].tolist() == list(asked)
    assert sum(map(len, compute.asked)) == 45  # each of them once
    assert values.counts.kept == 45


def test_without_memory_every_word_is_computed_and_the_same() -> None:
    compute = Counting()
    values, kept = WordValues(compute, memory=0), WordValues(Counting())
    for asked in ((5, 2, 5), (2,)):
        found, wanted = values.of(ids(*asked), ()), kept.of(ids(*asked), ())
        assert all(np.array_equal(found[name], x) for name, x in wanted.items())
    assert compute.asked == [[5, 2, 5], [2]]
    assert values.counts == (4, 4, 0)
    assert kept.counts == (4, 2, 2)


def test_no_words() -> None:
    found = WordValues(Counting()).of(ids(), ())
    assert found["own"].shape == (0, WIDTH)


def test_threads_share_them() -> None:
    values = WordValues(Counting(), memory=8 * 4 * (WIDTH + 1))
    asked = [np.random.default_rng(n).integers(0, 30, 12) for n in range(40)]
    with ThreadPoolExecutor(4) as pool:
        for mine, found in zip(asked, pool.map(lambda each: values.of(each, ()), asked), strict=True):
            assert np.array_equal(found["own"][:, 0], mine)


def test_no_thread_waits_for_the_copies_of_another_or_changes_what_it_copies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = WordValues(Counting(), memory=8 * 4 * (WIDTH + 1))
    values.of(ids(*range(8)), ())
    waiting, before = (
        [ids(*range(20, 28)), ids(*range(30, 38))],
        word_values.room,
    )  # more than is kept: some is forgotten

    def busy(rows: int, width: int) -> np.ndarray:
        if waiting:  # another thread asks while this one copies
            other = Thread(target=values.of, args=(waiting.pop(), ()), daemon=True)
            other.start()
            other.join(10)
            assert not other.is_alive()
        return before(rows, width)

    monkeypatch.setattr(word_values, "room", busy)
    assert values.of(ids(7, 0, 3), ())["own"][:, 0].tolist() == [7, 0, 3]
    assert not waiting


def test_no_thread_waits_while_another_computes_new_words() -> None:
    counting, inside = Counting(), list[Thread]()

    def compute(words: Ids, ngrams: Ngrams) -> Mapping[str, Floats]:
        if not inside:  # another thread asks for the same words while this one computes them
            inside.append(Thread(target=values.of, args=(ids(4, 2), ()), daemon=True))
            inside[0].start()
            inside[0].join(10)
            assert not inside[0].is_alive()
        return counting(words, ngrams)

    values = WordValues(compute)
    assert values.of(ids(2, 4, 2), ())["own"][:, 0].tolist() == [2, 4, 2]
    assert inside
    assert values.counts == (5, 4, 2)  # both threads computed both words, which are kept once


@pytest.mark.parametrize("memory", [2, 4, 6])
def test_words_that_another_thread_makes_forgotten_are_computed_again(memory: int) -> None:
    others = [ids(20, 21, 22), ids(23, 24)]

    def compute(words: Ids, ngrams: Ngrams) -> Mapping[str, Floats]:
        if others and 9 in words:  # meanwhile another thread fills the memory
            other = Thread(target=values.of, args=(others.pop(), ()), daemon=True)
            other.start()
            other.join(10)
        return Counting()(words, ngrams)

    values = WordValues(compute, memory=memory * 4 * (WIDTH + 1))
    values.of(ids(1, 2), ())
    for _ in range(2):
        assert values.of(ids(1, 9, 2), ())["own"][:, 0].tolist() == [1, 9, 2]


@pytest.mark.parametrize("encoder", ["disan", "mtsa", "mssan", "bi-lstm"])
@pytest.mark.parametrize("memory", [0, 5000])
def test_a_network_gives_the_same_bits_with_any_memory(encoder: str, memory: int, tmp_path: Path) -> None:
    program = program_of(built({"encoder": encoder}), tmp_path)
    other = program.remembering(memory)
    texts = [np.random.default_rng(n).integers(1, 49, n) for n in (1, 4, 9, 4)]
    for _ in range(2):
        wanted, found = (each.read([(text, ()) for text in texts]) for each in (program, other))
        for one, two in zip(wanted, found, strict=True):
            assert all(np.array_equal(two[name], x) for name, x in one.items())
    assert other.word_counts.requested == 36
    assert program.word_counts.computed < 36
    assert memory or other.word_counts.computed == 36


@pytest.mark.parametrize("encoder", ["disan", "bi-lstm", "transformer"])
def test_a_network_gives_the_same_as_without_them(encoder: str, tmp_path: Path) -> None:
    program = program_of(built({"encoder": encoder}), tmp_path)
    texts = [np.random.default_rng(n).integers(1, 49, n) for n in (1, 4, 9, 4)]
    for _ in range(2):
        together = program.read([(each, ()) for each in texts])
        for mine, read in zip(texts, together, strict=True):
            every = program.values(mine)
            assert WORDS in every
            assert all(np.abs(every[name] - x).max(initial=0) < 1e-6 for name, x in read.items())
