"""`TextClassifier`, `PairClassifier` and `PairScorer`: strings in, answers out, in scikit-learn's manner."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from heedful.config import RunConfig, override
from heedful.data.encode import encode
from heedful.data.examples import Example
from heedful.data.tokens import tokenise_corpus
from heedful.errors import UsageError
from heedful.evaluation import Report
from heedful.explain import Explanation
from heedful.pipeline import RunResult, from_examples, prepare_examples, report, train
from heedful.predictor import Answer, Predictor, Text
from heedful.training.progress import choose_reporter


class Estimator(ABC):
    """Base of the three estimators.

    Args:
        config: all settings; None for the defaults of the task.
        **settings: single settings by their dotted name with ``__`` for the dot: ``train__epochs=3``,
            ``model__dropout=0.3``, ``text__vectors="vectors.txt"``.
    """

    kind: ClassVar[str]
    task: ClassVar[str]
    metric: ClassVar[str] = "accuracy"

    def __init__(self, config: RunConfig | None = None, **settings: Any) -> None:
        base = config or self._defaults()
        self.config = override(base, {k.replace("__", "."): v for k, v in settings.items()})
        self.predictor_: Predictor | None = None
        self.result_: RunResult | None = None

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = RunConfig()
        model = replace(config.model, task=cls.task)  # type: ignore[arg-type]
        return replace(config, model=model, train=replace(config.train, metric=cls.metric, patience=5))

    def fit(
        self,
        X: Sequence[Text],
        y: Sequence[str | float],
        *,
        dev: tuple[Sequence[Text], Sequence[str | float]] | None = None,
        folder: Path | str | None = None,
        progress: bool = False,
    ) -> Self:
        """Train.

        Args:
            X: texts, or (premise, hypothesis) pairs.
            y: class names, or scores from 1 to 5.
            dev: examples that select the best weights; None cuts ``data.dev_fraction`` from the training examples.
            folder: run folder to write; None keeps the model in memory.
            progress: show progress on standard error.

        Returns:
            The estimator.

        Raises:
            UsageError: if X and y differ in length or there are fewer than two examples.
        """
        if len(X) < 2:
            raise UsageError(f"X must have at least 2 examples; got {len(X)}")
        source = from_examples(
            _examples(X, y),
            None if dev is None else _examples(*dev),
            self.kind,
            self.config.data.dev_fraction,
            self.config.train.seed,
        )
        self.result_ = train(
            self.config,
            prepare_examples(self.config, source),
            folder=None if folder is None else Path(folder),
            reporter=choose_reporter(quiet=not progress),
        )
        self.predictor_ = self.result_.predictor
        return self

    @property
    def predictor(self) -> Predictor:
        """The trained model.

        Raises:
            UsageError: before `fit` or `from_pretrained`.
        """
        if self.predictor_ is None:
            raise UsageError(f"this {type(self).__name__} is not trained: call fit, or use from_pretrained")
        return self.predictor_

    def answer(self, X: Sequence[Text]) -> list[Answer]:
        """Return everything the model says about each request; see `Answer`."""
        return self.predictor.answer(X)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of each text, [N, D] float32."""
        return self.predictor.encode(texts)

    def similarity(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosine of every text of ``first`` with every text of ``second``, [N, M]; 0 with an empty text."""
        a, b = (_unit(self.encode(texts)) for texts in (first, second))
        return a @ b.T

    def evaluate(self, X: Sequence[Text], y: Sequence[str | float]) -> Report:
        """Compare answers with gold.

        Args:
            X: requests.
            y: gold.

        Returns:
            The report.
        """
        predictor = self.predictor
        dataset = encode(
            tokenise_corpus(_examples(X, y), predictor.text.tokenizer),
            predictor.vocabulary,
            kind="score" if self.kind == "score" else "class",
            labels=predictor.labels,
            max_tokens=predictor.text.max_tokens,
            truncate=predictor.text.truncate,
        )
        return report(predictor, dataset)

    def explain(self, request: Text) -> Explanation:
        """Show what the model looked at; ``.to_html(path)``, ``.to_figure(path)``, ``.to_text()``."""
        return self.predictor.explain(request)

    def save_pretrained(self, folder: Path | str) -> None:
        """Write the model folder."""
        metrics = {} if self.result_ is None else self.result_.summary()
        card = f"# {type(self).__name__}\n\nA Heedful model; load it with `heedful.from_pretrained`.\n"
        from dataclasses import asdict

        self.predictor.save(Path(folder), metrics, card, asdict(self.config))

    @classmethod
    def from_pretrained(cls, folder: Path | str) -> Self:
        """Read a model folder.

        Args:
            folder: a folder that `save_pretrained` or ``heedful train`` wrote.

        Returns:
            The estimator.

        Raises:
            UsageError: if the model is for another task.
        """
        predictor = Predictor.load(model_folder(folder))
        if predictor.model.task != cls.task:
            raise UsageError(f"{folder}: this is a {predictor.model.task!r} model, not one for {cls.__name__}")
        estimator = cls()
        estimator.predictor_ = predictor
        return estimator


class _Classifier(Estimator):
    """What the two classifiers share."""

    @property
    def classes_(self) -> tuple[str, ...]:
        """Class names; column k of `predict_proba` belongs to name k."""
        return self.predictor.labels

    def predict_proba(self, X: Sequence[Text]) -> NDArray[np.float64]:
        """Return probabilities, [N, Y]; rows sum to 1."""
        logits, _ = self.predictor.run(self.predictor.encode_requests(X))
        return self.predictor.probabilities(logits)

    def predict(self, X: Sequence[Text]) -> list[str]:
        """Return the most probable class of each request."""
        return [self.classes_[i] for i in self.predict_proba(X).argmax(axis=1)] if len(X) else []

    def score(self, X: Sequence[Text], y: Sequence[str]) -> float:
        """Return the accuracy."""
        return self.evaluate(X, y).metrics["accuracy"]


class TextClassifier(_Classifier):
    """Classify texts."""

    kind, task = "text", "text"


class PairClassifier(_Classifier):
    """Classify pairs of texts: natural language inference, paraphrase."""

    kind, task = "pair", "pair"


class PairScorer(Estimator):
    """Score how related two texts are, from 1 to 5."""

    kind, task, metric = "score", "relatedness", "pearson"

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = super()._defaults()
        return replace(config, model=replace(config.model, outputs=5, activation="relu"))

    def predict(self, X: Sequence[Text]) -> NDArray[np.float64]:
        """Return the expected score of each pair, [N]."""
        logits, _ = self.predictor.run(self.predictor.encode_requests(X))
        return self.predictor.scores(logits)

    def score(self, X: Sequence[Text], y: Sequence[float]) -> float:
        """Return Pearson's correlation with gold."""
        return self.evaluate(X, y).metrics["pearson"]


_BY_TASK: dict[str, type[Estimator]] = {
    "text": TextClassifier,
    "pair": PairClassifier,
    "relatedness": PairScorer,
}


def from_pretrained(folder: Path | str) -> Estimator:
    """Read a model folder into the estimator of its task.

    Args:
        folder: a folder that `save_pretrained` or ``heedful train`` wrote.

    Returns:
        A `TextClassifier`, `PairClassifier` or `PairScorer`.
    """
    predictor = Predictor.load(model_folder(folder))
    estimator = _BY_TASK[predictor.model.task]()
    estimator.predictor_ = predictor
    return estimator


def model_folder(folder: Path | str) -> Path:
    """Return the model folder inside a run folder, or the folder itself."""
    path = Path(folder)
    inner = path / "model"
    return inner if inner.is_dir() and not (path / "weights.safetensors").exists() else path


def _examples(X: Sequence[Text], y: Sequence[str | float]) -> list[Example]:
    if len(X) != len(y):
        raise UsageError(f"texts and targets must have the same length; got {len(X)} and {len(y)}")
    texts = ((x,) if isinstance(x, str) else tuple(x) for x in X)
    return [Example(text, target, row=i) for i, (text, target) in enumerate(zip(texts, y, strict=True), 1)]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    norms[norms == 0] = 1
    return vectors / norms

