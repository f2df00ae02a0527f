"""What other packages bring to the command line: the laboratory's commands and tools, and what entry points name."""

from __future__ import annotations

from typing import Any

from heedful.errors import MissingExtraError
from heedful.storage.installed import installed

GROUP, TOOLS = "heedful.commands", "heedful.tools"
"""The groups of entry points: of commands, and of what a command of Heedful's own calls."""
LABORATORY = {
    "reproduce": "Rebuild a table of the papers, with the paper's figures beside ours.",
    "bench": "Compare the speed and memory of heedful with its peers.",
}
"""Name to one line of help of the commands of heedful-lab, which help lists whether it is installed or not."""


def plugged_commands() -> dict[str, str]:
    """Return what can be called beside Heedful's own commands.

    Returns:
        Name to one line of help.
    """
    here = installed(GROUP)
    ours = {name: line if name in here else f"{line} Needs heedful-lab." for name, line in LABORATORY.items()}
    return ours | {name: f"From {_package(name)}." for name in here if name not in LABORATORY}


def load_plugged(name: str, group: str = GROUP, what: str = "") -> Any:
    """Import a command or a tool of another package.

    Args:
        name: of an entry point, such as one of `plugged_commands`.
        group: of the entry point.
        what: needs it; empty for the command of this name.

    Returns:
        The command or the tool.

    Raises:
        MissingExtraError: if it is the laboratory's, which is not installed.
    """
    found = installed(group).get(name)
    if found is None:
        raise MissingExtraError("heedful-lab", "", what or f"heedful {name}", install="heedful-lab")
    return found.load()


def _package(name: str) -> str:
    package = installed(GROUP)[name].package
    return f"the package {package}" if package else "another package"
