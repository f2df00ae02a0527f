"""The table of predictions of two commits, and the half that runs in a commit, on this one."""

from __future__ import annotations

from pathlib import Path

from heedful_lab.studies import predicting_alone
from heedful_lab.studies.predictions_of_two_commits import table, turn


def test_ratios_say_how_many_times_as_fast_the_second_is() -> None:
    times = {
        ("new", "first", "float32"): [80.0, 90.0, 70.0],
        ("new", "first", "int8"): [100.0],
        ("new", "second", "float32"): [50.0],
        ("new", "second", "int8"): [40.0],
        ("rate", "first", "int8"): [500.0],
        ("rate", "second", "int8"): [750.0],
    }
    found = table(times)
    assert "| 64 new texts, ms | 80.00 | 100.00 | 50.00 | 40.00 | 2.00 | 2.50 |" in found
    assert "1.50 |" in found.splitlines()[-1]
    assert "one text" not in found


def test_a_ratio_is_that_of_blocks_timed_one_after_the_other() -> None:
    slow_later = {
        ("one", "first", "int8"): [4.0, 4.0, 40.0, 40.0],
        ("one", "second", "int8"): [1.0, 1.0, 10.0, 20.0],
    }
    assert "| one text of ten words, ms |  | 22.00 |  | 5.50 |  | 4.00 |" in table(slow_later)


def test_models_are_timed_block_by_block_and_the_first_block_warms_up() -> None:
    asked = []

    class Fake:
        def __init__(self, name: str) -> None:
            self.name = name

        def measure(self, what: str, block: int) -> float | None:
            asked.append((what, block, self.name))
            return None if what == "threads" else float(block)

    found = turn({("first", "int8"): Fake("a"), ("second", "int8"): Fake("b")})  # type: ignore[dict-item]
    assert asked[:4] == [("new", 0, "a"), ("new", 0, "b"), ("new", 1, "a"), ("new", 1, "b")]
    assert found["again", "second", "int8"] == [1, 2, 3, 4, 5]
    assert found["kept", "first", "int8"] == [0]
    assert ("threads", "first", "int8") not in found


def test_texts_are_the_same_each_time_and_as_long_as_is_asked() -> None:
    assert predicting_alone.texts(3, 1) == predicting_alone.texts(3, 1) != predicting_alone.texts(3, 2)
    assert [len(text.split()) for text in predicting_alone.texts(3, 1, 10)] == [10, 10, 10]


def test_sentences_keep_how_often_words_come_again(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("The cat\n\nthe dog sleeps\nthe cat\nThe cat sits\n", encoding="utf-8")
    assert predicting_alone.sentences(file) == ["w0 w1", "w0 w2 w3", "w0 w1 w4"]
