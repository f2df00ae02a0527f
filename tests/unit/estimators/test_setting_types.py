"""The typed keyword arguments are the settings that there are."""

from __future__ import annotations

import importlib.util
import typing
from pathlib import Path

from heedful.estimators.estimator import Method
from heedful.estimators.setting_types import Settings
from heedful.explain.methods.method_names import METHODS

SCRIPT = Path(__file__).parents[3] / "scripts" / "setting_types.py"


def test_the_methods_are_those_that_there_are() -> None:
    assert typing.get_args(Method) == METHODS


def test_the_typed_settings_are_those_that_there_are() -> None:
    spec = importlib.util.spec_from_file_location("setting_types_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    wanted = {name: script.written(kind) for name, kind in script.settings(script.RunConfig)}
    lines = (
        script.FILE.read_text(encoding="utf-8").replace("\n        ", "").replace("\n    ]", "]").splitlines()
    )
    found = dict(
        line.strip().split(": ", 1) for line in lines if line.startswith("    ") and ": " in line[:60]
    )
    assert found.keys() == wanted.keys() == typing.get_type_hints(Settings).keys(), (
        "run: python scripts/setting_types.py"
    )
    for name, kind in wanted.items():
        assert "".join(found[name].split()).replace(",]", "]") == "".join(kind.split()), name
