"""Measure few labels: the default model against the simple models that a reader would name, on the same rows.

    python -m heedful_lab.studies.few_labels --data DIR --out FILE --labels 50,100 --draws 10 [--encoder FOLDER]

Every line of the output is one cell: a data set, a number of labels and a draw, with the accuracy (macro-F1 for tweets
and spam) of every system on the test texts, and the processor time of ours. Cells that are there are not measured
again, so that the same command goes on where it was interrupted, each number of labels for all draws before the next;
``--table`` prints the means of what is there. ``all`` as a number of labels is every training row. Texts that ours
alone or the other alone answers rightly are counted, for a test on one draw. Draws are those of
``random.Random(draw)`` from the training texts; of Banking77 the same number a class, 5 or more. CR, MPQA,
SUBJ and spam have no test part: a tenth, drawn by ``random.Random(0)``, is it; with ``--cuts`` another tenth for each
draw, which says whether a difference is one of the texts of the test part. ``--kind`` changes the texts, and with them
what kind of data it is: `KINDS` says how.
"""

from __future__ import annotations

import argparse
import codecs
import csv
import json
import lzma
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from heedful.baselines.splits import Features

Rows = tuple[list[str], list[str]]
VECTORS: dict[str, NDArray[np.float32]] = {}
"""Of the pretrained encoder, by text."""
F1 = ("emotion", "irony", "spam")
SETS = ("trec", "cr", "mpqa", "subj", "sst-2", "banking77", *F1)
NOTICE = (
    "This message and all that is attached to it are confidential , and only the person to whom it was sent may read "
    "it . If it has come to you by mistake , tell the sender and delete it ; you may neither copy it nor pass it on . "
)
KINDS = ("letters", "notice", "long notice", "copies", "wrong labels")
"""What texts may be changed to; see `of_kind`."""
WRONG = 0.15
"""Share of the training texts that have another label than theirs."""
COPIES = 5
"""Changed copies of each text, the text itself among them."""
EVERY_LABEL = 1_000_000
"""What ``all`` stands for: more rows than any set has."""


def lines(path: Path) -> list[str]:
    """Return the lines of a compressed file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def known(name: str, split: str, data: Path) -> Rows:
    """Read a data set of the catalog; ready-made words are joined by blanks."""
    from heedful.data import catalog

    examples = catalog.load(name, split, data).examples
    texts = [" ".join(e.words[0]) if e.words and e.words[0] else e.texts[0] for e in examples]
    return texts, [str(e.target) for e in examples]


def cut(rows: Rows, number: int = 0) -> tuple[Rows, Rows]:
    """Take a tenth as the test part, drawn by a number."""
    order = list(range(len(rows[0])))
    random.Random(number).shuffle(order)
    tenth = len(order) // 10
    picked = [tuple([column[k] for k in part] for column in rows) for part in (order[tenth:], order[:tenth])]
    return picked[0], picked[1]  # type: ignore[return-value]


def load(name: str, data: Path, number: int = 0) -> tuple[Rows, Rows]:
    """Return the training texts and the test texts of a set, with their labels; the number cuts off a test part."""
    if name in ("trec", "sst-2", "clinc150"):
        return known(name, "train", data), known(name, "test", data)
    if name in ("cr", "mpqa", "subj"):
        return cut(known(name, "all", data), number)
    if name == "spam":
        pairs = [line.split("\t", 1) for line in lines(data / "sms_spam/sms.tsv.xz") if "\t" in line]
        return cut(([text for _, text in pairs], [label for label, _ in pairs]), number)
    found = []
    for split in ("train", "test"):
        if name == "banking77":
            rows = list(csv.DictReader(lines(data / f"banking77/{split}.csv.xz")))
            found.append(([row["text"] for row in rows], [row["category"] for row in rows]))
        else:
            stem = data / f"tweet_eval/{name}"
            found.append(tuple(lines(stem / f"{split}_{kind}.txt.xz") for kind in ("text", "labels")))  # type: ignore[arg-type]
    return found[0], found[1]


def held_back(rows: Rows) -> tuple[Rows, Rows]:
    """Let 1,000 training texts, drawn by ``random.Random(12345)``, stand for the test part, to choose by."""
    order = list(range(len(rows[0])))
    random.Random(12345).shuffle(order)
    picked = [tuple([column[k] for k in part] for column in rows) for part in (order[1_000:], order[:1_000])]
    return picked[0], picked[1]  # type: ignore[return-value]


def draw(labels: list[str], count: int, number: int, name: str) -> list[int]:
    """Draw training rows; at least two classes are among them."""
    order = list(range(len(labels)))
    dice = random.Random(number)
    dice.shuffle(order)
    if name != "banking77":
        while len({labels[k] for k in order[:count]}) < 2:
            dice.shuffle(order)
        return order[:count]
    each, taken, kept = max(5, count // 77), defaultdict[str, int](int), list[int]()
    for k in order:
        if taken[labels[k]] < each:
            taken[labels[k]] += 1
            kept.append(k)
    return kept


def of_kind(kind: str, rows: Rows, number: int, *, training: bool) -> Rows:
    """Return texts of another kind, with their labels.

    Args:
        kind: "letters": each Latin letter is another one, so that no word is known; "notice": the same notice stands
            before each text, "long notice": so often that 400 words hold nothing else; "copies": of a fifth of the
            training texts there are `COPIES`, in each of which but the first one word is exchanged; "wrong labels":
            a share `WRONG` of the training texts has a label of another class.
        rows: the texts, and their labels.
        number: draws the changes.
        training: whether they are the training texts.

    Returns:
        The texts and their labels.
    """
    texts, labels = rows
    if kind == "letters":
        return [codecs.encode(text, "rot13") for text in texts], labels
    if kind in ("notice", "long notice"):
        return [NOTICE * (1 if kind == "notice" else 10) + text for text in texts], labels
    if not training:
        return rows
    if kind == "wrong labels":
        return texts, mislabeled(labels, number)
    dice, words = random.Random(number), [word for text in texts for word in text.split()]
    found: Rows = ([], [])
    for text, label in list(zip(texts, labels, strict=True))[: len(texts) // COPIES]:
        for copy in range(COPIES):
            own = text.split()
            if copy and len(own) > 1:
                own[dice.randrange(len(own))] = dice.choice(words)
            found[0].append(" ".join(own))
            found[1].append(label)
    return found


def mislabeled(labels: list[str], number: int) -> list[str]:
    """Return the labels, of which a share is that of another class, each of them as often."""
    dice, classes = random.Random(number), sorted(set(labels))
    wrong = set(dice.sample(range(len(labels)), round(WRONG * len(labels))))
    return [
        dice.choice([c for c in classes if c != label]) if k in wrong else label
        for k, label in enumerate(labels)
    ]


def score(name: str, gold: list[str], answered: list[str]) -> float:
    """Return 100 times the accuracy, or the macro-F1 where the classes are uneven."""
    from sklearn.metrics import accuracy_score, f1_score

    if name in F1:
        return 100 * float(f1_score(gold, answered, average="macro", zero_division=0.0))
    return 100 * float(accuracy_score(gold, answered))


def remembering(folder: Path) -> Callable[[], Features]:
    """Return what makes the features of a pretrained encoder, which reads each text once for all cells."""
    from heedful.baselines.rivals import FrozenEncoder

    class Remembering(FrozenEncoder):
        def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
            new = [text for text in dict.fromkeys(texts) if text not in VECTORS]
            if new:
                VECTORS.update(zip(new, super()._vectors(new), strict=True))
            return np.stack([VECTORS[text] for text in texts])

    return lambda: Remembering(folder)


def measure(
    name: str,
    count: int,
    number: int,
    data: Path,
    encoder: Path | None,
    *,
    dev: bool = False,
    alone: bool = False,
    cuts: bool = False,
    kind: str = "",
    settings: Sequence[str] = (),
) -> dict[str, object]:
    """Train every system on one draw, or ours alone; for ``dev`` the test part is not read."""
    from heedful import TextClassifier
    from heedful.baselines.rivals import rivals
    from heedful.baselines.splits import Split, Splits
    from heedful.run.recipe_files import load_config
    from heedful.tasks.prepared import Protocol

    training, test = load(name, data, number if cuts else 0)
    (texts, labels), (tested, gold) = held_back(training) if dev else (training, test)
    rows = draw(labels, count, number, name)
    own, classes = [texts[k] for k in rows], [labels[k] for k in rows]
    if kind:
        own, classes = of_kind(kind, (own, classes), number, training=True)
        tested, gold = of_kind(kind, (tested, gold), number, training=False)
    started = time.process_time()
    model = TextClassifier(config=load_config("my-texts", settings)).fit(own, classes, baseline=False)
    seconds = time.process_time() - started
    ours = list(map(str, model.predict(tested)))
    found, against = {"Heedful": score(name, gold, ours)}, dict[str, tuple[int, int]]()
    names = tuple(sorted(set(classes)))
    numbers = np.array([names.index(each) for each in classes], np.int64)
    train = Split([(text,) for text in own], numbers)
    splits = Splits("text", names, train, None, None, Protocol("python", "folds"), number)
    encoders = () if encoder is None else (encoder,)
    for rival in () if alone else rivals("text", train.texts, encoders):
        if encoder is not None and "frozen" in rival.name:
            rival = replace(rival, features=remembering(encoder))
        outputs = rival.train(splits).outputs([(text,) for text in tested])
        theirs = [names[k] for k in outputs.argmax(axis=1)]
        found[rival.name] = score(name, gold, theirs)
        right = list(zip([a == g for a, g in zip(ours, gold, strict=True)],
                         [b == g for b, g in zip(theirs, gold, strict=True)], strict=True))  # fmt: skip
        against[rival.name] = right.count((True, False)), right.count((False, True))
    return {
        "set": name, "labels": count, "draw": number, "kind": kind, "rows": len(own), "scores": found,
        "seconds": seconds, "only_one_right": against,
        "held_out": float(model.result_.dev.metrics["accuracy"]), "parts": model.result_.parts,
        "chance": score(name, gold, [max(set(classes), key=classes.count)] * len(gold)),
    }  # fmt: skip


def kept(path: Path) -> list[dict[str, object]]:
    """Return the cells that are there."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(cells: list[dict[str, object]]) -> Iterator[str]:
    """Print the mean of each system, how far ours is ahead of the best other one, and what that comes to in all.

    Draws are paired. The best other system is the one with the best mean in a cell; it is chosen on the same draws, so
    that it looks a little better than it is.
    """
    groups: dict[tuple[int, str], list[dict[str, float]]] = defaultdict(list)
    for cell in cells:
        groups[cell["labels"], cell["set"]].append(cell["scores"])  # type: ignore[index,arg-type]
    ahead: dict[str, list[float]] = defaultdict(list)
    for (count, name), scores in sorted(groups.items()):
        means = {system: float(np.mean([each[system] for each in scores])) for system in scores[0]}
        row = "  ".join(f"{system} {mean:.1f}" for system, mean in means.items())
        if len(means) == 1:
            yield f"{name} {count} ({len(scores)} draws): {row}"
            continue
        best = max((system for system in means if system != "Heedful"), key=means.__getitem__)
        gap, spread = paired(scores, best)
        ahead[name].append(gap)
        sign = " significantly behind" if gap + spread < 0 else ""
        yield f"{name} {count} ({len(scores)} draws): {gap:+.1f} ± {spread:.1f} to {best}{sign} | {row}"
    for count in sorted({count for count, _ in groups}):
        names = [name for name in SETS if (count, name) in groups]
        for kind, part in (("first five", names[:5]), ("all sets", names)):
            draws = [groups[count, name] for name in part]
            row = "  ".join(
                f"{system} {np.mean([np.mean([each[system] for each in scores]) for scores in draws]):.2f}"
                for system in draws[0][0]
            )
            yield f"{count} labels, mean of {kind}: {row}"
    for name, gaps in sorted(ahead.items()):
        yield f"{name}, mean over {len(gaps)} numbers of labels: {np.mean(gaps):+.2f} to the best other system"
    below = [cell for cell in cells if cell["scores"]["Heedful"] <= cell["chance"]]  # type: ignore[index]
    yield f"at chance or below: {len(below)} of {len(cells)} runs"


def paired(scores: list[dict[str, float]], other: str) -> tuple[float, float]:
    """Return how far ours is ahead of another system on the same draws, and half of the 95 % interval (Student)."""
    from scipy.stats import t

    gaps = np.array([each["Heedful"] - each[other] for each in scores])
    if len(gaps) < 2:
        return float(gaps.mean()), float("nan")
    error = gaps.std(ddof=1) / len(gaps) ** 0.5
    return float(gaps.mean()), float(error * t.ppf(0.975, len(gaps) - 1))


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--out", type=Path, required=True, help="file of the cells, a line each")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--labels", default="50,100,200,400")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--encoder", type=Path, help="folder of a pretrained encoder, tried frozen")
    parser.add_argument("--dev", action="store_true", help="judge on 1,000 training texts; for choosing")
    parser.add_argument("--alone", action="store_true", help="train no other system")
    parser.add_argument("--cuts", action="store_true", help="cut off another test part for each draw")
    parser.add_argument("--kind", default="", choices=KINDS, help="change the texts")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of ours")
    parser.add_argument("--table", action="store_true", help="only print the means of what is there")
    asked = parser.parse_args()
    done = {(cell["set"], cell["labels"], cell["draw"]) for cell in kept(asked.out)}
    sizes = [EVERY_LABEL if each == "all" else int(each) for each in asked.labels.split(",")]
    for count in () if asked.table else sizes:
        for number in range(asked.draws):
            for name in asked.sets.split(","):
                if (name, count, number) in done:
                    continue
                where = asked.data, asked.encoder
                how = {"dev": asked.dev, "alone": asked.alone, "cuts": asked.cuts, "kind": asked.kind}
                cell = measure(name, count, number, *where, **how, settings=asked.set)
                with asked.out.open("a") as file:
                    file.write(json.dumps(cell) + "\n")
    print("\n".join(table(kept(asked.out))))


if __name__ == "__main__":
    main()
