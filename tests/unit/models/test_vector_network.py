"""A network whose answer is a vector of unit length."""

from __future__ import annotations

import torch

from heedful.data.batching import padded
from heedful.data.examples import Ragged
from heedful.models import JoinedEncoder, ModelConfig, SentenceVectorNetwork
from heedful.structures import Batch, Sentences
from heedful.tasks import build_network


def network() -> SentenceVectorNetwork:
    torch.manual_seed(3)
    made = build_network(
        ModelConfig(task="vector", width=12, outputs=5, dropout=0.0), torch.randn(9, 12)
    ).eval()
    assert isinstance(made, SentenceVectorNetwork)
    return made


def batch(*texts: list[int]) -> Batch:
    import numpy as np

    ids, valid = padded(
        Ragged(np.concatenate(texts).astype(np.int64), np.cumsum([0, *map(len, texts)])),
        np.arange(len(texts)),
    )
    return Batch((Sentences(torch.from_numpy(ids), torch.from_numpy(valid)),))


def test_vectors_and_both_parts_of_the_states_have_unit_length() -> None:
    with torch.inference_mode():
        output = network()(batch([2, 3, 4], [5], []))
    assert torch.allclose(output.logits.norm(dim=1), torch.tensor([1.0, 1.0, 0.0]))
    (states,) = output.vectors
    assert states.shape == (3, 24 + 12)
    for part in (states[:, :24], states[:, 24:]):
        assert torch.allclose(part.norm(dim=1), torch.tensor([1.0, 1.0, 0.0]))


def test_the_second_part_is_the_direction_of_the_mean_of_the_words() -> None:
    made = network()
    with torch.inference_mode():
        (states,) = made(batch([2, 3, 4])).vectors
        mean = made.sentence_encoder.embedding.weight[[2, 3, 4]].mean(0)  # type: ignore[union-attr]
    assert torch.allclose(states[0, 24:], mean / mean.norm(), atol=1e-6)


def test_a_text_does_not_depend_on_its_neighbors() -> None:
    made = network()
    with torch.inference_mode():
        alone, beside = made(batch([2, 3])).logits, made(batch([2, 3], [4, 5, 6, 7, 8])).logits
    assert torch.allclose(alone[0], beside[0], atol=1e-6)


def test_gradients_reach_the_words_and_every_layer() -> None:
    made = network().train()
    made(batch([2, 3, 4], [5, 6])).logits[:, 0].sum().backward()
    missing = [name for name, parameter in made.named_parameters() if parameter.grad is None]
    assert not missing
    assert isinstance(made.sentence_encoder, JoinedEncoder)
