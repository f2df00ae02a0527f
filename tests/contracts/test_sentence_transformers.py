"""sentence-transformers' own main loop on saved models: its trainer with its losses, its limits and its evaluators."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tiny
from heedful import PairClassifier, TextClassifier, from_pretrained
from heedful.errors import DataError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore")


@cache
def library() -> Any:
    """Return what the tests need of sentence-transformers, which takes seconds to import, once they run."""
    pytest.importorskip("sentence_transformers")
    datasets = pytest.importorskip("datasets")
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.evaluation import BinaryClassificationEvaluator

    from heedful.estimators.sentence_transformer import HeedfulModule

    return SimpleNamespace(
        Model=SentenceTransformer,
        Trainer=SentenceTransformerTrainer,
        Arguments=SentenceTransformerTrainingArguments,
        Evaluator=BinaryClassificationEvaluator,
        Module=HeedfulModule,
        losses=losses,
        Dataset=datasets.Dataset,
    )


@pytest.fixture(scope="module", autouse=True)
def _cards_are_compiled_once() -> Iterator[None]:
    """Keep the template of model cards, whose compilation takes half the time of a small training."""
    jinja2 = pytest.importorskip("jinja2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja2.Environment, "compile", cache(jinja2.Environment.compile))
        yield


SMALL: dict[str, Any] = {
    "model__width": 12,
    "model__hidden": 12,
    "train__device": "cpu",
    "train__epochs": 1,
    "train__max_steps": 3,
    "data__keep_sums": False,
}
TEXTS, LABELS = ([row[k] for row in tiny.texts()][:60] for k in (0, 1))
PAIRS = [(first, second) for first, second, _ in tiny.pairs()][:60]
ANSWERS = [label for *_, label in tiny.pairs()][:60]
ALONE = {**SMALL, "model__sentence": "none"}
"""Networks beside no sentence encoder: the folders are opened many times, and one with an encoder is among them."""
KINDS = {
    "texts": lambda: TextClassifier(**SMALL).fit(TEXTS, LABELS, baseline=False),
    "texts with n-grams": lambda: TextClassifier(
        **ALONE, text__subwords=50, model__encoder="mtsa", model__wide="none"
    ).fit(TEXTS, LABELS, baseline=False),
    "pairs": lambda: PairClassifier(**ALONE, model__encoder="bi-lstm").fit(PAIRS, ANSWERS, baseline=False),
}


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model"
    KINDS[request.param]().save_pretrained(path)
    return path


def loss_of(name: str, model: Any) -> Any:
    if name == "softmax":
        return library().losses.SoftmaxLoss(model, model.get_embedding_dimension(), num_labels=2)
    if name == "negatives":
        return library().losses.MultipleNegativesRankingLoss(model)
    if name == "cached":  # cuts the batch into smaller ones
        return library().losses.CachedMultipleNegativesRankingLoss(model, mini_batch_size=3)
    return library().losses.CosineSimilarityLoss(model)


def rows(loss: str) -> Any:
    first, second = TEXTS[:32], [f"{text} And it is long ." for text in TEXTS[28:60]]
    if loss in ("negatives", "cached"):
        return library().Dataset.from_dict({"anchor": first, "positive": second, "negative": TEXTS[10:42]})
    labels = [k % 2 for k in range(32)] if loss == "softmax" else [k / 31 for k in range(32)]
    return library().Dataset.from_dict({"first": first, "second": second, "label": labels})


LOSSES = [(kind, loss) for kind in KINDS for loss in ("cosine", "negatives", "softmax")]


@pytest.mark.parametrize(("folder", "loss"), [*LOSSES, ("texts with n-grams", "cached")], indirect=["folder"])
def test_its_trainer_trains_a_saved_model(folder: Path, loss: str, tmp_path: Path) -> None:
    model = library().Model(modules=[library().Module(folder)], device="cpu")
    before = model.encode(TEXTS[:8])
    asked = library().Arguments(
        str(tmp_path / "out"),
        max_steps=4,
        per_device_train_batch_size=8,
        learning_rate=0.01,
        save_steps=2,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = library().Trainer(model, asked, train_dataset=rows(loss), loss=loss_of(loss, model))
    done = trainer.train()
    assert np.isfinite(done.training_loss)
    after = model.encode(TEXTS[:8])
    assert np.abs(after - before).max() > 1e-3
    model.save(str(tmp_path / "whole"))
    again = library().Model(str(tmp_path / "whole"), device="cpu", trust_remote_code=True)
    np.testing.assert_allclose(again.encode(TEXTS[:8]), after, atol=1e-6)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["checkpoint-2", "checkpoint-4"]
    (inner,) = (tmp_path / "whole").glob("*/heedful")
    estimator = from_pretrained(inner)
    np.testing.assert_allclose(estimator.encode(TEXTS[:8]), after, atol=1e-6)
    assert (
        len(estimator.predict([*zip(TEXTS[:3], TEXTS[3:6], strict=True)] if estimator._pair() else TEXTS[:3]))
        == 3
    )


@pytest.mark.parametrize("folder", ["texts with n-grams"], indirect=True)
def test_training_goes_on_from_a_checkpoint_and_ends_with_the_best(folder: Path, tmp_path: Path) -> None:
    def trained(steps: int, resume: bool) -> Any:
        model = library().Model(modules=[library().Module(folder)], device="cpu")
        data = rows("cosine")
        asked = library().Arguments(
            str(tmp_path / "out"),
            max_steps=steps,
            per_device_train_batch_size=8,
            eval_strategy="steps",
            eval_steps=2,
            save_steps=2,
            load_best_model_at_end=True,
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
        )
        trainer = library().Trainer(
            model, asked, train_dataset=data, eval_dataset=data, loss=loss_of("cosine", model)
        )
        trainer.train(resume_from_checkpoint=resume)
        return trainer

    trained(2, False)
    trainer = trained(4, True)
    assert trainer.state.global_step == 4
    assert os.path.basename(trainer.state.best_model_checkpoint) in ("checkpoint-2", "checkpoint-4")


def test_its_evaluators_measure(folder: Path, tmp_path: Path) -> None:
    model = library().Model(modules=[library().Module(folder)], device="cpu")
    evaluator = library().Evaluator(TEXTS[:10], TEXTS[10:20], [k % 2 for k in range(10)])
    found = evaluator(model, output_path=str(tmp_path))
    assert 0.0 <= found["cosine_accuracy"] <= 1.0


def test_the_longest_text_is_honored(folder: Path) -> None:
    model = library().Model(modules=[library().Module(folder)], device="cpu")
    whole = model.max_seq_length
    text = "A lovely film about a garden ."
    model.max_seq_length = 3
    assert model.max_seq_length == 3
    np.testing.assert_allclose(model.encode([text]), model.encode(["A lovely film"]), atol=1e-6)
    assert model.preprocess([text])["input_ids"].shape == (1, 3)
    assert model[0].preprocess([text], max_length=2)["input_ids"].shape == (1, 2)
    model.max_seq_length = None
    assert model.max_seq_length == whole
    model.max_seq_length = 5
    assert np.abs(model.encode([text]) - model.encode(["A lovely film"])).max() > 1e-6
    with pytest.raises(UsageError, match="max_tokens must be a whole number of 1 or more"):
        model.max_seq_length = 0


def test_what_it_cannot_do_is_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    library().Model(modules=[library().Module(folder)], device="cpu").save(str(tmp_path / "whole"))
    with pytest.raises(UsageError, match=r"backend='onnx': .*heedful export MODEL --onnx FILE"):
        library().Model(str(tmp_path / "whole"), device="cpu", trust_remote_code=True, backend="onnx")
    with pytest.raises(DataError, match="request 2"):
        library().Model(modules=[library().Module(folder)], device="cpu").encode(["a", None])
