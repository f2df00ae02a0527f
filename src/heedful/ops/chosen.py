"""Says which implementations the operations of a computation used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

_LISTENERS: list[dict[str, list[str]]] = []


def note(operation: str, choice: str) -> None:
    """Tell whoever listens what an operation uses; costs nothing where nobody does.

    Args:
        operation: its name.
        choice: the implementation and why, ``"name: reason"``.
    """
    for heard in _LISTENERS:
        choices = heard.setdefault(operation, [])
        if choice not in choices:
            choices.append(choice)


@contextmanager
def listening() -> Iterator[dict[str, list[str]]]:
    """Collect what is used within a ``with`` block.

    Yields:
        Operation to the distinct choices, in the order of their first use; filled as the block runs.
    """
    heard: dict[str, list[str]] = {}
    _LISTENERS.append(heard)
    try:
        yield heard
    finally:
        _LISTENERS[:] = [other for other in _LISTENERS if other is not heard]


def told(heard: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Join what was collected.

    Args:
        heard: what `listening` has yielded.

    Returns:
        Operation to its choices, joined by "; " where parts of the computation differ.
    """
    return {operation: "; ".join(choices) for operation, choices in heard.items()}
