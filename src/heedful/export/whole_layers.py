"""Which dense layers of a smaller folder are computed in its numbers; the runtime finds the mark at their steps.

Those of an int8 folder are computed in whole numbers, those of a float16 folder in bfloat16. The rule is fixed and
reads no data. A layer stays in floats if it

- belongs to the answer: it is computed once for a text or a pair, and its rounding goes straight into the scores;
- reads the word vectors: the runtime keeps what it makes of a word, and its rounding goes through all other layers;
- has a matrix so small that turning its input into such numbers would cost more than the product saves.

docs/whole-numbers.md says what the rule costs.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from heedful.runtime.int8_products import MOST_TERMS
from heedful.runtime.program import WORDS
from heedful.runtime.steps import BFLOAT16, WHOLE

LEAST_TERMS, LEAST_OUTPUTS = 128, 16
"""The smallest matrix that is multiplied in such numbers."""
HEADING, HALF_HEADING = "## In 8 bits", "## In 16 bits"
"""Of the part of a model card that says which layers are."""
_WHOLE = (
    "Matrices are whole numbers of 8 bits with a scale a row. The runtime computes {some} of {all} dense",
    "layers in whole numbers too: it turns their inputs into 254 steps as they come. The others stay in floats:",
)
_HALF = (
    "Matrices are floats of 16 bits. The runtime computes {some} of {all} dense layers in bfloat16: it rounds their",
    "matrices and their inputs to 8 digits, and adds up in float32. The others stay in float32:",
)


def in_whole_numbers(description: Mapping[str, object], state: Mapping[str, Tensor]) -> dict[str, object]:
    """Mark the dense layers of a network that are computed in whole numbers.

    Args:
        description: of the network, from `heedful.export.describe`.
        state: its tensors.

    Returns:
        The description with the marks, without those of `in_bfloat16`.
    """
    return _marked(description, state, WHOLE)


def in_bfloat16(description: Mapping[str, object], state: Mapping[str, Tensor]) -> dict[str, object]:
    """Mark the dense layers of a network that are computed in bfloat16; arguments and result as there."""
    return _marked(description, state, BFLOAT16)


def unmarked(description: Mapping[str, object]) -> dict[str, object]:
    """Return the description of a network all of whose layers are computed in float32."""
    read = description.get("read")
    steps = read if isinstance(read, list) else []
    plain = [{name: x for name, x in step.items() if name not in (WHOLE, BFLOAT16)} for step in steps]
    return {**description, "read": plain}


def _marked(description: Mapping[str, object], state: Mapping[str, Tensor], mark: str) -> dict[str, object]:
    plain = unmarked(description)
    steps = plain["read"]
    assert isinstance(steps, list)  # `unmarked` has made it
    return {**plain, "read": [{**step, mark: True} if _fits(step, state) else step for step in steps]}


def _fits(step: Mapping[str, object], state: Mapping[str, Tensor]) -> bool:
    weights = step.get("weights")
    if step["do"] != "dense" or step["of"] == [WORDS] or not isinstance(weights, Mapping):
        return False
    outputs, terms = state[weights["weight"]].shape
    return LEAST_TERMS <= terms <= MOST_TERMS and outputs >= LEAST_OUTPUTS


def card_of(card: str, description: Mapping[str, object]) -> str:
    """Return a model card that says how many dense layers are computed in smaller numbers.

    Args:
        card: the card of the model that is exported.
        description: of its network, with marks.

    Returns:
        The card with that section, which replaces an earlier one; without marks it has none.
    """
    parts = [description.get(part) for part in ("read", "answer")]
    dense = [step for part in parts if isinstance(part, list) for step in part if step["do"] == "dense"]
    kept = card
    for heading in (HEADING, HALF_HEADING):
        kept = kept.partition(f"\n{heading}")[0]
    numbers = description.get("numbers")
    if numbers not in ("int8", "float16"):
        return kept
    heading, mark, said = (HEADING, WHOLE, _WHOLE) if numbers == "int8" else (HALF_HEADING, BFLOAT16, _HALF)
    counts = {"some": sum(step.get(mark) is True for step in dense), "all": len(dense)}
    lines = (
        *(line.format(**counts) for line in said),
        "layers of the answer, layers that read the word vectors, and matrices with fewer than",
        f"{LEAST_TERMS} inputs or {LEAST_OUTPUTS} outputs.",
    )
    return f"{kept.rstrip()}\n\n{heading}\n\n" + "\n".join(lines) + "\n"
