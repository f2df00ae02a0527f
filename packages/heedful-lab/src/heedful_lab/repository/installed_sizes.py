"""Print what packages take on disk with everything that they need, from what is installed here.

    python -m heedful_lab.repository.installed_sizes scikit-learn fasttext heedful-runtime=numpy,safetensors heedful

``NAME=PACKAGE,PACKAGE`` gives a set of packages a name of its own. Extras are left out. A package that is installed in
editable mode counts with the files of its wheel alone, so name what it needs beside it.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution


def closure(names: list[str]) -> dict[str, Distribution]:
    """Return packages and all that they need here, by name."""
    found: dict[str, Distribution] = {}
    wanted = list(names)
    while wanted:
        name = re.sub(r"[-_.]+", "-", wanted.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # a requirement of another platform
            continue
        for requirement in found[name].requires or ():
            if "extra ==" not in requirement:
                match = re.match(r"[A-Za-z0-9._-]+", requirement)
                assert match is not None  # every requirement begins with a name
                wanted.append(match.group())
    return found


def megabytes(package: Distribution) -> float:
    """Return what the files of a package take, without those that Python compiles from them."""
    files = [package.locate_file(file) for file in package.files or () if not str(file).endswith(".pyc")]
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6  # type: ignore[attr-defined]


def main() -> None:
    """Print a line for every name of the command line, and its largest parts."""
    for asked in sys.argv[1:]:
        name, _, packages = asked.partition("=")
        sizes = {part: megabytes(found) for part, found in closure((packages or name).split(",")).items()}
        largest = sorted(sizes, key=lambda part: -sizes[part])[:4]
        parts = ", ".join(f"{part} {sizes[part]:.0f}" for part in largest)
        print(f"{name}: {sum(sizes.values()):.0f} MB ({parts})")


if __name__ == "__main__":
    main()
