"""Leave-one-out: how far an answer falls when one word is deleted (Li et al., 2016, "erasure"). Imports no torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heedful.explain.attribution import Attribution
from heedful.explain.methods.question import Question


def leave_one_out(question: Question) -> tuple[NDArray[np.float64], float]:
    """Delete every word by itself, ``v(all) - v(all without i)``; all P + 1 texts are computed at once.

    Args:
        question: what is asked.

    Returns:
        How far the value falls without each of the words that may be deleted, [P], and the value with all words.
    """
    count = len(question.places)
    values = question.ask(np.concatenate([np.ones((1, count), bool), ~np.eye(count, dtype=bool)]))
    return values[0] - values[1:], float(values[0])


def occlusion(question: Question) -> Attribution:
    """Explain by leave-one-out; see `leave_one_out`. It is exact and needs no random numbers.

    Args:
        question: what is asked.

    Returns:
        What each word contributes.
    """
    falls, whole = leave_one_out(question)
    return Attribution("occlusion", question.of, question.by_side(falls), whole=whole)
