"""Labels that may mean something else than what they are read as are said with a count, from files and from Python."""

from __future__ import annotations

import json
import logging
from decimal import Decimal
from pathlib import Path

import pytest

import tiny
from heedful.data.readers.doubtful_labels import doubts
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError
from heedful.estimators.targets import ClassNames, Scores, check_names


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"pos": 9, "neg": 9, "nan": 2, "None": 1}, "3 rows have the label 'nan' or 'None'"),
        ({"pos": 9, "-": 2}, "2 rows have the label '-'"),
        ({"pos": 9, "neg": 9, "_": 2}, "2 rows have the label '_'"),
        (
            {f"{n} %": 2 for n in range(8)},
            "16 rows have a label such as '0 %', a number that is read as a class",
        ),
        ({f"{n},5": 1 for n in range(8)}, "8 rows have a label such as '0,5', a number"),
        ({f"−{n}.5": 1 for n in range(8)}, "8 rows have a label such as '−0.5', a number"),
        ({f"({n}.50)": 1 for n in range(8)}, "8 rows have a label such as '(0.50)', a number"),
        ({f"EUR {n},50": 1 for n in range(8)}, "8 rows have a label such as 'EUR 0,50', a number"),
        ({f"1’{n}00.00 CHF": 1 for n in range(8)}, "8 rows have a label such as '1’000.00 CHF', a number"),
        ({"O": 9, "B-PER": 3, "I-PER": 1}, "the labels are tags of words, such as 'B-PER'"),
        ({f"€1,{n}00.00": 1 for n in range(8)}, "8 rows have a label such as '€1,000.00', a number"),
        (
            {**{f"{n}.5": 1 for n in range(9)}, "inf": 2},
            "2 rows have a label such as 'inf', which is no number",
        ),
        (
            {**{f"{n}.5": 1 for n in range(9)}, "n.d.": 1},
            "1 rows have a label such as 'n.d.', which is no number",
        ),
        (
            {**{f"id-{n}": 1 for n in range(30)}, "more": 3},
            "30 of 33 rows have a label that no other row has, such as 'id-0'",
        ),
        (
            {f"a text of its own, number {n}": 1 for n in range(20)},
            "20 of 20 rows have a label that no other",
        ),
        ({f"{n}": 1 for n in range(20)}, "that of numbers to learn with --score"),
        ({"-1": 4, "0": 9, "1": 9, "2": 9}, "4 rows have the label '-1'"),
        ({"pos": 9, "neg": 9, "ignore": 2}, "2 rows have the label 'ignore'"),
        ({"pos": 9, "neg\nsong": 2, "neg\nfilm": 2}, "4 rows have a label such as 'neg\\nsong'"),
        ({"pos": 9, "neg、song": 2, "neg、film": 2}, "if it is several joined by '、'"),
        ({"pos": 9, "neg": 9, "neg;song": 2}, "2 rows have a label such as 'neg;song'"),
        ({"pos": 9, "neg": 9, "neg, song": 2}, "2 rows have a label such as 'neg, song'"),
        ({"pos|song": 9, "neg|song": 3}, "12 rows have a label such as 'pos|song'"),
        ({"pos": 9, "neg": 9, "pos,neg": 2}, "2 rows have a label such as 'pos,neg'"),
        ({"pos": 9, "neg": 9, "[pos, neg]": 2}, "2 rows have a label such as '[pos, neg]'"),
        ({"pos": 9, "POS": 2, "neg": 9}, "'pos' (9), 'POS' (2)"),
        ({"pos": 9, "pos\u200b": 2, "neg": 9}, "'pos' (9), 'pos\\u200b' (2)"),
        ({"caf\u00e9": 9, "cafe\u0301": 2}, "differ only in case"),
        ({"0": 9, "1": 9, "1.0": 2}, "'1' (9), '1.0' (2)"),
        ({"0": 9, "1": 9, "True": 2}, "'1' (9), 'True' (2)"),
    ],
)
def test_what_is_said(labels: dict[str, int], said: str) -> None:
    (note,) = doubts(labels)
    assert said in note


@pytest.mark.parametrize(
    "labels",
    [
        {"pos": 9, "neg": 9, "neutral": 9},
        {"+": 9, "-": 9},
        {"-1": 9, "1": 9},
        {"(misc)": 9, "other": 9},
        {"C#": 9, "C++": 9, "A/B": 1},
        {"A": 9, "A/B": 9, "A&C": 1, "Bed, Bath": 3},
        {"01": 9, "10": 9, "11": 3},
        {"inf": 1, "infinite": 2},
        {**{str(n): 9 for n in range(10)}, "unknown": 3},
        {**{f"1.{n}.3": 9 for n in range(10)}},
        {f"2020-01-{n:02}": 3 for n in range(1, 20)},
        {"123456789012345678901": 9, "123456789012345678902": 9},
    ],
)
def test_plain_labels_are_left_alone(labels: dict[str, int]) -> None:
    assert doubts(labels) == []


def test_python_says_the_same(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "heedful"):
        ClassNames.of(["pos", "neg", "nan"])
        ClassNames.of([0, 1, 2, -1])
    assert [record.getMessage()[:30] for record in caplog.records] == [
        "y: 1 rows have the label 'nan'",
        "y: 1 rows have the label '-1',",
    ]


def test_tags_of_words_are_said_of_texts_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="heedful"):
        check_names(["O", "B-PER"], of_words=True)
        assert not caplog.records
        check_names(["O", "B-PER"])
    assert "the labels are tags of words" in caplog.text


def test_decimal_numbers_are_numbers() -> None:
    assert Scores().read([Decimal("1.50"), 2]) == [1.5, 2.0]
    with pytest.raises(DataError, match="target 1: expected a number, got Decimal"):
        Scores().read([Decimal("sNaN")])


def test_data_check_shows_what_is_said(tmp_path: Path) -> None:
    rows = [(text, "nan" if k % 9 == 0 else label) for k, (text, label) in enumerate(tiny.texts()[:40])]
    tiny.write_csv(tmp_path / "a.csv", [*rows, ("nan", "pos")], ["text", "label"])
    shown = tiny.run("data", "check", "my-texts", "--set", f"data.train={tmp_path / 'a.csv'}").out
    assert "5 rows have the label 'nan'" in shown
    assert "1 texts are 'nan'" in shown


def test_a_label_of_several_is_kept_and_said(tmp_path: Path) -> None:
    rows = [{"text": f"text {k}", "label": each} for k, each in enumerate(["a,b", "b", "-", "a"])]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = read_table(file, text="text", label="label", label_separator=",")
    assert len(corpus.examples) == 4
    assert not corpus.skipped
    assert "1 rows have the label '-'" in corpus.notes[0]


def test_indicators_in_brackets_are_no_labels(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("text,label\na,[1 0 0]\nb,[0 1 0]\n")
    with pytest.raises(DataError, match="cells of 3 zeros and ones"):
        read_table(file, text="text", label="label", label_separator=",")


def test_numbers_that_lose_digits_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "a.csv"
    file.write_text("text,score\na,9007199254740993\nb,2\nc,0.1234567890123456789\nd,100000000000000000001\n")
    (note,) = read_table(file, text="text", score="score").notes
    assert "row 2: 2 numbers have more digits than double precision keeps" in note
    Scores().read([1, 2**53 + 1])
    assert "1 numbers have more digits" in caplog.text
    with pytest.raises(DataError, match="expected a number"):
        Scores().read([10**400])


@pytest.mark.parametrize("cell", ["1_5", "0x10", "1,5", "15%", "nan", "inf"])
def test_what_is_no_number_is_refused(tmp_path: Path, cell: str) -> None:
    file = tmp_path / "a.tsv"
    file.write_text(f"text\tscore\na\t{cell}\n")
    with pytest.raises(DataError, match="expected a number"):
        read_table(file, text="text", score="score")


@pytest.mark.parametrize(
    ("cell", "count"),
    [
        ("array(['pos', 'neg'], dtype=object)", 2),
        ("frozenset({'pos', 'neg'})", 2),
        ("Index(['pos', 'neg'], dtype='object', name='label')", 2),
    ],
)
def test_lists_in_what_programs_print(tmp_path: Path, cell: str, count: int) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"text": "a", "label": cell}) + "\n")
    with pytest.raises(DataError, match=f"{count} labels"):
        read_table(file, text="text", label="label")


@pytest.mark.parametrize(
    ("labels", "mark"),
    [
        (("sport/football", "sport/tennis", "politics/law", "other"), "/"),
        (("comp.sys.mac", "comp.os", "misc"), "."),
        (("a > b", "a > c"), ">"),
        (("a::b::c", "a::b::d"), "::"),
        (("1.5", "1.7", "2.5"), ""),
        (("01/02", "01/03"), ""),
        (("A/B", "C/D"), ""),
        (("Mr. A", "Mr. B"), ""),
        (("sport/football", "sport/tennis", "a", "b", "c"), ""),
        (("a/b", "a/c/", "x"), ""),
    ],
)
def test_labels_that_are_paths_of_a_tree_are_said_with_the_option(labels: tuple[str, ...], mark: str) -> None:
    found = [each for each in doubts(dict.fromkeys(labels, 5)) if "tree" in each]
    assert len(found) == bool(mark)
    assert all(f'--tree "{mark}"' in each for each in found)
