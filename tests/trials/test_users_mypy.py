"""What mypy says of a user's file: a misspelled setting is an error that names the right one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.trial
pytest.importorskip("mypy")
WRONG = {
    "TextClassifier(train__epoch=3)": 'did you mean "train__epochs"?',
    "TextClassifier(model__dropout='high')": 'incompatible type "str"; expected "float"',
    "TextClassifier().fit(['a'], ['b'], progres=True)": 'did you mean "progress"?',
}


def test_mypy_names_the_right_setting(tmp_path: Path) -> None:
    right = "TextClassifier(train__epochs=3, model__dropout=0.5, verbose=True)"
    lines = ["from heedful import TextClassifier", right, *WRONG]
    (tmp_path / "user.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    environment = {**os.environ, "MYPYPATH": str(Path(__file__).parents[2] / "src")}
    command = ["--no-incremental", "--follow-imports=silent", "--ignore-missing-imports", "user.py"]
    said = subprocess.run(
        [sys.executable, "-m", "mypy", *command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = [line for line in said.stdout.splitlines() if ": error: " in line]
    assert [int(line.split(":")[1]) for line in wrong] == [3, 4, 5], said.stdout
    for line, part in zip(wrong, WRONG.values(), strict=True):
        assert part in line
