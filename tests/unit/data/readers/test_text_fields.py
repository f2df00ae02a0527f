from __future__ import annotations

import pytest

from heedful.data.readers.text_fields import read_requests
from heedful.errors import DataError


def test_requests_give_one_example_each() -> None:
    corpus = read_requests(["one", "", "  ", {"text": "four"}])
    assert [example.texts[0] for example in corpus.examples] == ["one", "", "  ", "four"]
    assert [example.row for example in corpus.examples] == [1, 2, 3, 4]
    assert read_requests([]).examples == []


def test_requests_of_pairs() -> None:
    corpus = read_requests([("a", "b"), ["a", ""], {"premise": "c", "hypothesis": "d"}], pair=True)
    assert [example.texts for example in corpus.examples] == [("a", "b"), ("a", ""), ("c", "d")]
    for wrong in ("ab", ("a",), ("a", "b", "c"), 7):
        with pytest.raises(DataError, match="request 1: expected a pair"):
            read_requests([wrong], pair=True)  # type: ignore[list-item]


def test_requests_that_miss_something() -> None:
    with pytest.raises(DataError, match="request 2, field 'text': value is missing"):
        read_requests(["one", None])
    with pytest.raises(DataError, match="request 1, field 'hypothesis': value is missing"):
        read_requests([("a", None)], pair=True)
    with pytest.raises(DataError, match="request 1: no column 'text'; columns: txt; did you mean 'txt'"):
        read_requests([{"txt": "x"}])
    with pytest.raises(DataError, match="request 1, field 'text': expected text, got int 3"):
        read_requests([3])  # type: ignore[list-item]
    assert [example.texts[0] for example in read_requests(["one", None], on_missing="empty").examples] == [
        "one",
        "",
    ]
