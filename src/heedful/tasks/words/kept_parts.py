"""The parts of a model beside its network as tensors of its folder: what is kept, and how they are taken out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import UsageError
from heedful.model.training_examples import EXAMPLES, KeptExamples, read_kept_examples
from heedful.model.training_sums import SUMS, KeptSums, read_kept_sums
from heedful.runtime.column_part import ColumnPart, read_column_part
from heedful.runtime.loading import read_states
from heedful.runtime.sentence_part import SENTENCE, SentencePart, read_sentence_part
from heedful.runtime.tag_part import SHAPES, TAGGING, TagPart, read_tag_part
from heedful.runtime.training_texts import FAMILIAR, Familiar, read_familiar
from heedful.text.wide_part import PhraseRule, WidePart

State = dict[str, Tensor]
"""The tensors of a folder by name; a part that is taken leaves those of the network."""
Find = Callable[[str], NDArray[np.generic]]
"""Returns the tensor of a name, or raises UsageError."""
Part = TypeVar("Part")

_KINDS = {"numbers": torch.int32, "rarity": torch.float32, "weights": torch.float32, "bias": torch.float32}


def wide_tensors(part: WidePart | None) -> State:
    """Return what a folder keeps of a wide part beside its rule and its weight; nothing where there is none."""
    if part is None:
        return {}
    return {f"wide.{name}": torch.from_numpy(getattr(part, name)) for name in _KINDS}


def part_tensors(
    part: SentencePart | TagPart | KeptExamples | KeptSums | Familiar | ColumnPart | None,
) -> State:
    """Return what a folder keeps of something beside the network; nothing where there is none."""
    found = {} if part is None else part.tensors()
    return {name: torch.from_numpy(each.copy()) for name, each in found.items()}


def take_familiar(
    state: State, table: Mapping[str, object], sentence: SentencePart | None
) -> Familiar | None:
    """Take what training texts were like; None where no rule of the table needs it. See `take_sentence`."""
    if not table:
        return None
    features = None if sentence is None else sentence.features
    return _taken(state, (FAMILIAR,), lambda find: read_familiar(find, features))


def take_columns(state: State, table: Mapping[str, object], outputs: int) -> ColumnPart:
    """Take the column part; see `take_sentence`."""
    part = read_column_part(table, _finder(state), outputs)
    for name in part.tensors():
        del state[name]
    return part


def take_tagging(state: State, table: Mapping[str, object], outputs: int) -> TagPart:
    """Take the linear part of tags; see `take_sentence`."""

    def read(find: Find) -> TagPart:
        def floats(name: str) -> NDArray[np.float32]:
            if not np.issubdtype(find(name).dtype, np.floating):
                raise UsageError(f"tensor {name!r} holds {find(name).dtype}, expected real numbers")
            return find(name).astype(np.float32)

        return read_tag_part(table, find, floats, outputs)

    return _taken(state, (TAGGING, SHAPES), read)


def take_sentence(state: State, table: Mapping[str, object], outputs: int, texts: int) -> SentencePart:
    """Take a sentence part out of the tensors of a folder.

    Args:
        state: tensors by name; those of the part are removed.
        table: what config.json says of it.
        outputs: of the network.
        texts: of an example.

    Returns:
        The part.

    Raises:
        UsageError: if something is missing or does not fit; see `read_sentence_part`.
    """
    return _taken(
        state, (SENTENCE,), lambda find: read_sentence_part(table, find, outputs, texts, read_states)
    )


def take_examples(state: State, table: Mapping[str, object], texts: int, outputs: int) -> KeptExamples:
    """Take the training examples that are kept; see `take_sentence`."""
    return _taken(state, (EXAMPLES,), lambda find: read_kept_examples(table, find, texts, outputs))


def take_sums(state: State, table: Mapping[str, object], outputs: int) -> KeptSums:
    """Take the sums over training rows; see `take_sentence`."""
    return _taken(state, (SUMS,), lambda find: read_kept_sums(table, find, outputs))


def _taken(state: State, names: tuple[str, ...], read: Callable[[Find], Part]) -> Part:
    """Read a part, and remove the tensors whose names begin with those of the part."""
    part = read(_finder(state))
    for name in [name for name in state if name.startswith(tuple(f"{each}." for each in names))]:
        del state[name]
    return part


def _finder(state: Mapping[str, Tensor]) -> Find:
    """Return a function that finds a tensor by its name, or says that it is missing."""

    def find(name: str) -> NDArray[np.generic]:
        if name not in state:
            raise UsageError(f"tensor {name!r} is missing")
        found: NDArray[np.generic] = state[name].numpy()
        return found

    return find


def take_wide(state: State, rule: PhraseRule, weight: float, outputs: int) -> WidePart:
    """Take a wide part out of the tensors of a folder.

    Args:
        state: tensors by name; those of the wide part are removed.
        rule: which features it reads.
        weight: what its logits are multiplied by.
        outputs: classes of the network.

    Returns:
        The part.

    Raises:
        UsageError: if a tensor is missing, of another kind, or does not fit the network.
    """
    tensors = {}
    for name, kind in _KINDS.items():
        tensor = state.pop(f"wide.{name}", None)
        if tensor is None or tensor.dtype != kind:
            raise UsageError(f"tensor 'wide.{name}' is missing or not {kind}")
        tensors[name] = tensor.numpy()
    part = WidePart(rule, weight=weight, **tensors)
    if part.outputs != outputs:
        raise UsageError(f"the wide part has {part.outputs} outputs, the network {outputs}")
    return part
