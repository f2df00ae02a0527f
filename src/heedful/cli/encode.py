"""``heedful encode``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.guards import WRITTEN
from heedful.cli.option_groups import TextLimits, grouped
from heedful.cli.options import PATH, limit_options, text_input_options, text_option, threads_option
from heedful.cli.reading_options import reading_options
from heedful.data.readers.reading import FileReading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@click.command()
@click.argument("model", type=PATH)
@click.argument("words", nargs=-1, metavar="[TEXT]...")
@text_option
@text_input_options
@reading_options
@click.option(
    "--output", type=WRITTEN, help="Write the vectors to this NumPy file (.npy) instead of printing them."
)
@limit_options
@threads_option
@grouped(limits=TextLimits)
def command(
    model: Path,
    words: tuple[str, ...],
    texts: tuple[str, ...],
    input_file: Path | None,
    reading: FileReading,
    output: Path | None,
    limits: TextLimits,
) -> None:
    """Turn texts into vectors with MODEL: one JSON list in each line, or an array [N, D] float32 in a file.

    The name of a table, such as new.csv, stands for --input, and - for standard input. A text without words becomes the
    zero vector. A model of pairs accepts single texts here. Texts are read in
    blocks, so memory does not grow with the length of the input. A file is checked as a whole before the first vector
    is printed. A model that needs no torch is computed with one thread, or with the N of --threads.

    Example: heedful encode runs/trec --input questions.txt --output questions.npy
    """
    from heedful.cli.opened_model import opened, refuse_long, vectors_of
    from heedful.cli.output import print_json, print_note
    from heedful.cli.request_options import RequestOptions, file_among
    from heedful.cli.requests import stream

    named = file_among(words, input_file)
    if named is not None:
        words, input_file = (), named
    encoding = opened(model, limits, needs=["vectors"])
    trained = FileReading.of_run(encoding.run_settings)
    asked = RequestOptions(
        (*words, *texts), (None, None), input_file, reading, is_pair=False, trained=trained
    )
    blocks = stream(asked, partial(refuse_long, encoding))
    found = (vectors_of(encoding, corpus) for corpus in blocks)
    if output is None:
        for vectors in found:
            for vector in vectors:
                print_json([round(float(x), 6) for x in vector])
        return
    count, width = _write(output, found)
    print_note(f"{output}: {count} vectors of {width} features")


def _write(output: Path, blocks: Iterator[NDArray[np.float32]]) -> tuple[int, int]:
    """Write blocks of vectors as the file that `numpy.save` makes of all of them; return its shape."""
    import numpy as np
    from numpy.lib import format

    from heedful.storage import replacing

    count = width = 0
    with replacing(output) as file:
        for block in blocks:
            if not count:  # the header keeps room for the number of rows, which is not known yet
                format.write_array_header_1_0(file, format.header_data_from_array_1_0(block))
            file.write(np.ascontiguousarray(block).tobytes())
            count, width = count + block.shape[0], block.shape[1]
        file.seek(0)
        whole = {"shape": (count, width), "fortran_order": False, "descr": "<f4"}
        format.write_array_header_1_0(file, whole)
    return count, width
