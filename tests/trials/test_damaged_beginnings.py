"""Learning on from a folder that is damaged, incomplete or not ours: refused in one line, and nothing is lost."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import tiny
from heedful.opening import open_model
from tally import Outcome, Tally

SETTINGS = ("--set=model.sentence=none", "--set=data.few_rows=1000", "--no-baseline", "-q")
HEADER = ("text", "label")


def flip(folder: Path, draw: random.Random) -> str:
    """Change one bit of a file that counts; cards may be edited."""
    path = draw.choice([each for each in files(folder / "model") if each.suffix != ".md"])
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)
    return f"a bit of {path.name}"


def cut(folder: Path, draw: random.Random) -> str:
    path = draw.choice([each for each in files(folder / "model") if each.suffix != ".md"])
    content = path.read_bytes()
    path.write_bytes(content[: draw.randrange(len(content))])
    return f"{path.name} cut off"


def lose(folder: Path, draw: random.Random) -> str:
    path = draw.choice([each for each in files(folder / "model") if each.suffix != ".md"])
    path.unlink()
    return f"{path.name} missing"


def empty(folder: Path, draw: random.Random) -> str:
    shutil.rmtree(folder / "model")
    if draw.random() < 0.5:
        (folder / "model").mkdir()
    return "no model"


def foreign(folder: Path, draw: random.Random) -> str:
    shutil.rmtree(folder)
    folder.mkdir()
    for name in draw.sample(
        ["notes.txt", "config.json", "manifest.json", "model/notes.txt", "recipe.toml"], 2
    ):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(draw.choice(["", "{}", "mine", '{"files": {}}', "[]", "\x00"]))
    return "somebody else's"


def absent(folder: Path, draw: random.Random) -> str:
    shutil.rmtree(folder)
    if draw.random() < 0.5:
        folder.write_text("a file")
    return "no folder"


def renamed(folder: Path, draw: random.Random) -> str:
    """The new rows call a class of the model by another writing."""
    rows = [
        (text, draw.choice(["Pos", "p-o-s", " POS!", "po s"]) if label == "pos" else label)
        for text, label in NEW
    ]
    tiny.write_csv(folder.parent / "new.csv", rows, HEADER)
    return "a class renamed"


def fine(folder: Path, draw: random.Random) -> str:
    """The folder as it is."""
    return ""


WAYS: dict[Callable[[Path, random.Random], str], float] = {
    flip: 6,
    cut: 3,
    lose: 3,
    empty: 1,
    foreign: 2,
    absent: 1,
    renamed: 2,
    fine: 1,
}
NEW = tiny.texts()[60:80]


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def content(folder: Path) -> dict[str, bytes]:
    """Return what is in a folder, or in a file in its place."""
    if folder.is_file():
        return {"": folder.read_bytes()}
    return {str(path.relative_to(folder)): path.read_bytes() for path in files(folder)}


def test_damaged_beginnings(tmp_path: Path, tally: Tally) -> None:
    table = tiny.write_csv(tmp_path / "old.csv", tiny.texts()[:60], HEADER)
    keeps = ("--keep-examples", "--set=data.keep_share=0.2")
    made = tiny.run("train", table, "--out", tmp_path / "own", *keeps, *SETTINGS)
    assert made.code == 0, made.err
    for number in range(tally.count(300)):
        place = tmp_path / f"attempt-{number}"
        shutil.copytree(tmp_path / "own", place / "run")
        new = tiny.write_csv(place / "new.csv", NEW, HEADER)
        (way,) = tally.draw.choices(list(WAYS), list(WAYS.values()))
        what = way(place / "run", tally.draw)
        before, out = content(place / "run"), place / "out"
        result = tiny.run("train", new, "--from", place / "run", "--out", out, "-q", "--no-baseline")
        kept = content(place / "run") == before
        if way is fine:
            good = result.code == 0 and {answer.label for answer in open_model(out).predict(["a fine film"])}
        else:
            good = result.code in (2, 3, 5) and len(result.err.strip().splitlines()) <= 2 and not content(out)
        note = f"{number}: {way.__name__} {what}: kept {kept}, exit {result.code} {result.err[-300:]}"
        kind = "failed" if not (good and kept) else "refused" if result.code else "right"
        tally.add(Outcome(kind, note))
        shutil.rmtree(place)
