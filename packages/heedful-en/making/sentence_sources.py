"""The sentences that en-sentences learns from, and the texts of dev and test splits that it must never see.

Only training splits of sets with a license that allows it are read: SNLI, MultiNLI, EWT, Banking77, CLINC150 and SNIPS.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from heedful.text.text_files import find_file, open_bytes

LONGEST = 24
"""Words of the longest sentence; a longer one is left out."""
LICENSES = {
    "snli": "CC BY-SA 4.0",
    "multinli": "OANC and others",
    "ewt": "CC BY-SA 4.0",
    "banking77": "CC BY 4.0",
    "clinc150": "CC BY 3.0",
    "snips": "CC0 1.0",
}
HELD_OUT = (
    "snli/snli_1.0_dev.jsonl",
    "snli/snli_1.0_test.jsonl",
    "multinli/multinli_1.0_dev_matched.jsonl",
    "multinli/multinli_1.0_dev_mismatched_one_annotator.jsonl",
    "sick/SICK.txt",
    *(f"nli_extra/cad_nli/{kind}/{part}.tsv" for kind in ("original", "revised_premise", "revised_hypothesis")
      for part in ("dev", "test")),
    *(f"nli_extra/{name}" for name in ("med/MED.tsv", "monli/pmonli.jsonl", "monli/nmonli_test.jsonl")),
    *(f"nli_extra/{name}" for name in ("rte/dev.csv", "scitail/test.csv")),
    *(f"sst/trees/{part}.txt" for part in ("dev", "test")),
    "trec/TREC_10.label",
    "cr/custrev.all",
    "mpqa/mpqa.all",
    "subj/subj.all",
    *(f"ud_english_ewt/en_ewt-ud-{part}.conllu" for part in ("dev", "test")),
    *(f"multi30k/raw/{part}.en" for part in
      ("val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr")),
    "banking77/test.csv",
    "clinc150/data_full.json",
    *(f"snips/validate_{name}.json" for name in
      ("AddToPlaylist", "BookRestaurant", "GetWeather", "PlayMusic", "RateBook", "SearchCreativeWork",
       "SearchScreeningEvent")),
    *(f"stsb/stsb-en-{part}.csv" for part in ("dev", "test")),
    "wnut17/emerging.dev.conll",
    "wnut17/emerging.test.annotated",
    *(f"tweet_eval/{name}/{part}_text.txt" for name in ("emotion", "irony") for part in ("val", "test")),
    "sms_spam/sms.tsv",
)  # fmt: skip
"""Every file with a dev or test split, and the sets that have no fixed test split, whole."""
_TOKENIZED = (
    (re.compile(r" (n't|'\w+|[.,;:!?%)\]])"), r"\1"),
    (re.compile(r"([(\[$]) "), r"\1"),
)


def normal_form(text: str) -> str:
    """Return the letters and digits of a text in lower case, by which texts are compared."""
    return " ".join(re.findall(r"\w+", text.lower()))


def sentences(data: Path) -> Iterator[tuple[str, str]]:
    """Yield each source and sentence of the training splits, in a fixed order, repeats included."""
    for source, read in _READERS.items():
        for text in read(data):
            clean = " ".join(text.split())
            if clean and len(clean.split()) <= LONGEST and re.search(r"[A-Za-z]{2}", clean):
                yield source, clean


def held_out(data: Path) -> dict[str, str]:
    """Return the normal form of each text of a dev or test split, with the file that has it first."""
    found: dict[str, str] = {}
    for name in HELD_OUT:
        for text in _texts_of(data, name):
            found.setdefault(normal_form(text), name)
    found.pop("", None)
    return found


def _lines(data: Path, name: str) -> list[str]:
    with open_bytes(find_file(data / name)) as stream:
        raw = stream.read()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.replace("\r\n", "\n").split("\n")


def _texts_of(data: Path, name: str) -> Iterator[str]:
    """Yield what may be a text in a file: more than the texts does no harm, since it only keeps sentences out."""
    rows = _lines(data, name)
    if name == "clinc150/data_full.json":
        splits = json.loads("\n".join(rows))
        for part in ("val", "test", "oos_val", "oos_test"):
            yield from (text for text, _ in splits[part])
    elif name.startswith("snips/"):
        yield from _snips_texts("\n".join(rows))
    elif name.endswith(".jsonl"):
        for row in rows:
            record = json.loads(row or "{}")
            yield from (record.get(key, "") for key in ("sentence1", "sentence2"))
    elif name.endswith(".csv"):
        for cells in csv.reader(rows):
            yield from cells
    elif name.endswith((".tsv", ".txt")) and not name.startswith("sst/"):
        for row in rows:
            yield from row.split("\t")
    elif name.startswith("sst/"):
        yield from (" ".join(re.findall(r"([^\s()]+)\)", row)) for row in rows)
    elif name.startswith("wnut17/"):
        for block in "\n".join(row.rstrip() for row in rows).split("\n\n"):
            yield " ".join(row.split("\t")[0] for row in block.splitlines())
    elif name.endswith(".conllu"):
        yield from (row.partition(" = ")[2] for row in rows if row.startswith("# text = "))
    elif name.endswith((".label", ".all")):
        yield from (row.partition(" ")[2] for row in rows)
    else:
        yield from rows


def _pairs(name: str) -> Callable[[Path], Iterator[str]]:
    def read(data: Path) -> Iterator[str]:
        for row in filter(None, _lines(data, name)):
            record = json.loads(row)
            for key in ("sentence1", "sentence2"):
                yield _joined(record[key]) if record.get("tokenised") else record[key]

    return read


def _joined(text: str) -> str:
    """Return tokenized text with the usual spaces."""
    for pattern, put in _TOKENIZED:
        text = pattern.sub(put, text)
    return text


def _ewt(data: Path) -> Iterator[str]:
    for row in _lines(data, "ud_english_ewt/en_ewt-ud-train.conllu"):
        if row.startswith("# text = "):
            yield row.partition(" = ")[2]


def _banking(data: Path) -> Iterator[str]:
    rows = csv.reader(_lines(data, "banking77/train.csv")[1:])
    yield from (cells[0] for cells in rows if cells)


def _clinc(data: Path) -> Iterator[str]:
    splits = json.loads("\n".join(_lines(data, "clinc150/data_full.json")))
    for part in ("train", "oos_train"):
        yield from (text for text, _ in splits[part])


def _snips(data: Path) -> Iterator[str]:
    for name in HELD_OUT:
        if name.startswith("snips/"):
            file = name.replace("validate_", "train_").replace(".json", "_full.json")
            yield from _snips_texts("\n".join(_lines(data, file)))


def _snips_texts(document: str) -> Iterator[str]:
    content: dict[str, list[dict[str, Any]]] = json.loads(document)
    for rows in content.values():
        yield from ("".join(piece["text"] for piece in row["data"]) for row in rows)


_READERS: dict[str, Callable[[Path], Iterator[str]]] = {
    "snli": _pairs("snli/snli_1.0_train_part.jsonl"),
    "multinli": _pairs("multinli/multinli_1.0_train_part.jsonl"),
    "ewt": _ewt,
    "banking77": _banking,
    "clinc150": _clinc,
    "snips": _snips,
}
