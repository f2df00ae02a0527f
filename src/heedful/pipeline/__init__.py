"""Settings to a trained, evaluated and saved model."""

from heedful.pipeline.prepare import Prepared, prepare, prepare_examples
from heedful.pipeline.run import RunResult, report, train
from heedful.pipeline.sources import Source, from_examples

__all__ = [
    "Prepared",
    "RunResult",
    "Source",
    "from_examples",
    "prepare",
    "prepare_examples",
    "report",
    "train",
]
