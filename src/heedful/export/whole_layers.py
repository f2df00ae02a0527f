"""Which dense layers of an int8 folder are computed in whole numbers; the runtime finds the mark at their steps.

The rule is fixed and reads no data. A layer stays in floats if it

- belongs to the answer: it is computed once for a text or a pair, and its rounding goes straight into the scores;
- reads the word vectors: the runtime keeps what it makes of a word, and its rounding goes through all other layers;
- has a matrix so small that turning its input into whole numbers would cost more than the product saves.

docs/whole-numbers.md says what the rule costs.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from heedful.runtime.program import WORDS
from heedful.runtime.steps import WHOLE
from heedful.runtime.whole_products import MOST_TERMS

LEAST_TERMS, LEAST_OUTPUTS = 128, 16
"""The smallest matrix that is multiplied in whole numbers."""
HEADING = "## In 8 bits"
"""Of the part of a model card that says which layers are."""


def in_whole_numbers(description: Mapping[str, object], state: Mapping[str, Tensor]) -> dict[str, object]:
    """Mark the dense layers of a network that are computed in whole numbers.

    Args:
        description: of the network, from `heedful.export.describe`.
        state: its tensors.

    Returns:
        The description with the marks.
    """
    read = description.get("read")
    steps = read if isinstance(read, list) else []
    return {**description, "read": [{**step, WHOLE: True} if _fits(step, state) else step for step in steps]}


def _fits(step: Mapping[str, object], state: Mapping[str, Tensor]) -> bool:
    weights = step.get("weights")
    if step["do"] != "dense" or step["of"] == [WORDS] or not isinstance(weights, Mapping):
        return False
    outputs, terms = state[weights["weight"]].shape
    return LEAST_TERMS <= terms <= MOST_TERMS and outputs >= LEAST_OUTPUTS


def card_of(card: str, description: Mapping[str, object]) -> str:
    """Return a model card that says how many dense layers are computed in whole numbers.

    Args:
        card: the card of the model that is exported.
        description: of its network, with marks.

    Returns:
        The card with that section, which replaces an earlier one.
    """
    parts = [description.get(part) for part in ("read", "answer")]
    dense = [step for part in parts if isinstance(part, list) for step in part if step["do"] == "dense"]
    whole = sum(step.get(WHOLE) is True for step in dense)
    kept = card.partition(f"\n{HEADING}")[0].rstrip("\n")
    lines = (
        f"Matrices are whole numbers of 8 bits with a scale a row. The runtime computes {whole} of {len(dense)} dense",
        "layers in whole numbers too: it turns their inputs into 254 steps as they come. The others stay in floats:",
        "layers of the answer, layers that read the word vectors, and matrices with fewer than",
        f"{LEAST_TERMS} inputs or {LEAST_OUTPUTS} outputs.",
    )
    return f"{kept}\n\n{HEADING}\n\n" + "\n".join(lines) + "\n"
