"""``heedful data check``: what is wrong with the data, before it is trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np

from heedful.data.examples import Corpus, Example
from heedful.data.folds import split_dev
from heedful.data.leaks import GiveAway, Key, Tokenize, hypothesis_only, keys, normalized, repeats, shared
from heedful.data.readers.corpus_builder import NO_TEXT
from heedful.data.readers.gold_cells import NO_LABEL
from heedful.errors import UsageError

_ROWS_SHOWN = 5
_GIVEAWAY_MARGIN = 0.10
_LEAK_SHARE, _LEAK_RATIO = 0.01, 3.0
_PERCENTILES = {"p50": 50, "p95": 95, "p99": 99, "max": 100}


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Attributes:
        level: "error" (do not train on this) or "warning".
        part: the part it is about.
        message: what it is.
        rows: the first rows it is about.
    """

    level: Literal["error", "warning"]
    part: str
    message: str
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Summary:
    """Figures of one part.

    Attributes:
        rows: examples.
        skipped: what the reader left out, by reason.
        labels: examples of each class; empty for scores.
        scores: smallest, mean and largest score; None for classes.
        lengths: percentiles of the words in one text.
        longer: examples with a text longer than the limit.
    """

    rows: int
    skipped: dict[str, int]
    labels: dict[str, int]
    scores: tuple[float, float, float] | None
    lengths: dict[str, int]
    longer: int


@dataclass(frozen=True)
class CheckReport:
    """Result of a check.

    Attributes:
        parts: figures by part.
        limit: longest text allowed, in words; None for none.
        findings: what was found, errors first.
        giveaway: how well the hypothesis alone predicts the class; None where there are no pairs with classes.
    """

    parts: dict[str, Summary]
    limit: int | None
    findings: list[Finding] = field(default_factory=list)
    giveaway: GiveAway | None = None

    @property
    def errors(self) -> list[Finding]:
        """The findings that should stop training."""
        return [finding for finding in self.findings if finding.level == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """The findings to look at."""
        return [finding for finding in self.findings if finding.level == "warning"]

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def as_dict(self) -> dict[str, object]:
        """Return the report for ``--json``."""
        return {"ok": self.ok, **asdict(self)}

    def render(self) -> str:
        """Return the report as plain text."""
        lines: list[str] = []
        for name, part in self.parts.items():
            lines += _part_lines(name, part, self.limit)
        if self.giveaway is not None:
            lines.append(_giveaway_line(self.giveaway))
        for finding in self.findings:
            rows = f" (rows {', '.join(map(str, finding.rows))})" if finding.rows else ""
            lines.append(f"{finding.level:<9} {finding.part}: {finding.message}{rows}")
        verdict = "ok" if self.ok else "not ok"
        lines.append(
            f"{verdict} ({_count(len(self.errors), 'error')}, {_count(len(self.warnings), 'warning')})"
        )
        return "\n".join(lines)


def check_corpora(
    corpora: Mapping[str, Corpus],
    *,
    tokenize: Tokenize = str.split,
    limit: int | None = None,
    max_overlap: float = 0.01,
) -> CheckReport:
    """Check the parts of a data set on their own and against each other.

    Args:
        corpora: the parts by name. "train", or else the first, is what the others are held against.
        tokenize: splits a text into words where the file has none.
        limit: longest text allowed, in words.
        max_overlap: share of a part that may also be in the training part; more is an error, less a warning.

    Returns:
        The report.

    Raises:
        UsageError: if there is no part.
    """
    if not corpora:
        raise UsageError("nothing to check: name at least one split")
    examples = {name: corpus.examples for name, corpus in corpora.items()}
    train = "train" if "train" in examples else next(iter(examples))
    keyed = {name: keys(part) for name, part in examples.items()}
    parts = {name: _summary(corpus, tokenize, limit) for name, corpus in corpora.items()}
    findings = [
        finding for name in parts for finding in _own_findings(name, examples[name], keyed[name], parts[name])
    ]
    findings += [Finding("warning", name, note) for name, part in corpora.items() for note in part.notes]
    findings += _label_findings(train, parts)
    findings += _overlap_findings(train, examples, keyed, max_overlap)
    giveaway = _giveaway(train, examples, tokenize)
    if giveaway is not None and giveaway.accuracy > giveaway.majority + _GIVEAWAY_MARGIN:
        message = (
            f"the hypothesis alone gives {giveaway.accuracy:.1%}, the majority class {giveaway.majority:.1%}"
        )
        findings.append(Finding("warning", train, message))
    findings.sort(key=lambda finding: finding.level != "error")
    return CheckReport(parts, limit, findings, giveaway)


def _summary(corpus: Corpus, tokenize: Tokenize, limit: int | None) -> Summary:
    lengths = [
        [len(given) if given is not None else len(tokenize(text)) for text, given in _sides(example)]
        for example in corpus.examples
    ]
    flat = [length for sides in lengths for length in sides] or [0]
    percentiles = np.percentile(flat, list(_PERCENTILES.values()), method="higher")
    scores = [example.target for example in corpus.examples if isinstance(example.target, float)]
    labels = Counter(example.target for example in corpus.examples if isinstance(example.target, str))
    return Summary(
        len(corpus.examples),
        dict(corpus.skipped),
        dict(sorted(labels.items())),
        (min(scores), sum(scores) / len(scores), max(scores)) if scores else None,
        {name: int(value) for name, value in zip(_PERCENTILES, percentiles, strict=True)},
        0 if limit is None else sum(max(sides) > limit for sides in lengths),
    )


def _sides(example: Example) -> zip[tuple[str, tuple[str, ...] | None]]:
    return zip(example.texts, example.words or (None,) * len(example.texts), strict=True)


def _own_findings(name: str, examples: list[Example], keyed: list[Key], part: Summary) -> list[Finding]:
    findings = []

    def found(level: Literal["error", "warning"], rows: Sequence[int], message: str) -> None:
        if rows:
            findings.append(
                Finding(level, name, f"{_count(len(rows), 'row')} {message}", tuple(rows[:_ROWS_SHOWN]))
            )

    if not examples:
        findings.append(Finding("error", name, "no examples"))
    if part.longer:
        findings.append(Finding("warning", name, f"{_count(part.longer, 'row')} longer than the limit"))
    for reason in (NO_TEXT, NO_LABEL):
        if reason in part.skipped:
            message = f"{_count(part.skipped[reason], 'row')} with {reason} skipped"
            findings.append(Finding("warning", name, message))
    unlabeled = [example.row for example in examples if example.target is None]
    if len(unlabeled) < len(examples):
        found("error", unlabeled, "without a label, while other rows have one")
    if part.labels and part.scores:
        findings.append(Finding("error", name, "class names and scores are mixed"))
    found("warning", [e.row for e in examples if not all(text.strip() for text in e.texts)], "without text")
    repeated = repeats(examples, keyed)
    found("warning", repeated.rows, "repeating an earlier row")
    found("warning", repeated.conflicting, "repeating an earlier row with other gold")
    found(
        "error",
        [e.row for e in examples if any("__label__" in t for t in e.texts)],
        "with a __label__ tag in the text",
    )
    return findings + _leak_findings(name, examples, keyed, part.labels)


def _leak_findings(
    name: str, examples: list[Example], keyed: list[Key], labels: dict[str, int]
) -> list[Finding]:
    """Warn of classes whose own name stands in their texts far more often than in those of the other classes."""
    findings = []
    for label, count in labels.items():
        phrase = f" {normalized(label)} "
        if len(labels) < 2 or sum(letter.isalpha() for letter in phrase) < 3:
            continue
        named = [
            (example.row, example.target == label)
            for example, key in zip(examples, keyed, strict=True)
            if any(phrase in f" {text} " for text in key)
        ]
        own = [row for row, mine in named if mine]
        others = (len(named) - len(own)) / max(1, sum(labels.values()) - count)
        if len(own) >= max(2, _LEAK_SHARE * count) and len(own) / count >= _LEAK_RATIO * others:
            message = f"{_count(len(own), 'row')} of the class {label!r} with its name in the text"
            findings.append(Finding("warning", name, message, tuple(own[:_ROWS_SHOWN])))
    return findings


def _label_findings(train: str, parts: dict[str, Summary]) -> list[Finding]:
    findings = []
    known = set(parts[train].labels)
    if len(known) == 1:
        findings.append(Finding("error", train, f"all rows have the same class {next(iter(known))!r}"))
    for name, part in parts.items():
        unseen = sorted(set(part.labels) - known)
        if name != train and unseen and (known or parts[train].scores):
            message = f"classes that {train} does not have: {', '.join(map(repr, unseen))}"
            findings.append(Finding("error", name, message))
    return findings


def _overlap_findings(
    train: str, examples: dict[str, list[Example]], keyed: dict[str, list[Key]], max_overlap: float
) -> list[Finding]:
    findings = []
    names = [train, *(name for name in keyed if name != train)]
    for other, name in combinations(names, 2):
        both = shared(keyed[name], keyed[other])
        places = both.ordered + both.swapped
        if not places:
            continue
        share = len(places) / len(keyed[name])
        swapped = f", {len(both.swapped):,} of them with the two texts swapped" if both.swapped else ""
        message = f"{_count(len(places), 'row')} ({share:.1%}) also in {other}{swapped}"
        rows = tuple(examples[name][place].row for place in places[:_ROWS_SHOWN])
        level: Literal["error", "warning"] = "error" if other == train and share > max_overlap else "warning"
        findings.append(Finding(level, name, message, rows))
    return findings


def _giveaway(train: str, examples: dict[str, list[Example]], tokenize: Tokenize) -> GiveAway | None:
    def pairs(name: str) -> list[Example]:
        return [
            example
            for example in examples[name]
            if len(example.texts) == 2 and isinstance(example.target, str)
        ]

    fitted = pairs(train)
    held_out = next((found for name in examples if name != train and (found := pairs(name))), [])
    if len({example.target for example in fitted}) < 2:
        return None
    if not held_out:
        if len(fitted) < 10:
            return None
        fitted, held_out = split_dev(fitted, 0.2, seed=0)
    return hypothesis_only(fitted, held_out, tokenize)


def _part_lines(name: str, part: Summary, limit: int | None) -> list[str]:
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in part.skipped.items())
    lines = [f"{name:<9} {_count(part.rows, 'row')}" + (f" (skipped: {skipped})" if skipped else "")]
    if part.labels:
        total = sum(part.labels.values())
        shares = " | ".join(
            f"{label} {count:,} ({count / total:.1%})" for label, count in part.labels.items()
        )
        lines.append(f"  classes {shares}")
    if part.scores:
        low, mean, high = part.scores
        lines.append(f"  scores  from {low:g} to {high:g}, mean {mean:.2f}")
    lengths = "  ".join(f"{key} {value}" for key, value in part.lengths.items())
    over = "" if limit is None else f" (limit {limit}: {_count(part.longer, 'row')} longer)"
    lines.append(f"  length  {lengths} words{over}")
    return lines


def _giveaway_line(giveaway: GiveAway) -> str:
    words = ", ".join(f"{word.word} ({word.share:.0%} {word.label})" for word in giveaway.words)
    told = f"; revealing words: {words}" if words else ""
    return f"hypothesis alone {giveaway.accuracy:.1%}, majority class {giveaway.majority:.1%}{told}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
