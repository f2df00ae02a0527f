"""A recipe is a file of settings or a packaged one; what is named like a file and is none is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.errors import UsageError
from heedful.run.recipe_tables import settings_file


def test_a_file_may_have_any_name_and_a_bare_word_is_a_packaged_recipe(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("[data]\n")
    assert settings_file(tmp_path / "mine") == tmp_path / "mine"
    assert settings_file("my-texts") is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rows.csv", "is a table, and a recipe was expected"),
        ("rows.jsonl.gz", "is a table, and a recipe was expected"),
        ("mine.toml", "there is no such settings file"),
        ("folder/mine", "named hub:folder/mine"),
        ("a/b/c", "there is no such settings file"),
    ],
)
def test_what_is_no_recipe_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settings_file(name)
