"""Attention over scores that are already there: a number a pair of tokens, or one for every feature; soft alignment."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.attention.derivatives import transformed
from heedful.attention.implementation import AttentionResult, padding_of
from heedful.attention.native import LIBRARY, define_self_adjoint
from heedful.errors import UsageError


def scored_attention(score: Tensor, value: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
    """Weigh values by the softmax of given scores.

    ``weight_ij = exp(score_ij) / sum_j exp(score_ij)``, ``output_i = sum_j weight_ij value_j``, over the keys j that
    query i may attend to.

    Args:
        score: [B, Q, K], floating point, finite where ``keep`` is True.
        value: [B, K, D]; a key that nobody attends to may hold anything.
        keep: True where a query may attend to a key, [B, Q, K] bool.

    Returns:
        The output [B, Q, D], exactly zero for a query with nothing to attend to, and the weights [B, Q, K], exactly
        zero where ``keep`` is False.

    Raises:
        UsageError: if shapes or dtypes disagree.
    """
    shapes_fit = score.dim() == value.dim() == 3 and score.shape == keep.shape
    if not shapes_fit or value.shape[:2] != (score.shape[0], score.shape[2]) or keep.dtype != torch.bool:
        raise UsageError(
            f"score and keep (bool) must be [B, Q, K] and value [B, K, D]; got {list(score.shape)}, {keep.dtype} "
            f"{list(keep.shape)} and {list(value.shape)}"
        )
    score = score.masked_fill(~keep, torch.finfo(score.dtype).min)
    # A row without a visible key is uniform until the mask makes it exact zeros.
    weights = torch.softmax(score, dim=-1).masked_fill(~keep, 0)
    seen = keep.any(dim=1)[..., None]
    return weights.to(value.dtype) @ value.masked_fill(~seen, 0), weights


def feature_scored_attention(score: Tensor, value: Tensor, keep: Tensor) -> AttentionResult:
    """Weigh values by the softmax of given scores, separately for every feature (DiSAN, Eq. 9 and 11).

    ``weight_ijk = exp(score_ijk) / sum_j exp(score_ijk)``, ``output_ik = sum_j weight_ijk value_jk``, over the keys j
    that query i may attend to.

    Args:
        score: [B, Q, K, D], floating point, finite where ``keep`` is True.
        value: [B, K, D]; a key that nobody attends to may hold anything.
        keep: True where a query may attend to a key, [B, Q, K] bool.

    Returns:
        The output [B, Q, D], exactly zero for a query with nothing to attend to, and the weights [B, Q, K, D].

    Raises:
        UsageError: if shapes or dtypes disagree.
    """
    if score.dim() != 4 or score.shape[:3] != keep.shape or keep.dtype != torch.bool:
        raise UsageError(
            f"score must be [B, Q, K, D] and keep [B, Q, K] bool; got {list(score.shape)} and {keep.dtype} "
            f"{list(keep.shape)}"
        )
    if value.shape != (score.shape[0], *score.shape[2:]):
        raise UsageError(
            f"value must be [B, K, D] of score [B, Q, K, D] = {list(score.shape)}; got {list(value.shape)}"
        )
    # Finite stand-in for -inf: a row without a visible key must not become NaN, here or in its gradient.
    score = score.masked_fill(~keep[..., None], torch.finfo(score.dtype).min / 2)
    # The second mask turns the uniform weights of such a row into exact zeros.
    weights = torch.softmax(score, dim=2) * keep[..., None]
    # A padded position may hold anything, even NaN, and 0 * NaN is NaN: clear it before the product.
    value = value.masked_fill(~keep.any(dim=1)[..., None], 0)
    return AttentionResult((weights * value[:, None, :, :]).sum(dim=2), weights)


_KERNEL = None if LIBRARY is None else LIBRARY.heedful_clear_padding
if _KERNEL is not None:
    _KERNEL.argtypes = (
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
        *(ctypes.c_int64, ctypes.c_int64, ctypes.c_int32),
    )


def clear_padding(x: Tensor, valid: Tensor) -> Tensor:
    """Set the features of padding to zero: ``x.masked_fill(~valid[..., None], 0)`` at the speed of a copy.

    Args:
        x: [B, L, D]; at padding it may hold anything, also NaN.
        valid: True at a real token, [B, L] bool.

    Returns:
        [B, L, D], contiguous. The gradient at padding is exactly zero.

    Raises:
        UsageError: if shapes or dtype disagree.
    """
    padding_of(x, valid)  # refuses what is no mask of x
    return _anywhere(x, valid) if transformed() else _clear(x, valid)


def _anywhere(x: Tensor, valid: Tensor) -> Tensor:
    return x.masked_fill(~valid[..., None], 0).contiguous()


def _on_cpu(x: Tensor, valid: Tensor) -> Tensor:
    if _KERNEL is None:
        return _anywhere(x, valid)
    x, valid = x.contiguous(), valid.contiguous()
    output = torch.empty_like(x)
    _KERNEL(
        *(x.data_ptr(), valid.data_ptr(), output.data_ptr()),
        *(valid.numel(), x.shape[-1] * x.element_size(), torch.get_num_threads()),
    )
    return output


_clear = define_self_adjoint("clear_padding", "(Tensor x, Tensor valid)", cpu=_on_cpu, anywhere=_anywhere)


@dataclass(frozen=True)
class Alignment:
    """What each token of a sentence is aligned with in the other.

    Attributes:
        first: the second sentence as each token of the first sees it (β), [B, L1, D2]; zero at padding.
        second: the first sentence as each token of the second sees it (α), [B, L2, D1]; zero at padding.
        first_to_second: weights of β, [B, L1, L2]; rows sum to 1.
        second_to_first: weights of α, [B, L1, L2]; columns sum to 1.
    """

    first: Tensor
    second: Tensor
    first_to_second: Tensor
    second_to_first: Tensor


def soft_align(
    first_key: Tensor,
    second_key: Tensor,
    first: Tensor,
    second: Tensor,
    first_valid: Tensor,
    second_valid: Tensor,
) -> Alignment:
    """Align two sentences in both directions (Parikh et al., 2016, Eq. 1 and 2).

    ``e_ij = first_key_i · second_key_j``, ``β_i = sum_j softmax_j(e_ij) second_j``,
    ``α_j = sum_i softmax_i(e_ij) first_i``, over real tokens. The product is not scaled.

    Args:
        first_key: F(a), [B, L1, C], floating point.
        second_key: F(b), [B, L2, C].
        first: a, [B, L1, D1]: what is averaged, not F's output.
        second: b, [B, L2, D2].
        first_valid: True at a real token, [B, L1] bool. Padding may hold anything.
        second_valid: True at a real token, [B, L2] bool.

    Returns:
        Both alignments; everything is exactly zero where the other sentence has no words.

    Raises:
        UsageError: if shapes or dtypes disagree.
    """
    _check("first", first_key, first, first_valid)
    _check("second", second_key, second, second_valid)
    if len(first) != len(second) or first_key.shape[2] != second_key.shape[2]:
        raise UsageError(
            f"first_key and second_key must agree in B and C; got {list(first_key.shape)} and "
            f"{list(second_key.shape)}"
        )
    first_key = first_key.masked_fill(~first_valid[..., None], 0)
    second_key = second_key.masked_fill(~second_valid[..., None], 0)
    score = first_key @ second_key.transpose(1, 2)
    keep = first_valid[:, :, None] & second_valid[:, None, :]
    beta, there = scored_attention(score, second, keep)
    alpha, back = scored_attention(score.transpose(1, 2), first, keep.transpose(1, 2))
    return Alignment(beta, alpha, there, back.transpose(1, 2))


def _check(name: str, key: Tensor, value: Tensor, valid: Tensor) -> None:
    if key.dim() != 3 or value.dim() != 3 or key.shape[:2] != value.shape[:2]:
        raise UsageError(
            f"{name}_key must be [B, L, C] and {name} [B, L, D]; got {list(key.shape)} and {list(value.shape)}"
        )
    if valid.shape != key.shape[:2] or valid.dtype != torch.bool:
        raise UsageError(
            f"{name}_valid must be booleans [B, L] = {list(key.shape[:2])}, True at a real token; got {valid.dtype} "
            f"{list(valid.shape)}"
        )


def soft_align_reference(
    first_key: Tensor,
    second_key: Tensor,
    first: Tensor,
    second: Tensor,
    first_valid: Tensor,
    second_valid: Tensor,
) -> Alignment:
    """Compute `heedful.attention.soft_align` one pair at a time, on the real tokens alone: no masks, no padding.

    Args:
        first_key: F(a), [B, L1, C].
        second_key: F(b), [B, L2, C].
        first: a, [B, L1, D1].
        second: b, [B, L2, D2].
        first_valid: True at a real token, [B, L1] bool.
        second_valid: True at a real token, [B, L2] bool.

    Returns:
        Both alignments, zero at padding and where the other sentence has no words.
    """
    batch, length1, length2 = len(first), first.shape[1], second.shape[1]
    beta = first.new_zeros(batch, length1, second.shape[2])
    alpha = first.new_zeros(batch, length2, first.shape[2])
    there, back = (first.new_zeros(batch, length1, length2) for _ in range(2))
    for row in range(batch):
        rows1, rows2 = (valid[row].nonzero()[:, 0] for valid in (first_valid, second_valid))
        if not len(rows1) or not len(rows2):
            continue
        score = first_key[row, rows1] @ second_key[row, rows2].T
        cells = (torch.full_like(rows1, row)[:, None], rows1[:, None], rows2[None, :])
        there = there.index_put(cells, score.softmax(dim=1))
        back = back.index_put(cells, score.softmax(dim=0))
        beta = beta.index_put((cells[0][:, 0], rows1), score.softmax(dim=1) @ second[row, rows2])
        alpha = alpha.index_put(
            (torch.full_like(rows2, row), rows2), score.softmax(dim=0).T @ first[row, rows1]
        )
    return Alignment(beta, alpha, there, back)
