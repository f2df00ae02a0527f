"""Settings to the parts of a data set: training examples, the part that selects, the part read once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from heedful.config import DataConfig, RunConfig
from heedful.data import catalogue, scenes
from heedful.data.examples import Corpus, Example
from heedful.data.folds import folds, split_dev
from heedful.data.readers.opening import find_file
from heedful.data.readers.parallel import parallel_files, read_parallel
from heedful.data.readers.roles import is_role_file, read_roles
from heedful.data.readers.table import read_table
from heedful.data.targets import collect_labels
from heedful.errors import DataError, UsageError
from heedful.files import sha256

GENERATED = "scenes"
FOLD_SEED = 0
"""Folds are the same for every training seed, so that seeds and folds vary apart."""

Corpora = dict[str, Corpus]


@dataclass(frozen=True)
class Source:
    """Where the examples of a run come from; nothing is read until `load` is called.

    Attributes:
        load: reads "train", "dev" and, where there is one, "test". Where the test part itself selects, the two are the
            same object.
        kind: "text", "pair", "score" or "roles".
        protocol: one sentence that says how the parts come about.
        labels: class names in their fixed order; empty where they are collected from the training examples.
        fingerprint: file to SHA-256 of its content.
    """

    load: Callable[[], Corpora]
    kind: str
    protocol: str
    labels: tuple[str, ...] = ()
    fingerprint: dict[str, str] = field(default_factory=dict)


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
    needs_folder = config.data.set not in ("", GENERATED) or bool(
        config.text.vectors and not config.data.train
    )
    return catalogue.data_folder(folder) if needs_folder or folder is not None else None


def find_source(config: RunConfig, root: Path | None) -> Source:
    """Say where the examples that the settings name come from.

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
        return Source(
            partial(scenes.generate, **data.options),  # the corpus is the same for every training seed
            "pair",
            "generated corpus; its dev part selects, its test part is read once",
            scenes.LABELS,
            {"generator": _source_sha256(scenes.__name__)},
        )
    if data.set:
        if root is None:
            raise UsageError("the folder of data sets is not named: use --data or HEEDFUL_DATA")
        return _known_set(data, seed, root)
    if data.train:
        return (_parallel_files if data.languages else _named_files)(data, seed, root)
    raise UsageError("data.set or data.train must say what to train on; see 'heedful data list'")


def from_examples(
    train: Sequence[Example], dev: Sequence[Example] | None, kind: str, fraction: float, seed: int
) -> Source:
    """Make a source of examples already at hand.

    Args:
        train: training examples.
        dev: examples that select; None cuts ``fraction`` from the training examples.
        kind: "text", "pair" or "score".
        fraction: share that becomes the dev part.
        seed: of the cut.

    Returns:
        The source.
    """
    labels = () if kind == "score" else collect_labels(train)
    if dev is not None:
        parts = {"train": Corpus(list(train)), "dev": Corpus(list(dev))}
        return Source(lambda: parts, kind, "examples from Python; dev selects", labels)
    how = f"examples from Python; a dev part of {fraction:.0%} cut from training (seed {seed}) selects"
    return Source(lambda: _with_dev(Corpus(list(train)), None, fraction, seed), kind, how, labels)


def _source_sha256(package: str) -> str:
    """Hash the program text of a package: a generated corpus is what its generator makes of the settings."""
    files = sorted(Path(str(resources.files(package))).glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _first(corpus: Corpus, limit: int) -> Corpus:
    """Keep the first examples of a corpus; all of them if the limit is 0."""
    return replace(corpus, examples=corpus.examples[:limit]) if limit else corpus


def _known_set(data: DataConfig, seed: int, root: Path) -> Source:
    known, names = catalogue.data_set(data.set), catalogue.splits(data.set)
    fingerprint = catalogue.fingerprint(data.set, root)

    def read(split: str, *, trains: bool = False) -> Corpus:
        left_out = () if trains else known.training_options
        options = {name: value for name, value in data.options.items() if name not in left_out}
        return catalogue.load(data.set, split, root, **options)

    if "train" not in names:
        official: Callable[[], tuple[Corpus, Corpus]] = lambda: _one_fold(read("all"), data)  # noqa: E731
        how = f"fold {data.fold} of {data.folds} (shuffle seed {FOLD_SEED}) held out as test"
    else:
        train_split, test_split = data.train or "train", data.test or "test"
        official = lambda: (_first(read(train_split, trains=True), data.train_limit), read(test_split))  # noqa: E731
        how = "official split"
        if (train_split, test_split) != ("train", "test"):
            how = f"part {train_split!r} trains, part {test_split!r} tests"
        if data.train_limit:
            how += f"; the first {data.train_limit:,} training examples"
    if data.protocol == "paper":
        how += "; the papers' own protocol: the best of all evaluations on the test part itself"
        return Source(lambda: _selected_on_test(*official()), known.kind, how, known.labels, fingerprint)
    if "dev" in names and test_split != "dev":
        how += "; the official dev part selects, test is read once"

        def load() -> Corpora:
            train, test = official()
            return {"train": train, "dev": read("dev"), "test": test}

        return Source(load, known.kind, how, known.labels, fingerprint)
    how += (
        f"; a dev part of {data.dev_fraction:.0%} cut from training (seed {seed}) selects, test is read once"
    )
    return Source(
        lambda: _with_dev(*official(), data.dev_fraction, seed), known.kind, how, known.labels, fingerprint
    )


def _named_files(data: DataConfig, seed: int, root: Path | None) -> Source:
    kind = _kind_of(data)
    named = {"train": data.train, "dev": data.dev, "test": data.test}
    paths = {part: find_named(name, root) for part, name in named.items() if name}
    fingerprint = {path.name: sha256(path) for path in paths.values()}

    def load() -> Corpora:
        parts = _read_roles(paths, data) if kind == "roles" else _read_tables(paths, data)
        if "dev" in parts:
            return parts
        if data.protocol == "paper" and "test" in parts:
            return _selected_on_test(parts["train"], parts["test"])
        return _with_dev(parts["train"], parts.get("test"), data.dev_fraction, seed)

    if "dev" in paths:
        how = "named files; dev selects"
    elif data.protocol == "paper":
        how = "named files; the best of all evaluations on the test part itself"
    else:
        how = f"named files; a dev part of {data.dev_fraction:.0%} cut from training (seed {seed}) selects"
    return Source(load, kind, how, fingerprint=fingerprint)


def _kind_of(data: DataConfig) -> str:
    if is_role_file(data.train):
        return "roles"
    return "score" if data.score else "pair" if data.premise else "text"


def _read_roles(paths: Mapping[str, Path], data: DataConfig) -> Corpora:
    return {part: read_roles(path, **data.options) for part, path in paths.items()}


def _read_tables(paths: Mapping[str, Path], data: DataConfig) -> Corpora:
    roles = ("text", "premise", "hypothesis", "label", "score")
    columns: dict[str, Any] = {role: getattr(data, role) or None for role in roles}
    parts = {"train": read_table(paths["train"], **columns, **data.options)}
    # The other files are read knowing the classes, so that a misspelt one is named with its row and field.
    labels = () if data.score else collect_labels(parts["train"].examples, parts["train"].source)
    others = [part for part in paths if part != "train"]
    return parts | {
        part: read_table(paths[part], **columns, **data.options, labels=labels) for part in others
    }


def _parallel_files(data: DataConfig, seed: int, root: Path | None) -> Source:
    source, target = data.languages
    named = {"train": data.train, "dev": data.dev, "test": data.test}
    files = {part: parallel_files(stem, (source, target)) for part, stem in named.items() if stem}
    paths = {part: find_named(names[0], root) for part, names in files.items()}
    beside = [find_named(str(path.parent / files[part][1]), None) for part, path in paths.items()]

    def load() -> Corpora:
        parts = {
            part: read_parallel(path, target=files[part][1], **data.options) for part, path in paths.items()
        }
        return (
            parts if "dev" in parts else _with_dev(parts["train"], parts.get("test"), data.dev_fraction, seed)
        )

    cut = f"a dev part of {data.dev_fraction:.0%} cut from training (seed {seed})"
    how = f"named files; {'dev' if 'dev' in paths else cut} selects"
    fingerprint = {path.name: sha256(path) for path in (*paths.values(), *beside)}
    return Source(load, "translation", how, fingerprint=fingerprint)


def find_named(name: str, root: Path | None) -> Path:
    """Find a file that the settings name: in the folder of data sets, else in the working folder.

    Args:
        name: its name, absolute or relative; the suffix of a compression may be left out.
        root: the folder of data sets, or None.

    Returns:
        A file that exists.

    Raises:
        DataError: if there is none.
    """
    if root is not None:
        try:
            return find_file(root / name)
        except DataError:
            if not Path(name).exists():
                raise
    return find_file(name)


def _one_fold(whole: Corpus, data: DataConfig) -> tuple[Corpus, Corpus]:
    fold = folds(len(whole.examples), seed=FOLD_SEED, n=data.folds)[data.fold - 1]
    train, test = ([whole.examples[i] for i in rows] for rows in (fold.train, fold.test))
    return Corpus(train, whole.skipped, whole.source), Corpus(test, source=whole.source)


def _selected_on_test(train: Corpus, test: Corpus) -> Corpora:
    return {"train": train, "dev": test, "test": test}


def _with_dev(train: Corpus, test: Corpus | None, fraction: float, seed: int) -> Corpora:
    try:
        rest, dev = split_dev(train.examples, fraction, seed)
    except UsageError as error:
        where = train.source or "training data"
        raise DataError(
            f"{where}: {len(train.examples)} usable rows are too few to cut a dev part of {fraction:.0%} from; "
            "bring more, raise data.dev_fraction, or give a dev part of its own"
        ) from error
    parts = {"train": Corpus(rest, train.skipped, train.source), "dev": Corpus(dev, source=train.source)}
    return parts if test is None else {**parts, "test": test}
