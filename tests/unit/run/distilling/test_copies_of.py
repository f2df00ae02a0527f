"""How many changed copies of each text a student reads where its user names no texts without labels."""

from __future__ import annotations

import pytest

from heedful.run.distilling.fine_tuning import COPIED, COPIES, copies_of
from heedful.run.recipe_files import load_config


@pytest.mark.parametrize(
    ("recipe", "rows", "copies"),
    [
        ("my-texts", 1, COPIES),
        ("my-texts", 100, COPIES),
        ("my-texts", COPIED // COPIES, COPIES),
        ("my-texts", 5_000, 5),
        ("my-texts", COPIED, 1),
        ("my-texts", COPIED + 1, 0),
        ("my-texts", 1_000_000, 0),
        ("my-pairs", 100, COPIES),
        ("my-pairs", 1_000, 0),
        ("my-labels", 1_000, 0),
        ("my-tags", 1_000, 0),
        ("my-tags", 999, COPIES),
    ],
)
def test_the_more_rows_the_fewer_copies(recipe: str, rows: int, copies: int) -> None:
    assert copies_of(load_config(recipe), rows) == copies
