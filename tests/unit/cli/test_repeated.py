"""One setting has one value: an option given twice, or an option and a --set that contradict it, are refused."""

from __future__ import annotations

import pytest

import tiny
from heedful.cli.guards import refuse_two_values
from heedful.errors import UsageError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--max-tokens", 5, "--max-tokens", 6), "--max-tokens: is given 2 times"),
        (("--header", "--no-header"), "--header: is given 2 times"),
        (("--set", "train.seed=1", "--set", "train.seed=2"), "--set train.seed: is given as '1' and as '2'"),
        (("--seed", 1, "--set", "train.seed=2"), "--set train.seed: is given as '2' and as '1'"),
        (
            ("--max-tokens", 5, "--set", "data.max_tokens=6"),
            "--set data.max_tokens: is given as '6' and as '5'",
        ),
        (("--truncate", "head", "--set", "data.truncate=drop"), "--set data.truncate: is given as 'drop'"),
        (("--label", "b", "--set", "data.label=a"), "--set data.label: is given as 'a'"),
        (
            ("--encoding", "latin-1", "--set", "data.options.encoding=cp1252"),
            "data.options.encoding: is given as",
        ),
    ],
)
def test_two_values_are_refused(given: tuple[object, ...], said: str) -> None:
    done = tiny.run("train", "my-texts", *given)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_one_value_said_twice_is_one() -> None:
    refuse_two_values(['data.label="b"', "train.seed=1"], ["data.label=b", "train.seed=1", "train.epochs=2"])
    with pytest.raises(UsageError, match="keep one of them"):
        refuse_two_values((), ["distil.teacher=['a']", "distil.teacher=['b']"])
