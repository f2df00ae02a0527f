"""A linear model over the frozen vectors of a pretrained encoder, as a rival and on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.baselines.rivals import FrozenEncoder, frozen_encoder, rivals
from heedful.errors import DataError
from tiny_encoder import write_encoder

pytest.importorskip("transformers")
TEXTS = [("the film was good",), ("a dull film",), ("lovely plot .",), ("poor act",)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoders") / "tiny")


def test_vectors_have_unit_length_whatever_stands_beside_them(folder: Path) -> None:
    features = FrozenEncoder(folder).fit(TEXTS)
    rows = features.transform(TEXTS)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert rows[:1] == pytest.approx(features.transform(TEXTS[:1]), abs=1e-5)
    pairs = features.transform([(TEXTS[0][0], TEXTS[1][0])])
    assert pairs.shape == (1, 4 * rows.shape[1])
    assert features.bytes > 0


def test_it_stands_on_the_board_of_a_table(folder: Path, tmp_path: Path) -> None:
    lines = [f"{text},{label}" for (text,), label in zip(TEXTS, "abab", strict=True)]
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text("\n".join(["text,label", *lines * 5]) + "\n", encoding="utf-8")
    asked = [
        "my-texts",
        "--set",
        f"data.train={tmp_path / 'train.csv'}",
        "--set",
        f"data.test={tmp_path / 'test.csv'}",
    ]
    without = [
        part for name in ("TF-IDF", "NB-SVM", "mean", "fastText", "spaCy") for part in ("--without", name)
    ]
    result = tiny.run("baselines", *asked, "--frozen", folder, *without)
    assert result.code == 0, result.err
    assert "tiny, frozen + logistic regression" in result.out


def test_a_folder_that_holds_no_encoder_is_named_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no encoder of transformers"):
        frozen_encoder("text", tmp_path)
    with pytest.raises(DataError, match=r"no encoder of transformers"):
        rivals("text", TEXTS, (tmp_path,))
