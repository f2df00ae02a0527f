"""Results under names of a command's own choosing replace earlier results, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.errors import OutputError
from heedful.storage.ownership import is_record, refuse_foreign_results
from heedful_lab.bench.bench_report import write_files
from heedful_lab.reproduce.table_records import refuse_foreign_table


def test_a_record_is_a_table_with_its_fields(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    assert not is_record(file, ())
    for text, expected in (
        ("{", False),
        ("[]", False),
        ('{"rows": 1}', True),
        ('[{"rows": 1}]', True),
        ("3", False),
    ):
        file.write_text(text)
        assert is_record(file, ("rows",)) == expected, text
    assert not is_record(file, ("rows", "machine"))


def test_what_is_taken_is_named(tmp_path: Path) -> None:
    refuse_foreign_results(tmp_path / "new", ["a.md"], own=False)
    (tmp_path / "a.md").write_text("mine")
    refuse_foreign_results(tmp_path, ["a.md"], own=True)
    with pytest.raises(OutputError, match=r"Heedful did not write a\.md there.*move it away"):
        refuse_foreign_results(tmp_path, ["a.md", "b.md"], own=False)


def test_reports_and_tables_do_not_replace_a_users_files(tmp_path: Path) -> None:
    texts = {"bench.md": "x", "bench.json": '{"rows": []}', "bench.csv": ""}
    (tmp_path / "bench.md").write_text("my notes on the bench")
    with pytest.raises(OutputError, match=r"bench\.md"):
        write_files(texts, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bench.md"]
    for _ in range(2):
        write_files(texts, tmp_path / "own")
    (tmp_path / "table2.csv").write_text("mine")
    with pytest.raises(OutputError, match=r"table2\.csv"):
        refuse_foreign_table(tmp_path / "table2")
    (tmp_path / "table2.json").write_text('[{"table": "table2"}]')
    refuse_foreign_table(tmp_path / "table2")
