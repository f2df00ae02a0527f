"""Compare ways to answer by cost: the mean cost of an example under the most probable class, a threshold, and Bayes.

    python scripts/cost_thresholds.py

docs/own-data.md has what it printed. The model is TF-IDF with logistic regression. Up to 5,000 training and dev
examples of each of three sets of two classes are shuffled; three times five tenths train, one tenth is dev, which gives
the temperature and the threshold, and four tenths are judged. No test split is read. The data sets are in the folder
that HEEDFUL_DATA names.
"""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
from own_data_figures import splits_of

from heedful.baselines.linear import TFIDF_LOGISTIC
from heedful.baselines.splits import Split, Splits
from heedful.evaluation import fit_temperature
from heedful.run.protocol import Protocol
from heedful.tasks.labels import cheapest_threshold

SETS = ("cr", "subj", "sst-2")
COSTS = ((1, 5), (5, 1), (1, 20), (20, 1))


def main() -> None:
    """Measure and print."""
    found: dict[str, list[float]] = defaultdict(list)
    for name in SETS:
        training, dev, _ = splits_of(name, 0, 1)
        examples = [*training, *dev]
        random.Random(0).shuffle(examples)
        examples = examples[:5000]
        labels = sorted({str(example.target) for example in examples})
        gold = np.array([labels.index(str(example.target)) for example in examples])
        for fold in range(3):
            tenth = (np.arange(len(examples)) - fold) % 10
            rows = [np.flatnonzero(which) for which in (tenth > 4, tenth == 4, tenth < 4)]
            parts = [Split([(examples[row].texts[0],) for row in own], gold[own]) for own in rows]
            model = TFIDF_LOGISTIC.train(Splits("text", tuple(labels), *parts, Protocol("python", "dev")))
            on_dev, judged = (model.outputs(part.texts) for part in parts[1:])
            temperature = fit_temperature(on_dev, parts[1].gold)
            p, q = (1 / (1 + np.exp((x[:, 0] - x[:, 1]) / temperature)) for x in (on_dev, judged))
            for wrong, missed in COSTS:
                thresholds = {
                    "most probable": 0.5,
                    "threshold from dev": cheapest_threshold(p, parts[1].gold == 1, wrong, missed),
                    "least expected cost": wrong / (wrong + missed),
                }
                for how, threshold in thresholds.items():
                    answered, right = q >= threshold, parts[2].gold == 1
                    cost = wrong * (answered & ~right) + missed * (~answered & right)
                    found[how].append(float(cost.mean()))
    for how, costs in found.items():
        print(f"{how:20} {np.mean(costs):.3f} (mean of {len(costs)})")


if __name__ == "__main__":
    main()
