"""What a search varies, as a person writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.errors import UsageError
from heedful.run.recipe_files import override
from heedful.run.run_config import RunConfig
from heedful.run.tuning.space import Choice, Range, current, default_space, read_domain, read_space, to_toml

CONFIG = RunConfig()


def test_ranges_and_lists_are_read() -> None:
    assert read_domain("1e-4..1e-2:log") == Range(1e-4, 1e-2, log=True)
    assert read_domain("0.1..0.5:0.1") == Range(0.1, 0.5, step=0.1)
    assert read_domain("50..300:50") == Range(50, 300, step=50, whole=True)
    assert read_domain([16, 32]) == Choice((16, 32))
    assert not read_domain("1..2.5").whole  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("fast", "LOW..HIGH"),
        ("2..1", "below"),
        ("0..1:log", "above 0"),
        ("0.1..0.5:0.3", "whole steps"),
        ("0.1..0.5:-0.1", "whole steps"),
        ([1], "at least two"),
        ([[1], [2]], "at least two"),
        (3, "LOW..HIGH"),
    ],
)
def test_what_is_no_range_says_what_was_expected(wrong: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_domain(wrong)


def test_a_range_knows_what_it_holds() -> None:
    steps = read_domain("0.1..0.5:0.1")
    assert [steps.holds(value) for value in (0.3, 0.35, 0.6, True, "0.3")] == [
        True,
        False,
        False,
        False,
        False,
    ]
    assert read_domain("1..4").holds(2)
    assert not read_domain("1..4").holds(2.5)
    assert read_domain(["adam", "adagrad"]).holds("adam")


def test_file_and_arguments_come_together(tmp_path: Path) -> None:
    file = tmp_path / "space.toml"
    file.write_text('[train.optimizer]\nlr = "0.001..0.1:log"\nname = ["adam", "adagrad"]\n')
    space = read_space(file, ["model.hidden=100..300:100", "train.optimizer.lr=0.1,0.2"], CONFIG)
    assert {name: str(domain) for name, domain in space.items()} == {
        "train.optimizer.lr": "0.1,0.2",
        "train.optimizer.name": "adam,adagrad",
        "model.hidden": "100..300:100",
    }
    file.write_text(to_toml(space))
    assert read_space(file, [], CONFIG) == space


def test_without_either_the_settings_are_in_the_middle() -> None:
    config = override(CONFIG, {"train.optimizer.weight_decay": 5e-5, "batches.size": 32})
    space = read_space(None, [], config)
    assert str(space["train.optimizer.lr"]) == "0.05..5.0:log"
    assert str(space["train.optimizer.weight_decay"]) == "5e-06..0.0005:log"
    for chosen in (config, CONFIG):
        assert all(default_space(chosen)[name].holds(value) for name, value in current(space, chosen).items())


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_space(None, ["lr", "model.dropout=2..1"], CONFIG)
    assert len(str(caught.value).splitlines()) == 1 + 2
    with pytest.raises(UsageError) as caught:
        read_space(
            None,
            ["model.dropot=0.1..0.2", "batches.size=0..16", "data.fold=1,2", "train.seed=1..9"],
            CONFIG,
        )
    for said in (
        "did you mean 'dropout'",
        "got 0",
        "data.fold: is the same in every trial",
        "train.seed: is",
    ):
        assert said in str(caught.value)
    with pytest.raises(UsageError, match=r"missing\.toml: cannot be read"):
        read_space(tmp_path / "missing.toml", [], CONFIG)
    (tmp_path / "other.toml").write_bytes(b"x = '\xff'")
    with pytest.raises(UsageError, match=r"other\.toml: byte 6 is not UTF-8; save it as UTF-8$"):
        read_space(tmp_path / "other.toml", [], CONFIG)
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(UsageError, match="nothing is varied"):
        read_space(tmp_path / "empty.toml", [], CONFIG)
