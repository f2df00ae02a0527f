"""The exceptions Heedful raises for a user's mistake, and the exit code each one gives on the command line.

A message names the argument or the file, row and field; says what was expected and what came; and says what to do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from numbers import Integral
from typing import ClassVar

MOST_AT_ONCE = 1_024
"""Threads or processes that a user may ask for: of tens of thousands a system starts none, and says so in odd ways."""


class ExitCode(IntEnum):
    """Exit status of the command line."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    BAD_DATA = 3
    DIVERGED = 4
    BAD_ARTIFACT = 5
    CANNOT_WRITE = 6
    INTERNAL = 70
    OUT_OF_MEMORY = 71
    INTERRUPTED = 130
    TERMINATED = 143


class HeedfulError(Exception):
    """Base of every error that the user can fix; the command line prints it as one line."""

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL


class UsageError(HeedfulError, ValueError):
    """An argument, option or setting is wrong."""

    exit_code = ExitCode.USAGE


class InUseError(UsageError):
    """Another process is writing the folder."""


class DataError(HeedfulError, ValueError):
    """An input file, row or field is wrong."""

    exit_code = ExitCode.BAD_DATA


class DivergedError(HeedfulError, ArithmeticError):
    """Training met a loss or gradient that is not finite."""

    exit_code = ExitCode.DIVERGED


class ArtifactError(HeedfulError):
    """A saved model or run is missing, altered or of an unknown version."""

    exit_code = ExitCode.BAD_ARTIFACT


class OutputError(HeedfulError, OSError):
    """Something could not be written: no permission, no space, not a folder."""

    exit_code = ExitCode.CANNOT_WRITE


class Interrupted(HeedfulError):
    """Training was interrupted; its state is saved, and the run can be resumed."""

    exit_code = ExitCode.INTERRUPTED


class MissingExtraError(UsageError, ImportError):
    """An optional package is not installed.

    Args:
        package: name of the package that could not be imported.
        extra: the extra of Heedful that brings it.
        purpose: what it is needed for, as a noun phrase.
        install: what ``pip install`` is given where no extra brings the package.
    """

    def __init__(self, package: str, extra: str, purpose: str, *, install: str = "") -> None:
        command = f"pip install {install or repr(f'heedful[{extra}]')}"
        super().__init__(f"{purpose} needs {package}, which is not installed: {command}")


@contextmanager
def needing(package: str, extra: str, purpose: str) -> Iterator[None]:
    """Report which extra brings the package of an import in the body that fails.

    Args:
        package: what is imported.
        extra: see `MissingExtraError`.
        purpose: see `MissingExtraError`.

    Raises:
        MissingExtraError: if it is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(package, extra, purpose) from error


def of_exit_code(code: int) -> type[HeedfulError]:
    """Return the kind of error that a process of the command line ended with.

    Args:
        code: its exit status.

    Returns:
        The kind whose exit status this is; `HeedfulError` itself for any other.
    """
    kinds = (UsageError, DataError, DivergedError, ArtifactError, OutputError, Interrupted)
    return next((kind for kind in kinds if kind.exit_code == code), HeedfulError)


_MOST_LISTED = 60
"""Names that a message lists; of more it says how many there are."""


def check_known(
    name: object, known: Collection[str], problem: str, *, error: type[HeedfulError] = UsageError
) -> None:
    """Refuse a name that is not known, with a hint at the nearest one that is.

    Args:
        name: what was given.
        known: every name that is accepted.
        problem: what is wrong where it is not known, with the name in it, such as "there is no command 'trian'".
        error: the kind of error.

    Raises:
        HeedfulError: of that kind, if it is not known.
    """
    if name not in known:
        raise error(f"{problem}; {nearest(str(name), tuple(known))}" if known else problem)


def checked_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return an argument as an int, or refuse what is no whole number in a range.

    Whole numbers of NumPy are some; True and False are none.

    Args:
        name: of the argument, for the message.
        value: what was given.
        least: the smallest that is accepted.
        most: the largest; None for any.

    Returns:
        The number.

    Raises:
        UsageError: if it is not accepted.
    """
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        bounds = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name} must be a whole number {bounds}; got {value!r:.60}")
    return number


def checked_list(name: str, value: object, what: str) -> list[object]:
    """Return an argument as a list, or refuse what is none, as a single string or a table is none.

    Args:
        name: of the argument, for the message.
        value: what was given; anything else that can be gone through, an array of NumPy for instance, is a list.
        what: its items, as a noun in the plural.

    Returns:
        The list.

    Raises:
        UsageError: if it is none.
    """
    if isinstance(value, str):
        raise UsageError(f"{name}: expected a list of {what}, got one string: write [{value!r:.80}]")
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise UsageError(f"{name}: expected a list of {what}; got {value!r:.60}")
    return list(value)


def nearest(name: str, valid: list[str] | tuple[str, ...]) -> str:
    """Return a hint naming the valid name closest to a misspelled one.

    Args:
        name: what was given.
        valid: every name that would have been accepted.

    Returns:
        "did you mean 'x'?" where one is close, otherwise the list of valid names, of very many the first.
    """
    from difflib import get_close_matches

    for each in valid:
        if _bare(each) == _bare(name):
            return f"did you mean {each!r:.200}?"
    if close := get_close_matches(name, valid, n=1):
        return f"did you mean {close[0]!r:.200}?"
    return f"valid: {listed(sorted(valid))}"


def _bare(name: str) -> str:
    """Return a name without case, white space, characters that cannot be seen, and forms of Unicode."""
    from unicodedata import category, normalize

    folded = name if name.isascii() else normalize("NFKC", name)
    return "".join(c for c in folded.casefold() if c.isascii() or category(c) != "Cf").strip()


def listed(names: Sequence[str]) -> str:
    """Return names with commas between, of very many the first; "none" where there are none."""
    more = len(names) - _MOST_LISTED
    first = ", ".join(f"{each:.80}" for each in names[:_MOST_LISTED])
    return f"{first}{f' and {more:,} more' if more > 0 else ''}" or "none"


def shown(value: object) -> str:
    """Write a value for a message: a list for a tuple, as in a file, and no more than 200 characters."""
    return f"{list(value) if isinstance(value, tuple) else value!r:.200}"
