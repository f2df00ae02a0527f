"""The settings of a network that goes on, and the rows that choose."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from heedful.data.examples import Corpus, Example
from heedful.errors import UsageError
from heedful.models import ModelConfig
from heedful.run import RunConfig
from heedful.run.continued_network import LEAST_STEPS, divided, settings_of_network, with_judges
from heedful.run.recipe_files import override
from heedful.tasks.prepared import LearnedFrom
from heedful.text.vocabulary import Vocabulary


def before(kept: int = 0, seen: int = 300, extra: tuple[str, ...] = ()) -> LearnedFrom:
    about = SimpleNamespace(run={"model": {"width": 100, "hidden": 100}})
    reading = SimpleNamespace(vocabulary=Vocabulary(("a",), extra))
    model: Any = SimpleNamespace(model=ModelConfig(width=300, hidden=100), about=about, reading=reading)
    examples = tuple(Example((f"old {k}",), "x", weight=10.0) for k in range(kept))
    return LearnedFrom("runs/mine", model, examples, seen, each=10.0)


def config(**changes: object) -> RunConfig:
    return override(
        RunConfig(), {"model.width": 100, "model.hidden": 100, "train.least_steps": 400, **changes}
    )


def test_the_rate_falls_with_the_share_of_new_rows_and_the_network_stays() -> None:
    own = config(**{"text.vectors": "auto"})
    found = settings_of_network(own, before(), 100, new_classes=False)
    assert found["train.optimizer.lr"] == pytest.approx(own.train.optimizer.lr / 2)
    assert (found["model.width"], found["text.vectors"]) == (300, "")
    assert found["train.least_steps"] == LEAST_STEPS[False]
    further = settings_of_network(own, before(extra=("b",)), 100, new_classes=True)
    assert further["train.optimizer.lr"] == own.train.optimizer.lr
    assert further["train.least_steps"] == LEAST_STEPS[True]
    assert further["text.vectors"] != ""


def test_another_network_is_refused() -> None:
    with pytest.raises(UsageError, match=r"model\.hidden=50: runs/mine has 100"):
        settings_of_network(config(**{"model.hidden": 50}), before(), 100, new_classes=False)


def test_a_share_of_the_kept_rows_chooses_and_both_stand_for_all() -> None:
    found = divided(before(kept=30), 0.1, 0)
    assert (len(found.examples), len(found.judging)) == (27, 3)
    assert sum(each.weight for each in found.examples) == pytest.approx(300)
    assert sum(each.weight for each in found.judging) == pytest.approx(300)
    assert {each.texts for each in (*found.examples, *found.judging)} == {
        each.texts for each in before(30).examples
    }
    assert divided(before(kept=2), 0.1, 0).judging == ()
    other = divided(before(kept=30, seen=301), 0.1, 0)
    assert {each.texts for each in other.judging} != {each.texts for each in found.judging}


@pytest.mark.parametrize(("rows", "held"), [(1, 1), (9, 9), (10, 1), (50, 4)])
def test_new_rows_are_held_back_where_there_are_enough(rows: int, held: int) -> None:
    new = [Example((f"new {k}",), "xy"[k % 2]) for k in range(rows)]
    old = divided(before(kept=30), 0.1, 0)
    parts = with_judges(lambda: {"train": Corpus(list(new))}, old, 0.1, 0)()
    assert len(parts["dev"].examples) == held + 3
    assert len(parts["train"].examples) == (rows if rows < 10 else rows - held)
    assert parts["dev"].examples[-3:] == list(old.judging)
