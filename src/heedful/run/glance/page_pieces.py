"""Pieces of the page of a whole model: tables, words with an example, texts with what is said of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

from heedful.data.examples import Example
from heedful.explain.page_frame import folded, safe
from heedful.explain.signed_words import number
from heedful.explain.word_sums import WordSum
from heedful.tables import page_table
from heedful.text.characters import shorten, visible

STYLE = """
nav{margin-top:14px}nav a{display:inline-block;padding:4px 14px 4px 0}a{color:var(--own)}
a:focus-visible,summary:focus-visible{outline:2px solid var(--context);outline-offset:2px}
.scroll{overflow-x:auto}.scroll table{max-width:none;width:max-content;min-width:min(100%,480px)}
.scroll td{padding-right:22px}.scroll th{padding-right:22px;white-space:nowrap}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));gap:24px 36px;margin-top:14px}
.cards table{max-width:none}
.cards td:first-child{white-space:nowrap;max-width:12em;overflow:hidden;text-overflow:ellipsis}
.cards td.bar{width:14%}.cards td{vertical-align:top}
.cards td.text{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
mark{background:none;color:var(--ink);font-weight:650}
.texts{margin:8px 0 0;padding:0;list-style:none}
.texts li{padding:6px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
.texts li:first-child{border-top:0}.facts{color:var(--soft);font-size:12.5px;display:block}
.weak td{font-weight:650}.mistake{margin-top:16px;break-inside:avoid}.mistake .read{font-size:16px;line-height:1.9}
.note+.scroll{margin-top:10px}
@media print{details>*{display:block}details::details-content{content-visibility:visible}}
"""
_TEXT, _CARDS, _ROWS = 300, 12, 25
"""Characters of a text that are shown; cards, and rows of a table, that are not folded away."""


def card(name: str, words: Sequence[WordSum], example_of: Callable[[WordSum], Example]) -> str:
    """Write the words of a class, each with an example.

    Args:
        name: the class.
        words: at least one.
        example_of: the row that is shown for a word.

    Returns:
        HTML, all text escaped.
    """
    largest = max(abs(word.mean) for word in words)
    rows = (_word_row(word, largest, example_of(word)) for word in words)
    head = ("word", "mean", '<span class="unseen">size</span>', "for example")
    return f"<div><h3>{safe(name)}</h3>{page_table(head, rows, ('', 'r', 'bar', 'text'))}</div>"


def cards_of(cards: Sequence[str]) -> str:
    """Put cards beside each other; of many the first ones are shown, and the rest is folded away."""
    first, rest = cards[:_CARDS], cards[_CARDS:]
    shown = f'<div class="cards">{"".join(first)}</div>'
    return shown + folded(len(rest), f'<div class="cards">{"".join(rest)}</div>')


def _word_row(word: WordSum, largest: float, example: Example) -> list[str]:
    width = 100 * min(1.0, abs(word.mean) / largest)
    kind = ' class="against"' if word.lowers else ""
    bar = f'<span class="track-box"><i{kind} style="width:{width:.0f}%"></i></span>'
    return [f"<bdi>{safe(word.name)}</bdi>", number(word.signed), bar, _found(word.name, example)]


def _found(name: str, example: Example) -> str:
    """Return the part of a text around a word, the word marked."""
    words = r"\W+".join(map(re.escape, name.split()))
    pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
    for text in example.texts:
        if match := pattern.search(text):
            start, end = max(0, match.start() - 40), min(len(text), match.end() + 60)
            before = ("…" if start else "") + text[start : match.start()]
            after = text[match.end() : end] + ("…" if end < len(text) else "")
            return f"<bdi>{safe(before)}<mark>{safe(match[0])}</mark>{safe(after)}</bdi>"
    return f"<bdi>{safe(shorten(visible(example.texts[0]), 100))}</bdi>"


def text_of(example: Example) -> str:
    """Write the beginning of the texts of a row."""
    shown = " ⇒ ".join(shorten(visible(text), _TEXT) for text in example.texts)
    return f'<bdi lang="">{escape(shown)}</bdi>'


def words_of(example: Example, marked: int) -> str:
    """Write the ready-made words of a row, one of them marked."""
    words = (example.words[0] if example.words else None) or example.texts[0].split()
    start = max(0, marked - 25)
    shown = [
        f"<mark>{safe(word)}</mark>" if place == marked else safe(word)
        for place, word in enumerate(words[: marked + 26])
    ]
    edge = ("…" if start else "", "…" if len(words) > marked + 26 else "")
    return f'<bdi lang="">{edge[0]}{" ".join(shown[start:])}{edge[1]}</bdi>'


def table_of(header: Sequence[str], rows: Iterable[Sequence[str]], strong: Sequence[bool] = ()) -> str:
    """Write a table of cells that are HTML; figures stand on the right."""
    rows, kinds = list(rows), ("", *["r"] * (len(header) - 1))
    marks = ["weak" if each else "" for each in strong]
    first, rest = (
        f'<div class="scroll" tabindex="0">{page_table(header, rows[part], kinds, marks=marks[part])}</div>'
        for part in (slice(_ROWS), slice(_ROWS, None))
    )
    return first + folded(len(rows) - _ROWS, rest)


def note_of(text: str) -> str:
    """Write a remark."""
    return f'<p class="note">{escape(text)}</p>'
