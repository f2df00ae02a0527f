"""CLINC150 and SNIPS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.data.examples import WordTags
from heedful.data.readers.intents import read_clinc, read_snips
from heedful.errors import DataError


def written(path: Path, content: object, encoding: str = "utf-8") -> Path:
    path.write_bytes(json.dumps(content, ensure_ascii=False).encode(encoding))
    return path


def request(*pieces: tuple[str, str]) -> dict[str, object]:
    return {"data": [{"text": text, **({"entity": slot} if slot else {})} for text, slot in pieces]}


def test_a_part_of_clinc(tmp_path: Path) -> None:
    file = written(
        tmp_path / "full.json",
        {"train": [["how far", "distance"], [" ", "distance"]], "oos_test": [["why", "oos"]]},
    )
    corpus = read_clinc(file)
    assert [(example.texts, example.target, example.row) for example in corpus.examples] == [
        (("how far",), "distance", 1)
    ]
    assert corpus.skipped == {"no text": 1}
    assert len(read_clinc(file, keep_empty=True).examples) == 2
    assert [example.target for example in read_clinc(file, part="oos_test").examples] == ["oos"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"test": []}, r"full\.json: train is missing"),
        ([1], r"full\.json: expected a JSON dict, found list"),
        ({"train": [["a text"]]}, r"row 1, field 'train': expected \[text, intent\]"),
        ({"train": [["a text", "x"], [1, "x"]]}, r"row 2, field 'train': expected \[text, intent\]"),
    ],
)
def test_what_clinc_is_not(tmp_path: Path, content: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read_clinc(written(tmp_path / "full.json", content))


def test_no_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(DataError, match=r"a\.json: expected JSON"):
        read_clinc(tmp_path / "a.json")


def test_intents_and_slots_of_snips(tmp_path: Path) -> None:
    first = written(
        tmp_path / "a.json", {"Play": [request(("play ", ""), ("Big Yellow Taxi", "song"), ("'s ", ""))]}
    )
    written(tmp_path / "b.json", {"Rate": [request(("Rate ", ""), ("Café", "place"))]}, "latin-1")
    intents = read_snips(first, beside=["b.json"])
    assert [(example.texts[0], example.target) for example in intents.examples] == [
        ("play Big Yellow Taxi's", "Play"),
        ("Rate Café", "Rate"),
    ]
    slots = read_snips(first, beside=["b.json"], gold="slots").examples
    assert slots[0].words == (("play", "Big", "Yellow", "Taxi", "'s"),)
    assert slots[0].target == WordTags(("O", "B-song", "I-song", "I-song", "O"))
    assert slots[1].target == WordTags(("O", "B-place"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([1], r"a\.json: expected a JSON dict, found list"),
        ({"Play": 3}, r"a\.json: Play must be a list; got 3"),
        ({"Play": [request(("a", "")), {"text": "b"}]}, r"a\.json: Play\[1\]\.data is missing"),
        ({"Play": [{"data": [{"text": 3}]}]}, r"Play\[0\]\.data\[0\]\.text must be a string; got 3"),
        ({"Play": [{"data": [{"text": "a", "entity": 3}]}]}, r"data\[0\]\.entity must be a string; got 3"),
    ],
)
def test_what_snips_is_not(tmp_path: Path, content: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read_snips(written(tmp_path / "a.json", content))
