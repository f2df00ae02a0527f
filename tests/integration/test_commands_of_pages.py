"""The commands of the pages that a newcomer reads first run as they stand there, in their order, in an empty folder."""

from __future__ import annotations

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest

import heedful
import tiny
from heedful.cli.main import run
from served import Server
from whole_models import whole

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"```(?:bash|console|python)\n(.*?)\n```", re.DOTALL)
_PROGRAM = re.compile(r"python - <<'END'\n(.*?)\nEND\n?", re.DOTALL)
ROWS = 24
"""In the place of the 400 rows that the page makes."""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not DOCS.is_dir():
        pytest.skip("there is no docs/ beside the tests")
    monkeypatch.chdir(tmp_path)


def commands_of(page: str, part: str = "") -> list[str]:
    """Return the lines of a page that begin with ``heedful``, of its blocks alone, joined where they go on."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(part)[2] if part else (DOCS / page).read_text()
    joined = [line for block in _BLOCK.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    return [line.removeprefix("$ ") for line in joined if line.removeprefix("$ ").startswith("heedful ")]


def typed(line: str) -> None:
    """Run a command as a shell would read it."""
    assert run(shlex.split(line, comments=True)[1:]) == 0, line


def test_own_data() -> None:
    program, *_ = _PROGRAM.findall((DOCS / "own-data.md").read_text(encoding="utf-8"))
    assert '("reviews.csv", 400)' in program
    exec(compile(program.replace("400", str(ROWS)), "own-data.md", "exec"), {})  # the page's own program
    commands = commands_of("own-data.md")
    assert len(commands) == 5
    for line in commands:
        typed(line)
    with open("predictions.csv", encoding="utf-8", newline="") as stream:
        assert {row["prediction"] for row in csv.DictReader(stream)} <= {"positive", "negative"}
    assert "</html>" in Path("why.html").read_text(encoding="utf-8")


def test_explanations(tmp_path: Path) -> None:
    models = {
        "--premise": whole(tmp_path / "pair", "pair", "disan", parts=()),
        "--text": whole(tmp_path / "text", "text", "disan", parts=("mean",)),
        "--all": whole(tmp_path / "runs" / "mine", "text", "disan", parts=("mean",)),
    }
    tiny.write_csv(
        tmp_path / "test.csv", [(f"the film was {k}", "abc"[k % 3]) for k in range(12)], ["text", "label"]
    )
    commands = commands_of("explanations.md")
    assert [next(each for each in models if each in line) for line in commands] == list(models)
    for line in commands:
        model = next(folder for option, folder in models.items() if option in line)
        if " why.svg" in line:
            pytest.importorskip("matplotlib")
        typed(line.replace(" MODEL ", f" {model} "))
    program = next(
        each for each in _BLOCK.findall((DOCS / "explanations.md").read_text()) if "to_figure" in each
    )
    exec(compile(program, "explanations.md", "exec"), {"model": heedful.load(models["--premise"])})
    for name in ("why.html", "why.svg", "why.pdf", "report.html"):
        assert Path(name).stat().st_size > 1_000


def test_labeling() -> None:
    rows = [[f"{'where is my parcel' if k % 2 else 'I want my money back'}, order {k}"] for k in range(30)]
    tiny.write_csv(Path("pool.csv"), rows, ["text"])
    first, train = commands_of("label.md")[:2]
    label, to_studio, to_doccano = commands_of("label.md", "## Label Studio")
    server = Server(*shlex.split(first)[2:], command="label")
    for (text,) in rows[:24]:
        asked = {
            "by": "Ann",
            "texts": [text],
            "label": "delivery" if "parcel" in text else "refund",
            "seen": None,
        }
        assert server.ask("/v1/label", asked).status == 200
    assert server.stop() == 0
    typed(train)
    typed(to_doccano)
    typed(to_studio)
    assert len(Path("lines.jsonl").read_text(encoding="utf-8").splitlines()) == 24
    shutil.move("labels.csv", "before.csv")
    server = Server(*shlex.split(label)[2:], "--label", "delivery", command="label")
    assert server.ask("/v1/state", {"by": "Ann"}).json()["labeled"] == 24
    assert server.stop() == 0
    with open("labels.csv", encoding="utf-8", newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 24
