"""Times Heedful against its peers in one process, after proving that both compute the same."""

from heedful.bench.figure import draw
from heedful.bench.model_report import ModelReport, write_models
from heedful.bench.models import ModelPlan, run_models
from heedful.bench.report import BenchReport, joined, read, write
from heedful.bench.run import BenchPlan, run_bench
from heedful.bench.verify import BenchRefused, verify

__all__ = [
    "BenchPlan",
    "BenchRefused",
    "BenchReport",
    "ModelPlan",
    "ModelReport",
    "draw",
    "joined",
    "read",
    "run_bench",
    "run_models",
    "verify",
    "write",
    "write_models",
]
