"""Write the package ``heedful`` of npm: the engine of pages as a module, its types and its license.

    python -m heedful_lab.repository.javascript_package build/heedful-js

``npm pack build/heedful-js`` then makes one file of it. Its version is that of heedful.
"""

from __future__ import annotations

import json
import shutil
from argparse import ArgumentParser
from pathlib import Path

import heedful
from heedful.page.javascript import module
from heedful_lab.repository import ROOT

PACKAGE = ROOT / "packages" / "heedful-js"
MODULE = "index.js"


def write(folder: Path) -> int:
    """Write the package.

    Args:
        folder: made if it is missing; files of the same names are replaced.

    Returns:
        The bytes of the module.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("index.d.ts", "README.md"):
        shutil.copyfile(PACKAGE / name, folder / name)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    about = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
    about["version"] = heedful.__version__
    (folder / "package.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return (folder / MODULE).write_bytes(module().encode("utf-8"))


def main() -> None:
    """Write the package into the folder that the command line names."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to write, for instance build/heedful-js")
    folder = parser.parse_args().folder
    print(f"{folder}/{MODULE}: {write(folder):,} bytes")


if __name__ == "__main__":
    main()
