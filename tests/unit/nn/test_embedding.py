"""Word vectors: the two zero rows, sparse gradients, the frozen table."""

from __future__ import annotations

import pytest
import torch

from heedful.errors import UsageError
from heedful.nn import WordEmbedding
from heedful.structures import Sentences, Spellings

IDS = torch.tensor([[2, 1, 4, 2, 0], [6, 5, 3, 0, 0]])


@pytest.fixture
def embedding() -> WordEmbedding:
    torch.manual_seed(0)
    return WordEmbedding(torch.randn(5, 3), torch.randn(2, 3))


def test_looks_up_trained_and_frozen_rows(embedding: WordEmbedding) -> None:
    x = embedding(IDS)
    assert x.shape == (2, 5, 3)
    assert x.dtype == torch.float32
    assert torch.equal(x[0, 0], embedding.weight[2])
    assert torch.equal(x[0, 2], embedding.weight[4])
    assert torch.equal(x[1, 2], embedding.weight[3])
    assert torch.equal(x[1, 1], embedding.frozen[0].float())
    assert torch.equal(x[1, 0], embedding.frozen[1].float())


def test_padding_and_unknown_words_are_zero(embedding: WordEmbedding) -> None:
    x = embedding(IDS)
    assert not x[IDS <= 1].any()
    assert x[IDS > 1].any(dim=-1).all()


def test_the_two_zero_rows_stay_zero_in_training(embedding: WordEmbedding) -> None:
    optimizer = torch.optim.SGD(embedding.parameters(), lr=0.5)
    before = embedding.weight.detach().clone()
    for _ in range(3):
        optimizer.zero_grad()
        (embedding(IDS) - 1).square().sum().backward()
        optimizer.step()
    assert not embedding.weight[:2].any()
    assert (embedding.weight[2:] != before[2:]).any(dim=1).all()


def test_the_gradient_holds_the_rows_of_the_batch_alone(embedding: WordEmbedding) -> None:
    embedding(torch.tensor([[2, 1, 4, 2, 0, 6]])).sum().backward()
    gradient = embedding.weight.grad
    assert gradient is not None
    assert gradient.is_sparse
    gradient = gradient.coalesce()
    assert gradient.indices().tolist() == [[2, 4]]
    assert torch.equal(gradient.values(), torch.tensor([[2.0] * 3, [1.0] * 3]))


@pytest.mark.parametrize("ids", [[[0, 0]], [[1, 0]], [[5, 6]]], ids=["padding", "unknown", "frozen"])
def test_a_batch_without_trained_words_has_an_empty_gradient(
    embedding: WordEmbedding, ids: list[list[int]]
) -> None:
    embedding(torch.tensor(ids)).sum().backward()
    gradient = embedding.weight.grad
    assert gradient is not None
    assert gradient.coalesce().indices().numel() == 0


def test_the_frozen_table_is_saved_in_half_precision_and_not_trained(embedding: WordEmbedding) -> None:
    assert embedding.frozen.dtype == torch.float16
    assert [name for name, _ in embedding.named_parameters()] == ["weight"]
    assert list(embedding.state_dict()) == ["weight", "frozen"]


def test_training_and_use_read_the_same_frozen_values() -> None:
    exact = torch.tensor([[0.1, 1 / 3, -2.7]])
    embedding = WordEmbedding(torch.zeros(2, 3), exact)
    in_training = embedding.train()(torch.tensor([[2]]))
    reloaded = WordEmbedding(torch.zeros(2, 3), torch.zeros(1, 3))
    reloaded.load_state_dict(embedding.state_dict())
    assert torch.equal(in_training, reloaded.eval()(torch.tensor([[2]])))
    # Half precision keeps 11 significant bits.
    assert (in_training[0] - exact).abs().max() <= exact.abs().max() * 2**-11


@pytest.mark.parametrize("ids", [IDS, IDS.clamp(max=4)], ids=["some frozen", "all trained"])
def test_the_frozen_table_is_read_where_a_batch_needs_it(embedding: WordEmbedding, ids: torch.Tensor) -> None:
    reading = embedding.eval()(ids)
    if not (ids >= 5).any():
        embedding.frozen = torch.zeros(1, 2)  # whoever reads it from now on fails
    found = embedding.train()(ids)
    assert torch.equal(found, reading)
    found.sum().backward()
    assert embedding.weight.grad is not None
    rows = embedding.weight.grad.coalesce().indices()[0].tolist()
    assert rows == sorted(set(ids[(ids > 1) & (ids < 5)].tolist()))


def test_what_it_was_given_is_copied() -> None:
    given = torch.ones(4, 2)
    embedding = WordEmbedding(given)
    assert given.all()
    embedding.weight.data.fill_(7)
    assert (given == 1).all()
    assert embedding.width == 2


def test_a_word_beyond_both_tables_is_an_error(embedding: WordEmbedding) -> None:
    with pytest.raises(IndexError):
        embedding(torch.tensor([[7]]))


@pytest.mark.parametrize("shape", [(1, 3), (0, 3), (3,)])
def test_a_table_without_its_two_zero_rows_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match=r"trained must be \[V, D\] with V >= 2 \(padding, unknown\); got "):
        WordEmbedding(torch.zeros(shape))


def test_tables_of_different_width_are_refused() -> None:
    with pytest.raises(UsageError, match=r"frozen must be \[F, 3\], the width of trained; got \[4, 2\]"):
        WordEmbedding(torch.zeros(5, 3), torch.zeros(4, 2))


def test_words_are_masked_in_training_alone_and_padding_never() -> None:
    torch.manual_seed(0)
    ids = torch.randint(2, 5, (40, 50))
    ids[:, 30:] = 0
    sentences = Sentences(ids, ids != 0)
    embedding = WordEmbedding(torch.randn(6, 3))
    embedding.mask_words(5, 0.3)
    masked = (embedding.embed(sentences).tokens == embedding.weight[5]).all(-1)
    assert 0.25 < masked[:, :30].float().mean() < 0.35
    assert not masked[:, 30:].any()
    embedding.eval()
    assert torch.equal(embedding.embed(sentences).tokens, embedding(ids))


def test_a_masked_word_has_no_spelling() -> None:
    embedding = WordEmbedding(torch.zeros(6, 3), ngrams=torch.ones(4, 3), row_dropout=0.0)
    with torch.no_grad():
        embedding.weight[5] = 7.0
    embedding.mask_words(5, 1.0)
    ids = torch.tensor([[2, 3]])
    spellings = Spellings(torch.tensor([[0, 1]]), torch.tensor([0, 1]), torch.tensor([0, 1, 2]))
    given = Sentences(ids, ids != 0, spellings=spellings)
    assert torch.equal(embedding.embed(given).tokens, torch.full((1, 2, 3), 7.0))
