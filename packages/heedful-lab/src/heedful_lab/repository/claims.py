"""The claims of the five papers, tested on the kept runs and on the kept measurements of time and memory."""

from __future__ import annotations

import json
import math
import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.errors import UsageError
from heedful.evaluation.significance import Comparison, Interval
from heedful.evaluation.statistics import holm
from heedful_lab.repository.verdicts import AS_PUBLISHED, NORMAL, NOT_RUN, with_seeds, word_for
from heedful_lab.reproduce.cell_runs import Result, Runs, comparable, compare
from heedful_lab.reproduce.learning_curves import stopped_rising
from heedful_lab.reproduce.making import narrow
from heedful_lab.reproduce.plan import experiments, find_table, systems
from heedful_lab.reproduce.resampled import Resampled
from heedful_lab.reproduce.runner import Budget, Cell, command_of

Find = Callable[[str, str], Result | None]
"""From the name of a table and of a budget to its figures, None if there are none."""
ACCURACY = "accuracy"
COSTS = ("parameters", "train", "infer", "megabytes")
"""What is measured of a step of a system (`heedful bench models`): trained numbers, pairs a second in training and in
inference, megabytes of the tensors of a training step. Of the first and the last less is better."""
LESS = ("parameters", "megabytes")
ROUNDED = 0.02
"""By how much a printed number of parameters may be off: papers print two or three digits."""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper: one system is better than another.

    Attributes:
        paper: the paper and its table.
        claim: in a sentence.
        published: the figures of the two systems there.
        table: of `heedful reproduce` that holds both.
        budget: of the kept runs.
        experiment: of the table.
        better: the system that is said to be better.
        worse: the other one.
        reason: what was found out about the verdict; may be empty.
        figure: what is compared: "accuracy", one of `COSTS`, or a share of a run's report, such as
            "dev.per_class.entailment.recall".
        other: whether an experiment showed another reason for the difference than the paper's.
        equal: whether the paper says that the two are about equal: our interval then need not exclude that.
    """

    paper: str
    claim: str
    published: str
    table: str = ""
    budget: str = ""
    experiment: str = ""
    better: str = ""
    worse: str = ""
    reason: str = ""
    figure: str = ACCURACY
    other: bool = False
    equal: bool = False

    @property
    def is_cost(self) -> bool:
        """Whether a ratio of costs is compared, and not a difference of points."""
        return self.figure in COSTS

    @property
    def gap(self) -> float | None:
        """Return the published difference in points, of costs as the logarithm of a ratio; None if not legible."""
        try:
            first, second = map(float, self.published.split(","))
        except ValueError:
            return None
        return math.log(second / first) if self.is_cost else first - second


@dataclass(frozen=True)
class Verdict:
    """What the kept runs say about a claim.

    Attributes:
        claim: the claim.
        test: the better system minus the worse one, of costs as logarithms; None where one of them was not run.
        p: adjusted for all claims that were tested (Holm).
        runs: of the two systems; none of costs.
        examples: half the 95 % interval that the test examples alone leave, without the spread of seeds, on the scale
            of the test.
        lacking: hours of one core that the runs would take without which the claim was not tested.
        command: that makes these runs; empty where the claim was tested.
    """

    claim: Claim
    test: Comparison | None = None
    p: float = 1.0
    runs: tuple[Runs, Runs] | tuple[()] = ()
    examples: float = 0.0
    lacking: float = 0.0
    command: str = ""

    @property
    def scale(self) -> float:
        """Return by what the test is multiplied to stand beside the published difference."""
        return 1.0 if self.claim.is_cost else 100.0

    @property
    def word(self) -> str:
        """Return the verdict, one of `WORDS`."""
        if self.test is None:
            return NOT_RUN
        ends = self.test.interval
        low, high = (ends.low, ends.high) if ends else (self.test.difference, self.test.difference)
        low, high, gap = self.scale * low, self.scale * high, self.claim.gap
        if self.claim.equal and gap is not None and low <= gap <= high:
            return AS_PUBLISHED
        return word_for(self.test.difference, low, high, self.p, gap, other=self.claim.other)

    @property
    def core_hours(self) -> float:
        """Return the hours of one core that the runs of both systems took."""
        figures = [record.figures for runs in self.runs for record in runs.found]
        return sum((one.epoch_cpu_seconds or one.epoch_seconds) * one.epochs for one in figures) / 3600

    @property
    def effort(self) -> str:
        """Return the mean number of steps of each system, and by whose recipe."""
        if not self.runs:
            return ""
        means = [statistics.fmean(record.figures.steps for record in runs.found) for runs in self.runs]
        kinds = {"-own": ", own recipes", "-effort": ", same effort"}
        whose = next((said for end, said in kinds.items() if self.claim.experiment.endswith(end)), "")
        both = " and ".join(f"{mean:,.0f}" for mean in dict.fromkeys(means))
        return f"{both}{whose}"

    @property
    def converged(self) -> bool:
        """Whether every run kept its dev figures, and none of them rose over the last fifth of the run."""
        return bool(self.runs) and all(
            stopped_rising(list(record.figures.dev_by_epoch.values()))
            for runs in self.runs
            for record in runs.found
        )


def read_claims(file: Path) -> list[Claim]:
    """Read the claims that people wrote down.

    Args:
        file: TOML with a list "claims".

    Returns:
        The claims, in their order.

    Raises:
        UsageError: if an entry is not one.
    """
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["claims"]
    try:
        return [Claim(**entry) for entry in entries]
    except TypeError as error:
        raise UsageError(f"{file}: {error}") from error


def read_costs(file: Path) -> dict[str, Mapping[str, Any]]:
    """Read what `heedful bench models` measured: system to its figures."""
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    return {str(row["name"]): row for row in rows}


def judge(
    claims: Sequence[Claim],
    find: Find,
    resampled: Resampled,
    costs: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Verdict]:
    """Test every claim, with Holm's adjustment for all of them.

    Accuracies are tested by the paired bootstrap over test examples, to which the spread of the seeds is added.

    Args:
        claims: to test.
        find: gives the figures of a table.
        resampled: keeps the bootstraps.
        costs: see `read_costs`.

    Returns:
        One verdict a claim, in their order.
    """
    found = [() if claim.is_cost else _runs(claim, find) for claim in claims]
    alone = [
        _costs(claim, costs or {}) if claim.is_cost else _of_examples(claim, pair, resampled)
        for claim, pair in zip(claims, found, strict=True)
    ]
    tests = [
        _with_spread(claim, test, pair) if pair and test is not None else test
        for claim, test, pair in zip(claims, alone, found, strict=True)
    ]
    adjusted = iter(holm([1.0 if test.p is None else test.p for test in tests if test is not None]))
    return [
        Verdict(claim, lacking=_lacking(claim, find), command=_command(claim))
        if test is None
        else Verdict(claim, test, next(adjusted), pair, half_of(first))
        for claim, pair, first, test in zip(claims, found, alone, tests, strict=True)
    ]


def half_of(test: Comparison | None) -> float:
    """Return half the interval of a test; 0 without one."""
    ends = None if test is None else test.interval
    return (ends.high - ends.low) / 2 if ends else 0.0


def _lacking(claim: Claim, find: Find) -> float:
    """Estimate the hours of the runs that a claim waits for."""
    if claim.is_cost or not claim.experiment:
        return 0.0
    result = find(claim.table, claim.budget)
    minutes = 0.0
    for system in (claim.better, claim.worse):
        cell = Cell(experiments()[claim.experiment], systems()[system], Budget(claim.budget))
        made = None if result is None else result.runs.get((claim.experiment, system))
        minutes += 0.0 if made else cell.minutes * (len(cell.runs) + max(0, len(cell.tries) - 1))
    return minutes / 60


def _command(claim: Claim) -> str:
    """Return the command that makes the runs of a claim."""
    if claim.is_cost or not claim.experiment:
        return ""
    table = find_table(claim.table)
    columns = [column.key for column in table.columns if column.experiment == claim.experiment]
    return command_of(narrow(table, [claim.better, claim.worse], columns[:1]), Budget(claim.budget))


def _of_examples(
    claim: Claim, pair: tuple[Runs, Runs] | tuple[()], resampled: Resampled
) -> Comparison | None:
    """Compare the two over the test examples, without the spread of seeds."""
    if not pair:
        return None
    return compare(*pair, resampled=resampled) if claim.figure == ACCURACY else _shares(claim, *pair)


def _with_spread(claim: Claim, test: Comparison, pair: tuple[Runs, Runs]) -> Comparison:
    """Add the spread of the seeds where there are seeds and an accuracy."""
    if claim.figure != ACCURACY or pair[0].cell.experiment.folds:
        return test
    path = f"test.metrics.{pair[0].tested}"
    figures = [runs.figures(path, partial=True) for runs in pair]
    scale = 0.01 if pair[0].tested == "bleu" else 1.0
    return with_seeds(test, *([scale * value for value in values] for values in figures))


def _shares(claim: Claim, first: Runs, second: Runs) -> Comparison | None:
    """Compare two shares of so many examples, such as the recall of a class, by the normal distribution."""
    ours, theirs = first.figures(claim.figure, partial=True), second.figures(claim.figure, partial=True)
    counts = first.figures(claim.figure.rpartition(".")[0] + ".count", partial=True)
    if not (ours and theirs and counts):
        return None
    a, b, n = statistics.fmean(ours), statistics.fmean(theirs), int(counts[0])
    error = math.sqrt((a * (1 - a) + b * (1 - b)) / n)
    return _normal("two shares", a - b, error, n)


def _costs(claim: Claim, costs: Mapping[str, Mapping[str, Any]]) -> Comparison | None:
    """Compare two costs by how many times the one is better, as a logarithm."""
    if not {claim.better, claim.worse} <= set(costs):
        return None
    first, second = costs[claim.better], costs[claim.worse]
    ratio = math.log(float(first[claim.figure]) / float(second[claim.figure]))
    spreads = [float(each.get(f"{claim.figure}_spread", ROUNDED)) for each in (first, second)]
    return _normal("ratio", -ratio if claim.figure in LESS else ratio, math.hypot(*spreads), 1)


def _normal(test: str, difference: float, error: float, n: int) -> Comparison:
    half = NORMAL.inv_cdf(0.975) * error
    p = 2 * (1 - NORMAL.cdf(abs(difference) / max(error, 1e-12)))
    ends = Interval(difference - half, difference + half, "normal")
    return Comparison(test, n, "examples", 0.0, difference, difference, ends, p)


def _runs(claim: Claim, find: Find) -> tuple[Runs, Runs] | tuple[()]:
    """Return the runs of the two systems; none unless both have some that can be compared."""
    result = find(claim.table, claim.budget)
    pair = (
        tuple(
            result.runs[claim.experiment, system]
            for system in (claim.better, claim.worse)
            if (claim.experiment, system) in result.runs
        )
        if result is not None
        else ()
    )
    return pair if len(pair) == 2 and comparable(*pair) else ()
