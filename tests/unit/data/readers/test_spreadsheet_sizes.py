"""Spreadsheets of a few bytes that stand for millions of cells are refused before they are read."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from test_spreadsheets import MAIN, write_xlsx

from heedful.data.readers.spreadsheet_sizes import BOOK, refuse_huge
from heedful.data.readers.spreadsheets import spreadsheet_records
from heedful.errors import DataError

OASIS = "urn:oasis:names:tc:opendocument:xmlns"
TEXT = (
    '<table:table-cell table:number-columns-repeated="{1}" office:value-type="string"><text:p>{0}</text:p>'
    "</table:table-cell>"
)
EMPTY = '<table:table-cell table:number-columns-repeated="{0}"/>'
ROW = '<table:table-row table:number-rows-repeated="{0}">{1}</table:table-row>'


def write_ods(path: Path, *rows: str, before: str = "") -> Path:
    """Write a spreadsheet of one sheet."""
    content = (
        f'{before}<office:document-content xmlns:office="{OASIS}:office:1.0" xmlns:table="{OASIS}:table:1.0" '
        f'xmlns:text="{OASIS}:text:1.0" office:version="1.2"><office:body><office:spreadsheet><table:table '
        f'table:name="S">{"".join(rows)}</table:table></office:spreadsheet></office:body></office:document-content>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", MANIFEST)
    return path


MANIFEST = (
    '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry m:full-path="/" '
    'm:media-type="application/vnd.oasis.opendocument.spreadsheet"/></m:manifest>'
)
NAMES = ROW.format(1, TEXT.format("text", 1))


@pytest.mark.parametrize(
    "rows",
    [
        [ROW.format(100_000_000, TEXT.format("x", 1))],
        [ROW.format(5, TEXT.format("x", 100_000_000))],
        [ROW.format(50_000, TEXT.format("x", 1_000))],
        [ROW.format(100_000, TEXT.format("x" * 20_000, 1))],
        [ROW.format(10**30, TEXT.format("x", 1)), ROW.format(99_999_999, TEXT.format("x", 1))],
        [ROW.format(100_000_000, EMPTY.format(1)), ROW.format(1, TEXT.format("x", 1))],
        [ROW.format(1, EMPTY.format(100_000_000) + TEXT.format("x", 1))],
    ],
)
def test_cells_that_repeat_count_as_often_as_they_do(rows: list[str], tmp_path: Path) -> None:
    book = write_ods(tmp_path / "a.ods", NAMES, *rows)
    assert book.stat().st_size < 10_000
    with pytest.raises(DataError, match="HEEDFUL_MAX_SPREADSHEET") as refused:
        list(spreadsheet_records(book))
    assert str(refused.value).startswith(str(book))


def test_what_offices_write_is_read(tmp_path: Path) -> None:
    """The rest of each row, and of the sheet, is empty, and said to repeat."""
    tail = EMPTY.format(16_383)
    book = write_ods(
        tmp_path / "a.ods",
        ROW.format(1, TEXT.format("text", 1) + tail),
        ROW.format(3, TEXT.format("a film", 1) + tail),
        ROW.format(1_048_572, EMPTY.format(16_384)),
    )
    assert [record["text"] for _, record in spreadsheet_records(book)] == ["a film"] * 3


def test_entities_are_refused(tmp_path: Path) -> None:
    before = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    with pytest.raises(DataError, match=r"a\.ods: declares XML entities"):
        refuse_huge(write_ods(tmp_path / "a.ods", NAMES, before=before))


def test_far_cells_and_texts_that_all_share_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = write_xlsx(tmp_path / "a.xlsx", {"one": [["text"], ["a film"]]})
    refuse_huge(book)

    def rewritten(name: str, sheet: str, shared: str = "") -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(book) as old, zipfile.ZipFile(path, "w") as new:
            for entry in old.namelist():
                new.writestr(entry, sheet if "worksheets" in entry else old.read(entry))
            if shared:
                new.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}"><si><t>{shared}</t></si></sst>')
        return path

    far = '<c r="A1"><v>1</v></c></row><row r="1000000"><c r="CV1000000"><v>1</v></c>'
    alike = "".join(f'<c r="A{k}" t="s"><v>0</v></c>' for k in range(1, 30))
    for name, row, shared in (("far.xlsx", far, ""), ("alike.xlsx", alike, "y" * 1_000)):
        sheet = f'<worksheet xmlns="{MAIN}"><sheetData><row r="1">{row}</row></sheetData></worksheet>'
        monkeypatch.setenv(BOOK.variable, "20000" if shared else "1G")
        with pytest.raises(DataError, match="HEEDFUL_MAX_SPREADSHEET"):
            refuse_huge(rewritten(name, sheet, shared))


def test_a_damaged_file_is_left_to_its_reader(tmp_path: Path) -> None:
    (tmp_path / "a.ods").write_bytes(b"PK\x03\x04 no archive")
    refuse_huge(tmp_path / "a.ods")
    with pytest.raises(DataError, match="not a readable spreadsheet"):
        list(spreadsheet_records(tmp_path / "a.ods"))


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.95])
def test_cells_that_break_off_are_refused(cut: float, tmp_path: Path) -> None:
    """The reader would look for their end for ever."""
    whole = write_ods(tmp_path / "a.ods", NAMES, ROW.format(3, TEXT.format("a film", 1)))
    broken = tmp_path / "b.ods"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(broken, "w") as new:
        for entry in old.namelist():
            content = old.read(entry)
            new.writestr(entry, content[: int(len(content) * cut)] if entry == "content.xml" else content)
    with pytest.raises(DataError, match=r"b\.ods: not a readable spreadsheet: its cells are no XML"):
        list(spreadsheet_records(broken))
