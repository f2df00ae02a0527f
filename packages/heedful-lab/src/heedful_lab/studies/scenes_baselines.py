"""Measure what classifiers without word order get out of the generated corpus.

    python -m heedful_lab.studies.scenes_baselines

Feature sets: one sentence alone; the words of premise and hypothesis, each its own bag, with the words in both and the
words in one only. Classifiers: logistic regression, and a network with one hidden layer of 64.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator

from heedful.data.examples import Example
from heedful.data.scenes import generate


def hypothesis_bag(example: Example) -> Iterator[str]:
    """Yield the words of the hypothesis."""
    yield from example.texts[1].split()


def premise_bag(example: Example) -> Iterator[str]:
    """Yield the words of the premise."""
    yield from example.texts[0].split()


def pair_bag(example: Example) -> Iterator[str]:
    """Yield the words of both, marked by where they stand: premise, hypothesis, both, one only."""
    premise, hypothesis = (text.split() for text in example.texts)
    yield from (f"premise {word}" for word in premise)
    yield from (f"hypothesis {word}" for word in hypothesis)
    yield from (f"both {word}" for word in set(premise) & set(hypothesis))
    yield from (f"one {word}" for word in set(premise) ^ set(hypothesis))


FEATURES: dict[str, Callable[[Example], Iterator[str]]] = {
    "premise": premise_bag,
    "hypothesis": hypothesis_bag,
    "pair": pair_bag,
}


def accuracies(train: list[Example], test: list[Example], networks: bool = True) -> dict[str, float]:
    """Fit every classifier on every feature set.

    Args:
        train: examples to fit.
        test: examples to score.
        networks: also fit the networks, which take most of the time.

    Returns:
        Test accuracy by "features, classifier".
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    result = {}
    for name, features in FEATURES.items():
        counter = CountVectorizer(analyzer=lambda example, features=features: list(features(example)))
        x_train, x_test = counter.fit_transform(train), counter.transform(test)
        y_train, y_test = [example.target for example in train], [example.target for example in test]
        models = {"logistic regression": LogisticRegression(max_iter=500)}
        if networks:
            models["network"] = MLPClassifier((64,), max_iter=20, random_state=0)
        for kind, model in models.items():
            with warnings.catch_warnings():
                # Twenty passes are the budget; the network need not have converged.
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(x_train, y_train)
            result[f"{name}, {kind}"] = float(model.score(x_test, y_test))
    return result


def main() -> None:
    """Print the accuracies as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=13, help="of the corpus")
    corpus = generate(seed=parser.parse_args().seed)
    json.dump(accuracies(corpus["train"].examples, corpus["test"].examples), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
