"""Labels as people and tools write them: read rightly, refused in one line, or counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.data.examples import Corpus, LabelSet
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError


def classes(folder: Path, labels: list[object], **options: object) -> Corpus:
    file = folder / "a.jsonl"
    rows = [{"text": f"text {k}", "label": label} for k, label in enumerate(labels)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_table(file, text="text", label="label", **options)  # type: ignore[arg-type]


def targets(corpus: Corpus) -> list[object]:
    return [example.target for example in corpus.examples]


def sets(folder: Path, cells: list[object], separator: str = ",") -> list[object]:
    found = targets(classes(folder, cells, label_separator=separator))
    return [target.names if isinstance(target, LabelSet) else target for target in found]


@pytest.mark.parametrize(
    "cell",
    [
        "['neg']",
        '["neg"]',
        ["neg"],
        "('neg',)",
        "{'neg'}",
        {"neg": 1, "pos": 0},
        "{'neg': 1, 'pos': 0.0}",
        "{'neg': True}",
    ],
)
def test_a_list_of_one_label_is_that_label(tmp_path: Path, cell: object) -> None:
    assert targets(classes(tmp_path, [cell, "pos"])) == ["neg", "pos"]


@pytest.mark.parametrize(
    "cell", ["['neg', 'both']", "{'neg': 1, 'both': 0.9}", ["neg", "both"], {"neg": 1.0, "both": 0.9}]
)
def test_several_labels_where_one_was_expected_are_refused(tmp_path: Path, cell: object) -> None:
    with pytest.raises(
        DataError, match=r"row 1, field 'label': 2 labels, \['neg', 'both'\], and one was expected"
    ):
        classes(tmp_path, [cell, "pos"])


@pytest.mark.parametrize(
    "cell",
    [
        "['neg', 'both']",
        '["neg", "both"]',
        "['neg' 'both']",  # as NumPy prints an array
        "['neg'\n 'both']",
        "('neg', 'both')",
        "{'neg', 'both'}",
        ["neg", "both"],
        {"neg": 1, "both": 0.5, "other": 0},
        '{"choices": ["neg", "both"]}',
        "neg, both",
        "neg,both,",
    ],
)
def test_several_labels_in_any_writing(tmp_path: Path, cell: object) -> None:
    assert sets(tmp_path, [cell, "one"]) == [("neg", "both"), ("one",)]


@pytest.mark.parametrize("cell", ["[]", [], "", "()", {"neg": 0}])
def test_no_labels_in_any_writing(tmp_path: Path, cell: object) -> None:
    assert sets(tmp_path, [cell, "one"]) == [(), ("one",)]


@pytest.mark.parametrize("cell", ["[neg, both]", "{neg,both}", "['neg, both]"])
def test_brackets_that_would_become_letters_of_labels_are_refused(tmp_path: Path, cell: str) -> None:
    with pytest.raises(DataError, match=r"row 1, field .label.: .* is written as a list that cannot be read"):
        sets(tmp_path, [cell, "one"])


@pytest.mark.parametrize("name", ["[URGENT]", "it's (odd)", "a, [b]", "C#", "(x"])
def test_names_with_brackets_stay_names(tmp_path: Path, name: str) -> None:
    assert targets(classes(tmp_path, [name, "pos"])) == [name, "pos"]


@pytest.mark.parametrize(
    "value", [[[0, 3, "PER"]], [{"start": 0, "end": 3, "label": "PER"}], [["0", "3", "PER"]]]
)
@pytest.mark.parametrize("separator", ["", ","])
def test_spans_are_no_labels(tmp_path: Path, value: object, separator: str) -> None:
    with pytest.raises(DataError, match=r"row 1, field .label.: holds spans and no (class|labels); my-tags"):
        classes(tmp_path, [value, "pos"], label_separator=separator)


@pytest.mark.parametrize("cells", [["1,0,1", "0,0,1"], ["0,1", "1,0"], ["1,1", "a"], ["0;0;1", "1;0;0"]])
def test_indicators_without_names_are_refused(tmp_path: Path, cells: list[object]) -> None:
    separator = ";" if ";" in str(cells[0]) else ","
    with pytest.raises(
        DataError, match=r"zeros and ones say which labels a text has, but no name of a label"
    ):
        sets(tmp_path, cells, separator)


def test_labels_that_are_named_0_and_1_stay_labels(tmp_path: Path) -> None:
    assert sets(tmp_path, ["0,1", "1", "2,0"]) == [("0", "1"), ("1",), ("2", "0")]


def test_one_column_for_each_label(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("id,comment,toxic,insult,threat\n1,a,0,0,0\n2,b,1,0,1\n3,c,1.0,True,false\n")
    corpus = read_table(file, text="comment", label="toxic,insult,threat", label_separator=",")
    assert targets(corpus) == [LabelSet(()), LabelSet(("toxic", "threat")), LabelSet(("toxic", "insult"))]
    with pytest.raises(DataError, match=r"no column .insutl.; .*did you mean 'insult'"):
        read_table(file, text="comment", label="toxic,insutl", label_separator=",")
    file.write_text("comment,toxic,insult\na,0,-1\n")
    with pytest.raises(
        DataError, match="row 2, field 'insult': expected 0 or 1, whether the text has the label"
    ):
        read_table(file, text="comment", label="toxic,insult", label_separator=",")


def test_a_dash_beside_other_labels_is_no_label(tmp_path: Path) -> None:
    corpus = classes(tmp_path, ["entailment", "-", "neutral", "-"])
    assert targets(corpus) == ["entailment", "neutral"]
    assert corpus.skipped == {"no gold label: '-'": 2}
    known = classes(tmp_path, ["entailment", "-"], known=("entailment", "neutral"))
    assert (targets(known), known.skipped) == (["entailment"], {"no gold label: '-'": 1})
    assert targets(classes(tmp_path, ["+", "-", "0"])) == ["+", "-", "0"]
    assert targets(classes(tmp_path, ["+", "-"], known=("+", "-"))) == ["+", "-"]


def test_ignore_is_an_answer_and_no_class(tmp_path: Path) -> None:
    corpus = classes(tmp_path, ["accept", "ignore", "reject"])
    assert (targets(corpus), corpus.skipped) == (["accept", "reject"], {"no gold label: 'ignore'": 1})
    assert targets(classes(tmp_path, ["ignore", "stop", "warn"])) == ["ignore", "stop", "warn"]


def test_labels_that_may_be_several_are_counted_in_a_note(tmp_path: Path) -> None:
    corpus = classes(tmp_path, ["positive#song", "positive", "song", "positive#song"])
    (note,) = corpus.notes
    assert "2 rows have a label such as 'positive#song'" in note
    assert 'data.options.label_separator="#"' in note
    (note,) = classes(tmp_path, ["yes|no", "yes", "no"]).notes
    assert "such as 'yes|no'" in note
    assert classes(tmp_path, ["yes/no", "other", "C#"]).notes == ()


def test_half_a_character_in_a_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 2, field 'label': the label .* holds half of a character"):
        classes(tmp_path, ["pos", "n\ud83d"])


def test_a_name_that_stands_twice_in_an_object_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    for content in (
        '{"text": "a", "label": "x"}\n{"text": "b", "label": "x", "label": "y"}\n',
        '[{"text": "a", "label": "x"}, {"text": "b", "label": "x", "label": "y"}]',
        '{"text": "a", "label": "x"}\n{"text": "b", "label": {"x": 1, "x": 0}}\n',
    ):
        file.write_text(content)
        with pytest.raises(
            DataError, match=r"row 2: not JSON \(the name '(label|x)' stands twice in one object"
        ):
            read_table(file, text="text", label="label")


def test_label_columns_say_and_refuse_what_one_column_does(tmp_path: Path) -> None:
    def read(topics: list[object]) -> Corpus:
        rows = [{"text": "a b", "topic": topic, "mood": "good"} for topic in topics]
        file = tmp_path / "columns.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)))
        return read_table(file, text="text", label="topic,mood", label_columns=True)

    (note,) = read(["None", "a", "b"]).notes
    assert "field 'topic': 1 rows have the label 'None'" in note
    (note,) = read(["caf\u00e9", "cafe\u0301"]).notes
    assert "field 'topic': the labels" in note
    assert read([["a"], "b"]).examples[0].target == LabelSet(("topic: a", "mood: good"))
    with pytest.raises(DataError, match=r"row 2, field 'topic': 2 labels, .* and one was expected"):
        read(["a", "['a', 'b']"])
    with pytest.raises(DataError, match="row 1, field 'topic': holds spans and no class"):
        read([[[0, 1, "PER"]]])
    with pytest.raises(DataError, match="label column 'topic' holds no class; leave it out"):
        read([None, None])


def test_spans_in_a_cell_of_json_are_no_class(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row 1, field 'label': holds spans and no class"):
        classes(tmp_path, ['[{"start": 0, "end": 1, "labels": ["PER"]}]'])


def test_an_empty_cell_beside_ones_is_told_what_to_write(tmp_path: Path) -> None:
    file = tmp_path / "flags.csv"
    file.write_text("text,rude,long\na b,1,\n")
    with pytest.raises(
        DataError, match=r"row 2, .* is missing; write 0 where a text has not the label of a column"
    ):
        read_table(file, text="text", label="rude,long", label_separator=",")
