"""Runs the benchmark: proof first, then times in turns, then memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from heedful.errors import UsageError, check_known
from heedful.settings import ranged
from heedful_lab.bench.bench_report import BenchReport
from heedful_lab.bench.cases import Case, Shape, cases, traffic
from heedful_lab.bench.timing import (
    Plan,
    Row,
    Step,
    Timing,
    describe_machine,
    interleave,
    measure_ceiling,
    once,
    peak_bytes,
)
from heedful_lab.bench.verify import verify

Say = Callable[[str], None]
_MOST_TIMES = 4


def _some(lengths: Sequence[int]) -> str:
    return "" if lengths and min(lengths) >= 1 else "must name at least one length, each 1 or more"


@dataclass(frozen=True)
class BenchPlan(Plan):
    """What to measure; beyond 256 tokens the batch is as many sentences as keep the number of tokens.

    Attributes:
        lengths: tokens a sentence, one table each.
        slowest: seconds; a case whose single step takes longer is left out at this length and all longer ones.
        pairwise_cells: a case that stores a number for every pair and feature is run on so few sentences that it
            stores at most this many a tensor; where one sentence needs four times as many, it is left out.
        without: names of cases that are not timed.
    """

    lengths: tuple[int, ...] = ranged((16, 64, 256), _some)
    slowest: float = 4.0
    pairwise_cells: int = 1 << 25
    without: tuple[str, ...] = ()

    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        uneven = self.width % 4
        return [f"width must be a multiple of 4, the number of heads; got {self.width}"] if uneven else []

    def shape(self, length: int) -> Shape:
        """Return the problem at a length.

        Args:
            length: tokens a sentence.

        Returns:
            Its size.
        """
        return Shape(max(1, min(self.batch, self.batch * 256 // length)), length, self.width)


QUICK = BenchPlan(batch=16)
FULL = BenchPlan(lengths=(16, 32, 64, 128, 256, 512, 1024, 2048), slowest=40.0)


def run_bench(plan: BenchPlan, print_line: Say = lambda _: None) -> BenchReport:
    """Measure everything in the plan.

    Args:
        plan: what to measure.
        print_line: told of progress, one line each.

    Returns:
        The report.

    Raises:
        BenchRefused: if an implementation does not compute the reference; nothing is timed then.
        UsageError: if every case is too slow, or a case to leave out is unknown.
    """
    candidates = cases(plan.width)
    for name in plan.without:
        check_known(name, {case.name for case in candidates}, f"there is no case {name!r}")
    checked = verify(candidates)
    print_line(f"equal to the float64 reference: {', '.join(checked)}")
    ceiling = measure_ceiling()
    rows: list[Row] = []
    left_out = set(plan.without)
    for length in plan.lengths:
        shape = plan.shape(length)
        prepared, factors = {}, {}
        for case in candidates:
            if case.name in left_out:
                continue
            used, factor = _affordable(case, shape, plan.pairwise_cells)
            step, obstacle = _first_step(case, used, plan)
            if step is None:
                left_out.add(case.name)
                print_line(f"left out from {length} tokens on: {case.name}, {obstacle}")
                continue
            prepared[case.name], factors[case.name] = step, factor
        if not prepared:
            raise UsageError(f"every case is slower than {plan.slowest} s a step; allow more or take less")
        print_line(f"timing {len(prepared)} cases at {shape.batch} sentences of {length} tokens")
        timings = interleave(prepared, plan.repeats)
        rows += [
            _row(case, shape, timings[case.name], prepared[case.name], factors[case.name], ceiling.shortest)
            for case in candidates
            if case.name in timings
        ]
    return BenchReport(describe_machine(), ceiling, plan.width, plan.repeats, tuple(checked), tuple(rows))


def _first_step(case: Case, shape: Shape, plan: BenchPlan) -> tuple[Step | None, str]:
    """Return a step that has been run once, to warm up; or None, and why it is left out."""
    if case.pairwise and shape.length * shape.cells > _MOST_TIMES * plan.pairwise_cells:
        return None, f"{shape.length * shape.cells:.1e} numbers a tensor"
    step = case.build(shape)
    seconds = once(step)
    return (None, f"{seconds:.1f} s a step") if seconds > plan.slowest else (step, "")


def _affordable(case: Case, shape: Shape, limit: int) -> tuple[Shape, float]:
    """Return the size to run, and what to multiply its time and memory by."""
    if not case.pairwise:
        return shape, 1.0
    batch = max(1, min(shape.batch, limit // (shape.length * shape.length * shape.width)))
    return Shape(batch, shape.length, shape.width), shape.batch / batch


def _row(
    case: Case,
    shape: Shape,
    timing: Timing,
    step: Step,
    factor: float,
    shortest: Callable[[float, float], float],
) -> Row:
    seconds = timing.median * factor
    return Row(
        name=case.name,
        group=case.group,
        peer=case.peer,
        ours=case.ours,
        length=shape.length,
        batch=shape.batch,
        milliseconds=seconds * 1e3,
        spread=timing.spread * factor * 1e3,
        megabytes=peak_bytes(step) * factor / 1e6,
        ceiling=shortest(case.operations(shape), traffic(case, shape)) / seconds,
        scaled_from=round(shape.batch / factor),
    )
