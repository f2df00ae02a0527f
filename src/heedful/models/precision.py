"""Networks that answer in less than float32: bfloat16 throughout, or matrices kept as 8-bit whole numbers."""

from __future__ import annotations

from copy import deepcopy
from typing import Literal, TypeVar, get_args

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from heedful.attention.implementation import collect_choices, joined_choices
from heedful.errors import check_known
from heedful.models.networks import Network
from heedful.nn import VectorTables
from heedful.structures import Batch, Sentences

Precision = Literal["float32", "bfloat16", "int8"]
AnyNetwork = TypeVar("AnyNetwork", bound=nn.Module)


def at_precision(network: AnyNetwork, precision: Precision) -> AnyNetwork:
    """Copy a network into a precision, for answering alone.

    bfloat16: weights, word vectors and states; the attention kernels still add up in float32. int8: every matrix
    becomes whole numbers from -127 to 127 with one float32 scale a row, a quarter of the memory; each is turned back
    into float32 where it is used, so the answers change by its rounding and nothing else. Word vectors, biases and the
    weights of torch's recurrent layers stay float32.

    Args:
        network: any network; it stays as it is.
        precision: "float32", "bfloat16" or "int8".

    Returns:
        The copy, in evaluation mode and without gradients; for "float32" the network itself.

    Raises:
        UsageError: if the precision is unknown.
    """
    check_known(precision, get_args(Precision), f"precision={precision!r} is unknown")
    if precision == "float32":
        return network
    copy = deepcopy(network).eval().requires_grad_(False)
    if precision == "bfloat16":
        return copy.to(torch.bfloat16)
    for part in list(copy.modules()):
        if isinstance(part, VectorTables | nn.Embedding | nn.EmbeddingBag | nn.RNNBase):
            continue
        for name, parameter in list(part.named_parameters(recurse=False)):
            if parameter.dim() > 1:
                parametrize.register_parametrization(part, name, _Rounded())
    return copy


def has_rounded_weights(network: nn.Module) -> bool:
    """Return whether a network's matrices are kept as whole numbers.

    Returns True for one that `at_precision` has made with "int8".
    """
    return any(isinstance(part, _Rounded) for part in network.modules())


class _Rounded(nn.Module):
    """What a matrix becomes: whole numbers and a scale for each row."""

    def forward(self, whole: Tensor, scale: Tensor) -> Tensor:
        """Give the matrix back, rounded."""
        return whole * scale

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Round a matrix."""
        scale = weight.abs().amax(dim=-1, keepdim=True).clamp(min=torch.finfo(weight.dtype).tiny) / 127
        return (weight / scale).round().to(torch.int8), scale


def kernels_of(network: Network) -> dict[str, str]:
    """Return which implementation every operation of a network takes, and why.

    The network is run once on a batch of two short sentences, in evaluation mode, on its own device and in its own
    precision; its training mode and the random state stay as they were.

    Returns Operation to ``"implementation: reason"``; several, joined by "; ", where parts of the network differ.
    """
    device = next(network.parameters()).device
    valid = torch.tensor([[True, True], [True, False]], device=device)
    # With a parse, lest a network say for the first time here that it has none.
    tree = torch.zeros(2, 2, 2, dtype=torch.int16, device=device)
    sentences = Sentences(valid.long(), valid, tree, heads=torch.full_like(valid.long(), -1))
    training = network.training
    try:
        with torch.inference_mode(), collect_choices() as choices:
            network.eval()(Batch((sentences,) * network.sides))
    finally:
        network.train(training)
    return joined_choices(choices)
