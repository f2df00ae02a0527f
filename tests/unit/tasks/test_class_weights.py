"""Classes that count more in training: what each weighs, and that a rare class is then predicted."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch

from heedful import TextClassifier
from heedful.errors import UsageError
from heedful.nn.losses import cross_entropy
from heedful.run.run_config import DistilConfig
from heedful.structures import NetworkOutput
from heedful.tasks.class_loss import distilled_loss, weights_of_classes
from heedful.training.train_settings import TrainSettings

TINY = {
    "model__width": 8,
    "model__hidden": 8,
    "model__encoder": "embedding",
    "train__epochs": 4,
    "train__optimizer__lr": 0.03,
    "train__optimizer__name": "adam",
    "train__patience": 0,
    "train__device": "cpu",
}


def rare(size: int = 400, seed: int = 3) -> tuple[list[str], list[str]]:
    """Draw texts of which 6 % are "yes"; the word "sign" is in two of three of these and in a tenth of the others."""
    draw, texts, labels = Random(seed), [], []
    for number in range(size):
        yes = number % 16 == 0
        words = [draw.choice("abcdefgh") for _ in range(5)]
        if draw.random() < (0.67 if yes else 0.1):
            words[draw.randrange(5)] = "sign"
        texts.append(" ".join(words))
        labels.append("yes" if yes else "no")
    return texts, labels


def test_smoothing_and_weights_are_those_of_the_formula() -> None:
    logits = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    targets, weights = torch.tensor([0, 1, 2, 3, 3, 0]), torch.tensor([1.0, 0.5, 3.0, 2.0])
    log = torch.log_softmax(logits, dim=1)
    shares = torch.full((6, 4), 0.2 / 4, dtype=torch.float64)
    shares[torch.arange(6), targets] += 0.8
    expected = -(shares * log).sum(dim=1) * weights[targets]
    torch.testing.assert_close(cross_entropy(logits, targets, 0.2, weights), expected)
    torch.testing.assert_close(cross_entropy(logits, targets), -log[torch.arange(6), targets])


def test_balanced_classes_have_the_same_total_weight_whatever_examples_weigh() -> None:
    gold, counted = np.array([0, 0, 0, 1]), np.array([0.5, 0.5, 1.0, 2.0], np.float32)
    settings = TrainSettings(class_weight="balanced")
    alike = weights_of_classes(settings, gold, ("a", "b", "never"))
    assert alike is not None
    np.testing.assert_allclose(alike, [4 / (2 * 3), 4 / 2, 4 / 2])
    found = weights_of_classes(settings, gold, ("a", "b", "never"), counted)
    assert found is not None
    np.testing.assert_allclose(found[:2], [1.0, 1.0])


def test_without_gold_an_example_learns_from_the_teacher_alone() -> None:
    logits = torch.randn(3, 2, generator=torch.Generator().manual_seed(1))
    taught = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    targets = torch.cat([torch.tensor([[0.0], [1.0], [-1.0]]), taught], dim=1)
    distil = DistilConfig(weight=0.25, temperature=1.0)
    found = distilled_loss(NetworkOutput(logits, ()), targets, smoothing=0.0, weights=None, distil=distil)
    log = torch.log_softmax(logits, dim=1)
    away = (taught * (taught.log() - log)).sum(dim=1)
    gold = -torch.stack([log[0, 0], log[1, 1], torch.tensor(0.0)])
    torch.testing.assert_close(found, 0.25 * gold + 0.75 * away)


def test_a_rare_class_is_predicted_when_the_classes_are_balanced() -> None:
    texts, labels = rare()
    yes = np.array(labels) == "yes"
    caught = {}
    for weight in ("none", "balanced"):
        model = TextClassifier(**TINY, train__class_weight=weight).fit(texts, labels, baseline=False)
        caught[weight] = np.mean(model.predict(texts)[yes] == "yes")
    assert caught["balanced"] > max(0.5, caught["none"] + 0.2)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"train__class_weight": "balanced"}, [400 / (2 * 375), 400 / (2 * 25)]),
        ({"train__class_weights": {"yes": 4.0}}, [1.0, 4.0]),
        ({"train__class_weight": "balanced", "train__class_weights": {"no": 0.5}}, [200 / (2 * 375), 8.0]),
        ({}, None),
    ],
)
def test_what_each_class_weighs(settings: dict[str, object], expected: list[float] | None) -> None:
    texts, labels = rare()
    dev = (texts[:20], labels[:20])
    model = TextClassifier(**TINY | {"train__epochs": 1}, **settings).fit(
        texts, labels, dev=dev, baseline=False
    )
    weights = model.predictor_.class_weights
    assert (None if weights is None else weights.tolist()) == (expected and pytest.approx(expected))


def test_a_class_that_is_not_there_is_refused() -> None:
    texts, labels = rare(64)
    with pytest.raises(UsageError, match="did you mean 'yes'"):
        TextClassifier(**TINY, train__class_weights={"yess": 2.0}).fit(texts, labels, baseline=False)


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), "much", True])
def test_a_weight_that_is_no_positive_number_is_refused(wrong: object) -> None:
    texts, labels = rare(64)
    with pytest.raises(UsageError, match="class_weights"):
        TextClassifier(**TINY, train__class_weights={"yes": wrong}).fit(texts, labels, baseline=False)
