"""A page in Chromium answers as the runtime and looks where torch looks, for every network with a description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from browsing import Opened, asked, folder_of
from described import FROZEN, MODELS, ROWS, batch_of, built, texts
from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.export import describe
from heedful.export.folder import rounded
from heedful.model.decisions import cheapest
from heedful.models import Network
from heedful.page import render_page
from heedful.page.javascript import operators
from heedful.runtime.program import Program
from heedful.runtime.weights import SCALE, Weights
from heedful.storage.model_folder import save_tensors
from heedful.text.vocabulary import Vocabulary

TOLERANCE = 1e-4
LAST_DIGIT = 5e-3
"""Half of the last digit that a picture shows; scores of some hundred, as here, round by nearly as much."""
WORDS = [f"w{row}" for row in range(ROWS + FROZEN)]
VOCABULARY = Vocabulary(tuple(WORDS[2:ROWS]), tuple(WORDS[ROWS:]))
PREDICT = """async (examples) => { const model = await heedful; return examples.map((texts) => {
  const { logits, probabilities, sides, alignments } = model.predict(texts);
  const plain = ({ weights, maps, gates }) => ({ weights,
    gates: gates.map(({ name, means }) => [name, means]),
    maps: maps.map((map) => [map.name, Array.from(map.weights.data)]) });
  return { logits, shares: probabilities.map((each) => each.probability), sides: sides.map(plain),
    alignments: alignments.map((each) => Array.from(each.weights.data)) };
}); }"""


def written(examples: Sequence[Sequence[np.ndarray]]) -> list[list[str]]:
    return [[" ".join(WORDS[row] for row in ids) for ids in example] for example in examples]


def in_8_bits(network: Network, path: Path) -> Program:
    """Give a network the weights that its page has; return the runtime's program with them."""
    state = rounded(network.state_dict())
    save_tensors(path, state)
    plain = {name: x.float() for name, x in state.items() if not name.endswith(SCALE)}
    for name in plain:
        if name + SCALE in state:
            plain[name] *= state[name + SCALE][:, None]
    description = describe(network)
    network.load_state_dict(plain)
    return Program(description, Weights(path), (ROWS, FROZEN, 0))


ANSWERING = [name for name in MODELS if MODELS[name].get("task", "text") in ("text", "pair", "relatedness")]
"""Networks whose logits a softmax turns into answers; `test_model_page.py`, `test_page_tags.py` and
`test_page_decisions.py` have the others."""


@pytest.mark.parametrize("name", ANSWERING)
def test_answers_and_pictures(name: str, opened: Opened, tmp_path: Path) -> None:
    network, task = built(MODELS[name]), MODELS[name].get("task", "text")
    folder = folder_of(
        network, VOCABULARY, task=task, encoder=MODELS[name]["encoder"], tokenizer="whitespace"
    )
    if {step["do"] for step in describe(network)["read"]} - operators():
        with pytest.raises(UsageError, match="encoder"):
            render_page(folder, describe(network))
        return
    page, examples = opened(folder, network), texts(network.sides)
    program = in_8_bits(network, tmp_path / "weights.safetensors")
    found = asked(page, PREDICT, written(examples))
    wanted = np.stack([program.run(example).logits for example in examples])
    logits = np.array([each["logits"] for each in found])
    assert np.abs(logits - wanted).max() <= TOLERANCE * max(1, np.abs(wanted).max())
    shares = torch.softmax(torch.from_numpy(wanted) / 1.5, -1).numpy()
    assert np.abs(np.array([each["shares"] for each in found]) - shares).max() <= TOLERANCE
    with torch.inference_mode():
        output = network(batch_of(examples), need_weights=True)
    for row, (example, answer) in enumerate(zip(examples, found, strict=True)):
        for ids, side, trace in zip(example, answer["sides"], output.traces, strict=True):
            n = len(ids) + (len(network.prefix) if hasattr(network, "prefix") else 0)
            for kind, traced, shape in (
                ("maps", trace.context.maps, (n, n)),
                ("gates", trace.context.gates, (n,)),
            ):
                assert [named for named, _ in side[kind]] == list(by_caption(traced))
                same_maps([numbers for _, numbers in side[kind]], traced.values(), row, shape)
            if n and trace.pooled.weights is not None:
                same_maps([side["weights"]], [trace.pooled.weights], row, (n,))
        if output.alignments:
            sizes = tuple(len(ids) + len(network.prefix) for ids in example)
            same_maps(answer["alignments"], output.alignments.values(), row, sizes)


def test_a_page_answers_by_cost(opened: Opened, tmp_path: Path) -> None:
    network = built(MODELS["text of disan"])
    folder = folder_of(network, VOCABULARY, tokenizer="whitespace")
    costs = [[0, 30, 2], [1, 0, 1], [0.5, 9, 0]]
    page = opened(replace(folder, config={**folder.config, "costs": costs}), network)
    examples = texts(1)
    answer = "async (examples) => { const model = await heedful; return examples.map((texts) => { "
    answer += "const { label, probabilities } = model.predict(texts); "
    answer += "return [label, ...probabilities.map((each) => each.probability)]; }); }"
    found = asked(page, answer, written(examples))
    shares = np.array([numbers for _, *numbers in found])
    wanted = cheapest(shares, np.array(costs, np.float64))
    assert [label for label, *_ in found] == [folder.labels[place] for place in wanted]
    assert (wanted != shares.argmax(axis=1)).any()


def same_maps(found: Sequence[Sequence[float]], traced: Any, row: int, shape: tuple[int, ...]) -> None:
    wanted = []
    for values in traced:
        example = values[row].numpy()[tuple(slice(size) for size in shape)]
        wanted.append(example.mean(axis=-1) if example.ndim > len(shape) else example)
    assert len(found) == len(wanted)
    for numbers, values in zip(found, wanted, strict=True):
        assert np.abs(np.array(numbers).reshape(shape) - values).max(initial=0) <= LAST_DIGIT
