"""More classes than linear fits take: the mean directions of their texts answer, on every door, without a network."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

import tiny

pytestmark = pytest.mark.english

FIRST = [
    "red",
    "old",
    "big",
    "cold",
    "happy",
    "broken",
    "quiet",
    "fast",
    "sweet",
    "heavy",
    "dark",
    "cheap",
    "young",
    "sharp",
    "empty",
    "wooden",
    "green",
    "sick",
    "brave",
    "tiny",
    "loud",
    "rich",
    "blue",
    "warm",
    "dry",
    "lazy",
    "wild",
    "round",
    "soft",
    "strict",
    "angry",
    "famous",
    "hungry",
]
SECOND = [
    "house",
    "river",
    "dog",
    "bottle",
    "train",
    "doctor",
    "garden",
    "song",
    "letter",
    "king",
    "bridge",
    "apple",
    "shirt",
    "winter",
    "school",
    "engine",
    "knife",
    "storm",
    "market",
    "teacher",
    "window",
    "forest",
    "camera",
    "sister",
    "coin",
    "horse",
    "ocean",
    "pillow",
    "story",
    "ticket",
    "wall",
]
NAMES = [f"{first} {second}" for first in FIRST for second in SECOND]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train on two texts of each of 1,023 classes."""
    folder = tmp_path_factory.mktemp("many")
    with (folder / "things.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        rows.writerows(
            [form.format(name), name.upper()] for form in ("the {}", "my {} here") for name in NAMES
        )
    found = tiny.run(
        "train", folder / "things.csv", "--text", "text", "--label", "label", "--out", folder / "run"
    )
    assert found.code == 0, found.err
    assert "1,023 classes have 1.8 training rows each: too few for a network" in found.err
    return folder / "run"


def test_new_texts_are_answered_and_explained_exactly(run: Path) -> None:
    texts = [f"a {name}" for name in NAMES[::50]]
    answered = tiny.run("predict", run, *(part for text in texts for part in ("--text", text)), "--json")
    rows = [json.loads(line) for line in answered.out.splitlines()]
    right = sum(row["label"] == name.upper() for row, name in zip(rows, NAMES[::50], strict=True))
    assert right >= 0.9 * len(texts)
    shown = tiny.run("explain", run, texts[0], "--json")
    assert shown.code == 0, shown.err
    found = json.loads(shown.out)
    why = found["attribution"]
    assert why["label"] == "RED HOUSE"
    share = dict(zip(found["labels"], found["probabilities"], strict=True))["RED HOUSE"]
    total = why["start"] + sum(map(sum, why["values"])) + why["together"]
    assert total == pytest.approx(math.log(share / (1 - share)), abs=1e-6)


def test_the_folder_holds_linear_parts_alone(run: Path) -> None:
    config = json.loads((run / "model" / "config.json").read_text())
    assert config["model"]["encoder"] == "none"
