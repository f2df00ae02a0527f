"""Searches over a tiny task: proposed, kept, gone on with, and never judged by the test part."""

from __future__ import annotations

import csv
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from forked_commands import started
from heedful.errors import ArtifactError, DataError, Interrupted, MissingExtraError, UsageError
from heedful.machine import crew
from heedful.run.recipe_files import load_config
from heedful.run.tuning import Search, outcome, read_space, report_on_test, run_search, store
from heedful.run.tuning.store import finished, import_optuna, open_study, taking_turns
from heedful.storage import alone
from heedful.training.progress import Silent
from waiting import PATIENCE

VARY = ("train.optimizer.lr=0.001..0.1:log", "batches.size=8,16")
QUICK = ("train.max_steps=4", "train.evaluate_every=2", "train.save_seconds=60", "train.device=cpu")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_tasks(tmp_path_factory.mktemp("tasks"))


@pytest.fixture(autouse=True)
def _no_waiting_for_disks() -> Iterator[None]:
    """Let SQLite wait for the disk as little as the other writers do in the tests."""
    sqlalchemy = pytest.importorskip("sqlalchemy")

    def hurry(connection: Any, _: object) -> None:
        connection.execute("PRAGMA synchronous = OFF")

    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", hurry)
    yield
    sqlalchemy.event.remove(sqlalchemy.Engine, "connect", hurry)


def make(data: Path, out: Path, *changes: str, vary: tuple[str, ...] = VARY, prune: bool = True) -> Search:
    config = load_config(data / "text.toml", [*QUICK, *changes])
    return Search(config, read_space(None, vary, config), out, data, prune=prune)


def values(search: Search) -> list[tuple[Any, ...]]:
    return [(trial.params, trial.value) for trial in finished(search.open())]


class StopsIn(Silent):
    """Asks to stop in a trial, as Ctrl-C does."""

    def __init__(self, trial: int, at: int = 1) -> None:
        self.left, self.at = trial + 1, at

    def start(self, total: int, done: int) -> None:
        self.left -= 1

    def step(self, step: int, loss: float) -> None:
        if not self.left and step == self.at:
            import signal

            signal.raise_signal(signal.SIGINT)


def test_a_search_goes_on_where_it_was_stopped_and_ends_as_if_it_was_not(data: Path, tmp_path: Path) -> None:
    whole = make(data, tmp_path / "whole", prune=False)
    said: list[str] = []
    study = run_search(whole, 3, print_line=said.append)
    assert [line.split()[1] for line in said] == ["0", "1", "2"]
    assert finished(study)[0].params == {"train.optimizer.lr": 0.02, "batches.size": 16}  # the recipe itself

    cut = make(data, tmp_path / "cut", prune=False)
    with pytest.raises(Interrupted):
        run_search(cut, 3, reporter=StopsIn(1))
    assert len(values(cut)) == 1
    assert (tmp_path / "cut" / "trials" / "trial-0001" / "checkpoints").exists()
    run_search(cut, 3)
    assert values(cut) == values(whole)
    run_search(cut, 3)  # nothing is left to do
    assert values(cut) == values(whole)
    run_search(cut, 4)
    assert len(values(cut)) == 4


def test_a_trial_taken_up_is_judged_by_all_its_scores(data: Path, tmp_path: Path) -> None:
    def scores(search: Search) -> list[dict[int, float]]:
        return [trial.intermediate_values for trial in finished(search.open())]

    whole = make(data, tmp_path / "whole", "train.max_steps=8")
    run_search(whole, 2)
    cut = make(data, tmp_path / "cut", "train.max_steps=8")
    with pytest.raises(Interrupted):
        run_search(cut, 2, reporter=StopsIn(1, at=5))
    run_search(cut, 2)
    assert scores(cut) == scores(whole)
    assert len(scores(cut)[1]) == 4


def test_the_best_settings_are_a_recipe_whose_run_gives_the_same_score(data: Path, tmp_path: Path) -> None:
    search = make(data, tmp_path / "search")
    study = run_search(search, 3)
    found = outcome(search, study)
    assert found.score == max(trial.value or 0.0 for trial in finished(study))
    recipe = found.recipe
    assert load_config(recipe) == found.best
    run = tiny.run("train", recipe, "--data", data, "--out", tmp_path / "run", "--json", "--quiet")
    assert run.json()["dev"]["metrics"]["accuracy"] == found.score
    test = report_on_test(found, data)
    assert test is not None
    assert test.metrics == run.json()["test"]["metrics"]
    assert [path.name for path in (tmp_path / "search" / "trials").iterdir()] == [found.model.name]
    rows = list(csv.DictReader((tmp_path / "search" / "trials.csv").read_text().splitlines()))
    assert [row["state"] for row in rows] == [trial.state.name.lower() for trial in finished(study)]
    assert "The test split was not read" in found.render()
    assert "was read once" in found.render(test)


def test_no_trial_sees_the_test_part(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from heedful.run.tuning import trials

    seen: list[set[str]] = []
    plain = trials.train

    def watched(config: Any, prepared: Any, **rest: Any) -> Any:
        seen.append(set(prepared.datasets))
        return plain(config, prepared, **rest)

    monkeypatch.setattr(trials, "train", watched)
    run_search(make(data, tmp_path / "search"), 2)
    assert seen == [{"train", "dev"}] * 2


def test_the_papers_protocol_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the dev split is the test split"):
        run_search(make(data, tmp_path / "search", "data.protocol=paper"), 1)


def test_a_search_does_not_go_on_with_other_data(data: Path, tmp_path: Path) -> None:
    """Scores on other rows cannot be compared; a search that has ended is shown as long as its rows are the same."""
    out, file = tmp_path / "search", data / "text.csv"
    run_search(make(data, out), 1)
    content = file.read_text()
    try:
        file.write_text(content.replace("lovely", "grim"))
        for trials in (1, 2):
            with pytest.raises(UsageError, match=r"holds a search on other data .*text\.csv"):
                run_search(make(data, out), trials)
        file.unlink()
        run_search(make(data, out), 1)
    finally:
        file.write_text(content)
    run_search(make(data, out), 1)


def test_another_search_in_the_folder_is_refused(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "search"
    run_search(make(data, out), 1)
    with pytest.raises(UsageError, match="other settings or another space"):
        run_search(make(data, out, "model.hidden=8"), 2)
    with pytest.raises(UsageError, match="other settings or another space"):
        run_search(make(data, out, vary=VARY[:1]), 2)
    with alone(out, "search"), pytest.raises(UsageError, match="another search is at work"):
        run_search(make(data, out), 2)


def test_a_search_whose_data_was_missing_is_begun_anew(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nosuch\.csv"):
        run_search(make(data, tmp_path / "search", "data.train=nosuch.csv"), 1)
    assert len(finished(run_search(make(data, tmp_path / "search"), 1))) == 1


def test_a_test_part_that_is_not_there_is_told_before_the_search(data: Path, tmp_path: Path) -> None:
    words = ("tune", data / "text.toml", "--data", data, "--out", tmp_path / "search", "--test")
    told = tiny.run(*words, "--set", "data.test=''")
    assert (
        told.code,
        "--test: there is no test split; name its file (--set data.test=FILE)" in told.err,
    ) == (
        2,
        True,
    )
    assert not (tmp_path / "search").exists()


def test_a_trial_that_cannot_be_trained_is_the_worst_and_a_search_without_another_says_why(
    data: Path, tmp_path: Path
) -> None:
    diverging = ("train.optimizer.lr=1e30..1e38:log",)
    search = make(data, tmp_path / "search", "train.optimizer.eps=1e-30", vary=diverging)
    study = run_search(search, 2)
    assert [trial.state.name for trial in finished(study)] == ["PRUNED", "PRUNED"]
    with pytest.raises(UsageError, match=r"no trial was trained to its end: .*not finite"):
        outcome(search, study)


def test_poor_trials_are_given_up(data: Path, tmp_path: Path) -> None:
    changes = ("train.max_steps=0", "train.epochs=4", "train.evaluate_every=0")
    search = make(data, tmp_path / "search", *changes, vary=("train.optimizer.lr=0.02,0.021,0.022,1e-9",))
    study = search.open()
    for rate in (0.02, 0.021, 0.022, 0.02, 0.021, 1e-9):
        study.enqueue_trial({"train.optimizer.lr": rate})
    study = run_search(search, 7)
    states = {(trial.params["train.optimizer.lr"], trial.state.name) for trial in finished(study)}
    assert (1e-9, "PRUNED") in states
    assert (0.02, "COMPLETE") in states


def test_a_file_that_is_no_search_is_told(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_bytes(b"something else entirely" * 100)
    with pytest.raises(ArtifactError, match="expected the file of a search"):
        open_study(tmp_path, "max")


def test_a_search_of_another_optuna_is_told_and_a_fitting_one_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = import_optuna().storages._rdb.storage
    looked = list[str]()
    real = storage._VersionManager.get_current_version
    monkeypatch.setattr(
        storage._VersionManager, "get_current_version", lambda self: looked.append("") or real(self)
    )
    for _ in range(3):
        open_study(tmp_path / "one", "max")
    assert len(looked) == 1
    other = shutil.copytree(tmp_path / "one", tmp_path / "other")
    monkeypatch.setattr(storage._VersionManager, "get_current_version", lambda self: "v99")
    with pytest.raises(ArtifactError, match="expected the file of a search"):
        open_study(other, "max")


def test_without_optuna_the_install_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heedful\[tune\]'"):
        import_optuna()


def test_the_command_line_runs_trials_side_by_side(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_SPAWN", started())
    words = [
        "tune",
        data / "text.toml",
        "--data",
        data,
        "--out",
        tmp_path / "search",
        "--jobs",
        2,
        "--trials",
        2,
    ]
    changes = [word for change in QUICK for word in ("--set", change)]
    result = tiny.run(*words, *changes, "--vary", VARY[0], "--test", "--json")
    assert result.code == 0, result.err
    found = result.json()
    assert found["trials"] == 2
    assert found["test"]["count"] == 40
    assert Path(found["recipe"]).is_file()
    assert result.err.count("trial ") == 2
    wrong = tiny.run(*words, "--vary", "train.lr=1..2")
    assert (wrong.code, "train.lr: unknown setting" in wrong.err) == (2, True)


def test_one_process_at_a_time_takes_a_trial(tmp_path: Path) -> None:
    order, waits = list[str](), threading.Event()

    def second() -> None:
        waits.set()
        with taking_turns(tmp_path):
            order.append("second")

    other = threading.Thread(target=second)
    with taking_turns(tmp_path):
        other.start()
        assert waits.wait(PATIENCE)
        order.append("first is done")
    other.join(timeout=PATIENCE)
    assert order == ["first is done", "second"]


@pytest.fixture(scope="module")
def unbroken(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The trials of a search of two that nothing stopped."""
    whole = make(data, tmp_path_factory.mktemp("unbroken") / "whole", prune=False)
    run_search(whole, 2)
    return values(whole)


class Killed(BaseException):
    """What nothing handles, as a kill."""


@pytest.mark.parametrize(
    ("where", "calls"),
    [
        ("write_text", 1),
        ("set_user_attr", 1),
        ("set_user_attr", 2),
        ("_suggest", 1),
        ("_suggest", 2),
        ("tell", 1),
    ],
)
def test_a_search_killed_between_two_steps_of_its_file_ends_as_if_it_was_not(
    data: Path,
    unbroken: list[tuple[Any, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    calls: int,
) -> None:
    optuna = import_optuna()
    cut = make(data, tmp_path / "cut", prune=False)
    if where == "tell":  # the kill is between queueing a trial again and giving the old one up
        with pytest.raises(Interrupted):
            run_search(cut, 2, reporter=StopsIn(0))
    place = {"write_text": store, "_suggest": optuna.Trial}.get(where, optuna.Study)
    real, left = getattr(place, where), [calls]

    def killed(*args: Any, **options: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            raise Killed
        return real(*args, **options)

    monkeypatch.setattr(place, where, killed)
    with pytest.raises(Killed):
        run_search(cut, 2)
    run_search(cut, 2)
    assert values(cut) == unbroken
