"""Columns beside a text: recognized, fitted, read from requests, and kept in a folder."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest

from heedful.errors import DataError, UsageError
from heedful.features.cells import date_in, number_in, plain_cell
from heedful.features.feature_columns import FeatureColumns, read_columns
from heedful.features.feature_kinds import Wanted, doubt_about, kind_of_cells, refuse_roles, wanted_columns
from heedful.storage.fields import Fields


def fitted(*cells: object, kind: str | None = None) -> FeatureColumns:
    wanted = [Wanted("x", kind)]  # type: ignore[arg-type]
    return FeatureColumns.fitted(wanted, [[each] for each in cells], lambda at: f"row {at + 1}")  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "", None, "NA"], "number"),
        ([1, 2, 3.5], "number"),
        (["02134", "10001"], "category"),
        (["red", "12"], "category"),
        ([True, False], "category"),
        (["2024-03-01", "2024-03-02 09:30", ""], "date"),
        (["31.12.2023", "01.01.2024"], "date"),
        (["01/02/2024", "03/04/2024"], "category"),
        ([None, ""], "category"),
        (["1e400", "2"], "category"),
    ],
)
def test_the_values_say_what_a_column_is(cells: list[object], kind: str) -> None:
    assert kind_of_cells(cells) == kind  # type: ignore[arg-type]


def test_the_user_says_it_behind_a_colon_and_a_name_may_have_one() -> None:
    assert wanted_columns(["price", "zip:category", "a:b"]) == (
        Wanted("price"),
        Wanted("zip", "category"),
        Wanted("a:b"),
    )
    for wrong in (["x", "x:number"], [""], [":number"]):
        with pytest.raises(UsageError, match="--feature"):
            wanted_columns(wrong)
    with pytest.raises(UsageError, match="is the column of the label"):
        refuse_roles(["mood"], {"label": "mood"})


def test_numbers_are_in_standard_deviations_and_a_slip_of_the_pen_counts_as_the_end() -> None:
    columns = fitted(*range(100))
    (column,) = columns.columns
    dense = np.zeros((4, columns.width))
    for row, cell in enumerate([49.5, 1e12, None, -1e12]):
        places, values = columns.features(columns.read({"x": cell}, "row 1"))
        dense[row, places] = values
    assert column.parts[:2] == ("missing", "value")
    assert dense[0, 1] == pytest.approx(0, abs=1e-9)
    assert dense[1, 1] == pytest.approx(-dense[3, 1])
    assert 1.6 < dense[1, 1] < 1.8
    assert dense[2].tolist() == [1, *[0] * (columns.width - 1)]
    assert (dense[:, 2:] != 0).sum(axis=1).tolist() == [1, 1, 0, 1]  # one fifth of the values each


def test_a_constant_column_and_one_of_two_values_have_no_fifths() -> None:
    assert fitted(3, 3, 3).features((3.0,))[1].tolist() == [0.0]
    assert fitted(0, 1, 0, 1).width == 2


def test_a_category_met_once_stands_for_those_never_met() -> None:
    columns = fitted("a", "a", "b", "b", "rare")
    place = {
        cell: columns.features(columns.read({"x": cell}, ""))[0].tolist()
        for cell in ("a", "rare", "new", None)
    }
    assert place["rare"] == place["new"] == [1]
    assert place["a"] == [2]
    assert place[None] == [0]
    assert columns.columns[0].shown("new") == "new (as other rare ones)"


def test_a_whole_number_is_one_category_however_it_is_written() -> None:
    columns = fitted(94110, "94110", 10001.0, "10001.0", kind="category")
    assert columns.columns[0].parts[2:] == ("10001", "94110")


def test_of_very_many_categories_the_most_frequent_have_a_weight_of_their_own() -> None:
    columns = fitted(
        *[str(number) for number in range(100_000)], *[f"{n}" for n in range(2_000)], kind="category"
    )
    assert columns.width == 1_002
    assert "100,000 values, of which 99,000 rare ones share a weight" in columns.summary()


def test_a_column_of_which_every_row_has_another_value_is_refused() -> None:
    with pytest.raises(DataError, match="each of the 3 rows has another value"):
        fitted("u1", "u2", "u3")


def test_dates_have_a_line_and_parts() -> None:
    columns = fitted("2023-01-01 08:00", "2024-06-15 20:00")
    (column,) = columns.columns
    read = columns.read({"x": datetime.datetime(2024, 2, 29, 20, 15)}, "")
    named = [column.parts[place] for place in columns.features(read)[0]]
    assert named == ["time", "Feb", "Thu", "hour 20", "2024"]
    assert column.shown(read[0]) == "2024-02-29 20:15:00"
    assert fitted("2023-01-01", "2024-01-01").columns[0].parts.count("hour 0") == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2024-03-01T09:30:00Z", "2024-03-01 09:30:00"),
        ("2024/3/1", "2024-03-01 00:00:00"),
        ("Fri Mar 01 09:30:00 +0000 2024", "2024-03-01 09:30:00"),
        ("2024-13-01", "None"),
        ("01/03/2024", "None"),
        ("yesterday", "None"),
    ],
)
def test_dates_are_read_where_they_can_mean_but_one_day(text: str, found: str) -> None:
    assert str(date_in(text)) == found


def test_values_of_libraries_are_plain_ones() -> None:
    assert plain_cell(np.float32(0.5), "") == 0.5
    assert plain_cell(np.datetime64("NaT", "s"), "") is None
    assert plain_cell(float("nan"), "") is None
    assert date_in(plain_cell(np.datetime64("2024-03-01T01:02:03.000000000"), "")) is not None
    with pytest.raises(DataError, match="row 3: expected a number, a text or a date, got list"):
        plain_cell([1], "row 3")


@pytest.mark.parametrize("cell", ["1_000", "inf", "nan", "x", None, True])
def test_what_is_no_finite_number_is_none(cell: object) -> None:
    assert number_in(cell) in ((1.0,) if cell is True else (None,))  # type: ignore[arg-type]


def test_a_column_that_is_not_there_and_a_word_among_numbers_are_refused_in_one_line() -> None:
    columns = fitted(1, 2, 3)
    for cells, message in (
        (None, "row 7: the model also reads the column 'x', which is not there"),
        ({"xx": 1}, "did you mean 'xx'"),
        ({"x": "cheap"}, "row 7, column 'x': expected a finite number such as 12.5, got 'cheap'"),
    ):
        with pytest.raises(DataError, match=message) as caught:
            columns.read(cells, "row 7")  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="row 2, column 'x': expected a finite number"):
        fitted(1, "cheap", kind="number")
    with pytest.raises(DataError, match="expected a date such as"):
        fitted("soon", "2024-01-01", kind="date")


def test_what_a_folder_keeps_is_read_back_and_checked() -> None:
    columns = FeatureColumns.fitted(
        [Wanted("a"), Wanted("b"), Wanted("c")],
        [[number, "xy"[number % 2], f"2024-01-{number + 1:02}"] for number in range(30)],
        str,
    )
    table = columns.table()
    assert read_columns([Fields(each, "config.json") for each in table]) == columns
    for at, field, wrong in (
        (0, "scale", 0.0),
        (0, "edges", [3, 1]),
        (0, "kind", "picture"),
        (1, "values", ["x", "x"]),
        (2, "has_hours", 1),
    ):
        broken = [dict(each) for each in table]
        broken[at][field] = wrong
        with pytest.raises(Exception, match=field):
            read_columns([Fields(each, "config.json") for each in broken])
    with pytest.raises(UsageError, match="a name of its own"):
        read_columns([Fields(table[0], ""), Fields(table[0], "")])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["9,00", "12,50", "1,5"], "'9,00' is no number as it is written; write numbers as 12.5"),
        (["1,234.50", "999.00", "2,000.00", "1,000.00", "3,1"], "no number as it is written"),
        (["15 €", "3,25 €"], "no number as it is written"),
        (["$15", "$3.25"], "no number as it is written"),
        (["15%", "3%"], "no number as it is written"),
        (["3 kg", "4 kg"], "no number as it is written"),
        (["1'000", "2'000"], "no number as it is written"),
        ([*["1", "2"] * 5, "unknown"], "because of 'unknown'; 10 of its 11 values are numbers"),
        ([*["1", "2"] * 5, "inf"], "because of 'inf'"),
        ([*[1, 2] * 5, "1e308"], "because of '1e308'"),
        (["01/02/2024", "12/31/2023"], "'01/02/2024' is no date as it is written; write dates as 2024-03-01"),
        (["2024-03-01", "2024-04-01", "soon"], "because of 'soon'; 2 of its 3 values are dates"),
        (["7", "7"], "is '7' in every training row"),
        ([None, ""], "is empty in every training row"),
        (["red", "blue", "12"], ""),
        (["1", "2.5", None], ""),
        (["02134", "10001"], ""),
        (["2024-03-01", "2024-03-02"], ""),
        ([True, False], ""),
        (["A1", "B2"], ""),
    ],
)
def test_what_was_perhaps_meant_is_said(cells: list[object], said: str) -> None:
    doubt = doubt_about("x", cells)  # type: ignore[arg-type]
    assert said in doubt
    assert bool(doubt) == bool(said)
    assert "\n" not in doubt


def test_numbers_without_an_end_are_refused_and_tiny_or_long_ones_are_learned() -> None:
    with pytest.raises(DataError, match="a number of at most 1e\\+100, got '1e308'"):
        fitted("1", "1e308", kind="number")
    for values in ([1e-14, 2e-14, 3e-14], [2024010000000000.0 + k for k in range(9)], [-1e100, 1e100]):
        (column,) = fitted(*values).columns
        found = [dict(column.features(column.parse(each)))[1] for each in (values[0], values[-1])]
        assert found[0] < -0.9
        assert found[1] > 0.9
    (column,) = fitted(*[0.1] * 7).columns
    assert dict(column.features(0.1))[1] == pytest.approx(0, abs=1e-9)


def test_decimal_numbers_are_numbers() -> None:
    assert plain_cell(Decimal("9.50"), "") == 9.5
    assert plain_cell(Decimal("NaN"), "") is None
