"""Independent calls here and on Ray: the same records, each call once, errors of their own kind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from heedful.errors import DataError, ExitCode, UsageError
from heedful.machine.child import Failed
from heedful.machine.executors import Call, OneByOne
from heedful.run.recipe_files import load_config
from heedful.run.studies import run_study
from heedful.run.tuning import Search, read_space, run_search
from waiting import PATIENCE

CHANGES = ["train.max_steps=3", "train.device=cpu"]


def half(number: int) -> float:
    if number % 2:
        raise DataError(f"{number} is odd")
    return number / 2


def test_calls_come_back_by_their_place() -> None:
    found = dict(OneByOne().each([Call(f"half of {number}", half, (number,)) for number in (4, 3, 8)]))
    assert (found[0], found[2]) == (2.0, 4.0)
    assert found[1] == Failed(DataError, "3 is odd")


class Backwards(OneByOne):
    """Runs the last call first, and counts."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def each(self, calls: Any, *, again: bool = True) -> Iterator[tuple[int, Any]]:
        self.names += [call.name for call in calls]
        for place in reversed(range(len(calls))):
            [(_, outcome)] = super().each([calls[place]], again=again)
            yield place, outcome


def test_a_study_by_an_executor_is_that_of_one_process(tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")

    def study(folder: str, *seeds: int, executor: OneByOne | None = None) -> list[tuple[str, Any]]:
        found = run_study(
            str(data / "text.toml"),
            tmp_path / folder,
            data,
            seeds=seeds,
            overrides=CHANGES,
            executor=executor,
        )
        return [(str(run.varied), run.figures.test.metrics) for run in found.runs]

    backwards = Backwards()
    first = study("there", 1, 2, executor=backwards)
    assert first == study("here", 1, 2)
    assert backwards.names == ["train.seed=1", "train.seed=2"]
    study("there", 1, 2, 3, executor=backwards)
    assert backwards.names[2:] == ["train.seed=3"]


class Elsewhere(OneByOne):
    """A cluster that writes to another disk: nothing is left here."""

    def each(self, calls: Any, *, again: bool = True) -> Iterator[tuple[int, Any]]:
        yield from ((place, None) for place, _ in enumerate(calls))


def test_a_folder_that_machines_do_not_share_is_told(tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")
    with pytest.raises(
        UsageError, match=r"^train\.seed=1: ended, and its record is not in .*all machines share$"
    ):
        run_study(
            str(data / "text.toml"), tmp_path / "s", data, seeds=[1], overrides=CHANGES, executor=Elsewhere()
        )


def test_an_error_of_a_run_keeps_its_kind_and_the_others_are_kept(tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")
    (data / "text-test.csv").write_text("text,label\n,pos\n")
    with pytest.raises(DataError, match=r"^train\.seed=1: .*no usable row"):
        run_study(
            str(data / "text.toml"),
            tmp_path / "s",
            data,
            seeds=[1, 2],
            overrides=CHANGES,
            executor=OneByOne(),
        )


def test_a_search_by_an_executor(tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")
    config = load_config(data / "text.toml", CHANGES)
    space = read_space(None, ["train.optimizer.lr=1e-3..1e-1:log"], config)
    said: list[str] = []
    study = run_search(
        Search(config, space, tmp_path / "search", data),
        3,
        jobs=2,
        print_line=said.append,
        executor=Backwards(),
    )
    assert len(study.trials) == len(said) == 3
    assert (tmp_path / "search" / "best.toml").exists()


def test_without_a_cluster_the_address_is_told(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    words = ("study", "disan-trec", "--seeds", "1", "--out", tmp_path / "s", "--ray", "127.0.0.1:1")
    done = subprocess.run(
        [sys.executable, "-m", "heedful", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == ExitCode.USAGE
    assert done.stderr.splitlines()[-1].startswith("heedful: --ray 127.0.0.1:1: there is no Ray cluster")


def test_a_study_on_a_local_ray_has_the_figures_of_one_here(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    data = tiny.write_tasks(tmp_path / "data")
    shared = ["study", "text.toml", "--data", ".", "--seeds", "1,2", "--no-baseline", "--quiet", "--json"]
    shared += [word for change in CHANGES for word in ("--set", change)]
    figures = []
    for folder, more in (("here", []), ("ray", ["--ray", "local"])):
        words = [*shared, "--out", str(tmp_path / folder), *more]
        done = subprocess.run(
            [sys.executable, "-m", "heedful", *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            cwd=data,
        )
        assert done.returncode == 0, done.stderr
        runs = [json.loads((tmp_path / folder / f"train.seed={seed}.json").read_text()) for seed in (1, 2)]
        figures.append([run["figures"]["test"]["metrics"] for run in runs])
    assert figures[0] == figures[1]
