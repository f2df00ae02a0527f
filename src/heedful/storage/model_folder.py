"""The model folder: everything a trained model needs, checked byte by byte when it is read.

Tensors are safetensors, the rest is JSON and Markdown; nothing is ever unpickled. A manifest holds the size and
SHA-256 of every file (`heedful.storage.manifest`). Matrices may be kept as whole numbers of 8 bits with a scale for
each row, which take a quarter of the room; they are read back as real numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from heedful.errors import ArtifactError, OutputError, UsageError
from heedful.storage import read_settled, remedy, replace_folder
from heedful.storage.fields import REMEDY, Fields, not_safetensors, read_json
from heedful.storage.manifest import (
    CARD,
    CONFIG,
    LABELS,
    LARGEST,
    METRICS,
    MODEL_FILES,
    NOT_FINITE,
    SCALE,
    VOCABULARY,
    WEIGHTS,
    packed,
    read_card,
    read_labels,
    read_words,
    refuse_without_model,
    verify_manifest,
    write_json,
    write_manifest,
)
from heedful.storage.shared_rows import SHARED, completed


@dataclass(frozen=True)
class ModelFolder:
    """What a model folder holds.

    Attributes:
        config: settings of the model, its tokenizer and task.
        state: tensors by name, in the data types they were saved in. Matrices that were saved in 8 bits, and word
            vectors that the folder leaves to an installed package (`heedful.storage.shared_rows`), are real numbers.
        vocabulary: the words, as the vocabulary writes itself.
        labels: class names in the order of the logits; empty for a score.
        metrics: what was measured, and how; a number that was not finite is None.
        card: the model card in Markdown.
    """

    config: dict[str, object]
    state: Mapping[str, Tensor]
    vocabulary: dict[str, object]
    labels: list[str]
    metrics: dict[str, object]
    card: str

    @property
    def settings(self) -> Fields:
        """The fields of `config`, each checked when it is read."""
        return Fields(self.config, CONFIG)

    @property
    def words(self) -> Fields:
        """The fields of `vocabulary`, each checked when it is read."""
        return Fields(self.vocabulary, VOCABULARY)


def save_model_folder(path: Path, content: ModelFolder, *, small: bool = False) -> None:
    """Write a model folder: temporary folder, sync, rename. An old folder stays until the new one is complete.

    Args:
        path: the folder to make or replace.
        content: what it will hold; any data type of a tensor is kept.
        small: whether the vocabulary is compressed (`heedful.storage.manifest`).

    Raises:
        OutputError: if it cannot be written.
        UsageError: if a tensor is not finite.
    """
    bad = _first_not_finite(content.state)
    if bad is not None:
        raise UsageError(f"state: tensor {bad!r} {NOT_FINITE}; {path} was not written")
    words = packed(content.vocabulary) if small else content.vocabulary
    plain = {CONFIG: content.config, VOCABULARY: words, LABELS: content.labels, METRICS: content.metrics}
    with replace_folder(path) as folder:
        for name, value in plain.items():
            write_json(folder / name, value)
        (folder / CARD).write_text(content.card, encoding="utf-8", newline="\n")
        save_tensors(folder / WEIGHTS, content.state)
        write_manifest(folder, MODEL_FILES)


def load_model_folder(path: Path) -> ModelFolder:
    """Read a model folder, checking every byte of it; nothing on disk is changed.

    While another process replaces the folder, either the old model or the new one is read (`read_settled`).

    Args:
        path: the folder.

    Returns:
        Its content, tensors on the CPU.

    Raises:
        ArtifactError: if there is no model yet, or a file is missing, altered, of another version or not finite; names
            the file, what was expected, what was found and what to do.
    """
    return read_settled(path, _load)


def _load(path: Path) -> ModelFolder:
    """Read the model folder at a path that is settled; see `load_model_folder`."""
    refuse_without_model(path)
    verify_manifest(path, MODEL_FILES)
    config = read_json(path / CONFIG, dict)
    vocabulary, shared = completed(config, read_words(path / VOCABULARY), path)
    config.pop(SHARED, None)
    state = load_tensors(path / WEIGHTS)
    try:
        state = restored({**state, **{name: torch.from_numpy(rows) for name, rows in shared.items()}})
    except UsageError as error:
        raise ArtifactError(f"{path / WEIGHTS}: {error}. {REMEDY}") from error
    bad = _first_not_finite(state)
    if bad is not None:
        raise ArtifactError(f"{path / WEIGHTS}: tensor {bad!r} {NOT_FINITE}. {REMEDY}")
    return ModelFolder(
        config=config,
        state=state,
        vocabulary=vocabulary,
        labels=read_labels(path),
        metrics=read_json(path / METRICS, dict),
        card=read_card(path),
    )


def save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors as safetensors.

    Raises OutputError if it cannot be written, a full disk included.
    """
    try:
        path.touch()
        mode = path.stat().st_mode  # what the umask leaves a file; safetensors lets its owner alone read it
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, path)
        path.chmod(mode)
    except SafetensorError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        advice = remedy(int(number[1]) if number else None)
        raise OutputError(f"{path}: cannot write: {error}. {advice}") from error


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file onto the CPU.

    Raises ArtifactError if it is not one.
    """
    try:
        return load_file(path)
    except (SafetensorError, OSError, LookupError, TypeError, ValueError, RuntimeError) as error:
        # The last four: a kind of number that this version of torch or of safetensors does not have.
        raise not_safetensors(path, error) from error


def _first_not_finite(state: Mapping[str, Tensor]) -> str | None:
    for name, tensor in state.items():
        # torch does not compute on 8 bits and fewer; whoever builds a network refuses them.
        if tensor.is_floating_point() and tensor.itemsize > 1 and tensor.numel():
            least, most = torch.aminmax(tensor)  # both are NaN where a value is
            if not (float(least) >= -LARGEST and float(most) <= LARGEST):
                return name
    return None


_MOST = 127


_PARTS = ("wide.", "sentence.", "tagging.", "columns.", "familiar.")
"""What the names of tensors begin with that stay as they are: those of the parts beside the network."""


def is_matrix(name: str, tensor: Tensor) -> bool:
    """Return whether a tensor is a matrix of the network; the parts beside it stay as they are."""
    return tensor.dim() == 2 and tensor.is_floating_point() and not name.startswith(_PARTS)


def rounded(state: Mapping[str, Tensor], most: int = _MOST) -> dict[str, Tensor]:
    """Turn matrices into whole numbers of 8 bits.

    Args:
        state: tensors by name.
        most: the largest whole number, at most 127; a smaller one rounds more and is compressed better.

    Returns:
        The same, each matrix as int8 with a scale a row, under its name with `SCALE` behind it.
    """
    made: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if not is_matrix(name, tensor):
            made[name] = tensor
            continue
        rows = tensor.float()
        scale = rows.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / most
        made[name] = (rows / scale[:, None]).round().to(torch.int8)
        made[name + SCALE] = scale
    return made


def restored(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Turn matrices of whole numbers back into real ones.

    Args:
        state: tensors by name, as `rounded` returns them or in the numbers of training, which stay as they are.

    Returns:
        The tensors without the scales, each matrix as float32.

    Raises:
        UsageError: if the scales of a matrix are not one a row.
    """
    made = dict(state)
    for name, tensor in state.items():
        scale = state.get(name + SCALE)
        if scale is None or tensor.dtype != torch.int8 or tensor.dim() != 2 or name.startswith(_PARTS):
            continue
        if scale.shape != tensor.shape[:1] or not scale.is_floating_point():
            raise UsageError(f"tensor {name + SCALE!r:.200} must hold {len(tensor)} real numbers, one a row")
        made[name] = tensor.float() * scale.float()[:, None]
        del made[name + SCALE]
    return made
