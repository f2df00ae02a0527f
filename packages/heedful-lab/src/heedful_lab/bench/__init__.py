"""Times Heedful against its peers in one process, after proving that both compute the same."""

from heedful_lab.bench.bench_report import BenchReport, joined, read, write
from heedful_lab.bench.bench_run import BenchPlan, run_bench
from heedful_lab.bench.figure import draw
from heedful_lab.bench.model_report import ModelReport, write_models
from heedful_lab.bench.models import ModelPlan, run_models
from heedful_lab.bench.runtime_speed import RuntimeReport, run_runtime
from heedful_lab.bench.verify import BenchRefused, verify

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
