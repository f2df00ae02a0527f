"""Turn settings into a trained, evaluated and saved model."""

from heedful.run.evaluate import evaluate_corpus
from heedful.run.prepare import prepare, prepare_examples
from heedful.run.run import RunResult, check_place, check_run_folder, report, train
from heedful.run.run_config import RunConfig
from heedful.run.sources import from_examples
from heedful.tasks import Prepared, Source

__all__ = [
    "Prepared",
    "RunConfig",
    "RunResult",
    "Source",
    "check_place",
    "check_run_folder",
    "evaluate_corpus",
    "from_examples",
    "prepare",
    "prepare_examples",
    "report",
    "train",
]
