"""Spreadsheets are read as if they had been saved as CSV."""

from __future__ import annotations

import logging
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from heedful.data.readers.spreadsheets import spreadsheet_records
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError, MissingExtraError

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def write_xlsx(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    """Write a spreadsheet with the least that the format takes."""

    def cell(value: object) -> str:
        if isinstance(value, int | float):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>' if value is not None else "<c/>"

    numbers = range(1, len(sheets) + 1)
    names = "".join(
        f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>' for k, name in zip(numbers, sheets, strict=True)
    )
    links = "".join(
        f'<Relationship Id="r{k}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in numbers
    )
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{k}.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for k in numbers
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
            'PartName="/xl/workbook.xml" ContentType='
            '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
            + parts
            + "</Types>",
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
        )
        for k, rows in zip(numbers, sheets.values(), strict=True):
            body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            archive.writestr(
                f"xl/worksheets/sheet{k}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>',
            )
    return path


def test_rows_of_the_first_filled_sheet(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows: list[list[object]] = [["text", "stars"], ["Good film", 4], ["Bad & dull", 1.5]]
    file = write_xlsx(tmp_path / "a.xlsx", {"empty": [], "films": rows, "notes": [["x"]]})
    with caplog.at_level(logging.WARNING):
        found = list(spreadsheet_records(file))
    assert found == [(2, {"text": "Good film", "stars": "4"}), (3, {"text": "Bad & dull", "stars": "1.5"})]
    assert "the sheet 'films' is read, and not: notes" in caplog.text
    assert [row for row, _ in spreadsheet_records(file, header=False)] == [1, 2, 3]


def test_a_spreadsheet_is_a_table(tmp_path: Path) -> None:
    file = write_xlsx(tmp_path / "a.xlsx", {"s": [["text", "label"], ["good", 1], ["bad", 0]]})
    corpus = read_table(file, text="text", label="label")
    assert [(example.texts, example.target) for example in corpus.examples] == [
        (("good",), "1"),
        (("bad",), "0"),
    ]


def test_a_file_of_libre_office(tmp_path: Path) -> None:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
            for cell in row
        )
        + "</table:table-row>"
        for row in (["text", "label"], ["good film", "yes"])
    )
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        kind = "application/vnd.oasis.opendocument.spreadsheet"
        archive.writestr("mimetype", kind)
        space = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
        archive.writestr(
            "META-INF/manifest.xml",
            f'<m:manifest xmlns:m="{space}"><m:file-entry m:full-path="/" m:media-type="{kind}"/></m:manifest>',
        )
        archive.writestr(
            "content.xml",
            f'<office:document-content {spaces}><office:body><office:spreadsheet><table:table table:name="s">{rows}'
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
    assert list(spreadsheet_records(tmp_path / "a.ods")) == [(2, {"text": "good film", "label": "yes"})]


def test_what_is_no_spreadsheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b.xlsx").write_text("text,label\n")
    with pytest.raises(DataError, match="not a readable spreadsheet"):
        list(spreadsheet_records(tmp_path / "b.xlsx"))
    with pytest.raises(DataError, match="holds no rows"):
        list(spreadsheet_records(write_xlsx(tmp_path / "c.xlsx", {"s": []})))
    file = write_xlsx(tmp_path / "d.xlsx", {"s": [["text"], ["x" * 2000]]})
    monkeypatch.setenv("HEEDFUL_MAX_UNPACKED", "1000")
    with pytest.raises(DataError, match="unpacks to more than"):
        list(spreadsheet_records(file))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"heedful\[spreadsheets\]"):
        list(spreadsheet_records(file))
