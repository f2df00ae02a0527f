"""`Predictor`: the object that ``predict``, ``encode``, ``explain`` and the estimators share.

A saved model folder is one of these and nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.checkpoint import load_model_folder, save_model_folder
from heedful.data.collate import collate
from heedful.data.encode import EncodedDataset, encode
from heedful.data.examples import Corpus, Example
from heedful.data.parses import parse_if_possible
from heedful.data.readers.requests import read_requests
from heedful.data.sampler import BucketSampler
from heedful.data.tokens import tokenise_corpus
from heedful.errors import ArtefactError, UsageError
from heedful.models import ModelConfig, Network, build_network
from heedful.objectives import expected_grade
from heedful.predictor.folder import model_folder
from heedful.predictor.records import About, Answer, Requests, Text, TextSettings
from heedful.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from heedful.explain import Explanation

_USUAL_LENGTH = 64
"""A batch takes about the memory of `TextSettings.eval_size` sentences of this many tokens, however long they are."""


@dataclass(frozen=True)
class Readings:
    """How examples were read, beside their ids.

    Attributes:
        unknown: words of each example that the model does not know, [N] int64.
        truncated: whether a text of it was cut, [N] bool.
    """

    unknown: NDArray[np.int64]
    truncated: NDArray[np.bool_]


class Predictor:
    """A trained network that takes text.

    Args:
        network: the network; put into evaluation mode.
        model: the settings it was built from.
        vocabulary: words to ids.
        labels: class names in the order of the network's outputs; empty for relatedness.
        text: how text is read.
        about: what is kept with it.
    """

    def __init__(
        self,
        network: Network,
        model: ModelConfig,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        text: TextSettings,
        about: About | None = None,
    ) -> None:
        self.network = network.eval()
        self.about = about or About()
        self.model, self.vocabulary, self.labels, self.text = model, vocabulary, tuple(labels), text

    @property
    def is_pair(self) -> bool:
        """Whether a request is a pair of texts."""
        return self.network.sides == 2

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the network's outputs stand for: the class names, or the grades "1", "2" and so on."""
        return self.labels or tuple(str(grade) for grade in range(1, self.model.outputs + 1))

    def reading(self, text: TextSettings) -> Predictor:
        """Return a predictor with the same network that reads text in another way."""
        return Predictor(self.network, self.model, self.vocabulary, self.labels, text, self.about)

    def limited(self, max_tokens: int | None, truncate: Literal["error", "head"] | None) -> Predictor:
        """Return a predictor with another limit on the length of a text.

        Args:
            max_tokens: longest text, in tokens; None leaves it.
            truncate: what a longer text does: "error", or "head" to read its beginning; None leaves it.

        Returns:
            The predictor; the network is shared.

        Raises:
            UsageError: if the limit is below 1.
        """
        if max_tokens is not None and max_tokens < 1:
            raise UsageError(f"max_tokens must be 1 or more; got {max_tokens}")
        text = replace(self.text, max_tokens=max_tokens or self.text.max_tokens)
        return self.reading(replace(text, truncate=truncate or text.truncate))

    def read(self, requests: Requests, *, pair: bool | None = None) -> Corpus:
        """Turn requests into examples, one for each, in order.

        Args:
            requests: strings for a text model, (premise, hypothesis) for a pair model; or examples.
            pair: whether to expect pairs; None for what the model takes.

        Returns:
            The examples.

        Raises:
            UsageError: if it is one string rather than a list.
            DataError: if a request is None, or not what the model takes; names it.
        """
        if isinstance(requests, Corpus):
            return requests
        pair = self.is_pair if pair is None else pair
        if isinstance(requests, str):
            raise UsageError(f"expected a list of requests, got one string: write [{requests!r:.60}]")
        # NumPy rows become lists, which is what a pair may be.
        plain = [request.tolist() if isinstance(request, np.ndarray) else request for request in requests]
        return read_requests(plain, pair=pair)

    def encode_examples(
        self, examples: Sequence[Example], source: Path | None = None
    ) -> tuple[EncodedDataset, Readings]:
        """Tokenise and look up examples; every one stays, in order.

        Args:
            examples: texts, or pairs.
            source: the file they came from, for messages.

        Returns:
            The encoded examples without gold, and how they were read.

        Raises:
            DataError: naming the row, if a text is too long and may not be cut.
        """
        corpus = tokenise_corpus(examples, self.text.tokenizer, source)
        if self.text.parser:
            corpus = parse_if_possible(corpus, self.text.parser)
        limit = self.text.max_tokens
        dataset = encode(corpus, self.vocabulary, kind="none", max_tokens=limit, truncate=self.text.truncate)
        known = np.fromiter(map(self.vocabulary.knows, corpus.words), bool, len(corpus.words))
        unknown = np.zeros(len(corpus), np.int64)
        for side in corpus.sides:
            kept = side.head(limit)
            running = np.concatenate([[0], np.cumsum(~known[kept.values])])
            unknown += running[kept.offsets[1:]] - running[kept.offsets[:-1]]
        return dataset, Readings(unknown, np.any(corpus.lengths() > limit, axis=1))

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
            output = self.network(collate(dataset, rows, self.device))
            logits[rows] = output.logits.float().cpu().numpy()
            for side, vector in zip(vectors, output.vectors, strict=True):
                side[rows] = vector.float().cpu().numpy()
        return logits, vectors

    def _batches(self, dataset: EncodedDataset) -> list[NDArray[np.int64]]:
        if not len(dataset):
            return []
        size = self.text.eval_size
        sampler = BucketSampler(
            dataset.lengths(),
            batch_size=size,
            max_tokens=size * _USUAL_LENGTH * len(dataset.sides),
            shuffle=False,
        )
        return sampler.batches(0)

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return softmax of logits [N, Y], rows summing to 1."""
        return torch.softmax(torch.from_numpy(logits).double(), dim=-1).numpy()

    def scores(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the expected grade of logits [N, K]."""
        return expected_grade(torch.from_numpy(logits).double()).numpy()

    def logits(self, requests: Requests) -> NDArray[np.float32]:
        """Return the network's unnormalised answers to requests, [N, Y]; see `read`."""
        corpus = self.read(requests)
        return self.run(self.encode_examples(corpus.examples, corpus.source)[0])[0]

    def answer(self, requests: Requests) -> list[Answer]:
        """Answer requests.

        Args:
            requests: strings for a text model, (premise, hypothesis) for a pair model; may be empty strings.

        Returns:
            One answer a request, in order.
        """
        corpus = self.read(requests)
        dataset, readings = self.encode_examples(corpus.examples, corpus.source)
        logits, _ = self.run(dataset)
        lengths = dataset.lengths()
        related = self.model.task == "relatedness"
        scores = self.scores(logits)
        return [
            Answer(
                label=None if related else self.labels[int(row.argmax())],
                probabilities=dict(zip(self.answer_names, row.tolist(), strict=True)),
                score=float(scores[i]) if related else None,
                tokens=tuple(lengths[i].tolist()),
                unknown=int(readings.unknown[i]),
                truncated=bool(readings.truncated[i]),
                empty=bool((lengths[i] == 0).any()),
            )
            for i, row in enumerate(self.probabilities(logits))
        ]

    def encode(self, texts: Sequence[str] | Corpus) -> NDArray[np.float32]:
        """Turn texts into vectors; a pair model takes single texts here too.

        Args:
            texts: strings.

        Returns:
            One vector a text, [N, D]; exactly zero for a text without words.
        """
        corpus = self.read(texts, pair=False)
        dataset, _ = self.encode_examples(corpus.examples, corpus.source)
        vectors = np.zeros((len(dataset), self.network.sentence_encoder.width_out), np.float32)
        with torch.inference_mode():
            for rows in self._batches(dataset):
                vector, _ = self.network.sentence_encoder(collate(dataset, rows, self.device).sides[0])
                vectors[rows] = vector.float().cpu().numpy()
        return vectors

    def explain(self, request: Text | Corpus, *, faithfulness: bool = True) -> Explanation:
        """Show what the model looked at.

        Args:
            request: one text or one pair.
            faithfulness: also delete the heaviest words of a classified example and see what happens.

        Returns:
            The record that the pictures are drawn from.

        Raises:
            UsageError: if a corpus does not hold exactly one example.
        """
        from heedful.predictor.explaining import explain

        corpus = self.read(request if isinstance(request, Corpus) else [request])
        if len(corpus.examples) != 1:
            raise UsageError(f"explain takes one request at a time; got {len(corpus.examples)}")
        return explain(self, corpus.examples[0], faithfulness=faithfulness)

    def save(self, path: Path) -> None:
        """Write the model folder.

        Args:
            path: the folder; an old one is replaced as a whole.

        Raises:
            OutputError: if it cannot be written; the old one stays.
        """
        config = {"model": asdict(self.model), "text": asdict(self.text), "run": self.about.run}
        save_model_folder(
            path,
            config=config,
            state=self.network.state_dict(),
            vocabulary=json.loads(self.vocabulary.to_json()),
            labels=list(self.labels),
            metrics=self.about.metrics,
            card=self.about.card,
        )

    @classmethod
    def load(cls, path: Path | str) -> Predictor:
        """Read a model folder, checking every file against its checksum.

        Args:
            path: the folder, or the run folder it lies in.

        Returns:
            The predictor, in evaluation mode.

        Raises:
            ArtefactError: if anything is missing, altered or of an unknown version.
        """
        path = model_folder(path)
        folder = load_model_folder(path)
        try:
            model = ModelConfig(**folder.config["model"])
            text = TextSettings(**folder.config["text"])
            trained = folder.state["sentence_encoder.embedding.weight"]
            frozen = folder.state["sentence_encoder.embedding.frozen"]
            network = build_network(model, trained, frozen)
            network.load_state_dict(folder.state)
            vocabulary = Vocabulary.from_json(json.dumps(folder.vocabulary))
            about = About(folder.config["run"], folder.metrics, folder.card)
        except (KeyError, TypeError, RuntimeError, UsageError) as error:
            reason = str(error).splitlines()[0]
            raise ArtefactError(f"{path}: the files do not belong together: {reason}") from error
        return cls(network, model, vocabulary, folder.labels, text, about)
