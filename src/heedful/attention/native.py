"""Finds and loads the compiled kernels; without them every operation still runs in plain torch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib.util import find_spec
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor

from heedful.attention.derivatives import Context, refuse_forward_mode
from heedful.errors import UsageError

Kind = TypeVar("Kind")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
MODULE = "heedful._kernels"
RANK_STEP, RANKS = 4, 8
"""The linear form's ranks are 4, 8, ... 32; as in csrc/interface.h."""
INSTRUCTION_SETS = ("avx512", "avx2", "portable")
_WITH_RESULT = (
    "heedful_additive_backward",
    "heedful_additive_forward",
    "heedful_tensorized_backward",
    "heedful_tensorized_forward",
)
_WITHOUT_RESULT = (
    "heedful_activation_backward",
    "heedful_activation_forward",
    "heedful_adadelta",
    "heedful_clear_padding",
    "heedful_dropout",
    "heedful_mixture_backward",
    "heedful_mixture_forward",
    "heedful_source_to_token_backward",
    "heedful_source_to_token_forward",
)


ADDRESS, INT32, INT64, FLOAT = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_float
"""The types of most fields."""


def members(kind: Kind, names: str) -> tuple[tuple[str, Kind], ...]:
    """Return fields of one type for a `ctypes.Structure`, as C declares them: ``float scale, rate;``."""
    return tuple((name, kind) for name in names.split())


class NativeExpansion(ctypes.Structure):
    """One approximation of exp(score); mirrors `Expansion` in csrc/interface.h."""

    _fields_ = (
        *members(ADDRESS, "value slope"),
        *members(FLOAT, "half_width rate"),
        *members(INT32, "rank"),
    )


class Problem(ctypes.Structure):
    """One call of feature-wise additive attention; mirrors `Problem` in csrc/interface.h."""

    _fields_ = (
        *members(ADDRESS, "query key value valid keep"),
        *members(INT64, "keep_stride batch length width low high"),
        *members(INT32, "diagonal threads"),
        *members(FLOAT, "scale keys_per_rank"),
        *members(ctypes.POINTER(NativeExpansion), "expansions"),
    )


def _load() -> tuple[ctypes.CDLL | None, str]:
    spec = find_spec(MODULE)
    if spec is None or spec.origin is None:
        return None, "heedful was installed without a C++ compiler, so its kernels were not built"
    try:
        library = ctypes.CDLL(spec.origin)
        for name in _WITH_RESULT:
            getattr(library, name).restype = ctypes.c_int
        for name in _WITHOUT_RESULT:
            getattr(library, name).restype = None
        library.heedful_instruction_set.restype = ctypes.c_char_p
    except (OSError, AttributeError) as error:
        return None, f"{spec.origin} cannot be loaded: {error}"
    return library, ""


LIBRARY, MISSING = _load()
"""The loaded library or None, and why there is none."""


def status() -> dict[str, str | bool]:
    """Describe the compiled kernels.

    Returns "compiled"; the "instruction_set" in use; the "reason" where nothing was compiled.
    """
    if LIBRARY is None:
        return {"compiled": False, "instruction_set": "", "reason": MISSING}
    name = LIBRARY.heedful_instruction_set().decode()
    return {"compiled": True, "instruction_set": name, "reason": ""}


def use_instruction_set(name: str) -> None:
    """Use one instruction set from now on, in the whole process; for tests and measurements.

    Args:
        name: "avx512", "avx2" or "portable".

    Raises:
        UsageError: if the kernels are not compiled, or this processor lacks the instructions.
    """
    if LIBRARY is None:
        raise UsageError(f"instruction set {name!r} cannot be used: {MISSING}")
    if LIBRARY.heedful_use_instruction_set(name.encode()):
        raise UsageError(
            f"this processor has no instruction set {name!r}; known: {', '.join(INSTRUCTION_SETS)}"
        )


def call(function: str, problem: Problem, *arrays: int) -> None:
    """Call a kernel.

    Raises UsageError if there are no compiled kernels. Raises MemoryError if the kernel could not have its working
    memory.
    """
    if LIBRARY is None:
        raise UsageError(f"the compiled kernels are missing: {MISSING}")
    if getattr(LIBRARY, function)(ctypes.byref(problem), *map(ctypes.c_void_p, arrays)):
        raise MemoryError(f"{function}: no working memory for length {problem.length}")


OPERATORS = torch.library.Library("heedful", "FRAGMENT")


def define_operator(
    schema: str,
    compute: Callable[Arguments, Result],
    fake: Callable[..., object],
    *,
    anywhere: bool = False,
    backward: Callable[..., object] | None = None,
    setup_context: Callable[..., None] | None = None,
) -> Callable[Arguments, Result]:
    """Register an operator.

    Args:
        schema: its name and schema, ``"name(Tensor x, int n) -> Tensor"``.
        compute: does the work; what it returns shares no memory with what it is given.
        fake: makes results of the right shape, dtype and device from fake tensors.
        anywhere: whether compute serves every device; else the CPU alone.
        backward: of a context and the results' gradients, gives one gradient an argument; None for no derivative.
        setup_context: keeps what backward needs; see `torch.library.register_autograd`.

    Returns:
        The operator, ``torch.ops.heedful.<name>``.
    """
    name = schema.partition("(")[0]

    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        refuse_forward_mode(f"heedful::{name}")
        return compute(*args, **kwargs)

    OPERATORS.define(schema)
    OPERATORS.impl(name, guarded, "CompositeExplicitAutograd" if anywhere else "CPU")
    torch.library.register_fake(f"heedful::{name}", fake, lib=OPERATORS)
    if backward is not None:
        torch.library.register_autograd(
            f"heedful::{name}", backward, setup_context=setup_context, lib=OPERATORS
        )
    operator: Callable[Arguments, Result] = getattr(torch.ops.heedful, name).default
    return operator


def define_self_adjoint(
    name: str, arguments: str, *, cpu: Callable[..., Tensor], anywhere: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    """Register ``heedful::name`` with autograd of any order and fake tensors (compile, export); autocast leaves it be.

    The gradient is the operator itself, with the same further arguments, applied to the output's gradient.

    Args:
        name: of the operator.
        arguments: its schema's arguments, ``(Tensor x, Tensor other, ...)``; after the second no tensor follows.
        cpu: computes it on the CPU; returns a new contiguous tensor with the shape and dtype of x.
        anywhere: computes it on any other device.

    Returns:
        The operator.
    """
    OPERATORS.define(f"{name}{arguments} -> Tensor")
    operator: Callable[..., Tensor] = getattr(torch.ops.heedful, name).default

    def below_autograd(x: Tensor, other: Tensor, *rest: object) -> Tensor:
        refuse_forward_mode(f"heedful::{name}")
        with torch._C._AutoDispatchBelowAutograd():
            return operator(x, other, *rest)

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(
            ctx: Context[tuple[Tensor], tuple[object, ...]], x: Tensor, other: Tensor, *rest: object
        ) -> Tensor:
            ctx.save_for_backward(other)
            ctx.kept = rest
            return below_autograd(x, other, *rest)

        @staticmethod
        def backward(ctx: Context[tuple[Tensor], tuple[object, ...]], *grads: Tensor) -> object:
            return operator(grads[0], *ctx.saved_tensors, *ctx.kept), None, *(None for _ in ctx.kept)

    def with_autograd(x: Tensor, other: Tensor, *rest: object) -> Tensor:
        if torch.is_grad_enabled() and x.requires_grad:
            output: Tensor = Function.apply(x, other, *rest)
            return output
        return below_autograd(x, other, *rest)

    def fake(x: Tensor, other: Tensor, *rest: object) -> Tensor:
        return torch.empty_like(x, memory_format=torch.contiguous_format)

    OPERATORS.impl(name, cpu, "CPU")
    OPERATORS.impl(name, anywhere, "CompositeExplicitAutograd")
    OPERATORS.impl(name, with_autograd, "Autograd")
    torch.library.register_fake(f"heedful::{name}", fake, lib=OPERATORS)
    return operator
