"""Write ``src/heedful/estimators/setting_types.py``: the settings of an estimator as typed keyword arguments.

    python -m heedful_lab.repository.setting_types

Run it after a change of a setting. A test compares the file with the settings.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator

from heedful.run.run_config import RunConfig
from heedful_lab.repository import ROOT

FILE = ROOT / "src" / "heedful" / "estimators" / "setting_types.py"
HEAD = '''"""The settings of an estimator as typed keyword arguments, for editors and type checkers.

Made by ``heedful_lab.repository.setting_types`` from `heedful.run.RunConfig`; do not edit it by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class EstimatorSettings(TypedDict, total=False):
    """Every setting by its dotted name with ``__`` in place of the dot; docs/settings.md explains each."""

'''


def settings(of: type, before: str = "") -> Iterator[tuple[str, object]]:
    """Yield the name of each setting and its type."""
    hints = typing.get_type_hints(of)
    for each in dataclasses.fields(of):
        kind = hints[each.name]
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            yield from settings(kind, f"{before}{each.name}__")
        else:
            yield f"{before}{each.name}", kind


def written(kind: object) -> str:
    """Return how a type is written."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(_quoted, arguments))}]"
    if origin is tuple:
        return f"Sequence[{written(arguments[0])}]"
    if origin is dict:
        return "Mapping[str, Any]"
    return kind.__name__ if isinstance(kind, type) else "Any"


def _quoted(value: object) -> str:
    return '"' + value + '"' if isinstance(value, str) else repr(value)


def text() -> str:
    """Return the file, before it is formatted."""
    return HEAD + "".join(f"    {name}: {written(kind)}\n" for name, kind in settings(RunConfig))


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"{FILE}: written; run 'ruff format' on it")
