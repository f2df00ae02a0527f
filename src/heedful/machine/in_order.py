"""Items computed on several threads, with their results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_order(compute: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Compute items on several threads, which is faster where most of the time goes into the compiled kernels.

    Args:
        compute: computes one item.
        items: read as they are needed, a few ahead.
        threads: how many; with 1 there is no thread but the caller's.

    Yields:
        The results in the order of the items. An error, of an item or of reading the next, comes after the results of
        the items before it.
    """
    if threads <= 1:
        yield from map(compute, items)
        return
    waiting, source = deque[Future[R]](), iter(items)
    trouble: BaseException | None = None
    with ThreadPoolExecutor(threads, "answers") as pool:
        try:
            while trouble is None:
                while trouble is None and len(waiting) < 2 * threads:
                    try:
                        waiting.append(pool.submit(compute, next(source)))
                    except StopIteration as end:
                        trouble = end
                    except Exception as error:
                        trouble = error
                if waiting:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()
    if not isinstance(trouble, StopIteration):
        raise trouble
