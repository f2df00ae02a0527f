"""The end of a training on a terminal: what the model finds important, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import HeedfulError

if TYPE_CHECKING:
    from heedful.data.examples import Example
    from heedful.run.run_config import RunConfig

_LONGEST = 60
_SAME = "a file with the same columns"


def ending(
    config: RunConfig, data: Path | None, model: Path, *, named: Path, columns: Sequence[str] = ()
) -> str:
    """Return the last lines of a training.

    Args:
        config: the settings of the run.
        data: the folder of data sets, or None.
        model: folder of the model.
        named: what the model is called in the commands, the folder of the run.
        columns: names of those that the model reads beside the text.

    Returns:
        The strongest words of each class, where the model can be explained without torch; and three commands.
    """
    from heedful.run.important_words import important_words
    from heedful.run.sources import data_root, find_source

    try:
        parts = find_source(config, data_root(config, data)).load()
        examples = (parts.get("dev") or parts["train"]).examples
        found = important_words(model, examples)
    except HeedfulError:  # the files have gone, say; the run itself is complete
        return ""
    lines = [] if found is None else ["", found.render()]
    return "\n".join([*lines, "", "Next:", *_commands(str(named), examples, config, columns)])


def _commands(
    named: str, examples: Sequence[Example], config: RunConfig, columns: Sequence[str]
) -> list[str]:
    from heedful.model.decisions.kinds import kind_of  # loads NumPy

    asked, folder = _quoted(examples, columns), shlex.quote(named)
    test = config.data.test if config.data.test and not config.data.set else "new.csv"
    return [
        f"  heedful predict {folder} {asked}",
        f"  heedful explain {folder} {asked} --html why.html",
        f"  heedful explain {folder} --all {shlex.quote(test)} --html report.html    # {_SAME}: the whole model"
        if kind_of(config.model.task).outputs not in ("vector", "other")
        else f"  heedful evaluate {folder} {shlex.quote(test)}    # {_SAME}",
    ]


def _written(example: Example, name: str) -> str:
    """Return the value of a column as it is typed; empty for a missing one, and for one that is too long to type."""
    value = (example.cells or {}).get(name)
    written = "" if value is None else str(value)
    return written if len(written) <= _LONGEST and written.isprintable() else ""


def _quoted(examples: Sequence[Example], columns: Sequence[str] = ()) -> str:
    """Return the texts of a short example, and the columns beside them, as they are typed in a shell."""
    for example in examples:
        texts = [" ".join(text.split()) for text in example.texts]
        if all(0 < len(text) <= _LONGEST and text.isprintable() and text[0] not in "-@" for text in texts):
            cells = "".join(
                f" --feature {shlex.quote(f'{name}={_written(example, name)}')}" for name in columns
            )
            typed = " ".join(
                f'"{text}"' if text.isascii() and not set(text) & set('"$`\\!') else shlex.quote(text)
                for text in texts
            )
            return typed + cells
    return " ".join(["'some text'"] * max(1, len(examples[0].texts) if examples else 1))
