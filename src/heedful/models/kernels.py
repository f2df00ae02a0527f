"""Which implementations of the operations a network uses on this machine."""

from __future__ import annotations

import torch

from heedful.models.networks import Network
from heedful.ops.chosen import listening, told
from heedful.structures import Batch, Sentences


def kernels_of(network: Network) -> dict[str, str]:
    """Say which implementation every operation of a network takes, and why.

    The network is run once on a batch of two short sentences, in evaluation mode, on its own device and in its own
    precision; its training mode and the random state stay as they were.

    Args:
        network: any network.

    Returns:
        Operation to ``"implementation: reason"``; several, joined by "; ", where parts of the network differ.
    """
    device = next(network.parameters()).device
    valid = torch.tensor([[True, True], [True, False]], device=device)
    # With a parse, lest a network say for the first time here that it has none.
    sentences = Sentences(valid.long(), valid, torch.zeros(2, 2, 2, dtype=torch.int16, device=device))
    training = network.training
    try:
        with torch.inference_mode(), listening() as heard:
            network.eval()(Batch((sentences,) * network.sides))
    finally:
        network.train(training)
    return told(heard)
