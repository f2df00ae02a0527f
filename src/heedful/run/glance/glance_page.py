"""A whole model at a glance as one page: offline, without scripts, for phones and desks, light and dark, and print."""

from __future__ import annotations

from heedful.data.examples import Example
from heedful.explain.page_frame import page_of, safe
from heedful.explain.running_text import running_text
from heedful.explain.signed_words import signed_key
from heedful.explain.word_sums import WordSum
from heedful.run.glance.gathering import Class, Confusion, Glance
from heedful.run.glance.page_pieces import STYLE, card, cards_of, note_of, table_of, text_of, words_of
from heedful.run.glance.sections import Overview, Section, ShownRow, Table, Texts, Words
from heedful.run.glance.shared_tables import score_cells
from heedful.tables import counted, percent
from heedful.text.characters import visible

_SLICES = 20


def render_glance(glance: Glance) -> str:
    """Render a whole model as one self-contained page.

    Args:
        glance: what was noticed.

    Returns:
        The page; all text is escaped, and no script is in it.
    """
    parts = {
        "classes": ("Classes", _classes(glance)),
        "words": ("Words and phrases", _words(glance)),
        "confusions": ("What is confused", _confusions(glance)),
        "mistakes": ("Surest mistakes", _mistakes(glance)),
        "slices": ("Slices", _slices(glance)),
        "calibration": ("Calibration", _calibration(glance)),
        "labels": ("Suspect labels", _suspects(glance)),
    }
    links = " ".join(f'<a href="#{key}">{title}</a>' for key, (title, body) in parts.items() if body)
    accuracy = f"{counted(glance.accuracy)} right"
    span = f"95 % interval {100 * glance.interval.low:.1f} to {100 * glance.interval.high:.1f} %"
    top = (
        f'<header><p class="eyebrow">{safe(glance.model)} on {safe(glance.source)}</p>'
        f"<h1>{accuracy}<small>of {len(glance.examples):,} rows; {span}</small></h1></header>"
        f'<nav aria-label="Sections">{links}</nav>'
    )
    sections = [
        f'<section id="{key}"><h2>{title}</h2>{body}</section>'
        for key, (title, body) in parts.items()
        if body
    ]
    return page_of(f"{visible(glance.model)} at a glance: Heedful", [top, *sections], STYLE)


def _classes(glance: Glance) -> str:
    rows = [
        [safe(each.name), *score_cells(each.count, each.precision, each.recall, each.f1), f"{each.count:,}"]
        for each in glance.classes
    ]
    note = (
        "Precision: of the answers with this class, the share that is right. Recall: of the rows with this label, the "
        "share that is found. F1 is their harmonic mean."
    )
    return note_of(note) + table_of(("class", "precision", "recall", "F1", "rows"), rows)


def _words(glance: Glance) -> str:
    cards = [_card(each, glance) for each in glance.classes if each.words]
    if not cards:
        return ""
    note = (
        f"Mean contributions to the log-odds of the class, in those of {glance.explained:,} explained rows where the "
        "word stands; strong and frequent words come first. Words that matter together are one phrase. Each text is a "
        "row of the file, answered with the class where one of the three in which the word speaks most for it is."
    )
    return note_of(note) + cards_of(cards)


def _card(each: Class, glance: Glance) -> str:
    def example_of(word: WordSum) -> Example:
        places = [place for _, place in word.texts]
        fitting = (place for place in places if glance.answers[place].label == each.name)
        return glance.examples[next(fitting, places[0])]

    return card(each.name, each.words, example_of)


def _confusions(glance: Glance) -> str:
    found = "".join(
        f"<details{' open' if k == 0 else ''}><summary>{safe(each.label)} taken for {safe(each.answer)}: "
        f"{each.count:,}</summary>{_texts(each, glance)}</details>"
        for k, each in enumerate(glance.confusions)
    )
    wrong = sum(str(e.target) != a.label for e, a in zip(glance.examples, glance.answers, strict=True))
    note = (
        f"{wrong:,} rows are answered with another class than their label; the surest of each kind are shown."
    )
    return note_of(note) + found if found else ""


def _texts(each: Confusion, glance: Glance) -> str:
    items = (
        f"<li>{text_of(glance.examples[place])}<span class=facts>row {glance.examples[place].row:,}, "
        f"{safe(each.answer)} {_sure(glance, place)}</span></li>"
        for place in each.places
    )
    return f'<ul class="texts">{"".join(items)}</ul>'


def _mistakes(glance: Glance) -> str:
    found = []
    for place, explanation in glance.mistakes:
        example, answer = glance.examples[place], glance.answers[place]
        said = explanation.attribution
        texts = "".join(
            f'<p class="read" lang="" dir="auto">{running_text(view, said, side)}</p>'
            for side, view in enumerate(explanation.sides)
        )
        found.append(
            f'<div class="mistake"><p class="eyebrow">row {example.row:,}: labeled {safe(str(example.target))}, '
            f"answered {safe(str(answer.label))} {_sure(glance, place)}</p>{texts}</div>"
        )
    first = glance.mistakes[0][1].attribution if glance.mistakes else None
    key = "" if first is None else f'<p class="note">{signed_key(first)}</p>'
    note = (
        "The wrong answers with the highest probability, or the wrong labels; colors say which words speak for the "
        "answer."
    )
    return note_of(note) + key + "".join(found) if found else ""


def _slices(glance: Glance) -> str:
    shown = glance.slices[:_SLICES]
    rows = [
        [
            f"<bdi>{safe(each.name)}</bdi>",
            f"{each.count:,}",
            counted(each.accuracy),
            f"{100 * each.interval.low:.1f} to {100 * each.interval.high:.1f} %",
            "weak" if each.weak else "",
        ]
        for each in shown
    ]
    weak = sum(each.weak for each in glance.slices)
    note = (
        f"Parts of the rows, the weakest first. Weak: the whole 95 % interval lies below {counted(glance.accuracy)}; "
        f"of {len(glance.slices):,} parts {weak:,} are. Where many are looked at, some are weak by chance."
    )
    head = ("rows with", "rows", "right", "95 % interval", "note")
    return note_of(note) + table_of(head, rows, [each.weak for each in shown]) if rows else ""


def _calibration(glance: Glance) -> str:
    found = glance.calibration
    rows = [
        [
            f"{counted(each.low)} to {counted(each.high)}",
            percent(each.confidence),
            counted(each.accuracy),
            f"{each.count:,}",
        ]
        for each in found.bins
    ]
    note = (
        f"Whether probabilities are true: of the answers with 80 %, 80 % should be right. On average they miss by "
        f"{100 * found.ece:.1f} points (ECE)."
    )
    return note_of(note) + table_of(("probability", "on average", "right", "rows"), rows)


def _suspects(glance: Glance) -> str:
    items = []
    for each in glance.suspects:
        example = glance.examples[each.place]
        items.append(
            f"<li>{text_of(example)}<span class=facts>row {example.row:,}: labeled {safe(str(example.target))} "
            f"({percent(each.probability)}); {safe(each.suggestion)} would be {percent(each.suggested)}</span></li>"
        )
    more = f"; the first {len(items)} are shown" if glance.suspected > len(items) else ""
    note = (
        f"{glance.suspected:,} labels are suspect: the model finds another class more probable, and as probable as "
        f"that class usually is{more}. The model may be wrong as well; a person has to decide."
    )
    return f'{note_of(note)}<ul class="texts">{"".join(items)}</ul>' if items else ""


def _sure(glance: Glance, place: int) -> str:
    return percent(glance.answers[place].confidence)


def render_report(report: Overview) -> str:
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


def _section(section: Section, report: Overview) -> str:
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


def _block(block: Table | Words | Texts, report: Overview, *, first: bool) -> str:
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


def _colored(shown: ShownRow) -> str:
    texts = ""
    if shown.explanation is not None:
        texts = "".join(
            f'<p class="read" lang="" dir="auto">{running_text(view, shown.explanation.attribution, side)}</p>'
            for side, view in enumerate(shown.explanation.sides)
        )
    return f'<div class="mistake"><p class="eyebrow">{safe(shown.facts)}</p>{texts}</div>'


def _item(shown: ShownRow, report: Overview) -> str:
    example = report.examples[shown.place]
    text = text_of(example) if shown.marked is None else words_of(example, shown.marked)
    return f"<li>{text}<span class=facts>{safe(shown.facts)}</span></li>"
