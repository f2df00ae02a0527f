"""Sizes of the papers' models: counted layer by layer from the equations, and as the rows of the tables print them."""

from __future__ import annotations

import re

from heedful_lab.reproduce.plan import tables

D = 300
"""Features of a word vector."""


def dense(inputs: int, outputs: int) -> int:
    """Count a layer with a bias."""
    return inputs * outputs + outputs


def square(width: int) -> int:
    """Count a matrix of a width by itself, without a bias."""
    return width * width


# --- Encoders with their pooling, at width 300: the parts are those of docs/math. ---

SOURCE2TOKEN = 2 * dense(2 * D, 2 * D)
SOURCE2TOKEN_300 = 2 * dense(D, D)
DISA = dense(D, D) + 2 * square(D) + D + 2 * dense(D, D) + D
"""Input layer; the two matrices of the scores and their bias; the two layers of the gate and its third bias."""
MTSA_HEAD = dense(D, D) + 2 * square(D) + 2 * dense(D, D) + dense(2 * D, D)
"""Values; queries and keys without biases; the two layers of the source2token scores; the gate on [value; context]."""
BLOCK_SAN = dense(D, D) + (2 * square(D) + D) + dense(D, D) + DISA + dense(3 * D, 2 * D)
"""Input layer; attention within blocks; pooling of a block; DiSA over the blocks; fusion layer and its gate."""
MSSAN = 4 * square(D) + (4 * square(D) + D) + 2 * dense(D, D) + 2 * D + SOURCE2TOKEN_300
"""Q, K, V and O; the gate's four matrices and bias; the position-wise network; its layer norm; attentive pooling."""
POLICIES = 2 * (dense(3 * D, D) + dense(D, 1))
MDMAN = (
    4 * dense(D, D)  # the input layer of each attention
    + 2 * (2 * square(D) + D)  # scores of the two self-attentions
    + 2 * (2 * square(D))  # scores of the two dot attentions
    + 4 * (2 * dense(D, D) + D)  # gates, with three biases as DiSAN's
    + (dense(D, D) + D)  # fusion
    + POLICIES
    + 1  # the baseline of the reward
    + SOURCE2TOKEN_300
)
READ: dict[str, tuple[int, int]] = {
    "bi-blosan": (2 * BLOCK_SAN + SOURCE2TOKEN, 2 * D),
    "bi-gru": (2 * (dense(2 * D, 2 * D) + dense(2 * D, D)) + SOURCE2TOKEN, 2 * D),
    "bi-lstm": (2 * dense(2 * D, 4 * D) + SOURCE2TOKEN, 2 * D),
    "cnn": (sum(dense(words * D, 200) for words in (3, 4, 5)), 2 * D),
    "disan": (2 * DISA + SOURCE2TOKEN, 2 * D),
    "disan-no-directions": (2 * DISA + SOURCE2TOKEN, 2 * D),
    "embedding-additive": (dense(D, D) + D, D),
    "embedding-mean": (0, D),
    "embedding-source2token": (SOURCE2TOKEN_300, D),
    "hierarchical-cnn": (3 * dense(5 * D, 2 * D) + SOURCE2TOKEN_300, D),
    "mdman": (MDMAN, D),
    "mssan": (MSSAN, 2 * D),
    "mtsa": (2 * MTSA_HEAD + SOURCE2TOKEN, 2 * D),
    "multi-head": (3 * 8 * D * 75 + SOURCE2TOKEN, 2 * D),
    "resan": (2 * DISA + POLICIES + SOURCE2TOKEN, 2 * D),
}
"""System to the size of encoder and pooling, and to the features of a sentence vector."""
SAME_SIZE = {"multi-head-scaled": "multi-head"}
"""Systems that differ from another one in numbers alone."""
HIGHWAY = {system: 2 * dense(D, D) for system in ("mtsa", "hierarchical-cnn", "resan")}
"""The layer that these have in the classifier of pairs."""
DECOMPOSABLE = (
    D * 200  # the projection of word vectors, without a bias
    + 2 * dense(200, 200)  # Attend
    + 2 * (dense(400, 200) + dense(200, 200))  # Compare, and Aggregate below its last layer
)


def on_pairs(system: str, classes: int = 3) -> int:
    """Count a classifier of pairs: 300 units on [u; v; two comparisons], then the classes."""
    if system == "decomposable":
        return DECOMPOSABLE + dense(200, classes)
    read, width = READ[SAME_SIZE.get(system, system)]
    return read + dense(4 * width, D) + HIGHWAY.get(system, 0) + dense(D, classes)


def on_texts(system: str, classes: int, *, final_bias: bool) -> int:
    """Count a classifier of texts: 300 units, then the classes, which the published code gives no bias."""
    read, width = READ[SAME_SIZE.get(system, system)]
    return read + dense(width, D) + D * classes + (classes if final_bias else 0)


def on_grades(system: str) -> int:
    """Count a model of relatedness: 300 units with one bias on u * v and on abs(u - v), then five grades."""
    if system == "decomposable":
        return DECOMPOSABLE + dense(200, 5)
    read, width = READ[SAME_SIZE.get(system, system)]
    return read + 2 * width * D + D + dense(D, 5)


# --- Taggers of semantic roles, three layers of width 200 as in the recipes. ---

W = 200
POSITION_WISE = dense(W, 2 * W) + dense(2 * W, W)
DEEP_ATT = POSITION_WISE + dense(W, 3 * W) + dense(W, W) + 2 * 2 * W
"""Position-wise network; queries, keys and values; output layer; two layer norms."""
TAGGERS: dict[str, tuple[int, int]] = {
    "bi-lstm-tagger": (2 * dense(W + 120, 4 * 120) + 2 * 2 * dense(3 * 120, 4 * 120), 2 * 120),
    "cnn-tagger": (3 * dense(5 * W, 2 * W), W),
    "deep-att": (W + 3 * DEEP_ATT, W),
    "deep-att-signal": (W + 3 * DEEP_ATT, W),
    "mssan-tagger": (3 * (8 * square(W) + W + 2 * dense(W, W) + 2 * W), W),
    "mtsa-deep-att": (W + 3 * (DEEP_ATT + dense(W, W)), W),  # the layer of the source2token scores
}
"""System to the size of its encoder, and to the features of a state."""


def on_roles(system: str, tags: int) -> int:
    """Count a tagger: two flags, the layer that joins them to words, the finder of predicates, the tags of a state."""
    encoder, width = TAGGERS[system]
    finder = dense(5 * D, 100) + dense(100, 1)
    return 2 * 100 + dense(D + 100, W) + finder + encoder + dense(width, tags)


# --- Translators, two layers of width 192 on each side as in the recipes. ---

T, HIDDEN, HEADS = 192, 384, 4
FEED_FORWARD = dense(T, HIDDEN) + dense(HIDDEN, T)
NORM = 2 * T
DECODER = 2 * (2 * 4 * square(T) + FEED_FORWARD + 3 * NORM) + NORM
"""A layer attends twice, without biases; its three parts and the end have a layer norm."""
TRANSFORMER = 2 * (4 * square(T) + FEED_FORWARD + 2 * NORM) + NORM
TRANSLATORS = {
    "mssan-translator": 2 * (8 * square(T) + T + FEED_FORWARD + NORM),
    "mtsa-transformer": TRANSFORMER + 2 * HEADS * dense(T // HEADS, T // HEADS),
    "transformer": TRANSFORMER,
}
"""System to the size of its encoder."""


def on_translation(system: str) -> int:
    """Count a translator; the table of subwords, which is the output layer too, does not count."""
    return TRANSLATORS[system] + DECODER


# --- What the rows print. ---

AGAIN = {("mssan-table1", "disan"): "2.35m"}
"""Where a paper rounds what another has rounded: MS-SAN's prints DiSAN's 2.35m as 2.4m."""
PRINTED = [
    (name, row.system, AGAIN.get((name, row.system), row.paper["size"]))
    for name, table in tables().items()
    for row in table.rows
    if row.system and row.paper.get("size")
]
"""Table, system and the size that the row prints; all of them are classifiers of pairs with three classes."""
UNITS = {"k": 10**3, "m": 10**6}


def rounded(count: int, printed: str) -> str:
    """Write a count as the paper does: as many digits, the same unit."""
    number, unit = re.fullmatch(r"([\d.]+)([mMkK])", printed).groups()  # type: ignore[union-attr]
    digits = len(number.partition(".")[2])
    return f"{count / UNITS[unit.lower()]:.{digits}f}{unit}"
