"""Which settings of a pretrained encoder may reach transformers: what an architecture is made of, and nothing else.

A folder that somebody else wrote names them. Whatever is not listed here goes no further: so no setting can ask the Hub
for a kernel (``attn_implementation``), for program text (``auto_map``) or for other weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from heedful.errors import UsageError, nearest

TEXT_ENCODERS = (
    "albert",
    "bert",
    "camembert",
    "convbert",
    "deberta",
    "deberta-v2",
    "distilbert",
    "electra",
    "ernie",
    "eurobert",
    "megatron-bert",
    "mobilebert",
    "modernbert",
    "mpnet",
    "nomic_bert",
    "rembert",
    "roberta",
    "roberta-prelayernorm",
    "squeezebert",
    "xlm-roberta",
    "xlm-roberta-xl",
)
"""``model_type`` of the architectures that are read."""

UNDECLARED = frozenset(
    [
        "conv_act",
        "conv_groups",
        "conv_kernel_size",
        "norm_rel_ebd",
        "position_buckets",
        "position_embedding_type",
        "share_att_key",
    ]
)
"""Settings that a model of these reads though its class of settings does not name them."""

BOOKKEEPING = frozenset(
    [
        "_name_or_path",
        "architectures",
        "attn_implementation",
        "auto_map",
        "chunk_size_feed_forward",
        "dtype",
        "id2label",
        "is_encoder_decoder",
        "label2id",
        "model_type",
        "num_labels",
        "output_attentions",
        "output_hidden_states",
        "problem_type",
        "quantization_config",
        "return_dict",
        "sinusoidal_pos_embds",
        "torch_dtype",
        "transformers_version",
    ]
)
"""Settings that every class names and no weight depends on."""

_WORDS = frozenset(
    [
        "gelu",
        "gelu_10",
        "gelu_fast",
        "gelu_new",
        "gelu_python",
        "gelu_pytorch_tanh",
        "linear",
        "mish",
        "quick_gelu",
        "relu",
        "relu2",
        "sigmoid",
        "silu",
        "swish",
        "tanh",
        "absolute",
        "relative_key",
        "relative_key_query",
        "no_norm",
        "layer_norm",
        "layer_norm|embedding",
        "default",
        "full_attention",
        "sliding_attention",
        "cls",
        "mean",
        "late",
        "first",
        "last",
        "attn",
        "cls_index",
        "c2p",
        "p2c",
        "p2p",
        "c2p|p2c",
        "p2c|c2p",
    ]
)
"""Strings that a setting may be: activations, kinds of norm, position and pooling."""

_MOST, _DEPTH = 2**20, 3


def check_kind(config: Mapping[str, object]) -> str:
    """Return the architecture that settings name.

    Raises UsageError if it is none of them.
    """
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in TEXT_ENCODERS:
        raise UsageError(
            f"encoder.model_type={kind!r:.80} is not read; {nearest(str(kind)[:80], TEXT_ENCODERS)}"
        )
    return kind


def allowed(config: Mapping[str, object], declared: frozenset[str]) -> dict[str, object]:
    """Pick the settings that may reach transformers.

    Raises UsageError, naming the first whose value cannot be a size, a share, a switch or a known word.
    """
    names = (declared | UNDECLARED) - BOOKKEEPING
    found = {name: value for name, value in config.items() if name in names}
    for name, value in found.items():
        if not _plain(value, _DEPTH):
            raise UsageError(
                f"encoder.{name} must be a number of at most {_MOST:,}, true, false or a known word; got {value!r:.80}"
            )
    return found


def _plain(value: object, depth: int) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return math.isfinite(value) and abs(value) <= _MOST
    if isinstance(value, str):
        return value in _WORDS
    if isinstance(value, Mapping) and depth:
        return all(_plain(item, depth - 1) for item in value.values())
    return isinstance(value, list) and depth > 0 and all(_plain(item, depth - 1) for item in value)
