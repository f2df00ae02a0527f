"""Times whole models: training, inference, the answer to one request; proof first, models in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus, Example
from heedful.errors import nearest
from heedful.models.precision import Precision
from heedful.settings import at_least, ranged
from heedful.tasks import Predictor
from heedful_lab.bench.bench_systems import PEER, SYSTEMS, Trainee, inference, settings_of, training
from heedful_lab.bench.cases import cases
from heedful_lab.bench.corpus import bucketed, evenly_spaced, padding_share, snli_like_pairs
from heedful_lab.bench.model_report import ModelReport, ModelRow, PrecisionRow
from heedful_lab.bench.sharing import measure_sharing
from heedful_lab.bench.timing import Plan, Timing, describe_machine, interleave, peak_bytes
from heedful_lab.bench.verify import verify

Say = Callable[[str], None]
Key = tuple[str, Precision]


@dataclass(frozen=True)
class ModelPlan(Plan):
    """What to measure of whole models; the batch is that of a training step, and inference takes the settings' own.

    Attributes:
        systems: names of models; the peer is added where it is missing.
        pairs: how many pairs are drawn; batches are cut from all of them.
        batches: steps behind one measurement, from short sentences to long ones.
        requests: single requests behind the latency, each asked at every repeat.
    """

    systems: tuple[str, ...] = SYSTEMS
    pairs: int = ranged(12_800, at_least(1))
    batches: int = ranged(6, at_least(1))
    requests: int = ranged(20, at_least(1))

    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        unknown = [name for name in self.systems if name not in SYSTEMS]
        problems = [f"there is no model {name!r} to time: {nearest(name, SYSTEMS)}" for name in unknown]
        if self.pairs < 3 * self.batch:
            problems.append(f"pairs must be at least three batches of {self.batch}; got {self.pairs}")
        return problems

    @property
    def names(self) -> tuple[str, ...]:
        """The models in the order of the table, the peer first."""
        return (PEER, *(name for name in SYSTEMS if name in self.systems and name != PEER))


QUICK_MODELS = ModelPlan(batches=2, requests=10)
FULL_MODELS = ModelPlan()


def run_models(plan: ModelPlan, print_line: Say = lambda _: None) -> ModelReport:
    """Measure everything in the plan.

    Args:
        plan: what to measure.
        print_line: told of progress, one line each.

    Returns:
        The report.

    Raises:
        BenchRefused: if an implementation does not compute the reference; nothing is timed then.
    """
    checked = verify(cases(plan.width))
    print_line(f"equal to the float64 reference: {', '.join(checked)}")
    examples = snli_like_pairs(plan.pairs)
    models = {
        name: Trainee(settings_of(name, width=plan.width, batch=plan.batch), examples) for name in plan.names
    }
    lengths = models[PEER].dataset.lengths()
    every = bucketed(lengths, plan.batch)
    batches = evenly_spaced(every, plan.batches)
    rows = np.concatenate(batches)
    print_line(f"training {len(models)} models on {len(rows)} pairs a measurement")
    trained = interleave({n: training(m, batches) for n, m in models.items()}, plan.repeats)
    memory = {name: peak_bytes(training(model, batches[-1:])) for name, model in models.items()}
    print_line("inference")
    answerers = {(n, p): model.at(p) for n, model in models.items() for p in get_args(Precision)}
    selected = {name: model.dataset.select(rows) for name, model in models.items()}
    answering = interleave(
        {key: inference(predictor, selected[key[0]]) for key, predictor in answerers.items()}, plan.repeats
    )
    print_line("one request at a time")
    single = [examples[row] for row in rows[:: max(1, len(rows) // plan.requests)][: plan.requests]]
    latency = _latencies(answerers, single, plan.repeats)
    print_line("texts that pairs share")
    sharing = measure_sharing(
        plan.names,
        pairs=plan.pairs,
        batch=plan.batch,
        batches=plan.batches,
        width=plan.width,
        repeats=plan.repeats,
    )
    return ModelReport(
        machine=describe_machine(),
        pairs=len(rows),
        batch=plan.batch,
        padding=padding_share(lengths, every),
        repeats=plan.repeats,
        checked=tuple(checked),
        kernels={name: model.kernels() for name, model in models.items()},
        rows=tuple(
            ModelRow(
                name=name,
                parameters=model.parameters,
                train=len(rows) / trained[name].median,
                train_spread=_relative_spread(trained[name]),
                megabytes=memory[name] / 1e6,
                infer=len(rows) / answering[name, "float32"].median,
                infer_spread=_relative_spread(answering[name, "float32"]),
                latency=statistics.median(latency[name, "float32"]) * 1e3,
                latency_95=float(np.quantile(latency[name, "float32"], 0.95)) * 1e3,
            )
            for name, model in models.items()
        ),
        precisions=tuple(
            PrecisionRow(
                name,
                precision,
                infer=len(rows) / answering[name, precision].median,
                infer_spread=_relative_spread(answering[name, precision]),
                latency=statistics.median(latency[name, precision]) * 1e3,
                **_cost(answerers[name, "float32"], predictor, selected[name]),
            )
            for (name, precision), predictor in answerers.items()
            if precision != "float32"
        ),
        sharing=sharing,
    )


def _cost(full: Predictor, less: Predictor, dataset: EncodedDataset) -> dict[str, float]:
    """Compare the answers of two precisions."""
    before, after = (model.probabilities(model.run(dataset)[0]) for model in (full, less))
    changed = before.argmax(axis=1) != after.argmax(axis=1)
    return {"difference": float(np.abs(before - after).max()), "changed": float(changed.mean())}


def _latencies(
    models: Mapping[Key, Predictor], requests: Sequence[Example], repeats: int
) -> dict[Key, list[float]]:
    """Ask every model every request alone, model by model in turns; give seconds from text to answer."""
    times: dict[Key, list[float]] = {key: [] for key in models}
    for repeat in range(-1, repeats):
        for key, model in models.items():
            for request in requests:
                start = time.perf_counter()
                model.answer(Corpus([request]))
                if repeat >= 0:  # the first round warms up
                    times[key].append(time.perf_counter() - start)
    return times


def _relative_spread(timing: Timing) -> float:
    return timing.spread / timing.median
