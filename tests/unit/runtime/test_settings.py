"""The settings of a folder that the runtime reads: each wrong one is refused by its name, in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heedful.errors import ArtifactError, UsageError
from heedful.runtime.settings import read_settings

RIGHT: dict[str, Any] = {
    "model": {"task": "text"},
    "text": {"tokenizer": "whitespace"},
    "run": {},
    "network": {"read": []},
}


def test_what_is_not_said_has_its_default() -> None:
    found = read_settings(RIGHT, Path("m"))
    assert (found.task, found.max_tokens, found.truncate, found.temperature) == ("text", 400, "error", 1.0)
    assert (found.normalize, found.markup, found.costs, found.wide) == (False, "keep", (), 0.0)


@pytest.mark.parametrize(
    ("part", "name", "value", "said"),
    [
        ("", "model", None, "model must be a table; got None"),
        ("", "network", [], r"network must be a table; got \[\]"),
        ("", "temperature", 0.0, r"temperature cannot be 0\.0"),
        ("", "costs", [[0.0, 1.0]], "costs cannot be"),
        ("", "wide", True, "wide must be a number; got True"),
        ("model", "task", 3, r"model\.task cannot be 3"),
        ("text", "tokenizer", ["treebank"], r"text\.tokenizer cannot be \['treebank'\]"),
        ("text", "max_tokens", 0, r"text\.max_tokens cannot be 0"),
        ("text", "max_tokens", True, r"text\.max_tokens must be a whole number; got True"),
        ("text", "normalize", 1, r"text\.normalize must be true or false; got 1"),
        ("text", "truncate", "tail", r"text\.truncate cannot be 'tail'"),
        ("text", "phrases", 3, r"text\.phrases must be a table; got 3"),
    ],
)
def test_a_wrong_setting_is_named(part: str, name: str, value: object, said: str) -> None:
    config = {**RIGHT, part: {**RIGHT[part], name: value}} if part else {**RIGHT, name: value}
    with pytest.raises(ArtifactError, match=rf"^m/config\.json: {said}.*Copy ") as caught:
        read_settings(config, Path("m"))
    assert "\n" not in str(caught.value)


def test_a_part_that_is_missing_is_named() -> None:
    with pytest.raises(ArtifactError, match=r"^m/config\.json: run is missing"):
        read_settings({name: RIGHT[name] for name in RIGHT if name != "run"}, Path("m"))
    with pytest.raises(UsageError, match="the runtime runs"):
        read_settings({**RIGHT, "model": {"task": "roles"}}, Path("m"))
