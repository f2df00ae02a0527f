"""``heedful-runtime serve``: the server of heedful, for models that the runtime can run."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from heedful_runtime.errors import UsageError
from heedful_runtime.machine.serving_key import KEY, is_local
from heedful_runtime.runtime.command import PROGRAM
from heedful_runtime.serving.authorization import access_of
from heedful_runtime.serving.model_store import named
from heedful_runtime.serving.request_limits import Bounds
from heedful_runtime.serving.server import listen
from heedful_runtime.serving.service import Answering, Service

LIMITS = {"--max-body": "body", "--max-texts": "texts", "--queue": "queue", "--word-memory": "word_memory"}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def serve(arguments: Sequence[str]) -> int:
    """Serve models until a signal ends the process.

    Args:
        arguments: what was typed after ``serve``.

    Returns:
        The exit code.

    Raises:
        HeedfulError: if a model cannot be opened, or an option is wrong.
    """
    options = _options().parse_args(arguments)
    given = {name: getattr(options, name) for name in (*LIMITS.values(), "seconds")}
    bounds = Bounds(**{name: value for name, value in given.items() if value is not None})
    access = access_of(options.host, options.key_file, options.hosts, options.origins)
    folders, listening = named(tuple(options.models)), listen(options.host, options.port)
    service = Service(folders, bounds, access, options.max_tokens, options.truncate)

    def print_address() -> None:
        name = f"[{options.host}]" if ":" in options.host else options.host
        _say(f"serving {', '.join(folders)} at http://{name}:{listening.getsockname()[1]}/ (Ctrl+C ends)")
        if not is_local(options.host) and not access.key:
            _say(f"anyone who reaches {options.host} may ask: set {KEY} or --key-file to ask for a key")

    with listening:
        if options.workers == 1:
            return int(Answering(service, _say).until_ended(listening, stand=print_address))
        from heedful_runtime.serving.supervisor import Supervisor

        return int(Supervisor(service, listening, options.workers, _say).run(print_address))


def _options() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"{PROGRAM} serve", description="Serve models over HTTP; docs/serving.md of Heedful."
    )
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a folder, or NAME=FOLDER")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, choices=range(65_536), default=8000, metavar="PORT", help="0 takes a free one"
    )
    parser.add_argument(
        "--workers", type=int, choices=range(1, 1025), default=1, metavar="N", help="processes"
    )
    parser.add_argument("--key-file", type=Path, metavar="FILE", help=f"holds the key; or the variable {KEY}")
    parser.add_argument("--allow-host", dest="hosts", action="append", default=[], metavar="NAME")
    parser.add_argument("--cors-origin", dest="origins", action="append", default=[], metavar="ORIGIN")
    for option, name in LIMITS.items():
        parser.add_argument(option, dest=name, type=int, metavar="N")
    parser.add_argument("--timeout", dest="seconds", type=float, metavar="SECONDS")
    parser.add_argument("--max-tokens", type=int, metavar="N")
    parser.add_argument("--truncate", choices=("error", "head"))
    return parser


def _say(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(f"{PROGRAM} serve: {line}", file=sys.stderr, flush=True)  # noqa: T201
