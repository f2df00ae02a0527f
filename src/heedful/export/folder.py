"""A model folder for the runtime, with smaller numbers where that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.export.whole_layers import card_of, in_bfloat16, in_whole_numbers, unmarked
from heedful.model.training_sums import SUMS
from heedful.storage.manifest import SCALE
from heedful.storage.model_folder import ModelFolder, is_matrix, rounded, save_model_folder
from heedful.storage.shared_rows import ROWS, SHARED, packaged_rows, read_rows, record, usable_baseforms

Numbers = Literal["float32", "float16", "int8"]
"""What matrices and word vectors are kept as; "float32" leaves everything as training saved it."""


def export_folder(
    folder: ModelFolder, description: Mapping[str, object], path: Path, numbers: Numbers, shared: str = ""
) -> None:
    """Write a model folder for `heedful.runtime`; the settings, words, labels and figures stay.

    Sums over training rows are left out.

    With smaller numbers the vocabulary is compressed too, unless most of its vectors are a package's: the package is
    compressed as a whole.

    Args:
        folder: the model, as `heedful.storage.model_folder.load_model_folder` reads it.
        description: of its network, from `heedful.export.described`.
        path: the folder to make or replace.
        numbers: what matrices and word vectors are kept as. Vectors such as biases stay as they are.
        shared: name of the rows of an installed package to which the folder leaves its frozen word vectors, and its
            base forms where they are the package's (`heedful.storage.shared_rows`); empty for none.

    Raises:
        OutputError: if it cannot be written; an old folder stays.
        UsageError: if a number is too large for float16, or the frozen word vectors are not those rows.
    """
    state = {name: x for name, x in folder.state.items() if not name.startswith(f"{SUMS}.")}
    folder = replace(folder, config={name: value for name, value in folder.config.items() if name != SUMS})
    if numbers != "float32":
        state = _halved(state) if numbers == "float16" else rounded(state)
    if numbers == "float32":
        description = unmarked(description)
    else:
        description = (in_whole_numbers if numbers == "int8" else in_bfloat16)(description, state)
    description = {**description, "numbers": numbers}
    folder = replace(folder, card=card_of(folder.card, description))
    config = {**folder.config, "network": description}
    vocabulary = folder.vocabulary
    if shared:
        name, length = _shared_table(folder, shared)
        state = {key: x for key, x in state.items() if key not in (name, name + SCALE)}
        known = [*folder.words.texts("trainable"), *folder.words.texts("extra")]
        leaves_forms = vocabulary["baseforms"] == usable_baseforms(packaged_rows(shared) or path, known)
        vocabulary = {**vocabulary, "baseforms": {}} if leaves_forms else vocabulary
        config[SHARED] = record(shared, name, length, baseforms=leaves_forms)
    small = numbers != "float32" and not shared
    save_model_folder(path, replace(folder, config=config, state=state, vocabulary=vocabulary), small=small)


def _shared_table(folder: ModelFolder, shared: str) -> tuple[str, float]:
    """Return the name of the frozen table and the length of its rows, which must be the shared ones."""
    place, names = packaged_rows(shared), [name for name in folder.state if name.endswith("embedding.frozen")]
    extra = folder.words.texts("extra", ())
    if place is None or len(names) != 1 or not extra or len(extra) != len(folder.state[names[0]]):
        raise UsageError(f"the model has no frozen word vectors that could be left to {shared!r:.80}")
    table = folder.state[names[0]].float()
    length = round(float(table[0].norm()), 2)
    codes, scale = read_rows(place / ROWS).of_length(extra, length)
    worst = float((torch.from_numpy(codes * scale[:, None]) - table).abs().max())
    if worst > 0.01 * length:
        raise UsageError(
            f"the frozen word vectors are not the rows of {shared!r:.80}: they differ by {worst:.3g}"
        )
    return names[0], length


def _halved(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    halved = {name: x.to(torch.float16) if is_matrix(name, x) else x for name, x in state.items()}
    for name, tensor in halved.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise UsageError(
                f"tensor {name!r:.200} holds numbers above 65,504, which float16 cannot hold; use --int8"
            )
    return halved
