"""Commands that other packages bring: the laboratory's, and any that an entry point of ``heedful.commands`` names."""

from __future__ import annotations

import click

from heedful.errors import MissingExtraError
from heedful.storage.installed import installed

GROUP = "heedful.commands"
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


def load_plugged(name: str) -> click.Command:
    """Import a command of another package.

    Args:
        name: of `plugged_commands`.

    Returns:
        The command.

    Raises:
        MissingExtraError: if it is the laboratory's, which is not installed.
    """
    found = installed(GROUP).get(name)
    if found is None:
        raise MissingExtraError("heedful-lab", "", f"heedful {name}", install="heedful-lab")
    command: click.Command = found.load()
    return command


def _package(name: str) -> str:
    package = installed(GROUP)[name].package
    return f"the package {package}" if package else "another package"
