"""Strings in, answers out: a network together with its vocabulary, tokenizer and labels.

`Predictor` is the object that `predict`, `encode`, `explain` and the estimators share; a saved model folder is one of
these and nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.checkpoint import load_model_folder, save_model_folder
from heedful.data.collate import collate
from heedful.data.encode import EncodedDataset, Truncate, encode_texts
from heedful.data.sampler import BucketSampler
from heedful.errors import ArtefactError, UsageError
from heedful.models import ModelConfig, Network, build_network
from heedful.objectives import expected_grade
from heedful.structures import NetworkOutput
from heedful.text.tokenize import tokenize
from heedful.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from heedful.explain.explanation import Explanation

Text = str | tuple[str, str]
SIDE_NAMES = {1: ("text",), 2: ("premise", "hypothesis")}


@dataclass(frozen=True)
class TextSettings:
    """How a predictor reads text.

    Attributes:
        tokenizer: name of the tokenizer.
        max_tokens: longest sentence, in tokens.
        truncate: what happens to a longer one: "error" or "head".
        eval_size: examples a batch.
    """

    tokenizer: str = "treebank"
    max_tokens: int = 400
    truncate: Truncate = "error"
    eval_size: int = 128


@dataclass(frozen=True)
class Answer:
    """What a model says about one request.

    Attributes:
        label: the most probable class; None for relatedness.
        probabilities: class name to probability; they sum to 1. Empty for relatedness.
        score: expected grade, for relatedness; else None.
        tokens: number of tokens of each text.
        unknown: how many of them the model does not know.
        truncated: whether a text was cut (only when that was asked for).
        empty: whether a text has no tokens; its vector is then zero.
    """

    label: str | None
    probabilities: dict[str, float]
    score: float | None
    tokens: tuple[int, ...]
    unknown: int
    truncated: bool
    empty: bool

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


class Predictor:
    """A trained network that takes text.

    Args:
        network: the network; put into evaluation mode.
        model: the settings it was built from.
        vocabulary: words to ids.
        labels: class names in the order of the network's outputs; empty for relatedness.
        text: how text is read.
    """

    def __init__(
        self,
        network: Network,
        model: ModelConfig,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        text: TextSettings,
    ) -> None:
        self.network = network.eval()
        self.model, self.vocabulary, self.labels, self.text = model, vocabulary, tuple(labels), text

    @property
    def is_pair(self) -> bool:
        """Whether a request is a pair of texts."""
        return self.network.sides == 2

    def encode_requests(self, requests: Sequence[Text]) -> EncodedDataset:
        """Tokenise and look up requests; every one stays, in order.

        Args:
            requests: strings for a text model, (premise, hypothesis) for a pair model.

        Returns:
            The encoded requests.

        Raises:
            UsageError: if a request has the wrong number of texts.
        """
        for row, request in enumerate(requests, 1):
            count = 1 if isinstance(request, str) or request is None else len(request)
            if count != self.network.sides:
                raise UsageError(
                    f"request {row}: this model takes {self.network.sides} text(s) an example; got {count}"
                )
        return encode_texts(
            requests,
            self.vocabulary,
            self.text.tokenizer,
            max_tokens=self.text.max_tokens,
            truncate=self.text.truncate,
        )

    @torch.inference_mode()
    def run(self, dataset: EncodedDataset) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Run the network over a data set, in batches of similar length.

        Args:
            dataset: encoded examples.

        Returns:
            Logits [N, Y] and the sentence vectors of each side, [N, D] each, in the order of the data set.
        """
        self.network.eval()
        logits = np.zeros((len(dataset), self.model.outputs), np.float32)
        width = self.network.sentence_encoder.width_out
        vectors = [np.zeros((len(dataset), width), np.float32) for _ in range(self.network.sides)]
        for rows in self._batches(dataset):
            output = self.network(collate(dataset, rows))
            logits[rows] = output.logits.float().numpy()
            for side, vector in zip(vectors, output.vectors, strict=True):
                side[rows] = vector.float().numpy()
        return logits, vectors

    def _batches(self, dataset: EncodedDataset) -> list[NDArray[np.int64]]:
        if not len(dataset):
            return []
        # About the memory of `eval_size` sentences of 64 tokens, however long a sentence is.
        budget = self.text.eval_size * 64 * self.network.sides
        sampler = BucketSampler(
            dataset.lengths(), batch_size=self.text.eval_size, max_tokens=budget, shuffle=False
        )
        return sampler.batches(0)

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return softmax of logits [N, Y], rows summing to 1."""
        return torch.softmax(torch.from_numpy(logits).double(), dim=-1).numpy()

    def scores(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the expected grade of logits [N, K]."""
        return expected_grade(torch.from_numpy(logits).double()).numpy()

    def answer(self, requests: Sequence[Text]) -> list[Answer]:
        """Answer requests.

        Args:
            requests: strings for a text model, (premise, hypothesis) for a pair model; may be empty strings.

        Returns:
            One answer a request, in order.
        """
        dataset = self.encode_requests(requests)
        logits, _ = self.run(dataset)
        probabilities, lengths = self.probabilities(logits), dataset.lengths()
        full = self._full_lengths(requests) if dataset.report.truncated else lengths
        scores = self.scores(logits) if self.model.task == "relatedness" else None
        unknown = _unknown_counts(dataset)
        return [
            Answer(
                label=None if scores is not None else self.labels[int(p.argmax())],
                probabilities={}
                if scores is not None
                else {n: float(x) for n, x in zip(self.labels, p, strict=True)},
                score=None if scores is None else float(scores[i]),
                tokens=tuple(int(n) for n in lengths[i]),
                unknown=int(unknown[i]),
                truncated=bool((full[i] > lengths[i]).any()),
                empty=bool((lengths[i] == 0).any()),
            )
            for i, p in enumerate(probabilities)
        ]

    def _full_lengths(self, requests: Sequence[Text]) -> NDArray[np.int64]:
        texts = [(r,) if isinstance(r, str) else r for r in requests]
        return np.array([[len(tokenize(t, self.text.tokenizer).words) for t in pair] for pair in texts])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of each text, [N, D]; a text without words is the zero vector."""
        dataset = encode_texts(
            texts,
            self.vocabulary,
            self.text.tokenizer,
            max_tokens=self.text.max_tokens,
            truncate=self.text.truncate,
        )
        vectors = np.zeros((len(dataset), self.network.sentence_encoder.width_out), np.float32)
        with torch.inference_mode():
            for rows in self._batches(dataset):
                vector, _ = self.network.sentence_encoder(collate(dataset, rows).sides[0])
                vectors[rows] = vector.float().numpy()
        return vectors

    def explain(self, request: Text, *, faithfulness: bool = True) -> Explanation:
        """Show what the model looked at.

        Args:
            request: one text or one pair.
            faithfulness: also delete the heaviest words and see what happens.

        Returns:
            The record that the pictures are drawn from.
        """
        from heedful.explain import SentenceView, explanation_from

        dataset = self.encode_requests([request])
        with torch.inference_mode():
            output: NetworkOutput = self.network(collate(dataset, np.array([0])), need_weights=True)
        texts = (request,) if isinstance(request, str) else request
        views = []
        for name, text, length in zip(SIDE_NAMES[len(texts)], texts, dataset.lengths()[0], strict=True):
            tokens = tokenize(text, self.text.tokenizer)
            words, spans = tokens.words[:length], tokens.spans[:length]
            unknown = tuple(not self.vocabulary.knows(word) for word in words)
            views.append(SentenceView(name, text, words, spans, unknown, length < len(tokens.words)))
        related = self.model.task == "relatedness"
        explanation = explanation_from(
            output,
            0,
            views,
            labels=() if related else self.labels,
            score=float(self.scores(output.logits.float().numpy())[0]) if related else None,
            score_range=(1.0, float(self.model.outputs)) if related else None,
            method=f"{self.model.encoder} attention weights, averaged over features",
        )
        return self._with_faithfulness(explanation) if faithfulness and not related else explanation

    def _with_faithfulness(self, explanation: Explanation) -> Explanation:
        from dataclasses import replace

        from heedful.explain import deletion_score

        weights = [side.weights for side in explanation.sides if side.weights is not None]
        if len(weights) < len(explanation.sides):
            return explanation
        score = deletion_score(
            self._probabilities_of_words, [side.words for side in explanation.sides], weights
        )
        return replace(explanation, faithfulness=score)

    def _probabilities_of_words(self, examples: Sequence[Any]) -> NDArray[np.float64]:
        texts = [tuple(" ".join(words) for words in example) for example in examples]
        dataset = encode_texts(
            texts if self.is_pair else [t[0] for t in texts],
            self.vocabulary,
            "whitespace",
        )
        return self.probabilities(self.run(dataset)[0])

    def save(self, path: Path, metrics: Mapping[str, Any], card: str, run: Mapping[str, Any]) -> None:
        """Write the model folder.

        Args:
            path: the folder; an old one is replaced as a whole.
            metrics: the figures to keep with the model.
            card: the model card, Markdown.
            run: the settings of the run that made it.
        """
        config = {"model": asdict(self.model), "text": asdict(self.text), "run": dict(run)}
        save_model_folder(
            path,
            config=config,
            state=self.network.state_dict(),
            vocabulary=json.loads(self.vocabulary.to_json()),
            labels=list(self.labels),
            metrics=dict(metrics),
            card=card,
        )

    @classmethod
    def load(cls, path: Path | str) -> Predictor:
        """Read a model folder, checking every file against its checksum.

        Args:
            path: the folder.

        Returns:
            The predictor, in evaluation mode.

        Raises:
            ArtefactError: if anything is missing, altered or of an unknown version.
        """
        folder = load_model_folder(Path(path))
        try:
            model = ModelConfig(**folder.config["model"])
            text = TextSettings(**folder.config["text"])
            trained = folder.state["sentence_encoder.embedding.weight"]
            frozen = folder.state["sentence_encoder.embedding.frozen"]
            network = build_network(model, trained, frozen)
            network.load_state_dict(folder.state)
        except (KeyError, TypeError, RuntimeError, UsageError) as error:
            reason = str(error).splitlines()[0]
            raise ArtefactError(f"{path}: the files do not belong together: {reason}") from error
        vocabulary = Vocabulary.from_json(json.dumps(folder.vocabulary))
        return cls(network, model, vocabulary, folder.labels, text)


def _unknown_counts(dataset: EncodedDataset) -> NDArray[np.int64]:
    """Count unknown words of each example over its sides."""
    counts = np.zeros(len(dataset), np.int64)
    for side in dataset.sides:
        running = np.concatenate([[0], np.cumsum(side.values == 1)])
        counts += running[side.offsets[1:]] - running[side.offsets[:-1]]
    return counts
