"""A dev split of texts without labels, as a teacher answers them, where too few rows have gold to hold any out."""

from __future__ import annotations

import random
import sys
from dataclasses import replace

from heedful.data.examples import Corpus
from heedful.model.decisions import kind_of
from heedful.run.distilling.transfer import PythonTeacher, Teaching
from heedful.run.protocol import few_rows
from heedful.run.run_config import RunConfig
from heedful.tasks import Place, Source

LEAST = 1_000
"""Texts without labels of which some judge; with fewer, linear parts are chosen by cross-validation on the gold."""


def with_taught_dev(
    config: RunConfig, source: Source, place: Place, python: PythonTeacher | None = None
) -> Source:
    """Let a share of the texts without labels, ``distil.dev_fraction``, judge where no row with gold is held out.

    The label of such a text is the class that the teacher finds likeliest, so figures on it are agreement with the
    teacher. All rows with gold train, and a network is trained, which learns from the teacher's answers.

    Args:
        config: the settings of the run; they name a teacher.
        source: where the examples come from.
        place: where files are found and kept.
        python: what comes from Python; None for nothing.

    Returns:
        The source with a dev split; as it is where it has one, for other answers than classes, or where there are fewer
        than `LEAST` texts without labels.

    Raises:
        UsageError: if settings contradict each other, or the teacher is none for the data.
        DataError: naming file and row, if a file is missing or wrong.
        ArtifactError: if a model is missing or altered.
    """
    share, kind = config.distil.dev_fraction, kind_of(source.task)
    given = bool(config.distil.texts) or (python is not None and python.texts is not None)
    able = kind.outputs == "classes" and not kind.of_words and config.model.encoder != "none"
    if not (share and given and able and 0 < few_rows(config) < sys.maxsize) or "dev" in source.load():
        return source
    teaching = Teaching.of(config, source, place, python)
    further = [] if teaching.source.unlabeled is None else teaching.source.unlabeled.examples
    if len(further) < LEAST or not teaching.teacher.everything:
        return source
    order = random.Random(f"{config.distil.seed}/dev").sample(
        range(len(further)), round(share * len(further))
    )
    chosen = [further[row] for row in sorted(order)]
    answers = teaching.teacher.teach(Corpus(chosen)).probabilities.argmax(axis=1)
    labels = teaching.teacher.labels
    judging = Corpus([replace(each, target=labels[k]) for each, k in zip(chosen, answers, strict=True)])
    parts = {**source.load(), "dev": judging}
    return replace(
        source,
        load=lambda: parts,
        protocol=replace(source.protocol, selects="taught", dev_fraction=share),
        fingerprint={
            **teaching.source.fingerprint,
            "dev of texts without labels": f"{share}, {config.distil.seed}",
        },
    )
