"""Options of encoders: every wrong type and range is named before anything is built, all of them at once."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from heedful.errors import UsageError
from heedful.models import ENCODERS, NETWORKS, ModelConfig, encoder_config
from heedful.settings import fit

MISTAKES = [
    ("mssan", "heads", 4, "must be a list; got 4"),
    ("mssan", "heads", ["up"], "must hold readable names: head 'up': 'up' is unknown"),
    ("mssan", "activation", "gelu", "must be one of 'elu', 'relu', 'linear'"),
    ("disan", "masks", [], "must hold at least one name; got []"),
    ("disan", "masks", "forward", "must be a list; got 'forward'"),
    (
        "disan",
        "masks",
        ["sidewards", "forward"],
        "must hold readable names: mask 'sidewards': unknown mask 'sidewards'",
    ),
    ("disan", "scale", math.nan, "must be above 0; got nan"),
    ("disan", "dropout", 1, "must be at least 0 and below 1; got 1"),
    ("mtsa", "heads", "two", "must be a whole number; got 'two'"),
    ("mtsa", "heads", 2.0, "must be a whole number; got 2.0"),
    ("mtsa", "heads", True, "must be a whole number; got True"),
    ("mtsa", "head_width", -3, "must be 0 or more; got -3"),
    ("mtsa", "score_layers", 3, "must be one of 0, 1, 2"),
    ("mtsa", "score_layers", True, "must be one of 0, 1, 2"),
    ("mtsa", "attend_from", "key", "must be one of 'value', 'input'"),
    ("mtsa", "gate", "no", "must be true or false; got 'no'"),
    ("mtsa-paper", "score_from", "value", "must be one of 'key', 'input'"),
    ("mtsa-paper", "output", "activate", "must be one of 'linear', 'activated' (did you mean 'activated'?)"),
    ("mdman", "policy_learns", "no", "must be true or false; got 'no'"),
    ("mdman", "attentions", ["self", "self"], "must name at least one kind, and each once"),
    ("bi-lstm", "hidden", 0, "must be 1 or more; got 0"),
    ("multi-head", "head_width", 0, "must be 1 or more; got 0"),
    ("cnn", "sizes", [], "must name at least one size"),
    ("hierarchical-cnn", "size", 4, "must be odd, 1 or more"),
    ("decomposable", "distance", -1, "must be 0 or more; got -1"),
    ("decomposable", "projected", 0, "must be 1 or more; got 0"),
]


@pytest.mark.parametrize(
    ("encoder", "name", "value", "message"), MISTAKES, ids=[f"{e} {n}={v}" for e, n, v, _ in MISTAKES]
)
def test_a_wrong_option_is_named(encoder: str, name: str, value: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        encoder_config(ModelConfig(encoder=encoder, encoder_options={name: value}))
    assert f"model.encoder_options.{name}: {message}" in str(caught.value)


def test_all_wrong_options_are_named_at_once() -> None:
    wrong = {"head": 2, "heads": 0, "gate": "no", "score_layers": 3}
    with pytest.raises(UsageError) as caught:
        encoder_config(ModelConfig(encoder="mtsa", encoder_options=wrong))
    assert [name for name in wrong if f"model.encoder_options.{name}" in str(caught.value)] == list(wrong)


SETTINGS = {name: settings for name, (settings, _) in {**ENCODERS, **NETWORKS}.items()}


@pytest.mark.parametrize("encoder", SETTINGS)
def test_the_defaults_of_every_encoder_are_options_too(encoder: str) -> None:
    defaults = SETTINGS[encoder]()
    options = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(defaults).items()
    }
    assert encoder_config(ModelConfig(encoder=encoder, encoder_options=options)) == defaults


@pytest.mark.parametrize("encoder", SETTINGS)
def test_every_number_and_list_of_every_encoder_has_a_range(encoder: str) -> None:
    hints = get_type_hints(SETTINGS[encoder])
    wide = [name for name, hint in hints.items() if hint in (int, float) or get_origin(hint) is tuple]
    checked = {part.name for part in dataclasses.fields(SETTINGS[encoder]) if "check" in part.metadata}
    assert set(wide) - checked == set()


@pytest.mark.parametrize("encoder", SETTINGS)
def test_every_option_has_a_type_that_is_checked(encoder: str) -> None:
    """An object is of no type that a settings file can state, and none of them takes it."""
    hints = get_type_hints(SETTINGS[encoder])
    assert [name for name, hint in hints.items() if not fit(object(), hint)[1]] == []
    names = [name for name, hint in hints.items() if hint is str or str in get_args(hint)]
    assert set(names) <= {"heads", "masks", "directions"}, "a closed set of names is a Literal"
