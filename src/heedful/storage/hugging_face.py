"""Pretrained encoders as Hugging Face keeps them: a folder of JSON and safetensors. Nothing is unpickled.

The packages of the extra "transformers" are imported when an encoder is used. Nothing is downloaded unless asked for,
and no program text that comes with a model is ever run.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import DataError, UsageError, needing
from heedful.storage.encoder_settings import allowed, check_kind

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
"""What is fetched of a model: never a pickle, never a program."""
_LOCAL: dict[str, object] = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True)
class PieceRules:
    """How an encoder's tokenizer cuts words, and what it adds to a text.

    Attributes:
        tokenizer: the rules, as the ``tokenizers`` library writes them in JSON.
        unknown: id of the piece that stands for what it cannot cut.
        start: id of the one token that it puts in front of a text ([CLS]).
        end: id of the one token that it puts behind it ([SEP]).
        limit: most pieces of a text, start and end not counted.
    """

    tokenizer: str
    unknown: int
    start: int
    end: int
    limit: int


def find_encoder(
    name: str, *, download: bool = False, folder: Path | None = None, setting: str = "model.pretrained.name"
) -> Path:
    """Return the folder of an encoder.

    Args:
        name: a folder, or the id of a model on the Hugging Face Hub, such as "google-bert/bert-base-uncased".
        download: whether a model that this machine does not have may be fetched from the Hub.
        folder: where a relative folder is looked for first; then the working folder.
        setting: that names it, for messages.

    Returns:
        A folder that exists; of the Hub's models, the one in their own cache.

    Raises:
        MissingExtraError: if the extra is not installed and a model of the Hub is named.
        DataError: if there is no such model here and none may be fetched.
    """
    for path in [Path(name)] if folder is None else [folder / name, Path(name)]:
        if path.is_dir():
            return path
    with needing("huggingface_hub", "transformers", "a pretrained encoder"):
        from huggingface_hub import snapshot_download
    try:
        return Path(snapshot_download(name, local_files_only=not download, allow_patterns=_FILES))
    except (
        Exception
    ) as error:  # the Hub has an exception for each thing that may be wrong, most are not its own
        reason = f"the Hub does not give it: {str(error).splitlines()[0]:.200}"
        remedy = "name the folder of one, or set model.pretrained.download=true to fetch it from the Hugging Face Hub"
        raise DataError(
            f"{setting}={name!r}: neither a folder nor a model in the Hub's cache on this machine; "
            + (reason if download else remedy)
        ) from error


def read_piece_rules(path: Path) -> PieceRules:
    """Read how an encoder cuts words into pieces.

    Args:
        path: its folder.

    Returns:
        The rules.

    Raises:
        MissingExtraError: if the extra is not installed.
        UsageError: if its tokenizer is not of the fast kind, has no unknown piece, or does not put exactly one token in
            front of a text and one behind it.
        DataError: if there is no tokenizer.
    """
    with needing("transformers", "transformers", "a pretrained encoder"):
        from transformers import AutoConfig, AutoTokenizer
    with _as_data_errors(path, "tokenizer"), _quiet():
        config = AutoConfig.from_pretrained(path, **_LOCAL)
        # The prefix space makes byte-level pieces of a word the same wherever it stands; others ignore it.
        tokenizer = AutoTokenizer.from_pretrained(path, add_prefix_space=True, **_LOCAL)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or tokenizer.unk_token_id is None:
        what = "is not of the fast kind" if backend is None else "has no token for what it cannot cut"
        raise UsageError(f"{path}: the tokenizer {what}; choose another encoder")
    if set(tokenizer.get_vocab()) <= set(
        tokenizer.all_special_tokens
    ):  # what transformers makes of a missing file
        raise DataError(
            f"{path}: there is no vocabulary (tokenizer.json or vocab.txt). Copy the folder again."
        )
    backend.no_truncation()
    backend.no_padding()
    added = backend.encode("", add_special_tokens=True).ids
    between = backend.encode("a", add_special_tokens=True).special_tokens_mask
    if len(added) != 2 or not (between[0] and between[-1]):
        raise UsageError(
            f"{path}: expected a tokenizer that puts one token in front of a text and one behind it, as BERT's [CLS] "
            f"and [SEP]; this one adds {len(added)}. Choose another encoder"
        )
    longest = min(tokenizer.model_max_length, getattr(config, "max_position_embeddings", None) or 10**6)
    rules = json.dumps(json.loads(backend.to_str()))  # one spelling, so that equal rules are equal
    return PieceRules(rules, tokenizer.unk_token_id, added[0], added[1], longest - len(added))


def read_encoder(path: Path, *, layers: int = 0) -> PreTrainedModel:
    """Read an encoder with its weights, in evaluation mode.

    Args:
        path: its folder.
        layers: how many of its layers to read, from the bottom; 0 for all.

    Returns:
        The model without its pooling layer, float32 on the CPU.

    Raises:
        MissingExtraError: if the extra is not installed.
        UsageError: if it has fewer layers, or is no encoder of those that are read.
        DataError: if weights are missing or there are only pickled ones.
    """
    with needing("transformers", "transformers", "a pretrained encoder"):
        from transformers import AutoConfig, AutoModel
    _refuse_pickle(path)
    with _as_data_errors(path, "encoder"), _quiet():
        config = _allowed_config(_plain(AutoConfig.from_pretrained(path, **_LOCAL)))
        if layers > config.num_hidden_layers:
            raise UsageError(
                f"model.pretrained.layers={layers}: {path} has {config.num_hidden_layers} layers; 0 takes all"
            )
        config.num_hidden_layers = layers or config.num_hidden_layers
        model, report = AutoModel.from_pretrained(
            path,
            config=config,
            attn_implementation=_attention(config),
            dtype="float32",
            use_safetensors=True,
            output_loading_info=True,
            **_LOCAL,
        )
    missing = sorted(name for name in report["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise DataError(
            f"{path}: {len(missing)} weights of the encoder are not in its files, the first {missing[0]!r}"
        )
    return _without_pooler(model)


def describe_encoder(model: PreTrainedModel) -> dict[str, object]:
    """Return what `rebuild_encoder` needs, as plain values: the settings that the encoder's weights depend on."""
    plain = _plain(model.config)
    return {"model_type": check_kind(plain), **_allowed(plain)}


def _plain(config: PretrainedConfig) -> dict[str, object]:
    plain: dict[str, object] = json.loads(config.to_json_string(use_diff=False))
    return plain


def rebuild_encoder(config: Mapping[str, object]) -> PreTrainedModel:
    """Build an encoder whose weights are then loaded.

    Returns the model without its pooling layer; its weights are random. Raises MissingExtraError if the extra is not
    installed. Raises UsageError if it is no encoder of those that are read, a setting is out of range, or this version
    of transformers has no such model.
    """
    with needing("transformers", "transformers", "a pretrained encoder"):
        from transformers import AutoModel
    made = _allowed_config(config)
    try:
        with _quiet():
            return _without_pooler(AutoModel.from_config(made, attn_implementation=_attention(made)))
    except Exception as error:  # settings may disagree in any way, and every model has its own exceptions
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UsageError(
            f"encoder.model_type {made.model_type!r}: this version of transformers cannot build it: {reason:.200}"
        ) from error


def _allowed_config(config: Mapping[str, object]) -> PretrainedConfig:
    """Make the configuration of an encoder from the settings that may reach transformers, and from no others."""
    from transformers import AutoConfig

    kind = check_kind(config)
    try:
        with _quiet():
            return AutoConfig.for_model(kind, **_allowed(config))
    except UsageError:
        raise
    except Exception as error:  # as in `rebuild_encoder`
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UsageError(f"encoder.model_type {kind!r}: {reason:.200}") from error


def _allowed(config: Mapping[str, object]) -> dict[str, object]:
    from transformers import AutoConfig

    usual = AutoConfig.for_model(check_kind(config))
    return allowed(config, frozenset(usual.to_dict()) | frozenset(usual.attribute_map))


def _attention(config: PretrainedConfig) -> str:
    """Return which attention computes an encoder: one of two that come with transformers, whatever a folder names."""
    from transformers import AutoModel

    kind = AutoModel._model_mapping[type(config)]
    return "sdpa" if getattr(kind, "_supports_sdpa", False) else "eager"


def _without_pooler(model: PreTrainedModel) -> PreTrainedModel:
    """Leave out BERT's dense layer over [CLS]: the state of the last layer is used, which every encoder has."""
    if getattr(model, "pooler", None) is not None:
        model.register_module("pooler", None)
    return model.eval()


def _refuse_pickle(path: Path) -> None:
    if not any(path.glob("*.safetensors")):
        pickled = sorted(file.name for file in path.glob("*.bin"))
        if pickled:
            raise DataError(
                f"{path}: its weights are pickled ({pickled[0]}), and unpickling can run foreign code. Where you trust "
                "them, convert them once: transformers.AutoModel.from_pretrained(FOLDER).save_pretrained(NEW_FOLDER)"
            )
        raise DataError(
            f"{path}: there are no weights (a file that ends in .safetensors). Copy the folder again."
        )


@contextlib.contextmanager
def _as_data_errors(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except UsageError:
        raise
    except Exception as error:  # a folder may be wrong in any way, and every model has its own exceptions
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        if "ignore_mismatched_sizes" in reason:
            reason = "its weights have other sizes than config.json says"
        raise DataError(f"{path}: holds no {what} that transformers can read: {reason:.300}") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from writing bars and reports, and leave its settings as they were."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
