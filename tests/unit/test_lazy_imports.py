"""Packages import their public names on first use; a wrong column is refused before torch is imported."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from heedful.errors import ExitCode
from heedful.lazy_imports import imported_on_use

FRONTS = ("heedful.explain", "heedful.run", "heedful.tasks")
REFUSED = """
import sys
from heedful.cli.main import run
code = run(sys.argv[1:])
print(code, *(name for name in ("torch", "scipy", "sklearn") if name in sys.modules))
"""


def test_a_name_is_imported_once_and_no_other_is_known() -> None:
    attribute = imported_on_use("heedful.explain", {"heedful.explain.legends": ("SystemNames",)})
    assert attribute("SystemNames") is importlib.import_module("heedful.explain.legends").SystemNames
    with pytest.raises(AttributeError, match=r"module 'heedful\.explain' has no attribute 'Sistem'"):
        attribute("Sistem")


@pytest.mark.parametrize("package", FRONTS)
def test_a_front_has_its_names_and_imports_none_by_itself(package: str) -> None:
    front = importlib.import_module(package)
    assert [name for name in front.__all__ if not hasattr(front, name)] == []
    code = (
        f"import sys, {package}; print(*(name for name in sys.modules if name.startswith({package + '.'!r})))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


@pytest.mark.parametrize(
    "words", [("train", "reviews.csv", "--label", "mood"), ("tune", "reviews.csv", "--feature", "price")]
)
def test_a_column_that_is_not_there_is_refused_before_anything_that_trains_is_imported(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "reviews.csv").write_text("text,label\na fine film,good\na dull film,bad\n", encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-c", REFUSED, *words], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert found.stdout.split() == [str(int(ExitCode.USAGE))], found.stderr
    assert found.stderr.count("\n") == 1
