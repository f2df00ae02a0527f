"""A disk that is full after any number of bytes: one line, exit 6, what was there stays, and with room it goes on.

Where a small tmpfs can be mounted (as root on Linux), its free space is set to the page; elsewhere, and beside it, the
largest size of a file is set to the byte by RLIMIT_FSIZE.
"""

from __future__ import annotations

import functools
import hashlib
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import small_runs
from attempts import Ended, call
from forked import Forked
from heedful.errors import ExitCode, OutputError
from heedful.storage.model_folder import ModelFolder, load_model_folder, save_model_folder
from small_runs import WORKING, Command
from tally import Outcome, Tally

DISK = 1 << 20
"""Bytes of the small disk."""

LINE = 4096
"""Least size of a file under RLIMIT_FSIZE: what is printed goes to a file too."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_runs.write_data(tmp_path_factory.mktemp("data"))


class SmallDisk:
    """A small file system whose free space can be set."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._filler = folder, folder / "filler"

    def leave(self, free: int) -> None:
        """Leave so many bytes, rounded down to pages."""
        self._filler.unlink(missing_ok=True)
        now = os.statvfs(self.folder)
        with self._filler.open("wb") as stream:
            if now.f_bavail * now.f_frsize > free:
                os.posix_fallocate(stream.fileno(), 0, now.f_bavail * now.f_frsize - free)

    def under(self, command: Command, name: str, free: int) -> tuple[Path, Ended]:
        """Run a command in the folder ``name`` with so many bytes free, and make room again."""
        self.leave(free)
        folder = self.folder / name
        end = command.run(folder)
        self.leave(DISK)
        return folder, end

    def clear(self) -> None:
        """Remove everything."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small tmpfs; the trials with RLIMIT_FSIZE run instead")
    yield SmallDisk(folder)
    subprocess.run(["umount", str(folder)], check=True)


def levels(tally: Tally, largest: int, full: int, least: int = 0) -> list[int]:
    """Cut a range of bytes into equal parts and draw one number from each."""
    count = tally.count(full)
    width = (largest - least) / count
    return [least + int(tally.draw.uniform(k, k + 1) * width) for k in range(count)]


def judge(end: Ended, right: Callable[[], bool]) -> Outcome:
    """Right, or refused with `ExitCode.CANNOT_WRITE`."""
    outcome = end.outcome(lambda _: right(), seconds=WORKING)
    if outcome.kind == "refused" and end.code != ExitCode.CANNOT_WRITE:
        return Outcome("failed", f"exit {end.code} on a full disk: {end.err[-500:]!r}")
    return outcome


def told(outcome: Outcome, where: str, trouble: str = "") -> Outcome:
    kind = "failed" if trouble else outcome.kind
    return Outcome(kind, f"{where}: {trouble or outcome.note}", outcome.seconds, outcome.megabytes)


def goes_on(command: Command, folder: Path, end: Ended, expected: object) -> Outcome:
    """Judge a run that met a full disk and, now that there is room, continue it."""
    outcome = judge(end, lambda: command.result(folder) == expected)
    if outcome.kind != "refused":
        return outcome
    again = command.run(folder)
    if again.code:
        return Outcome("failed", f"does not go on when there is room: {again.err[-500:]!r}")
    left = small_runs.leftovers(folder)
    same = command.result(folder) == expected
    return outcome if same and not left else Outcome("failed", f"left {left}" if left else "another result")


@pytest.mark.parametrize("name", ["train", "study"])
def test_a_full_disk_under_a_command(
    name: str, data: Path, disk: SmallDisk, tmp_path: Path, tally: Tally
) -> None:
    command = {"train": small_runs.train(data, epochs=2), "study": small_runs.study(data)}[name]
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    for free in levels(tally, 256 << 10, 40 if name == "train" else 12):
        folder, end = disk.under(command, "run", free)
        tally.add(told(goes_on(command, folder, end, expected), f"{name}, {free} bytes free"))
        disk.clear()


@pytest.mark.parametrize("name", ["train", "study"])
def test_no_file_may_grow_larger(name: str, data: Path, tmp_path: Path, tally: Tally) -> None:
    command = {"train": small_runs.train(data, epochs=2), "study": small_runs.study(data)}[name]
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    for size in levels(tally, 48 << 10, 40 if name == "train" else 12, least=LINE):
        folder = tmp_path / f"run-{size}"
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
        end = command.run(folder, before=limit)
        tally.add(told(goes_on(command, folder, end, expected), f"{name}, files of {size} bytes at most"))
        shutil.rmtree(folder, ignore_errors=True)


def stays_whole(command: Command, folder: Path, end: Ended, expected: dict[str, str]) -> Outcome:
    """Judge `predict --jobs` that met a full disk: what has a final name is whole; then continue it."""
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.csv")}
    if not found.items() <= expected.items():
        return Outcome("failed", f"half written: {sorted(found.items() - expected.items())}")
    return goes_on(command, folder, end, expected)


def test_a_full_disk_under_predictions_of_many_files(
    data: Path, disk: SmallDisk, tmp_path: Path, tally: Tally
) -> None:
    """The twelve files have 400 kB; the disk is full before the first, between two of them, or in one of them."""
    command = small_runs.predict(data)
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    for free in levels(tally, DISK // 2, 24):
        folder, end = disk.under(command, "predictions", free)
        tally.add(told(stays_whole(command, folder, end, expected), f"predict, {free} bytes free"))
        disk.clear()


def test_no_file_of_predictions_may_grow_larger(data: Path, tmp_path: Path, tally: Tally) -> None:
    command = small_runs.predict(data)
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    for size in levels(tally, 48 << 10, 24, least=LINE):
        folder = tmp_path / f"predictions-{size}"
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
        end = command.run(folder, before=limit)
        outcome = stays_whole(command, folder, end, expected)
        tally.add(told(outcome, f"predict, files of {size} bytes at most"))
        shutil.rmtree(folder, ignore_errors=True)


def test_a_full_disk_under_a_model_that_is_replaced(
    data: Path, disk: SmallDisk, tmp_path: Path, tally: Tally
) -> None:
    assert small_runs.train(data, epochs=1).run(tmp_path / "run").code == 0
    model = load_model_folder(tmp_path / "run" / "model")
    path, lines = disk.folder / "model", ["old", "new"]
    for free in levels(tally, 64 << 10, 400):
        save_model_folder(path, replace(model, card="old"))
        disk.leave(free)
        outcome = call(
            f"{free} bytes free",
            lambda: save_model_folder(path, replace(model, card="new")),
            lambda _: load_model_folder(path).card == "new",
        )
        disk.leave(DISK)
        if outcome.kind == "refused" and load_model_folder(path).card != "old":
            outcome = told(outcome, f"{free} bytes free", "the old model has gone")
        left = small_runs.leftovers(disk.folder)
        tally.add(told(outcome, f"{free} bytes free", f"left {left}") if left else outcome)
    assert load_model_folder(path).card in lines


WRITTEN = {
    "encode": ("encode", "--output", "vectors.npy"),
    "predictions": ("predict", "--output", "predictions.csv"),
    "html": ("explain", "--html", "page.html"),
    "svg": ("explain", "--figure", "figure.svg"),
    "png": ("explain", "--figure", "figure.png"),
}
"""What is written to a file by a command that takes a model and texts."""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_full_disk_under_a_file_of_results(
    name: str, data: Path, disk: SmallDisk, tmp_path: Path, tally: Tally
) -> None:
    """The file of a former call stays, or the new one is the same as with room."""
    run = tmp_path / "run"
    assert small_runs.train(data, epochs=1).run(run).code == 0
    verb, option, file = WRITTEN[name]
    words = (verb, run / "model", "--text", "The film was lovely .", option)
    assert Forked(*words, tmp_path / file).wait().code == 0
    expected = (tmp_path / file).read_bytes()
    for free in levels(tally, len(expected) + 8192, 12):
        (disk.folder / file).write_bytes(b"of a former call")
        disk.leave(free)
        end = Forked(*words, disk.folder / file).wait()
        now = (disk.folder / file).read_bytes()
        outcome = judge(end, functools.partial(bytes.__eq__, now, expected))
        lost = outcome.kind == "refused" and now != b"of a former call"
        trouble = "the former file has gone" if lost else ""
        left = small_runs.leftovers(disk.folder)
        tally.add(told(outcome, f"{name}, {free} bytes free", trouble or (f"left {left}" if left else "")))
        disk.clear()


def test_a_full_disk_under_the_cache(data: Path, disk: SmallDisk, tmp_path: Path, tally: Tally) -> None:
    """Training does without its cache."""
    command = small_runs.train(data, epochs=1)
    assert command.run(tmp_path / "alone").code == 0
    expected = command.result(tmp_path / "alone")
    for free in levels(tally, 96 << 10, 16):
        disk.leave(free)
        folder = tmp_path / f"run-{free}"
        end = command.run(folder, more={"HEEDFUL_CACHE": str(disk.folder / "cache")})
        outcome = end.outcome(lambda _, folder=folder: command.result(folder) == expected, refusals=False)
        disk.leave(DISK)
        left = small_runs.leftovers(disk.folder)
        tally.add(told(outcome, f"cache, {free} bytes free", f"left {left}" if left else ""))
        disk.clear()


def test_a_model_is_saved_with_files_limited_to_any_size(data: Path, tmp_path: Path, tally: Tally) -> None:
    """The same as on a full disk, to the byte, and where nothing may be mounted."""
    assert small_runs.train(data, epochs=1).run(tmp_path / "run").code == 0
    model = load_model_folder(tmp_path / "run" / "model")
    path = tmp_path / "model"
    save_model_folder(path, replace(model, card="old"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in levels(tally, 10_500, 600):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            outcome = call(f"files of {size} bytes at most", lambda: _replace(path, model))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        card = load_model_folder(path).card
        wrong = card != ("new" if outcome.kind == "right" else "old")
        left = small_runs.leftovers(tmp_path)
        trouble = f"the card is {card!r}" if wrong else f"left {left}" if left else ""
        tally.add(told(outcome, f"files of {size} bytes at most", trouble))
        save_model_folder(path, replace(model, card="old"))


def _replace(path: Path, model: ModelFolder) -> None:
    try:
        save_model_folder(path, replace(model, card="new"))
    except OutputError:
        raise
    except OSError as error:  # pytest's own files are limited too
        raise AssertionError(f"{type(error).__name__}: {error}") from error
