"""Settings to a trained, evaluated and saved model."""

from heedful.pipeline.evaluate import evaluate_corpus
from heedful.pipeline.prepare import prepare, prepare_examples
from heedful.pipeline.prepared import Prepared
from heedful.pipeline.run import RunResult, check_run_folder, report, train
from heedful.pipeline.sources import Source, from_examples

__all__ = [
    "Prepared",
    "RunResult",
    "Source",
    "check_run_folder",
    "evaluate_corpus",
    "from_examples",
    "prepare",
    "prepare_examples",
    "report",
    "train",
]
