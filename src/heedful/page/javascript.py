"""The engine in JavaScript, as one text: every page and the package ``heedful`` of npm have the very same."""

from __future__ import annotations

import base64
import gzip
import re
from functools import cache
from importlib.resources import files

ENGINE = (
    *("digest.js", "normalization.js", "words.js", "wide.js", "sentence.js", "rejecting.js", "tagging.js"),
    *("network.js", "model.js", "contributing.js", "opening.js", "module.js"),
)
"""The files of the engine, in order; together they are one module, whose names are known to all of them."""
EXPORTED = "export { load, HeedfulModel, ModelError };\n"
"""What makes the engine a module; a page, which nobody imports, goes without."""
_OPERATOR = re.compile(r"^  (\w+)(?:\(step\) \{|: \()", re.MULTILINE)
_ASIDE = re.compile(r"^[ \t]*(?://.*)?\n|^[ \t]+|[ \t]+// [^\n\"'`]*$", re.MULTILINE)
"""Comments and the space before lines; one behind a statement holds no quote, so that it stands in no text."""
_PLAIN = re.compile(r"^[^\"'`/\n]*$", re.MULTILINE)
"""Lines without texts, regular expressions and comments."""
_SPACED = re.compile(r" *(=>|[=,;:?(){}\[\]<>|&*]+) *")


@cache
def engine() -> str:
    """Return the engine, with its kernels: what reads a model file, answers and explains.

    Comments, the space before lines and that around operators are left out. No template of the engine goes over several
    lines, so that this changes nothing that it computes.

    Returns:
        The statements of a module of JavaScript, without its exports; the same text for every model.
    """
    kernels = gzip.compress(files("heedful.page").joinpath("kernels.wasm").read_bytes(), mtime=0)
    packed = base64.b64encode(kernels).decode("ascii")
    sources = (_ASIDE.sub("", asset(name)) for name in ENGINE)
    return f'const KERNELS = "{packed}";\n' + "".join(_PLAIN.sub(_tightened, source) for source in sources)


def _tightened(line: re.Match[str]) -> str:
    return _SPACED.sub(r"\1", line[0])


def module() -> str:
    """Return the engine as a module, as the package ``heedful`` of npm has it: ``import { load } from "heedful"``."""
    return engine() + EXPORTED


def asset(name: str) -> str:
    """Return a file of text that lies beside this module.

    Args:
        name: its name.

    Returns:
        Its content.
    """
    return files("heedful.page").joinpath(name).read_text(encoding="utf-8")


def operators() -> set[str]:
    """Return the names of the steps that the engine can compute: those in the table of ``network.js``."""
    table = asset("network.js").partition("const OPERATORS = {")[2].partition("\n};")[0]
    return set(_OPERATOR.findall(table))
