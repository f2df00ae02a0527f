from __future__ import annotations

import errno
import tempfile

import numpy as np
import pytest

from heedful.errors import OutputError
from heedful.storage.growing_arrays import GrowingArray, released

BLOCKS = [np.arange(12, dtype=np.float32).reshape(4, 3), np.full((5, 3), 7.5), np.zeros((0, 3))]


@pytest.mark.parametrize("most", [0, 50, 1 << 20], ids=["in a file", "moved to a file", "in memory"])
def test_rows_come_back_in_their_order_wherever_they_lie(most: int) -> None:
    growing = GrowingArray(np.float32, 3, most)
    for block in BLOCKS:
        growing.append(block)
    rows = growing.finished()
    assert rows.dtype == np.float32
    assert np.array_equal(rows, np.concatenate(BLOCKS).astype(np.float32))
    released(rows[2:])
    assert np.array_equal(rows, np.concatenate(BLOCKS)), "what was released is read again"
    assert rows.flags.writeable == (most == 1 << 20)


def test_nothing_is_an_array_without_rows() -> None:
    assert GrowingArray(np.int32, most=0).finished().shape == (0,)
    assert GrowingArray(np.int32, 4, most=0).finished().shape == (0, 4)


def test_a_full_disk_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**options: object) -> object:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(OutputError, match=r"no room for temporary files: No space left.*TMPDIR"):
        GrowingArray(np.int32, most=0).append(np.arange(3))
