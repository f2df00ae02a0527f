"""An exported graph gives what the runtime gives, for every network that has a description."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from described import FROZEN, LENGTHS, MODELS, ROWS, built, program_of, texts
from heedful.attention.additive_kernel import TOLERANCE as TOLERANCE_OF_WEIGHTS
from heedful.attention.additive_kernel import expansions
from heedful.export import described
from heedful.export.onnx_attention import RANK
from heedful.export.onnx_file import output_names, write_onnx
from heedful.export.onnx_inputs import IDS, OnnxInputs, of_side, padded
from heedful.export.onnx_rows import NotExported
from heedful.models import Network
from heedful.runtime.weights import Weights
from heedful.text.vocabulary import Vocabulary
from onnx_sessions import open_session

pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
TOLERANCE = 1e-5


def compared(network: Network, folder: Path) -> None:
    program, examples = program_of(network, folder), texts(network.sides)
    weights, description = Weights(folder / "weights.safetensors"), described(network)
    words = [f"w{row}" for row in range(2, ROWS + FROZEN)]
    inputs = OnnxInputs(network.sides, Vocabulary(tuple(words[: ROWS - 2]), tuple(words[ROWS - 2 :])))
    if any(step.get("positions") for step in description["read"]):
        with pytest.raises(NotExported, match="positions"):
            write_onnx(description, weights, {}, 1.0, inputs)
        return
    made = open_session(write_onnx(description, weights, {"labels": ["a"]}, 2.0, inputs))
    assert made.get_modelmeta().custom_metadata_map["labels"] == '["a"]'
    answer, _ = output_names(description)
    columns = {
        of_side(IDS, side, network.sides): padded([ids.tolist() for ids in column])
        for side, column in enumerate(zip(*examples, strict=True))
    }
    outputs = [each.name for each in made.get_outputs() if each.name in (answer, "probabilities")]
    found = made.run(sorted(outputs), columns)
    wanted = np.stack([program.run(example).logits for example in examples])
    assert found[0].shape == (len(LENGTHS), wanted.shape[1])
    assert np.abs(found[0] - wanted).max() <= TOLERANCE * max(1, np.abs(wanted).max())
    if "scale" in description or answer == "vector":  # neither a number nor a vector has probabilities
        assert len(found) == 1
        return
    shares = np.exp(wanted / 2.0 - (wanted / 2.0).max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    if "thresholds" in description:
        shares = 1 / (1 + np.exp(-wanted / 2.0))
    assert np.abs(found[1] - shares).max() <= TOLERANCE * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_gives_what_the_runtime_gives(name: str, tmp_path: Path) -> None:
    compared(built(MODELS[name]), tmp_path)


@pytest.mark.parametrize(
    ("encoder", "operator"), [("disan", "additive"), ("mdman", "additive"), ("mtsa", "tensorized")]
)
def test_beyond_the_range_of_the_fast_form(encoder: str, operator: str, tmp_path: Path) -> None:
    """With weights so large that every branch goes query by query."""
    network = built({"encoder": encoder})
    for parameter in network.sentence_encoder.encoder.parameters():  # type: ignore[union-attr]
        if parameter.dim() == 2:
            parameter.data *= 4.0
    steps = [step for step in described(network)["read"] if step["do"] == operator]
    values = program_of(network, tmp_path).values(texts(1)[0][0])
    if operator == "additive":
        half = next(each.half for each in expansions(5.0, TOLERANCE_OF_WEIGHTS) if each.rank == RANK)
        assert all(np.abs(values[step["of"][0]]).max() > half for step in steps)
    else:
        scores = [values[step["of"][-1]] for step in steps]
        assert all(np.ptp(score, axis=0).max() > 40 for score in scores)
    compared(network, tmp_path)
