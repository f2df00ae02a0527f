"""A table that is parsed apart from its file says what the whole file says, or is left to the parser of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.errors import ArtifactError
from heedful.storage.flat_tables import FlatTable, cut_out
from heedful.storage.manifest import packed, read_words, write_json
from heedful.text.vocabulary import vocabulary_from_plain

BASES = {"ran": "run", "gone": "go", "[x]": "-", "": "e", "a b": "c d"}


@pytest.mark.parametrize("layout", [{"indent": 1}, {"indent": 0}, {"separators": (",", ":")}, {}], ids=str)
def test_a_table_is_cut_out_in_every_layout(layout: dict[str, object]) -> None:
    record = {"format": 1, "baseforms": BASES, "ngrams": {"rows": 3}}
    found = cut_out(json.dumps(record, **layout), "baseforms")  # type: ignore[arg-type]
    assert found is not None
    assert json.loads(found[0]) == {**record, "baseforms": {}}
    assert found[1] == BASES
    assert dict(found[1]) == BASES
    assert len(found[1]) == len(BASES)
    assert found[1]["ran"] == "run"
    assert found[1].get("walked", "none") == "none"


def test_escapes_are_left_to_the_parser() -> None:
    assert cut_out('{"baseforms":{"\\u00fc":"u"}}', "baseforms") is None


def test_few_names_are_searched_and_many_are_parsed() -> None:
    table = {f"{letter}{n}": f"{n}{letter}" for n in range(20) for letter in "ab"} | {"a b": "c d"}
    found = cut_out(json.dumps({"baseforms": table}, separators=(",", ":")), "baseforms")
    assert found is not None
    for name in [
        "a1",
        "a",
        "b",
        "1",
        'a1":"1a',
        "",
        ",",
        ":",
        ",:",
        "a b",
        "ü",
        "\\",
        "a1\n",
        *table,
        "none",
    ]:
        assert found[1].get(name) == table.get(name)
        assert (name in found[1]) == (name in table)


@pytest.mark.parametrize("searched", [0, 16])
def test_of_two_equal_names_the_last_counts(searched: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.storage.flat_tables.SEARCHED", searched)
    found = cut_out('{"baseforms":{"a":"b","a":"c"}}', "baseforms")
    assert found is not None
    assert found[1]["a"] == "c"


@pytest.mark.parametrize(
    "inner",
    [
        '"a"x:"b"',
        '"a":x"b"',
        'x"a":"b"',
        '"a":"b"x',
        '"a":"b"x,"c":"d"',
        '"a":"b",x"c":"d"',
        '"a":"b","c":"d",',
        '"a","b":"c":"d"',
        '"a":"\x01"',
        '"a":"\\x"',
        '"a":"b" "c":"d"',
        '"a":"b",\n"c\n":"d"',
        '"a":"b",\n"c,\n":"d"',
        '"a\n":"b"',
        '"a":"b",\n"c" "":"d"',
    ],
)
def test_what_stands_outside_of_the_strings_is_seen(inner: str) -> None:
    text = '{"baseforms":{' + inner + "}}"
    with pytest.raises(ValueError, match=r"line \d"):
        json.loads(text)
    assert cut_out(text, "baseforms") is None


@pytest.mark.parametrize(
    "table",
    [
        {'say "hi"': "say"},
        {'"baseforms":': "x"},
        {"}": "brace"},
        {"a": '":"'},
        {"a": 1},
        {"a": None},
        {"a": ["b", "c"]},
        {"a": {"b": "c"}},
        ["a", "b"],
        "text",
        None,
    ],
    ids=str,
)
def test_what_is_no_plain_table_reads_as_before(table: object, tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.json"
    write_json(file, {"format": 1, "baseforms": table, "last": "z"})
    found = read_words(file, "baseforms")
    base = found["baseforms"]
    assert {**found, "baseforms": dict(base) if isinstance(base, FlatTable) else base} == read_words(file)


@pytest.mark.parametrize(
    "text",
    [
        '{"baseforms": {"a": "b"}',
        '{"baseforms": {"a": "b", }}',
        '{"baseforms": {"a" "b"}}',
        '{"baseforms": {"a": "b": "c": "d"}}',
        '{"baseforms": {"a", "b"}}',
        '{"baseforms": {',
        '{"baseforms":',
    ],
)
def test_what_is_no_json_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ArtifactError, match="expected JSON"):
        read_words(file, "baseforms")


@pytest.mark.parametrize("pack", [False, True])
def test_a_vocabulary_is_the_same_with_its_base_forms_unread(pack: bool, tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(500)]
    plain = {
        "format": 1,
        "lowercase": True,
        "oov": "unknown",
        "buckets": 0,
        "trainable": words,
        "extra": ["günstig"],
        "baseforms": {f"{word}s": word for word in words} | {"günstiger": "günstig"},
    }
    file = tmp_path / "vocabulary.json"
    write_json(file, packed(plain) if pack else plain)
    quick = vocabulary_from_plain(read_words(file, "baseforms"))
    assert quick == vocabulary_from_plain(plain)
    assert quick.to_json() == vocabulary_from_plain(plain).to_json()  # type: ignore[union-attr]
    assert quick.ids(["words", "word7s", "günstiger", "nothing"]).tolist() == [1, 9, 502, 1]  # type: ignore[union-attr]
