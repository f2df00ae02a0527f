"""Decomposable attention: published sizes, the equations in loops, blindness to order, NULL, edges."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.models import AlignmentNetwork, ModelConfig
from heedful.nn import WordEmbedding
from heedful.structures import Batch, Sentences
from heedful.tasks import build_network


def config(intra: bool = False, **changes: Any) -> ModelConfig:
    settings: dict[str, Any] = {
        "task": "pair",
        "encoder": "decomposable",
        "encoder_options": {"intra": intra, "projected": 5},
        "width": 6,
        "hidden": 4,
        "activation": "relu",
        "train_embedding": False,
        "outputs": 3,
    }
    return ModelConfig(**{**settings, **changes})


def network(intra: bool = False, **changes: Any) -> AlignmentNetwork:
    """In double precision, with weights large enough for differences to show."""
    torch.manual_seed(0)
    made = build_network(config(intra, **changes), torch.randn(9, 6), torch.randn(3, 6)).eval().double()
    assert isinstance(made, AlignmentNetwork)
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.7)
    return made


def side(rows: list[list[int]], width: int) -> Sentences:
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    valid = torch.tensor([[i < len(row) for i in range(width)] for row in rows])
    return Sentences(ids, valid)


def pair(first: list[list[int]], second: list[list[int]], extra: int = 0) -> Batch:
    return Batch(tuple(side(rows, max(1, max(len(row) for row in rows)) + extra) for rows in (first, second)))


FIRST, SECOND = [[2, 3], [4, 5, 6, 7], []], [[8, 9, 10], [3], [2, 4]]
BOTH = pytest.mark.parametrize("intra", [False, True], ids=["vanilla", "intra"])


@pytest.mark.parametrize(("intra", "expected"), [(False, 381_803), (True, 582_214)])
def test_published_sizes_to_the_unit(intra: bool, expected: int) -> None:
    made = build_network(
        config(intra, encoder_options={"intra": intra}, width=300, hidden=200), torch.randn(4, 300)
    )
    assert sum(p.numel() for p in made.parameters()) == expected


@BOTH
def test_every_trained_weight_starts_normal_with_deviation_0_01(intra: bool) -> None:
    torch.manual_seed(1)
    made = build_network(
        config(intra, encoder_options={"intra": intra}, width=100, hidden=80), torch.randn(4, 100)
    )
    values = torch.cat([p.detach().flatten() for p in made.parameters()])
    assert values.std().item() == pytest.approx(0.01, rel=0.02)
    assert abs(values.mean().item()) < 2e-4
    assert all(p.any() for p in made.parameters())


def test_trained_word_vectors_keep_their_start() -> None:
    table = torch.randn(9, 6)
    made = build_network(config(train_embedding=True), table)
    assert torch.equal(made.sentence_encoder.embedding.weight[2:], table[2:])
    assert made.sentence_encoder.embedding.weight.requires_grad


def by_loops(made: AlignmentNetwork, first: list[int], second: list[int]) -> Tensor:
    """The paper's equations 1 to 7, one fragment at a time, for one pair."""
    reader = made.sentence_encoder

    def words(ids: list[int]) -> list[Tensor]:
        rows = [reader.null, *reader.embedding(torch.tensor(ids, dtype=torch.long)).double()]
        rows = [reader.projection.weight @ row for row in rows]
        if reader.encoder is None:
            return rows
        compared = [reader.encoder.compare(row) for row in rows]
        result = []
        for i, row in enumerate(rows):
            scores = [
                compared[i] @ compared[j] + reader.encoder.distance_bias[min(abs(i - j), 10)]
                for j in range(len(rows))
            ]
            result.append(torch.cat([row, average(scores, rows)]))
        return result

    def average(scores: list[Tensor], rows: list[Tensor]) -> Tensor:
        weights = [score.exp() for score in scores]
        return sum(w * r for w, r in zip(weights, rows, strict=True)) / sum(weights)  # type: ignore[return-value]

    a, b = words(first), words(second)
    score = [[made.attend(x) @ made.attend(y) for y in b] for x in a]
    v1 = sum(made.compare(torch.cat([x, average(score[i], b)])) for i, x in enumerate(a))
    v2 = sum(made.compare(torch.cat([y, average([row[j] for row in score], a)])) for j, y in enumerate(b))
    return made.output(made.aggregate(torch.cat([v1, v2])))  # type: ignore[list-item]


@BOTH
def test_the_equations_in_loops(intra: bool) -> None:
    made = network(intra)
    logits = made(pair(FIRST, SECOND)).logits
    for row, (first, second) in enumerate(zip(FIRST, SECOND, strict=True)):
        torch.testing.assert_close(logits[row], by_loops(made, first, second), atol=1e-9, rtol=1e-9)


@BOTH
def test_padding_and_neighbors_change_nothing(intra: bool) -> None:
    made = network(intra)
    together = made(pair(FIRST, SECOND)).logits
    assert (made(pair(FIRST, SECOND, extra=3)).logits - together).abs().max() < 1e-12
    for row, (first, second) in enumerate(zip(FIRST, SECOND, strict=True)):
        alone = made(pair([first], [second])).logits[0]
        assert (alone - together[row]).abs().max() < 1e-12


def test_the_vanilla_form_is_blind_to_the_order_of_words_and_the_intra_form_is_not() -> None:
    there, mixed = [[2, 3, 4, 5]], [[4, 2, 5, 3]]
    for intra, largest in ((False, 1e-12), (True, None)):
        made = network(intra)
        plain = made(pair(there, [[6, 7]])).logits
        for turned in (made(pair(mixed, [[6, 7]])).logits, made(pair(there, [[7, 6]])).logits):
            change = (turned - plain).abs().max()
            assert change < largest if largest is not None else change > 1e-6


def test_the_sides_are_told_apart() -> None:
    made = network()
    one, two = (made(pair(*sides)).logits for sides in (([[2, 3]], [[4]]), ([[4]], [[2, 3]])))
    assert (one - two).abs().max() > 1e-6


@BOTH
def test_two_empty_texts_have_finite_logits(intra: bool) -> None:
    assert network(intra)(pair([[]], [[]])).logits.isfinite().all()


@BOTH
def test_a_text_without_words_is_null_alone(intra: bool) -> None:
    made = network(intra)
    first, _ = made(pair([[]], [[4, 5]])).vectors
    assert first.abs().max() > 1e-6
    _, valid = made.sentence_encoder.read(pair([[]], [[]]).sides[0])
    assert valid.sum() == 1


def test_a_word_that_is_aligned_with_null_alone_is_compared_with_it() -> None:
    made = network()
    told = made(pair([[2]], [[]]), need_weights=True)
    assert by_caption(told.alignments)["first to second"][0].tolist() == [[1.0, 0.0]] * 2


@BOTH
def test_alignments_are_outputs_on_request_and_change_nothing(intra: bool) -> None:
    made, batch = network(intra), pair(FIRST, SECOND)
    plain, told = made(batch), made(batch, need_weights=True)
    assert torch.equal(plain.logits, told.logits)
    assert not plain.alignments
    assert plain.traces == ()
    assert set(by_caption(told.alignments)) == {"first to second", "second to first"}
    for name, axis in (("first to second", 2), ("second to first", 1)):
        weights = by_caption(told.alignments)[name]
        assert weights.shape == (3, 5, 4)
        real = [v for v in weights.sum(dim=axis).flatten().tolist() if v]
        assert len(real) == sum(1 + len(row) for row in (FIRST if axis == 2 else SECOND))
        assert real == pytest.approx([1.0] * len(real))
    found = [set(by_caption(trace.context.maps)) for trace in told.traces]
    assert found == [{"intra-sentence"} if intra else set()] * 2


@BOTH
def test_gradients_reach_every_weight_and_no_word_vector(intra: bool) -> None:
    made = network(intra)
    made(pair(FIRST, SECOND)).logits.square().sum().backward()
    parameters = dict(made.named_parameters())
    assert not any("embedding" in name for name in parameters)
    assert all(p.grad is not None and p.grad.any() for p in parameters.values())


def test_gradients_equal_differences() -> None:
    made = network(True)
    names = list(dict(made.named_parameters()))
    values = [p.detach().clone().requires_grad_() for p in made.parameters()]

    def run(*parameters: Tensor) -> Tensor:
        called = torch.func.functional_call(
            made, dict(zip(names, parameters, strict=True)), (pair(FIRST, SECOND),)
        )
        return called.logits

    assert torch.autograd.gradcheck(run, values, fast_mode=True)


def test_dropout_acts_in_training_alone() -> None:
    made, batch = network(dropout=0.5), pair(FIRST, SECOND)
    assert torch.equal(made(batch).logits, made(batch).logits)
    made.train()
    assert not torch.equal(made(batch).logits, made(batch).logits)


def test_null_is_a_unit_vector_that_is_saved_and_not_trained() -> None:
    made = build_network(config(), torch.randn(9, 6))
    assert made.sentence_encoder.null.norm().item() == pytest.approx(1.0)
    assert "sentence_encoder.null" in made.state_dict()
    assert "sentence_encoder.null" not in dict(made.named_parameters())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "text"}, "reads pairs; model.task='text' has single texts"),
        ({"highway": True}, "neither a highway layer"),
        ({"final_bias": False}, "last layer without bias"),
        ({"encoder_options": {"intro": True}}, "did you mean 'intra'"),
    ],
)
def test_a_setting_that_cannot_be_served_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_network(config(**changes), torch.randn(9, 6))


def test_relatedness_is_answered_in_grades() -> None:
    made = build_network(config(task="relatedness", outputs=5), torch.randn(9, 6))
    assert made(pair(FIRST, SECOND)).logits.shape == (3, 5)


def test_the_order_of_a_pair_counts_in_relatedness_too() -> None:
    made = build_network(config(task="relatedness", outputs=5), torch.randn(9, 6)).double().eval()
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.5)
    one, two = (made(pair(*sides)).logits for sides in (([[2, 3]], [[4]]), ([[4]], [[2, 3]])))
    assert (one - two).abs().max() > 1e-6


def test_one_side_is_refused() -> None:
    with pytest.raises(UsageError, match="takes 2 text"):
        network()(Batch((side([[2]], 1),)))


def test_a_frozen_table_has_no_parameters_and_equal_values() -> None:
    table = torch.randn(5, 3)
    trained, frozen = (WordEmbedding(table, torch.randn(2, 3), train=train) for train in (True, False))
    assert list(frozen.parameters()) == []
    assert set(frozen.state_dict()) == set(trained.state_dict()) == {"weight", "frozen"}
    ids = torch.tensor([[0, 1, 2, 4]])
    assert torch.equal(frozen(ids), trained(ids))
    assert not frozen(ids).requires_grad
