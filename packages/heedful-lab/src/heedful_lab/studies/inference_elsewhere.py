"""Measure a model of entailment where it was not trained: RTE, and SNLI's dev pairs with one word changed by rule.

    python -m heedful_lab.studies.inference_elsewhere --data DIR [--model en-nli]

RTE knows entailment and its absence: neutral and contradiction count as its absence together. A contrast is made of a
pair of SNLI's dev part that is labeled as entailment: a word of a list below that both texts have, such as a color, is
replaced in the hypothesis by the next one of its list that neither text has, so that the pair becomes a contradiction.
The same pairs before the change are measured beside them. Nothing is chosen by these figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heedful.data import catalog
from heedful.data.examples import Example
from heedful.evaluation import accuracy_interval
from heedful.evaluation.calibration import reliability
from heedful.opening import open_model
from heedful.tables import markdown_table

YES, NO = "entailment", "contradiction"
LISTS = (
    ("red", "green", "blue", "yellow", "black", "white", "orange", "pink", "purple", "brown"),
    ("two", "three", "four", "five", "six"),
    ("man", "woman"),
    ("men", "women"),
    ("boy", "girl"),
    ("boys", "girls"),
    ("dog", "cat", "horse"),
    ("dogs", "cats", "horses"),
    ("sitting", "standing", "running", "sleeping"),
    ("inside", "outside"),
    ("guitar", "piano", "violin"),
    ("winter", "summer"),
    ("young", "old"),
)
"""Words of which only one can be true of the same thing."""


@dataclass(frozen=True)
class Measured:
    """The figures of one set of pairs.

    Attributes:
        name: what was measured.
        shares: probability of each answer, [N, Y].
        gold: numbers of the right ones, [N].
    """

    name: str
    shares: np.ndarray
    gold: np.ndarray

    def row(self) -> tuple[str, ...]:
        """Return the cells of a table: name, pairs, accuracy, interval, share of the largest class, and ECE."""
        right, count = int((self.shares.argmax(axis=1) == self.gold).sum()), len(self.gold)
        interval = accuracy_interval(right, count)
        largest = np.bincount(self.gold).max() / count
        ece = reliability(np.log(np.maximum(self.shares, 1e-12)), self.gold).ece
        span = f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
        return (
            self.name,
            f"{count:,}",
            f"{100 * right / count:.1f}",
            span,
            f"{100 * largest:.1f}",
            f"{ece:.3f}",
        )


def contrasts(examples: Sequence[Example]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield pairs of entailment, each with the same pair after a word of its hypothesis was changed."""
    for example in examples:
        premise, hypothesis = example.texts
        words = hypothesis.split()
        plain = [word.strip(".,!?").lower() for word in words]
        seen = {word.strip(".,!?").lower() for word in premise.split()}
        for among in LISTS:
            places = [place for place, word in enumerate(plain) if word in among]
            others = [word for word in among if word not in seen and word not in plain]
            if example.target != YES or len(places) != 1 or plain[places[0]] not in seen or not others:
                continue
            if sum(word in seen for word in among) > 1:
                continue  # two of them are in the scene, and either may be meant
            (place,), old = places, plain[places[0]]
            after = among[among.index(old) + 1 :]
            new = next((word for word in (*after, *among) if word in others), others[0])
            made = words[place].replace(old, new).replace(old.capitalize(), new.capitalize())
            yield (premise, hypothesis), (premise, " ".join([*words[:place], made, *words[place + 1 :]]))
            break


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="en-nli")
    asked = parser.parse_args()
    model = open_model(asked.model, truncate="head")

    def shares_of(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        answers = model.predict(list(pairs))
        return np.array([[each.probabilities[name] for name in model.labels] for each in answers])

    rte = catalog.load("rte", "dev", asked.data).examples
    said = shares_of([(example.texts[0], example.texts[1]) for example in rte])
    yes = said[:, model.labels.index(YES)]
    gold = np.array([int(example.target != YES) for example in rte])
    found = [Measured("`rte:dev`", np.stack([yes, 1 - yes], axis=1), gold)]
    both = list(contrasts(catalog.load("snli", "dev", asked.data).examples))
    for place, (name, label) in enumerate((("one word before its change", YES), ("one word changed", NO))):
        pairs = [each[place] for each in both]
        numbers = np.full(len(pairs), model.labels.index(label))
        found.append(Measured(f"SNLI's dev part, {name}", shares_of(pairs), numbers))
    header = ("data", "pairs", "accuracy, %", "95 % interval", "largest class, %", "ECE")
    print("\n".join(markdown_table(header, [each.row() for each in found], right=(1, 2, 4, 5))))


if __name__ == "__main__":
    main()
