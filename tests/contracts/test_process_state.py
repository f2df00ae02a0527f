"""Training neither reads nor changes what belongs to the process or the thread of its caller."""

from __future__ import annotations

import contextlib
import json
import os
import random
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import tiny
import tiny_encoder
import toy_training
from heedful import PairClassifier, TextClassifier, TextScorer, TokenTagger, from_pretrained
from heedful.attention.randomness import drawing_from, seeded
from heedful.machine.torch_state import own_torch_state
from heedful.nn import PretrainedEmbedding
from heedful.storage.hugging_face import read_encoder
from heedful.structures import NetworkOutput
from heedful.training.loop import fit
from heedful.training.run_folder import RunStorage

SMALL = {
    "model__width": 16,
    "model__hidden": 16,
    "train__device": "cpu",
    "train__optimizer__lr": 0.02,
    "train__max_steps": 3,
}
TEXTS, LABELS = zip(*tiny.texts()[:60], strict=True)
PAIRS = [((first, second), label) for first, second, label in tiny.pairs()[:60]]


def weights_of(model: TextClassifier | PairClassifier) -> dict[str, Tensor]:
    return dict(model.predictor.network.state_dict())


def fit_texts(encoder: str = "disan", seed: int = 1, **options: object) -> dict[str, Tensor]:
    settings = {**SMALL, "model__encoder": encoder, "model__encoder_options": options}
    return weights_of(
        TextClassifier(train__seed=seed, **settings).fit(list(TEXTS), list(LABELS), baseline=False)
    )


def fit_pairs() -> dict[str, Tensor]:
    texts, labels = zip(*PAIRS, strict=True)
    model = PairClassifier(train__seed=2, **{**SMALL, "model__encoder": "resan"})
    return weights_of(model.fit(list(texts), list(labels), baseline=False))


TRAININGS: dict[str, Callable[[], dict[str, Tensor]]] = {
    "disan": fit_texts,
    "mtsa": lambda: fit_texts("mtsa", heads=2, attention_dropout=0.2),
    "multi-head": lambda: fit_texts("multi-head", heads=2, head_width=8),
    "bi-lstm": lambda: fit_texts("bi-lstm", hidden=8),
    "resan, pairs": fit_pairs,
}


def equal(one: dict[str, Tensor], two: dict[str, Tensor]) -> bool:
    return one.keys() == two.keys() and all(
        torch.equal(value, two[name]) and value.dtype == two[name].dtype for name, value in one.items()
    )


@pytest.fixture(scope="module")
def expected() -> dict[str, dict[str, Tensor]]:
    return {name: training() for name, training in TRAININGS.items()}


@contextlib.contextmanager
def gradients_off() -> Iterator[None]:
    torch.set_grad_enabled(False)
    try:
        yield
    finally:
        torch.set_grad_enabled(True)


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


SURROUNDINGS: dict[str, Callable[[], contextlib.AbstractContextManager[object]]] = {
    "gradients off": gradients_off,
    "no_grad": torch.no_grad,
    "inference mode": torch.inference_mode,
    "float64 by default": lambda: default_dtype(torch.float64),
    "bfloat16 by default": lambda: default_dtype(torch.bfloat16),
    "meta device by default": lambda: torch.device("meta"),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "deterministic algorithms": deterministic,
}


@pytest.mark.parametrize("around", SURROUNDINGS)
def test_what_the_caller_has_set_changes_nothing(around: str, expected: dict[str, dict[str, Tensor]]) -> None:
    with SURROUNDINGS[around]():
        found = fit_texts()
    assert equal(found, expected["disan"])


@pytest.mark.parametrize("name", [name for name in TRAININGS if name != "disan"])
def test_float64_by_default_changes_no_model(name: str, expected: dict[str, dict[str, Tensor]]) -> None:
    with default_dtype(torch.float64), torch.inference_mode():
        assert equal(TRAININGS[name](), expected[name])


def test_fits_in_threads_are_fits_in_turn(expected: dict[str, dict[str, Tensor]]) -> None:
    names = list(TRAININGS)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda name: TRAININGS[name](), names))
    for name, weights in zip(names, found, strict=True):
        assert equal(weights, expected[name]), name


def state() -> dict[str, object]:
    """Everything of the process and of this thread that a training might change."""
    numbers, place = np.random.get_state(legacy=True)[1:3]  # noqa: NPY002
    return {
        "torch": torch.get_rng_state().numpy().tobytes(),
        "numpy": (numbers.tobytes(), place),
        "python": random.getstate(),
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "gradients": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "cudnn": torch.backends.cudnn.deterministic,
        "precision of products": torch.get_float32_matmul_precision(),
        "threads": (torch.get_num_threads(), torch.get_num_interop_threads()),
        "warnings": list(warnings.filters),
        "environment": dict(os.environ),
    }


@pytest.mark.parametrize("name", TRAININGS)
def test_a_fit_changes_nothing_of_the_callers(name: str) -> None:
    TRAININGS["disan"]()  # what is imported on the first use may add a filter of warnings
    before = state()
    TRAININGS[name]()
    assert state() == before


def test_a_fit_draws_nothing_from_the_caller() -> None:
    """With other numbers in the caller's generators, everything stays the same."""
    torch.manual_seed(1)
    one = fit_texts("mtsa", heads=2, attention_dropout=0.2)
    torch.manual_seed(2)
    np.random.seed(3)  # noqa: NPY002
    random.seed(4)
    assert equal(fit_texts("mtsa", heads=2, attention_dropout=0.2), one)


def test_a_model_answers_the_same_whatever_the_caller_has_set() -> None:
    model = TextClassifier(**SMALL).fit(list(TEXTS), list(LABELS), baseline=False)
    want = model.predict_proba(list(TEXTS[:9]))
    for name, around in SURROUNDINGS.items():
        if name != "autocast":  # which asks for lower precision on purpose
            with around():
                assert np.array_equal(model.predict_proba(list(TEXTS[:9])), want), name


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, object]]:
    """Folders of small models, with what each is asked."""
    words = [text.split() for text in TEXTS]
    tags = [["noun" if word in tiny.NOUNS else "O" for word in each] for each in words]
    length = [float(len(text)) for text in TEXTS]
    small = {name: value for name, value in SMALL.items() if name != "model__hidden"}
    models = {
        "texts": TextClassifier(**SMALL, data__few_rows=0).fit(list(TEXTS), list(LABELS), baseline=False),
        "numbers": TextScorer(**SMALL, data__few_rows=0).fit(list(TEXTS), length, baseline=False),
        "tags": TokenTagger(**small, data__few_rows=0).fit(words, tags, baseline=False),
    }
    folder = tmp_path_factory.mktemp("saved")
    for name, model in models.items():
        model.save_pretrained(folder / name)
    return {name: (folder / name, words[0] if name == "tags" else TEXTS[0]) for name in models}


def use(folder: Path, asked: object) -> str:
    """Load a model, ask it, and let it explain."""
    model = from_pretrained(folder)
    ways = {} if folder.name == "tags" else {"method": "gradient"}
    explained = model.explain(asked, **ways).to_dict()
    return f"{model.predict([asked])} {json.dumps(explained, default=str)}"


@pytest.mark.parametrize("name", ["texts", "numbers", "tags"])
def test_a_model_is_loaded_and_explained_the_same_whatever_the_caller_has_set(
    name: str, saved: dict[str, tuple[Path, object]]
) -> None:
    want, before = use(*saved[name]), state()
    for around in (
        "inference mode",
        "no_grad",
        "float64 by default",
        "bfloat16 by default",
        "meta device by default",
    ):
        with SURROUNDINGS[around]():
            assert use(*saved[name]) == want, around
        assert state() == before, around


def test_own_state_of_torch() -> None:
    with default_dtype(torch.float64), torch.device("meta"), torch.inference_mode(), own_torch_state():
        made = [torch.zeros(2), torch.tensor(0.5), torch.ones(2, dtype=torch.int64) / 2, torch.rand(3)]
        assert {(x.dtype, x.device.type) for x in made} == {(torch.float32, "cpu")}
        assert torch.zeros(2).double().dtype == torch.zeros(2, dtype=torch.float64).dtype == torch.float64
        assert (torch.zeros(2, dtype=torch.float64) + 1).dtype == torch.float64
        assert torch.is_grad_enabled()
        assert not torch.zeros(1).is_inference()
    assert torch.zeros(1).dtype == torch.float32


def test_a_run_keeps_its_number_of_threads(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[int] = []

    def objective(output: NetworkOutput, targets: Tensor) -> Tensor:
        seen.append(torch.get_num_threads())
        return toy_training.cross_entropy(output, targets)

    def train(steps: int, *, resume: bool) -> None:
        settings = toy_training.toy_settings(epochs=0, max_steps=steps, save_steps=1)
        data, keeping = toy_training.ToyData(), RunStorage(tmp_path / "run", resume)
        fit(toy_training.ToyNetwork(), data, objective, settings, keeping=keeping)

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        train(2, resume=False)
        torch.set_num_threads(1)
        train(4, resume=True)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    assert seen == [2] * 4
    assert "continues with" in caplog.text


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_a_pretrained_encoder_in_training_draws_from_the_trainings_generator(
    attention: str, tmp_path: Path
) -> None:
    encoder = read_encoder(tiny_encoder.write_encoder(tmp_path / "encoder"))
    encoder.set_attn_implementation(attention)
    embedding = PretrainedEmbedding(encoder, start=2, end=3).train()
    ids, valid = torch.tensor([[5, 6, 7], [6, 5, 0]]), torch.tensor([[True] * 3, [True, True, False]])

    def states(seed: int) -> Tensor:
        with drawing_from(seeded(seed)):
            return embedding(ids, valid).tokens.detach()

    before = torch.get_rng_state()
    first, again, other = states(1), states(1), states(2)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    with torch.no_grad():
        assert not torch.equal(embedding.eval()(ids, valid).tokens, first)
