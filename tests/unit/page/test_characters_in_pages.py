"""Characters as pages know them are those of Python's own tests of a character."""

from __future__ import annotations

import random
import re
from itertools import chain, pairwise

from heedful.page.characters import characters_in_shapes, characters_in_use, normalization_in_use
from heedful.text import boundaries
from heedful.text.boundaries import class_of
from heedful.text.normalization import kind_of

DRAWN = [chr(number) for number in random.Random(3).sample(range(0x110000), 3_000)]
HOLDS = {
    "digits": str.isdecimal,
    "letters": str.isalpha,
    "words": str.isalnum,
    "letters_numbers": lambda character: character.isalnum() and not character.isdecimal(),
    "capitals": str.isupper,
    "digit_signs": str.isdigit,
}


def test_ranges_hold_what_python_says() -> None:
    given = {**characters_in_use("unicode"), **characters_in_shapes()}
    for name, holds in HOLDS.items():
        pairs = re.findall(r"\\u\{(\w+)\}-\\u\{(\w+)\}", str(given[name]))
        ends = [(int(first, 16), int(last, 16)) for first, last in pairs]
        looked_at = {chr(n + k) for n in chain(*ends) for k in (-1, 0, 1) if 0 <= n + k < 0x110000} | {*DRAWN}
        held = {c for first, last in ends for n in range(first, last + 1) if (c := chr(n)) in looked_at}
        assert held == {character for character in looked_at if holds(character)}, name


def test_runs_begin_where_the_kind_changes() -> None:
    for runs, kind in (
        (characters_in_use("unicode")["classes"], class_of),
        (normalization_in_use()["kinds"], kind_of),
    ):
        assert isinstance(runs, list)
        assert runs[0][0] == 0
        for (_, before), (start, found) in pairwise(runs):
            assert found == kind(chr(start)) != before == kind(chr(start - 1))


def test_no_run_of_characters_meets_another() -> None:
    assert all(before[1] < after[0] for before, after in pairwise(boundaries._RUNS))
