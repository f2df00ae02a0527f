"""Write an explanation as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from heedful.explain.neighbors_shown import neighbor_lines
from heedful.explain.policy_steps import policy_lines
from heedful.explain.signed_words import signed_lines, title_of
from heedful.explain.summary import AttentionLink, focus, selection, strongest_alignments, strongest_links
from heedful.explain.word_features import feature_lines
from heedful.tables import percent
from heedful.text.characters import cells, pad, shorten, visible

if TYPE_CHECKING:
    from heedful.explain.explanation_record import ExplanationRecord, SentenceView

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BOLD, _BLUE, _DIM, _PLAIN = "\x1b[1m", "\x1b[34m", "\x1b[2m", "\x1b[0m"
_LABEL = 14
_NARROWEST, _SHOWN = 64, 5


def render_text(
    explanation: ExplanationRecord,
    width: int = 80,
    color: bool = False,
    links: int = 6,
    attention: bool | None = None,
) -> str:
    """Render an explanation for a terminal: the prediction, and what each word contributes to it.

    Args:
        explanation: what to show.
        width: columns of the terminal; fewer than 64 count as 64.
        color: use ANSI colors; leave it off where the output is not a terminal.
        links: how many links to list a side.
        attention: whether to show the strongest links, weights and gates of words too; by default where nothing else
            is there to show.

    Returns:
        Lines without a final newline. Controls in the text are shown, never passed on to the terminal.
    """
    pen = _Pen(color)
    width = max(width, _NARROWEST)
    said = _prediction(explanation).split("\n")
    lines = said if explanation.tags else [pen.bold(line) for line in _wrapped(said[0], width)]
    lines += [] if explanation.parents is None else _wrapped(explanation.parents.line(), width)
    attention = explanation.attribution is None if attention is None else attention
    lines += wrap(_deletion(explanation), width, subsequent_indent=" " * _LABEL)
    lines += wrap(
        visible(explanation.standing), width, initial_indent=" " * _LABEL, subsequent_indent=" " * _LABEL
    )
    if explanation.none_of_these is not None:
        lines += _wrapped(explanation.none_of_these.sentence(), width)
    for view in explanation.sides:
        lines += ["", *_sentence(view, width, pen)]
    if explanation.attribution is not None:
        said_of = explanation.attribution
        answered = explanation.chosen is None or explanation.answers(said_of.label)
        title, *rest = signed_lines(said_of, explanation.sides, width, color=color, answered=answered)
        lines += ["", pen.bold(title), *rest]
        lines += _others(explanation)
    if explanation.neighbors:
        title, *rest = neighbor_lines(explanation.neighbors, width)
        lines += ["", pen.bold(title), *rest]
    if explanation.features is not None:
        title, *rest = feature_lines(explanation.features)
        lines += ["", pen.bold(title), *(shorten(line, width) for line in rest)]
    for steps in explanation.policy:
        title, *rest = policy_lines(steps)
        lines += ["", pen.bold(title), *(shorten(line, width) for line in rest)]
    if attention:
        lines += _links(explanation, links, width, pen)
        for view in explanation.sides:
            lines += _words(view, width, pen) + _fusion(view, width)
    return "\n".join(line.rstrip() for line in lines)


def _wrapped(line: str, width: int) -> list[str]:
    """Break a line between words; no percent sign is parted from its number."""
    kept = wrap(line.replace(" %", "\N{NO-BREAK SPACE}%"), width, subsequent_indent="  ")
    return [each.replace("\N{NO-BREAK SPACE}%", " %") for each in kept]


class _Pen:
    """Puts ANSI codes around text, or leaves it alone."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def bold(self, text: str) -> str:
        return self._in(_BOLD, text)

    def blue(self, text: str) -> str:
        return self._in(_BLUE, text)

    def dim(self, text: str) -> str:
        return self._in(_DIM, text)

    def _in(self, code: str, text: str) -> str:
        return f"{code}{text}{_PLAIN}" if self._color and text else text


def _prediction(explanation: ExplanationRecord) -> str:
    if explanation.score is not None:
        span = explanation.score_range
        name = shorten(visible(explanation.quantity or "score"), 40)
        return f"{name} {explanation.score:.2f}" + ("" if span is None else f" ({span[0]:g} to {span[1]:g})")
    parents = explanation.parents
    shares = dict(zip(explanation.labels, explanation.probabilities, strict=True))
    if parents is not None and parents.answered in parents.probabilities:
        shares[parents.answered] = parents.probabilities[parents.answered]
    answers = sorted(shares.items(), key=lambda a: (not explanation.answers(a[0]), -a[1]))
    if explanation.tags:
        return "\n".join(_tags(explanation))
    told = [f"{visible(label)} {percent(p)}" for label, p in answers]
    count = 1 if explanation.chosen is None else len(explanation.chosen)
    first, rest = ", ".join(told[:count]) or "no label", told[count:]
    first += " by the costs of wrong answers" if explanation.answered is not None else ""
    first += "" if parents is None else parents.rule
    if len(rest) > _SHOWN:
        rest = [*rest[: _SHOWN - 1], f"{len(rest) - _SHOWN + 1:,} more"]
    no = "not " if explanation.chosen is not None else ""
    said = first + (f"   ({no}{', '.join(rest)})" if rest else "")
    strange = explanation.none_of_these
    if strange is None or not strange.rejected:
        return said
    return f"{visible(strange.label)}, {strange.standing}   (nearest: {said})"


def _tags(explanation: ExplanationRecord) -> list[str]:
    """Write the tag of each word with its probability, as a table."""
    shown = [(visible(each.word), visible(each.tag), percent(each.probability)) for each in explanation.tags]
    word, tag = (min(max(cells(row[k]) for row in shown), 30) for k in (0, 1))
    head = f"{pad('word', max(word, 4))}  {pad('tag', max(tag, 3))}  probability"
    return [
        head,
        *(
            f"{pad(shorten(one, word), max(word, 4))}  {pad(shorten(other, tag), max(tag, 3))}  {share}"
            for one, other, share in shown
        ),
    ]


_OTHERS = 4
"""Further classes that have a line; the page has more, and --why explains any."""


def _others(explanation: ExplanationRecord) -> list[str]:
    """Write for further classes what speaks for and against them most."""
    found = []
    for each in explanation.others[:_OTHERS]:
        said = [
            (value, word)
            for view, values in zip(explanation.sides, each.values, strict=True)
            for word, value in zip(view.words, values.tolist(), strict=True)
        ]
        if not said:  # a text without words, of which nothing speaks for anything
            continue
        strongest = sorted(said, key=lambda pair: -abs(pair[0]))[:3]
        words = ", ".join(f"{shorten(visible(word), 20)} {value:+.2f}" for value, word in strongest)
        share = "" if each.probability is None else f" ({percent(each.probability)})"
        title = title_of(each, answered=explanation.chosen is not None and explanation.answers(each.label))
        found.append(f"  {title}{share}: {words}")
    several = len(explanation.labels) > 2 or explanation.chosen is not None
    return ["", *found] if found and several else []


def _deletion(explanation: ExplanationRecord) -> str:
    score = explanation.faithfulness
    if score is None or not score.is_informative:
        return ""
    removed = ", ".join(shorten(visible(word), 20) for word in score.removed)
    others = f"{score.draws} other choices of {score.k}: {score.after_random:.2f}"
    if score.random:
        others += f", {min(score.random):.2f} to {max(score.random):.2f}"
    return f"faithfulness  without {removed}: {score.before:.2f} -> {score.after_top:.2f} ({others}). {score.claim}"


def _sentence(view: SentenceView, width: int, pen: _Pen) -> list[str]:
    lines = [pen.dim(pad(view.name, _LABEL)) + shorten(visible(view.text), width - _LABEL)]
    unknown = [visible(word) for word, flag in zip(view.words, view.unknown, strict=True) if flag]
    if not view.words:
        lines.append(pad("", _LABEL) + "(no words)")
    if unknown:
        lines.append(pad("", _LABEL) + shorten(f"unknown to the model: {', '.join(unknown)}", width - _LABEL))
    if view.chosen is not None:
        lines += wrap(f"chosen        {visible(selection(view))}", width, subsequent_indent=" " * _LABEL)
    if view.truncated:
        lines.append(pad("", _LABEL) + f"cut: only the first {len(view.words)} words were read")
    return lines


def _links(explanation: ExplanationRecord, count: int, width: int, pen: _Pen) -> list[str]:
    groups: list[tuple[str, Sequence[AttentionLink], str]] = [
        (f"strongest links in the {view.name}", strongest_links(view, count), "<-")
        for view in explanation.sides
    ]
    between = strongest_alignments(explanation, count)
    groups.append(
        (f"strongest links between {' and '.join(view.name for view in explanation.sides)}", between, "<->")
    )
    lines = []
    for title, links, arrow in groups:
        if links:
            lines += ["", pen.bold(title), *_link_lines(links, arrow, width, pen)]
    return lines


def _link_lines(links: Iterable[AttentionLink], arrow: str, width: int, pen: _Pen) -> list[str]:
    shown = [(f"{_short(link.word)} {arrow} {_short(link.seen)}", link) for link in links]
    column = min(max(cells(words) for words, _ in shown) + 2, width - 28)
    rest = width - column - 19
    return [
        f"  {pad(words, column)} {link.weight:.2f} {pen.blue(_bar(link.weight, 10))} {pen.dim(_place(link, rest))}"
        for words, link in shown
    ]


def _place(link: AttentionLink, width: int) -> str:
    """Name a link's map, and its length in the dependency tree where that is known."""
    steps = "" if link.steps is None else f"  tree {link.steps}"
    return shorten(link.map, width - len(steps)) + steps


def _words(whole: SentenceView, width: int, pen: _Pen) -> list[str]:
    view, kept = focus(whole)
    weights = None if whole.weights is None else whole.weights[list(kept)]
    if not view.words or (weights is None and not view.gates):
        return []
    # 2 before the word, 16 for it, 18 for the weight, 17 a gate; gates that do not fit are left to the page.
    room = max(0, (width - 18 - (18 if weights is not None else 0)) // 17)
    gates = dict(list(view.gates.items())[:room])
    head = pad("", 18) + (pad("weight", 18) if weights is not None else "")
    head += "".join(pad(name if cells(name) > 11 else f"gate {name}", 16) + " " for name in gates)
    title = f"words of the {view.name}"
    if len(kept) < len(whole.words):
        title += f": the {len(kept)} of {len(whole.words)} that matter most"
    lines = ["", pen.bold(title), pen.dim(head)]
    largest = 1.0 if weights is None else max(float(weights.max()), 1e-9)
    for i, word in enumerate(view.words):
        line = "  " + pad(visible(word), 15) + " "
        if weights is not None:
            line += f"{100 * weights[i]:5.1f} % " + pen.blue(pad(_bar(float(weights[i]) / largest, 8), 10))
        line += "".join(
            f"{gate[i]:.2f} {pen.blue(pad(_bar(float(gate[i]), 10), 12))}" for gate in gates.values()
        )
        lines.append(line)
    return [*lines, *_gate_note(gates, len(view.gates))]


def _fusion(view: SentenceView, width: int) -> list[str]:
    """Write the mean share of each attention in the words of a sentence."""
    if not view.fusion or not view.words:
        return []
    shares = ", ".join(f"{name} {share.mean():.2f}" for name, share in view.fusion.items())
    return wrap(
        f"fusion of the attentions, mean over the words: {shares}",
        width,
        initial_indent="  ",
        subsequent_indent="  ",
    )


def _gate_note(shown: Mapping[str, object], count: int) -> list[str]:
    if not count:
        return []
    note = ["  gate 1: keeps the word's own meaning; 0: takes its context."]
    return note + ([f"  {count - len(shown)} more gates in the page."] if count > len(shown) else [])


def _bar(share: float, width: int) -> str:
    """Draw a bar in eighths of a cell, padded to ``width`` cells."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    full, part = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[part] if part else "")).ljust(width)


def _short(word: str) -> str:
    return shorten(visible(word), 15)
