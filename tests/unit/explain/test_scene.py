"""The lines of a picture: they add up, whatever is folded, and words that count together stand together."""

from __future__ import annotations

import re

import numpy as np
import pytest

from heedful.explain import Attribution, SentenceView
from heedful.explain.attribution import Joint
from heedful.explain.scene import lines_of, longest_bar, phrases_of
from heedful.explain.signed_words import signed_lines, signed_table
from heedful.tables import percent


def attribution(values: list[float], joint: tuple[Joint, ...] = (), together: float = 0.0) -> Attribution:
    whole = -0.3 + sum(values) + together
    return Attribution(
        "contributions", "the log-odds of “a”", (np.array(values),), whole, -0.3, together, "a", 0.5, joint
    )


def view(count: int) -> SentenceView:
    return SentenceView.from_words("text", [f"w{i}" for i in range(count)])


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 60])
def test_the_lines_before_the_sum_add_up_to_it(count: int) -> None:
    values = np.random.default_rng(count).standard_normal(count).tolist()
    joint = (Joint(0, 2, 4, 5.0), Joint(0, 3, 5, 4.0)) if count > 5 else ()
    said = attribution(values, joint, together=0.7)
    *lines, last = lines_of(said, [view(count)])
    assert sum(line.value for line in lines) == pytest.approx(last.value)
    assert last.value == pytest.approx(said.whole)
    assert [line.kind for line in lines][-2:] == ["together", "base"]
    assert len(lines) <= 13


def test_the_strongest_come_first_and_phrases_take_their_words() -> None:
    said = attribution(
        [0.1, -2.0, -1.0, 0.4], (Joint(0, 1, 3, -1.5), Joint(0, 2, 4, 1.2), Joint(0, 0, 2, 0.05))
    )
    assert phrases_of(said) == [Joint(0, 1, 3, -1.5)], "no word is in two phrases, and a weak one is none"
    first, second, third, *_ = lines_of(said, [view(4)])
    assert (first.kind, first.name, first.value, first.joint) == ("phrase", "w1 w2", -3.0, -1.5)
    assert [second.name, third.name] == ["w3", "w0"]


def test_words_that_round_to_nothing_have_no_line_of_their_own() -> None:
    lines = lines_of(attribution([1e-5, 2.0, 0.0]), [view(3)])
    assert [(line.kind, line.name) for line in lines][:2] == [("word", "w1"), ("others", "2 other words")]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.99664, "99.7 %"),
        (0.99999, "> 99.9 %"),
        (1.0, "> 99.9 %"),
        (0.5, "50.0 %"),
        (1e-9, "< 0.1 %"),
        (0.9994, "99.9 %"),
    ],
)
def test_nothing_short_of_certain_reads_as_certain(share: float, shown: str) -> None:
    assert percent(share) == shown


@pytest.mark.parametrize(("largest", "longest"), [(0.5, 2.0), (2.0, 2.0), (-5.25, 5.25)])
def test_no_bar_is_cut_and_longer_ones_than_a_color_are_said(largest: float, longest: float) -> None:
    said = attribution([largest, 0.4])
    assert longest_bar(lines_of(said, [view(2)]), said.reach) == longest
    printed = "\n".join(signed_lines(said, [view(2)], 200, color=False))
    page = signed_table(said, [view(2)])
    for text in (printed, page):
        assert ("The longest bar stands for 5.25." in text) == (longest > said.reach)
    bars = re.findall(r"[+-]\d\.\d\d +([+-]+)$", printed, re.MULTILINE)
    assert len(bars[0]) == max(1, round(12 * abs(largest) / longest))
    assert len(bars[1]) == max(1, round(12 * 0.4 / longest))


@pytest.mark.parametrize("together", [4e-4, -2e-6])
def test_lines_add_up_however_little_the_words_do_together(together: float) -> None:
    *lines, total = lines_of(attribution([0.5, -0.2], together=together), [view(2)])
    assert sum(line.value for line in lines) == pytest.approx(total.value, abs=1e-12)
