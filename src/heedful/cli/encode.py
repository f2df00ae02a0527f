"""``heedful encode``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from heedful.cli.options import PATH, limit_options, text_input_options, text_option


@click.command()
@click.argument("model", type=PATH)
@text_option
@text_input_options
@click.option("--output", type=PATH, help="Write a NumPy file (.npy) instead of printing.")
@limit_options
def command(
    model: Path,
    texts: tuple[str, ...],
    input_file: Path | None,
    columns: str | None,
    on_missing: Literal["error", "empty"],
    output: Path | None,
    max_tokens: int | None,
    truncate: Literal["error", "head"] | None,
) -> None:
    """Turn texts into vectors with MODEL: one JSON list a line, or an array [N, D] float32 in a file.

    A text without words is the zero vector. A model of pairs takes single texts here too.

    Example: heedful encode runs/trec --input questions.txt --output questions.npy
    """
    import io

    import numpy as np

    from heedful.cli.models import open_model
    from heedful.cli.output import print_json
    from heedful.cli.requests import gather
    from heedful.files import write_bytes

    predictor = open_model(model, max_tokens, truncate)
    corpus = gather(texts, (None, None), input_file, columns, on_missing, is_pair=False)
    vectors = predictor.encode(corpus)
    if output is None:
        for vector in vectors:
            print_json([round(float(x), 6) for x in vector])
        return
    buffer = io.BytesIO()
    np.save(buffer, vectors, allow_pickle=False)
    write_bytes(output, buffer.getvalue())
    click.echo(f"{output}: {vectors.shape[0]} vectors of {vectors.shape[1]} features", err=True)
