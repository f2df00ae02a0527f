"""Talking to the Hugging Face Hub: which server it is, and what goes wrong on the way in one line."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from heedful.errors import HeedfulError


def endpoint() -> str | None:
    """Return the server that ``HF_ENDPOINT`` names; None for the Hub."""
    return os.environ.get("HF_ENDPOINT") or None


@contextlib.contextmanager
def hub_errors(kind: type[HeedfulError], what: str) -> Iterator[None]:
    """Turn what goes wrong on the way to the Hub into one line; its library has an exception for each thing.

    Args:
        kind: of the error.
        what: went wrong, in front of the reason.

    Yields:
        Nothing.

    Raises:
        HeedfulError: of the kind.
    """
    try:
        yield
    except HeedfulError:
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise kind(f"{what}: {reason:.200}") from error
