"""What a difference says about a published one: the words, and when each is used."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from heedful.evaluation.significance import Comparison, Interval

LEVEL = 0.05
AS_PUBLISHED, LARGER, SMALLER = "as published", "larger", "smaller"
UNSURE, REVERSED, OTHERWISE, NOT_RUN = "cannot tell", "reversed", "for another reason", "not run"
WORDS = (AS_PUBLISHED, LARGER, SMALLER, UNSURE, REVERSED, OTHERWISE, NOT_RUN)
NORMAL = statistics.NormalDist()
WIDENED = 1.2
"""How many times the interval of the examples the whole one is where the spread of the seeds counts."""


def word_for(
    difference: float, low: float, high: float, p: float, published: float | None, *, other: bool = False
) -> str:
    """Choose the verdict.

    Args:
        difference: of ours, in the direction of the claim.
        low: lower end of its interval.
        high: upper end.
        p: that there is no difference, adjusted for all claims; 0.05 and more counts as none shown.
        published: the published difference; None where it is not legible.
        other: whether an experiment showed that ours has another reason than the paper's.

    Returns:
        "reversed": there is one, against the claim. "for another reason": there is one with the claim, and it is known
        not to be what the paper says. "as published": there is one, and the published one lies in the interval; also
        where the published one is not legible. "larger", "smaller": the published one lies below or above the interval.
        "cannot tell": neither none nor the published one is excluded.
    """
    shown = p < LEVEL
    if shown and difference < 0:
        return REVERSED
    if shown and other:
        return OTHERWISE
    if published is not None and published > high:
        return SMALLER
    if not shown:
        return UNSURE
    return LARGER if published is not None and published < low else AS_PUBLISHED


def why_unsure(examples: float, half: float, n: int, difference: float, published: float | None) -> str:
    """Say why an interval excludes neither the published difference nor none.

    Args:
        examples: half the interval that the test examples alone leave, in points.
        half: half the whole interval, with the spread of the seeds.
        n: number of test examples.
        difference: of ours, in points.
        published: the published difference in points; None where it is not legible.

    Returns:
        A sentence.
    """
    left = f"The {n:,} test examples alone leave ±{examples:.1f} points"
    if published is None:
        return f"{left}."
    if examples >= abs(published):
        return f"{left}: too few examples to tell the published {published:+.1f} from none."
    if half > WIDENED * examples:
        return f"{left}, and ±{half:.1f} with the spread of the seeds: more seeds could tell."
    return f"{left}; {difference:+.1f} is too near to none for a test among so many claims."


def with_seeds(test: Comparison, first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Widen the interval of a difference by the spread of the seeds, and its p with it.

    The bootstrap draws test examples. The variance of the two means over seeds, ``s² / n`` each, is added to its
    variance. A system with one run is given the other's deviation; where both have one, nothing is known of seeds.

    Args:
        test: the paired bootstrap of the two systems.
        first: figures of the runs of one, on the scale of the test.
        second: of the other.

    Returns:
        The test, or a new one whose p is that of the normal distribution.
    """
    known = [runs for runs in (first, second) if len(runs) > 1]
    if not known or test.interval is None:
        return test
    usual = statistics.fmean(statistics.variance(runs) for runs in known)
    of_seeds = sum(
        (statistics.variance(runs) if len(runs) > 1 else usual) / len(runs) for runs in (first, second)
    )
    half = (test.interval.high - test.interval.low) / 2
    of_examples = (half / NORMAL.inv_cdf(0.5 + test.interval.level / 2)) ** 2
    if of_examples <= 0:
        return test
    wider = math.sqrt(1 + of_seeds / of_examples)
    middle = test.difference
    ends = Interval(
        middle - (middle - test.interval.low) * wider,
        middle + (test.interval.high - middle) * wider,
        f"{test.interval.method}, and the spread of the seeds",
        test.interval.level,
    )
    p = 2 * (1 - NORMAL.cdf(abs(middle) / math.sqrt(of_examples + of_seeds)))
    return Comparison(
        test.test, test.n, test.unit, test.first, test.second, middle, ends, max(p, test.p or 0.0)
    )
