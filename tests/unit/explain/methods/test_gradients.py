"""Gradients, and the other methods, against Captum, which computes them in its own way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from heedful.data.batching import collate
from heedful.explain import Explanation
from heedful.explain.explainer import question_about
from heedful.models import ModelConfig
from heedful.tasks import TextSettings, build_network, task_named
from heedful.text.vocabulary import Vocabulary

WORDS = ("film", "dull", "superb", ".", "not", "a", "very", "story", "warm")
TEXT = "a superb story . not very dull"
PAIR = ("a superb story", "not a dull film .")


def model_of(task: str = "text", encoder: str = "disan", **settings: Any) -> Any:
    config = ModelConfig(
        **{
            "task": task,
            "encoder": encoder,
            "width": 12,
            "hidden": 12,
            "outputs": 1 if "number" in task else 3,
            **settings,
        }
    )
    torch.manual_seed(5)
    network = build_network(config, torch.randn(len(WORDS) + 2, 12))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    labels = ("a", "b", "c")[: task_named(task).named_outputs(config)]  # type: ignore[attr-defined]
    return task_named(task).model_type(network, config, Vocabulary(WORDS), labels, TextSettings())


class OfVectors(torch.nn.Module):
    """The log-odds of a model of texts as a function of word vectors, written without our own code for it."""

    def __init__(self, model: Any, text: str) -> None:
        super().__init__()
        dataset, _ = model.encode_examples(model.one(text).examples)
        self.batch, self.model = collate(dataset, np.array([0])), model
        with torch.no_grad():
            self.vectors = model.network.sentence_encoder.embedding.embed(self.batch.sides[0]).tokens
        self.vectors.requires_grad_()

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        encoder, head = self.model.network.sentence_encoder, self.model.network.head
        side = self.batch.sides[0]
        many = type(side)(side.ids.repeat(len(vectors), 1), side.valid.repeat(len(vectors), 1))
        states = encoder.encoder(vectors, many).states
        shares = head(encoder.pooling(states, many.valid).vector).softmax(dim=-1)
        return torch.logit(shares)


@pytest.mark.parametrize("encoder", ["disan", "mtsa", "bi-lstm", "mssan"])
def test_gradients_are_captums(encoder: str) -> None:
    captum = pytest.importorskip("captum.attr")
    model = model_of(encoder=encoder)
    of_vectors = OfVectors(model, TEXT)
    target = model.labels.index(model.explain(TEXT).predicted)
    for method, wanted in (
        ("gradient", captum.InputXGradient(of_vectors).attribute(of_vectors.vectors, target=target)),
        (
            "integrated",
            captum.IntegratedGradients(of_vectors).attribute(of_vectors.vectors, target=target, n_steps=50),
        ),
    ):
        found = model.explain(TEXT, method=method).attribution
        assert found.values[0] == pytest.approx(wanted[0].sum(dim=-1).detach().numpy(), abs=2e-5)
        assert np.abs(found.values[0]).max() > 1e-3, "there is something to compare"


def test_occlusion_and_shapley_values_are_captums() -> None:
    captum = pytest.importorskip("captum.attr")
    model = model_of()
    question, _ = question_about(model, model.one(TEXT))
    count = len(question.places)

    def value(present: torch.Tensor) -> torch.Tensor:
        return torch.logit(torch.from_numpy(question.evaluate(present.numpy() > 0.5)))

    present = torch.ones(1, count)
    left_out = captum.FeatureAblation(value).attribute(present, perturbations_per_eval=1)[0].numpy()
    assert model.explain(TEXT, method="occlusion").attribution.values[0] == pytest.approx(left_out, abs=1e-5)
    short = "superb story . not dull"
    question, _ = question_about(model, model.one(short))
    shares = captum.ShapleyValues(value).attribute(torch.ones(1, 5))[0].numpy()
    assert model.explain(short, method="shapley").attribution.values[0] == pytest.approx(shares, abs=1e-5)


@pytest.mark.parametrize("task", ["text", "pair", "labels", "relatedness", "number", "pair-number"])
def test_integrated_gradients_are_complete_for_every_task(task: str) -> None:
    model = model_of(task)
    request = PAIR if model.is_pair else TEXT
    found = model.explain(request, method="integrated").attribution
    assert abs(found.together) < 0.01 * max(1.0, abs(found.whole - found.start))
    assert found.gap == pytest.approx(0, abs=1e-12)
    assert found.whole == pytest.approx(value_of(model.explain(request)), abs=1e-5)
    assert [len(side) for side in found.values] == ([3, 5] if model.is_pair else [7])
    assert not np.allclose(found.values[0], 0)


def value_of(explanation: Explanation) -> float:
    if explanation.score is not None:
        return explanation.score
    best = max(explanation.probabilities)
    return float(np.log(best / (1 - best)))


def test_the_network_itself_is_not_changed() -> None:
    model = model_of("pair", "decomposable", train_embedding=False)
    embedding = model.network.sentence_encoder.embedding
    before = model.answer([PAIR])
    found = model.explain(PAIR, method="integrated").attribution
    assert model.network.sentence_encoder.embedding is embedding
    assert model.answer([PAIR]) == before
    assert [side[0] for side in found.values] == [0.0, 0.0], "NULL is no word of the text"
    assert all(parameter.grad is None for parameter in model.network.parameters())


def test_a_text_without_words_has_none() -> None:
    for method in ("gradient", "integrated"):
        assert model_of().explain("", method=method).attribution.values[0].shape == (0,)
