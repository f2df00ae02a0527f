"""No label is lost: not by a kill, a full disk, another program, or what stands in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from heedful.errors import DataError, OutputError, UsageError
from heedful.labeling import label_file
from heedful.labeling.forms import NONE, alike_but_for_case, form_of
from heedful.labeling.label_file import LabelFile, Record, names_in

CLASSES = form_of("classes", ["refund", 'late, "very"', "two\nlines", "ü"])
STRANGE = [
    "plain",
    'with, commas "and" quotes',
    "two\nlines",
    'ends in a quote"',
    " blanks ",
    "ü 😀",
    "",
    "=1+1",
]


def opened(path: Path, form: Any = CLASSES) -> tuple[LabelFile, list[str]]:
    said: list[str] = []
    return LabelFile(path, form, said.append), said


def test_a_cell_is_json_of_labels_that_there_are() -> None:
    several = form_of("several", ["late", "lost"])
    assert several.read_cell('["lost", "late"]', ("x",)) == ["late", "lost"]
    with pytest.raises(DataError, match=r"there is no label 'lo'; did you mean 'lost'"):
        several.read_cell('["lo"]', ("x",))
    for cell in ("[late", "[" * 100_000):
        with pytest.raises(DataError, match="expected a label as JSON"):
            several.read_cell(cell, ("x",))


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_what_was_added_is_read_again(tmp_path: Path, name: str) -> None:
    file, _ = opened(tmp_path / name)
    wanted = []
    for k, text in enumerate(STRANGE):
        label = (*CLASSES.labels, NONE)[k % 5]
        wanted.append(Record((text,), label, by="Ann, 2", note='a "note"\n', chosen="random", guess="refund"))
        file.add([wanted[-1]])
        assert opened(tmp_path / name)[0].records == wanted
    file.replace(wanted[2], None)
    file.replace(wanted[4], changed := Record((STRANGE[4],), "refund", by="Ann, 2", checked=True))
    found, said = opened(tmp_path / name)
    assert found.records == file.records == [*wanted[:2], wanted[3], changed, *wanted[5:]]
    assert said == []


@pytest.mark.parametrize(
    ("form", "texts", "label"),
    [
        (form_of("several", ["a, b", "c"]), ("x",), ["a, b", "c"]),
        (form_of("several", ["a, b", "c"]), ("x",), []),
        (form_of("number", []), ("x",), 0.1),
        (form_of("number", [], pair=True, bounds=(1, 5)), ("x", "y,"), 5.0),
        (form_of("classes", ["yes"], pair=True), ("x", 'y"'), "yes"),
        (form_of("spans", ["PER"]), ("Ann sings",), [[0, 3, "PER"]]),
    ],
)
@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_every_form_is_read_again(tmp_path: Path, form: Any, texts: Any, label: Any, name: str) -> None:
    file, _ = opened(tmp_path / name, form)
    file.add([Record(texts, label, by="Ann")])
    assert opened(tmp_path / name, form)[0].records == [Record(texts, label, by="Ann")]


def test_a_file_from_elsewhere_is_continued_with_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("\ufeffid,label,text\r\n7,refund,give it back\r\n8,ü,no end", encoding="utf-8")
    written = path.read_bytes()
    file, _ = opened(path)
    assert path.read_bytes() == written  # a file that is only read or exported stays as it is
    file.add([Record(("new",), "refund", by="Ann")])
    assert path.read_text(encoding="utf-8").splitlines() == [
        "id,label,text,note,by,chosen,guess,checked",
        "7,refund,give it back,,,,,",
        "8,ü,no end,,,,,",
        ",refund,new,,Ann,,,",
    ]
    assert names_in(path, CLASSES) == ["refund", "ü"]


def test_a_file_that_another_program_changes_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    file, said = opened(path)
    file.add([Record(("one",), "refund")])
    file.add([Record(("two",), "refund")])
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], lines[2]]), encoding="utf-8")  # and its last line has no end
    file.add([Record(("three",), "ü")])
    assert [record.texts[0] for record in opened(path)[0].records] == ["two", "three"]
    path.unlink()
    file.add([Record(("four",), "ü")])
    assert [record.texts[0] for record in opened(path)[0].records] == ["two", "three", "four"]
    assert len(said) == 2


def test_a_file_that_became_unreadable_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    file, _ = opened(path)
    path.write_text("text,label\na,refund,too,many\nb,refund\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"row 2: expected 2 fields, got 4"):
        file.add([Record(("one",), "refund")])
    assert path.read_text(encoding="utf-8") == "text,label\na,refund,too,many\nb,refund\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("review,label\na,refund\n", "has no column 'text'"),
        ("text,label\na,other\n", "row 2, field 'label': there is no label 'other'"),
        ("text,label\na,\n", "there is no label ''"),
        ("text;label\na;refund\n", "has no column 'text'"),
        ('text,label\n"a,refund\nb,refund\nc,refund\n', "a quotation mark opens and is never closed"),
    ],
)
def test_a_file_that_is_none_of_labels_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        opened(path)
    assert path.read_text(encoding="utf-8") == content


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_a_row_that_was_cut_off_anywhere_takes_no_other_with_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    file, _ = opened(path)
    whole = [Record((text,), "refund", by="Ann") for text in ('a "b",\nc', "one, two")]
    file.add(whole[:1])
    start = path.stat().st_size
    file.add(whole[1:])
    data = path.read_bytes()
    for end in range(start, len(data)):
        path.write_bytes(data[:end])
        found, _ = opened(path)
        assert found.records[0] == whole[0]
        assert len(found.records) == 1 or found.records[1].texts == whole[1].texts
        found.add([Record(("next",), "ü")])
        assert opened(path)[0].records[-1].texts == ("next",)


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "labels.csv"
    file, _ = opened(path)
    file.add([Record(("one",), "refund")])
    before, write, written = path.read_bytes(), os.write, []

    def fails(handle: int, data: Any) -> int:
        if written:
            raise OSError(28, "No space left on device")
        written.append(write(handle, bytes(data[:7])))
        return 7

    monkeypatch.setattr(label_file.os, "write", fails)
    with pytest.raises(
        OutputError, match=r"No space left on device\. Choose another folder or free some space\.$"
    ):
        file.add([Record(("two",), "refund")])
    monkeypatch.undo()
    assert written == [7]
    assert path.read_bytes() == before
    assert len(file.records) == 1
    file.add([Record(("two",), "refund")])
    assert len(opened(path)[0].records) == 2


KILLED = """
    import sys
    from pathlib import Path
    from heedful.labeling.forms import form_of
    from heedful.labeling.label_file import LabelFile, Record
    file = LabelFile(Path(sys.argv[1]), form_of("classes", ["refund"]), print)
    for number in range(100_000):
        record = Record((f'text "{number}",\\nwith a second line',), "refund", by="Ann")
        file.add([record])
        if number % 3 == 2:
            file.replace(record, Record(record.texts, "refund", by="Ann", note="changed"))
        print(number, flush=True)
"""


def test_a_kill_loses_no_label_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    for number in (1, 4, 9):
        path.unlink(missing_ok=True)
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(KILLED), str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert child.stdout is not None
        while int(child.stdout.readline()) < number:
            pass
        child.send_signal(signal.SIGKILL)
        last = [int(line) for line in child.stdout.read().split()]
        child.wait()
        child.stdout.close()
        found, _ = opened(path, form_of("classes", ["refund"]))
        said = max([number, *last])
        texts = [record.texts[0].split('"')[1] for record in found.records]
        assert texts[: said + 1] == [str(k) for k in range(said + 1)]
        assert [r.note for r in found.records][: said + 1] == [
            "changed" * (k % 3 == 2) for k in range(said + 1)
        ]


@pytest.mark.parametrize(
    ("one", "other"),
    [("refund", "re\u200bfund"), ("caf\u00e9", "cafe\u0301"), ("a b", "a\u00a0b"), ("a", "\u2060a")],
)
def test_labels_that_look_the_same_are_refused(one: str, other: str) -> None:
    with pytest.raises(UsageError, match="look the same"):
        form_of("several", [one, "praise", other])


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["a", "b", "A"], ("a", "A")),
        (["STRASSE", "Stra\u00dfe"], ("STRASSE", "Stra\u00dfe")),
        (["x2", "x\u00b2"], None),
        (["a", "b"], None),
        ([], None),
    ],
)
def test_labels_that_differ_in_capital_letters_alone(
    labels: list[str], found: tuple[str, str] | None
) -> None:
    assert alike_but_for_case(form_of("several", labels).labels) == found


UTF16 = "text,label\na film,refund\n".encode("utf-16")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("labels.csv", b"\xff\xfe\x00\x01" * 100),
        ("labels.csv", b"%PDF-1.7 \xe2\xe3\xcf\xd3"),
        ("labels.csv", UTF16),
        ("labels.csv", UTF16 + b"\n"),
        ("labels.csv", b"text,label\ra film,refund\ranother,refund\r"),
        ("labels.csv", b'"text,label'),
        ("labels.jsonl", b"\xff\xfe\x00\x01" * 100),
        ("labels.jsonl", UTF16),
        ("labels.jsonl", b"some notes without a line end"),
        ("labels.jsonl", b'[{"text": "a film", "label": "refund"'),
    ],
)
def test_a_file_of_something_else_is_refused_and_stays_as_it_is(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as refused:
        opened(path)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_a_row_that_was_cut_off_is_kept_in_a_file_beside(tmp_path: Path, name: str) -> None:
    file, _ = opened(tmp_path / name)
    file.add([Record(("a film",), "refund"), Record(("another film",), "refund")])
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:-12])
    again, said = opened(tmp_path / name)
    assert [record.texts for record in again.records] == [("a film",)]
    assert f"{name}.cut has it" in said[0]
    kept = (tmp_path / name).read_bytes() + (tmp_path / f"{name}.cut").read_bytes().rstrip(b"\n")
    assert kept == whole[:-12]
