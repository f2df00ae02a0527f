"""The token selector: probabilities by hand, sampling, the gradient's way, low precision."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.nn import AttentionFusion, LearningPhase, MaskSelector, RunningMean, mean_gradient
from heedful.nn import sampled_decisions as sampled

VALID = torch.tensor([[True, True, True, False], [True, False, False, False], [False] * 4])


def selector(**options: object) -> MaskSelector:
    torch.manual_seed(0)
    made = MaskSelector(3, **options).double()  # type: ignore[arg-type]
    for parameter in made.parameters():
        nn.init.normal_(parameter)
    return made.eval()


def words(seed: int = 4) -> Tensor:
    torch.manual_seed(seed)
    return torch.randn(3, 4, 3, dtype=torch.float64).masked_fill(~VALID[..., None], 0)


@torch.no_grad()
def log_odds(made: MaskSelector, part: str, row: list[Tensor], i: int) -> float:
    """One token, by the formula."""
    policy = getattr(made, part)
    mean = sum(row) / len(row)  # type: ignore[operator]
    state = torch.cat([row[i], mean, row[i] * mean])
    hidden = [
        float(policy.hidden.weight[k] @ state + policy.hidden.bias[k]) for k in range(len(policy.hidden.bias))
    ]
    hidden = [h if h > 0 else math.expm1(h) for h in hidden]
    return sum(float(w) * h for w, h in zip(policy.output.weight[0], hidden, strict=True)) + float(
        policy.output.bias
    )


def test_two_policies_have_541202_parameters_at_width_300() -> None:
    assert sum(p.numel() for p in MaskSelector(300).parameters()) == 541_202


def test_the_formula_token_by_token() -> None:
    made, x = selector(), words()
    got = made(x, VALID)
    for row in range(2):
        real = [x[row, i] for i in range(int(VALID[row].sum()))]
        total = 0.0
        for part, actions in (("query", got.query), ("key", got.key)):
            for i in range(len(real)):
                odds = log_odds(made, part, real, i)
                assert bool(actions[row, i]) == (odds > 0)
                total += math.log(1 / (1 + math.exp(-abs(odds))))
        assert got.log_prob[row].item() == pytest.approx(total, abs=1e-12)
    assert got.log_prob[2].item() == 0
    assert not got.query[~VALID].any()
    assert not got.key[~VALID].any()
    taken = torch.cat([got.query[VALID], got.key[VALID]])
    assert taken.any()
    assert not taken.all()


def test_the_probabilities_of_all_choices_add_up_to_one() -> None:
    made, x, valid = selector(shared=True), words()[:1, :3], VALID[:1, :3]
    real = list(x[0])
    odds = [log_odds(made, "query", real, i) for i in range(3)]
    with sampled(made):
        found: dict[tuple[bool, ...], float] = {}
        torch.manual_seed(0)
        for _ in range(400):
            got = made(x, valid)
            found[tuple(got.query[0].tolist())] = got.log_prob.exp().item()
    probability = [1 / (1 + math.exp(-o)) for o in odds]
    for choice in itertools.product([False, True], repeat=3):
        expected = math.prod(p if c else 1 - p for p, c in zip(probability, choice, strict=True))
        assert choice in found or expected < 0.05
        if choice in found:
            assert found[choice] == pytest.approx(expected, abs=1e-12)
    assert len(found) >= 3


def test_tokens_are_drawn_as_often_as_they_should() -> None:
    made, x, valid = selector().train(), words()[:1, :3], VALID[:1, :3]
    torch.manual_seed(0)
    drawn = torch.stack([made(x, valid).key[0] for _ in range(1500)]).double().mean(dim=0)
    expected = [1 / (1 + math.exp(-log_odds(made, "key", list(x[0]), i))) for i in range(3)]
    assert drawn.tolist() == pytest.approx(expected, abs=0.05)


def test_evaluation_draws_nothing_unless_asked_to() -> None:
    made, x = selector(), words()
    state = torch.get_rng_state()
    assert torch.equal(made(x, VALID).query, made(x, VALID).query)
    assert torch.equal(torch.get_rng_state(), state)
    with sampled(made):
        made(x, VALID)
        assert not torch.equal(torch.get_rng_state(), state)
        assert made.decision == "sample"
    assert made.decision == "threshold"
    assert selector(decision="sample").decision == "sample"


def test_a_shared_policy_takes_one_action_a_token() -> None:
    made = selector(shared=True)
    got = made(words(), VALID)
    assert torch.equal(got.query, got.key)
    assert {name.split(".")[0] for name, _ in made.named_parameters()} == {"query"}


def test_the_gradient_reaches_the_policy_and_not_the_words() -> None:
    made, x = selector(), words().requires_grad_()
    made(x, VALID).log_prob.sum().backward()
    assert x.grad is None
    assert all(p.grad is not None and p.grad.any() for p in made.parameters())


def test_low_precision_flips_no_decision() -> None:
    made = selector().bfloat16()
    x = words().bfloat16()
    low = made(x, VALID)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = made.float()(x.float(), VALID)
    exact = made.double()(x.double(), VALID)
    for got in (low, mixed):
        assert torch.equal(got.query, exact.query)
        assert torch.equal(got.key, exact.key)
        assert got.log_prob.dtype == torch.float32
        assert (got.log_prob - exact.log_prob).abs().max() < 1e-4


def test_an_unknown_decision_is_named() -> None:
    with pytest.raises(UsageError, match="did you mean 'sample'"):
        MaskSelector(3, decision="samples")  # type: ignore[arg-type]


def test_the_three_phases_follow_from_the_step() -> None:
    phase = LearningPhase(2, 3)
    seen = []
    for step in range(7):
        phase.begin_step(step)
        seen.append((phase.encoder_learns, phase.policy_acts))
    assert seen == [(True, False)] * 2 + [(False, True)] * 3 + [(True, True)] * 2
    assert LearningPhase(0, 0).policy_acts
    assert LearningPhase(0, 0).encoder_learns
    assert not LearningPhase(0, 1).encoder_learns
    assert "number" in phase.state_dict()


def test_a_running_mean_is_gradient_descent() -> None:
    mean = RunningMean(0.9)
    optimizer = torch.optim.SGD(mean.parameters(), lr=1 - mean.decay)
    by_hand = 0.0
    for measured in ([1.0, 3.0], [4.0, 4.0], [-1.0, 0.0]):
        optimizer.zero_grad()
        extra = mean_gradient(mean.value, torch.tensor(measured))
        assert extra.tolist() == [0.0, 0.0]
        extra.mean().backward()
        optimizer.step()
        by_hand = 0.9 * by_hand + 0.1 * sum(measured) / 2
    assert mean.value.item() == pytest.approx(by_hand, abs=1e-6)


@torch.no_grad()
def test_attention_fusion_by_the_formula() -> None:
    torch.manual_seed(0)
    fusion = AttentionFusion(3).double()
    nn.init.normal_(fusion.hidden.bias)
    inputs = [torch.randn(1, 2, 3, dtype=torch.float64) for _ in range(4)]
    fused, weights = fusion(inputs)
    for token in range(2):
        vectors = [u[0, token] for u in inputs]
        scores = [
            float(fusion.score.weight[0] @ torch.tanh(fusion.hidden.weight @ u + fusion.hidden.bias))
            for u in vectors
        ]
        total = sum(math.exp(s) for s in scores)
        expected = [math.exp(s) / total for s in scores]
        assert weights[0, token].tolist() == pytest.approx(expected, abs=1e-12)
        mixed = sum(w * u for w, u in zip(expected, vectors, strict=True))
        torch.testing.assert_close(fused[0, token], mixed, atol=1e-12, rtol=0)
