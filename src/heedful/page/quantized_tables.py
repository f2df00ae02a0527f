"""What a page keeps of a model in few bytes: large tables of word vectors along axes, and the matrices beside them.

`heedful.page.principal_axes` has the form of a table. How large its error may be was chosen on training texts that
were held back (docs/lab/smaller-files.md): words that were trained are read most often and are kept best.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.export.recording import NetworkTable
from heedful.page.principal_axes import FEWEST_ROWS, Reals, along_axes, metric_of
from heedful.runtime.encoder_states import KEPT
from heedful.runtime.sentence_part import SENTENCE, SentencePart
from heedful.storage.manifest import SCALE
from heedful.storage.model_folder import restored, rounded


@dataclass(frozen=True)
class Rounding:
    """How far a network may be rounded.

    Attributes:
        errors: what may be lost of each table, as a share of its length under the metric of the layers that read it.
        most: the largest number of a matrix beside such a table.
    """

    errors: Mapping[str, float]
    most: int


OWN = Rounding({"trained": 0.17, "frozen": 0.55, "ngrams": 0.15}, 15)
"""Of the network that was trained: words of the training texts are read most often and are kept best."""
ENCODER = Rounding({"trained": 0.12, "frozen": 0.12, "ngrams": 0.12}, 63)
"""Of a sentence encoder, whose linear part is fitted to what it says exactly."""
ERROR_OF_ROWS = 0.35
"""What may be lost of the word vectors of a part beside the network."""
_SIXTEEN_BITS = 32_767
_STATES = f"{SENTENCE}.states."
Arrays = dict[str, NDArray[np.generic]]


def small_network(
    state: Mapping[str, Tensor], description: NetworkTable, rounding: Rounding = OWN
) -> dict[str, Tensor]:
    """Return the tensors of a network as a page keeps them.

    Args:
        state: those that the description names, of real numbers.
        description: of the network.
        rounding: how far.

    Returns:
        Large tables along axes, and the other matrices in whole numbers: of fewer bits beside such a table, of 8
        bits where there is none.
    """
    words, made = description["words"], dict[str, Tensor]()
    large = {
        words[table]: table for table in rounding.errors if table in words and _is_large(state[words[table]])
    }
    for name, table in large.items():
        metric = metric_of(description, state)
        made |= along_axes(state[name].numpy(), metric, rounding.errors[table]).tensors(name)
    rest = {name: tensor for name, tensor in state.items() if name not in large}
    return {**rounded(rest, rounding.most), **made} if large else rounded(rest)


def small_sentence(part: SentencePart, tensors: Mapping[str, NDArray[np.generic]]) -> Arrays:
    """Return the tensors of a sentence part as a page keeps them.

    Args:
        part: which is complete.
        tensors: its own, by their whole names.

    Returns:
        The same with large tables along axes.
    """
    names = [name for name in tensors if name.startswith(_STATES + KEPT)]
    rest = {name: array for name, array in tensors.items() if name not in names}
    if names:
        own = {name.removeprefix(_STATES + KEPT): torch.from_numpy(np.array(tensors[name])) for name in names}
        description = json.loads(tensors[f"{_STATES}config"].tobytes())["network"]
        real = {name: each.float() for name, each in restored(own).items()}
        small = small_network(real, description, ENCODER)
        rest |= {f"{_STATES}{KEPT}{name}": each.numpy() for name, each in small.items()}
    return small_rows(rest, SENTENCE, _weights_of_words(part))


def small_columns(matrix: Tensor, name: str) -> dict[str, Tensor]:
    """Return a matrix in whole numbers of 16 bits with one scale a column.

    Args:
        matrix: [rows, columns] of real numbers.
        name: of the tensor.

    Returns:
        The tensor, and its scales [columns] float32.
    """
    scale = matrix.abs().amax(dim=0).clamp(min=torch.finfo(torch.float32).tiny) / _SIXTEEN_BITS
    return {name: (matrix / scale).round().to(torch.int16), name + SCALE: scale.float()}


def small_rows(
    tensors: Mapping[str, NDArray[np.generic]], prefix: str, weights: NDArray[np.floating] | None = None
) -> Arrays:
    """Return tensors with the word vectors of a part along axes, where they are many.

    Args:
        tensors: of the part.
        prefix: of their names.
        weights: what a linear layer multiplies the vectors by, [features, outputs]; None if nothing else counts than
            the vectors themselves.

    Returns:
        The tensors.
    """
    name = f"{prefix}.rows"
    if name not in tensors or len(tensors[name]) < FEWEST_ROWS:
        return dict(tensors)
    table = tensors[name].astype(np.float32) * tensors[name + SCALE].astype(np.float32)[:, None]
    metric: Reals = np.eye(table.shape[1])
    if weights is not None and weights.any():
        own = weights.astype(np.float64) @ weights.T.astype(np.float64)
        metric += own * (len(own) / np.trace(own))
    rest = {each: array for each, array in tensors.items() if each not in (name, name + SCALE)}
    made = along_axes(table, metric, ERROR_OF_ROWS).tensors(name)
    return rest | {each: tensor.numpy() for each, tensor in made.items()}


def _is_large(table: Tensor) -> bool:
    return len(table) >= FEWEST_ROWS


def _weights_of_words(part: SentencePart) -> NDArray[np.floating] | None:
    """Return the weights of the mean of the words' vectors; None for pairs, which read the vectors in several ways."""
    if part.features.pairing != "none":
        return None
    own: Sequence[SentencePart] = part.apart()
    return next((each.weights for each in own if not hasattr(each.features.texts, "model")), None)
