"""Who may ask a server: the key, the names by which it may be called, and the sites whose pages may ask it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heedful.errors import UsageError
from heedful.machine.serving_key import is_local, read_key
from heedful.serving.app import Access


def access_of(host: str, key_file: Path | None, hosts: Sequence[str], origins: Sequence[str]) -> Access:
    """Return who may ask a server.

    Args:
        host: the address that it listens on.
        key_file: what holds the key; None for the variable of `read_key`, which may be empty.
        hosts: further names by which it may be called.
        origins: sites whose pages may ask it; "*" for every one.

    Returns:
        The rules.

    Raises:
        DataError: if the file cannot be read.
        UsageError: if a key is too short, or an origin is none.
    """
    own = ("localhost", "127.0.0.1", "::1", host) if is_local(host) else ()
    return Access(read_key(key_file), frozenset({*hosts, *own}), tuple(map(_origin, origins)))


def _origin(given: str) -> str:
    """Check what a browser would send as Origin: a scheme, a name and maybe a port, without a path."""
    scheme, _, rest = given.partition("://")
    if given != "*" and (scheme not in ("http", "https") or not rest or not set("/?#@ *").isdisjoint(rest)):
        raise UsageError(
            f"--cors-origin {given!r:.200}: expected a scheme and a name, such as https://example.org or "
            "http://localhost:3000, or *"
        )
    return given.lower()
