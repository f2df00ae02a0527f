"""Write English sentences of many sources, without labels, from which a student of another source can learn.

    python -m heedful_lab.studies.general_sentences --data DIR --without cr --out sentences.txt
    python -m heedful_lab.studies.general_sentences --data DIR --without trec --questions --out questions.txt

They are texts of 3 to 60 words of the training parts of the data sets in `SETS`, at most `--most` of each, drawn with
seed 0, each text once, one a line, in random order. ``--without`` leaves a data set out, the one that the student is
tested on; ``--questions`` writes those alone that end in a question mark or begin with a word that asks.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

from heedful.data import catalog

SETS = {
    "sst-5": "train",
    "subj": "all",
    "mpqa": "all",
    "cr": "all",
    "trec": "train",
    "multinli": "train-part",
    "snli": "train-part",
    "stsb": "train",
    "ewt-upos": "train",
    "banking77": "train",
    "clinc150": "train",
    "snips": "train",
    "sms-spam": "all",
    "tweets-emotion": "train",
    "tweets-irony": "train",
}
SHORTEST, LONGEST = 3, 60
_ASKS = re.compile(
    r"(what|who|whom|whose|when|where|how|which|why|name|(in|on|at|to|of) what)\b", re.IGNORECASE
)


def sentences(name: str, root: Path, questions: bool) -> Iterator[str]:
    """Yield the texts of a data set that are neither too short nor too long."""
    for example in catalog.load(name, SETS[name], root).examples:
        for given in example.texts:
            text = " ".join(given.split())
            fits = SHORTEST <= len(text.split()) <= LONGEST
            if fits and (not questions or text.endswith("?") or _ASKS.match(text)):
                yield text


def drawn(names: list[str], root: Path, most: int, questions: bool) -> list[str]:
    """Return distinct texts of the data sets, at most so many of each, in random order."""
    found = list[str]()
    for name in names:
        own = list(dict.fromkeys(sentences(name, root, questions)))
        found += own if len(own) <= most else random.Random(0).sample(own, most)
    found = list(dict.fromkeys(found))
    random.Random(0).shuffle(found)
    return found


def main() -> None:
    """Write the file, and print how many texts it has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("--without", choices=tuple(SETS), action="append", default=[])
    parser.add_argument("--most", type=int, default=12_000, help="texts of each data set")
    parser.add_argument("--questions", action="store_true", help="only what asks")
    given = parser.parse_args()
    found = drawn(
        [name for name in SETS if name not in given.without], given.data, given.most, given.questions
    )
    given.out.write_text("\n".join(found) + "\n", encoding="utf-8")
    print(f"{len(found):,} texts: {given.out}")


if __name__ == "__main__":
    main()
