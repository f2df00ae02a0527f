"""``heedful-runtime``: predictions and vectors on the command line, with the standard library's parser of options."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn

from heedful.errors import DataError, ExitCode, HeedfulError, OutputError, UsageError
from heedful.runtime.loading import load
from heedful.runtime.word_values import MEMORY

PROGRAM = "heedful-runtime"


class _OptionParser(argparse.ArgumentParser):
    """Raises what is wrong with the options, so that every error is printed in one way."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with a code of `heedful.errors.ExitCode`.

    Args:
        arguments: what was typed after the program's name; None reads the process's own.
    """
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: what was typed after the program's name; None reads the process's own.

    Returns:
        The exit code.
    """
    try:
        options = _options().parse_args(arguments)
        for line in _lines(options):
            _print(line)
        sys.stdout.flush()
    except HeedfulError as error:
        print(f"{PROGRAM}: {' '.join(str(error).split())}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)  # noqa: T201
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        sys.stdout = None
        return ExitCode.OK
    except MemoryError:
        print(f"{PROGRAM}: out of memory; read fewer or shorter texts at a time", file=sys.stderr)  # noqa: T201
        return ExitCode.OUT_OF_MEMORY
    return ExitCode.OK


def _options() -> argparse.ArgumentParser:
    parser = _OptionParser(
        prog=PROGRAM,
        description="Predict with a model that heedful trained, without torch.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    predict = commands.add_parser(
        "predict", help="Predict the class or score of texts or pairs.", allow_abbrev=False
    )
    predict.add_argument("--premise", help="First text of a pair.")
    predict.add_argument("--hypothesis", help="Second text of a pair.")
    encode = commands.add_parser("encode", help="Print the vector of each text as JSON.", allow_abbrev=False)
    for command in (predict, encode):
        command.add_argument("model", type=Path, help="A model folder, or the run folder that holds it.")
        command.add_argument(
            "--text", action="append", default=[], help="A text; may be given several times."
        )
        command.add_argument(
            "--input",
            type=Path,
            help="A file of one text a line (pairs: premise TAB hypothesis); - for standard input.",
        )
        command.add_argument("--max-tokens", type=int, help="Longest text, in tokens.")
        command.add_argument("--truncate", choices=("error", "head"), help="What a longer text does.")
        command.add_argument(
            "--word-memory",
            type=int,
            default=MEMORY >> 20,
            metavar="MB",
            help="For values of words; %(default)s by default, 0 for none.",
        )
        command.add_argument("--threads", type=int, default=1, help="Threads that compute; 1 by default.")
    predict.add_argument(
        "--json", action="store_true", help="Print one JSON object a line, with every probability."
    )
    return parser


def _lines(options: argparse.Namespace) -> Iterator[str]:
    model = load(options.model).limited(options.max_tokens, options.truncate).threaded(options.threads)
    model = model.remembering(options.word_memory)
    if options.command == "encode":
        texts = (text for text in _requests(options, pair=False) if isinstance(text, str))
        yield from (json.dumps(vector.tolist()) for vector in model.vectors(texts))
        return
    model = model.reading_texts_alone("the command heedful-runtime")
    requests = _requests(options, pair=model.is_pair)
    cells = model.settings.kind.layout.cells
    for row, answer in enumerate(model.predict(requests), start=1):
        if options.json:
            yield json.dumps({"row": row, **answer.as_dict()}, ensure_ascii=False)
        else:
            yield "\t".join(cells(answer))


def _requests(options: argparse.Namespace, *, pair: bool) -> Iterator[str | tuple[str, ...]]:
    named = (getattr(options, "premise", None), getattr(options, "hypothesis", None))
    texts = tuple(text for text in named if text is not None)
    if len(texts) == 1:
        raise UsageError("--premise and --hypothesis go together")
    if (pair and options.text) or (not pair and texts):
        wanted = "pairs: use --premise and --hypothesis" if pair else "single texts: use --text"
        raise UsageError(f"this model takes {wanted}, or --input")
    direct = bool(options.text or texts)
    if direct == (options.input is not None):
        how = "--premise and --hypothesis" if pair else "--text"
        raise UsageError(f"give either {how} or --input FILE (- for standard input)")
    if options.input is not None:
        yield from _of_file(options.input, pair)
    elif texts:
        yield texts
    else:
        yield from options.text


def _of_file(path: Path, pair: bool) -> Iterator[str | tuple[str, ...]]:
    stream = sys.stdin.buffer if str(path) == "-" else _opened(path)
    with stream:
        for row, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{path}: row {row}: byte 0x{error.object[error.start]:02x} is not UTF-8; save the file as UTF-8"
                ) from error
            if not pair:
                yield text
                continue
            texts = tuple(text.split("\t"))
            if len(texts) != 2:
                raise DataError(
                    f"{path}: row {row}: expected premise TAB hypothesis, got {len(texts)} field(s)"
                )
            yield texts


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}. Check the path.") from error


def _print(line: str) -> None:
    """Print a line; on a terminal no control character of a text reaches it."""
    if sys.stdout.isatty() and not line.replace("\t", "").isprintable():
        line = "".join(c if c == "\t" or c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in line)
    try:
        print(line)  # noqa: T201
    except UnicodeEncodeError:
        print(line.encode("ascii", "backslashreplace").decode("ascii"))  # noqa: T201
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write: {error.strerror}. Free some space.") from error
