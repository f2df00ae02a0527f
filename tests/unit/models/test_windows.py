"""Texts read in windows: like short texts where they are short, by themselves in every batch, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from heedful.encoders import DisanConfig, DisanEncoder, MdmanConfig, MdmanEncoder
from heedful.errors import ExitCode, UsageError
from heedful.models.networks import windowed_states
from heedful.structures import Sentences


def sentences(lengths: list[int]) -> Sentences:
    valid = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return Sentences(torch.ones(valid.shape, dtype=torch.int64) * valid, valid)


@pytest.fixture
def encoder() -> DisanEncoder:
    torch.manual_seed(0)
    return DisanEncoder(4, DisanConfig()).eval()


@pytest.mark.parametrize("length", [8, 9, 13, 14, 15, 20, 41])
def test_a_state_depends_on_its_own_text_alone(encoder: DisanEncoder, length: int) -> None:
    x = torch.randn(1, length, 4)
    alone = windowed_states(encoder, x, sentences([length]), 8).states
    beside = torch.zeros(3, 50, 4)
    beside[1, :length] = x
    beside[2] = torch.randn(50, 4)
    among = windowed_states(encoder, beside, sentences([0, length, 50]), 8).states
    torch.testing.assert_close(among[1, :length], alone[0])
    assert not among[0].any()
    assert not among[1, length:].any()


def test_a_text_that_fits_a_window_is_read_as_without_windows(encoder: DisanEncoder) -> None:
    x, batch = torch.randn(2, 12, 4), sentences([8, 12])
    windowed = windowed_states(encoder, x, batch, 8).states
    torch.testing.assert_close(windowed[0, :8], encoder(x[:1, :8], sentences([8])).states[0])
    # The second begins another window at word 7, of which the first half of the overlap is not taken.
    torch.testing.assert_close(windowed[1, :7], encoder(x[1:, :8], sentences([8])).states[0, :7])
    torch.testing.assert_close(windowed[1, 7:], encoder(x[1:, 6:], sentences([6])).states[0, 1:])


def test_what_needs_the_whole_text_is_refused() -> None:
    batch = sentences([12])
    parsed = Sentences(batch.ids, batch.valid, torch.zeros(1, 12, 12, dtype=torch.int16))
    with pytest.raises(UsageError, match="without a parse"):
        windowed_states(DisanEncoder(4), torch.randn(1, 12, 4), parsed, 8)
    with pytest.raises(UsageError, match="a policy chooses"):
        windowed_states(MdmanEncoder(4, MdmanConfig()), torch.randn(1, 12, 4), sentences([12]), 8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of 40 to 120 words whose class stands at their end, where cutting would lose it."""
    root, random = tmp_path_factory.mktemp("long"), np.random.default_rng(0)
    rows = []
    for number in range(160):
        words = random.choice(["film", "story", "song", "meal"], random.integers(40, 120)).tolist()
        rows.append((" ".join([*words, ["good", "bad"][number % 2], "film"]), ["pos", "neg"][number % 2]))
    tiny.write_csv(root / "train.csv", rows[:120], ["text", "label"])
    tiny.write_csv(root / "test.csv", rows[120:], ["text", "label"])
    settings = {
        "data.train": "train.csv", "data.test": "test.csv", "data.truncate": "window", "data.max_tokens": 32,
        "model.width": 16, "model.hidden": 16, "model.dropout": 0.0, "model.wide": "none", "train.epochs": 25,
        "train.optimizer.lr": 0.01, "train.device": "cpu", "train.patience": 25, "train.least_steps": 0,
        "data.few_rows": 0, "model.sentence": "none",
    }  # fmt: skip
    changes = [f"--set={name}={value}" for name, value in settings.items()]
    result = tiny.run("train", "my-texts", "--no-baseline", "--data", root, "--out", root / "run", *changes)
    assert result.code == 0, result.err
    return root


def test_the_end_of_a_long_text_counts(folder: Path) -> None:
    measured = tiny.run("evaluate", folder / "run", folder / "test.csv", "--json").json()
    assert measured["metrics"]["accuracy"] > 0.9
    assert measured["notes"]["texts cut"] == 0
    head = tiny.run(
        "evaluate", folder / "run", folder / "test.csv", "--truncate", "head", "--max-tokens", "32", "--json"
    ).json()
    assert head["notes"]["texts cut"] == 40
    assert head["metrics"]["accuracy"] < measured["metrics"]["accuracy"]


def test_four_thousand_words_are_answered_and_explained(folder: Path) -> None:
    (folder / "long.jsonl").write_text(json.dumps({"text": "film " * 4_000 + "bad"}) + "\n", encoding="utf-8")
    found = tiny.run("predict", folder / "run", "--input", folder / "long.jsonl", "--json").json()
    assert (found["tokens"], found["truncated"]) == ([4_001], False)
    text = "film " * 60 + "bad"
    explained = tiny.run("explain", folder / "run", "--text", text, "--json").json()
    assert len(explained["sides"][0]["weights"]) == 61
    assert not explained["sides"][0]["maps"]
    assert int(np.argmax(explained["sides"][0]["weights"])) == 60


def test_exports_and_other_tasks_refuse_windows_in_one_line(folder: Path) -> None:
    refused = tiny.run("export", folder / "run", "--onnx", folder / "model.onnx")
    assert (refused.code != 0, refused.err.count("\n"), "window" in refused.err) == (True, 1, True)
    for settings in (["model.encoder=mdman"], ["text.parser=builtin"]):
        changes = [f"--set={each}" for each in ("data.truncate=window", "data.train=train.csv", *settings)]
        result = tiny.run("train", "my-texts", "--data", folder, "--out", folder / "other", *changes)
        assert result.code == ExitCode.USAGE
        assert 'data.truncate = "window" cannot be used with' in result.err
