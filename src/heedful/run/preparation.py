"""Turn settings into data that is ready for training, cached on disk so that a second start is immediate.

The training loop takes it in batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic

import numpy as np

from heedful.data.batching import BucketSampler
from heedful.data.check import CheckReport, Finding, check_corpora
from heedful.data.examples import Example
from heedful.errors import DataError, UsageError
from heedful.run.continued_network import divided, with_judges
from heedful.run.decided_by_data import decide, remembered
from heedful.run.learning_on import continued, learned_from, replaying
from heedful.run.recipe_files import override
from heedful.run.run_config import RunConfig
from heedful.run.set_aside import with_aside
from heedful.run.sources import data_root, find_source
from heedful.run.starting import started_settings, starts_from, with_start
from heedful.structures import Batch
from heedful.tasks import AnyPrepared, AnyTask, Corpora, DataFolders, Source, task_named, task_problems
from heedful.tasks.prepared import Dataset, LearnedFrom
from heedful.tasks.words.reading_settings import with_tokenizer

if TYPE_CHECKING:
    from heedful.run.distilling import PythonTeacher


def prepare(config: RunConfig, folder: Path | None, cache: Path | None = None) -> AnyPrepared:
    """Read, tokenize and encode what the settings name, or take it from the cache.

    Args:
        config: the settings.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        cache: the cache folder; None for the default.

    Returns:
        Everything training needs from the data side.

    Raises:
        UsageError: if the settings are wrong.
        DataError: if a file is missing or wrong.
    """
    root, before = data_root(config, folder), learned_from(config)
    source = find_source(config, root)
    if before is not None:
        source = replace(source, fingerprint={**source.fingerprint, before.name: before.checksum})
    return _prepared(config, source, DataFolders(root, cache), before=before)


def prepare_examples(
    config: RunConfig,
    source: Source,
    teacher: PythonTeacher | None = None,
    root: Path | None = None,
    strangers: Sequence[Example] | None = None,
    before: LearnedFrom | None = None,
) -> AnyPrepared:
    """Encode examples from Python, without the cache; see `prepare`.

    Args:
        config: the settings; paths of vectors are relative to ``root`` or the working folder.
        source: the examples.
        teacher: a teacher, or texts for it, that the settings do not name.
        root: the folder of data sets; None for none.
        strangers: texts of no class, which the settings do not name.
        before: the model that the run begins with; None for none.

    Returns:
        Everything training needs from the data side.
    """
    return _prepared(config, source, DataFolders(root, keep=False), teacher, strangers, before)


def _prepared(
    config: RunConfig,
    source: Source,
    place: DataFolders,
    teacher: PythonTeacher | None = None,
    strangers: Sequence[Example] | None = None,
    before: LearnedFrom | None = None,
) -> AnyPrepared:
    check_task(config, source)
    settled: dict[str, object] = {}
    if before is not None:
        source = replace(source, load=remembered(source.load))
        fraction, seed = config.data.dev_fraction, config.train.seed
        before = divided(before, fraction, seed)
        settled, source = continued(config, source, before)
        config = override(config, settled)
        if before.has_network:
            source = replace(source, load=with_judges(source.load, before, fraction, seed))
    task = task_named(source.task)
    source = with_aside(config, source, place.root, strangers)
    source = replace(source, load=remembered(replaying(source.load, before)))
    if config.distil.teacher:
        from heedful.run.distilling import with_taught_dev

        source = with_taught_dev(config, source, place, teacher)
    config = with_start(config, source)
    started = started_settings(config)
    config = override(config, started)
    decided = decide(config, source).after(started)
    if decided.settings:
        config = override(config, decided.settings)
        source = replace(source, task=config.model.task)
        task = task_named(source.task)
        check_task(config, source)
    if not config.distil.teacher:
        found: AnyPrepared = task.prepare(config, source, place)
    else:
        from heedful.run.distilling import Teaching

        teaching = Teaching.of(config, source, place, teacher)
        found = teaching.taught(task.prepare(config, teaching.source, place))
    protocol = found.protocol if "dev" in found.datasets else replace(found.protocol, selects="folds")
    start = starts_from(config)
    beginning = () if start is None else (f"The network starts from {start.name} (model.start).",)
    fingerprint = found.fingerprint | ({} if start is None else {start.name: start.checksum})
    return replace(
        found,
        notes=(*decided.notes, *beginning, *found.notes),
        protocol=protocol,
        decided={**settled, **decided.settings},
        fingerprint=fingerprint,
        before=before,
        start=start,
    )


def check_task(config: RunConfig, source: Source) -> None:
    """Refuse data of another task than the settings name, and settings that the task does not use.

    Args:
        config: the settings.
        source: where the data comes from.

    Raises:
        UsageError: naming every mistake.
    """
    if config.model.task != source.task:
        raise UsageError(
            f"model.task is {config.model.task!r}, but the data is for {source.task!r}; set model.task={source.task}"
        )
    if problems := task_problems(config):
        raise UsageError("; ".join(problems))


def check_parts(config: RunConfig, folder: Path | None) -> CheckReport:
    """Check the parts that a run would train on.

    Args:
        config: the settings.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.

    Returns:
        What was found.
    """
    source = find_source(config, data_root(config, folder))
    corpora = source.load()
    if (
        "dev" in corpora and corpora.get("test") is corpora["dev"]
    ):  # the papers' protocol selects on the test part
        del corpora["test"]
    text = with_tokenizer(config, corpora["train"])[0].text
    report = check_corpora(corpora, tokenize=text.cutter.words, limit=config.data.max_tokens)
    report.findings[:0] = [
        Finding("error", name, problem)
        for name, corpus in corpora.items()
        if (problem := _gold_problem(config, source, {name: corpus}))
    ]
    return report


def _gold_problem(config: RunConfig, source: Source, corpora: Corpora) -> str:
    """Return which gold of a part training would refuse; nothing if none."""
    try:
        task_named(source.task).check_gold(corpora, config.model)
    except DataError as error:
        return str(error)
    return ""


class TrainingBatches(Generic[Dataset]):
    """The batches of every epoch.

    Args:
        dataset: encoded training examples.
        config: the run; its ``[batches]`` table and its seed are read.
        task: the task of the examples.

    Raises:
        UsageError: if the settings group pairs and the task has none.
    """

    def __init__(self, dataset: Dataset, config: RunConfig, task: AnyTask) -> None:
        self.dataset, self._task = dataset, task
        self._shared = task.shared(dataset) if config.batches.group else None
        if config.batches.group and self._shared is None:
            raise UsageError(
                f"batches.group puts pairs that share a text together; model.task is {task.name!r}, which has no "
                "pairs: set batches.group=false"
            )
        self.sampler = BucketSampler(
            dataset.lengths(),
            batch_size=config.batches.size,
            max_tokens=config.batches.tokens or None,
            seed=config.train.seed,
            bucketing=config.batches.bucketing,
            groups=None if self._shared is None else self._shared.groups,
        )

    def batches(self, epoch: int) -> Sequence[Sequence[int]]:
        """Return the batches of an epoch, a pure function of seed and epoch."""
        return self.sampler.batches(epoch)  # type: ignore[return-value]

    def collate(self, rows: Sequence[int]) -> Batch:
        """Pad the rows of one batch."""
        chosen = np.asarray(rows)
        if self._shared is not None:
            return self._shared.collate(chosen)
        batch: Batch = self._task.collate(self.dataset, chosen)
        return batch
