"""`Translator`: a network that translates, together with its subwords."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.examples import Corpus
from heedful.data.tokens import place
from heedful.errors import DataError
from heedful.machine.torch_state import own_torch_state
from heedful.models import ModelConfig
from heedful.nn.losses import sequence_cross_entropy
from heedful.storage.model_folder import ModelFolder, save_model_folder
from heedful.tasks.saved_model import SavedModel, even_batches, refuse_rounded
from heedful.tasks.schema import About, Text, TextSettings
from heedful_lab.translation.beam import Hypothesis, beam_search
from heedful_lab.translation.bitext import ParallelDataset, collate_parallel, source_batch
from heedful_lab.translation.subwords import BEGIN, END, PADDING, Languages
from heedful_lab.translation.translation_network import TranslationConfig, TranslationNetwork

if TYPE_CHECKING:
    from heedful.explain import Explanation


@dataclass(frozen=True)
class Translation:
    """What a model says about one request.

    Attributes:
        text: the translation.
        log_probability: of its subwords and its end.
        score: what the search ranked it by: the log-probability divided by the length penalty.
        tokens: subwords that were read.
        truncated: whether the source was cut (only when that was asked for).
        empty: whether the source has no subwords.
    """

    text: str
    log_probability: float
    score: float
    tokens: int
    truncated: bool
    empty: bool

    @property
    def remarks(self) -> str:
        """What a reader should know; empty where there is nothing."""
        notes = ["text without words"] if self.empty else []
        return ", ".join([*notes, f"cut to {self.tokens} subwords"] if self.truncated else notes)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {"translation": self.text, **{k: v for k, v in asdict(self).items() if k != "text"}}


class Translator(SavedModel[Translation]):
    """A trained network that translates.

    Args:
        network: the network; put into evaluation mode.
        model: the settings all models have.
        translation: the settings of a network that translates.
        languages: subwords of both sides.
        text: how text is read: ``max_tokens`` counts subwords, and no tokenizer is used.
        about: what is kept with it.
    """

    network: TranslationNetwork

    def __init__(
        self,
        network: TranslationNetwork,
        model: ModelConfig,
        translation: TranslationConfig,
        languages: Languages,
        text: TextSettings,
        about: About | None = None,
    ) -> None:
        self.network = network.eval()
        self.model, self.translation, self.languages, self.text = model, translation, languages, text
        self.about = about or About()

    def reading_as(self, text: TextSettings) -> Self:
        """See `SavedModel.reading_as`."""
        return type(self)(self.network, self.model, self.translation, self.languages, text, self.about)

    def answered(self, block: Corpus) -> list[Translation]:
        """See `Model.answered`; a text without words is translated like any other, and flagged."""
        limit = self.text.max_tokens
        pieces = self._pieces(block)
        found = self.search([(*ids[:limit], END) for ids in pieces])
        return [
            Translation(
                self.languages.target.decode(best.tokens),
                best.log_probability,
                best.score,
                min(len(ids), limit),
                len(ids) > limit,
                not ids,
            )
            for ids, best in zip(pieces, found, strict=True)
        ]

    def refuse_long(self, corpus: Corpus) -> None:
        """See `SavedModel.refuse_long`."""
        limit = self.text.max_tokens
        long = [example for example in corpus.examples if len(example.texts[0]) > limit]
        self._pieces(Corpus(long, source=corpus.source))

    def _pieces(self, corpus: Corpus) -> list[tuple[int, ...]]:
        """Return the subwords of each text, all of them; see `refuse_long` for what is raised."""
        limit = self.text.max_tokens
        pieces = [each.ids for each in self.languages.source.encode([e.texts[0] for e in corpus.examples])]
        for number, (example, ids) in enumerate(zip(corpus.examples, pieces, strict=True), start=1):
            if len(ids) > limit and self.text.truncate == "error":
                raise DataError(
                    f"{place(corpus.source, example.row or number)}: {len(ids)} subwords, at most max_tokens = {limit} "
                    "allowed. Raise max_tokens, or choose truncate = 'head'."
                )
        return pieces

    @torch.inference_mode()
    def search(self, sources: Sequence[Sequence[int] | NDArray[np.int32]]) -> list[Hypothesis]:
        """Find the best translation of each source.

        Args:
            sources: subwords of each, the end included.

        Returns:
            The best hypothesis of each, in order.
        """
        self.network.eval()
        config, found = self.translation.search, dict[int, Hypothesis]()
        for rows in self._batches(np.array([len(source) for source in sources], np.int64)):
            state = self.network.begin(source_batch([sources[i] for i in rows]).to(self.device))
            ranked = beam_search(
                self.network.step,
                state,
                [len(sources[i]) + config.extra_tokens for i in rows],
                config,
                begin=BEGIN,
                end=END,
                never=(PADDING, BEGIN),
            )
            found |= {int(i): each[0] for i, each in zip(rows, ranked, strict=True)}
        return [found[i] for i in range(len(sources))]

    @torch.inference_mode()
    def perplexity(self, dataset: ParallelDataset) -> float:
        """Return the perplexity of the references' subwords, ends included, without label smoothing."""
        self.network.eval()
        total, count = 0.0, 0
        for rows in self._batches(dataset.lengths()):
            batch = collate_parallel(dataset, rows).to(self.device)
            assert batch.targets is not None  # parallel text has them
            total += float(sequence_cross_entropy(self.network(batch).logits.float(), batch.targets).sum())
            count += int((batch.targets >= 0).sum())
        return math.exp(min(total / max(count, 1), 100.0))

    @own_torch_state()
    def explain(self, request: Text | Corpus) -> Explanation:
        """See `SavedModel.explain`; the text is translated, and each word of the translation shows where it looked."""
        from heedful_lab.translation.explaining_translation import explain_translation

        return explain_translation(self, self.one(request))

    def save(self, path: Path) -> None:
        """See `SavedModel.save`."""
        refuse_rounded(self.network)
        content = ModelFolder(
            config={
                "model": asdict(self.model),
                "translation": asdict(self.translation),
                "text": asdict(self.text),
                "run": self.about.run,
            },
            state=self.network.state_dict(),
            vocabulary=self.languages.to_json(),
            labels=[],
            metrics=self.about.metrics,
            card=self.about.card,
        )
        save_model_folder(path, content)

    def _batches(self, lengths: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        return even_batches(lengths, self.text.eval_size)
