"""The compiled source2token kernel against the reference in float64."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from heedful.attention import native, source_to_token
from heedful.attention.source2token import obstacle, source_to_token_fused, source_to_token_reference

pytestmark = pytest.mark.skipif(native.LIBRARY is None, reason="the kernels are not compiled")
SHAPES = (
    (1, 1, 16),
    (3, 5, 17),
    (2, 16, 64),
    (4, 15, 65),
    (5, 11, 300),
    (2, 65, 79),
    (3, 257, 33),
    (33, 4, 600),
)


@pytest.fixture
def threads_restored() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def inputs(shape: tuple[int, int, int], spread: float = 3.0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Values, scores, validity with an empty sentence and one of a single word, gradient; NaN at padding."""
    draw = torch.Generator().manual_seed(sum(shape))
    batch, length, width = shape
    valid = torch.arange(length) < torch.randint(1, length + 1, (batch, 1), generator=draw)
    if batch > 2:
        valid[0], valid[1, 1:] = False, False
    value = torch.randn(shape, generator=draw)
    score = spread * torch.randn(shape, generator=draw)
    value[~valid], score[~valid] = torch.nan, torch.nan
    return value, score, valid, torch.randn(batch, width, generator=draw)


def run(compute: object, value: Tensor, score: Tensor, valid: Tensor, grad: Tensor) -> list[Tensor]:
    value, score = value.clone().requires_grad_(), score.clone().requires_grad_()
    output, weights = compute(value, score, valid)  # type: ignore[operator]
    output.backward(grad)
    assert value.grad is not None
    assert score.grad is not None
    return [output.detach(), weights.detach(), value.grad, score.grad]


def check(shape: tuple[int, int, int], spread: float) -> None:
    value, score, valid, grad = inputs(shape, spread)
    exact = run(source_to_token_reference, value.double(), score.double(), valid, grad.double())
    plain = run(source_to_token_reference, value, score, valid, grad)
    ours = run(source_to_token_fused, value, score, valid, grad)
    # The gradient of the score is a difference of terms of this size, which both computations round.
    terms = (exact[2] * value.double()).nan_to_num().abs().max()
    sizes = (*(tensor.abs().max() for tensor in exact[:3]), terms)
    for e, p, o, size in zip(exact, plain, ours, sizes, strict=True):
        assert (o - e).abs().max() <= 2 * (p - e).abs().max() + 2.0**-23 * size, shape
    for tensor in ours[1:]:
        assert not tensor[~valid].any()
    assert not ours[0][~valid.any(dim=1)].any()


@pytest.mark.parametrize(("shape", "spread"), [*itertools.product(SHAPES, (0.1, 3.0, 200.0))])
def test_forward_and_gradients(instruction_set: str, shape: tuple[int, int, int], spread: float) -> None:
    check(shape, spread)


@pytest.mark.usefixtures("threads_restored")
def test_threads_do_not_matter() -> None:
    value, score, valid, grad = inputs((40, 9, 300))
    made = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        made.append(run(source_to_token_fused, value, score, valid, grad))
    for other in made[1:]:
        assert all(map(torch.equal, made[0], other))


def test_largest_scores_and_scores_without_bound(instruction_set: str) -> None:
    for largest in (80.0, 1e4, 1e30):
        score = torch.tensor([largest, -largest, largest])[:, None].expand(-1, 20)[None]
        value = torch.tensor([1.0, 2.0, 3.0])[:, None].expand(-1, 20)[None]
        output, weights = source_to_token_fused(value, score, torch.ones(1, 3).bool())
        assert output.unique().tolist() == [2.0]
        assert weights[0, :, 0].tolist() == [0.5, 0.0, 0.5]


def test_not_a_number_at_a_real_token_comes_through(instruction_set: str) -> None:
    for place in (0, 1, 2):
        value, score = torch.ones(1, 3, 20), torch.zeros(1, 3, 20)
        score[0, place, 7] = torch.nan
        output, _ = source_to_token_fused(value, score, torch.ones(1, 3).bool())
        assert output.isnan().nonzero().tolist() == [[0, 7]]


def test_the_gradient_of_the_weights() -> None:
    value, score, valid, _ = inputs((4, 6, 20))
    mix = torch.randn(4, 6, 20, generator=torch.Generator().manual_seed(1)) * valid[..., None]
    made = []
    for compute, dtype in (
        (source_to_token_reference, torch.float64),
        (source_to_token_fused, torch.float32),
    ):
        leaf = score.to(dtype, copy=True).requires_grad_()
        output, weights = compute(value.to(dtype), leaf, valid)
        ((weights * mix.to(dtype)).sum() + output.sum()).backward()
        made.append(leaf.grad)
    torch.testing.assert_close(made[1].double(), made[0], rtol=1e-5, atol=1e-6)


def test_what_the_kernel_leaves_to_plain_torch() -> None:
    wide = torch.zeros(1, 2, 16)
    assert not obstacle(wide, wide)
    assert "float32" in obstacle(wide.double(), wide.double())
    assert "float32" in obstacle(wide, wide.bfloat16())
    assert "features" in obstacle(wide[..., :15], wide[..., :15])


def test_strides_and_registration_compile_and_export() -> None:
    value, score, valid, _ = (tensor.clone() for tensor in inputs((4, 6, 20)))
    value, score = value.nan_to_num(), score.nan_to_num()
    expected = source_to_token(value, score, valid)
    turned = [tensor.transpose(0, 1).contiguous().transpose(0, 1) for tensor in (value, score, valid)]
    assert not turned[0].is_contiguous()
    assert all(map(torch.equal, source_to_token(*turned), expected))
    arguments = (value.requires_grad_(), score.requires_grad_(), valid)
    torch.library.opcheck(torch.ops.heedful.source_to_token.default, arguments)

    class Module(torch.nn.Module):
        def forward(self, value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
            return source_to_token(value, score, valid)

    plain = (value.detach(), score.detach(), valid)
    compiled = torch.compile(source_to_token, fullgraph=True, backend="aot_eager")(*arguments)
    exported = torch.export.export(Module(), plain).module()(*plain)
    for made in (compiled, exported):
        assert all(map(torch.equal, made, expected))
