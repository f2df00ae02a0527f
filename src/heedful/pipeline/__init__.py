"""Settings to a trained, evaluated and saved model."""

from heedful.pipeline.prepare import Prepared, prepare, prepare_corpora
from heedful.pipeline.run import RunResult, train

__all__ = ["Prepared", "RunResult", "prepare", "prepare_corpora", "train"]
