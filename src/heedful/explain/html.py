"""Write an explanation as one page that works offline and loads no script and no font."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.explain.html_pictures import alignments, side
from heedful.explain.legends import CAVEAT, LETTERS
from heedful.explain.neighbors_shown import neighbors_section
from heedful.explain.novelty import strangeness_section
from heedful.explain.page_frame import folded, page_of, safe
from heedful.explain.page_sections import features_section, policy_section
from heedful.explain.running_text import running_text
from heedful.explain.signed_words import (
    signed_key,
    signed_section,
    signed_table,
    title_of,
)
from heedful.explain.summary import LONG, AttentionLink, selection, strongest_alignments, strongest_links
from heedful.storage import write_text
from heedful.storage.checked_paths import checked_path
from heedful.tables import page_table, percent
from heedful.text.characters import shorten, visible

if TYPE_CHECKING:
    from heedful.explain.attribution import Attribution
    from heedful.explain.explanation_record import ExplanationRecord, SentenceView
    from heedful.explain.faithfulness import DeletionScore


_LINKS_NOTE = (
    "“performs ← playing 0.41” means: 41 % of what the network adds to “performs” from its context comes from "
    "“playing”. Ordered by how far the weight stands above an even spread over the visible words{share}."
)
_SHARE = ", times the share of the first word in the sentence vector"
_ALIGNED_NOTE = "Between the sentences: the largest weights with which their words are compared."


def write_html(explanation: ExplanationRecord, path: Path | str) -> Path:
    """Write the page of an explanation, atomically.

    Args:
        explanation: what to show.
        path: the file.

    Returns:
        The file.

    Raises:
        OutputError: if it cannot be written.
    """
    path = checked_path(path, "path")
    write_text(path, render_html(explanation))
    return path


def render_html(explanation: ExplanationRecord, title: str | None = None) -> str:
    """Render an explanation as one self-contained HTML page.

    The page holds the prediction, the texts shaded by the weight of each word, the strongest links in words, a heat
    map a direction, the gates of each word, and what every picture means. It has no script and loads nothing; all
    text is escaped, and controls and direction overrides are shown instead of obeyed.

    Args:
        explanation: what to show.
        title: title of the page; by default the prediction.

    Returns:
        The page.
    """
    title = title or f"{headline(explanation)[0]}: explanation by Heedful"
    return page_of(title, sections_of(explanation))


def sections_of(explanation: ExplanationRecord) -> list[str]:
    """Return the sections of the page of an explanation, some of them empty.

    What the network looked at is folded away where it is said what each word contributes.
    """
    inside = [
        _links(explanation),
        alignments(explanation),
        *(side(explanation, v) for v in explanation.sides),
    ]
    if explanation.attribution is not None and any(inside):
        drawn = "".join(inside)
        inside = [
            "<section><details><summary>Inside the network: attention, gates and links</summary>"
            f'<p class="note">{escape(CAVEAT)}</p>{drawn}</details></section>'
        ]
    elif any(inside):
        inside.append(f'<p class="note">{escape(CAVEAT)}</p>')
    return [
        _top(explanation),
        strangeness_section(explanation.none_of_these),
        _signed(explanation),
        _why_not(explanation),
        neighbors_section(explanation.neighbors),
        "" if explanation.features is None else features_section(explanation.features),
        *inside,
        *map(policy_section, explanation.policy),
    ]


def _why_not(explanation: ExplanationRecord) -> str:
    """Write what speaks for and against further classes, folded away."""
    if len(explanation.labels) < 3 and not explanation.tags and explanation.chosen is None:
        return ""
    found = []
    for each in explanation.others:
        share = "" if each.probability is None else f" {percent(each.probability)}"
        title = title_of(each, answered=explanation.chosen is not None and explanation.answers(each.label))
        table = signed_table(each, explanation.sides)
        found.append(f"<details><summary>{escape(title)}?{share}</summary>{table}</details>")
    more = len(explanation.labels) - len(found) - 1
    if len(found) > _FIRST_LABELS:
        rest = found[_FIRST_LABELS:]
        found = [*found[:_FIRST_LABELS], folded(len(rest), "".join(rest))]
    if found and more > 0 and not explanation.tags:
        found.append(f'<p class="note">{_FURTHER.format(more)}</p>')
    return f"<section>{''.join(found)}</section>" if found else ""


_FURTHER = "{:,} further classes: <code>heedful explain … --why LABEL</code> explains any of them."


def _signed(explanation: ExplanationRecord) -> str:
    said = explanation.attribution
    answered = said is not None and (explanation.chosen is None or explanation.answers(said.label))
    return "" if said is None else signed_section(said, explanation.sides, answered=answered)


def render_frame(explanation: ExplanationRecord) -> str:
    """Put the page of an explanation into a frame for a notebook, where its style can touch nothing else.

    Args:
        explanation: what to show.

    Returns:
        One element of HTML; its lower edge can be dragged.
    """
    height = 420 + 380 * len(explanation.sides)
    return (
        f'<iframe sandbox title="explanation" srcdoc="{escape(render_html(explanation), quote=True)}" '
        f'style="width:100%;height:{height}px;border:0;resize:vertical"></iframe>'
    )


def headline(explanation: ExplanationRecord) -> tuple[str, str]:
    """Return the answer and how sure it is: "yes" and "87.0 %", or the score and its scale."""
    if explanation.score is not None:
        span = explanation.score_range
        return (
            f"{shorten(visible(explanation.quantity or 'score'), 40)} {explanation.score:.2f}",
            "" if span is None else f"on a scale of {span[0]:g} to {span[1]:g}",
        )
    by_cost = ", by the costs of wrong answers" if explanation.answered is not None else ""
    if explanation.tags:
        count = len(explanation.tags)
        return f"{count} word{'s' * (count != 1)} tagged", f"{percent(explanation.certainty)} on average"
    if explanation.chosen is not None:
        said = f"{len(explanation.chosen)} of {len(explanation.labels):,} labels"
        return ", ".join(explanation.chosen) or "no label", said
    strange = explanation.none_of_these
    if strange is not None and strange.rejected:
        return strange.label, strange.standing
    rule = "" if explanation.parents is None else explanation.parents.rule
    return str(explanation.predicted), f"{percent(explanation.certainty)}{by_cost}{rule}"


def _top(explanation: ExplanationRecord) -> str:
    what, how = headline(explanation)
    method = f" · {safe(explanation.method)}" if explanation.method else ""
    return (
        f'<header><p class="eyebrow">Prediction{method}</p><h1>{safe(what)}<small>{safe(how)}</small></h1></header>'
        f'<div class="top-grid"><div>{probability_table(explanation)}{_deletion(explanation)}</div>'
        f"<div>{reading_of(explanation)}</div></div>"
    )


def reading_of(explanation: ExplanationRecord) -> str:
    """Return the texts, their words shaded by weight or colored by contribution, with the key of the shades."""
    said = explanation.attribution
    texts = "".join(_reading(view, said, side) for side, view in enumerate(explanation.sides))
    return texts + _reading_key(explanation)


def probability_table(explanation: ExplanationRecord) -> str:
    """Return a table of the labels or grades with their probabilities; nothing where there are none.

    Parents of classes that are paths have a table of their own. Of more than six labels the five most probable ones are
    shown, and the rest is folded away.
    """
    if explanation.tags:
        return _tag_table(explanation)
    if not explanation.labels:
        return ""
    answers = list(zip(explanation.labels, explanation.probabilities, strict=True))
    if explanation.score is None:
        answers.sort(key=lambda answer: (not explanation.answers(answer[0]), -answer[1]))
    kind = "label" if explanation.chosen is not None else "answer" if explanation.score is None else "grade"
    parents = {} if explanation.parents is None else explanation.parents.probabilities
    table = _share_table(kind, explanation, answers)
    return table + (_share_table("parent", explanation, parents.items()) if parents else "")


def _share_table(kind: str, explanation: ExplanationRecord, answers: Iterable[tuple[str, float]]) -> str:
    answers = list(answers)
    cut = len(answers) if len(answers) <= _MANY_LABELS else _FIRST_LABELS

    def table(head: Sequence[str], shown: Sequence[tuple[str, float]]) -> str:
        rows = ([safe(label), _bar(p), percent(p)] for label, p in shown)
        marks = ["best" if explanation.answers(label) else "" for label, _ in shown]
        return page_table(head, rows, ("", "bar", "r"), marks=marks)

    first = table((kind, '<span class="unseen">share</span>', "probability"), answers[:cut])
    return first + folded(len(answers) - cut, table((), answers[cut:]))


_MANY_LABELS, _FIRST_LABELS = 6, 5


def _tag_table(explanation: ExplanationRecord) -> str:
    rows = (
        [f"<bdi>{_word(each.word)}</bdi>", f"<b>{safe(each.tag)}</b>", percent(each.probability)]
        for each in explanation.tags
    )
    return page_table(("word", "tag", "probability"), rows, ("", "", "r"))


def _deletion(explanation: ExplanationRecord) -> str:
    score = explanation.faithfulness
    if score is None or not score.is_informative:
        return ""
    removed = ", ".join(f"<b>{safe(shorten(visible(word), 30))}</b>" for word in score.removed)
    rows = (
        ("all words", _bar(score.before), f"{score.before:.2f}"),
        (f"without {removed}", _bar(score.after_top), f"{score.after_top:.2f}"),
        (_others(score), _bar(score.after_random, "second"), _spread(score)),
    )
    title = f'<h3 style="margin-top:26px">Deletion test</h3><p class="note">{escape(score.claim)}</p>'
    return title + page_table((_what(explanation), "", ""), rows, ("", "bar", "r"))


def _what(explanation: ExplanationRecord) -> str:
    said = explanation.attribution
    label = explanation.nearest if said is None else said.label
    return safe(f"probability of “{label}”")


def _others(score: DeletionScore) -> str:
    return f"without {score.k} other word{'s' * (score.k > 1)} (mean of {score.draws}, and their spread)"


def _spread(score: DeletionScore) -> str:
    """Write the mean of the other choices and, where they were kept, the lowest and the highest."""
    ends = f"<br>{min(score.random):.2f} to {max(score.random):.2f}" if score.random else ""
    return f"{score.after_random:.2f}{ends}"


def _reading(view: SentenceView, attribution: Attribution | None, side: int) -> str:
    warning = ""
    if view.truncated:
        read = f"only its first {len(view.words)} words were read"
        warning = f'<p class="warn">The text is longer than the limit: {read}.</p>'
    if view.chosen is not None:
        warning += f'<p class="note">Chosen by the mask selector: {safe(selection(view))}.</p>'
    body = running_text(view, attribution, side) or '<span class="muted">(no words)</span>'
    size = "read long" if len(view.words) > LONG else "read"
    return f'<p class="eyebrow">{safe(view.name)}</p><p class="{size}" lang="" dir="auto">{body}</p>{warning}'


def _reading_key(explanation: ExplanationRecord) -> str:
    hints = []
    if explanation.attribution is not None:
        hints.append(signed_key(explanation.attribution))
    elif any(view.weights is not None and view.words for view in explanation.sides):
        hints.append("The darker a word, the larger its share of the sentence vector.")
        if any(len(view.words) <= LONG for view in explanation.sides):
            hints.append("Numbers: the largest shares, in percent.")
    if explanation.standing:
        hints.append(safe(explanation.standing))
    if any(any(view.unknown) for view in explanation.sides):
        said = "" if explanation.attribution is None else f"; {LETTERS}"
        hints.append(f'<span class="unknown">Dotted</span>: unknown to the model{said}.')
    return f'<p class="note">{" ".join(hints)}</p>' if hints else ""


def _links(explanation: ExplanationRecord) -> str:
    columns = [(f"within the {view.name}", strongest_links(view)) for view in explanation.sides]
    tables = [_link_table(title, links, "looks at", "←") for title, links in columns if links]
    between = strongest_alignments(explanation)
    if between:
        first, second = explanation.sides
        tables.insert(0, _link_table(f"{first.name} ↔ {second.name}", between, "compared with", "↔"))
    if not tables:
        return ""
    return (
        f'<section><h2>Strongest links</h2><p class="note">{_links_note(explanation)}</p>'
        f'<div class="pair" style="margin-top:14px">{"".join(tables)}</div></section>'
    )


def _links_note(explanation: ExplanationRecord) -> str:
    within = any(view.maps for view in explanation.sides)
    weighed = any(view.weights is not None for view in explanation.sides)
    note = _LINKS_NOTE.format(share=_SHARE if weighed else "")
    return " ".join(([_ALIGNED_NOTE] if explanation.alignments else []) + ([note] if within else []))


def _link_table(title: str, links: Sequence[AttentionLink], verb: str, arrow: str) -> str:
    between = f'<span class="arrow" title="{verb}">{arrow}</span>'
    rows = (
        (
            f"<b><bdi>{_word(link.word)}</bdi></b>{between}<bdi>{_word(link.seen)}</bdi>",
            _bar(link.weight),
            f"{link.weight:.2f}",
            f"{safe(link.map)}{_steps(link)}",
        )
        for link in links
    )
    table = page_table(("link", "", "weight", "map"), rows, ("", "bar", "r", "muted"))
    return f"<div><h3>{safe(title)}</h3>{table}</div>"


def _steps(link: AttentionLink) -> str:
    return "" if link.steps is None else f", {link.steps} in the tree"


def _bar(share: float, kind: str = "") -> str:
    width = 100 * min(max(share, 0.0), 1.0)
    extra = ' class="second"' if kind else ""
    return f'<span class="track-box"><i{extra} style="width:{width:.1f}%"></i></span>'


def _word(word: str) -> str:
    return escape(shorten(visible(word), 24))
