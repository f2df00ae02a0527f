"""MS-SAN's Figures 2 and 3 say what the paper says of them."""

from __future__ import annotations

import pytest

from heedful_lab.studies import prior_figures

HEADS = [int(head) for head in prior_figures.HEADS.split(",")]
NONE = float("-inf")


def test_in_the_tree_kids_is_nearer_to_wash_than_in_words_and_three_words_are_next_to_it() -> None:
    in_words, in_tree = prior_figures.distances(HEADS, 5)
    assert in_words == [5, 4, 3, 2, 1, 0, 1, 2]
    assert in_tree == [2, 1, 1, 3, 2, 0, 2, 1]
    assert in_tree.count(1) == 3


def test_the_masks_of_the_six_heads() -> None:
    found = prior_figures.matrices(HEADS, alpha=1.5)
    assert list(found) == list(prior_figures.PRIORS)
    assert found["forward"][2] == [0, 0, 0, NONE, NONE, NONE, NONE, NONE]
    assert found["backward & word"][5] == [NONE] * 5 + [0, -1.5, -3]
    assert found["forward & dependency"][5][:6] == [-3, -1.5, -1.5, -4.5, -3, 0]


def test_mistakes_in_the_options_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, said in (
        (["--heads", "1,x"], "expected whole numbers"),
        (["--heads", "1,0"], "for each of 8 words"),
        (["--word", "cat"], "'cat' is none of the words"),
    ):
        monkeypatch.setattr("sys.argv", ["prior_figures", *words])
        with pytest.raises(SystemExit):
            prior_figures.main()
        assert said in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["prior_figures"])
    prior_figures.main()
    assert "| distance from wash | Two |" in capsys.readouterr().out
