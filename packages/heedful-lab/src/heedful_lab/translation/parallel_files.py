"""Two files whose line n says the same."""

from __future__ import annotations

from pathlib import Path

from heedful.data.examples import Corpus
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.line_files import lines_of_both
from heedful.data.readers.text_lines import COMPRESSED, find_file


def read_parallel(
    path: str | Path, *, target: str | Path, keep_empty: bool = False, encoding: str = "utf-8"
) -> Corpus:
    """Read a file of source sentences and the file of their translations.

    Args:
        path: the source, one sentence a line, plain or compressed.
        target: the translations; a bare name lies beside the source.
        keep_empty: keep a pair of which one line is empty rather than count and leave it out.
        encoding: of both files.

    Returns:
        The sources, each with its translation as gold.

    Raises:
        DataError: if a file is missing, empty, damaged or in another encoding, or the files differ in length.
    """
    source_file = find_file(path)
    target_file = find_file(source_file.parent / target)
    builder = CorpusBuilder(source_file, keep_empty=keep_empty)
    for row, text, translation in lines_of_both(source_file, target_file, encoding):
        if not translation.strip() and not keep_empty:
            builder.skip("no translation")
            continue
        builder.add(row, (text,), translation)
    return builder.build()


def parallel_files(stem: str | Path, languages: tuple[str, str]) -> tuple[str, str]:
    """Return the names of both files of a part: its stem and the language, as in ``train.en`` and ``train.de``.

    Returns the path of the source, and the bare name of the translations' file beside it.
    """
    bare = str(stem)
    for suffix in COMPRESSED:
        bare = bare.removesuffix(suffix)
    return f"{bare}.{languages[0]}", f"{Path(bare).name}.{languages[1]}"
