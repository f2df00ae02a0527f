"""Collect the sentences that en-sentences learns from, in blocks.

    python packages/heedful-en/making/collect_sentences.py DATA OUT

DATA is the folder of data sets. OUT gets files of at most 4,096 sentences, those of the data sets and changed
copies of them, and collection.json with the number of each source and what was left out because a dev or test split has
it. Everything is in a fixed order, drawn with fixed seeds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

from heedful.text.text_files import find_file, open_bytes
from heedful.text.vectors import read_vectors
from sentence_changes import exchanged, joined, left_out, neighbors, phrase
from sentence_questions import about_words, questions_from
from sentence_sources import LICENSES, held_out, normal_form, sentences

BLOCK = 4096
SEED = 20


class Collection:
    """Distinct sentences that no dev or test split has."""

    def __init__(self, kept_out: dict[str, str]) -> None:
        self.kept_out = kept_out
        self.known: set[str] = set()
        self.texts: list[tuple[str, str]] = []
        self.left_out: Counter[str] = Counter()

    def add(self, source: str, text: str) -> bool:
        """Add a sentence that is new, and say whether it was."""
        key = normal_form(text)
        if key in self.kept_out:
            self.left_out[source] += 1
            return False
        if key in self.known or not key:
            return False
        self.known.add(key)
        self.texts.append((source, text))
        return True


def write_blocks(out: Path, texts: Sequence[str]) -> None:
    """Write texts in numbered blocks."""
    for number, start in enumerate(range(0, len(texts), BLOCK)):
        rows = "".join(f"{text}\n" for text in texts[start : start + BLOCK])
        (out / f"sentences-{number:04d}.txt").write_text(rows, encoding="utf-8")


def shuffled(texts: Iterable[tuple[str, str]]) -> list[str]:
    """Return the texts in an order drawn with the fixed seed."""
    rows = [text for _, text in texts]
    random.Random(SEED).shuffle(rows)
    return rows


def changed(collection: Collection, data: Path) -> list[str]:
    """Add changed copies of the collected sentences, and return the kinds of the changes."""
    drawn = random.Random(SEED)
    own = list(collection.texts)
    drawn.shuffle(own)
    scenes = [text for source, text in own if source in ("snli", "multinli", "ewt")]
    asked = [
        text for source, text in own if source in ("banking77", "clinc150", "snips") or text.endswith("?")
    ]
    vectors = read_vectors(data / "numberbatch" / "numberbatch-en-41k-300d.txt")
    near = neighbors(vectors.words, vectors.matrix)
    nouns, names, adjectives = _lists(data, vectors.words)
    kinds: dict[str, tuple[int, Iterator[str | None]]] = {
        "questions from statements": (
            80_000, (questions_from(text, drawn) for text in scenes)),
        "sentences about words": (60_000, about_words(nouns, names, adjectives, drawn)),
        "words": (25_000, iter(drawn.sample([word for word in vectors.words if word.isalpha()], 30_000))),
        "phrases": (35_000, (phrase(drawn.choice(scenes), drawn) for _ in count())),
        "words exchanged": (
            60_000,
            (exchanged(drawn.choice(drawn.choice((scenes, asked))), near, drawn) for _ in count())),
        "words left out": (
            20_000, (left_out(drawn.choice(drawn.choice((scenes, asked))), drawn) for _ in count())),
        "sentences joined": (
            15_000, (joined(drawn.choice(scenes), drawn.choice(scenes), drawn) for _ in count())),
    }  # fmt: skip
    for kind, (wanted, texts) in kinds.items():
        made = 0
        while made < wanted and (text := next(texts, "")) != "":
            made += bool(text) and collection.add(kind, text or "")
    return list(kinds)


def _lists(data: Path, words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return nouns, names and adjectives: those of EWT's training split, and for nouns and adjectives further words."""
    found: dict[str, Counter[str]] = {"NOUN": Counter(), "PROPN": Counter(), "ADJ": Counter()}
    with open_bytes(find_file(data / "ud_english_ewt" / "en_ewt-ud-train.conllu")) as stream:
        for row in stream.read().decode("utf-8").split("\n"):
            fields = row.split("\t")
            if len(fields) == 10 and fields[3] in found and re.fullmatch("[A-Za-z-]{3,}", fields[1]):
                name = fields[1] if fields[3] == "PROPN" else fields[2].lower()
                found[fields[3]][name] += 1
    nouns, names, adjectives = (sorted(found[tag]) for tag in ("NOUN", "PROPN", "ADJ"))
    known = {*nouns, *adjectives}
    plain = [word for word in words if word.isalpha() and len(word) > 3 and word not in known]
    ends = ("ous", "ful", "less", "ive", "able", "ible", "ish", "ical", "ent", "ant", "ic")
    nouns += [word for word in plain if not word.endswith((*ends, "ly", "ed"))]
    adjectives += [word for word in plain if word.endswith(ends)]
    return nouns, [name for name in names if not name.isupper() or len(name) < 5], adjectives


def main() -> None:
    """Read the command line, write the blocks and the counts."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("data", type=Path)
    options.add_argument("out", type=Path)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    collection = Collection(held_out(given.data))
    for source, text in sentences(given.data):
        collection.add(source, text)
    made = changed(collection, given.data)
    write_blocks(given.out, shuffled(collection.texts))
    counts = Counter(source for source, _ in collection.texts)
    record = {
        "sentences": len(collection.texts),
        "questions": sum(text.endswith("?") for _, text in collection.texts),
        "of the data sets": {source: counts[source] for source in LICENSES},
        "changed copies": {kind: counts[kind] for kind in made},
        "left out, because a dev or test split has the text": dict(collection.left_out),
        "texts of dev and test splits": len(collection.kept_out),
    }
    (given.out / "collection.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
