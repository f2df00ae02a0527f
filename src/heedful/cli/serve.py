"""``heedful serve``."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import click

from heedful.cli.option_groups import TextLimits, grouped
from heedful.cli.options import PATH, limit_options, threads_option
from heedful.cli.output import shown
from heedful.errors import MOST_AT_ONCE, MissingExtraError
from heedful.machine.serving_key import KEY, SHORTEST_KEY, is_local


@dataclass(frozen=True)
class _Most:
    """The most that a client may ask; None for the default of `heedful.serving.request_limits.Bounds`."""

    body: int | None
    texts: int | None
    queue: int | None
    seconds: float | None
    word_memory: int | None


@dataclass(frozen=True)
class _Callers:
    """Who may ask."""

    key_file: Path | None
    hosts: tuple[str, ...]
    origins: tuple[str, ...]


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one and prints it.",
)
@click.option(
    "--key-file",
    type=PATH,
    help=f"File that holds a key of at least {SHORTEST_KEY} characters, which clients must then send. The variable "
    f"{KEY} can hold the key instead.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Another name by which clients may call this server, such as that of a proxy. May be repeated.",
)
@click.option(
    "--cors-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="A site whose pages may ask this server from a browser, such as https://example.org; '*' for every site. May "
    "be repeated.",
)
@click.option(
    "--max-body", "body", type=click.IntRange(min=1), help="Bytes of a request. The default is 1 MiB."
)
@click.option(
    "--max-texts", "texts", type=click.IntRange(min=1), help="Texts of a request. The default is 1,024."
)
@click.option(
    "--queue", type=click.IntRange(min=1), help="Texts that may wait for a model. The default is 8,192."
)
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=0.001),
    help="Seconds within which a request is answered. The default is 30.",
)
@click.option(
    "--word-memory",
    type=click.IntRange(min=0),
    metavar="MB",
    help="Memory of each model for what it makes of single words. The default is 64; 0 keeps nothing.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, MOST_AT_ONCE),
    default=1,
    show_default=True,
    help="Processes that answer on the same port. One process uses little more than one core. Each has its own copy of "
    "the models in memory, and --queue is the limit of each.",
)
@limit_options
@threads_option
@grouped(most=_Most, callers=_Callers, limits=TextLimits)
def command(
    models: tuple[str, ...],
    host: str,
    port: int,
    workers: int,
    most: _Most,
    callers: _Callers,
    limits: TextLimits,
) -> None:
    """Serve each MODEL, a folder or NAME=FOLDER, over HTTP, with a page to try it in.

    Waiting requests are computed together, and each answer is the line that 'heedful predict --json' prints. If a
    model folder is replaced, the server loads the new model without a restart. After SIGTERM or Ctrl+C it first
    answers the requests in flight. docs/serving.md lists the endpoints.

    Example: heedful serve runs/trec
    """
    try:
        from heedful.serving.authorization import access_of
        from heedful.serving.server import listen
        from heedful.serving.service import Answering, Service
    except ImportError as error:
        package = str(error.name).partition(".")[0]
        if package not in ("starlette", "uvicorn", "httptools"):
            raise
        raise MissingExtraError(package, "serve", "the server") from error
    from heedful.serving.model_store import named
    from heedful.serving.request_limits import Bounds

    asked = {name: value for name, value in vars(most).items() if value is not None}
    bounds, access = Bounds(**asked), access_of(host, callers.key_file, callers.hosts, callers.origins)
    folders, listening = named(models), listen(host, port)
    service = Service(folders, bounds, access, limits.max_tokens, limits.truncate)
    number = listening.getsockname()[1]

    def print_address() -> None:
        name = f"[{host}]" if ":" in host else host
        many = f" with {workers} workers" if workers > 1 else ""
        _print_line(f"serving {', '.join(folders)} at http://{name}:{number}/{many} (Ctrl+C ends)")
        if not is_local(host) and not access.key:
            _print_line(f"anyone who reaches {host} may ask: set {KEY} or --key-file to ask for a key")

    with listening:
        if workers == 1:
            code = Answering(service, _print_line).until_ended(listening, stand=print_address)
        else:
            from heedful.serving.supervisor import Supervisor

            code = Supervisor(service, listening, workers, _print_line).run(print_address)
    if code:
        raise click.exceptions.Exit(int(code))


def _print_line(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # a log that nobody reads, or a full disk, ends no server
        click.echo(shown(f"heedful serve: {line}"), err=True)  # a worker's stream does not do that by itself
