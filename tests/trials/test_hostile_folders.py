"""Hostile model folders and checkpoints: exit 5 in one line, or the right result; never long, never large."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from attempts import WALL_SECONDS, command
from heedful.errors import HeedfulError
from heedful.runtime import load
from heedful.storage.manifest import CONFIG
from heedful.training.run_folder import RunFolder
from hostile import ALL, ODD, edit, judge, predict, put, try_case, warm, write_bases
from hostile_keeping import COLUMNS, KEPT_TENSORS, kept_tensors
from tally import Tally
from toy_training import train_toy, weights_hash

STATE, FILES = "state.json", ("state.safetensors", "state.json")


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bases")
    write_bases(folder)
    for good in folder.iterdir():
        predict(good)
    return folder


@pytest.fixture
def worker() -> Iterator[ProcessPoolExecutor]:
    """A process that imports once, so that a hang or a fall of it is seen and ends nothing else."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_hostile_model_folders(
    tally: Tally, bases: Path, tmp_path: Path, worker: ProcessPoolExecutor
) -> None:
    base = worker.submit(warm, bases).result()
    chosen = tally.draw.sample(range(len(ALL)), tally.count(len(ALL)))
    for number in sorted(chosen):
        attempt = worker.submit(try_case, number, bases, tmp_path, base)
        tally.add(attempt.result(timeout=WALL_SECONDS))


def test_hostile_model_folders_on_the_command_line(tally: Tally, bases: Path, tmp_path: Path) -> None:
    """What must be refused may be answered only as the sound folder is: by then nothing wrong in it was believed."""
    for number in tally.draw.sample(range(len(ALL)), tally.count(12)):
        case = ALL[number]
        folder = tmp_path / "model"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(bases / case.base, folder)
        case.change(folder)
        pair = (
            ["--premise", "film", "--hypothesis", "dull"]
            if case.base in ("pair", "score")
            else ["--text", "film", *(["--feature", "price=3"] if case.base == COLUMNS else [])]
        )
        ended = command("predict", folder, *pair)
        sound = command("predict", bases / case.base, *pair) if case.refuse and not ended.code else ended
        outcome = ended.outcome(lambda got, sound=sound: got.out == sound.out)
        if ended.code not in (0, 5):
            outcome = ended.outcome(refusals=False)
        tally.add(outcome)


def test_every_tensor_that_is_kept_is_tried(bases: Path) -> None:
    assert tuple(kept_tensors(bases)) == KEPT_TENSORS


def _places(value: object, above: str = "network") -> Iterator[str]:
    """Give the dotted name of everything in nested tables; what is in lists is set with the list."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield f"{above}.{name}"
        yield from _places(inner, f"{above}.{name}")


def test_hostile_descriptions_without_torch(tally: Tally, bases: Path, tmp_path: Path) -> None:
    """What a folder says of its network is checked by the runtime alone."""
    changes = []
    for base in ("text", "pair", "tags"):
        config = json.loads((bases / base / CONFIG).read_text())
        changes += [(base, place, value) for place in _places(config["network"]) for value in ODD]
        for part in ("read", "answer"):
            for number, step in enumerate(config["network"][part]):
                for name, value in ((name, value) for name in step for value in ODD):
                    steps = [*config["network"][part]]
                    steps[number] = {**step, name: value}
                    changes.append((base, f"network.{part}", steps))
    for base, place, value in tally.draw.sample(changes, tally.count(len(changes))):
        folder = tmp_path / "model"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(bases / base, folder)
        edit(folder, CONFIG, partial(put, path=place, value=value))
        asked = [("film dull", "superb .")] if base == "pair" else ["film dull superb .", ""]
        answer = partial(lambda folder, asked: list(load(folder).predict(asked)), folder, asked)
        tally.add(judge(f"{base}: {place} = {value!r:.200}", answer, allowed=HeedfulError))


PLACES = (
    *("step", "epoch", "position", "steps_per_epoch", "seconds", "cpu_seconds", "resumed", "loss_sum"),
    *("loss_count", "figure_sums", "aside", "best", "best.step", "best.metrics", "best.waited", "more"),
)


def test_hostile_checkpoints(tally: Tally, tmp_path: Path) -> None:
    half = tmp_path / "half"
    train_toy(half, epochs=2)
    shutil.copytree(half, tmp_path / "undisturbed")
    expected = weights_hash(train_toy(tmp_path / "undisturbed", resume=True, epochs=4)[0])
    changes = [(f"state.{place}", value) for place in PLACES for value in (*ODD, 7, 15)]
    changes += [(place, value) for place in ("state", "optimizer", "settings", "more") for value in ODD]
    for place, value in tally.draw.sample(changes, tally.count(len(changes))):
        folder = tmp_path / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(half, folder)
        edit(RunFolder(folder).checkpoint, STATE, partial(put, path=place, value=value), FILES)

        def go_on(folder: Path = folder) -> None:
            found = weights_hash(train_toy(folder, resume=True, epochs=4)[0])
            assert found == expected, "accepted, with other weights"

        tally.add(judge(f"{place} = {value!r}", go_on, allowed=HeedfulError))
