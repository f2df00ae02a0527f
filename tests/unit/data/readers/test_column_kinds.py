"""What a column holds, by its values."""

from __future__ import annotations

from heedful.data.readers.column_kinds import ColumnKind, kinds_of


def kind(*values: str) -> ColumnKind:
    return ColumnKind("c", values)


def test_numbers() -> None:
    assert kind("1", "2", "2").is_whole
    assert kind("1.5", "2").is_number
    assert not kind("1.5", "2").is_whole
    assert not kind("nan", "2").is_number
    assert not kind("1", "two").is_number
    assert kind("0", "1", "1").is_switch
    assert not kind("0", "0").is_switch


def test_row_numbers_tell_rows_apart() -> None:
    assert kind("3", "1", "2").is_row_number
    assert kind("a7", "b8", "c9").is_row_number
    assert not kind("1", "1", "2").is_row_number
    assert not kind("a long text", "another one", "and a third").is_row_number


def test_texts_and_classes() -> None:
    assert kind("a long walk home", "no", "the sun came out again").is_text
    assert kind("good", "bad", "good", "bad").is_classes
    assert not kind("good", "good").is_classes
    assert not kind("one", "two", "three").is_classes


def test_separators_stand_between_labels_that_are_known() -> None:
    assert kind("a,b", "b", "a", "b,a").separator == ","
    assert kind("a|b", "b", "a").separator == "|"
    assert kind("Hello, you", "Well, no", "Yes, why").separator == ""


def test_parts_that_recur_only_in_other_combinations_are_labels() -> None:
    assert kind("a;b", "b;c", "a;c").separator == ";"
    assert kind(*["a;b", "c"] * 3).separator == ""
    assert kind("New York, NY", "Albany, NY", "Boston, MA").separator == ""


def test_a_separator_that_the_values_leave_open() -> None:
    cells = kind(*["a"] * 10, *["a;b"] * 5)
    assert (cells.separator, cells.doubtful_separator, cells.with_mark(";")) == ("", ";", 5)
    assert kind("a;b", "b", "a").doubtful_separator == ""  # it is certain
    assert kind(*["a;b", "c"] * 3).doubtful_separator == ""
    assert kind(*["Arts, film", "Arts, music", "Sport"] * 3).doubtful_separator == ""


def test_values_of_rows() -> None:
    found = kinds_of([{"a": None, "b": ["x"], "c": True}, {"a": " ", "b": ["x", "y"], "c": 2.0}])
    assert found["a"].missing == 2
    assert found["b"].lists == 2
    assert found["b"].separator == "list"
    assert found["c"].values == ("True", "2.0")


def test_what_is_false_or_true_is_a_switch_and_keeps_its_names() -> None:
    """As ``pandas.get_dummies`` makes columns: booleans in JSON, False and True in CSV, 1.0 where a cell is missing."""
    rows = [
        {"a": True, "b": "False", "c": 0.0, "d": True},
        {"a": False, "b": "True", "c": "1.0", "d": "maybe"},
    ]
    found = kinds_of(rows)
    assert found["a"].values == ("True", "False")
    assert [kind.is_switch for kind in found.values()] == [True, True, True, False]
