"""Write a model as one page: the model file, the engine that reads it, and what draws as one types."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from string import Template

from heedful.explain.legends import CAVEAT
from heedful.explain.style import UNOPENED, style_sheet
from heedful.export.recording import NetworkTable
from heedful.model.decisions import Promise
from heedful.model.decisions.label_tree import LabelTree
from heedful.page.javascript import asset, engine
from heedful.page.model_file import has_network, model_bytes, title_of
from heedful.runtime.sentence_part import SENTENCE, reads_encoder
from heedful.storage.model_folder import ModelFolder
from heedful.version import __version__

SCRIPTS = ("pictures.js", "page.js")
"""What a page has beside the engine (`heedful.page.javascript`)."""
LARGE = 8_000_000
"""A file of more bytes is explained (`note_of_size`)."""


def render_page(
    folder: ModelFolder,
    description: NetworkTable,
    *,
    compact: bool = True,
    promise: Promise | None = None,
    tree: LabelTree | None = None,
) -> str:
    """Render a model as one page of HTML that needs no server and loads nothing.

    A policy in the page allows its own script and style alone, by their hashes, and no connection. The text that a
    reader types, the words and the labels are only ever shown as text.

    Args:
        folder: the model.
        description: of its network, from `heedful.export.described`.
        compact: as for `heedful.page.model_file.model_bytes`.
        promise: with which answers have a set or an interval; None where they have none.
        tree: with which answers have the parents of classes that are paths; None where they have none.

    Returns:
        The page; the same bytes for the same model.

    Raises:
        UsageError: naming the setting that a page does not have.
    """
    model = model_bytes(folder, description, compact=compact, promise=promise, tree=tree)
    style = style_sheet() + UNOPENED + asset("page.css")
    script = engine() + "\n".join(map(asset, SCRIPTS))
    return Template(asset("page.html")).substitute(
        policy=f"default-src 'none'; script-src {_hash(script)} 'wasm-unsafe-eval'; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
        title=escape(title_of(folder)),
        style=style,
        script=script,
        caveat=escape(CAVEAT) if has_network(folder) else "",
        version=__version__,
        model=base64.b64encode(model).decode("ascii"),
    )


def note_of_size(folder: ModelFolder, size: int) -> str:
    """Return why a page, or a file for JavaScript, is large, and how the next one is small.

    Args:
        folder: the model.
        size: of the file, in bytes.

    Returns:
        One sentence where most of a large file is a sentence encoder; empty otherwise.
    """
    table = folder.config.get(SENTENCE)
    if size <= LARGE or not isinstance(table, Mapping) or not reads_encoder(table):
        return ""
    return (
        "Most of it is the sentence encoder that the model reads. Trained with --set model.sentence=mean, which reads "
        "word vectors in its place, a model has a page of a few MB (docs/exports.md)."
    )


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
