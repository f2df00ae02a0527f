"""Which columns hold texts and gold, from values and names; what is open is asked for."""

from __future__ import annotations

import pytest

from heedful.data.readers.column_kinds import kinds_of
from heedful.data.readers.column_roles import Roles, roles_of
from heedful.errors import UsageError

WORDS = ["the", "film", "was", "a", "long", "walk", "by", "quiet", "rivers", "under", "heavy", "clouds"]


def sentence(number: int) -> str:
    return " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 2, 3, 5, 7)) + f" {number}"


def found(given: dict[str, str] | None = None, rows: int = 40, wanted: str = "", **columns: object) -> Roles:
    """Roles of a table; each column is a list that is repeated, or a function of the row."""
    records = [
        {
            name: made(k) if callable(made) else made[k % len(made)]  # type: ignore[index, arg-type]
            for name, made in columns.items()
        }
        for k in range(rows)
    ]
    return roles_of(kinds_of(records), given or {}, wanted=wanted)


def test_texts_and_classes() -> None:
    assert found(id=str, review=sentence, mood=["good", "bad"]) == Roles(
        ("review",), "mood", "label", "", ("id",)
    )
    assert found(a=sentence, b=["x", "y", "z"]) == Roles(("a",), "b", "label")


def test_texts_that_repeat_are_still_texts() -> None:
    few = [sentence(k) for k in range(6)]
    assert found(id=str, review=few, mood=["good", "bad"]).texts == ("review",)


def test_a_column_called_text_holds_the_texts_beside_longer_notes() -> None:
    """As in the file of labels that people write notes in."""
    for short in (WORDS[:9], ["good day sir", *WORDS]):
        roles = found(text=short, label=["x", "y"], note=sentence)
        assert (roles.texts, roles.gold, roles.unread) == (("text",), "label", ("note",))
    pair = found(premise=WORDS[:9], hypothesis=WORDS[:7], label=["x", "y"], note=sentence)
    assert pair.texts == ("premise", "hypothesis")


def test_pairs_are_named_as_pairs() -> None:
    for first, second in (("sentence1", "sentence2"), ("text_a", "text_b"), ("premise", "hypothesis")):
        roles = found(**{first: sentence, second: lambda k: sentence(k + 1)}, label=["yes", "no"])
        assert (roles.texts, roles.kind) == ((first, second), "label")
    scored = found(s1=sentence, s2=lambda k: sentence(k + 1), score=lambda k: f"{k / 10}")
    assert (scored.texts, scored.kind) == (("s1", "s2"), "score")


def test_pairs_whose_texts_repeat_are_still_pairs() -> None:
    few = [sentence(k) for k in range(4)]
    for gold in ({"score": lambda k: f"{k / 10}"}, {"label": ["yes", "no"]}):
        assert found(premise=sentence, hypothesis=few, **gold).texts == ("premise", "hypothesis")
        assert found(text_a=few, text_b=few[:3], **gold).texts == ("text_a", "text_b")
    assert found(question=sentence, answer=few) == Roles(("question",), "answer", "label")


def test_numbers_are_measured_values() -> None:
    assert found(text=sentence, price=lambda k: str(k * 1.5)).kind == "score"
    assert found(text=sentence, target=["0", "1"]).kind == "label"
    assert found(text=sentence, label=["1", "2", "3"]).kind == "label"


def test_whole_numbers_are_asked_about() -> None:
    with pytest.raises(
        UsageError, match=r"stars has whole numbers from 1 to 5: --label stars .* --score stars"
    ):
        found(review=sentence, stars=["1", "2", "3", "4", "5"])
    assert found({"score": "stars"}, review=sentence, stars=["1", "2", "3"]).kind == "score"
    assert found({"label": "stars"}, review=sentence, stars=["1", "2", "3"]).kind == "label"


def test_several_labels() -> None:
    assert found(text=sentence, topics=["a, b", "b", "a", "c, a"]).kind == "labels"
    semicolons = found(text=sentence, topics=["a;b", "b", "a", "c;a"])
    assert (semicolons.kind, semicolons.separator) == ("labels", ";")
    switches = found(text=sentence, toxic=["0", "1"], insult=["0", "0", "1"])
    assert (switches.gold, switches.kind) == ("toxic,insult", "labels")
    booleans = found(text=sentence, toxic=["False", "True"], insult=[True, False, True])
    assert (booleans.gold, booleans.kind) == ("toxic,insult", "labels")
    assert (
        found({"label": "toxic,insult"}, text=sentence, toxic=["0", "1"], insult=["0", "1"]).kind == "labels"
    )
    assert found(text=sentence, label=[["a"], ["a", "b"], []]).kind == "labels"


def test_what_is_open_is_asked_for() -> None:
    with pytest.raises(UsageError, match="choose one of --label x, --label y"):
        found(text=sentence, x=["a", "b"], y=["c", "d"])
    with pytest.raises(
        UsageError, match="--text one, --text two, or as a pair --premise one --hypothesis two"
    ):
        found(one=sentence, two=lambda k: sentence(k + 1), label=["a", "b"])
    with pytest.raises(UsageError, match="no column holds classes or numbers; columns: text"):
        found(text=sentence)
    with pytest.raises(UsageError, match="no column holds texts"):
        found(id=str, label=["a", "b"])
    with pytest.raises(UsageError, match="there is no column 'revue' for text; columns: review, mood"):
        found({"text": "revue"}, review=sentence, mood=["a", "b"])
    with pytest.raises(UsageError, match="there is no column 'nosuch' for label; columns: review, mood"):
        found({"label": "mood,nosuch"}, review=sentence, mood=["a", "b"])
    with pytest.raises(UsageError, match="go together"):
        found({"premise": "one"}, one=sentence, two=sentence, label=["a", "b"])
    with pytest.raises(UsageError, match="give one of them"):
        found({"label": "x", "score": "x"}, text=sentence, x=["1", "2"])


def test_a_name_decides_among_texts() -> None:
    assert found(title=sentence, body=lambda k: sentence(k + 1), label=["a", "b"]).texts == ("body",)
    assert found(text=sentence, comment=lambda k: sentence(k + 1), label=["a", "b"]).texts == ("text",)


def test_a_recipe_that_is_named_settles_what_is_open() -> None:
    grades = ["1", "2", "3", "4"]
    with pytest.raises(UsageError, match="whole numbers from 1 to 4"):
        found(text=sentence, level=grades)
    assert found(text=sentence, level=grades, wanted="classes").kind == "label"
    assert found(text=sentence, level=grades, wanted="number").kind == "score"
    joined = ["a", "a", "a;b"]
    with pytest.raises(UsageError, match="topics has ';'"):
        found(text=sentence, topics=joined)
    assert found(text=sentence, topics=joined, wanted="classes").kind == "label"
    assert found(text=sentence, topics=joined, wanted="labels") == Roles(("text",), "topics", "labels", ";")
    apart = ["a, b", "c, d"]
    assert found(text=sentence, topics=apart, wanted="labels") == Roles(("text",), "topics", "labels")
    assert found(text=sentence, topics=["a", "b"], wanted="labels").kind == "label"
    flags = {"rude": ["0", "1", "1"], "long": ["1", "0"]}
    assert found(text=sentence, **flags).kind == "labels"
    assert found(text=sentence, **flags, wanted="columns").kind == "columns"


def test_a_comma_in_the_name_of_a_column_is_no_list_of_columns() -> None:
    flags = {"a,b": ["0", "1", "1"], "c": ["1", "0"]}
    for given in ({}, {"label": "a,b,c"}):
        with pytest.raises(UsageError, match=r"the column 'a,b' holds a comma in its name.*rename it"):
            found(given, text=sentence, **flags)
    assert found({"label": "a,b"}, text=sentence, **flags).gold == "a,b"


def test_words_with_tags_one_a_row_are_no_texts_with_classes() -> None:
    tags = ["B-PER", "O", "O", "B-LOC", "I-LOC"]
    with pytest.raises(
        UsageError, match=r"tag holds tags of words, such as B-LOC.*\.conll; --label tag learns"
    ):
        found(word=WORDS, tag=tags)
    assert found({"label": "tag"}, word=WORDS, tag=tags).kind == "label"
    assert found(word=WORDS, tag=["O", "A", "B"]).kind == "label"  # blood groups


def test_of_very_many_columns_the_first_are_listed() -> None:
    with pytest.raises(UsageError, match=r"columns: c0, c1, .* and 940 more\. Name it") as error:
        found(rows=3, **{f"c{k}": ["x"] for k in range(1000)})
    assert len(str(error.value)) < 1000
