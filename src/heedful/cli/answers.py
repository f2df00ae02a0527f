"""Answers as rows for a terminal or a pipe, whatever the model answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from heedful.data.examples import Corpus
from heedful.predictor import Answer, RoleAnswer, Translation

AnyAnswer = Answer | RoleAnswer | Translation
NO_PREDICATE = "-"


def answer_rows(
    corpus: Corpus, answers: Sequence[AnyAnswer], *, with_row: bool
) -> tuple[list[str], list[list[str]]]:
    """Lay answers out.

    Args:
        corpus: the requests.
        answers: one a request.
        with_row: whether to begin with the request's row in its file.

    Returns:
        Header and rows. A class, a score and a translation take one row; roles take one row a predicate.
    """
    texts = sys.stdout.isatty() and not (
        answers and isinstance(answers[0], RoleAnswer)
    )  # whose rows show them
    rows = [
        [*([str(example.row)] if with_row else []), *cells, *([" => ".join(example.texts)] if texts else [])]
        for example, answer in zip(corpus.examples, answers, strict=True)
        for cells in _cells(answer)
    ]
    header = [*(["row"] if with_row else []), *_header(answers), *(["text"] if texts else [])]
    return header, rows


def _header(answers: Sequence[AnyAnswer]) -> list[str]:
    first: Any = answers[0] if answers else None
    if isinstance(first, RoleAnswer):
        return ["predicate", "prob.", "remarks", "roles"]
    if isinstance(first, Translation):
        return ["translation", "log prob.", "remarks"]
    return (
        ["score", "remarks"] if first is not None and first.label is None else ["answer", "prob.", "remarks"]
    )


def _cells(answer: AnyAnswer) -> Iterator[list[str]]:
    if isinstance(answer, RoleAnswer):
        yield from _frames(answer)
    elif isinstance(answer, Translation):
        yield [answer.text, f"{answer.log_probability:.3f}", answer.remarks]
    elif answer.label is None:
        yield [f"{answer.score:.3f}", answer.remarks]
    else:
        yield [answer.label, f"{max(answer.probabilities.values()):.3f}", answer.remarks]


def _frames(answer: RoleAnswer) -> Iterator[list[str]]:
    for frame in answer.predicates:
        yield [frame.word, f"{frame.probability:.3f}", answer.remarks, answer.bracketed(frame)]
    if not answer.predicates:
        yield [NO_PREDICATE, "", answer.remarks, " ".join(answer.words)]
