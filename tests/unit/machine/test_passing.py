"""Which errors may be gone at another try."""

from __future__ import annotations

import errno

import pytest

from heedful.errors import ArtifactError, DataError, OutputError
from heedful.machine.child import Failed, is_passing


def made_of(error: Exception, kind: type[Exception]) -> Exception:
    """Return an error that another one has caused."""
    try:
        try:
            raise error
        except Exception as cause:
            raise kind("cannot be copied") from cause
    except Exception as found:
        return found


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.ENOMEM, errno.EAGAIN, errno.EDQUOT])
def test_errors_of_the_system_pass(number: int) -> None:
    assert is_passing(OSError(number, "no"))
    assert is_passing(made_of(OSError(number, "no"), OutputError))
    assert is_passing(made_of(OSError(number, "no"), ArtifactError))
    assert Failed.of(made_of(OSError(number, "no"), OutputError), "a worker").passing


def test_others_last() -> None:
    assert is_passing(MemoryError())
    assert not is_passing(ArtifactError("altered"))
    assert not is_passing(OSError(errno.EACCES, "no"))
    assert not is_passing(made_of(ValueError("x"), DataError))
    assert not Failed.of(ArtifactError("altered"), "a worker").passing


def test_errors_that_refer_to_each_other_are_looked_at_once() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert not is_passing(first)
