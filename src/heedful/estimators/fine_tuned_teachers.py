"""Transformers that teach an estimator: they are fine-tuned on its examples first."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from heedful.run import RunConfig
from heedful.run.distilling import PythonTeacher
from heedful.tasks.prepared import Source
from heedful.training.progress import Reporter


@contextmanager
def fine_tuned_teachers(
    config: RunConfig,
    source_of: Callable[[RunConfig], Source],
    teacher: PythonTeacher | None,
    folder: Path | None,
    reporter: Reporter,
    progress: bool,
) -> Iterator[tuple[RunConfig, PythonTeacher | None]]:
    """Fine-tune the transformers among the teachers; without one everything stays as it is.

    Args:
        config: the settings of the student, which name its teachers.
        source_of: returns the examples for settings.
        teacher: what the settings do not name; None for nothing.
        folder: run folder of the student, in which a fine-tuned teacher is kept; None for a temporary one.
        reporter: shows progress.
        progress: whether to say on standard error what happens next.

    Yields:
        The settings, with as many changed copies as suit, and where each teacher is.
    """
    names = config.distil.teacher
    if not names:
        yield config, teacher
        return
    from heedful.run.distilling.distillation import Places
    from heedful.run.distilling.fine_tuning import fine_tuned, is_transformer

    own = teacher or PythonTeacher()
    if own.function is not None or not any(map(is_transformer, names)):
        yield config, teacher
        return
    with tempfile.TemporaryDirectory(prefix="heedful-teacher-") as temporary:
        tuned = fine_tuned(
            config,
            Places(Path(temporary) if folder is None else folder),
            reporter=reporter,
            print_line=_printed if progress else lambda _: None,
            source_of=source_of,
            further=own.texts is not None,
        ).config.distil
        folders = dict(zip(names, tuned.teacher, strict=True))
        yield (
            replace(config, distil=replace(tuned, teacher=names)),
            replace(own, folders=folders),
        )


def _printed(line: str) -> None:
    sys.stderr.write(line + "\n")
