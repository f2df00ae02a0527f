"""Find settings that have no effect beside the others, and say what would read them.

A setting that only other tasks read is refused (`heedful.tasks.task_problems`), and so are settings that contradict
each other. What is left are settings that are good by themselves and that nothing reads as the others stand, such as
``train.decay_rate`` under a constant learning rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.attention.masks import parse_mask
from heedful.data import catalog
from heedful.encoders.priors import parse_prior
from heedful.errors import UsageError
from heedful.model.decisions import kind_of
from heedful.models import NETWORKS, encoder_config
from heedful.models.config import NO_NETWORK, PretrainedConfig
from heedful.run.protocol import GENERATED, protocol_of
from heedful.run.recipe_files import NETWORK_TABLES, WITHOUT_NETWORK, load_config, override
from heedful.run.recipe_tables import is_of_a_run, settings_file
from heedful.run.run_config import DistilConfig, RunConfig
from heedful.settings import changed_fields

if TYPE_CHECKING:
    from heedful.run.tuning.space import Space

_OF_NO_PIECES = ("min_count", "random", "vector_norm", "unit_norm", "extra_words", "oov")
"""Settings of a vocabulary of words."""
_READ_BY_PARTS = ("model.encoder", "model.matching", *WITHOUT_NETWORK)
"""Settings that are read also where there is no network; the options of an encoder are not."""


@dataclass(frozen=True)
class Idle:
    """When settings have no effect.

    Attributes:
        names: their dotted names.
        idle: whether nothing reads them beside the others of a run.
        why: what takes their place or would read them, as a clause.
    """

    names: tuple[str, ...]
    idle: Callable[[RunConfig], bool]
    why: str


def _below(table: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{table}.{name}" for name in names)


def _is_known_set(config: RunConfig) -> bool:
    return config.data.set not in ("", GENERATED)


def _has_splits(config: RunConfig) -> bool:
    return not _is_known_set(config) or "train" in catalog.splits(config.data.set)


def _has_pieces(config: RunConfig) -> bool:
    return bool(config.model.pretrained.name)


def _reads_trees(config: RunConfig) -> bool:
    """Whether the network or the copies for a student look at a dependency tree; of encoders of others, perhaps."""
    if config.model.encoder == NO_NETWORK:
        return config.distil.augment > 0
    settings = encoder_config(config.model)
    if config.distil.augment > 0 or not type(settings).__module__.startswith("heedful."):
        return True
    masks = (parse_mask(text) for name in ("masks", "directions") for text in getattr(settings, name, ()))
    heads = getattr(settings, "heads", ())
    priors = [parse_prior(text) for text in heads] if isinstance(heads, tuple) else []
    own = (prior.mask for prior in priors if prior.mask is not None)
    return any(prior.distance == "dependency" for prior in priors) or any(
        m.reads_trees for m in (*masks, *own)
    )


_NO_TEACHER = "there is no teacher: set distil.teacher"
RULES = (
    Idle(
        ("data.train_limit",),
        lambda c: not _is_known_set(c) or not _has_splits(c),
        "it takes the first examples of a known data set with official splits",
    ),
    Idle(
        _below("data", ("text", "premise", "hypothesis", "label", "score")),
        lambda c: bool(c.data.set),
        "data.set names a known data set, which is read in its own way",
    ),
    Idle(
        ("data.dev_fraction",),
        lambda c: protocol_of(c.data, 0).selects != "cut",
        "no dev split is held out, because the data has one or the test split selects",
    ),
    Idle(
        ("data.dev",),
        lambda c: c.data.protocol == "paper",
        'with data.protocol = "paper" the test split selects',
    ),
    Idle(
        ("data.folds", "data.fold"),
        lambda c: _has_splits(c) and not c.data.hold_out_fold,
        "only known data sets without official splits, and files with data.hold_out_fold, are cut into folds",
    ),
    Idle(
        ("data.few_rows",),
        lambda c: (
            bool(c.data.few_rows) and c.model.wide == c.model.sentence == "none" and not c.data.features
        ),  # with 0 a network is trained, as it is here
        "few rows are learned by linear parts, and there are none: set model.wide or model.sentence",
    ),
    Idle(
        ("data.keep_share", "data.choose_again"),
        lambda c: c.data.keep_examples == "none",
        "no examples are kept: set data.keep_examples",
    ),
    Idle(
        ("text.vector_norm", "text.extra_words"),
        lambda c: not c.text.vectors,
        "no word vectors are read: set text.vectors",
    ),
    Idle(
        (
            *_below("text", _OF_NO_PIECES),
            "text.subwords",
            "text.subword_case",
            "model.width",
            "model.train_embedding",
        ),
        _has_pieces,
        "a pretrained encoder reads words in pieces of its own (model.pretrained.name)",
    ),
    Idle(
        ("text.parser",),
        lambda c: not _reads_trees(c),
        "nothing looks at dependency trees: name a mask or a head that does",
    ),
    Idle(
        ("model.sentence",),
        lambda c: kind_of(c.model.task).of_words and c.model.wide == "none",
        "the linear part of tags reads the vectors, and there is none: set model.wide = linear",
    ),
    Idle(
        ("model.row_dropout",),
        lambda c: not c.text.subwords,
        "it is for words with n-grams: set text.subwords",
    ),
    Idle(
        _below("model", ("pooling", "matching", "highway", "final_bias")),
        lambda c: c.model.encoder in NETWORKS,
        "this network reads two texts together and has no such part (model.encoder)",
    ),
    Idle(
        _below("model.pretrained", [each.name for each in fields(PretrainedConfig) if each.name != "name"]),
        lambda c: not _has_pieces(c),
        "no pretrained encoder is used: set model.pretrained.name",
    ),
    Idle(
        ("train.optimizer.rho",),
        lambda c: c.train.optimizer.name != "adadelta",
        "only train.optimizer.name = adadelta reads it",
    ),
    Idle(
        ("train.optimizer.beta2",),
        lambda c: c.train.optimizer.name != "adam",
        "only train.optimizer.name = adam reads it",
    ),
    Idle(("train.least_steps",), lambda c: not c.train.epochs, "it lengthens train.epochs, which is 0"),
    Idle(
        ("train.milestones",),
        lambda c: c.train.schedule != "stepwise",
        "only train.schedule = stepwise reads it",
    ),
    Idle(
        ("train.decay_rate",),
        lambda c: c.train.schedule not in ("stepwise", "exponential"),
        "only train.schedule = stepwise and exponential read it",
    ),
    Idle(
        ("train.decay_steps",),
        lambda c: c.train.schedule != "exponential",
        "only train.schedule = exponential reads it",
    ),
    Idle(
        _below("train", ("evaluate_every", "evaluate_from", "patience", "metric", "direction")),
        lambda c: c.train.contrast,
        "with train.contrast no checkpoint is selected",
    ),
    Idle(
        _below(
            "distil", [each.name for each in fields(DistilConfig) if each.name not in ("teacher", "augment")]
        ),
        lambda c: not c.distil.teacher,
        _NO_TEACHER,
    ),
    # -1 leaves the number to a run with a teacher
    Idle(("distil.augment",), lambda c: not c.distil.teacher and c.distil.augment >= 0, _NO_TEACHER),
    Idle(
        _below("distil", ("mask", "swap", "ngram", "phrases", "kind", "seed")),
        lambda c: c.distil.augment <= 0,
        "no copies are made of the texts: set distil.augment",
    ),
    Idle(("distil.temperature",), lambda c: c.distil.weight == 1, "distil.weight = 1 learns the gold alone"),
    Idle(
        ("distil.dev_fraction",),
        lambda c: not c.distil.texts,
        "there are no texts without labels: set distil.texts",
    ),
)


def idle_settings(config: RunConfig, names: Iterable[str]) -> list[str]:
    """Name the settings that somebody has set and that have no effect.

    Args:
        config: all settings of a run.
        names: dotted names of those that were set.

    Returns:
        One sentence a setting.
    """
    found = []
    for name in dict.fromkeys(names):
        if why := _why_idle(config, name):
            found.append(f"{name} has no effect here: {why}")
    return found


def _why_idle(config: RunConfig, name: str) -> str:
    of_network = name.startswith((*NETWORK_TABLES, *_below("text", _OF_NO_PIECES)))
    if config.model.encoder == NO_NETWORK and of_network:
        read = name.startswith(_READ_BY_PARTS) and not name.startswith("model.encoder_options")
        if not read:
            return f'model.encoder = "{NO_NETWORK}" has no network, which alone reads it'
    for rule in RULES:
        if any(name == each or name.startswith(f"{each}.") for each in rule.names) and rule.idle(config):
            return rule.why
    return ""


def idle_in_space(config: RunConfig, space: Space) -> list[str]:
    """Name the settings of a search that have no effect whatever it chooses.

    Args:
        config: the settings that are varied.
        space: what is varied, by dotted names.

    Returns:
        One sentence a setting.
    """
    tried = [
        config,
        *(override(config, {name: end}) for name, domain in space.items() for end in domain.ends()),
    ]
    everywhere = [set(idle_settings(each, space)) for each in tried]
    return [line for line in idle_settings(config, space) if all(line in found for found in everywhere)]


def idle_in_file(recipe: str | Path) -> list[str]:
    """Return the settings of a user's own file that have no effect beside each other.

    Args:
        recipe: a packaged recipe, which says nothing about what a user wants, or a file.

    Returns:
        Their dotted names. What stands there at its default, and a file that needs further settings, has none.
    """
    if settings_file(recipe) is None or is_of_a_run(Path(recipe)):
        return []
    try:
        config = load_config(recipe)
        changed = [each.partition("=")[0] for each in changed_fields(config, RunConfig())]
        return [name for name in changed if idle_settings(config, [name])]
    except UsageError:
        return []


def load_noted(
    recipe: str | Path, overrides: Iterable[str], print_line: Callable[[str], object]
) -> RunConfig:
    """Read settings, and report which of them a user has set in vain.

    Args:
        recipe: see `heedful.run.recipe_files.load_config`.
        overrides: likewise.
        print_line: gets a line for each setting that has no effect.

    Returns:
        The settings.

    Raises:
        UsageError: as `load_config` does.
    """
    overrides = tuple(overrides)
    config = load_config(recipe, overrides)
    names = [text.partition("=")[0].strip() for text in overrides]
    for line in idle_settings(config, [*idle_in_file(recipe), *names]):
        print_line(line)
    return config
