"""Feature-wise softmax over the tokens of a sentence, and the weighted sum it gives (source2token attention)."""

from __future__ import annotations

from torch import Tensor

from heedful.errors import UsageError
from heedful.ops.chosen import note
from heedful.ops.source_to_token.fused import obstacle, source_to_token_fused
from heedful.ops.source_to_token.reference import source_to_token_reference


def source_to_token(value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """Sum tokens with weights normalised over the tokens separately for every feature (DiSAN, section 2.3).

    ``weight_ik = exp(score_ik) / sum_i exp(score_ik)``, ``output_k = sum_i weight_ik value_ik``, over real tokens i.
    The compiled kernel serves float32 on the CPU, plain torch everything else.

    Args:
        value: [B, L, D].
        score: [B, L, D].
        valid: True at a real token, [B, L] bool.

    Returns:
        The sum [B, D], exactly zero for a sentence without words, and the weights [B, L, D], exactly zero at padding.

    Raises:
        UsageError: if shapes disagree.
    """
    if value.shape != score.shape or valid.shape != value.shape[:2]:
        raise UsageError(
            f"value and score must be [B, L, D] and valid [B, L]; got {list(value.shape)}, {list(score.shape)}, "
            f"{list(valid.shape)}"
        )
    why_not = obstacle(value, score)
    note("source2token pooling", f"reference: {why_not}" if why_not else "fused: one compiled kernel")
    compute = source_to_token_reference if why_not else source_to_token_fused
    return compute(value, score, valid)
