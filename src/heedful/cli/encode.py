"""``heedful encode``."""

from __future__ import annotations

from pathlib import Path

import click

from heedful.cli.options import PATH


@click.command()
@click.argument("model", type=PATH)
@click.option("--text", "texts", multiple=True, help="A text; may be repeated.")
@click.option("--input", "input_file", type=PATH, help="One text a line, or a table with a column text; - for stdin.")
@click.option("--output", type=PATH, help="Write a NumPy file (.npy) instead of printing.")
def command(model: Path, texts: tuple[str, ...], input_file: Path | None, output: Path | None) -> None:
    """Turn texts into vectors with MODEL: one JSON list a line, or an array [N, D] float32 in a file.

    Example: heedful encode runs/trec/model --input questions.txt --output questions.npy
    """
    import numpy as np

    from heedful.cli.options import print_json
    from heedful.cli.requests import gather
    from heedful.estimators import model_folder
    from heedful.files import told_plainly
    from heedful.predictor import Predictor

    predictor = Predictor.load(model_folder(model))
    requests = gather(texts, None, None, input_file, "error", is_pair=False)
    vectors = predictor.encode([str(request) for request in requests])
    if output is None:
        for vector in vectors:
            print_json([round(float(x), 6) for x in vector])
        return
    with told_plainly(output), output.open("wb") as stream:
        np.save(stream, vectors, allow_pickle=False)
    click.echo(f"{output}: {vectors.shape[0]} vectors of {vectors.shape[1]} features", err=True)
