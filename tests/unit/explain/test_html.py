from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from heedful.errors import OutputError
from heedful.explain import Explanation, SentenceView, render_html, write_html
from heedful.explain.summary import Grid
from heedful.explain.svg import Geometry, heat_map, level, word_bars
from heedful.text.characters import visible

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Collects elements, attributes and the text of the shaded sentences, and checks the nesting."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.stack, self.tags, self.attributes, self.read, self.everything = [], [], [], [], ""
        self.feed(page)
        self.close()
        assert not self.stack

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.stack.append(tag)
        if (dict(attrs).get("class") or "").startswith("read"):
            self.read.append("")
            self.depth = len(self.stack)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag
        if self.read and len(self.stack) < getattr(self, "depth", 0):
            self.depth = 10**6

    def handle_data(self, data):
        self.everything += data
        if self.read and len(self.stack) >= self.depth:
            self.read[-1] += data


def test_every_page_is_well_formed_and_needs_nothing_else(every):
    for explanation in every.values():
        source = render_html(explanation)
        page = Page(source)
        assert not {"script", "link", "img", "iframe", "object", "base", "form"} & set(page.tags)
        names = [name for name, _ in page.attributes]
        assert not [n for n in names if n.startswith("on") or n in ("src", "href", "xlink:href", "action")]
        assert "url(" not in source
        assert "default-src 'none'" in source
        source.encode("utf-8")
    assert len(every) >= 6


def test_the_original_text_is_there_with_its_spacing():
    text = '  He said: "No,  never"\n— twice.  '
    spans = tuple(m.span() for m in re.finditer(r"\w+|[^\w\s]", text))
    view = SentenceView("text", text, tuple(text[a:b] for a, b in spans), spans)
    page = Page(render_html(Explanation((view,), ("a",), (1.0,))))
    assert page.read == [text]


def test_markup_controls_and_overrides_are_shown_not_obeyed(hostile):
    source = render_html(hostile)
    page = Page(source)
    assert page.read == [visible(hostile.sides[0].text)]
    assert "<script" not in source
    assert "<b>bold" not in source
    assert "<i>&" not in source
    for character in ("\u202e", "\x1b", "\ud800"):
        assert character not in source
    assert "⟨U+202E⟩" in source
    assert "😀" in page.everything


def test_the_page_says_what_was_predicted_and_what_everything_means(pair):
    page = Page(render_html(pair)).everything
    assert re.search(r"entailment\s*87.0 %", page)
    for words in ("neutral", "10.0 %", "performs", "Deletion test", "0.34", "0.79", "Averaged over features"):
        assert words in page
    for note in pair.notes.values():
        assert note in page or note.startswith("1: the word keeps")
    assert "do not prove" in page


def test_the_page_claims_what_the_spread_allows(pair):
    score = pair.faithfulness
    pages = {
        after: render_html(replace(pair, faithfulness=replace(score, after_top=after)))
        for after in (0.34, 0.75, 0.95)
    }
    assert "costs more than each of 5 other choices" in pages[0.34]
    assert "Deletion test" not in pages[0.75], "a test that shows nothing is not shown"
    assert "does not single out" in pages[0.95]
    assert all("0.70 to 0.86" in pages[after] for after in (0.34, 0.95))


def test_each_visible_weight_has_one_cell_with_its_value(pair):
    for view in pair.sides:
        for name, weights in view.maps.items():
            panel = heat_map(
                Grid(view.words, view.words, weights),
                Geometry.of(view.words, view.words),
                lambda i, j: f"{i}>{j}",
                name=name,
            )
            cells = re.findall(r"<title>(\d+)&gt;(\d+)</title>", panel.svg)
            assert [(int(i), int(j)) for i, j in cells] == [
                tuple(p) for p in np.argwhere(weights > 0).tolist()
            ]
            assert panel.svg.count("sees no word") == int((weights.sum(1) == 0).sum())


def test_shade_levels_start_above_zero_and_end_at_the_last():
    assert level(0.0) == 0
    assert level(1e-9) == 1
    assert level(1.0) == 15


def test_bars_have_the_length_of_their_share():
    geometry = Geometry.of(["a", "b"], ["a", "b"])
    panel = word_bars(["a", "b"], {"forward": np.array([0.0, 0.5])}, np.array([0.25, 0.75]), geometry)
    assert re.findall(r'class="own" x="[\d.]+" y="[\d.]+" width="([\d.]+)"', panel.svg) == ["0", "46"]
    assert re.findall(r'class="weight" x="[\d.]+" y="[\d.]+" width="([\d.]+)"', panel.svg) == ["30.67", "92"]


def test_a_long_text_says_what_is_left_out(long):
    page = Page(render_html(long)).everything
    assert "only its first 150 words were read" in page
    assert "The text has 150 words. The pictures show the 40 words with the largest weights" in page
    assert "unread" in page
    assert page.count("word149") >= 1


def test_unknown_words_pairs_chosen_and_trees_are_marked(every, make_view):
    source = render_html(every["scored"])
    assert (
        source.count('class="chosen"') == 2 * 4
    )  # of both maps the forward one alone: the rest is in its direction
    assert source.count("may look at") == 2 * 4
    assert "4 of 20 pairs; looking: Two, kids, wash, their; seen: kids, wash, their, hands" in source
    assert source.count("Attention fusion</h3>") == 2
    assert "opened by the mask selector" in source
    assert "no path" in source
    assert "score 3.50" in source
    assert "on a scale of 1 to 5" in source
    odd = make_view("text", "a zyx", unknown=(False, True))
    source = render_html(Explanation((odd,), ("a",), (1.0,)))
    assert source.count("unknown to the model") == 2


def test_an_empty_text_gives_a_page(empty):
    assert "(no words)" in render_html(empty)


def test_the_page_replaces_a_file_or_says_why_not(pair, tmp_path):
    path = write_html(pair, tmp_path / "deep" / "why.html")
    assert path.read_text("utf-8") == render_html(pair)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        write_html(pair, tmp_path / "file" / "why.html")
