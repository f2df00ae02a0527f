"""The wheel without compiled kernels, as a machine without a C++ compiler builds it."""

from __future__ import annotations

import sys

import pytest

from heedful.attention import native

REASON = "nobody built it"


def without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the kernels from every module that has loaded them, until the test ends."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("heedful.") or name.startswith("heedful.runtime"):
            continue  # the runtime has kernels of its own
        known = vars(module)
        if native.LIBRARY is not None and known.get("LIBRARY") is native.LIBRARY and module is not native:
            monkeypatch.setattr(module, "LIBRARY", None)
            if "_KERNEL" in known:
                monkeypatch.setattr(module, "_KERNEL", None)
            if "MISSING" in known:
                monkeypatch.setattr(module, "MISSING", REASON)
    monkeypatch.setattr(native, "LIBRARY", None)
    monkeypatch.setattr(native, "MISSING", REASON)
