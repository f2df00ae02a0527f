"""Times Heedful against its peers in one process, after proving that both compute the same."""

from heedful.workshop.bench.bench_report import BenchReport, joined, read, write
from heedful.workshop.bench.bench_run import BenchPlan, run_bench
from heedful.workshop.bench.figure import draw
from heedful.workshop.bench.model_report import ModelReport, write_models
from heedful.workshop.bench.models import ModelPlan, run_models
from heedful.workshop.bench.runtime_speed import RuntimeReport, run_runtime
from heedful.workshop.bench.verify import BenchRefused, verify

__all__ = [
    "BenchPlan",
    "BenchRefused",
    "BenchReport",
    "ModelPlan",
    "ModelReport",
    "RuntimeReport",
    "draw",
    "joined",
    "read",
    "run_bench",
    "run_models",
    "run_runtime",
    "verify",
    "write",
    "write_models",
]
