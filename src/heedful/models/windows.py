"""Long texts read in windows: the encoder sees a window at a time, the pooling every word of the text."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from heedful.encoders import ContextEncoder
from heedful.errors import UsageError
from heedful.structures import ContextStates, Sentences

OVERLAP = 4
"""A window shares one part in so many with the next one."""


def windowed_states(encoder: ContextEncoder, x: Tensor, sentences: Sentences, window: int) -> ContextStates:
    """Encode texts in windows that overlap by a quarter, and take each word's state from the window it is deepest in.

    Windows begin at multiples of ``window - window // 4``. Where two windows overlap, the first half of the overlap is
    taken from the earlier window and the second from the later one. So a state depends on its own text alone, however
    long the others of the batch are, and a text of at most ``window`` words is read as it is without windows.

    Args:
        encoder: states in context; its cost is that of many short texts.
        x: word vectors, [B, L, D].
        sentences: B sentences of L words.
        window: words that the encoder reads at a time.

    Returns:
        States, [B, L, D]; maps and gates belong to windows and are left out.

    Raises:
        UsageError: if the encoder reads trees or chooses its masks by a policy.
    """
    if sentences.heads is not None or sentences.tree_distance is not None:
        raise UsageError("a text is read in windows without a parse: leave text.parser empty")
    overlap = window // OVERLAP
    step, (batch, length, _) = window - overlap, x.shape
    count = max(0, -(-(length - window) // step)) + 1
    missing = (count - 1) * step + window - length
    lengths = sentences.valid.sum(dim=1)
    parts = functional.pad(x, (0, 0, 0, missing)).unfold(1, window, step).transpose(-1, -2)
    valid = functional.pad(sentences.valid, (0, missing)).unfold(1, window, step)
    ids = functional.pad(sentences.ids, (0, missing)).unfold(1, window, step)
    filled = valid.any(dim=-1)
    filled[:, 0] = True  # a text without words has one window too
    context = encoder(parts[filled], Sentences(ids[filled], valid[filled]))
    if context.policy is not None:
        raise UsageError(
            "an encoder whose masks a policy chooses reads no windows: choose another model.encoder"
        )
    states = context.states.new_zeros(batch, count, window, context.states.shape[-1])
    states[filled] = context.states
    place = torch.arange(length, device=x.device)
    last = (-(-(lengths - window).clamp(min=0) // step))[:, None]
    chosen = torch.minimum(((place - overlap // 2).clamp(min=0) // step)[None], last)
    within = (place[None] - chosen * step).clamp(max=window - 1)
    rows = torch.arange(batch, device=x.device)[:, None]
    found: Tensor = states[rows, chosen, within]
    return ContextStates(found.masked_fill(~sentences.valid[..., None], 0))
