from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import heedful
from heedful.tasks.schema import About
from heedful.tasks.sentences.cross_validation import OutOfFold, PartRows
from heedful.tasks.sentences.fitting_wide import FitSetting, Fitter
from heedful.tasks.sentences.joint_fit import forms
from heedful.tasks.sentences.linear_fits import LinearFit
from heedful.tasks.sentences.linear_targets import ClassTargets
from heedful.tasks.sentences.previous_choice import CHOSEN, ChosenSettings

DRAW = np.random.default_rng(0)
CLASSES = np.arange(40) % 2
TARGETS = ClassTargets.of_classes(CLASSES, 2, np.ones(40))
SETTINGS = (FitSetting(1.0), FitSetting(10.0), FitSetting(3.0, True, 0.5))


def part(name: str, settings: tuple[FitSetting, ...] = SETTINGS) -> PartRows:
    rows = (DRAW.normal(size=(40, 5)) + CLASSES[:, None]).astype(np.float32)
    return PartRows(name, rows, settings, keep)


def keep(about: About, fit: LinearFit, weight: float) -> About:
    return about


def found() -> OutOfFold:
    parts = [[part("a"), part("b")], [part("c")]]
    return OutOfFold.of(parts, TARGETS, np.arange(40) // 2 % 5)


def test_a_choice_is_held_to_and_read_again() -> None:
    free = found()
    chosen = ChosenSettings.of(free)
    assert (chosen.rows, chosen.outputs) == (40, 2)
    best = [(each.part.name, each.setting) for each in free.best()]
    assert list(chosen.parts) == best
    assert ChosenSettings.read({CHOSEN: json.loads(json.dumps(chosen.as_dict()))}) == chosen
    (one,), new, (last,) = chosen.held([[part("a"), part("b")], [part("d")], [part("c")]])
    assert [(one.name, one.settings), (last.name, last.settings)] == [(n, (s,)) for n, s in best]
    assert [each.settings for each in new] == [SETTINGS]
    other = FitSetting(1.0, best[1][1].scaled, even=not best[1][1].even)
    assert chosen.held([[part("c", (other,))]])[0][0].settings == (other,)


def test_a_held_choice_stays_as_old_as_it_is() -> None:
    free = found()
    before = ChosenSettings(10, 2, ChosenSettings.of(free).parts)
    assert ChosenSettings.of(free, before).rows == 10
    assert ChosenSettings.of(free, ChosenSettings(10, 2, (("x", SETTINGS[0]),))).rows == 40


@pytest.mark.parametrize(
    ("rows", "outputs", "times", "stands"),
    [
        (40, 2, 4.0, True),
        (159, 2, 4.0, True),
        (160, 2, 4.0, False),
        (40, 3, 4.0, True),
        (40, 4, 4.0, False),
        (40, 1, 4.0, False),
        (40, 2, 1.0, False),
        (39, 2, 4.0, False),
    ],
)
def test_until_when_a_choice_stands(rows: int, outputs: int, times: float, stands: bool) -> None:
    assert ChosenSettings(40, 2, ()).stands(rows, outputs, times) is stands


ONE = {"name": "a", "strength": 1.0, "scaled": True, "share": 1.0, "even": False}


@pytest.mark.parametrize(
    "table",
    [
        None,
        7,
        [],
        {},
        {"rows": 1.5, "outputs": 2, "parts": []},
        {"rows": 1, "outputs": True, "parts": []},
        {"rows": 1, "outputs": 2, "parts": {}},
        *(
            {"rows": 1, "outputs": 2, "parts": [each]}
            for each in (
                3,
                {"name": "a"},
                ONE | {"name": 1},
                ONE | {"strength": 0.0},
                ONE | {"strength": "1"},
            )
        ),
    ],
)
def test_what_cannot_be_understood_holds_nothing(table: object) -> None:
    assert ChosenSettings.read({CHOSEN: table}) is None


def test_only_the_forms_that_are_wanted_are_made() -> None:
    parts = [part("a"), part("b")]
    names = [each.name for each in forms(parts, {}, TARGETS)]
    assert [each.name for each in forms(parts, {}, TARGETS, names[:1])] == names[:1]
    assert [each.name for each in forms(parts, {}, TARGETS, ["other"])] == names


def test_learning_on_fits_in_the_settings_that_were_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    fit = Fitter.fit

    def counted(self: Fitter, setting: FitSetting) -> LinearFit:
        fits.append(setting)
        return fit(self, setting)

    monkeypatch.setattr(Fitter, "fit", counted)
    kinds, things = ("fine", "dull", "sweet", "grim"), ("film", "song", "meal", "door", "tent", "lamp")
    texts = [f"{kind} {thing}" for thing in things for kind in kinds]
    labels = ["good", "bad"] * 12
    settings: dict[str, Any] = {"model__sentence": "none", "text__vectors": "", "keep_examples": "texts"}
    settings["data__choose_again"] = 4.0
    model = heedful.TextClassifier(**settings).partial_fit(texts[:12], labels[:12])
    chosen, free = model.predictor_.about.metrics[CHOSEN], len(fits)
    model.partial_fit(texts[12:20], labels[12:20])
    assert len(fits) - free == 6  # five folds and all rows
    assert len(set(fits[free:])) == 1
    assert model.predictor_.about.metrics[CHOSEN] == chosen
    assert "learned anew, in the settings that 12 rows had chosen," in model.predictor_.about.card
    fits.clear()
    model.partial_fit([f"{text} today" for text in [*texts, *texts[:8]]], [*labels, *labels[:8]])
    assert len(set(fits)) > 1
    assert model.predictor_.about.metrics[CHOSEN]["rows"] == 52
    fits.clear()
    model.partial_fit(["a blue car", "a blue hat"] * 3, ["color"] * 6)
    assert len(set(fits)) == 1
    fits.clear()
    more = ["a long road", "a long day", "a cold day", "a cold sea", "a far town", "a far sea"]
    model.partial_fit(more, ["long", "long", "cold", "cold", "far", "far"])
    assert len(set(fits)) > 1  # of so many new classes nothing was chosen
    rows_alone = heedful.TextClassifier(**{**settings, "keep_examples": "rows"})
    assert CHOSEN not in rows_alone.fit(texts, labels, baseline=False).predictor_.about.metrics
