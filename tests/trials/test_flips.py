"""One bit flipped in each file of a model folder and of a half-done run: never believed, never another result."""

from __future__ import annotations

import random
import shutil
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

import small_runs
from attempts import call
from heedful.storage.manifest import CARD, MANIFEST
from heedful.storage.model_folder import ModelFolder, load_model_folder
from small_runs import WORKING, Command, wait_until
from tally import Outcome, Tally


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_runs.write_data(tmp_path_factory.mktemp("data"))


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def flips(files: Sequence[Path], draw: random.Random, count: int) -> list[tuple[Path, int]]:
    """Draw a file, then a bit of it: small files are hit as often as large ones."""
    chosen = [draw.choice(files) for _ in range(count)]
    return [(path, draw.randrange(8 * path.stat().st_size)) for path in chosen]


def same(one: ModelFolder, other: ModelFolder) -> bool:
    """Compare two models value by value."""
    plain = [{**vars(model), "state": None} for model in (one, other)]
    return (
        plain[0] == plain[1]
        and one.state.keys() == other.state.keys()
        and all(torch.equal(one.state[name], other.state[name]) for name in one.state)
    )


def test_flips_in_a_model_folder(data: Path, tmp_path: Path, tally: Tally) -> None:
    """Each file in turn at random, the manifest and the first bytes of each file bit by bit."""
    assert small_runs.train(data, epochs=1).run(tmp_path / "run").code == 0
    folder = tmp_path / "run" / "model"
    true = load_model_folder(folder)
    files = sorted(path for path in folder.iterdir() if path.name != CARD)  # which people may edit
    every = [(path, bit) for path in files for bit in range(8 * 16)]
    every += [(folder / MANIFEST, bit) for bit in range(8 * (folder / MANIFEST).stat().st_size)]
    total = tally.count(9_800)
    chosen = every if len(every) < total else tally.draw.sample(every, total // 2)
    for path, bit in chosen + flips(files, tally.draw, total - len(chosen)):
        flip(path, bit)
        what = f"bit {bit} of {path.name}"
        tally.add(call(what, lambda: load_model_folder(folder), lambda model: same(model, true)))
        flip(path, bit)
    assert same(load_model_folder(folder), true)


def half_done(data: Path, folder: Path) -> tuple[Command, Path]:
    """Return a command, and a run of it that was killed when it had come half way."""
    command = small_runs.train(data)
    process = command.start(folder)
    wait_until(lambda: (folder / "metrics.jsonl").read_text().count("\n") >= 20, process)
    process.send_all(signal.SIGKILL)
    assert process.wait().code == -signal.SIGKILL
    assert (folder / "checkpoints" / "latest").is_dir()
    assert not (folder / "model").exists()
    return command, folder


def test_flips_in_a_half_done_run(data: Path, tmp_path: Path, tally: Tally) -> None:
    """Refused in a line with every file as it was, or the run goes on to the same weights."""
    command, half = half_done(data, tmp_path / "half")
    assert command.run(small_runs.copy(half, tmp_path / "whole")).code == 0
    weights, _ = command.result(tmp_path / "whole")
    files = sorted(
        path for path in half.rglob("*") if path.is_file() and not path.name.startswith(".heedful-lock")
    )
    chosen = flips(files, tally.draw, tally.count(200))

    def attempt(number: int) -> Outcome:
        path, bit = chosen[number]
        folder = small_runs.copy(half, tmp_path / f"run-{number}")
        flip(folder / path.relative_to(half), bit)
        before = _content(folder)
        end = command.run(folder)
        outcome = end.outcome(lambda _: command.result(folder)[0] == weights, seconds=WORKING)
        if outcome.kind == "refused" and (changed := _differences(before, _content(folder))):
            outcome = Outcome("failed", f"refused, but changed {changed}: {end.err[-300:]!r}")
        shutil.rmtree(folder)
        where = f"bit {bit} of {path.relative_to(half)}: {outcome.note}"
        return Outcome(outcome.kind, where, outcome.seconds, outcome.megabytes)

    with ThreadPoolExecutor(2) as pool:
        tally.add(*pool.map(attempt, range(len(chosen))))


def _content(folder: Path) -> dict[str, bytes]:
    files = (
        path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".heedful-lock")
    )
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _differences(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
