"""Write how the methods of explanation did into a model folder and its card, so that the best one is its default."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from heedful.explain.measured_methods import MEASURES, MeasuredMethods
from heedful.explain.standing import KEY
from heedful.storage import replace_folder
from heedful.storage.layout import holds_run
from heedful.storage.lock import alone
from heedful.storage.manifest import (
    CARD,
    METRICS,
    MODEL_FILES,
    read_json,
    read_text,
    verify_manifest,
    write_json,
    write_manifest,
)

_TITLE = "## Explanations"
_SECTION = re.compile(rf"^{_TITLE}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_BEFORE = re.compile(r"^## (Limits|Settings)$", re.MULTILINE)


def keep_standing(folder: Path, measured: MeasuredMethods) -> None:
    """Write the order of the methods into a model folder.

    The folder is copied, the copy is checked against its checksums, its figures and its card are changed, and it takes
    the place of the old folder in one step; a reader meets the old one or the new one.

    Args:
        folder: the model folder itself.
        measured: the measures.

    Raises:
        ArtefactError: if the folder is not whole.
        OutputError: if it cannot be written; the old one stays.
        InUseError: if a run is writing it.
    """
    if holds_run(folder.parent):
        with alone(folder.parent, "run"):
            _replace(folder, measured)
    else:
        _replace(folder, measured)


def _replace(folder: Path, measured: MeasuredMethods) -> None:
    verify_manifest(folder, MODEL_FILES)
    with replace_folder(folder) as new:
        shutil.copytree(folder, new, dirs_exist_ok=True)
        verify_manifest(new, MODEL_FILES)
        figures = read_json(new / METRICS, dict)
        write_json(new / METRICS, {**figures, KEY: measured.standing.as_dict()})
        card = with_section(read_text(new / CARD), measured)
        (new / CARD).write_text(card, encoding="utf-8", newline="\n")
        write_manifest(new, MODEL_FILES)


def with_section(card: str, measured: MeasuredMethods) -> str:
    """Put the table of the measures into a model card, in the place of an older one.

    Args:
        card: the card.
        measured: the measures.

    Returns:
        The card.
    """
    rest = _SECTION.sub("", card)
    place = _BEFORE.search(rest)
    start = len(rest) if place is None else place.start()
    before = rest[:start].rstrip("\n")
    return f"{before}\n\n{section(measured)}\n{rest[start:]}"


def section(measured: MeasuredMethods) -> str:
    """Return the section of a card, Markdown that ends with a line end."""
    rows = [
        f"| {name} | " + " | ".join(str(measured.mean(name, measure)) for measure in MEASURES) + " |"
        for name in (*measured.methods, *(each for each in measured.names if each not in measured.methods))
    ]
    return "\n".join(
        [
            _TITLE,
            "",
            measured.standing.sentence(measured.methods[0]),
            f"`heedful explain` shows {measured.standing.default} by default. Measured by `heedful faithfulness`; ± is "
            f"half of the 95 % interval over texts, seed {measured.seed}.",
            "",
            "| method | " + " | ".join(name.replace("_", " ") for name in MEASURES) + " |",
            "| --- |" + " --- |" * len(MEASURES),
            *rows,
            "",
        ]
    )
