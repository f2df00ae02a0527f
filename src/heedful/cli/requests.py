"""The request options to a list of texts or pairs."""

from __future__ import annotations

import sys
from pathlib import Path

from heedful.errors import UsageError
from heedful.predictor import Text


def gather(
    texts: tuple[str, ...],
    premise: str | None,
    hypothesis: str | None,
    input_file: Path | None,
    on_missing: str,
    is_pair: bool,
) -> list[Text]:
    """Collect the requests of a command.

    Args:
        texts: values of ``--text``.
        premise: value of ``--premise``.
        hypothesis: value of ``--hypothesis``.
        input_file: value of ``--input``; ``-`` is standard input.
        on_missing: what a missing value in a file is.
        is_pair: whether the model takes pairs.

    Returns:
        Strings, or pairs of strings, in the order given.

    Raises:
        UsageError: if nothing was given, or it does not fit the model.
    """
    if is_pair and texts:
        raise UsageError("this model takes pairs: use --premise and --hypothesis, or --input with both columns")
    if not is_pair and (premise is not None or hypothesis is not None):
        raise UsageError("this model takes single texts: use --text, or --input with a column text")
    if (premise is None) != (hypothesis is None):
        raise UsageError("--premise and --hypothesis go together")
    found: list[Text] = list(texts)
    if premise is not None and hypothesis is not None:
        found.append((premise, hypothesis))
    if input_file is not None:
        found += _from_file(input_file, is_pair, on_missing)
    if not found and input_file is None:
        raise UsageError(
            "nothing to read: give "
            + ("--premise and --hypothesis" if is_pair else "--text")
            + ", or --input FILE (- for standard input)"
        )
    return found


def _from_file(path: Path, is_pair: bool, on_missing: str) -> list[Text]:
    from heedful.data.readers.requests import read_requests
    from heedful.data.readers.table import TABLE_SUFFIXES, read_table

    if str(path) == "-":
        lines = [line.rstrip("\r\n") for line in sys.stdin]
        if is_pair:
            pairs = [tuple(line.split("\t")) for line in lines]
            return [example.texts for example in read_requests(pairs, pair=True).examples]  # type: ignore[misc]
        return list(lines)
    if not any(suffix in TABLE_SUFFIXES for suffix in path.suffixes):
        if is_pair:
            raise UsageError(f"{path}: pairs need a .csv, .tsv, .jsonl or .parquet file with named columns")
        from heedful.data.readers.opening import numbered_lines

        return [line for _, line in numbered_lines(path)]
    columns = {"premise": "premise", "hypothesis": "hypothesis"} if is_pair else {"text": "text"}
    corpus = read_table(path, **columns, on_missing=on_missing, keep_empty=True)  # type: ignore[arg-type]
    if is_pair:
        return [example.texts for example in corpus.examples]  # type: ignore[misc]
    return [example.texts[0] for example in corpus.examples]
