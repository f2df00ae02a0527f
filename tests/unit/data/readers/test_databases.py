"""Tables of SQLite and DuckDB, and queries that only read."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from heedful.data.readers.databases import database_records
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError, UsageError


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop's.db"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute('CREATE TABLE "all reviews" (text TEXT, label TEXT)')
        connection.executemany('INSERT INTO "all reviews" VALUES (?, ?)', [("good", "yes"), ("bad", "no")])
        connection.commit()
    return file


def test_the_only_table(shop: Path) -> None:
    assert list(database_records(shop)) == [
        (1, {"text": "good", "label": "yes"}),
        (2, {"text": "bad", "label": "no"}),
    ]
    assert [e.target for e in read_table(shop, text="text", label="label").examples] == ["yes", "no"]


def test_a_query(shop: Path) -> None:
    asked = "SELECT upper(text) AS text, label FROM 'all reviews' WHERE label = 'no'"
    assert list(database_records(shop, asked)) == [(1, {"text": "BAD", "label": "no"})]
    assert len(read_table(shop, text="text", label="label", query=asked).examples) == 1


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM 'all reviews'",
        "ATTACH 'other.db' AS o",
        "PRAGMA writable_schema = 1",
        "SELECT x",
        "no SQL",
    ],
)
def test_a_query_only_reads(shop: Path, query: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be answered"):
        list(database_records(shop, query))
    assert len(list(database_records(shop))) == 2
    assert not (tmp_path / "other.db").exists()


def test_several_tables_are_asked_about(shop: Path) -> None:
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("CREATE TABLE clients (name TEXT)")
    with pytest.raises(UsageError, match="has the tables all reviews, clients; name what is read: --query"):
        list(database_records(shop))


def test_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "none.db").touch()
    with pytest.raises(DataError, match="has no tables"):
        list(database_records(tmp_path / "none.db"))
    (tmp_path / "a.db").write_text("text,label\n" * 200)
    with pytest.raises(DataError, match="cannot be read"):
        list(database_records(tmp_path / "a.db"))


def test_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE reviews AS SELECT 'good' AS text, 'yes' AS label")
    assert list(database_records(file)) == [(1, {"text": "good", "label": "yes"})]
    assert list(database_records(file, "SELECT label FROM reviews")) == [(1, {"label": "yes"})]
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for query in (f"SELECT * FROM '{secret}'", "INSERT INTO reviews VALUES ('x', 'y')"):
        with pytest.raises(DataError, match="cannot be answered"):
            list(database_records(file, query))


def test_cells_of_every_type_are_read_as_json_has_them(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE SCHEMA old")
        connection.execute(
            "CREATE TABLE old.\"all 'reviews'\" AS SELECT 1.50 AS price, 3::DECIMAL(9, 2) AS stars, "
            "DATE '2024-02-01' AS day, TIME '10:00' AS hour, INTERVAL 2 DAY AS term, "
            "'5e0b8d0c-5b0c-4d3a-9d5e-3f0a2b1c4d5e'::UUID AS id, ['a', 'b'] AS label"
        )
    ((_, record),) = database_records(file)
    assert record == {
        "price": 1.5,
        "stars": 3,
        "day": "2024-02-01",
        "hour": "10:00:00",
        "term": "2 days, 0:00:00",
        "id": "5e0b8d0c-5b0c-4d3a-9d5e-3f0a2b1c4d5e",
        "label": ["a", "b"],
    }
