"""The compiled kernel of tensorized attention as a torch operator: autograd, fake tensors (compile, export), autocast.

The mathematics is that of `heedful.attention.tensorized_matrix`; each head of each sentence is one task whose
intermediate results stay in a core's cache, and only visible pairs are visited. Features too wide to be factored are
left to `matrix`, sentence by sentence. Derivation: docs/math/tensorized.md.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from heedful.attention import native
from heedful.attention.native import ADDRESS, FLOAT, INT32, INT64, define_operator, members
from heedful.attention.tensorized_inputs import (
    ARGUMENTS,
    Fields,
    SlabPart,
    TensorizedInputs,
    like_heads,
    save,
)
from heedful.attention.tensorized_matrix import backward_part, forward_part
from heedful.attention.tensorized_reference import differentiated_by
from heedful.attention.tensorized_slab import LOW_SCORE, SAFE_RANGE
from heedful.errors import UsageError


class _Steps(ctypes.Structure):
    _fields_ = members(INT64, "sentence head token")


class TensorizedProblem(ctypes.Structure):
    """One call; mirrors `TensorizedProblem` in csrc/tensorized.h."""

    _fields_ = (
        *members(ADDRESS, "query key value source"),
        *members(_Steps, "query_steps key_steps value_steps source_steps output_steps"),
        *members(ADDRESS, "valid"),
        *members(ctypes.POINTER(ADDRESS), "keeps"),
        *members(ctypes.POINTER(INT64), "keep_steps lows highs"),
        *members(ctypes.POINTER(INT32), "diagonals"),
        *members(ADDRESS, "drop_pairs drop_source wide"),
        *members(INT64, "batch heads length width"),
        *members(INT32, "threads sigmoid"),
        *members(FLOAT, "scale safe_range low_score"),
    )


class TensorizedGradients(ctypes.Structure):
    """What the backward pass reads and writes; mirrors `TensorizedGradients` in csrc/tensorized.h."""

    _fields_ = (
        *members(ADDRESS, "output inverse grad"),
        *members(_Steps, "grad_steps"),
        *members(ADDRESS, "query key value source"),
    )


def tensorized_fused(inputs: TensorizedInputs) -> Tensor:
    """Compute the output of `heedful.attention.tensorized.tensorized_reference` with the compiled kernel on the CPU.

    It is computed in float32, and is [B, H, L, C], laid out in memory as [B, L, H, C], in the dtype of query.
    """
    output, _, _ = _attend(*inputs.float())
    return output.to(inputs.query.dtype)


def _forward(*given: *Fields) -> tuple[Tensor, Tensor, Tensor]:
    """Return the output, the inverse of the denominator, and which heads of which sentences are wide."""
    inputs = TensorizedInputs(*given)
    query = inputs.query
    output = like_heads(query, torch.float32)
    inverse = torch.empty(query.shape, dtype=torch.float32)
    wide = torch.zeros(query.shape[:2], dtype=torch.uint8)
    _call("heedful_tensorized_forward", inputs, output, wide, output.data_ptr(), inverse.data_ptr())
    for part in _wide_parts(wide):
        forward_part(inputs, part, output, inverse)
    return output, inverse, wide


def _fake_forward(query: Tensor, *_: object) -> tuple[Tensor, Tensor, Tensor]:
    wide = torch.empty(query.shape[:2], dtype=torch.uint8)
    return like_heads(query, torch.float32), torch.empty(query.shape, dtype=torch.float32), wide


def _backward(
    grad: Tensor,
    output: Tensor,
    inverse: Tensor,
    wide: Tensor,
    *given: *Fields,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients of query, key, value and source."""
    inputs = TensorizedInputs(*given)
    grad = _rows_together(grad)
    grads = tuple(like_heads(inputs.query, torch.float32) for _ in range(4))
    gradients = TensorizedGradients(
        output.data_ptr(), inverse.data_ptr(), grad.data_ptr(), _steps(grad), *(x.data_ptr() for x in grads)
    )
    _call("heedful_tensorized_backward", inputs, output, wide, ctypes.addressof(gradients))
    for part in _wide_parts(wide):
        backward_part(inputs, part, (grad, output, inverse), grads)
    return grads[0], grads[1], grads[2], grads[3]


def _fake_backward(
    grad: Tensor, output: Tensor, inverse: Tensor, wide: Tensor, query: Tensor, *_: object
) -> tuple[Tensor, ...]:
    return tuple(like_heads(query, torch.float32) for _ in range(4))


_gradients = define_operator(
    f"tensorized_fused_backward(Tensor grad, Tensor output, Tensor inverse, Tensor wide, {ARGUMENTS}) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
    _backward,
    _fake_backward,
)
_attend = define_operator(
    f"tensorized_fused({ARGUMENTS}) -> (Tensor, Tensor, Tensor)",
    _forward,
    _fake_forward,
    backward=differentiated_by(_gradients),
    setup_context=save,
)


def _call(function: str, inputs: TensorizedInputs, output: Tensor, wide: Tensor, *addresses: int) -> None:
    """Call a kernel; the tensors it reads live until it returns."""
    if native.LIBRARY is None:
        raise UsageError(f"the compiled kernels are missing: {native.MISSING}")
    tensors = [_rows_together(x) for x in inputs[:4]]
    valid = inputs.valid.contiguous()
    keeps = [keep.contiguous() for keep in inputs.keeps]
    drops = [None if x is None else x.contiguous() for x in (inputs.drop_pairs, inputs.drop_source)]
    batch, heads, length, width = inputs.query.shape
    problem = TensorizedProblem(
        *(x.data_ptr() for x in tensors),
        *(_steps(x) for x in (*tensors, output)),
        valid.data_ptr(),
        (ctypes.c_void_p * heads)(*(keep.data_ptr() if keep.numel() else None for keep in keeps)),
        (ctypes.c_int64 * heads)(*(length * length if keep.dim() == 3 else 0 for keep in keeps)),
        (ctypes.c_int64 * heads)(*inputs.bands[0::3]),
        (ctypes.c_int64 * heads)(*inputs.bands[1::3]),
        (ctypes.c_int32 * heads)(*inputs.bands[2::3]),
        *(None if x is None else x.data_ptr() for x in drops),
        wide.data_ptr(),
        batch,
        heads,
        length,
        width,
        torch.get_num_threads(),
        inputs.sigmoid,
        inputs.scale,
        SAFE_RANGE,
        LOW_SCORE,
    )
    if getattr(native.LIBRARY, function)(ctypes.byref(problem), *map(ctypes.c_void_p, addresses)):
        raise MemoryError(f"{function}: no working memory for length {length}")


def _wide_parts(wide: Tensor) -> list[SlabPart]:
    return [SlabPart(head, slice(sentence, sentence + 1)) for sentence, head in wide.nonzero().tolist()]


def _rows_together(tensor: Tensor) -> Tensor:
    """Make the features of a token lie side by side; the kernel takes any steps between tokens, heads, sentences."""
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()


def _steps(tensor: Tensor) -> _Steps:
    return _Steps(*tensor.stride()[:3])
