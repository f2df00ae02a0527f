"""The program ``heedful-runtime``: its own commands, and ``serve``, which takes the extra of that name."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from heedful_runtime.errors import HeedfulError, MissingExtraError
from heedful_runtime.runtime.command import PROGRAM, run


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit with its code."""
    asked = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_serve(asked[1:]) if asked[:1] == ["serve"] else run(asked))


def _serve(arguments: Sequence[str]) -> int:
    try:
        try:
            from heedful_runtime.serve import serve
        except ImportError as error:
            package = str(error.name).partition(".")[0]
            if package not in ("starlette", "uvicorn", "httptools"):
                raise
            install = "'heedful-runtime[serve]'"
            raise MissingExtraError(package, "", "the server", install=install) from error
        return serve(arguments)
    except HeedfulError as error:
        print(f"{PROGRAM}: {' '.join(str(error).split())}", file=sys.stderr)  # noqa: T201
        return int(error.exit_code)
