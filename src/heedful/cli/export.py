"""``heedful export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.answer_options import TreeOptions
from heedful.cli.guards import PAGE, WRITTEN, WrittenPath
from heedful.cli.option_groups import grouped
from heedful.cli.options import PATH, threads_option, tree_options

if TYPE_CHECKING:
    from heedful.export.folder import Numbers


@click.command()
@click.argument("model", type=PATH)
@click.option(
    "--int8", type=WRITTEN, metavar="FOLDER", help="Write a folder with matrices and word vectors in 8 bits."
)
@click.option("--float16", type=WRITTEN, metavar="FOLDER", help="The same in 16 bits.")
@click.option(
    "--float32", type=WRITTEN, metavar="FOLDER", help="The same with the numbers that training saved."
)
@click.option(
    "--onnx",
    type=WrittenPath(endings=(".onnx",)),
    metavar="FILE",
    help="Write one ONNX file: ids in, logits and vectors out.",
)
@click.option("--page", type=PAGE, metavar="FILE", help="Write one web page that predicts while you type.")
@click.option(
    "--javascript",
    type=WrittenPath(endings=(".heedful",)),
    metavar="FILE",
    help="Write one file for the JavaScript package heedful.",
)
@click.option(
    "--whole-tables",
    is_flag=True,
    help="Write all word vectors of --page and --javascript in 8 bits, in five times the room.",
)
@click.option(
    "--coverage",
    type=float,
    metavar="SHARE",
    help="Let answers of --page and --javascript have a set that holds what is right so often (docs/limits.md).",
)
@tree_options
@click.option(
    "--check", is_flag=True, help="Compare the ONNX file with the model on 64 random batches first."
)
@threads_option
@grouped(tree=TreeOptions)
def command(
    model: Path,
    int8: Path | None,
    float16: Path | None,
    float32: Path | None,
    onnx: Path | None,
    page: Path | None,
    javascript: Path | None,
    whole_tables: bool,
    coverage: float | None,
    tree: TreeOptions,
    check: bool,
) -> None:
    """Write MODEL for use without torch; name at least one target.

    The folders are for heedful-runtime and for heedful itself: they have a description of the network beside its
    weights, are checked like every model folder, and keep the words, labels and settings. With --int8 each row of a
    matrix has its own scale. If heedful-runtime does not support the model, the folder is for heedful only, and the
    command says why.

    The ONNX file has standard operators of opset 18, all parts of the model, and words, labels, temperature and
    tokenizer as metadata. Its inputs are numbers of words and of features, in batches of any size and length; page
    "From text to numbers" has a program that makes them. If a logit differs by more than 0.00001 (times
    the largest logit if that is above 1), --check ends with exit code 1, and nothing is written.

    The file of --javascript is what `load` of the JavaScript package heedful opens in browsers, workers and
    Node: weights in 8 bits and words, compressed, and no program.

    The page is one HTML file that needs no server and no network: weights in 8 bits, words, and the network, computed
    in the browser. It shows the prediction and what the network attended to. Tables of more than 2,047 word vectors are
    rounded so far that the page stays small, and of a hundred answers one can be another; --whole-tables rounds
    them as --int8 does. With --tree, classes are paths, such as sport/football: answers have the probabilities of all
    parents too, and the ONNX file says in its metadata which classes each parent adds up.

    Example: heedful export runs/trec --int8 trec-small --onnx trec.onnx --check
    """
    from heedful.errors import UsageError
    from heedful.export.describe import describe, described
    from heedful.export.folder import export_folder
    from heedful.export.onnx_file import export_onnx, note_of
    from heedful.model.decisions import Wish
    from heedful.models.finite_check import refuse_overflow
    from heedful.page import model_bytes, note_of_size, render_page
    from heedful.runtime.settings import MISSING
    from heedful.storage import write_bytes, write_text
    from heedful.storage.model_folder import load_model_folder
    from heedful.storage.ownership import own_bytes
    from heedful.tasks import load_model, model_folder

    targets: dict[Numbers, Path | None] = {"int8": int8, "float16": float16, "float32": float32}
    if not any([*targets.values(), onnx, page, javascript]):
        raise UsageError(
            "nothing to write: give --int8, --float16, --float32, --onnx, --page or --javascript with a path"
        )
    if whole_tables and page is None and javascript is None:
        raise UsageError(
            "--whole-tables is for the page and the file for JavaScript: give --page or --javascript too"
        )
    if coverage is not None and page is None and javascript is None:
        raise UsageError(
            "--coverage is for the page and the file for JavaScript: give --page or --javascript too"
        )
    tree.check()
    if tree.tree is not None and page is None and javascript is None and onnx is None:
        raise UsageError(
            "--tree is for the page, the file for JavaScript and the ONNX file: give --page, --javascript or --onnx too"
        )
    if check and onnx is None:
        raise UsageError("--check compares an ONNX file: give --onnx FILE too")
    path = model_folder(model)
    loaded, folder = load_model(path), load_model_folder(path)
    network = loaded.network
    refuse_overflow(network)
    promise = None if coverage is None else loaded.promise_of(Wish(coverage))
    nodes = None if tree.tree is None else loaded.tree_of(tree.tree, tree.at_least)
    description = describe(network) if not any([onnx, page, javascript]) else described(network)
    for numbers, target in targets.items():
        if target is not None:
            if target.exists() and target.samefile(path):
                raise UsageError(f"--{numbers} {target}: is the model itself; name another folder")
            export_folder(folder, description, target, numbers)
            before, after = (own_bytes(each) / 1e6 for each in (path, target))
            reason = f"; for heedful alone, since {description[MISSING]}" if MISSING in description else ""
            click.echo(f"{target}: {after:.1f} MB, from {before:.1f} MB{reason}")
    if onnx is not None:
        worst = export_onnx(folder, described(network), path, onnx, check=check, tree=nodes)
        said = "" if worst is None else f"; largest difference in 64 random batches {worst:.1e}"
        click.echo(f"{onnx}: {onnx.stat().st_size / 1e6:.1f} MB{said}")
        if note := note_of(folder):
            click.echo(note, err=True)
    if page is not None:
        steps, compact = described(network), not whole_tables
        write_text(page, render_page(folder, steps, compact=compact, promise=promise, tree=nodes))
        click.echo(f"{page}: {page.stat().st_size / 1e6:.1f} MB; open it in a browser")
    if javascript is not None:
        steps, compact = described(network), not whole_tables
        write_bytes(javascript, model_bytes(folder, steps, compact=compact, promise=promise, tree=nodes))
        click.echo(
            f"{javascript}: {javascript.stat().st_size / 1e6:.1f} MB; open it with the JavaScript package"
        )
    sizes = [target.stat().st_size for target in (page, javascript) if target is not None]
    if note := note_of_size(folder, max(sizes, default=0)):
        click.echo(note, err=True)
