"""Tables of any form: headers with empty or repeated names, none at all, Excel's first line, UTF-16, and pipes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from heedful.data.examples import Corpus
from heedful.data.readers.reading import FileReading
from heedful.data.readers.table_files import read_table, table_blocks
from heedful.errors import DataError
from heedful.text.pipes import is_spooled, pipes_kept
from heedful.text.text_files import find_file
from waiting import PATIENCE

ROWS = [("who", "pos"), ("where, and\nwhen", "neg")]


def rows(corpus: Corpus) -> list[tuple[str, object]]:
    return [(example.texts[0], example.target) for example in corpus.examples]


def test_columns_without_a_name_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "spam.csv").write_text("v1,v2,,,\nham,who,,,\nspam,where,,x,\n", encoding="latin-1")
    corpus = read_table(tmp_path / "spam.csv", text="v2", label="v1", encoding="latin-1")
    assert rows(corpus) == [("who", "ham"), ("where", "spam")]
    named = read_table(tmp_path / "spam.csv", text="v2", label="column 4", on_missing="skip")
    assert rows(named) == [("where", "x")]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_columns_of_one_name_matter_if_they_are_asked_for(tmp_path: Path, form: str) -> None:
    file = tmp_path / f"a.{form}"
    if form == "csv":
        file.write_text("t,a,a,y\nwho,1,2,pos\n")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table([["who"], ["1"], ["2"], ["pos"]], names=["t", "a", "a", "y"])
        pytest.importorskip("pyarrow.parquet").write_table(table, file)
    assert rows(read_table(file, text="t", label="y")) == [("who", "pos")]
    assert rows(read_table(file, text="t", label="a (column 3)")) == [("who", "2")]
    with pytest.raises(DataError, match=r"no column 'a'; columns: t, a \(column 2\), a \(column 3\), y"):
        read_table(file, text="t", label="a")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_file_without_a_header_keeps_its_first_row(tmp_path: Path, name: str) -> None:
    mark = "," if name == "a.csv" else "\t"
    (tmp_path / name).write_text(f"who{mark}pos\nwhere{mark}neg\n")
    corpus = read_table(tmp_path / name, text="1", label="2", header=False)
    assert rows(corpus) == [("who", "pos"), ("where", "neg")]
    assert [example.row for example in corpus.examples] == [1, 2]
    with pytest.raises(
        DataError, match=r"no column 'text'; columns: who, pos\..*--no-header --column text=NUMBER"
    ):
        read_table(tmp_path / name, text="text", label="label")
    (tmp_path / name).write_text(f"who{mark}pos\nwhere\n")
    with pytest.raises(DataError, match="row 2: expected 2 fields as in the first row, got 1"):
        read_table(tmp_path / name, text="1", label="2", header=False)


@pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\n', "SEP=;\r\n", "\ufeffsep=;\n"])
def test_the_first_line_of_excel_states_the_separator(tmp_path: Path, first: str) -> None:
    (tmp_path / "a.csv").write_text(f'{first}t;y\nwho;pos\n"where; when";neg\n', encoding="utf-8")
    corpus = read_table(tmp_path / "a.csv", text="t", label="y")
    assert rows(corpus) == [("who", "pos"), ("where; when", "neg")]
    assert [example.row for example in corpus.examples] == [3, 4]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "json"])
def test_utf16_with_its_mark(tmp_path: Path, form: str, encoding: str) -> None:
    texts = [("naïve 🙂", "pos"), ("日本", "neg")]
    records = [{"t": text, "y": label} for text, label in texts]
    content = {
        "csv": "t,y\n" + "".join(f"{text},{label}\n" for text, label in texts),
        "tsv": "t;y\n" + "".join(f"{text};{label}\n" for text, label in texts),
        "jsonl": "\n".join(json.dumps(each, ensure_ascii=False) for each in records),
        "json": json.dumps(records, ensure_ascii=False),
    }[form]
    (tmp_path / f"a.{form}").write_bytes(content.encode(encoding))
    assert rows(read_table(tmp_path / f"a.{form}", text="t", label="y")) == texts
    trained = FileReading(
        {"text": "t"}, encoding="cp1252"
    )  # a model that was trained on a file of another encoding
    how = FileReading().beside(trained, tmp_path / f"a.{form}")
    blocks = table_blocks(tmp_path / f"a.{form}", ("text",), how)
    assert [example.texts[0] for block in blocks for example in block.examples] == [text for text, _ in texts]


@pytest.mark.parametrize("path", [".", "/", "..", "a/"])
def test_what_is_no_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    with pytest.raises(DataError, match="is a folder, a file was expected"):
        find_file(path)


def piped(folder: Path, name: str, content: bytes) -> Path:
    """Return a named pipe into which somebody writes once."""
    path = folder / name
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes(content), daemon=True).start()
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b't,y\nwho,pos\n"where, and\nwhen",neg\n'),
        ("pipe", b't,y\nwho,pos\n"where, and\nwhen",neg\n'),
        ("pipe", b't;y\nwho;pos\n"where, and\nwhen";neg\n'),
        ("pipe", b'{"t": "who", "y": "pos"}\n{"t": "where, and\\nwhen", "y": "neg"}\n'),
        (
            "pipe",
            gzip.compress(b'{"t": "who", "y": "pos"}\n{"t": "where, and\\nwhen", "y": "neg"}\n', mtime=0),
        ),
    ],
)
def test_a_pipe_is_a_file(tmp_path: Path, name: str, content: bytes) -> None:
    assert rows(read_table(piped(tmp_path, name, content), text="t", label="y")) == ROWS


def test_a_command_may_read_a_pipe_several_times(tmp_path: Path) -> None:
    pipe = piped(tmp_path, "pipe", b"who\n")
    with pipes_kept():
        first = find_file(pipe)
        assert find_file(pipe) == first
    assert is_spooled(first)
    assert first.read_bytes() == b"who\n"


def test_a_pipe_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEEDFUL_MAX_UNPACKED", "3M")
    with pytest.raises(DataError, match=r"/dev/zero: the pipe gives more than 3,145,728 bytes"):
        find_file(Path("/dev/zero"))


def test_what_was_a_pipe_is_gone_with_the_process(tmp_path: Path) -> None:
    code = "import sys; from heedful.text.text_files import find_file; print(find_file('/dev/stdin'))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=b"who\n",
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    name = Path(run.stdout.decode().strip())
    assert name.name.startswith("stdin")
    assert not name.parent.exists()
