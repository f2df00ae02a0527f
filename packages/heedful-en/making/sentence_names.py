"""Changed copies of sentences with names and numbers that no vocabulary has, so that their spelling must be read.

    python packages/heedful-en/making/sentence_names.py DATA OUT MORE

DATA is the folder of data sets, OUT what `collect_sentences.py` wrote. MORE gets blocks of further sentences, none of
which OUT or a dev or test split has: with names, with other numbers, and the single words of Numberbatch that are
missing. Everything is drawn with fixed seeds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from collect_sentences import Collection, lists_of_words, write_blocks
from heedful.text.vectors import read_vectors
from sentence_sources import held_out, normal_form, sentences

SEED, LONGEST, DRAWN = 21, 26, 400_000
WANTED = {"names": 40_000, "numbers": 16_000}

_SOMEBODY = re.compile(
    r"\b(An?|The|One|an?|the|one) (?:(?:young|old|older|little|small|tall) )?"
    r"(man|woman|boy|girl|guy|lady|person|child|kid|player|worker|team|company|city|town|place)\b"
)
_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_COUNT = re.compile(
    r"\b(\d[\d,.:]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|several|some|many)\b(?! of)",
    re.IGNORECASE,
)
_SAID = (
    "{0} said that {1}",
    "{0} says {1}",
    "According to {0}, {1}",
    "{0} told {2} that {1}",
    "{2} asked {0} if {1}",
)


def invented(names: Sequence[str], drawn: random.Random) -> str:
    """Return a name, one of three times as it is, else the beginning of one and the end of another."""
    first = drawn.choice(names)
    if drawn.random() < 1 / 3:
        return first
    second = drawn.choice(names)
    made = (
        first[: drawn.randint(2, max(2, len(first) - 1))]
        + second[drawn.randint(1, max(1, len(second) - 2)) :].lower()
    )
    return made if 4 <= len(made) <= 12 else first


def renamed(text: str, names: Sequence[str], drawn: random.Random) -> str | None:
    """Put names where a text speaks of somebody or has a name, or in front of it; None where that makes no sentence."""
    name = invented(names, drawn)
    if drawn.random() < 1 / 3:
        name = f"{name} {invented(names, drawn)}"
    places = [*_SOMEBODY.finditer(text), *_CAPITAL.finditer(text)]
    if places and drawn.random() < 0.7:
        place = drawn.choice(places)
        return text[: place.start()] + name + text[place.end() :]
    if len(text.split()) > 18 or text.endswith("?") or not text[1:2].islower():
        return None
    return drawn.choice(_SAID).format(name, text[0].lower() + text[1:], invented(names, drawn))


def number(drawn: random.Random) -> str:
    """Return a number as texts write them."""
    big = drawn.randint(1, 999)
    return drawn.choice(
        (
            str(drawn.randint(2, 99)),
            str(big),
            f"{big},{drawn.randint(0, 999):03d}",
            f"{drawn.randint(0, 99)}.{drawn.randint(0, 99):02d}",
            f"{drawn.randint(0, 99)}.{drawn.randint(1, 9)}",
            str(drawn.randint(1900, 2030)),
            f"{drawn.randint(1, 12)}:{drawn.randint(0, 59):02d}",
        )
    )


def renumbered(text: str, drawn: random.Random) -> str | None:
    """Replace every count and number of a text by another number; None where it has none."""
    changed, count = _COUNT.subn(lambda _: number(drawn), text)
    return changed if count else None


def collect(data: Path, out: Path) -> Collection:
    """Collect the further sentences."""
    collection = Collection(held_out(data))
    for block in sorted(out.glob("sentences-*.txt")):
        collection.known.update(map(normal_form, block.read_text(encoding="utf-8").split("\n")[:-1]))
    own: dict[str, tuple[str, str]] = {}
    for source, text in sentences(data):
        if normal_form(text) not in collection.kept_out:
            own.setdefault(normal_form(text), (source, text))
    rows = list(own.values())
    random.Random(SEED).shuffle(rows)
    drawn = random.Random(SEED)
    words = read_vectors(data / "numberbatch" / "numberbatch-en-41k-300d.txt").words
    names = [name for name in lists_of_words(data, words)[1] if name[:1].isupper()]
    scenes = [text for source, text in rows if source in ("snli", "multinli", "ewt")]
    kinds: dict[str, Iterable[str | None]] = {
        "names": (renamed(drawn.choice(scenes), names, drawn) for _ in range(DRAWN)),
        "numbers": (renumbered(text, drawn) for text in scenes * 2),
        "words": (word for word in words if word.isalpha()),
    }
    for kind, texts in kinds.items():
        made, wanted = 0, WANTED.get(kind, len(words))
        for text in texts:
            if made == wanted:
                break
            made += bool(text) and len((text or "").split()) <= LONGEST and collection.add(kind, text or "")
    return collection


def main() -> None:
    """Read the command line, write the blocks and the counts."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("data", "out", "more"):
        options.add_argument(name, type=Path)
    given = options.parse_args()
    given.more.mkdir(parents=True, exist_ok=True)
    collection = collect(given.data, given.out)
    texts = [text for _, text in collection.texts]
    random.Random(SEED - 1).shuffle(texts)
    write_blocks(given.more, texts)
    record = {
        "sentences": len(texts),
        "questions": sum(text.endswith("?") for text in texts),
        "changed copies": dict(Counter(kind for kind, _ in collection.texts)),
        "left out, because a dev or test split has the text": dict(collection.left_out),
    }
    (given.more / "collection.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
