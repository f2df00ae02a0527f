"""A long text in windows of words that overlap, each word read where it is farthest from the ends of a window."""

from __future__ import annotations

from typing import NamedTuple

OVERLAP = 4
"""A window shares one part in so many with the next one, as in `heedful.models.networks`."""


class Window(NamedTuple):
    """A window of a text.

    Attributes:
        start: its first word, from 0.
        end: the word after its last one.
        first: the first word that is taken from it.
        last: the word after the last one that is taken from it.
    """

    start: int
    end: int
    first: int
    last: int


def windows_of(length: int, size: int) -> list[Window]:
    """Cut a text into windows; they are those of `heedful.models.networks`, of the words and not of their states.

    Windows begin at multiples of ``size - size // 4``. Where two overlap, the first half of the overlap is taken from
    the earlier one and the second from the later one.

    Args:
        length: words of the text.
        size: words of a window, 1 or more.

    Returns:
        The windows, of which every word is taken from exactly one; one window for a text of at most ``size`` words.
    """
    overlap = size // OVERLAP
    step = size - overlap
    count = max(0, -(-(length - size) // step)) + 1
    borders = [0, *(k * step + overlap // 2 for k in range(1, count)), length]
    return [Window(k * step, min(k * step + size, length), borders[k], borders[k + 1]) for k in range(count)]
