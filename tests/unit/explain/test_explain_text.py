from __future__ import annotations

from heedful.explain import render_text
from heedful.text.characters import cells


def test_the_lines_hold_prediction_links_and_figures(pair):
    lines = render_text(pair).splitlines()
    assert lines[0] == "entailment 87.0 %   (neutral 10.0 %, contradiction 3.0 %)"
    assert " ".join(" ".join(lines[1:5]).split()).startswith(
        "faithfulness without performs, music, guitar: 0.87 -> 0.34 (5 other choices of 3: 0.79, 0.70 to 0.86). "
        "Deleting these 3 words costs more than each of 5 other choices of 3 words."
    )
    text = "\n".join(lines)
    assert "strongest links in the premise" in text
    assert "A man plays a guitar on stage." in text
    weight = pair.sides[1].weights[3]
    row = next(line for line in lines[lines.index("words of the hypothesis") :] if line.startswith("  music"))
    assert f"{100 * weight:.1f} %" in row
    assert f"{pair.sides[1].gates['forward'][3]:.2f}" in row


def test_no_terminal_code_comes_through_without_color(every):
    for explanation in every.values():
        text = render_text(explanation)
        text.encode("utf-8")
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert len(every) >= 6


def test_color_adds_codes_and_changes_no_word(pair):
    plain, colored = render_text(pair), render_text(pair, color=True)
    assert "\x1b[1m" in colored
    for code in ("\x1b[1m", "\x1b[34m", "\x1b[2m", "\x1b[0m"):
        colored = colored.replace(code, "")
    assert [line.rstrip() for line in colored.splitlines()] == plain.splitlines()


def test_lines_fit_the_terminal(every):
    for explanation in every.values():
        for width in (1, 64, 100):
            assert max(cells(line) for line in render_text(explanation, width=width).splitlines()) <= max(
                width, 64
            )


def test_special_cases_are_named(every):
    assert "cut: only the first 150 words were read" in render_text(every["long"])
    assert "the 40 of 150 that matter most" in render_text(every["long"])
    assert render_text(every["scored"]).startswith("score 3.50 (1 to 5)")
    assert "Kids <-> They" in render_text(every["aligned"])
    assert render_text(every["empty"]).startswith("a 50.0 %")
