"""Where programs keep what they can make again, by the convention of XDG."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """Return the folder that XDG_CACHE_HOME names, or ``~/.cache``; a relative name is ignored, as XDG asks."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".cache"
