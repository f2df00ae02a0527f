"""Errors that pass: the system has no room, memory, process or file number at the moment, and may have some later."""

from __future__ import annotations

import errno

from heedful.errors import DataError, UsageError

_PASSING = frozenset(
    {
        errno.EAGAIN,
        errno.EBUSY,
        errno.EDQUOT,
        errno.EINTR,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EROFS,
        errno.ESTALE,
        errno.ETIMEDOUT,
    }
)


def is_passing(error: BaseException) -> bool:
    """Return whether an error may be gone at another try, because it, or what it was made of, is one of the system.

    Args:
        error: the error.

    Returns:
        False for a mistake of the user or of the data.
    """
    seen = set[int]()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        if isinstance(each, MemoryError) or (isinstance(each, OSError) and each.errno in _PASSING):
            return True
        if isinstance(each, UsageError | DataError) and each.__cause__ is None:
            return False
        each = each.__cause__ or each.__context__
    return False
