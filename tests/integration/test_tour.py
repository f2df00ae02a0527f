"""The tour's commands run in their order, and print what stands on the page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from heedful.cli.main import run

PAGE = Path(__file__).parents[2] / "docs" / "tour.md"
_BLOCK = re.compile(r"<!-- tour -->\n```(python|bash)\n(.*?)\n```(?:\n\n```text\n(.*?)\n```)?", re.DOTALL)
_FILE = re.compile(r"cat > (\S+) <<'END'\n(.*?)\nEND\n?", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e-?\d+)?")


def form(line: str) -> str:
    """Return a line without its numbers and bars, which may move a little."""
    return re.sub(r"\s+", " ", re.sub(r"[+-]{2,}|\s[+-]$", "", _NUMBER.sub("", line))).strip()


@pytest.mark.english
def test_the_tour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not PAGE.exists():
        pytest.skip("there is no docs/tour.md beside the tests")
    monkeypatch.chdir(tmp_path)
    blocks = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 6
    for language, code, shown in blocks:
        if language == "python":
            exec(compile(code, str(PAGE), "exec"), {})  # the page's own program
        else:
            for name, content in _FILE.findall(code):
                Path(name).write_text(content + "\n", encoding="utf-8")
            for line in _FILE.sub("", code).splitlines():
                assert run(shlex.split(line)[1:]) == 0, line
        printed = [form(line) for line in capsys.readouterr().out.splitlines()]
        for line in shown.splitlines():
            assert form(line) in printed, line
    for name in ("why.html", "report.html"):
        assert "</html>" in Path(name).read_text(encoding="utf-8")
