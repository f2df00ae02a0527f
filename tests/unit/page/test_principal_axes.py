"""Word vectors along axes: what is written is near the table, and a browser reads what Python says they stand for."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny
from heedful.export import described
from heedful.export.folder import export_folder
from heedful.export.recording import tensors_of
from heedful.models import ModelConfig
from heedful.page import model_bytes, principal_axes
from heedful.page.principal_axes import CODES, SIZES, along_axes, in_a_byte, metric_of, packed
from heedful.page.quantized_tables import small_network
from heedful.runtime import load
from heedful.storage.model_folder import ModelFolder, load_model_folder, restored, rounded
from heedful.tasks import TextSettings, build_network, load_model, task_named
from heedful.text.vocabulary import Vocabulary
from heedful_lab.repository import javascript_package
from heedful_lab.repository.javascript_equality import MOST, difference, in_node

ROWS, WIDTH = 2100, 10


def table_of(rows: int, features: int, seed: int = 1) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Vectors of which some directions are spread more than others."""
    made = np.random.default_rng(seed).normal(size=(rows, features)) * np.linspace(3, 0.1, features)
    return made.astype(np.float32)


@pytest.mark.parametrize("error", [0.05, 0.3])
def test_the_error_is_as_asked_for_and_the_same_each_time(error: float) -> None:
    table = table_of(600, 10)
    made, again = (along_axes(table, np.eye(10), error) for _ in range(2))
    apart = np.linalg.norm(made.table - table) / np.linalg.norm(table)
    assert 0.5 * error < apart <= error * 1.02
    assert np.array_equal(made.codes, again.codes)
    assert np.array_equal(made.axes, again.axes)


def test_directions_that_nothing_reads_cost_nothing() -> None:
    table, metric = table_of(600, 10), np.diag([1.0] * 4 + [0.0] * 6)
    made = along_axes(table, metric, 0.1)
    assert made.codes.shape[1] == 4
    assert np.linalg.norm((made.table - table)[:, :4]) < 0.11 * np.linalg.norm(table[:, :4])
    more = along_axes(table, np.diag([1.0] * 10), 0.5)
    assert more.codes.shape[1] < 10  # nothing is spread along the last ones


def test_layers_that_read_the_words_are_the_metric() -> None:
    weight = torch.randn(3, 5, generator=torch.Generator().manual_seed(2))
    step = {"do": "dense", "of": ["words"], "to": "v1", "weights": {"weight": "w"}}
    description: Any = {"words": {"trained": "t"}, "read": [step, {"do": "mean", "of": ["v1"], "to": "v2"}]}
    state = {"t": torch.zeros(4, 5), "w": weight}
    wanted = (weight.double().T @ weight.double()).numpy()
    assert np.allclose(metric_of(description, state), wanted)
    description["read"].append({"do": "mean", "of": ["words"], "to": "v3"})
    assert np.allclose(metric_of(description, state) - wanted, np.eye(5) * np.trace(wanted) / 5)


def test_small_numbers_share_bytes() -> None:
    assert [in_a_byte(base) for base in (3, 5, 7, 15, 17, 255)] == [5, 3, 2, 2, 1, 1]
    codes = np.array([[1, -2], [0, 7], [-1, 0], [1, 1], [0, 0], [1, -7]], np.int8)
    assert packed(codes, np.array([1, 7])).tolist() == [
        ((((2 * 3) + 1) * 3 + 0) * 3 + 2) * 3 + 1,
        (((2 * 3 + 1) * 3 + 1) * 3 + 1) * 3 + 1,
        *(5 * 15 + 14, 7 * 15 + 8, 7 * 15 + 0),
    ]


def test_small_tables_stay_as_they_are() -> None:
    state = {"words": torch.randn(40, 6), "bias": torch.randn(3), "w": torch.randn(5, 6)}
    description: Any = {"words": {"trained": "words"}, "read": []}
    small, plain = small_network(state, description), rounded(state)
    assert set(small) == set(plain)
    assert all(torch.equal(small[name], plain[name]) for name in plain)


def saved(path: Path) -> Path:
    words = [f"w{number}" for number in range(2 * ROWS)]
    config = ModelConfig(task="text", width=WIDTH, hidden=6, outputs=3)
    torch.manual_seed(5)
    network = build_network(config, torch.randn(ROWS + 2, WIDTH), torch.randn(ROWS, WIDTH))
    vocabulary = Vocabulary(tuple(words[:ROWS]), extra=tuple(words[ROWS:]))
    task_named("text").model_type(network, config, vocabulary, ("a", "b", "c"), TextSettings()).save(path)
    return path


def as_written(folder: ModelFolder, description: Any) -> ModelFolder:
    """Return a folder with the numbers that a compact file has."""
    words = description["words"]
    names = {name for step in (*description["read"], *description["answer"]) for name in tensors_of(step)}
    state = {name: folder.state[name].float() for name in (*names, *words.values())}
    small = small_network(state, description)
    tables = {}
    for name in words.values():
        rows, *most = small[name + SIZES].tolist()
        assert rows == len(state[name])
        codes = unpacked(small[name + CODES].numpy(), rows, most)
        axes = small[name].float() * small[name + ".scale"][:, None]
        tables[name] = torch.from_numpy(codes.astype(np.float32)) @ axes
    rest = {name: each for name, each in small.items() if name.partition(".codes")[0] not in tables}
    rest = {name: each for name, each in rest.items() if not name.startswith(tuple(words.values()))}
    return replace(folder, state={**folder.state, **restored(rest), **tables})


def unpacked(content: Any, rows: int, most: list[int]) -> Any:
    """Read packed numbers in the plainest way."""
    found, start = [], 0
    for size in most:
        base, count = 2 * size + 1, in_a_byte(2 * size + 1)
        end = start + -(-rows // count)
        digits = [
            (int(byte) // base**place) % base for byte in content[start:end] for place in range(count)[::-1]
        ]
        found.append([digit - size for digit in digits[:rows]])
        start = end
    assert start == len(content)
    return np.array(found, np.int8).T


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_node_reads_axes_as_python_does(tmp_path: Path) -> None:
    path, package = saved(tmp_path / "model"), tmp_path / "package"
    javascript_package.write(package)
    folder, description = load_model_folder(path), described(load_model(path).network)
    for name, more in {"small": (), "whole": ("--whole-tables",)}.items():
        assert tiny.run("export", path, "--javascript", tmp_path / f"{name}.heedful", *more).code == 0
    small, whole = (tmp_path / f"{name}.heedful" for name in ("small", "whole"))
    assert small.stat().st_size < 0.8 * whole.stat().st_size
    export_folder(as_written(folder, description), description, tmp_path / "small", "float32")
    texts = ["w3 w2500 w7", "", "w4199 w0 unseen w2099 w2100", "w1 " * 50]
    wanted = [each.as_dict() for each in load(tmp_path / "small").predict(texts)]
    plain = [each.as_dict() for each in load(path).predict(texts)]
    found = in_node(package, small, [[text] for text in texts])
    assert max(map(difference, found, wanted)) <= MOST
    assert max(difference(one, other) for one, other in zip(found, plain, strict=True)) > MOST


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_tables_of_another_size_than_they_say_are_refused(tmp_path: Path) -> None:
    path, package, file = saved(tmp_path / "model"), tmp_path / "package", tmp_path / "small.heedful"
    javascript_package.write(package)
    file.write_bytes(model_bytes(load_model_folder(path), described(load_model(path).network)))
    content = gzip.decompress(file.read_bytes())
    right = np.array([ROWS + 2], np.int32).tobytes()
    assert content.count(right) >= 1
    for wrong in (-1, ROWS + 900):
        file.write_bytes(gzip.compress(content.replace(right, np.array([wrong], np.int32).tobytes())))
        with pytest.raises(subprocess.CalledProcessError) as refused:
            in_node(package, file, [["w1"]])
        assert "is damaged" in refused.value.stderr


def test_whole_tables_need_a_page_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "manifest.json").write_text("{}")
    result = tiny.run("export", tmp_path / "model", "--whole-tables", "--int8", tmp_path / "small")
    assert (result.code, result.out) == (2, "")
    assert "--whole-tables" in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_rows_without_values_need_no_step() -> None:
    with np.errstate(all="raise"):
        assert principal_axes._step(np.zeros((3, 2)), 0.1) == 1.0
        assert principal_axes._step(np.zeros((0, 2)), 0.1) == 1.0
