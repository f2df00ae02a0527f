"""The key of a server, and whether it needs one."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path

from heedful.errors import DataError, UsageError

KEY = "HEEDFUL_SERVE_KEY"
"""The variable that holds the key where no file does."""
SHORTEST_KEY = 16


def read_key(file: Path | None) -> bytes:
    """Return the key that clients of a server must send.

    Args:
        file: that holds it; None for the variable `KEY`.

    Returns:
        The key; empty where there is none.

    Raises:
        DataError: if the file cannot be read.
        UsageError: if the key is too short, or has other characters than a header may have.
    """
    if file is None:
        key, where = os.environ.get(KEY, "").strip(), KEY
    else:
        where = f"--key-file {file}"
        try:
            key = file.read_text(encoding="utf-8").strip()
        except UnicodeDecodeError as error:
            raise DataError(f"{where}: is no text in ASCII; write the key into it") from error
        except OSError as error:
            raise DataError(f"{where}: cannot be read: {error.strerror or error}") from error
    if (file is not None or key) and not (
        len(key) >= SHORTEST_KEY and key.isascii() and key.isprintable() and " " not in key
    ):
        raise UsageError(
            f"{where}: a key has at least {SHORTEST_KEY} ASCII characters without spaces; make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return key.encode("ascii")


def is_local(host: str) -> bool:
    """Tell whether only programs of this machine reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
