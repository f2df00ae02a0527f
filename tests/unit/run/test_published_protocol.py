"""The settings of the published protocol: the cut of the training pairs, and the refusals that go with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from heedful.errors import UsageError
from heedful.run.preparation import prepare
from heedful.run.recipe_files import load_config
from heedful.tasks import task_named

CUT = ("data.truncate=drop", "data.length_share=0.5")


def test_only_training_examples_above_the_quantile_are_dropped(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    rows = [(f"{text}{' indeed' * (number % 4)}", label) for number, (text, label) in enumerate(tiny.texts())]
    tiny.write_csv(folder / "uneven.csv", rows, ["text", "label"])
    configs = [
        load_config(folder / "text.toml", ("data.train=uneven.csv", *settings)) for settings in ((), CUT)
    ]
    whole, cut = (prepare(config, folder, tmp_path / "cache") for config in configs)
    lengths = whole.datasets["train"].lengths()[:, 0]
    limit = sorted(lengths.tolist())[(len(lengths) + 1) // 2 - 1]
    fitting = int((lengths <= limit).sum())
    assert 0 < fitting < len(lengths)
    assert len(cut.datasets["train"]) == fitting
    assert len(cut.datasets["dev"]) == len(whole.datasets["dev"])
    assert cut.datasets["dev"].lengths().max() > limit
    assert any("too long" in note for note in cut.notes)
    assert task_named("text").untrained(configs[1], cut).text.truncate == "error"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (("data.length_share=0.97",), "length_share"),
        (("data.truncate=drop", "data.length_share=0.0"), "length_share"),
        (("data.truncate=drop", "model.task=roles"), "data.truncate"),
        (("train.evaluate_from=-1",), "evaluate_from"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: tuple[str, ...], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        load_config("disan-snli", settings)
