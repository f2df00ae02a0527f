"""``heedful predict``, ``encode`` and ``explain`` import no torch where they can, and print what they print with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import tiny
from heedful import opening
from heedful.errors import UsageError
from heedful.model.decisions import KINDS
from heedful.models import ModelConfig
from heedful.tasks import TextSettings, build_network, task_named
from heedful.text.vocabulary import Vocabulary
from waiting import PATIENCE

WORDS = ("the", "film", "was", "dull", "superb", "a", "story", ".", "is", "it")
WITHOUT = """
import sys
class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "scipy", "sklearn", "matplotlib", "rich"):
            raise ImportError(name)
sys.meta_path.insert(0, Missing)
from heedful.cli.main import main
main(sys.argv[1:])
"""


@pytest.fixture(params=[task for task in KINDS if task != "vector"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A saved model of each task that answers by itself."""
    return saved(request.param, tmp_path / "model")


def saved(task: str, path: Path, **settings: Any) -> Path:
    torch.manual_seed(2)
    model = ModelConfig(
        **{"task": task, "width": 20, "hidden": 12, "outputs": 1 if "number" in task else 3, **settings}
    )
    network = build_network(model, torch.randn(len(WORDS) + 2, 20))
    labels = ("bad", "fair", "good")[: task_named(task).named_outputs(model)]  # type: ignore[attr-defined]
    if task == "label-columns":
        labels = tuple(f"mood: {label}" for label in labels)
    text = TextSettings(max_tokens=9)
    task_named(task).model_type(network, model, Vocabulary(WORDS), labels, text).save(path)  # type: ignore[attr-defined]
    return path


def requests(folder: Path, tmp_path: Path) -> Path:
    task = json.loads((folder / "config.json").read_text())["model"]["task"]
    texts = ["The film was superb .", "", "dull xyzzy \u2028 \x1b[31mred", "it is a story"]
    lines = (
        [f"{text}\t{texts[0]}" for text in texts] if task in ("pair", "relatedness", "pair-number") else texts
    )
    path = tmp_path / "requests.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def refuse(folder: Path) -> None:
    """Stand in for the runtime where torch is to compute."""
    raise UsageError(f"{folder}: torch is to compute")


def both(monkeypatch: pytest.MonkeyPatch, *arguments: Any) -> tuple[tiny.Result, tiny.Result]:
    """Run a command without torch, and with it."""
    first = tiny.run(*arguments)
    with monkeypatch.context() as patch:
        patch.setattr(opening, "load", refuse)
        return first, tiny.run(*arguments)


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return pytest.approx(value, abs=2e-6) if isinstance(value, float) else value


def same(mine: tiny.Result, theirs: tiny.Result) -> None:
    assert (mine.code, mine.err) == (theirs.code, theirs.err)
    found, wanted = ([json.loads(line) for line in each.out.splitlines()] for each in (mine, theirs))
    assert found == rounded(wanted)
    assert [list(row) for row in found] == [list(row) for row in wanted] or isinstance(found[0], list)


def test_answers_and_columns(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("predict", folder, "--input", requests(folder, tmp_path))
    same(*both(monkeypatch, *asked, "--json"))
    tables = [[row.split("\t") for row in each.out.splitlines()] for each in both(monkeypatch, *asked)]
    number = json.loads((folder / "config.json").read_text())["model"]["task"].endswith("number")
    for mine, theirs in zip(*tables, strict=True):
        if number:  # printed with six digits, of which the last may be rounded either way
            assert float(mine.pop(1)) == pytest.approx(float(theirs.pop(1)), abs=2e-6)
        assert mine == theirs
    assert len(tables[0]) == 4


def test_tags_in_columns_and_files_of_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = saved("tags", tmp_path / "model")
    words = tmp_path / "words.conll"
    words.write_text("The\nfilm\n\nsuperb-story\n", encoding="utf-8")
    for options in (("--conll",), ("--json",)):
        mine, theirs = both(monkeypatch, "predict", folder, "--input", words, *options)
        if options == ("--json",):
            same(mine, theirs)
        else:
            assert mine == theirs
        assert mine.code == 0
    long = tmp_path / "long.conll"
    long.write_text("\n".join(["film"] * 10) + "\n", encoding="utf-8")
    mine, theirs = both(monkeypatch, "predict", folder, "--input", long)
    assert mine == theirs
    assert "long.conll" in mine.err
    mine, theirs = both(monkeypatch, "explain", folder, "--text", " ")
    assert mine == theirs
    assert mine.code


def test_explanations(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = requests(folder, tmp_path).read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "one.txt").write_text(row + "\n", encoding="utf-8")
    asked = ("explain", folder, "--input", tmp_path / "one.txt")
    same(*both(monkeypatch, *asked, "--json"))
    pages = [tmp_path / "page.html", tmp_path / "other.html"]
    mine = tiny.run(*asked, "--html", pages[0])
    monkeypatch.setattr(opening, "load", refuse)
    theirs = tiny.run(*asked, "--html", pages[1])
    assert mine.code == theirs.code == 0
    answer = json.loads((folder / "config.json").read_text())["model"]["task"].endswith("number")  # see above
    assert mine.out.splitlines()[answer:] == theirs.out.splitlines()[answer:]
    assert all("<svg" in page.read_text(encoding="utf-8") for page in pages)


@pytest.mark.parametrize("method", ["attention", "occlusion", "shapley"])
def test_methods_of_explanation(
    method: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = requests(folder, tmp_path).read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "one.txt").write_text(row + "\n", encoding="utf-8")
    same(*both(monkeypatch, "explain", folder, "--input", tmp_path / "one.txt", "--method", method, "--json"))


def test_vectors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if json.loads((folder / "config.json").read_text())["model"]["task"] == "tags":
        mine, theirs = both(monkeypatch, "encode", folder, "--text", "the film")
        assert mine == theirs
        assert mine.code
        return
    same(*both(monkeypatch, "encode", folder, "--text", "the film", "--text", "", "--text", "xyzzy is dull"))


def test_threads_change_no_byte(tmp_path: Path) -> None:
    folder = saved("text", tmp_path / "model")
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"{'film ' * (n % 7)}a story\n" for n in range(300)), encoding="utf-8")
    for verb in ("predict", "encode"):
        alone, beside = (tiny.run(verb, folder, "--input", lines, "--threads", n) for n in (1, 3))
        assert (alone.code, alone.out, alone.err) == (0, beside.out, beside.err)
        assert len(alone.out.splitlines()) == 300


LONG = "it is a story . it is a story ."


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "MODEL"),
        ("predict", "MODEL", "--text", LONG),
        ("predict", "MODEL", "--text", "a", "--text", LONG, "--text", LONG),
        ("predict", "MODEL", "--text", LONG, "--truncate", "head"),
        ("predict", "MODEL", "--text", "a", "--max-tokens", "20", "--input", "x.txt"),
        ("predict", "MODEL", "--premise", "a", "--hypothesis", "b"),
        ("predict", "MODEL", "--input", "LONG"),
        ("predict", "MODEL", "--input", "LONG", "--truncate", "head"),
        ("predict", "MODEL", "--input", "missing.csv"),
        ("predict", "MODEL", "--input", "file.docx"),
        ("predict", "MODEL", "--text", "a", "--predicates", "a"),
        ("predict", "MODEL", "--text", "a", "--conll"),
        ("encode", "MODEL", "--text", LONG),
        ("explain", "MODEL"),
        ("explain", "MODEL", "--text", LONG),
        ("explain", "MODEL", "--text", "a", "--text", "b"),
        ("explain", "MODEL", "--text", "a", "--predicates", "a"),
        ("explain", "MODEL", "--input", "LONG", "--truncate", "head"),
        ("explain", "MODEL", "--text", "a", "--method", "shapely"),
        ("explain", "MODEL", "--text", "a", "--method", "occlusion", "--samples", "9"),
        ("explain", "MODEL", "--text", "a", "--word", "a"),
        ("encode", "MODEL", "--input", "LONG"),
        ("encode", "ALIGNED", "--text", "a"),
        ("predict", "nothing", "--text", "a"),
    ],
)
def test_every_refusal_is_the_same(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"MODEL": saved("text", tmp_path / "model"), "LONG": tmp_path / "long.csv"}
    names["LONG"].write_text(f"text\na\n{LONG}\nb\n{LONG}\n", encoding="utf-8")
    if "ALIGNED" in arguments:
        names["ALIGNED"] = saved("pair", tmp_path / "aligned", encoder="decomposable", train_embedding=False)
    mine, theirs = both(monkeypatch, *(names.get(each, each) for each in arguments))
    assert mine == theirs
    assert mine.code or mine.err


@pytest.mark.parametrize("verb", ["predict", "encode", "explain"])
def test_where_there_is_no_torch(verb: str, tmp_path: Path) -> None:
    folder = saved("text", tmp_path / "model")
    more = ["--method", "shapley"] if verb == "explain" else []
    command = [sys.executable, "-c", WITHOUT, verb, str(folder), "--text", "a superb story", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == tiny.run(*command[3:]).out


@pytest.mark.parametrize(
    ("encoder", "arguments", "code"),
    [
        ("disan", ["explain", "--method", "gradient"], 2),
        ("disan", ["explain", "--features-of", "superb"], 2),
        ("disan", ["explain", "--policy"], 2),
        ("disan", ["predict", "--precision", "bfloat16"], 2),
        ("resan", ["predict"], 2),
        ("damaged", ["predict"], 5),
    ],
)
def test_what_needs_torch_says_so_in_one_line(
    encoder: str, arguments: list[str], code: int, tmp_path: Path
) -> None:
    folder = saved("text", tmp_path / "model", encoder="disan" if encoder == "damaged" else encoder)
    if encoder == "damaged":
        (folder / "labels.json").write_text("[]")
    verb, *options = arguments
    command = [sys.executable, "-c", WITHOUT, verb, str(folder), "--text", "a superb story", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (code, "")
    assert ("needs torch, which is not installed: pip install torch" in line) == (code == 2)
    assert ("labels.json" in line) == (code == 5)


def test_a_folder_without_a_description_is_read_with_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saved("text", tmp_path / "model", encoder="resan")
    assert opening.open_model(folder).engine.name == "torch"
    mine, theirs = both(monkeypatch, "predict", folder, "--text", "a superb story")
    assert mine == theirs
    assert mine.code == 0
