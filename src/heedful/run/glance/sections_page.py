"""What is said of a whole model as one page without scripts, for phones and desks, light and dark, and print."""

from __future__ import annotations

from heedful.explain.page_frame import page_of
from heedful.explain.running_text import running_text
from heedful.explain.signed_words import signed_key
from heedful.run.glance.page_pieces import STYLE, card, cards_of, note_of, safe, table_of, text_of, words_of
from heedful.run.glance.sections import Report, Section, Shown, Table, Texts, Words
from heedful.text.characters import visible


def render_report(report: Report) -> str:
    """Render a report as one self-contained page.

    Args:
        report: what is said.

    Returns:
        The page; all text is escaped, and no script is in it.
    """
    links = " ".join(f'<a href="#{each.key}">{safe(each.title)}</a>' for each in report.sections)
    top = (
        f'<header><p class="eyebrow">{safe(report.model)} on {safe(report.source)}</p>'
        f"<h1>{safe(report.headline)}<small>{safe(report.beside)}</small></h1></header>"
        f'<nav aria-label="Sections">{links}</nav>'
    )
    sections = [_section(each, report) for each in report.sections]
    return page_of(f"{visible(report.model)} at a glance: Heedful", [top, *sections], STYLE)


def _section(section: Section, report: Report) -> str:
    explained = [
        shown.explanation.attribution
        for block in section.blocks
        if isinstance(block, Texts)
        for shown in block.shown
        if shown.explanation is not None and shown.explanation.attribution is not None
    ]
    key = f'<p class="note">{signed_key(explained[0])}</p>' if explained else ""
    body = "".join(_block(block, report, first=k == 0) for k, block in enumerate(section.blocks))
    note = note_of(section.note)
    return f'<section id="{section.key}"><h2>{safe(section.title)}</h2>{note}{key}{body}</section>'


def _block(block: Table | Words | Texts, report: Report, *, first: bool) -> str:
    if isinstance(block, Table):
        rows = [[f"<bdi>{safe(row[0])}</bdi>", *map(safe, row[1:])] for row in block.rows]
        return table_of(block.header, rows, [k in block.strong for k in range(len(rows))])
    if isinstance(block, Words):
        cards = [
            card(name, words, lambda word: report.examples[word.texts[0][1]])
            for name, words in block.found.items()
            if words
        ]
        return cards_of(cards)
    if any(shown.explanation is not None for shown in block.shown):
        return "".join(map(_colored, block.shown))
    items = "".join(_item(shown, report) for shown in block.shown)
    listed = f'<ul class="texts">{items}</ul>'
    if not block.title:
        return listed
    return f"<details{' open' if first else ''}><summary>{safe(block.title)}</summary>{listed}</details>"


def _colored(shown: Shown) -> str:
    texts = ""
    if shown.explanation is not None:
        texts = "".join(
            f'<p class="read" lang="" dir="auto">{running_text(view, shown.explanation.attribution, side)}</p>'
            for side, view in enumerate(shown.explanation.sides)
        )
    return f'<div class="mistake"><p class="eyebrow">{safe(shown.facts)}</p>{texts}</div>'


def _item(shown: Shown, report: Report) -> str:
    example = report.examples[shown.place]
    text = text_of(example) if shown.marked is None else words_of(example, shown.marked)
    return f"<li>{text}<span class=facts>{safe(shown.facts)}</span></li>"
