"""SNLI and MultiNLI in the layouts of their releases: JSON lines, or tab-separated text with a header."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus
from heedful.data.readers.corpus_builder import OTHER_SPLIT, CorpusBuilder
from heedful.data.readers.record_files import Record, json_records, split_records
from heedful.data.readers.text_lines import bare_suffix, find_file
from heedful.errors import DataError, UsageError, check_known, nearest
from heedful.text.tokenize import binary_parse_words

NLI_LABELS = ("entailment", "neutral", "contradiction")
NO_GOLD = "no gold label"
_SIDES = ("sentence1", "sentence2")


def read_snli(path: str | Path, *, use_parse: bool = True, keep_empty: bool = False) -> Corpus:
    """Read SNLI 1.0 (Bowman et al., 2015), ``.jsonl`` or ``.txt`` of 14 columns.

    Args:
        path: the file, plain or compressed.
        use_parse: take the words from the binary parse where the row has one. A row without gives no words, and its
            sentence is tokenized later.
        keep_empty: keep pairs of which a sentence is empty.

    Returns:
        The pairs. Those on which the annotators did not agree (gold label "-") are skipped and counted.

    Raises:
        DataError: naming the row, if a field is missing or a label unknown.
    """
    return _read(path, ("gold_label",), use_parse, keep_empty, with_genre=False)


def read_multinli(path: str | Path, *, use_parse: bool = True, keep_empty: bool = False) -> Corpus:
    """Read MultiNLI 1.0 (Williams et al., 2018), ``.jsonl`` or ``.txt``.

    Args:
        path: the file, plain or compressed.
        use_parse: take the words from the binary parse where the row has one, or from the white space of a row that
            says ``"tokenised": true``.
        keep_empty: keep pairs of which a sentence is empty.

    Returns:
        The pairs, grouped by genre where the row names it. Gold label "-" is skipped and counted. A file without
        ``gold_label`` is read by its ``annotator_label``, which is one annotator's opinion and no gold.

    Raises:
        DataError: naming the row, if a field is missing or a label unknown.
    """
    return _read(path, ("gold_label", "annotator_label"), use_parse, keep_empty, with_genre=True)


def _read(
    path: str | Path, label_fields: tuple[str, ...], use_parse: bool, keep_empty: bool, with_genre: bool
) -> Corpus:
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    for row, record in _records(file):
        field = next((name for name in label_fields if name in record), label_fields[0])
        gold = builder.field(row, record, field)
        if gold == "-":
            builder.skip(NO_GOLD)
            continue
        texts = tuple(_text(builder, row, record, side) for side in _SIDES)
        words = tuple(_words(record, side) for side in _SIDES) if use_parse else ()
        group = str(record.get("genre") or "") if with_genre else ""
        builder.add(row, texts, builder.label(row, field, str(gold), NLI_LABELS), words, group)
    return builder.build()


def _records(file: Path) -> Iterator[tuple[int, Record]]:
    if bare_suffix(file) == ".txt":
        return split_records(file)
    return json_records(file)


def _text(builder: CorpusBuilder, row: int, record: Record, side: str) -> str:
    text = builder.field(row, record, side)
    if not isinstance(text, str):
        raise DataError(f"{builder.where(row, side)}: expected text, got {text!r}")
    return text


def _words(record: Record, side: str) -> tuple[str, ...] | None:
    parse = record.get(f"{side}_binary_parse")
    if isinstance(parse, str) and parse:
        return tuple(binary_parse_words(parse)) or None
    if record.get("tokenised") is True:
        return tuple(str(record[side]).split())
    return None


LOWEST, HIGHEST = 1.0, 5.0
_TASKS = ("relatedness", "entailment")
_SPLITS = ("TRAIN", "TRIAL", "TEST")


def read_sick(
    path: str | Path,
    *,
    task: Literal["relatedness", "entailment"] = "relatedness",
    split: str | None = None,
    keep_empty: bool = False,
) -> Corpus:
    """Read ``SICK.txt`` (Marelli et al., 2014): 12 tab-separated columns, all splits in one file.

    Args:
        path: the file, plain or compressed.
        task: "relatedness" gives a score from 1 to 5, "entailment" a label in lower case.
        split: "TRAIN", "TRIAL" (the dev part) or "TEST" of the column ``SemEval_set``; None for all.
        keep_empty: keep pairs of which a sentence is empty.

    Returns:
        The pairs; rows of the other splits are counted as skipped.

    Raises:
        UsageError: if task or split is unknown.
        DataError: naming the row, if a column is missing, a score out of range, or a label or split unknown.
    """
    check_known(task, _TASKS, f"task {task!r} is unknown")
    if split is not None and split not in _SPLITS:
        raise UsageError(f"split {split!r} is unknown; {nearest(split, _SPLITS)}")
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    for row, record in split_records(file):
        if split is not None:
            named = _text(builder, row, record, "SemEval_set")
            if builder.label(row, "SemEval_set", named, _SPLITS, "split") != split:
                builder.skip(OTHER_SPLIT)
                continue
        texts = (_text(builder, row, record, "sentence_A"), _text(builder, row, record, "sentence_B"))
        builder.add(row, texts, _target(builder, record, task, row))
    return builder.build()


def _target(builder: CorpusBuilder, record: Record, task: str, row: int) -> str | float:
    field = "relatedness_score" if task == "relatedness" else "entailment_label"
    value = _text(builder, row, record, field)
    if task == "relatedness":
        return builder.score(row, field, value, LOWEST, HIGHEST)
    return builder.label(row, field, value.lower(), NLI_LABELS)
