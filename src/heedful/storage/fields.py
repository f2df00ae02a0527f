"""Reading JSON records, and the fields of any parsed record, each as the type that it must have.

What `json` and `tomllib` return may hold anything. `Fields` checks each field when it is read, so that the rest of the
package works with real types and a wrong file is refused with one line that names the file and the field::

    fields = read_fields(path)
    name = fields.text("name")  # refused unless it is a string
    seconds = fields.number("seconds", 0.0)  # 0.0 if there is no such field
    peak = fields.whole("peak") if "peak" in fields else None
    train = fields.part("train")  # the fields of a table in it; messages name them "train.…"

Settings have checks of their own, for ranges and names: see `heedful.settings`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TypeGuard, TypeVar, cast

from heedful.errors import ArtifactError, shown
from heedful.storage.flat_tables import FlatTable

Value = TypeVar("Value")
Name = TypeVar("Name", bound=str)
Problem = Callable[[str], Exception]
"""Makes the exception for something that is wrong from its message."""
TOO_LONG = "a number in it has thousands of digits; write it as a string"
REMEDY = "Copy the folder again from its source, or train the model again."


def damaged(remedy: str) -> Problem:
    """Return what makes an ArtifactError whose message ends in what to do."""
    return lambda problem: ArtifactError(f"{problem}. {remedy}")


damaged_model = damaged(REMEDY)


def not_safetensors(path: Path, error: Exception) -> ArtifactError:
    """Return the error for a file that safetensors does not read; it reads none whose path is not UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return ArtifactError(f"{path}: a folder or file whose name is not UTF-8 cannot be read; rename it")
    return ArtifactError(f"{path}: expected a safetensors file; {error}. {REMEDY}")


def plain_json(data: bytes | str, *, finite: bool = True) -> object:
    """Parse JSON; a name that stands twice in an object is refused, for nobody knows which value is meant.

    Args:
        data: the text, or its bytes in UTF-8.
        finite: whether NaN and infinity are refused, which figures and files of other programs may hold.

    Returns:
        Plain values.

    Raises:
        ValueError: saying why it is no JSON, also where it is nested too deeply or a number has too many digits.
    """
    text = data if isinstance(data, str) else data.decode("utf-8")
    read = _finite if finite else float
    try:
        return json.loads(text, object_pairs_hook=one_value_each, parse_constant=read, parse_float=read)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        if is_too_long(error):
            raise ValueError(TOO_LONG) from error
        raise


def is_too_long(error: ValueError) -> bool:
    """Return whether Python refuses a number for its digits; its own message is for who wrote the program."""
    return "set_int_max_str_digits" in str(error)


def one_value_each(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    """Return the fields of a JSON object, as an ``object_pairs_hook``; raises `RepeatedName` where one stands twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        raise RepeatedName(next(name for name in names if names.count(name) > 1))
    return record


class RepeatedName(ValueError):
    """A JSON object has a name twice."""

    def __str__(self) -> str:
        return f"the name {self.args[0]!r:.60} stands twice in one object; keep one of them"


def _finite(text: str) -> float:
    """Read a number; none that Heedful writes is infinite or no number."""
    if not math.isfinite(value := float(text)):
        raise ValueError(f"the number {text:.40} is not finite")
    return value


def parsed(
    data: bytes | str, place: str, kind: type[Value], error: Problem = damaged_model, *, finite: bool = True
) -> Value:
    """Parse JSON whose outermost value is of one kind.

    Args:
        data: see `plain_json`.
        place: what a message begins with, such as the path of the file.
        kind: dict, list, or object for any.
        error: makes the exception, which is raised if it is no such JSON.
        finite: see `plain_json`.

    Returns:
        Plain values.
    """
    try:
        value = plain_json(data, finite=finite)
    except ValueError as problem:
        raise error(f"{place}: expected JSON; {problem}") from problem
    if not isinstance(value, kind):
        raise error(f"{place}: expected a JSON {kind.__name__}, found {type(value).__name__}")
    return value


def read_text(path: Path, error: Problem = damaged_model) -> str:
    """Read a UTF-8 text file; raises what `error` makes if it cannot be read as that."""
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for
        raise error(f"{path}: expected a file, and it is {'a folder' if os.path.isdir(path) else 'none'}")
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise error(f"{path}: expected UTF-8 text; {problem}") from problem


def read_json(path: Path, kind: type[Value], error: Problem = damaged_model, *, finite: bool = True) -> Value:
    """Read a JSON file whose outermost value is of one kind; see `parsed`."""
    return parsed(read_text(path, error), str(path), kind, error, finite=finite)


def read_fields(path: Path, error: Problem = damaged_model, *, finite: bool = True) -> Fields:
    """Read the fields of a JSON file; see `parsed`."""
    return Fields(read_json(path, dict, error, finite=finite), str(path), error=error)


class Fields:
    """The fields of one record.

    Args:
        record: what was parsed; it must be a table whose keys are strings.
        place: what a message begins with, such as the path of the file; empty for none.
        path: what stands before the name of a field in a message, such as "train."; empty at the top.
        error: makes the exception for something that is wrong from its message.

    Raises:
        ArtifactError: if the record is no table. Every method raises it if a field is missing and has no default, or is
            of another type. With ``error``, it is that exception.
    """

    def __init__(
        self,
        record: object,
        place: str,
        path: str = "",
        error: Problem = ArtifactError,
    ) -> None:
        self.place, self.path, self._error = place, path, error
        if not is_table(record):
            raise self._refused(path.rstrip(".") or "the record", f"must be a table; got {shown(record)}")
        self.record: Mapping[str, object] = record

    def __contains__(self, name: str) -> bool:
        """Return whether there is a field of this name that is not null."""
        return self.record.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        """Go through the names of all fields."""
        return iter(self.record)

    def only(self, *names: str) -> None:
        """Refuse a field of another name than these."""
        for name in self.record:
            if name not in names:
                raise self.wrong(f"{name:.80}", f"is unknown; known: {', '.join(names)}")

    def value(self, name: str) -> object:
        """Return a field that may be of any type, but must be there."""
        if name not in self.record:
            raise self.wrong(name, "is missing")
        return self.record[name]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string."""
        return self._read(name, is_text, "a string", default)

    def number(self, name: str, default: float | None = None) -> float:
        """Return a number as it stands in the record: a whole number stays one."""
        return self._read(name, is_number, "a number", default)

    def whole(self, name: str, default: int | None = None) -> int:
        """Return a whole number."""
        return self._read(name, is_whole, "a whole number", default)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """Return true or false."""
        return self._read(name, is_flag, "true or false", default)

    def table(self, name: str, default: Mapping[str, object] | None = None) -> Mapping[str, object]:
        """Return a table whose values may be of any type; see `part` for one whose fields are read."""
        return self._read(name, is_table, "a table", default)

    def items(self, name: str, default: tuple[()] | None = None) -> tuple[object, ...]:
        """Return a list whose items may be of any type."""
        return tuple(self._read(name, is_list, "a list", default))

    def texts(self, name: str, default: tuple[()] | None = None) -> tuple[str, ...]:
        """Return a list of strings, which may be long."""
        found = self.items(name, default)
        return tuple(found) if are_texts(found) else self._each(name, is_text, "a string", default)

    def one_of(self, name: str, names: Collection[Name], default: Name | None = None) -> Name:
        """Return one of some names."""
        value = self.value(name) if default is None else self.record.get(name, default)
        found = next((each for each in names if each == value), None)
        if found is None:
            raise self.wrong(name, f"cannot be {value!r:.80}; known: {', '.join(names)}")
        return found

    def numbers(self, name: str, default: tuple[()] | None = None) -> tuple[float, ...]:
        """Return a list of numbers, each as it stands in the record."""
        return self._each(name, is_number, "a number", default)

    def wholes(self, name: str, default: tuple[()] | None = None) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        return self._each(name, is_whole, "a whole number", default)

    def texts_by_name(self, name: str, default: Mapping[str, str] | None = None) -> Mapping[str, str]:
        """Return a table whose values are strings."""
        if isinstance(value := self.record.get(name), FlatTable):
            return value
        part = self.part(name, default)
        if are_texts(part.record.values()):
            return cast("dict[str, str]", dict(part.record))
        return {key: part.text(key) for key in part}

    def part(self, name: str, default: Mapping[str, object] | None = None) -> Fields:
        """Return the fields of a table in the record."""
        return self._below(self.table(name, default), name)

    def parts(self, name: str, default: tuple[()] | None = None) -> tuple[Fields, ...]:
        """Return the fields of each table of a list."""
        return tuple(
            self._below(item, f"{name}[{index}]") for index, item in enumerate(self.items(name, default))
        )

    def parts_by_name(self, name: str = "", default: Mapping[str, object] | None = None) -> dict[str, Fields]:
        """Return the fields of each table of a table; without a name, of each table of the record itself."""
        part = self.part(name, default) if name else self
        return {key: part.part(key) for key in part}

    def wrong(self, name: str, problem: str) -> Exception:
        """Make the exception for a field.

        Args:
            name: the field.
            problem: what is wrong with it, as a clause that follows its name: "must be above 0".

        Returns:
            The exception, to be raised.
        """
        return self._refused(f"{self.path}{name}", problem)

    def refused(self, problem: str) -> Exception:
        """Make the exception for the record as a whole; see `wrong`."""
        return self._refused(self.path.rstrip(".") or "the record", problem)

    def _refused(self, what: str, problem: str) -> Exception:
        return self._error(": ".join(filter(None, (self.place, f"{what} {problem}"))))

    def _below(self, record: object, name: str) -> Fields:
        return Fields(record, self.place, f"{self.path}{name}.", self._error)

    def _read(
        self,
        name: str,
        fits: Callable[[object], TypeGuard[Value]],
        kind: str,
        default: Value | None,
    ) -> Value:
        if default is not None and name not in self.record:
            return default
        value = self.value(name)
        if not fits(value):
            raise self.wrong(name, f"must be {kind}; got {shown(value)}")
        return value

    def _each(
        self,
        name: str,
        fits: Callable[[object], TypeGuard[Value]],
        kind: str,
        default: tuple[()] | None,
    ) -> tuple[Value, ...]:
        found: list[Value] = []
        for item in self.items(name, default):
            if not fits(item):
                raise self.wrong(name, f"must be a list in which each item is {kind}; got {shown(item)}")
            found.append(item)
        return tuple(found)


def is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a string."""
    return isinstance(value, str)


def are_texts(values: Collection[object]) -> TypeGuard[Collection[str]]:
    """Return whether all values are strings and of no class derived from it, which is quickly said of very many."""
    return set(map(type, values)) <= {str}


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_flag(value: object) -> TypeGuard[bool]:
    """Return whether a value is true or false."""
    return isinstance(value, bool)


def is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    """Return whether a value is a list."""
    return isinstance(value, list | tuple)


def is_texts(value: object) -> TypeGuard[list[str]]:
    """Return whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_table(value: object) -> TypeGuard[Mapping[str, object]]:
    """Return whether a value is a table: a mapping whose keys are strings."""
    return isinstance(value, Mapping) and (are_texts(value) or all(isinstance(key, str) for key in value))
