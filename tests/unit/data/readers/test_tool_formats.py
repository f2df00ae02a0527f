"""Files as annotation tools write them, with invented texts: read as they are, and what nobody labeled is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.data.examples import Corpus, LabelSet
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError


def read(folder: Path, records: list[dict[str, object]], name: str = "a.jsonl", **options: object) -> Corpus:
    text = json.dumps(records) if name.endswith(".json") else "\n".join(map(json.dumps, records))
    (folder / name).write_text(text, encoding="utf-8")
    return read_table(folder / name, text="text", label="label", **options)  # type: ignore[arg-type]


def pairs(corpus: Corpus) -> list[tuple[str, object]]:
    return [(example.texts[0], example.target) for example in corpus.examples]


def task(text: str, *choices: str, canceled: bool = False) -> dict[str, object]:
    result = [
        {
            "id": "r1",
            "type": "choices",
            "value": {"choices": list(choices)},
            "from_name": "mood",
            "to_name": "text",
            "origin": "manual",
        }
    ]
    return {
        "id": 7,
        "data": {"text": text, "source": "made"},
        "annotations": [
            {"id": 3, "completed_by": 1, "result": result, "was_cancelled": canceled, "lead_time": 2.5}
        ],
        "predictions": [],
        "created_at": "2024-01-01T00:00:00Z",
    }


def test_label_studio(tmp_path: Path) -> None:
    records = [
        task("The tea is warm", "good"),
        task("The soup is cold", "bad"),
        task("Hm", "bad", canceled=True),
    ]
    corpus = read(tmp_path, records, "export.json")
    assert pairs(corpus) == [("The tea is warm", "good"), ("The soup is cold", "bad")]
    assert corpus.skipped == {"canceled by the annotator": 1}
    named = read_table(tmp_path / "export.json", text="text", label="mood")
    assert pairs(named) == pairs(corpus)
    several = read(tmp_path, [task("Both", "good", "bad"), task("One", "bad")], "b.json", label_separator=",")
    assert pairs(several) == [("Both", LabelSet(("good", "bad"))), ("One", LabelSet(("bad",)))]


def test_label_studio_without_annotation_is_a_missing_label(tmp_path: Path) -> None:
    records = [task("The tea is warm", "good"), {"id": 8, "data": {"text": "Not yet"}, "annotations": []}]
    with pytest.raises(DataError, match="row 2, field 'label': value is missing"):
        read(tmp_path, records, "export.json")
    assert read(tmp_path, records, "export.json", on_missing="skip").skipped == {"no label": 1}


def test_label_studio_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('text,mood\nTea,good\nSoup,"{""choices"": [""good"", ""bad""]}"\n')
    corpus = read_table(tmp_path / "a.csv", text="text", label="mood", label_separator=",")
    assert pairs(corpus) == [("Tea", LabelSet(("good",))), ("Soup", LabelSet(("good", "bad")))]


def test_doccano(tmp_path: Path) -> None:
    records: list[dict[str, object]] = [
        {"id": 1, "text": "The tea is warm", "label": ["good"], "Comments": []},
        {"id": 2, "text": "The soup is cold", "label": ["bad"], "Comments": []},
    ]
    assert pairs(read(tmp_path, records)) == [("The tea is warm", "good"), ("The soup is cold", "bad")]
    older = [{"text": "Warm", "labels": ["good"]}, {"text": "Cold", "labels": ["bad"]}]
    assert pairs(read(tmp_path, older)) == [("Warm", "good"), ("Cold", "bad")]  # type: ignore[arg-type]


def prodigy(text: str, answer: str, **fields: object) -> dict[str, object]:
    return {"text": text, "_input_hash": 1, "_task_hash": 2, "answer": answer, "_timestamp": 3, **fields}


def test_prodigy(tmp_path: Path) -> None:
    binary = [
        prodigy("Warm", "accept", label="GOOD"),
        prodigy("Cold", "accept", label="BAD"),
        prodigy("Hm", "ignore", label="GOOD"),
        prodigy("So so", "reject", label="GOOD"),
    ]
    corpus = read(tmp_path, binary)
    assert pairs(corpus) == [("Warm", "GOOD"), ("Cold", "BAD")]
    assert corpus.skipped == {"answer: ignore": 1, "answer: reject": 1}
    options = [{"id": "GOOD", "text": "GOOD"}, {"id": "BAD", "text": "BAD"}]
    choice = [
        prodigy("Warm", "accept", options=options, accept=["GOOD"], config={"choice_style": "multiple"}),
        prodigy("Both", "accept", options=options, accept=["GOOD", "BAD"]),
        prodigy("Neither", "accept", options=options, accept=[]),
    ]
    several = read(tmp_path, choice, label_separator=",")
    assert [target for _, target in pairs(several)] == [
        LabelSet(("GOOD",)),
        LabelSet(("GOOD", "BAD")),
        LabelSet(()),
    ]
    by_answer = read_table(
        _written(
            tmp_path / "c.jsonl", [prodigy(f"t{k}", a) for k, a in enumerate(("accept", "reject", "ignore"))]
        ),
        text="text",
        label="answer",
    )
    assert [target for _, target in pairs(by_answer)] == ["accept", "reject"]
    assert by_answer.skipped == {"no gold label: 'ignore'": 1}


def _written(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_a_column_that_is_called_answer_is_no_annotators(tmp_path: Path) -> None:
    records: list[dict[str, object]] = [
        {"text": "Why?", "label": "a", "answer": "ignore"},
        {"text": "Who?", "label": "b", "answer": "reject"},
    ]
    corpus = read(tmp_path, records)
    assert len(corpus.examples) == 2
    assert any("2 rows whose “answer” is reject or ignore" in note for note in corpus.notes)
    (tmp_path / "b.csv").write_text("text,label,answer\nWhy?,a,accept\nWho?,b,ignore\nHow?,b,maybe\n")
    assert not read_table(tmp_path / "b.csv", text="text", label="label").notes  # a column of another meaning
    (tmp_path / "c.csv").write_text("text,label,answer\nWhy?,a,accept\nWho?,b,ignore\n")
    assert "1 rows whose “answer”" in read_table(tmp_path / "c.csv", text="text", label="label").notes[0]


def test_annotators_who_do_not_agree_are_counted(tmp_path: Path) -> None:
    both, one = task("The tea is warm", "good"), task("The soup is cold", "bad")
    both["annotations"] += task("", "bad")["annotations"]  # type: ignore[operator]
    one["annotations"] += task("", "bad")["annotations"]  # type: ignore[operator]
    corpus = read(tmp_path, [both, one], "export.json")
    assert pairs(corpus) == [("The tea is warm", "good"), ("The soup is cold", "bad")]
    assert any("the annotators of 1 texts do not agree" in note for note in corpus.notes)


def test_spacy_cats_as_spacy_writes_them(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    docs = []
    for text, cats in (("Warm tea", {"GOOD": 1.0, "BAD": 0.0}), ("Cold soup", {"GOOD": 0.0, "BAD": 1.0})):
        doc = nlp(text)
        doc.cats = cats
        docs.append(doc.to_json())
    assert pairs(read(tmp_path, docs)) == [("Warm tea", "GOOD"), ("Cold soup", "BAD")]
    several = read(tmp_path, docs, label_separator=",")
    assert [target for _, target in pairs(several)] == [LabelSet(("GOOD",)), LabelSet(("BAD",))]
    wrong: list[dict[str, object]] = [{"text": "x", "cats": {"GOOD": 3}}]
    with pytest.raises(
        DataError, match="row 1, field 'label': expected a table of labels, each with a number"
    ):
        read(tmp_path, wrong)


@pytest.mark.parametrize("name", ["train.txt", "cooking.train", "a.ft"])
def test_lines_of_fasttext(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("__label__sauce How hot?\n\n__label__bread __label__oven Why is it flat ?\n")
    several = read_table(tmp_path / name, text="text", label="label", label_separator=",")
    assert pairs(several) == [
        ("How hot?", LabelSet(("sauce",))),
        ("Why is it flat ?", LabelSet(("bread", "oven"))),
    ]
    with pytest.raises(DataError, match=r"row 3, field .label.: 2 labels, .* and one was expected"):
        read_table(tmp_path / name, text="text", label="label")
