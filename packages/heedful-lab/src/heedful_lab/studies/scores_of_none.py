"""What other scores than that of "none of these" recognize of the texts out of scope of CLINC150.

    python -m heedful_lab.studies.scores_of_none MODEL --data DIR [--keep 0.95]

MODEL is a model folder that `none_of_these` (``--save``) has trained. Each score says how unlike the known texts a text
is, by the logits of the model, or by the vectors of texts that its sentence part reads. The dev part, 3,000 texts in
scope and 100 out of it, sets the threshold of each score, which keeps a share of the texts in scope; it alone is to
choose among scores. The test part, 4,500 and 1,000, says what was chosen.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from heedful import TextClassifier
from heedful.runtime.training_texts import distances, unit_rows
from heedful_lab.studies.few_labels import Rows, known

Floats = NDArray[np.float64]
TENTH = 10
_SHRUNK = 0.01
_BLOCK = 1_000


@dataclass(frozen=True, eq=False)
class Asked:
    """Texts in scope, and behind them others.

    Attributes:
        scores: how unlike known texts each is, [N], by the names of the scores.
        right: whether the likeliest class is that of the text, [N]; False for one out of scope.
        inside: how many are in scope.
    """

    scores: dict[str, Floats]
    right: NDArray[np.bool_]
    inside: int

    def auroc(self, name: str) -> float:
        """Return how often a text out of scope has the larger score."""
        return float(roc_auc_score(np.arange(len(self.right)) >= self.inside, self.scores[name]))


def by_logits(logits: NDArray[np.floating], temperature: float) -> dict[str, Floats]:
    """Return the scores that logits, [N, Y], give."""
    wide = logits.astype(np.float64)
    top = wide.max(axis=1, keepdims=True)
    energy = -(np.log(np.exp(wide - top).sum(axis=1)) + top[:, 0])
    calm = np.exp((wide - top) / temperature)
    shares = calm / calm.sum(axis=1, keepdims=True)
    entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)
    return {
        "largest probability": -shares.max(axis=1),
        "entropy": entropy,
        "largest logit": -top[:, 0],
        "energy": energy,
        "flatness": wide.mean(axis=1) - top[:, 0],
    }


def by_vectors(
    rows: NDArray[np.float32], training: NDArray[np.float32], classes: NDArray[np.int64]
) -> dict[str, Floats]:
    """Return the scores of vectors of texts, [N, D], by those of training texts, [M, D], and their classes."""
    own, others = unit_rows(rows), unit_rows(training)
    means = np.stack([others[classes == each].mean(axis=0) for each in np.unique(classes)])
    away = others - means[np.unique(classes, return_inverse=True)[1]]
    spread = away.T.astype(np.float64) @ away / len(away)
    spread += _SHRUNK * np.trace(spread) / len(spread) * np.eye(len(spread))
    turn = np.linalg.inv(np.linalg.cholesky(spread)).T
    turned, centers = own @ turn, means @ turn
    squares = (turned**2).sum(axis=1)[:, None] - 2 * turned @ centers.T + (centers**2).sum(axis=1)
    near = np.concatenate(
        [_nearest(own[start : start + _BLOCK], others) for start in range(0, len(own), _BLOCK)]
    )
    return {
        "nearest center": distances(own, unit_rows(means)),
        "Mahalanobis": squares.min(axis=1),
        "nearest training row": 1.0 - near[:, -1],
        "tenth nearest training row": 1.0 - near[:, 0],
    }


def _nearest(rows: NDArray[np.float32], others: NDArray[np.float32]) -> Floats:
    """Return the largest cosines, at most ten, in rising order."""
    count = min(TENTH, len(others))
    found: Floats = np.sort(np.partition(rows @ others.T, -count, axis=1)[:, -count:], axis=1).astype(
        np.float64
    )
    return found


def asked(model: TextClassifier, inside: Rows, outside: Sequence[str], training: Rows) -> Asked:
    """Return every score of texts in scope and of others.

    Args:
        model: one that rejects, with a sentence part.
        inside: texts in scope with their classes.
        outside: texts out of it.
        training: texts that count as known, with their classes.

    Returns:
        The scores.
    """
    predictor, texts = model.predictor, [*inside[0], *outside]
    logits, answers = predictor.logits(texts), model.answer(texts)
    likeliest = [predictor.labels[place] for place in logits.argmax(axis=1)]
    gold = [*inside[1], *[None] * len(outside)]
    scores = {"as shipped": np.array([answer.unlike for answer in answers], np.float64)}
    scores |= by_logits(logits, predictor.about.temperature)
    familiar = predictor.about.familiar
    if familiar is not None and (features := familiar.features) is not None:

        def vectors(given: Sequence[str]) -> NDArray[np.float32]:
            words = [[predictor.reading.cutter.words(text)] for text in given]
            blocks = [features.of(words[start : start + _BLOCK]) for start in range(0, len(words), _BLOCK)]
            return np.concatenate(blocks)

        classes = np.unique(training[1], return_inverse=True)[1]
        scores |= by_vectors(vectors(texts), vectors(training[0]), classes)
    right = np.array([one == other for one, other in zip(likeliest, gold, strict=True)])
    return Asked(scores, right, len(inside[0]))


def table(dev: Asked, test: Asked, keep: float) -> Iterator[str]:
    """Yield the lines of a table, in percent; thresholds keep so many of the texts in scope of dev."""
    yield "| score | AUROC, dev | AUROC, test | in scope | kept of it | recall out of scope |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, own in test.scores.items():
        kept = own <= np.quantile(dev.scores[name][: dev.inside], keep)
        inside = kept[: test.inside]
        figures = (
            dev.auroc(name),
            test.auroc(name),
            float((inside & test.right[: test.inside]).mean()),
            float(inside.mean()),
            float(1 - kept[test.inside :].mean()),
        )
        yield f"| {name} | " + " | ".join(f"{100 * figure:.1f}" for figure in figures) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of a model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument(
        "--keep", type=float, default=0.95, help="share of the texts in scope of dev that is kept"
    )
    given = parser.parse_args(arguments)
    model = TextClassifier.from_pretrained(given.model)
    parts = {
        name: known("clinc150", name, given.data)
        for name in ("train", "dev", "test", "none-dev", "none-test")
    }
    dev, test = (
        asked(model, parts[name], parts[f"none-{name}"][0], parts["train"]) for name in ("dev", "test")
    )
    for line in table(dev, test, given.keep):
        print(line, flush=True)


if __name__ == "__main__":
    main()
