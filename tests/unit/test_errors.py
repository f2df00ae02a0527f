"""Exceptions: what they are, their exit codes, their hints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from heedful import errors
from heedful.errors import (
    DataError,
    ExitCode,
    HeedfulError,
    MissingExtraError,
    UsageError,
    check_known,
    checked_list,
    checked_whole,
    nearest,
)

EXPECTED = {
    "UsageError": (ValueError, 2),
    "InUseError": (errors.UsageError, 2),
    "DataError": (ValueError, 3),
    "DivergedError": (ArithmeticError, 4),
    "ArtifactError": (HeedfulError, 5),
    "OutputError": (OSError, 6),
    "Interrupted": (HeedfulError, 130),
    "MissingExtraError": (ImportError, 2),
}


def test_every_exception_is_listed_here() -> None:
    found = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, HeedfulError) and value is not HeedfulError
    }
    assert found == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_each_is_caught_as_the_builtin_it_refines_and_has_its_exit_code(name: str) -> None:
    kind = getattr(errors, name)
    builtin, code = EXPECTED[name]
    assert issubclass(kind, builtin)
    assert kind.exit_code == code


def test_messages_survive() -> None:
    for name in EXPECTED:
        if name != "MissingExtraError":
            assert str(getattr(errors, name)("a.csv, row 3: no text")) == "a.csv, row 3: no text"


def test_exit_codes_differ() -> None:
    assert len({int(code) for code in ExitCode}) == len(ExitCode) >= 9
    assert (ExitCode.OK, ExitCode.GATE_FAILED, HeedfulError.exit_code) == (0, 1, 70)


def test_a_missing_extra_says_what_to_install() -> None:
    error = MissingExtraError("pyarrow", "parquet", "Reading Parquet")
    assert (
        str(error) == "Reading Parquet needs pyarrow, which is not installed: pip install 'heedful[parquet]'"
    )


def test_the_nearest_name_or_else_all_of_them() -> None:
    assert nearest("fowrard", ("forward", "backward")) == "did you mean 'forward'?"
    assert nearest("zzz", ["forward", "backward"]) == "valid: backward, forward"


@pytest.mark.parametrize("name", ["YES", " yes", "yes\u200b", "\uff59\uff45\uff53"])
def test_a_name_that_differs_in_case_or_in_what_cannot_be_seen_is_the_nearest(name: str) -> None:
    assert nearest(name, ["no", "yep", "yes"]) == "did you mean 'yes'?"


def test_a_name_that_is_not_known_is_refused_with_the_nearest() -> None:
    check_known("forward", ("forward", "backward"), "never said")
    with pytest.raises(UsageError, match=r"^mask 'fowrard' is unknown; did you mean 'forward'\?$"):
        check_known("fowrard", ("forward", "backward"), "mask 'fowrard' is unknown")
    with pytest.raises(DataError, match="row 3: unknown label; valid: a, b"):
        check_known(3, {"b": 1, "a": 2}, "row 3: unknown label", error=DataError)


def test_many_names_are_cut_and_none_are_not_listed() -> None:
    many = [f"class {number:05}" + "x" * 300 for number in range(10_000)]
    assert nearest("zzz", many).endswith(" and 9,940 more")
    assert len(nearest("zzz", many)) < 6_000
    with pytest.raises(UsageError, match=r"^a number has no classes$"):
        check_known("a", (), "a number has no classes")


@pytest.mark.parametrize("value", [2, np.int64(2), np.uint8(2)])
def test_a_whole_number_of_any_library_becomes_an_int(value: object) -> None:
    assert type(checked_whole("count", value, 1, 2)) is int


@pytest.mark.parametrize(
    "value", [0, -1, 3, 10**30, True, 2.0, 1.5, math.nan, "2", b"2", None, [2], 2j, np.float32(2)]
)
def test_what_is_no_whole_number_in_the_range_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match=r"^count must be a whole number from 1 to 2; got .{1,60}$"):
        checked_whole("count", value, 1, 2)
    with pytest.raises(UsageError, match=r"^count must be a whole number of 1000000 or more; got "):
        checked_whole("count", value if value != 10**30 else 2, 1_000_000)


@pytest.mark.parametrize("value", [["a", "b"], ("a", "b"), np.array(["a", "b"]), iter("ab")])
def test_anything_that_can_be_gone_through_is_a_list(value: object) -> None:
    assert checked_list("features", value, "names") == ["a", "b"]


@pytest.mark.parametrize("value", [1.5, None, {}, {"a": 1}, b"ab", 3])
def test_what_is_no_list_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match=r"^features: expected a list of names; got "):
        checked_list("features", value, "names")
    with pytest.raises(
        UsageError, match=r"^features: expected a list of names, got one string: write \['a'\]$"
    ):
        checked_list("features", "a", "names")
