"""A whole model at a glance as one page: offline, without scripts, for phones and desks, light and dark, and print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from heedful.data.examples import Example
from heedful.explain.html import running_text
from heedful.explain.page_frame import page_of
from heedful.explain.scene import percent
from heedful.explain.signed_words import number, signed_key
from heedful.explain.word_sums import WordSum
from heedful.run.glance.gathering import Class, Confusion, Glance
from heedful.text.characters import shorten, visible

STYLE = """
nav{margin-top:14px}nav a{display:inline-block;padding:4px 14px 4px 0}a{color:var(--own)}
a:focus-visible,summary:focus-visible{outline:2px solid var(--context);outline-offset:2px}
.scroll{overflow-x:auto}.scroll table{max-width:none;width:auto;min-width:min(100%,480px)}
.scroll td{padding-right:22px}.scroll th{padding-right:22px}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));gap:24px 36px;margin-top:14px}
.cards table{max-width:none}
.cards td:first-child{white-space:nowrap;max-width:12em;overflow:hidden;text-overflow:ellipsis}
.cards td{vertical-align:top}.cards td.text{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
mark{background:none;color:var(--ink);font-weight:650}
.texts{margin:8px 0 0;padding:0;list-style:none}
.texts li{padding:6px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
.texts li:first-child{border-top:0}.facts{color:var(--soft);font-size:12.5px;display:block}
.weak td{font-weight:650}.mistake{margin-top:16px;break-inside:avoid}.mistake .read{font-size:16px;line-height:1.9}
@media print{details>*{display:block}}
"""
_TEXT = 300
"""Characters of a text that are shown."""
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
    accuracy = f"{percent(glance.accuracy)} right"
    span = f"95 % interval {100 * glance.interval.low:.1f} to {100 * glance.interval.high:.1f} %"
    top = (
        f'<header><p class="eyebrow">{_safe(glance.model)} on {_safe(glance.source)}</p>'
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
        [_safe(each.name), *(f"{x:.3f}" for x in (each.precision, each.recall, each.f1)), f"{each.count:,}"]
        for each in glance.classes
    ]
    note = (
        "Precision: of the answers with this class, the share that is right. Recall: of the rows with this label, the "
        "share that is found. F1 is their harmonic mean."
    )
    return _note(note) + _table(("class", "precision", "recall", "F1", "rows"), rows)


def _words(glance: Glance) -> str:
    cards = "".join(_card(each, glance) for each in glance.classes if each.words)
    if not cards:
        return ""
    note = (
        f"Mean contributions to the log-odds of the class, in those of {glance.explained:,} explained rows where the "
        "word stands. Words that matter together are one phrase. Each text is a row of the file, answered with the "
        "class where one of the three in which the word speaks most for it is."
    )
    return f'{_note(note)}<div class="cards">{cards}</div>'


def _card(each: Class, glance: Glance) -> str:
    largest = max(abs(word.mean) for word in each.words)
    rows = "".join(_word_row(word, each.name, largest, glance) for word in each.words)
    head = '<tr><th>word</th><th class="r">mean</th><th><span class="unseen">size</span></th><th>for example</th></tr>'
    return f"<div><h3>{_safe(each.name)}</h3><table>{head}{rows}</table></div>"


def _word_row(word: WordSum, label: str, largest: float, glance: Glance) -> str:
    width = 100 * min(1.0, abs(word.mean) / largest)
    places = [place for _, place in word.texts]
    place = next((each for each in places if glance.answers[each].label == label), places[0])
    bar = f'<span class="track-box"><i style="width:{width:.0f}%"></i></span>'
    return (
        f'<tr><td><bdi>{_safe(word.name)}</bdi></td><td class="r">{number(word.mean)}</td>'
        f'<td class="bar" style="width:14%">{bar}</td>'
        f'<td class="text">{_found(word.name, glance.examples[place])}</td></tr>'
    )


def _found(name: str, example: Example) -> str:
    """Return the part of a text around a word, the word marked."""
    words = r"\W+".join(map(re.escape, name.split()))
    pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
    for text in example.texts:
        if match := pattern.search(text):
            start, end = max(0, match.start() - 40), min(len(text), match.end() + 60)
            before = ("…" if start else "") + text[start : match.start()]
            after = text[match.end() : end] + ("…" if end < len(text) else "")
            return f"<bdi>{_safe(before)}<mark>{_safe(match[0])}</mark>{_safe(after)}</bdi>"
    return f"<bdi>{_safe(shorten(visible(example.texts[0]), 100))}</bdi>"


def _confusions(glance: Glance) -> str:
    found = "".join(
        f"<details{' open' if k == 0 else ''}><summary>{_safe(each.label)} taken for {_safe(each.answer)}: "
        f"{each.count:,}</summary>{_texts(each, glance)}</details>"
        for k, each in enumerate(glance.confusions)
    )
    wrong = sum(str(e.target) != a.label for e, a in zip(glance.examples, glance.answers, strict=True))
    note = (
        f"{wrong:,} rows are answered with another class than their label; the surest of each kind are shown."
    )
    return _note(note) + found if found else ""


def _texts(each: Confusion, glance: Glance) -> str:
    items = (
        f"<li>{_text(glance.examples[place])}<span class=facts>row {glance.examples[place].row:,}, "
        f"{_safe(each.answer)} {_sure(glance, place)}</span></li>"
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
            f'<div class="mistake"><p class="eyebrow">row {example.row:,}: labeled {_safe(str(example.target))}, '
            f"answered {_safe(str(answer.label))} {_sure(glance, place)}</p>{texts}</div>"
        )
    first = glance.mistakes[0][1].attribution if glance.mistakes else None
    key = "" if first is None else f'<p class="note">{signed_key(first)}</p>'
    note = (
        "The wrong answers with the highest probability, or the wrong labels; colors say which words speak for the "
        "answer."
    )
    return _note(note) + key + "".join(found) if found else ""


def _slices(glance: Glance) -> str:
    shown = glance.slices[:_SLICES]
    rows = [
        [
            f"<bdi>{_safe(each.name)}</bdi>",
            f"{each.count:,}",
            percent(each.accuracy),
            f"{100 * each.interval.low:.1f} to {100 * each.interval.high:.1f} %",
            "weak" if each.weak else "",
        ]
        for each in shown
    ]
    weak = sum(each.weak for each in glance.slices)
    note = (
        f"Parts of the rows, the weakest first. Weak: the whole 95 % interval lies below {percent(glance.accuracy)}; "
        f"of {len(glance.slices):,} parts {weak:,} are. Where many are looked at, some are weak by chance."
    )
    head = ("rows with", "rows", "right", "95 % interval", "")
    return _note(note) + _table(head, rows, [each.weak for each in shown]) if rows else ""


def _calibration(glance: Glance) -> str:
    found = glance.calibration
    rows = [
        [
            f"{percent(each.low)} to {percent(each.high)}",
            percent(each.confidence),
            percent(each.accuracy),
            f"{each.count:,}",
        ]
        for each in found.bins
    ]
    note = (
        f"Whether probabilities are true: of the answers with 80 %, 80 % should be right. On average they miss by "
        f"{100 * found.ece:.1f} points (ECE)."
    )
    return _note(note) + _table(("probability", "on average", "right", "rows"), rows)


def _suspects(glance: Glance) -> str:
    items = []
    for each in glance.suspects:
        example = glance.examples[each.place]
        items.append(
            f"<li>{_text(example)}<span class=facts>row {example.row:,}: labeled {_safe(str(example.target))} "
            f"({percent(each.probability)}); {_safe(each.suggestion)} would be {percent(each.suggested)}</span></li>"
        )
    more = f"; the first {len(items)} are shown" if glance.suspected > len(items) else ""
    note = (
        f"{glance.suspected:,} labels are suspect: the model finds another class more probable, and as probable as "
        f"that class usually is{more}. The model may be wrong as well; a person has to decide."
    )
    return f'{_note(note)}<ul class="texts">{"".join(items)}</ul>' if items else ""


def _sure(glance: Glance, place: int) -> str:
    return percent(max(glance.answers[place].probabilities.values()))


def _text(example: Example) -> str:
    shown = " ⇒ ".join(shorten(visible(text), _TEXT) for text in example.texts)
    return f'<bdi lang="">{escape(shown)}</bdi>'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], strong: Sequence[bool] = ()) -> str:
    head = "".join(f'<th{" class=r" if k else ""} scope="col">{title}</th>' for k, title in enumerate(header))
    body = "".join(
        f"<tr{' class=weak' if strong and strong[k] else ''}>"
        + "".join(f"<td{' class=r' if place else ''}>{cell}</td>" for place, cell in enumerate(row))
        + "</tr>"
        for k, row in enumerate(rows)
    )
    return f'<div class="scroll" tabindex="0"><table><tr>{head}</tr>{body}</table></div>'


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _safe(text: str) -> str:
    return escape(visible(text))
