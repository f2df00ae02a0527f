"""Turn settings into a trained, evaluated and saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.lazy_imports import imported_on_use

if TYPE_CHECKING:
    from heedful.run.evaluate import evaluate_corpus
    from heedful.run.preparation import prepare, prepare_examples
    from heedful.run.record import RunResult
    from heedful.run.run import check_place, check_run_folder, report, train
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

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__ = imported_on_use(
        __name__,
        {
            "heedful.run.evaluate": ("evaluate_corpus",),
            "heedful.run.preparation": ("prepare", "prepare_examples"),
            "heedful.run.record": ("RunResult",),
            "heedful.run.run": ("check_place", "check_run_folder", "report", "train"),
            "heedful.run.run_config": ("RunConfig",),
            "heedful.run.sources": ("from_examples",),
            "heedful.tasks": ("Prepared", "Source"),
        },
    )
