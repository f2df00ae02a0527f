"""BIO tags: spans to tags and brackets and back, and what is no BIO."""

from __future__ import annotations

import pytest

from heedful.data.readers.role_columns import brackets
from heedful.text.bio import Span, bio_tags, mistake_in, spans_of, tags_of


def test_tags_and_brackets_are_the_spans() -> None:
    spans = [Span(0, 2, "A0"), Span(2, 3, "V"), Span(3, 4, "A0"), Span(4, 6, "A1")]
    tags = tags_of(spans, 7)
    assert tags == ("B-A0", "I-A0", "B-V", "B-A0", "B-A1", "I-A1", "O")
    assert spans_of(tags) == spans
    assert brackets(spans, 7) == ["(A0*", "*)", "(V*)", "(A0*)", "(A1*", "*)", "*"]
    assert bio_tags(["V", "A0", "V"]) == ("O", "B-A0", "I-A0", "B-V", "I-V")
    with pytest.raises(ValueError, match="two spans hold word 2"):
        tags_of([Span(0, 2, "A"), Span(1, 3, "B")], 3)


def test_an_inside_tag_of_another_role_begins_a_span() -> None:
    assert spans_of(("B-A", "I-B", "I-B")) == [Span(0, 1, "A"), Span(1, 3, "B")]


@pytest.mark.parametrize(
    ("tags", "mistake"),
    [
        (("B-A", "I-A", "O"), None),
        (("I-A",), "word 1: I-A must follow B-A or I-A; it follows O"),
        (("B-A", "I-B"), "word 2: I-B must follow B-B or I-B; it follows B-A"),
        (("B-",), "word 1: a tag is O, B-ROLE or I-ROLE; got 'B-'"),
        (("O", None), "word 2: a tag is O, B-ROLE or I-ROLE; got None"),
    ],
)
def test_mistakes_in_tags(tags: tuple[object, ...], mistake: str | None) -> None:
    assert mistake_in(tags) == mistake
