"""Word vectors as products: what is written is near the table, and a browser reads what Python says they stand for."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from heedful.export import described
from heedful.export.folder import export_folder
from heedful.models import ModelConfig
from heedful.page import export_model_file, model_file
from heedful.page.products import BOOK, CODES, compacted, expanded, products
from heedful.runtime import load
from heedful.storage.model_folder import ModelFolder, load_model_folder, restored, rounded
from heedful.tasks import TextSettings, build_network, load_model, task_named
from heedful.text.vocabulary import Vocabulary
from heedful_lab.repository import javascript_package
from heedful_lab.repository.javascript_equality import MOST, difference, in_node

ROWS, WIDTH = 2100, 10


def test_products_are_near_and_the_same_each_time() -> None:
    table = torch.randn(600, 10, generator=torch.Generator().manual_seed(1))
    made, again = products(table, 2), products(table, 2)
    assert made["codes"].shape == (600, 5)
    assert made["books"].shape == (5 * BOOK, 2)
    assert torch.equal(made["codes"], again["codes"])
    found = expanded(made["codes"].numpy(), made["books"].numpy(), 10)
    assert np.square(found - table.numpy()).mean() < 0.02
    wide = products(table, 4)  # the last group is filled up
    assert expanded(wide["codes"].numpy(), wide["books"].numpy(), 10).shape == (600, 10)
    few = products(table[:3], 5)
    assert np.abs(expanded(few["codes"].numpy(), few["books"].numpy(), 10) - table[:3].numpy()).max() < 1e-6


def test_small_tables_stay_as_they_are() -> None:
    state = {"words": torch.randn(40, 6), "bias": torch.randn(3)}
    assert set(compacted(state, {"words": 2})) == set(rounded(state))


def saved(path: Path) -> Path:
    words = [f"w{number}" for number in range(2 * ROWS)]
    config = ModelConfig(task="text", width=WIDTH, hidden=6, outputs=3)
    torch.manual_seed(5)
    network = build_network(config, torch.randn(ROWS + 2, WIDTH), torch.randn(ROWS, WIDTH))
    vocabulary = Vocabulary(tuple(words[:ROWS]), extra=tuple(words[ROWS:]))
    task_named("text").model_type(network, config, vocabulary, ("a", "b", "c"), TextSettings()).save(path)
    return path


def as_written(folder: ModelFolder, words: dict[str, str]) -> ModelFolder:
    """Return a folder with the vectors that the products of its tables stand for."""
    widths = {words[table]: width for table, width in model_file.COMPACT.items()}
    state = compacted({name: folder.state[name].float() for name in widths}, widths)
    books = restored({name: tensor for name, tensor in state.items() if not name.endswith(CODES)})
    tables = {
        name: torch.from_numpy(expanded(state[name + CODES].numpy(), books[name].numpy(), WIDTH))
        for name in widths
    }
    return replace(folder, state={**folder.state, **tables})


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_node_reads_products_as_python_does(tmp_path: Path) -> None:
    path, package = saved(tmp_path / "model"), tmp_path / "package"
    javascript_package.write(package)
    folder, description = load_model_folder(path), described(load_model(path).network)
    for compact in (False, True):
        export_model_file(folder, description, tmp_path / f"{compact}.heedful", compact=compact)
    assert (tmp_path / "True.heedful").stat().st_size < (tmp_path / "False.heedful").stat().st_size
    export_folder(as_written(folder, description["words"]), description, tmp_path / "small", "float32")
    texts = ["w3 w2500 w7", "", "w4199 w0 unseen w2099 w2100", "w1 " * 50]
    wanted = [each.as_dict() for each in load(tmp_path / "small").predict(texts)]
    plain = [each.as_dict() for each in load(path).predict(texts)]
    found = in_node(package, tmp_path / "True.heedful", [[text] for text in texts])
    # matrices are in 8 bits in the file, the tables are those of the products
    assert max(map(difference, found, wanted)) < 0.02
    assert max(difference(one, other) for one, other in zip(found, plain, strict=True)) > MOST


def test_compact_needs_a_page_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "manifest.json").write_text("{}")
    result = tiny.run("export", tmp_path / "model", "--compact", "--int8", tmp_path / "small")
    assert (result.code, result.out) == (2, "")
    assert "--compact" in result.err
    assert len(result.err.strip().splitlines()) == 1
