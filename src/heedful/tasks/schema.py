"""What the files of a model folder may say, checked as a whole before anything is believed or allocated.

The records hold how a model reads texts and what is known of it; its answers are those of `heedful.model.answers`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import Truncate
from heedful.data.examples import Corpus
from heedful.data.parses import find_parser
from heedful.errors import ArtifactError, DataError, MissingExtraError, UsageError
from heedful.model.decisions.reject import Reject
from heedful.model.training_examples import KeptExamples
from heedful.model.training_sums import KeptSums
from heedful.models import ModelConfig, encoder_problems
from heedful.runtime.column_part import ColumnPart
from heedful.runtime.model_parts import ModelParts
from heedful.runtime.sentence_part import SentencePart
from heedful.runtime.tag_part import TagPart
from heedful.runtime.training_texts import Familiar
from heedful.settings import read_table
from heedful.storage.fields import Fields
from heedful.storage.manifest import CONFIG, LABELS, VOCABULARY, WEIGHTS
from heedful.storage.model_folder import ModelFolder
from heedful.text.markup import Markup
from heedful.text.tokenize import Tokenizer, tokenizer
from heedful.text.wide_part import PhraseRule, WidePart

Text = str | tuple[str, str]
"""One request: a text, or (premise, hypothesis)."""

Requests = Sequence[Text] | Corpus
"""Requests from Python, or examples that a reader made of a file; the latter keep their rows in messages."""


@dataclass(frozen=True)
class TextSettings:
    """How a predictor reads text.

    Attributes:
        tokenizer: name of the tokenizer.
        max_tokens: longest sentence, in tokens.
        truncate: what happens to a longer one: "error", or "head" to keep its beginning (counted and flagged). Training
            alone may also "drop" the example. "window" reads it whole, in windows of `max_tokens`.
        eval_size: examples a batch.
        parser: where dependency trees come from; see `heedful.data.parses.find_parser`. Empty for none.
        markup: what becomes of HTML tags and links; see `heedful.text.markup`.
        phrases: which features a wide part reads; by default none.
        keeps_words: whether the words of encoded texts are kept, for a sentence part.
        normalize: whether text is normalized before it is cut into words; see `heedful.text.normalization`.
    """

    tokenizer: str = "treebank"
    max_tokens: int = 400
    truncate: Truncate = "error"
    eval_size: int = 128
    parser: str = ""
    markup: Markup = "keep"
    phrases: PhraseRule = field(default_factory=PhraseRule)
    keeps_words: bool = False
    normalize: bool = False

    @property
    def cutter(self) -> Tokenizer:
        """What cuts texts into words."""
        return tokenizer(self.tokenizer, self.markup, normalize=self.normalize)

    def __post_init__(self) -> None:
        for name, most in (("max_tokens", 2**31 - 1), ("eval_size", 2**20)):
            if not 1 <= getattr(self, name) <= most:
                raise UsageError(f"{name} must be from 1 to {most:,}; got {getattr(self, name)}")


@dataclass(frozen=True)
class About:
    """What a model's folder keeps beside the network and its words.

    Attributes:
        run: the settings of the run that made it.
        metrics: the figures of that run.
        card: the model card, Markdown.
        temperature: what logits are divided by before the softmax that gives confidences (Guo et al., ICML 2017);
            1, and never another, where none was fitted.
        wide: what is added to the logits before; None where there is nothing.
        sentence: likewise, a linear model over frozen features of the text.
        tagging: of a model of tags a linear model over each word and its neighbors, with a chain of tags on top.
        columns: likewise, a linear model over columns beside the text.
        costs: of classes what it costs to answer class k where class j is right, at row j and column k; empty where the
            most probable class is answered.
        examples: the training examples that are kept; None for none.
        reject: of classes when none of them is answered; None where one always is.
        familiar: what training texts were like, where `reject` needs it.
        sums: over the training rows, so that the model can learn on; None for none.
    """

    run: dict[str, object] = field(default_factory=dict)
    metrics: dict[str, object] = field(default_factory=dict)
    card: str = "A Heedful model; `heedful.from_pretrained` reads it.\n"
    temperature: float = 1.0
    wide: WidePart | None = None
    sentence: SentencePart | None = None
    tagging: TagPart | None = None
    costs: tuple[tuple[float, ...], ...] = ()
    examples: KeptExamples | None = None
    reject: Reject | None = None
    familiar: Familiar | None = None
    columns: ColumnPart | None = None
    sums: KeptSums | None = None

    def on_one_scale(
        self, rows: NDArray[np.float32], gold: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64], float]:
        """Return logits, gold and the temperature that was fitted.

        Beside linear parts what divides all logits is one over the weight of the network. It stands for no calibration,
        and is 1 here.
        """
        parts = self.parts
        if parts.wide is None and parts.sentence is None and parts.columns is None:
            return rows, gold, self.temperature
        return (rows / self.temperature).astype(np.float32), gold, 1.0

    @property
    def parts(self) -> ModelParts:
        """The linear models beside the network."""
        return ModelParts(self.wide, self.sentence, self.tagging, self.familiar, self.columns)

    def __post_init__(self) -> None:
        known = isinstance(self.temperature, float) and 0 < self.temperature < math.inf
        if not (known and 1e-6 <= self.temperature <= 1e6):
            raise UsageError(
                f"temperature must be a number above 0, from 0.000001 to 1,000,000; got {self.temperature!r}"
            )
        square = all(len(row) == len(self.costs) for row in self.costs)
        if not (square and all(0 <= cost < math.inf for row in self.costs for cost in row)):
            raise UsageError("costs must be a square table of numbers of 0 or more")

    @property
    def data(self) -> Fields:
        """The settings by which the training data was read: the table ``[data]`` of the run; may be empty."""
        return Fields(self.run, "the settings of the run that made the model").part("data", {})


Problem = Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class FolderSettings:
    """What ``config.json`` of a model folder says, whatever the model answers; a task may add to it.

    Folders of older versions lack what has a default.

    Attributes:
        model: the network.
        text: how text is read.
        run: the settings of the run that made it; only what a model reads of them is checked here.
        network: the network as steps, for `heedful.runtime` and exports; nothing here reads it.
    """

    model: ModelConfig
    text: TextSettings
    run: dict[str, object]
    network: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class WordFolder(FolderSettings):
    """What ``config.json`` says of a model that reads words; see `FolderSettings`.

    Attributes:
        temperature: see `heedful.tasks.About`.
        encoder: the configuration of a pretrained encoder, checked by `heedful.storage.hugging_face`.
        wide: the weight of the wide part; 0 for none.
        costs: see `heedful.tasks.About`.
        sentence: what the sentence part reads; empty for none.
        columns: what the column part reads; empty for none.
        tagging: what the linear part of tags reads; empty for none.
        examples: how many training examples are kept, and whether with their texts; empty for none.
        sums: which features the sums over training rows are of; empty for none.
        reject: when none of the classes is answered; empty where one always is.
    """

    temperature: float = 1.0
    wide: float = 0.0
    costs: tuple[tuple[float, ...], ...] = ()
    encoder: dict[str, object] = field(default_factory=dict)
    sentence: dict[str, object] = field(default_factory=dict)
    tagging: dict[str, object] = field(default_factory=dict)
    examples: dict[str, object] = field(default_factory=dict)
    reject: dict[str, object] = field(default_factory=dict)
    columns: dict[str, object] = field(default_factory=dict)
    sums: dict[str, object] = field(default_factory=dict)


Settings = TypeVar("Settings", bound=FolderSettings)


def read_settings(kind: type[Settings], folder: ModelFolder, path: Path) -> Settings:
    """Read the settings of a model folder.

    Args:
        kind: what the task of the model keeps.
        folder: its content.
        path: where it was read, for messages.

    Returns:
        The settings.

    Raises:
        ArtifactError: naming every mistake, in one line.
    """
    problems: list[str] = []
    settings = read_table(kind, folder.config, "", problems)
    if settings is None or problems:
        raise _refused(path / CONFIG, problems)
    problems += encoder_problems(settings.model)
    try:
        tokenizer(settings.text.tokenizer)
    except UsageError as error:
        problems.append(f"text.{error}")
    problems += _parser_problem(settings.text.parser) + _run_problems(settings.run)
    if problems:
        raise _refused(path / CONFIG, problems)
    return settings


def read_about(
    settings: FolderSettings,
    folder: ModelFolder,
    path: Path,
    temperature: float = 1.0,
    costs: tuple[tuple[float, ...], ...] = (),
) -> About:
    """Return what a model folder keeps beside the network.

    Args:
        settings: from `read_settings`.
        folder: its content.
        path: where it was read, for messages.
        temperature: see `About`.
        costs: see `About`.

    Returns:
        The rest of the folder.

    Raises:
        ArtifactError: if one of them is out of range.
    """
    try:
        return About(settings.run, folder.metrics, folder.card, temperature, costs=costs)
    except UsageError as error:
        raise _refused(path / CONFIG, [str(error)]) from error


def check_labels(labels: Sequence[str], wanted: int, path: Path, problem: Problem = lambda _: "") -> None:
    """Check that the labels of a model folder are those of its network.

    Args:
        labels: the names.
        wanted: how many outputs of the network have a name; 0 for one that gives numbers.
        path: the folder, for messages.
        problem: says what else is wrong with the labels, an empty string where nothing is.

    Raises:
        ArtifactError: if a name is there twice, or there are more or fewer than are wanted.
    """
    problems = []
    if len(labels) != wanted:
        problems = [f"the network has {wanted} labeled outputs, and here are {len(labels)} labels"]
    twice = [label for label, count in Counter(labels).items() if count > 1]
    problems += [f"label {label!r:.80} is there twice" for label in twice[:1]]
    if not problems and (further := problem(labels)):
        problems = [further]
    if problems:
        raise _refused(path / LABELS, problems)


Loaded = TypeVar("Loaded")


def belonging(path: Path, build: Callable[[], Loaded]) -> Loaded:
    """Build a model from the files of a folder, and say so where they do not belong together.

    Args:
        path: the folder, for messages.
        build: makes the model; a `UsageError` of it means that the files contradict each other.

    Returns:
        The model.

    Raises:
        ArtifactError: if they do.
        MissingExtraError: if the model needs a library that is not installed.
    """
    try:
        return build()
    except MissingExtraError:
        raise
    except UsageError as error:
        raise ArtifactError(
            f"{path}: {CONFIG}, {VOCABULARY} and {WEIGHTS} do not belong together: {error}"
        ) from error


def _parser_problem(name: str) -> list[str]:
    """Check the name of a parser; whether it is installed is asked when a text is parsed."""
    try:
        if name:
            find_parser(name)
    except (
        MissingExtraError,
        DataError,
    ):  # not installed, or a file that is elsewhere: asked when a text is parsed
        return []
    except UsageError as error:
        return [f"text.parser: {error}"]
    return []


def _run_problems(run: dict[str, object]) -> list[str]:
    """Check the settings of a run that a model reads: the file it was trained on, and how that was read."""
    data = run.get("data", {})
    if not isinstance(data, dict):
        return ["run.data: must be a table"]
    kinds = {"train": (str, ""), "options": (dict, {})}
    return [
        f"run.data.{name}: must be a {'table' if kind is dict else 'string'}"
        for name, (kind, default) in kinds.items()
        if not isinstance(data.get(name, default), kind)
    ]


def _refused(path: Path, problems: Sequence[str]) -> ArtifactError:
    more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
    return ArtifactError(
        f"{path}: {'; '.join(problems[:3])}{more}. Copy the folder again, or train the model again."
    )
