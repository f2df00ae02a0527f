"""Importing Lightning Fabric without torchmetrics.

Fabric asks for the version of torchmetrics by importing it, and torchmetrics imports transformers, matplotlib and
SciPy, where these are installed. That takes longer than all else that a small training imports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightning_fabric import Fabric

ASKED = "torchmetrics"
"""The package of which only the version is asked for."""


def fabric_type() -> type[Fabric]:
    """Return the class Fabric, imported with as little else as can be."""
    with _versions_from_metadata():
        from lightning_fabric import Fabric
    return Fabric


@contextmanager
def _versions_from_metadata() -> Iterator[None]:
    """Let Lightning read the version of `ASKED` from what is installed as long as the body runs."""
    if "lightning_fabric" in sys.modules or ASKED in sys.modules:
        yield
        return
    from lightning_utilities.core import imports

    compare: Callable[..., bool] = imports.compare_version

    def by_metadata(package: str, op: Callable[..., bool], version: str, *rest: Any, **options: Any) -> bool:
        if package != ASKED:
            return compare(package, op, version, *rest, **options)
        from packaging.version import Version

        try:
            return op(Version(metadata.version(package)), Version(version))
        except metadata.PackageNotFoundError:
            return False

    imports.compare_version = by_metadata
    try:
        yield
    finally:
        imports.compare_version = compare
