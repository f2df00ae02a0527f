"""The example of docs/limits.md does what its comments say."""

import ast
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"


def test_the_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    begun, told = code.split("model.predict", 1)
    names: dict[str, object] = {}
    exec(compile(begun, str(PAGE), "exec"), names)
    lines = ("model.predict" + told).strip().splitlines()
    assert len(lines) == 3
    for line in lines:
        call, _, said = line.partition("  # ")
        assert ast.parse(call)
        assert repr(eval(call, names)) == said
