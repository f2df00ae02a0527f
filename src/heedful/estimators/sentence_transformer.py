"""A Heedful model as a module of sentence-transformers, so that its tools, losses and indexes can use it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self, cast

import numpy as np

from heedful.data.batching import collate
from heedful.data.readers.text_fields import read_requests
from heedful.errors import DataError, MissingExtraError, UsageError
from heedful.estimators.tensor_features import features_of, sentences_of
from heedful.model.answers import AnyAnswer
from heedful.model.text_reading import Limits
from heedful.models import VectorNetwork
from heedful.nn import use_dense_gradients
from heedful.tasks import load_model
from heedful.tasks.sentences.sentence_model import SentenceModel

try:
    from sentence_transformers.base.modules import InputModule
except ImportError as error:
    raise MissingExtraError(
        "sentence-transformers", "sentence-transformers", "a module of sentence-transformers"
    ) from error

_MODEL = "heedful"


class HeedfulModule(InputModule):
    """The vectors of a Heedful model, for ``SentenceTransformer(modules=[HeedfulModule("runs/snli")])``.

    The vectors are those of `heedful.TextClassifier.encode`. Gradients reach the whole encoder, and those of its tables
    are dense, so that ``SentenceTransformerTrainer`` trains it further with any loss; the classifier on top of the
    encoder, and a part beside it, stay as they were. ``SentenceTransformer.save`` writes a Heedful model folder inside.

    ``max_seq_length`` is the longest text, in tokens. Once it is set, longer texts are truncated; until then the
    setting that the model was saved with says what happens to them.

    sentence-transformers loads such a folder only with ``trust_remote_code=True``, as it does for all classes that
    are not its own. The code that then runs is this class of the installed package, and nothing from the folder.

    Args:
        folder: a model folder or its name (`heedful.storage.named_models.find_model`).

    Raises:
        UsageError: if the model has no vector of a single text.
        ArtifactError: if the folder is damaged.
    """

    save_in_root = False

    def __init__(self, folder: Path | str) -> None:
        super().__init__()
        model = load_model(folder)
        if not isinstance(model.network, VectorNetwork):
            raise UsageError(
                f"{folder}: a {model.model.task!r} model of this kind has no vector of a single text"
            )
        self.model = cast(SentenceModel[AnyAnswer], model)
        self.network = model.network
        self._saved_text = model.text
        use_dense_gradients(self.network)

    @property
    def max_seq_length(self) -> int:
        """Longest text, in tokens."""
        return self.model.text.max_tokens

    @max_seq_length.setter
    def max_seq_length(self, value: int | None) -> None:
        text = self._saved_text
        self.model = self.model.reading_as(text if value is None else Limits(int(value), "head").of(text))

    def preprocess(
        self,
        inputs: Sequence[object],
        prompt: str | None = None,
        *,
        max_length: int | None = None,
        **kwargs: object,
    ) -> dict[str, object]:
        """Read texts as the model does.

        Args:
            inputs: strings.
            prompt: text that is put before each input; None for none.
            max_length: longest text of this batch, in tokens, as ``TrainingArguments.max_length`` sets it; None for
                `max_seq_length`.
            **kwargs: not used.

        Returns:
            Tensors with the batch as their first axis; see `heedful.estimators.tensor_features.features_of`.

        Raises:
            DataError: if an input is not text, or is longer than the model reads.
        """
        texts = [prompt + text if prompt and isinstance(text, str) else text for text in inputs]
        corpus = read_requests(texts)
        model = self.model if max_length is None else self.model.limited(max_length, "head")
        dataset, _ = model.encode_examples(corpus.examples, corpus.source)
        return {**features_of(collate(dataset, np.arange(len(dataset)), "cpu").sides[0])}

    def forward(self, features: dict[str, object], **kwargs: object) -> dict[str, object]:
        """Add "sentence_embedding", [B, D], to what `preprocess` gave; exactly zero for a text without words."""
        device = next(self.network.parameters()).device
        vectors = self.network.vector(sentences_of(features).to(device))
        return {**features, "sentence_embedding": vectors.float()}

    def get_embedding_dimension(self) -> int:
        """Return the width D of the vectors."""
        return self.network.vector_width

    def save(
        self, output_path: str, *args: object, safe_serialization: bool = True, **kwargs: object
    ) -> None:
        """Write the model folder into a folder of sentence-transformers.

        Args:
            output_path: the folder.
            *args: not used.
            safe_serialization: not used: a model folder never holds a pickle.
            **kwargs: not used.
        """
        self.model.save(Path(output_path) / _MODEL)

    @classmethod
    def load(  # type: ignore[override]
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        backend: str = "torch",
        **kwargs: object,
    ) -> Self:
        """Read what `save` wrote.

        Args:
            model_name_or_path: the folder of sentence-transformers, or its name on the Hub.
            subfolder: the module's folder in it.
            token: access token of the Hub.
            cache_folder: folder for files from the Hub.
            revision: revision of a folder on the Hub.
            local_files_only: whether nothing may be downloaded.
            backend: what computes, "torch".
            **kwargs: not used.

        Returns:
            The module.

        Raises:
            DataError: if the folder holds no model.
            UsageError: if another backend is asked for.
        """
        if backend != "torch":
            raise UsageError(
                f"backend={backend!r}: sentence-transformers converts Transformer models alone; leave it out, or write "
                "an ONNX file with 'heedful export MODEL --onnx FILE', which has the vectors as an output"
            )
        inner = str(Path(subfolder) / _MODEL)
        found = cls.load_dir_path(model_name_or_path, inner, token, cache_folder, revision, local_files_only)
        if found is None:
            raise DataError(f"{model_name_or_path}: holds no Heedful model in {subfolder or '.'}/{_MODEL}")
        return cls(found)
