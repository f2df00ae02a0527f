"""What columns beside the text are worth, what noise in them costs, and whether a planted cause is found.

    python -m heedful_lab.studies.text_and_columns --data DIR [--parts planted noise ...] [--rows 600] --out FILE

planted: the label is drawn from log-odds that the label of a real text (subj), a number and a shop add up to, so that
what the columns are worth is known; the file has it beside what the model makes of it. noise: real texts and labels
with five columns of noise (two numbers, two categories, a date), beside the text alone. genre, origin and document:
columns that data sets have, in which no label hides: the genre of MultiNLI (rows of one source alone, since others
were gathered by their label), the origin of both sentences of SICK, and of sentences of UD EWT the type of their
document, with the part of speech of the root of the tree as the class. Beside them stands a stack: out-of-fold
probabilities of TF-IDF with a logistic regression, and the columns, under gradient boosting. Rows are drawn by the
seed. What the file has already is not measured again.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heedful import PairClassifier, TextClassifier
from heedful.storage import write_text
from heedful_lab.studies.few_labels import lines
from heedful_lab.studies.few_labels import load as load_set

PARTS = ("planted", "noise", "genre", "origin", "document")
NOISY = ("trec", "cr", "subj")
PER_UNIT, OF_SHOP = 1.5, {"north": 1.0, "south": -1.0, "east": 0.0}
"""What a unit of the planted number, and each planted shop, adds to the log-odds."""
MOST_CATEGORIES = 200
"""Values from which on the boosting reads a column as a number; it takes 255 categories at most."""
Row = dict[str, Any]
"""Of an example the text, or the premise and the hypothesis, the columns, and the label."""


@dataclass(frozen=True)
class Task:
    """Rows to learn from and to measure with.

    Attributes:
        training: to learn from.
        test: to measure with.
        columns: the names of the columns beside the text.
    """

    training: list[Row]
    test: list[Row]
    columns: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The names of the texts."""
        return ("premise", "hypothesis") if "premise" in self.training[0] else ("text",)


def fitted(task: Task, features: Sequence[str]) -> Any:
    """Train on the text, or the pair, and some columns."""
    kind = PairClassifier if len(task.texts) == 2 else TextClassifier
    model = (
        kind(features=list(features)) if features else kind()
    )  # the texts are called as they are by default
    labels = [row["label"] for row in task.training]
    return model.fit(asked(task, task.training, features), labels, baseline=False, progress=False)


def asked(task: Task, rows: Sequence[Row], features: Sequence[str]) -> list[Any]:
    """Return rows as an estimator takes them: mappings where there are columns, else texts or pairs."""
    if features:
        return [{name: row[name] for name in (*task.texts, *features)} for row in rows]
    sides = [tuple(str(row[name]) for name in task.texts) for row in rows]
    return list(sides) if len(task.texts) == 2 else [text for (text,) in sides]


def accuracy(task: Task, features: Sequence[str], model: Any = None) -> float:
    """Return the percentage of test rows that a model answers rightly; one is trained where none is given."""
    model = fitted(task, features) if model is None else model
    found = np.asarray(model.predict(asked(task, task.test, features))).astype(str)
    return 100 * float(np.mean(found == np.array([row["label"] for row in task.test])))


def stacked(task: Task) -> float:
    """Return the accuracy of gradient boosting over the columns and probabilities of TF-IDF, out of five folds."""
    from pandas import DataFrame  # type: ignore[import-untyped]
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    texts, gold = {}, {}
    for name, rows in (("training", task.training), ("test", task.test)):
        gold[name] = np.array([row["label"] for row in rows])
        texts[name] = [
            " ".join(f"{side}_{word}" for side in task.texts for word in str(row[side]).lower().split())
            for row in rows
        ]
    words = make_pipeline(
        TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), sublinear_tf=True),
        LogisticRegression(C=10.0, max_iter=1000),
    )
    learned = cross_val_predict(words, texts["training"], gold["training"], cv=5, method="predict_proba")
    answered = words.fit(texts["training"], gold["training"]).predict_proba(texts["test"])
    frames = [DataFrame(rows)[list(task.columns)] for rows in (task.training, task.test)]
    named = [name for name in task.columns if frames[0][name].dtype.kind not in "fi"]
    if named:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(frames[0][named])
        for frame in frames:
            frame[named] = codes.transform(frame[named])
    inputs = [np.hstack([part, frame]) for part, frame in zip((learned, answered), frames, strict=True)]
    few = [
        name for name in named if frames[0][name].nunique() < MOST_CATEGORIES
    ]  # of others, dates, the order
    places = [learned.shape[1] + task.columns.index(name) for name in few]
    boosted = HistGradientBoostingClassifier(categorical_features=places or None, random_state=0)
    return 100 * float(np.mean(boosted.fit(inputs[0], gold["training"]).predict(inputs[1]) == gold["test"]))


def drawn(rows: Sequence[Row], count: int, generator: np.random.Generator) -> list[Row]:
    """Return so many rows, drawn."""
    return [rows[place] for place in generator.permutation(len(rows))[:count].tolist()]


def of_set(name: str, data: Path) -> tuple[list[Row], list[Row]]:
    """Return the training and test rows of a set of texts."""
    training, test = (
        [{"text": text, "label": label} for text, label in zip(*part, strict=True)]
        for part in load_set(name, data)
    )
    return training, test


def planted(rows: Sequence[Row], generator: np.random.Generator) -> list[Row]:
    """Draw labels from what the text, a number and a shop add to the log-odds; and a column of noise."""
    first = min(str(row["label"]) for row in rows)
    found = []
    for row in rows:
        number, shop = round(float(generator.normal()), 3), str(generator.choice(list(OF_SHOP)))
        logit = (1.5 if row["label"] == first else -1.5) + PER_UNIT * number + OF_SHOP[shop]
        label = "yes" if generator.random() < 1 / (1 + np.exp(-logit)) else "no"
        columns = {"number": number, "shop": shop, "noise": round(float(generator.normal()), 3)}
        found.append({"text": row["text"], **columns, "label": label})
    return found


def recovered(model: Any, rows: Sequence[Row]) -> dict[str, float]:
    """Return how much columns change the log-odds of "yes": the number from -1 to 1, and each shop beside east."""

    def mean(**given: object) -> float:
        shares = np.clip(model.predict_proba([{**row, **given} for row in rows]), 1e-9, 1 - 1e-9)
        yes = shares[:, list(model.classes_).index("yes")]
        return float(np.mean(np.log(yes / (1 - yes))))

    east = mean(number=0.0, shop="east")
    found = {"number, -1 to 1": mean(number=1.0, shop="east") - mean(number=-1.0, shop="east")}
    found |= {f"shop, east to {shop}": mean(number=0.0, shop=shop) - east for shop in ("north", "south")}
    noise = mean(noise=1.0) - mean(noise=-1.0)
    return found | {"noise, -1 to 1": noise}


def noisy(rows: Sequence[Row], generator: np.random.Generator) -> list[Row]:
    """Put five columns of noise beside texts."""
    return [
        {
            **row,
            "n1": float(generator.normal()),
            "n2": float(generator.integers(1000)),
            "c1": str(generator.choice(list("abc"))),
            "c2": f"k{generator.integers(40)}",
            "d1": f"{generator.integers(2010, 2024)}-{generator.integers(1, 13):02}-{generator.integers(1, 29):02}",
        }
        for row in rows
    ]


def genre(data: Path) -> list[Row]:
    """Return pairs of MultiNLI with their genre, of the one source that was not gathered by label."""
    found = []
    for line in lines(data / "multinli/multinli_1.0_train_part.jsonl.xz"):
        row = json.loads(line)
        if row.get("genre") and row.get("source") == "nyu":
            sides = {"premise": row["sentence1"], "hypothesis": row["sentence2"]}
            found.append({**sides, "genre": row["genre"], "label": row["gold_label"]})
    return found


def origin(data: Path) -> list[Row]:
    """Return pairs of SICK with the data sets that their sentences came from."""
    read = csv.DictReader(lines(data / "sick/SICK.txt.xz"), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        {
            "premise": row["sentence_A"],
            "hypothesis": row["sentence_B"],
            "origin": f"{row['sentence_A_dataset']} {row['sentence_B_dataset']}",
            "label": row["entailment_label"],
        }
        for row in read
    ]


def document(data: Path) -> list[Row]:
    """Return sentences of UD EWT with the type of their document; the class is the root's part of speech."""
    found: list[Row] = []
    for line in lines(data / "ud_english_ewt/en_ewt-ud-train.conllu.xz"):
        if line.startswith("# sent_id = "):
            found.append({"document": line.removeprefix("# sent_id = ").split("-")[0]})
        elif line.startswith("# text = "):
            found[-1]["text"] = line.removeprefix("# text = ")
        elif "\t0\troot\t" in line:
            found[-1]["label"] = line.split("\t")[3]
    common = {label for label, _ in Counter(row["label"] for row in found).most_common(5)}
    return [{**row, "label": row["label"] if row["label"] in common else "other"} for row in found]


GIVEN = {"genre": genre, "origin": origin, "document": document}


def measures(part: str, name: str, data: Path, rows: int, tests: int, seed: int) -> Mapping[str, object]:
    """Measure one set of a part; see the top of this file."""
    generator = np.random.default_rng(seed)
    if part in GIVEN:
        both = drawn(GIVEN[part](data), rows + tests, generator)
        task = Task(both[:rows], both[rows:], (part,))
    else:
        made = planted if part == "planted" else noisy
        parts = zip(of_set(name, data), (rows, tests), strict=True)
        training, test = (made(drawn(each, count, generator), generator) for each, count in parts)
        names = tuple(column for column in training[0] if column not in ("text", "label"))
        task = Task(training, test, names)
    model = fitted(task, task.columns)
    found: dict[str, object] = {
        "test rows": len(task.test),
        "text alone": accuracy(task, ()),
        "with columns": accuracy(task, task.columns, model),
        "columns kept": model.predictor.about.columns is not None,
        "stack": stacked(task),
    }
    if part == "planted":
        truth = {"number, -1 to 1": 2 * PER_UNIT}
        truth |= {f"shop, east to {shop}": OF_SHOP[shop] for shop in ("north", "south")}
        found |= {"planted": truth, "recovered": recovered(model, task.test[:200])}
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the file does not have yet, and write it after each set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rows", type=int, default=600, help="training rows")
    parser.add_argument("--tests", type=int, default=1000, help="rows to measure with, at most")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    found = json.loads(given.out.read_text(encoding="utf-8")) if given.out.is_file() else {}
    for seed in given.seeds:
        for part in given.parts:
            for name in NOISY if part == "noise" else ("subj",) if part == "planted" else ("",):
                key = f"{part}{f' {name}' * bool(name)}, {given.rows} rows, {given.tests} tests, seed {seed}"
                if key not in found:
                    found[key] = measures(part, name, given.data, given.rows, given.tests, seed)
                    write_text(given.out, json.dumps(found, indent=1) + "\n")
                print(key, json.dumps(found[key]), flush=True)


if __name__ == "__main__":
    main()
