"""A run whose network starts from another model (`model.start`): the settings that it takes over, and the model."""

from __future__ import annotations

from dataclasses import replace

from heedful.errors import ArtifactError, UsageError, shown
from heedful.model.decisions import kind_of
from heedful.models import NETWORKS, ModelConfig
from heedful.models.config import NO_NETWORK
from heedful.run.decided_by_data import WIDTHS_OF_RECIPES, english_package
from heedful.run.recipe_files import FEW_ROWS, LEAST_STEPS
from heedful.run.run_config import RunConfig
from heedful.runtime.encoder_states import EN_SENTENCES, has_sentence_encoder
from heedful.settings import read_table
from heedful.storage.fields import read_fields
from heedful.storage.manifest import CONFIG, MODEL_FILES, answers_checksum, verify_manifest
from heedful.storage.named_models import find_model, find_packaged
from heedful.tasks import load_model
from heedful.tasks.prepared import Source, StartsFrom
from heedful.tasks.saved_model import model_folder
from heedful.tasks.words.starting import can_start

AUTO = "auto"
LONGER = 25_000
"""Training rows up to which a student that begins so is trained for twice as many epochs."""
_TAKEN_OVER = ("encoder", "encoder_options", "pooling", "activation", "width")
"""Settings of a network that are those of the model from which it starts."""


def with_start(config: RunConfig, source: Source) -> RunConfig:
    """Decide what ``model.start = "auto"`` is.

    A student of English texts begins with `EN_SENTENCES` where that is installed: a teacher's answers say enough about
    each text to train all of it, which gold labels alone do not (docs/lab/distillation.md has the figures).

    Args:
        config: the settings of the run.
        source: where the texts come from.

    Returns:
        The settings with its name, and twice as many steps at least (`train.least_steps`) and, of at most `LONGER` rows
        alone, epochs; or with an empty one, for random weights.
    """
    if config.model.start != AUTO:
        return config
    if not _begins(config, source):
        return replace(config, model=replace(config.model, start=""))
    config = replace(config, model=replace(config.model, start=EN_SENTENCES))
    if not config.train.least_steps:  # the user says how long
        return config
    few = not config.distil.texts and len(source.load()["train"].examples) <= LONGER
    epochs = config.train.epochs * (2 if few else 1)
    return replace(
        config, train=replace(config.train, epochs=epochs, least_steps=2 * config.train.least_steps)
    )


def _begins(config: RunConfig, source: Source) -> bool:
    """Return whether a network is a student that `EN_SENTENCES` can begin, none of whose settings the user chose."""
    model, default, kind = config.model, ModelConfig(), kind_of(config.model.task)
    if not config.distil.teacher or kind.outputs != "classes" or kind.texts != 1 or kind.of_words:
        return False
    if config.data.learn_from or model.pretrained.name or config.text.vectors != AUTO:
        return False
    usual = all(getattr(model, each) == getattr(default, each) for each in _TAKEN_OVER if each != "width")
    if not usual or model.width not in WIDTHS_OF_RECIPES or not has_sentence_encoder():
        return False
    return bool(english_package(source.load()["train"]))


def started_settings(config: RunConfig) -> dict[str, object]:
    """Return the settings that a run takes over from the model that its network starts from.

    Args:
        config: the settings of the run.

    Returns:
        By their dotted names; none where no network starts from another model.

    Raises:
        UsageError: if a setting asks for another encoder, or `model.start` and another beginning are both named.
        ArtifactError: if the model cannot be read.
    """
    name = config.model.start
    if not name or config.model.encoder == NO_NETWORK:
        return {}
    for setting, other in (
        ("data.learn_from", config.data.learn_from),
        ("model.pretrained.name", config.model.pretrained.name),
    ):
        if other:
            raise UsageError(f"model.start and {setting}: a network has one beginning; name one of them")
    own = _network_of(name)
    if own.encoder == NO_NETWORK or own.pretrained.name or own.encoder in NETWORKS:
        raise _cannot_start(name)
    usual: dict[str, tuple[object, ...]] = {"width": WIDTHS_OF_RECIPES, "activation": ("relu", "elu")}
    found: dict[str, object] = {
        "model.start": name,
        FEW_ROWS: config.data.few_rows,
        LEAST_STEPS: config.train.least_steps,
        "train.epochs": config.train.epochs,
    }
    for each in _TAKEN_OVER:
        asked, has, default = getattr(config.model, each), getattr(own, each), getattr(ModelConfig(), each)
        if asked != has and asked not in usual.get(each, (default,)):
            raise UsageError(
                f"model.{each}={shown(asked)}: {name}, from which the network starts, has {shown(has)}; leave "
                f"model.{each} alone, or set model.start=''"
            )
        found[f"model.{each}"] = has
    if config.text.vectors == "auto" and own.width != max(WIDTHS_OF_RECIPES):
        found["text.vectors"] = ""  # those of the English package have another width
    return found


def starts_from(config: RunConfig) -> StartsFrom | None:
    """Read the model that the network of a run starts from; None where it has none.

    Args:
        config: the settings of the run, with everything that the data decided.

    Returns:
        The model.

    Raises:
        ArtifactError: if it cannot be read.
        UsageError: if a network cannot start from it; says why.
    """
    name = config.model.start
    if not name or config.model.encoder == NO_NETWORK:
        return None
    model = load_model(name)
    if not can_start(model):
        raise _cannot_start(name)
    return StartsFrom(name, model, answers_checksum(find_model(name)))


def _network_of(name: str) -> ModelConfig:
    """Return the settings of the network of a model, without its weights."""
    folder = model_folder(name)
    if not folder.is_dir():
        find_packaged(name)  # says that there is no such model, and which there are
    verify_manifest(folder, MODEL_FILES)
    problems: list[str] = []
    table = read_fields(folder / CONFIG).table("model")
    found = read_table(ModelConfig, table, "model.", problems)
    if found is None or problems:
        raise ArtifactError(
            f"{folder / CONFIG}: the settings of a network are missing or wrong; copy the folder again"
        )
    return found


def _cannot_start(name: str) -> UsageError:
    return UsageError(
        f"model.start: a network starts from an encoder of single texts over word vectors, and {name} has none; name "
        "another model, such as en-sentences"
    )
