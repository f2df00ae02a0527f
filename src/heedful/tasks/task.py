"""What a task is: everything that a run, a saved model and the command line ask of it, and nothing that they know."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from torch import nn

from heedful.data.examples import Corpus
from heedful.data.readers.reading import RequestFiles
from heedful.model.answers import AnyAnswer
from heedful.model.decisions import kind_of
from heedful.model.text_reading import Limits
from heedful.models import ModelConfig
from heedful.settings import Settings, read_table
from heedful.storage.model_folder import ModelFolder
from heedful.tasks.prepared import Dataset, Lexicon, Model
from heedful.tasks.task_gold import TaskGold
from heedful.tasks.task_learning import TaskLearning

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.run.run_config import RunConfig

Answered = TypeVar("Answered", bound=AnyAnswer)

_COMMANDS = "of the commands that answer, or {} of a model in Python"
OF_ANSWERS = {
    "tree": f"use the option --tree {_COMMANDS.format('in_tree')}",
    "at_least": f"use the options --tree and --at-least {_COMMANDS.format('in_tree')}",
    "coverage": f"use the option --coverage {_COMMANDS.format('promising')}",
    "by_class": f"use the options --coverage and --by-class {_COMMANDS.format('promising')}",
}
"""Names that belong to the answers of a trained model, and what asks for them; no task has such a setting."""


class Task(
    TaskGold[Dataset, Lexicon, Model],
    TaskLearning[Dataset, Lexicon, Model],
    Generic[Dataset, Lexicon, Model, Answered],
):
    """One task: its files, labels, network, loss, metrics and predictions.

    Attributes:
        name: the name in ``model.task`` and in the table of data sets.
        metrics: names of the metrics; the first is the main one.
        uses: settings that this task reads and some other tasks do not: names such as "data.score", or whole tables
            such as "model.tagger". A setting that only other tasks use is refused.
        options: command-line options that this task accepts and some other tasks do not, without the dashes.
        question: what the model predicts, for its card.
        usage: Python code that predicts with it, for its card.
        hub_task: the name of such a task on the Hugging Face Hub.
        kept: what the record of a run keeps: predicted "classes", "scores", or the "counts" behind the metrics.
        sides: number of texts in an example, 1 or 2.
        settings: the class of the settings of the task itself, ``model.task_options``.
        chooses_by_folds: whether a model of few rows is chosen by cross-validation, without a dev split.
        board_recipe: the recipe by which a board of baselines reads a known data set that has none of its own; empty
            where no baseline learns the task from texts.
    """

    name: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]
    uses: ClassVar[frozenset[str]]
    options: ClassVar[frozenset[str]] = frozenset()
    question: ClassVar[str]
    usage: ClassVar[str]
    hub_task: ClassVar[str] = "text-classification"
    kept: ClassVar[Literal["classes", "scores", "counts"]] = "classes"
    sides: ClassVar[int] = 1
    settings: ClassVar[type[Settings]] = Settings
    chooses_by_folds: ClassVar[bool] = False
    board_recipe: ClassVar[str] = ""

    @property
    def noun(self) -> str:
        """Its subject, for messages: "a task of NOUN", "a model of NOUN"."""
        return kind_of(self.name).noun

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns that `rows` returns."""
        return kind_of(self.name).layout.header

    @property
    def shows_texts(self) -> bool:
        """Whether the texts are printed beside the rows on a terminal, because the rows do not contain them."""
        return not kind_of(self.name).of_words

    def problems(self, config: RunConfig) -> list[str]:
        """Return mistakes in the settings, one sentence each, other than settings that the task does not use."""
        return []

    def options_problems(self, model: ModelConfig) -> list[str]:
        """Return every mistake in the settings of the task itself, as one sentence each."""
        problems: list[str] = []
        path = "model.task_options."
        asked = {name: OF_ANSWERS[name] for name in OF_ANSWERS if name in model.task_options}
        known = {name: value for name, value in model.task_options.items() if name not in asked}
        read_table(self.settings, known, path, problems)
        return [
            *(f"{path}{name}: a model is asked for it later; {where}" for name, where in asked.items()),
            *problems,
        ]

    def request_files(self, model: Model) -> RequestFiles:
        """Return the kinds of input files that the task reads in its own way; by default none."""
        return RequestFiles()

    def answer(self, model: Model, corpus: Corpus, options: Mapping[str, object]) -> Sequence[Answered]:
        """Predict for the inputs of a command, with the values of those of `options` that were given."""
        return model.answer(corpus)

    def explain(self, model: Model, corpus: Corpus, options: Mapping[str, object]) -> Explanation:
        """Explain the prediction for one input of a command; see `answer`."""
        return model.explain(corpus)

    def rows(self, answer: Answered) -> Iterable[list[str]]:
        """Return a prediction as rows of a table, at least one, each with as many cells as `header`."""
        return [kind_of(self.name).layout.cells(answer)]

    @abstractmethod
    def vocabulary_note(self, lexicon: Lexicon) -> str:
        """Describe the vocabulary of a model for its card, without a final period."""

    @abstractmethod
    def limits(self, lexicon: Lexicon, network: nn.Module) -> str:
        """Describe the limits of a model for its card, in whole sentences."""

    @abstractmethod
    def load(self, folder: ModelFolder, path: Path, limits: Limits) -> Model:
        """Build the model from the content of its folder.

        Args:
            folder: the content, checked against its checksums; its ``model.task`` is this one.
            path: where it was read, for messages.
            limits: a limit on the length of a text that replaces the saved one.

        Returns:
            The model, in evaluation mode.

        Raises:
            ArtifactError: naming the parts of the folder that do not match.
            MissingExtraError: if the model needs a library that is not installed.
        """
