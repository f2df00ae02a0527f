"""Whatever writes a folder: what somebody else wrote there is there afterwards, byte for byte, and links are links.

What is refused leaves our own files as they were too: a training that replaces a run does not end without either model.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import small_runs
import tiny
from heedful import from_pretrained
from heedful.errors import HeedfulError
from heedful.storage.manifest import MANIFEST, MODEL_FILES
from tally import Outcome, Tally

NAMES = (
    *MODEL_FILES,
    MANIFEST,
    *("notes.txt", "thesis.tex", ".git/HEAD", "model/notes.txt", "checkpoints/latest/own.bin", "env.json"),
    *("bench.md", "trials.csv", "distillation.json", "metrics.jsonl", "space.toml", "deep/er/still/a b"),
)


def scattered(folder: Path, draw: random.Random) -> None:
    """Write some files, folders and links of a user's, of which some have names that Heedful uses."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in draw.sample(NAMES, draw.randint(1, 5)):
        file = folder / name
        if any(parent.is_file() or parent.is_symlink() for parent in file.parents) or file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        content = draw.choice(["", "{}", '{"files": {}}', f"mine {draw.random()}", '{"packages": {}}'])
        if draw.random() < 0.1:
            file.symlink_to(draw.choice(["nowhere", "/dev/null", "."]))
        else:
            file.write_text(content)
            file.chmod(draw.choice([0o600, 0o644, 0o444]))


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = (f"-> {os.readlink(path)}", 0)
        elif path.is_file():
            found[str(path.relative_to(folder))] = (path.read_text(errors="replace"), path.stat().st_mode)
    return found


def test_foreign_folders(tmp_path: Path, tally: Tally) -> None:
    data = small_runs.write_data(tmp_path / "data")
    (data / "recipe.toml").write_text(tiny.TEXT, encoding="utf-8")
    own = tmp_path / "run"
    done = tiny.run("train", data / "recipe.toml", "--data", data, "--out", own, "--no-baseline", "-q")
    assert done.code == 0, done.err
    model = from_pretrained(own)
    train = (
        "train",
        data / "recipe.toml",
        "--data",
        data,
        "--no-baseline",
        "-q",
        "--set",
        "train.max_steps=2",
    )
    linear, alone = tmp_path / "linear", ("--set", "model.encoder=none", "--set", "model.wide=linear")
    begun = tiny.run(*train[:-2], *alone, "--out", linear)
    assert begun.code == 0, begun.err
    ways: dict[str, tuple[Callable[[Path], object], float]] = {
        "save_pretrained": (model.save_pretrained, 4),
        "export --int8": (lambda to: tiny.run("export", own, "--int8", to), 4),
        "export --float16": (lambda to: tiny.run("export", own, "--float16", to), 2),
        "explain --html": (
            lambda to: tiny.run("explain", own, "--text", "fine", "--html", to / "README.md"),
            1,
        ),
        "train": (lambda to: tiny.run(*train, "--out", to), 1),
        "train --overwrite": (lambda to: tiny.run(*train, "--out", to, "--overwrite"), 1),
        "train --overwrite of linear parts": (
            lambda to: tiny.run(*train[:-2], *alone, "--out", to, "--overwrite"),
            2,
        ),
        "predict --jobs": (
            lambda to: tiny.run("predict", own, "--input", data / "train.tsv", "--jobs", "1", "--output", to),
            1,
        ),
    }
    for number in range(tally.count(400)):
        (way,) = tally.draw.choices(list(ways), [weight for _, weight in ways.values()])
        place = tmp_path / f"attempt-{number}"
        target = place / "papers"
        if tally.draw.random() < 0.3:  # a folder of ours, with a user's files beside ours
            run = linear if "linear" in way else own
            shutil.copytree(run / "model" if "train" not in way else run, target)
            ours = set(tree(target))
        else:
            ours = set()
        scattered(target, tally.draw)
        if way == "explain --html":
            (target / "README.md").unlink(missing_ok=True)
        linked = tally.draw.random() < 0.2
        if linked:
            target = target.rename(place / "disk")
            (place / "papers").symlink_to("disk")
        every = tree(target)
        before = {name: found for name, found in every.items() if name not in ours}
        try:
            result = ways[way][0](place / "papers")
            code, said = getattr(result, "code", 0), getattr(result, "err", "")[-300:]
        except HeedfulError:
            code, said = 2, ""
        after = tree(target)
        kept = every if code else before
        lost = sorted(name for name, found in kept.items() if after.get(name) != found)
        still = not linked or os.path.islink(place / "papers")
        left = [name for name in after if ".tmp-" in name]
        good = not lost and still and not left and code != 70
        note = f"{number}: {way}: lost {lost}, link {still}, left {left}, exit {code} {said}"
        tally.add(Outcome("failed" if not good else "refused" if code else "right", note))
        shutil.rmtree(place)
