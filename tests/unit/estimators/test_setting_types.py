"""The typed keyword arguments are the settings that there are."""

from __future__ import annotations

import typing

from heedful.estimators.estimator import Method
from heedful.estimators.setting_types import EstimatorSettings
from heedful.explain.methods.method_names import METHODS
from heedful_lab.repository import setting_types


def test_the_methods_are_those_that_there_are() -> None:
    assert typing.get_args(Method) == METHODS


def test_the_typed_settings_are_those_that_there_are() -> None:
    wanted = {
        name: setting_types.written(kind) for name, kind in setting_types.settings(setting_types.RunConfig)
    }
    lines = (
        setting_types.FILE.read_text(encoding="utf-8")
        .replace("\n        ", "")
        .replace("\n    ]", "]")
        .splitlines()
    )
    found = dict(
        line.strip().split(": ", 1) for line in lines if line.startswith("    ") and ": " in line[:60]
    )
    assert found.keys() == wanted.keys() == typing.get_type_hints(EstimatorSettings).keys(), (
        "run: python -m heedful_lab.repository.setting_types"
    )
    for name, kind in wanted.items():
        assert "".join(found[name].split()).replace(",]", "]") == "".join(kind.split()), name
