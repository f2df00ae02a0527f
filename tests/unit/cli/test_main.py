"""Errors to exit codes."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable

import click
import pytest

import tiny
from heedful import errors
from heedful.cli import info
from heedful.cli.main import SEARCHED, run
from heedful.errors import ExitCode
from waiting import PATIENCE


def failing(error: BaseException) -> Callable[..., None]:
    def callback(**_: object) -> None:
        raise error

    return callback


CASES: list[tuple[BaseException, ExitCode, str]] = [
    (errors.UsageError("u"), ExitCode.USAGE, "heedful: u\n"),
    (errors.DataError("d"), ExitCode.BAD_DATA, "heedful: d\n"),
    (errors.DivergedError("n"), ExitCode.DIVERGED, "heedful: n\n"),
    (errors.ArtifactError("a"), ExitCode.BAD_ARTIFACT, "heedful: a\n"),
    (errors.OutputError("o"), ExitCode.CANNOT_WRITE, "heedful: o\n"),
    (errors.Interrupted("i"), ExitCode.INTERRUPTED, "heedful: i\n"),
    (KeyboardInterrupt(), ExitCode.INTERRUPTED, "heedful: interrupted\n"),
    (
        OSError(errno.ENOSPC, "No space"),
        ExitCode.CANNOT_WRITE,
        "heedful: cannot write: No space. Free some space.\n",
    ),
    (
        RuntimeError("boom"),
        ExitCode.INTERNAL,
        "heedful: internal error: RuntimeError: boom (HEEDFUL_DEBUG=1 shows where)\n",
    ),
]


@pytest.mark.parametrize(("error", "code", "line"), CASES, ids=lambda value: type(value).__name__)
def test_every_error_has_its_code_and_one_line(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: ExitCode, line: str
) -> None:
    monkeypatch.setattr(info, "command", click.Command("info", callback=failing(error)))
    monkeypatch.delenv("HEEDFUL_DEBUG", raising=False)
    result = tiny.run("info")
    # click ends the line that ^C stands in before it passes the interruption on
    assert (result.code, result.out, result.err.lstrip("\n")) == (code, "", line)


INTERRUPTED_IMPORT = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from heedful.cli import main
"""


def test_an_interruption_while_the_program_is_loaded_is_told() -> None:
    command = [sys.executable, "-c", INTERRUPTED_IMPORT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "heedful: interrupted\n")


def test_a_closed_standard_output_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert run(["info"]) == ExitCode.CANNOT_WRITE
    assert capsys.readouterr().err.startswith("heedful: cannot write: standard output is closed")


def test_debugging_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "command", click.Command("info", callback=failing(RuntimeError("boom"))))
    monkeypatch.setenv("HEEDFUL_DEBUG", "1")
    with pytest.raises(RuntimeError, match="boom"):
        tiny.run("info")


def test_a_reader_that_went_away_is_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "command", click.Command("info", callback=failing(BrokenPipeError())))
    assert tiny.run("info") == tiny.Result(0, "", "")


def test_errors_are_a_line_with_click_8_1() -> None:
    """It has no error for a group that is called without a command."""
    program = (
        "import sys, click.exceptions\n"
        "vars(click.exceptions).pop('NoArgsIsHelpError', None)\n"
        "from heedful.cli.main import run\n"
        "sys.exit(run(['info', 'nowhere']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode != 0, len(done.stderr.splitlines())) == (True, 1), done.stderr
    assert "nowhere" in done.stderr


def test_a_command_looks_for_cycles_of_objects_less_often_than_python_does() -> None:
    program = (
        "import atexit, gc; from heedful.cli.main import main; "
        "atexit.register(lambda: print(*gc.get_threshold())); main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split()[-3] == str(SEARCHED)
