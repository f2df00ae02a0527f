"""Turn settings into the splits of a data set: training examples, the split that selects, and the test split."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from heedful.data import catalog, scenes
from heedful.data.cross_folds import cross_folds
from heedful.data.examples import Corpus, Example
from heedful.data.folds import copies, folds, split_dev
from heedful.errors import DataError, UsageError, nearest
from heedful.run.protocol import GENERATED, few_rows, protocol_of
from heedful.run.run_config import DataConfig, RunConfig
from heedful.storage.fields import Fields
from heedful.tasks import AnyTask, Corpora, Source, task_named
from heedful.tasks.prepared import FOLD_SEED, Protocol
from heedful.tasks.tables import check_options


def data_root(config: RunConfig, folder: Path | None) -> Path | None:
    """Return the folder that file names are relative to; None where the settings need none.

    Args:
        config: the settings.
        folder: what the user named; None for ``HEEDFUL_DATA``.

    Returns:
        The folder, or None.

    Raises:
        UsageError: if a folder is needed and none is named.
    """
    known, vectors = config.data.set not in ("", GENERATED), config.text.vectors
    needs_folder = known or (config.data.set == GENERATED and vectors not in ("", "auto"))
    return catalog.data_folder(folder) if needs_folder or folder is not None else None


def find_source(config: RunConfig, root: Path | None) -> Source:
    """Return where the examples that the settings name come from.

    Args:
        config: the settings.
        root: the folder of data sets, from `data_root`.

    Returns:
        The source.

    Raises:
        UsageError: if the settings name nothing, or something unknown.
        DataError: if a file is missing.
    """
    data, seed = config.data, config.train.seed
    if data.set == GENERATED:
        generate = _generator(data.options)  # the corpus is the same for every training seed
        protocol = protocol_of(data, seed)
        generator = {"generator": _sample_sha256()}
        return Source(arranged(generate, protocol), "pair", protocol, scenes.LABELS, generator)
    if data.set:
        if root is None:
            raise UsageError("the folder of data sets is not named: use --data or HEEDFUL_DATA")
        return _known_set(data, seed, root, few_rows(config))
    if data.train:
        return _named_files(task_named(config.model.task), data, seed, root, few_rows(config))
    raise UsageError(
        "there is nothing to train on: name your file (heedful train FILE, or --set data.train=FILE), or a known set "
        "(--set data.set=NAME; 'heedful data list' shows them)"
    )


def _generator(options: Mapping[str, object]) -> Callable[[], Corpora]:
    """Give the generator its options; a part without pairs is refused, since nothing trains or is measured on it."""
    generate = check_options(options, scenes.generate, "the generated corpus")
    sizes = Fields(options, "", "data.options.", UsageError)
    for part in ("train", "dev", "test"):
        if (size := sizes.whole(part, 1)) < 1:
            raise sizes.wrong(part, f"must be 1 or more pairs; got {size}")
    return generate


def from_examples(
    train: Sequence[Example],
    dev: Sequence[Example] | None,
    task: str,
    fraction: float,
    seed: int,
    *,
    labels: Sequence[str] = (),
    few_rows: int = 0,
    learns_on: bool = False,
) -> Source:
    """Make a source of examples already at hand.

    Args:
        train: training examples.
        dev: examples that select; None cuts ``fraction`` from the training examples.
        task: what their gold is for, ``model.task``.
        fraction: share that becomes the dev part.
        seed: of the cut.
        labels: class names in the order of their numbers; empty for the alphabetical order of those in ``train``.
        few_rows: fewer training examples than this are not cut; see `heedful.run.protocol.few_rows`.
        learns_on: whether a model that knows labels learns on, so that a single one may be new.

    Returns:
        The source.
    """
    whole = counting(Corpus(list(train)))
    # one class alone teaches nothing, unless it is new to a model that knows others
    found = () if learns_on else task_named(task).collect_labels(whole)
    labels = tuple(labels) or found
    if dev is not None:
        parts = {"train": whole, "dev": Corpus(list(dev))}
        return Source(lambda: parts, task, Protocol("python", "dev", dev="dev", test=""), labels)
    cut = Protocol("python", "cut", test="", dev_fraction=fraction, cut_seed=seed)
    return Source(arranged(lambda: {"train": whole}, cut, few_rows), task, cut, labels)


@cache
def _sample_sha256() -> str:
    """Hash pairs that the generator makes: a generated corpus is what it makes of the settings of the run."""
    digest = hashlib.sha256()
    for part, corpus in scenes.generate(2_000, 200, 200).items():
        for example in corpus.examples:
            digest.update(repr((part, example.texts, example.target, example.group)).encode())
    return digest.hexdigest()


def _known_set(data: DataConfig, seed: int, root: Path, few: int) -> Source:
    known, names = catalog.data_set(data.set), catalog.splits(data.set)
    _check_splits(data, names)
    for part in known.parts.values():
        check_options(data.options, part.read, f"data set {data.set}", ("target", "known"))
    protocol = protocol_of(data, seed)

    def split(name: str, *, trains: bool = False) -> Corpus:
        left_out = () if trains else known.training_options
        options = {name: value for name, value in data.options.items() if name not in left_out}
        return catalog.load(data.set, name, root, **options)

    def read() -> Corpora:
        if "train" not in names:
            return one_fold(split("all"), data)
        parts = {"train": first(split(protocol.train, trains=True), protocol.train_limit)}
        dev = {"dev": split(protocol.dev)} if protocol.dev else {}
        return {**parts, **dev, "test": split(protocol.test)}

    fingerprint = catalog.fingerprint(data.set, root)
    return Source(arranged(read, protocol, few), known.task, protocol, known.labels, fingerprint)


def _check_splits(data: DataConfig, names: Sequence[str]) -> None:
    """Refuse names of splits that the data set does not have, and a split that both selects and tests."""
    named = {"train": data.train, "dev": data.dev, "test": data.test}
    for part, name in named.items():
        if name and "train" not in names:
            raise UsageError(
                f"data.{part}={name!r}: {data.set} has no official splits and is divided into folds; "
                f"leave data.{part} empty and "
                "choose data.folds and data.fold"
            )
        if name and name not in names:
            raise UsageError(
                f"data.{part}={name!r} is not a split of {data.set}; {nearest(name, tuple(names))}"
            )
    if data.protocol == "honest" and data.dev and data.dev == (data.test or "test"):
        raise UsageError(
            f"data.dev and data.test are both {data.dev!r}: the dev split cannot also be the test split; name another "
            "split, or "
            "leave data.dev empty and set data.protocol=paper"
        )


def _named_files(task: AnyTask, data: DataConfig, seed: int, root: Path | None, few: int) -> Source:
    files, protocol = task.files(_named(data), data, root), protocol_of(data, seed)

    def read() -> Corpora:
        parts = files.read()
        parts = {**parts, "train": counting(parts["train"])}
        return {**parts, **own_fold(parts["train"], data)} if data.hold_out_fold else parts

    return Source(arranged(read, protocol, few), task.name, protocol, fingerprint=files.fingerprint)


def _named(data: DataConfig) -> dict[str, str]:
    """Return the files that are read; under the papers' protocol the test part selects, and no dev file is read."""
    if data.protocol == "paper" and not data.test:
        raise UsageError(
            "with data.protocol='paper' the test split selects the best checkpoint: name its file as data.test, or set "
            "data.protocol=honest"
        )
    named = {"train": data.train, "dev": data.dev if data.protocol == "honest" else "", "test": data.test}
    return {part: name for part, name in named.items() if name}


def arranged(read: Callable[[], Corpora], protocol: Protocol, few_rows: int = 0) -> Callable[[], Corpora]:
    """Add the part that selects.

    Args:
        read: reads "train", "test" where there is one, and "dev" where the data has such a part.
        protocol: says which part selects; where that is the test part, there must be one.
        few_rows: if fewer training examples than this would be left, no part is held out; everything is then chosen
            by cross-validation.

    Returns:
        What reads all parts.
    """
    if protocol.selects == "test":
        return lambda: _selected_on_test(read())
    if protocol.selects == "dev":
        return read
    seed = protocol.cut_seed
    assert seed is not None  # the protocol of one run

    def cut() -> Corpora:
        parts = read()
        rows = sum(example.target is not None for example in parts["train"].examples)
        left = rows - round(rows * protocol.dev_fraction)
        return parts if left < few_rows else with_dev(parts, protocol.dev_fraction, seed)

    return cut


def one_fold(whole: Corpus, data: DataConfig) -> Corpora:
    """Cut the held-out fold off as the test part, where the papers' code cuts; a note counts copies of a text."""
    fold = folds(len(whole.examples), seed=FOLD_SEED, n=data.folds)[data.fold - 1]
    train, test = ([whole.examples[i] for i in rows] for rows in (fold.train, fold.test))
    known = set(copies(train))
    shared = sum(key in known for key in copies(test))
    note = f"{shared:,} of the {len(test):,} examples of the held-out fold have a copy in the others, as in the papers"
    return {
        "train": replace(whole, examples=train, notes=(*whole.notes, *([note] if shared else []))),
        "test": Corpus(test, source=whole.source),
    }


def own_fold(whole: Corpus, data: DataConfig) -> Corpora:
    """Cut the held-out fold off as the test part: copies of a text share a fold, and classes are spread evenly."""
    targets = [example.target if isinstance(example.target, str) else "" for example in whole.examples]
    number = {target: place for place, target in enumerate(dict.fromkeys(targets))}
    strata = np.array([number[target] for target in targets], np.int64)
    fold = cross_folds(strata, copies(whole.examples), data.folds, FOLD_SEED)
    held = [place == data.fold - 1 for place in fold.tolist()]
    if len(np.unique(fold)) < data.folds:  # said by the first fold, not by the first one that is empty
        raise DataError(
            f"{whole.source}: has too few different texts for {data.folds} folds; choose fewer: --folds 2"
        )
    test = [example for example, out in zip(whole.examples, held, strict=True) if out]
    train = [example for example, out in zip(whole.examples, held, strict=True) if not out]
    return {"train": replace(whole, examples=train), "test": Corpus(test, source=whole.source)}


def counting(corpus: Corpus) -> Corpus:
    """Leave out training examples of weight 0, so that no vocabulary or fold knows them; all stay where none counts."""
    kept = [example for example in corpus.examples if example.weight]
    left_out = len(corpus.examples) - len(kept)
    if not (kept and left_out):
        return corpus
    return replace(corpus, examples=kept, skipped=corpus.skipped + Counter({"weight 0": left_out}))


def first(corpus: Corpus, limit: int) -> Corpus:
    """Keep the first examples of a corpus; all of them if the limit is 0."""
    return replace(corpus, examples=corpus.examples[:limit]) if limit else corpus


def with_dev(parts: Corpora, fraction: float, seed: int) -> Corpora:
    """Cut a dev part off the training part.

    Args:
        parts: "train", and "test" where there is one.
        fraction: share of the training examples.
        seed: of the cut.

    Returns:
        The parts with "dev".

    Raises:
        DataError: if there are too few examples.
    """
    train, notes = parts["train"], tuple[str, ...]()
    try:
        try:
            rest, dev = split_dev(train.examples, fraction, seed)
        except UsageError:  # a few texts, each of them many times
            rest, dev = split_dev(train.examples, fraction, seed, together=False)
            different = len(set(copies(train.examples)))
            notes = (
                f"the {len(train.examples):,} training rows are copies of {different:,} texts, too few to keep the "
                "copies of a text on one side: the dev split has texts of training too, so its figures are too high",
            )
    except UsageError as error:
        where, count = train.source or "training data", len(train.examples)
        found = "1 sample is" if count == 1 else f"{count} usable rows are"
        raise DataError(
            f"{where}: {found} too few to hold out a dev split of {fraction:.0%} (a row "
            "of each class is kept for training). Add rows, hold out more (--set "
            "data.dev_fraction=0.3), or name a dev file (--set data.dev=FILE)"
        ) from error
    train = replace(train, notes=(*train.notes, *notes))
    cut = {"train": replace(train, examples=rest), "dev": Corpus(dev, source=train.source)}
    return {**cut, **{name: part for name, part in parts.items() if name != "train"}}


def _selected_on_test(parts: Corpora) -> Corpora:
    """Let the test part select: "dev" and "test" are the same object."""
    return {"train": parts["train"], "dev": parts["test"], "test": parts["test"]}
