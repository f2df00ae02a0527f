"""One trained model of each kind, made by the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tiny
from heedful.run import important_words
from looking_rarely import rarely  # noqa: F401


@dataclass(frozen=True)
class Tiny:
    """The tiny tasks and their trained runs; tests only read them."""

    data: Path
    runs: Path
    results: dict[str, tiny.Result]


@pytest.fixture(scope="session", autouse=True)
def _few_texts_for_important_words() -> Iterator[None]:
    """Look for the important words of a training in few texts: in hundreds it takes as long as a tiny training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(important_words, "TEXTS", 16)
        yield


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Train a model of each kind once for all tests."""
    root = tmp_path_factory.mktemp("tiny")
    data = tiny.write_tasks(root / "data")
    results = {
        name: tiny.run(
            "train",
            data / f"{name}.toml",
            "--data",
            data,
            "--out",
            root / "runs" / name,
            "--set",
            "train.device=cpu",
            "--no-baseline",
        )
        for name in ("text", "pair", "score")
    }
    assert all(result.code == 0 for result in results.values()), results
    return Tiny(data, root / "runs", results)
