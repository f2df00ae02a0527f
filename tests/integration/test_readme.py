"""The README's own examples run: each Python block that follows a line ``<!-- test -->``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE

README = Path(__file__).parents[2] / "README.md"
_BLOCK = re.compile(r"<!-- test -->\s*\n```(python|bash)\n(.*?)\n```", re.DOTALL)
_PRINTED = re.compile(r"```text\n(.*?)\n```", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d+\.\d+")


def blocks(text: str) -> list[tuple[str, str]]:
    """Return language and content of the blocks marked for testing."""
    return _BLOCK.findall(text)


@pytest.fixture
def readme() -> str:
    if not README.exists():
        pytest.skip("there is no README.md beside the tests")
    return README.read_text(encoding="utf-8")


def test_marked_blocks_are_found() -> None:
    text = (
        "<!-- test -->\n```python\na = 1\nb = 2\n```\n```python\nno\n```\n<!-- test -->\n\n```bash\nls\n```\n"
    )
    assert blocks(text) == [("python", "a = 1\nb = 2"), ("bash", "ls")]


def test_the_readme_is_short(readme: str) -> None:
    assert len(readme.splitlines()) <= 120


@pytest.mark.english
def test_marked_blocks_run(readme: str, tmp_path: Path) -> None:
    marked = blocks(readme)
    if not marked:
        pytest.skip("README.md marks no block with <!-- test -->")
    bins = Path(sys.executable).parent
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PATH": f"{bins}{os.pathsep}{os.environ['PATH']}",
    }
    shown = _PRINTED.search(readme)
    assert shown is not None
    for place, (language, code) in enumerate(marked):
        command = (
            [sys.executable, "-c", code] if language == "python" else ["bash", "-euo", "pipefail", "-c", code]
        )
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{code}\n\n{done.stderr}"
        if not place:
            printed, lines = done.stdout.splitlines(), shown[1].splitlines()
            assert [form(line) for line in printed[: len(lines)]] == [form(line) for line in lines]
            numbers = _NUMBER.findall("\n".join(printed[: len(lines)]))
            expected = _NUMBER.findall("\n".join(lines))
            assert [*map(float, numbers)] == pytest.approx([*map(float, expected)], abs=0.2)


def form(line: str) -> str:
    """Return a line without its numbers and bars, whose last digit another processor may round otherwise."""
    return " ".join(_NUMBER.sub("0", line).rstrip("+- ").split())
