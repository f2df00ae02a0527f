"""Files of every format with the rows that they must give, and lines that every reader must refuse.

The rows are known because they were there before the file: nothing here is read back to find out.
"""

from __future__ import annotations

import io
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sick_release
from heedful.cli.request_options import RequestOptions
from heedful.cli.requests import gather
from heedful.data.examples import Corpus, LabelSet, WordTags
from heedful.data.parses import read_conllu
from heedful.data.readers.line_files import read_label_text, read_trec
from heedful.data.readers.nli import NLI_LABELS, read_multinli, read_sick, read_snli
from heedful.data.readers.reading import FileReading
from heedful.data.readers.role_columns import brackets, read_role_columns
from heedful.data.readers.role_files import read_role_spans
from heedful.data.readers.soft_labels import read_soft_labels, read_unlabeled
from heedful.data.readers.sst import FIVE_CLASSES, read_sst_trees
from heedful.data.readers.table_files import read_table
from heedful.data.readers.tag_files import read_tags
from heedful.storage.shared_rows import write_rows
from heedful.text.bio import Span, tags_of
from heedful.text.vectors import read_vectors
from heedful_lab.translation.parallel_files import read_parallel
from vector_files import fasttext_file, floret_file, model2vec_folder, word2vec_file

Rows = list[tuple[Any, ...]]
"""What a file gives: texts and gold of each example."""

# Characters that str.splitlines or str.split take for the end of a line or a word, and hostile ones.
_ODD = [
    "\u00a0",
    "\u0085",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x1b[31m",
    "\u2028",
    "\u202e",
    "\ufeff",
    "\u3000",
    "🙂",
    "e\u0301",
]
_PLAIN = ["a", "Zoo", "naïve", "ß", "7", "%", "it's", "-", ".", "é" * 40]
_LATIN = [piece for piece in _ODD + _PLAIN if all(ord(character) < 256 for character in piece)]


@dataclass(frozen=True)
class Sample:
    """A file in pieces.

    Attributes:
        head: lines before the first row, without ends.
        units: what stands for each row: a line, or the lines of a sentence with the empty one after it.
        rows: what each unit gives, in order; None for one that is skipped and counted.
        bad: units that make the whole file wrong.
        beside: further files by name.
    """

    head: list[bytes]
    units: list[bytes]
    rows: list[tuple[Any, ...] | None]
    bad: list[bytes]
    beside: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True)
class Format:
    """A format and its reader.

    Attributes:
        name: of the file.
        make: makes a sample.
        read: gives the rows of a file.
        blank: whether empty lines between rows are passed over.
        lines: whether each unit is a line.
        raw: whether the file is none of lines, so that only whole files are tried.
        mark: whether it may begin with the mark of UTF-8.
        packs: whether it may be compressed.
    """

    name: str
    make: Callable[[random.Random], Sample]
    read: Callable[[Path], Rows]
    blank: bool = True
    lines: bool = True
    raw: bool = False
    mark: bool = True
    packs: bool = True


def word(draw: random.Random, pieces: Sequence[str] = (*_ODD, *_PLAIN), without: str = "") -> str:
    """Return a word that begins and ends with a letter, of which no character is among ``without``."""
    middle = "".join(draw.choices(pieces, k=draw.randrange(3)))
    return "w" + "".join(c for c in middle if c not in without and not c.isspace()) + "x"


def text(draw: random.Random, pieces: Sequence[str] = (*_ODD, *_PLAIN)) -> str:
    """Return a text of one word or more that begins and ends with a letter and holds no tab or line feed."""
    return " ".join(
        "w" + "".join(draw.choices(pieces, k=draw.randrange(3))) + "x" for _ in range(draw.randint(1, 6))
    )


def _examples(corpus: Corpus) -> Rows:
    return [(*example.texts, example.target) for example in corpus.examples]


def _worded(corpus: Corpus) -> Rows:
    return [(*example.words, example.target) for example in corpus.examples]


def _trec(draw: random.Random) -> Sample:
    rows = [(text(draw, _LATIN), draw.choice(["LOC", "HUM"])) for _ in range(draw.randint(1, 6))]
    units = [f"{label}:other {question}".encode("latin-1") for question, label in rows]
    return Sample([], units, list(rows), [b"LOC Where is it ?", b":city Where", b"LOC: Where"])


def _label_text(draw: random.Random) -> Sample:
    rows = [(text(draw), draw.choice(["negative", "positive"])) for _ in range(draw.randint(1, 6))]
    units = [f"{int(label == 'positive')} {said}".encode() for said, label in rows]
    return Sample([], units, list(rows), [b"2 so so", b"good", b"1\ttab", b"0 caf\xe9"])


def _sick(draw: random.Random) -> Sample:
    units, rows = [], []
    for number in range(draw.randint(1, 6)):
        score, split = (
            draw.choice(["1", "4.5", "3.25", "5"]),
            draw.choice(["TRAIN", "TRAIN", "TEST", "TRIAL"]),
        )
        first, second = text(draw), text(draw)
        cells = [str(number), first, second, "NEUTRAL", score, *("_",) * 6, split]
        units.append("\t".join(cells).encode())
        rows.append((first, second, float(score)) if split == "TRAIN" else None)
    good = ["9", "a", "b", "NEUTRAL", "3", *("_",) * 6, "TRAIN"]
    changes = {4: ("6", "nan", "", "x"), 11: ("TRIAN", "", "train"), 1: ("a\tb",)}
    bad = [
        "\t".join([*good[:at], value, *good[at + 1 :]]).encode()
        for at, values in changes.items()
        for value in values
    ]
    return Sample(["\t".join(sick_release.COLUMNS).encode()], units, rows, bad)


def _nli(draw: random.Random, genre: bool) -> Sample:
    units, rows = [], []
    for number in range(draw.randint(1, 6)):
        label, first, second = draw.choice((*NLI_LABELS, "-")), text(draw), text(draw)
        record = {"gold_label": label, "sentence1": first, "sentence2": second, "pairID": number}
        record |= (
            {"sentence1_binary_parse": f"( {word(draw, without='()')} . )"} if draw.random() < 0.5 else {}
        )
        record |= {"genre": "fiction"} if genre else {}
        units.append(json.dumps(record, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass"))
        rows.append(None if label == "-" else (first, second, label))
    bad = [
        b'{"gold_label": "neutrl", "sentence1": "a", "sentence2": "b"}',
        b'{"gold_label": "neutral"}',
        b"{",
        b"[]",
    ]
    bad += [
        b'{"gold_label": "neutral", "sentence1": "a", "sentence2": null}',
        b"null",
        b'{"a": 1} {"a": 2}',
        b"\xff",
    ]
    return Sample([], units, rows, bad)


def _nli_txt(draw: random.Random) -> Sample:
    head = "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1\tsentence2\tpairID"
    units, rows = [], []
    for number in range(draw.randint(1, 6)):
        label, first, second = draw.choice((*NLI_LABELS, "-")), text(draw), text(draw)
        units.append("\t".join([label, "", "( a b )", first, second, str(number)]).encode())
        rows.append(None if label == "-" else (first, second, label))
    return Sample(
        [head.encode()], units, rows, [b"neutral\ta\tb", b"maybe\t\t\ta\tb\t1", b"neutral\t\t\ta\tb\t1\t2"]
    )


def _tree(draw: random.Random, depth: int) -> tuple[str, list[str], int]:
    level = draw.randrange(5)
    if depth == 0 or draw.random() < 0.3:
        leaf = word(draw, without="()\\")
        return f"({level} {leaf})", [leaf], level
    (left, first, _), (right, second, _) = _tree(draw, depth - 1), _tree(draw, depth - 1)
    return f"({level} {left} {right})", first + second, level


def _sst(draw: random.Random) -> Sample:
    trees = [_tree(draw, draw.randint(0, 4)) for _ in range(draw.randint(1, 6))]
    rows = [(tuple(words), FIVE_CLASSES[level]) for _, words, level in trees]
    bad = [b"(5 a)", b"(3 (2 a) (4 b)", b"(3 a))", b"(3 )", b"3 a", b"(3 a) b", b"()", b"(3 (2 a))) ("]
    return Sample([], [tree.encode() for tree, _, _ in trees], list(rows), bad)


def _frames(draw: random.Random, length: int) -> list[tuple[int, list[Span]]]:
    found = []
    for place in sorted(draw.sample(range(length), draw.randint(0, min(2, length)))):
        spans = [Span(place, place + 1, "V")]
        if place:
            spans.append(Span(draw.randrange(place), place, "ARG0"))
        if place + 1 < length:
            spans.append(Span(place + 1, draw.randint(place + 2, length), "ARG1"))
        found.append((place, spans))
    return found


def _tags(spans: list[Span], length: int) -> tuple[str, ...]:
    tags = ["O"] * length
    for span in spans:
        tags[span.start : span.end] = [f"B-{span.role}", *[f"I-{span.role}"] * (span.end - span.start - 1)]
    return tuple(tags)


def _roles(corpus: Corpus) -> Rows:
    return [
        (example.words[0], tuple((frame.predicate, frame.tags) for frame in example.target))  # type: ignore[union-attr]
        for example in corpus.examples
    ]


def _role_sample(draw: random.Random, plus: bool) -> Sample:
    units, rows = [], []
    for _ in range(draw.randint(1, 4)):
        words = [word(draw, without="#") for _ in range(draw.randint(1, 6))]
        frames = _frames(draw, len(words))
        senses = dict.fromkeys((place for place, _ in frames), "go.01")
        if plus:
            spans = {
                place: "|".join(f"{s.role}:{s.start + 1}-{s.end}" for s in found) for place, found in frames
            }
            lines = [
                [str(k + 1), w, *("_",) * 8, senses.get(k, "_"), "_", spans.get(k, "_")]
                for k, w in enumerate(words)
            ]
        else:
            columns = [brackets(found, len(words)) for _, found in frames]
            lines = [[w, senses.get(k, "-"), *(column[k] for column in columns)] for k, w in enumerate(words)]
        units.append("".join("\t".join(line) + "\n" for line in lines).encode())
        rows.append((tuple(words), tuple((place, _tags(found, len(words))) for place, found in frames)))
    bad = [b"a\tgo\t(V*)\t*\n", b"a\tgo\t(V*\n", b"a\tgo\t*)\n", b"a\n", b"a\t-\nb\n", b"a\tgo\tx\n"]
    if plus:
        begin = b"1\ta" + b"\t_" * 8
        bad = [
            begin + end
            for end in (b"\tgo\t_\tV:2-2\n", b"\tgo\t_\tV\n", b"\tgo\t_\tV:0-1\n", b"\n", b"\tgo\t_\t\xff\n")
        ]
        bad += [b"2" + begin[1:] + b"\t_\t_\t_\n", begin + b"\tgo\t_\tA:1-1|B\n"]
    return Sample([], units, rows, bad)


def _conllu(draw: random.Random) -> Sample:
    units, rows = [], []
    for _ in range(draw.randint(1, 4)):
        words = [word(draw) for _ in range(draw.randint(1, 6))]
        root = draw.randrange(len(words))
        heads = [0 if k == root else root + 1 for k in range(len(words))]
        lines = ["# text = x"] if draw.random() < 0.5 else []
        lines += [f"{k + 1}\t{w}\t_\t_\t_\t_\t{heads[k]}\tdep\t_\t_" for k, w in enumerate(words)]
        units.append(("\n".join(lines) + "\n").encode())
        rows.append((tuple(words), tuple(heads)))
    ends = ("5\tdep\t_\t_", "x\tdep\t_\t_", "1\tdep\t_\t_", "0\tdep\t_", "-1\tdep\t_\t_", "²\tdep\t_\t_")
    return Sample([], units, rows, [f"1\ta\t_\t_\t_\t_\t{end}\n".encode() for end in ends])


def _tagged(draw: random.Random) -> Sample:
    """Columns of words and tags in BIO, set apart by tabs or by a blank."""
    between = draw.choice("\t ")
    units, rows = [], []
    for _ in range(draw.randint(1, 4)):
        words = [word(draw) for _ in range(draw.randint(1, 6))]
        spans = [Span(k, k + 1, draw.choice("XY")) for k in range(len(words)) if draw.random() < 0.5]
        tags = tags_of(spans, len(words))
        lines = ["# sent_id = x"] if draw.random() < 0.5 else []
        lines += [between.join(cells) for cells in zip(words, tags, strict=True)]
        units.append(("\n".join(lines) + "\n").encode())
        rows.append((tuple(words), WordTags(tags)))
    wrong = (("a", "I-X"), ("a", "B-X", "O"), ("a",), ("a", "B-X\nb", "I-Y"), ("a", ""))
    return Sample([], units, rows, [(between.join(cells) + "\n").encode() for cells in wrong])


def _csv_cell(value: str, draw: random.Random, separator: str) -> str:
    if any(character in value for character in f'"{separator}\n\r') or draw.random() < 0.3:
        return '"' + value.replace('"', '""') + '"'
    return value


def _table(draw: random.Random, kind: str) -> Sample:
    rows, units = [], []
    for _ in range(draw.randint(1, 6)):
        said = text(draw)
        if kind in (".csv", ".jsonl", ".json", ".parquet") and draw.random() < 0.4:
            said += draw.choice([' "q" ', "\nnew", ", and", "\r\n", "\\", "\t"]) + "x"
        if kind == ".csv":
            said = said.replace("\r\n", "\n")  # a line end within quotes is read as a line feed
        rows.append((said, draw.choice(["yes", "no"])))
    head: list[bytes] = []
    if kind in (".csv", ".tsv"):
        separator = "," if kind == ".csv" else "\t"
        head = [separator.join(["id", "text", "label"]).encode()]
        for number, row in enumerate(rows):
            units.append(
                separator.join([str(number), *(_csv_cell(cell, draw, separator) for cell in row)]).encode()
            )
        bad = [
            separator.join(cells).encode()
            for cells in (["1", "a"], ["1", "a", "b", "c"], ["1", "a", ""], ['"a"b'])
        ]
        return Sample(head, units, list(rows), [*bad, separator.encode().join([b"1", b"\xff", b"yes"])])
    records = [{"id": number, "text": said, "label": label} for number, (said, label) in enumerate(rows)]
    ascii_only = draw.random() < 0.5
    if kind == ".jsonl":
        units = [json.dumps(record, ensure_ascii=ascii_only).encode() for record in records]
        bad = [
            b'{"text": "a"}',
            b'{"text": 1, "label": "yes"}',
            b"{",
            b"7",
            b'{"text": "a", "label": ["yes", "no"]}',
            b'{"text": "a", "label": [[0, 1, "yes"]]}',
            b'{"text": "a", "label": "yes", "label": "no"}',
            b'{"text": "a", "label": "n\\ud83d"}',
            b"\xff",
        ]
        return Sample([], units, list(rows), bad)
    if kind == ".json":
        whole = json.dumps(records, ensure_ascii=ascii_only, indent=draw.choice([None, 1])).encode()
        return Sample(
            [], [whole], list(rows), [whole + b"]", whole[:-1], b"[1]", whole + whole, b'[{"text": "a"}]']
        )
    import pyarrow
    from pyarrow import parquet

    made = io.BytesIO()
    codec = draw.choice(["none", "snappy", "zstd"])
    parquet.write_table(pyarrow.Table.from_pylist(records), made, compression=codec)
    return Sample([], [made.getvalue()], list(rows), [made.getvalue()[:-9], b"PAR1", b"PAR1" * 3])


def _weighted(draw: random.Random) -> Sample:
    """A table with a column of how much each example counts."""
    weights = [0.0, 1.0, 0.25, 7.0]
    rows = [(text(draw), draw.choice(["yes", "no"]), draw.choice(weights)) for _ in range(draw.randint(1, 6))]
    units = ["\t".join([said, label, f"{weight:g}"]).encode() for said, label, weight in rows]
    wrong = ("-1", "", "nan", "inf", "x", "1,5")
    return Sample([b"text\tlabel\tweight"], units, list(rows), [f"a\tyes\t{cell}".encode() for cell in wrong])


def _of_weighted(path: Path) -> Rows:
    corpus = read_table(path, text="text", label="label", labels=("yes", "no"), weight="weight")
    return [(*example.texts, example.target, example.weight) for example in corpus.examples]


def _beside(draw: random.Random) -> Sample:
    """A table with columns beside the text, of which any cell may be empty."""
    prices, shops = ("3.5", "-1e3", "", "NA", "007"), ("north", "", "n/a", "ß", "2024-03-01")
    rows = [
        (text(draw), draw.choice(["yes", "no"]), draw.choice(prices), draw.choice(shops))
        for _ in range(draw.randint(1, 6))
    ]
    units = ["\t".join(row).encode() for row in rows]
    bad = [b"a\tyes\t1", b"a\tyes\t1\tx\ty", b"a\tmaybe\t1\tx", b"a\tyes\t\xff\tx"]
    return Sample([b"text\tlabel\tprice\tshop"], units, list(rows), bad)


def _of_beside(path: Path) -> Rows:
    features = ("price", "shop")
    corpus = read_table(path, text="text", label="label", labels=("yes", "no"), features=features)
    return [
        (
            *each.texts,
            each.target,
            *("" if (each.cells or {})[name] is None else (each.cells or {})[name] for name in features),
        )
        for each in corpus.examples
    ]


def _of_no_class(path: Path) -> Rows:
    return _examples(read_unlabeled(path, ("text",)))


def _latin(draw: random.Random) -> Sample:
    rows = [(text(draw, _LATIN), draw.choice(["yes", "no"])) for _ in range(draw.randint(1, 6))]
    units = [f"{said}\t{label}".encode("latin-1") for said, label in rows]
    return Sample([b"text\tlabel"], units, list(rows), [b"a", b"a\tyes\tno", b"a\tmaybe"])


def _bare(draw: random.Random) -> Sample:
    """A table without a header."""
    rows = [(text(draw), draw.choice(["yes", "no"])) for _ in range(draw.randint(2, 6))]
    units = ["\t".join(row).encode() for row in rows]
    return Sample([], units, list(rows), [b"a\tyes\tno", b"a\tmaybe", b"\xff\tyes"])


def _wide(draw: random.Random) -> Sample:
    """A table as UTF-16 or UTF-32, which is tried as a whole; Excel may state the separator first."""
    rows = [(text(draw), draw.choice(["yes", "no"])) for _ in range(draw.randint(1, 6))]
    first = draw.choice(["", "sep=;\n"])
    lines = [first + "text;label", *(f"{said.replace(';', '')};{label}" for said, label in rows)]
    whole = "\n".join(lines).encode(draw.choice(["utf-16", "utf-32"]))
    expected: list[tuple[Any, ...] | None] = [(said.replace(";", ""), label) for said, label in rows]
    return Sample([], [whole], expected, [whole + b"\0", whole[:-1], whole[2:]])


def _several(draw: random.Random) -> Sample:
    """Several labels for a text, written as people and programs write lists of them."""
    units, rows = [], []
    for number in range(draw.randint(1, 6)):
        names = draw.sample(["yes", "no", "so so"], draw.randrange(4))
        said = text(draw)
        ways = [
            json.dumps(names),
            str(names),
            str(tuple(names)),
            " ".join(str(names).split(",")),
            ";".join(names),
        ]
        cell = draw.choice(ways if names else [*ways[:1], ""])
        units.append(f"{number}\t{said}\t{cell}".encode())
        rows.append((said, LabelSet(tuple(names))))
    bad = [f"1\ta\t{cell}".encode() for cell in ("[yes; no]", "1;0;1", "('yes'; no)", "{'yes': 3}")]
    return Sample([b"id\ttext\tlabel"], units, list(rows), [*bad[:3], b'1\ta\t{"yes": 3}'])


def _label_lines(draw: random.Random) -> Sample:
    """Lines as fastText reads them."""
    rows = [(text(draw), draw.choice(["yes", "no"])) for _ in range(draw.randint(1, 6))]
    units = [f"__label__{label} {said}".encode() for said, label in rows]
    return Sample(
        [], units, list(rows), [b"__label__yes __label__no a", b"__label__maybe a", b"__label__yes \xff"]
    )


def _tasks(draw: random.Random) -> Sample:
    """An export of Label Studio, which is tried as a whole."""
    records, rows = [], list[tuple[Any, ...] | None]()
    for number in range(draw.randint(1, 6)):
        said, label, canceled = text(draw), draw.choice(["yes", "no"]), number > 0 and draw.random() < 0.2
        value = {"from_name": "mood", "type": "choices", "value": {"choices": [label]}}
        annotation = {"id": number, "was_cancelled": canceled, "result": [value]}
        records.append({"id": number, "data": {"text": said}, "annotations": [annotation]})
        rows.append(None if canceled else (said, label))
    whole = json.dumps(records, indent=draw.choice([None, 2])).encode()
    twice = whole.replace(b'"data"', b'"id": 3, "data"', 1)
    return Sample([], [whole], rows, [whole[:-1], whole.replace(b'"text"', b'"txt"'), twice])


def _spans(draw: random.Random) -> Sample:
    """Texts with spans of characters, as doccano writes them."""
    units, rows = [], []
    for _ in range(draw.randint(1, 5)):
        words = [word(draw, ["a", "Zoo", "ß", "é"]) for _ in range(draw.randint(1, 6))]
        found = [Span(k, k + 1, draw.choice("XY")) for k in range(len(words)) if draw.random() < 0.5]
        starts = [sum(len(each) + 1 for each in words[:k]) for k in range(len(words))]
        label = [[starts[s.start], starts[s.start] + len(words[s.start]), s.role] for s in found]
        units.append(json.dumps({"text": " ".join(words), "label": label}).encode())
        rows.append((tuple(words), WordTags(tags_of(found, len(words)))))
    bad = [
        '{"text": "a"}',
        '{"text": "a", "label": [[0, 1]]}',
        '{"text": "a", "label": [["0", 1, "X"]]}',
        "[",
        '{"text": 1}',
    ]
    return Sample([], units, list(rows), [each.encode() for each in bad])


def _vectors(draw: random.Random) -> Sample:
    width = draw.randint(2, 5)
    rows = [
        (f"{word(draw)}{k}", tuple(draw.choice([0.5, -2.0, 1e-3]) for _ in range(width)))
        for k in range(draw.randint(1, 6))
    ]
    units = [" ".join([name, *map(str, numbers)]).encode() for name, numbers in rows]
    wrong = [
        ["1"] * (width + 1),
        ["1"] * (width - 1),
        ["nan"] * width,
        ["1e39"] * width,
        ["1", *["x"] * (width - 1)],
    ]
    return Sample(
        [],
        units,
        list(rows),
        [" ".join(["wrong", *numbers]).encode() for numbers in wrong[:4]] + [b"\xff" + b" x" * width],
    )


def _listed(draw: random.Random) -> tuple[list[str], Any]:
    names = [f"{word(draw, without=' ')}{k}" for k in range(draw.randint(1, 5))]
    return names, np.float32([[draw.choice([0.5, -2.0, 1e-3]) for _ in range(2)] for _ in names])


def _whole_file(names: Sequence[str], matrix: Any) -> list[tuple[Any, ...] | None]:
    """Return what a file of vectors gives that is tried as a whole: its words with their vectors."""
    return [(tuple(zip(names, (tuple(round(float(x), 6) for x in row) for row in matrix), strict=True)),)]


def _fasttext(draw: random.Random) -> Sample:
    names, matrix = _listed(draw)
    whole = fasttext_file(names, matrix, bucket=0, minn=0, maxn=0)
    bad = [whole[: len(whole) // 2], whole[:9], fasttext_file(names, matrix, bucket=3, minn=3, maxn=4)]
    bad += [fasttext_file(names, matrix * np.float32(np.inf), bucket=0, minn=0, maxn=0)]
    huge = 2**31 - 1
    bad += [
        fasttext_file(names, matrix, bucket=0, minn=0, maxn=0, **{name: huge}) for name in ("dim", "size")
    ]
    return Sample([], [whole], _whole_file(names, matrix), bad)


def _word2vec(draw: random.Random) -> Sample:
    names, matrix = _listed(draw)
    whole = word2vec_file(names, matrix, draw.choice([b"", b"\n"]))
    bad = [whole[:-3], whole + b"x 1", word2vec_file(names, matrix * np.float32(np.nan))]
    return Sample([], [whole], _whole_file(names, matrix), bad)


def _floret(draw: random.Random) -> Sample:
    _, matrix = _listed(draw)
    whole = floret_file(matrix, shortest=3, longest=4, hashes=draw.randint(1, 4), seed=7)
    rows = tuple(tuple(round(float(x), 6) for x in row) for row in matrix)
    ends = (b"7 1 2\n", b"0 1\n", b"0 1 nan\n", b"-1 1 2\n", b"a b c\n")
    return Sample([], [whole], [(rows,)], [*(whole + end for end in ends), whole[: whole.index(b"\n") + 1]])


def _of_floret(path: Path) -> Rows:
    speller = read_vectors(path).speller
    rows = getattr(speller, "rows", ())  # where the header was altered, it may be a file of another format
    return [(tuple(tuple(round(float(x), 6) for x in row) for row in rows),)]


def _model2vec(draw: random.Random) -> Sample:
    with tempfile.TemporaryDirectory() as folder:
        matrix = model2vec_folder(Path(folder) / "m")
        whole = (Path(folder) / "m" / "model.safetensors").read_bytes()
        tokenizer = (Path(folder) / "m" / "tokenizer.json").read_bytes()
    rows = _whole_file(["good", "film", "."], matrix[[2, 3, 5]])
    return Sample([], [whole], rows, [whole[:-4], whole[8:], whole + b"\0"], (("tokenizer.json", tokenizer),))


def _packed(draw: random.Random) -> Sample:
    names, matrix = _listed(draw)
    matrix = np.float32(np.rint(matrix * 2) / 2)  # multiples of the step come back exactly
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder) / "rows", names, matrix, 0.5)
        whole = (Path(folder) / "rows").read_bytes()
        write_rows(
            Path(folder) / "rows", [*names[1:], names[0], names[0]], np.repeat(matrix, 2, 0)[: len(names) + 1]
        )
        twice = (Path(folder) / "rows").read_bytes()
    return Sample([], [whole], _whole_file(names, matrix), [whole[:-1], whole[8:], whole + b"\0", twice])


def _lines(draw: random.Random) -> Sample:
    rows = [("" if draw.random() < 0.1 else text(draw), None) for _ in range(draw.randint(1, 6))]
    return Sample([], [said.encode() for said, _ in rows], list(rows), [b"caf\xe9", b"\xc3"])


def _no_class(draw: random.Random) -> Sample:
    """Texts that belong to no class, a line each."""
    rows = [(text(draw), None) for _ in range(draw.randint(1, 6))]
    return Sample([], [said.encode() for said, _ in rows], list(rows), [b"caf\xe9", b"\xc3"])


def _soft_labels(draw: random.Random) -> Sample:
    rows = [
        (text(draw), *draw.choice([(1.0, 0.0), (0.25, 0.75), (0.5, 0.5)])) for _ in range(draw.randint(1, 6))
    ]
    units = [_soft(said, {"yes": yes, "no": no}) for said, yes, no in rows]
    bad = [
        _soft("a", wrong)
        for wrong in ({"yes": 0.5}, {"yes": 2, "no": -1}, {"maybe": 1}, {"yes": "1"}, [1, 0], None)
    ]
    return Sample(
        [], units, list(rows), [*bad, b'{"text": "a"}', b'{"probabilities": {"yes": 1}}', b"[]", b"{"]
    )


def _soft(said: str, probabilities: object) -> bytes:
    return json.dumps({"text": said, "probabilities": probabilities}).encode()


def _of_soft_labels(path: Path) -> Rows:
    found = read_soft_labels(path, ("text",), ("yes", "no"))
    rows = zip(found.corpus.examples, found.probabilities.tolist(), strict=True)
    return [(*example.texts, *row) for example, row in rows]


def _pairs(draw: random.Random) -> Sample:
    rows = [(text(draw), text(draw), None) for _ in range(draw.randint(1, 6))]
    return Sample(
        [], [f"{a}\t{b}".encode() for a, b, _ in rows], list(rows), [b"alone", b"a\tb\tc", b"\xff\ta"]
    )


def _parallel(draw: random.Random) -> Sample:
    rows = [(text(draw), text(draw)) for _ in range(draw.randint(1, 6))]
    beside = "".join(f"{said}\n" for _, said in rows).encode()
    return Sample(
        [], [said.encode() for said, _ in rows], list(rows), [b"one more", b"\xff"], (("a.de", beside),)
    )


def _asked(path: Path, is_pair: bool) -> Rows:
    return _examples(gather(RequestOptions((), (None, None), path, FileReading(), is_pair)))


def _of_vectors(path: Path) -> Rows:
    found = read_vectors(path)
    return [
        (name, tuple(round(float(x), 6) for x in row))
        for name, row in zip(found.words, found.matrix, strict=True)
    ]


def _as_one(path: Path) -> Rows:
    return [(tuple(_of_vectors(path)),)]


def _of_table(path: Path) -> Rows:
    return _examples(read_table(path, text="text", label="label", labels=("yes", "no")))


FORMATS = {
    "trec": Format("a.label", _trec, lambda path: _examples(read_trec(path)), mark=False),
    "label text": Format("a.all", _label_text, lambda path: _examples(read_label_text(path))),
    "sick": Format("a.txt", _sick, lambda path: _examples(read_sick(path, split="TRAIN"))),
    "snli": Format("a.jsonl", lambda draw: _nli(draw, False), lambda path: _examples(read_snli(path))),
    "multinli": Format("a.jsonl", lambda draw: _nli(draw, True), lambda path: _examples(read_multinli(path))),
    "snli columns": Format("a.txt", _nli_txt, lambda path: _examples(read_snli(path))),
    "sst": Format("a.txt", _sst, lambda path: _worded(read_sst_trees(path, unescape=False))),
    "role columns": Format(
        "a.props",
        lambda draw: _role_sample(draw, False),
        lambda path: _roles(read_role_columns(path, layout="conll2005")),
        lines=False,
    ),
    "role spans": Format(
        "a.conllu",
        lambda draw: _role_sample(draw, True),
        lambda path: _roles(read_role_spans(path)),
        lines=False,
    ),
    "tags": Format("a.txt", _tagged, lambda path: _worded(read_tags(path)), lines=False),
    "conllu": Format(
        "a.conllu",
        _conllu,
        lambda path: [(parse.words, parse.heads) for parse in read_conllu(path)],
        lines=False,
    ),
    **{
        kind: Format(
            f"a{kind}",
            lambda draw, kind=kind: _table(draw, kind),
            _of_table,
            raw=kind in (".json", ".parquet"),
            packs=kind != ".parquet",
        )  # type: ignore[misc]
        for kind in (".csv", ".tsv", ".jsonl", ".json", ".parquet")
    },
    "columns beside": Format("a.tsv", _beside, _of_beside),
    "no class": Format("a.txt", _no_class, _of_no_class, blank=False),
    "weights": Format("a.tsv", _weighted, _of_weighted),
    "latin-1": Format(
        "a.tsv",
        _latin,
        lambda path: _examples(
            read_table(path, text="text", label="label", labels=("yes", "no"), encoding="latin-1")
        ),
        mark=False,
    ),
    "no header": Format(
        "a.tsv",
        _bare,
        lambda path: _examples(read_table(path, text="1", label="2", labels=("yes", "no"), header=False)),
    ),
    "utf-16": Format("a.csv", _wide, _of_table, raw=True),
    "several labels": Format(
        "a.tsv",
        _several,
        lambda path: _examples(read_table(path, text="text", label="label", label_separator=";")),
    ),
    "fasttext lines": Format("a.ft", _label_lines, _of_table),
    "label studio": Format("a.json", _tasks, _of_table, raw=True),
    "spans": Format("a.jsonl", _spans, lambda path: _worded(read_tags(path))),
    "word vectors": Format("a.txt", _vectors, _of_vectors),
    "fasttext": Format("a.txt", _fasttext, _as_one, raw=True),
    "word2vec": Format("a.txt", _word2vec, _as_one, raw=True),
    "floret": Format("a.txt", _floret, _of_floret, raw=True),
    "model2vec": Format(
        "model.safetensors", _model2vec, lambda path: _as_one(path.parent), raw=True, packs=False
    ),
    "packed": Format("a.safetensors", _packed, _as_one, raw=True, packs=False),
    "soft labels": Format("a.jsonl", _soft_labels, _of_soft_labels),
    "texts": Format("a.txt", _lines, lambda path: _asked(path, False), blank=False),
    "pairs": Format("a.txt", _pairs, lambda path: _asked(path, True), blank=False),
    "parallel": Format(
        "a.en", _parallel, lambda path: _examples(read_parallel(path, target="a.de")), blank=False
    ),
}
