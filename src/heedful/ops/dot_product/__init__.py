"""Dot-product heads, each with a mask and a distance of its own (MS-SAN), and plain multi-head attention."""

from heedful.ops.dot_product.api import DotProductImpl, choose_dot_product, masked_head_attention
from heedful.ops.dot_product.between import head_attention
from heedful.ops.dot_product.bias import head_bias

__all__ = ["DotProductImpl", "choose_dot_product", "head_attention", "head_bias", "masked_head_attention"]
