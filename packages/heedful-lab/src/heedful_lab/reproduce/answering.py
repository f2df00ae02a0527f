"""Makes a table of example pairs: trains its models, or takes those that are given, and lets them answer."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from heedful.data import catalog
from heedful.data.examples import Example
from heedful.errors import DataError, UsageError, nearest
from heedful.run import prepare, train
from heedful.run.recipe_files import from_table, load_config
from heedful.storage import write_text
from heedful.storage.fields import Fields
from heedful.storage.layout import MODEL
from heedful.tables import markdown_table
from heedful.tasks import Predictor, load_model
from heedful_lab.reproduce.example_pairs import Examples
from heedful_lab.reproduce.picture import Trained
from heedful_lab.reproduce.plan import Table, experiments, systems
from heedful_lab.reproduce.runner import Budget, Cell, Order, command_of
from heedful_lab.reproduce.table_records import refuse_foreign_table


@dataclass(frozen=True)
class Answered:
    """One pair and what a model said.

    Attributes:
        pair: name of the pair.
        model: name of the model.
        answer: its class.
        probability: of that class.
        right: whether it is gold.
    """

    pair: str
    model: str
    answer: str
    probability: float
    right: bool


@dataclass(frozen=True)
class ExampleTable:
    """A table of example pairs with answers.

    Attributes:
        table: what was asked for.
        found: name to example of the pairs that the data holds.
        answers: of every model to every pair that was found.
        origin: model to how it was made.
    """

    table: Table
    found: Mapping[str, Example]
    answers: tuple[Answered, ...]
    origin: Mapping[str, str]

    @property
    def examples(self) -> Examples:
        """The pairs."""
        assert self.table.examples is not None  # only such tables come here
        return self.table.examples

    def render(self) -> str:
        """Return lines for a terminal, with the sentences."""
        lines = [self.table.title]
        for pair in self.examples.pairs:
            lines += ["", f"{pair.name}  {pair.id}, gold {pair.gold}"]
            if pair.name not in self.found:
                lines.append("   not in the data")
                continue
            first, second = self.found[pair.name].texts
            paper = ", ".join(f"{model} {answer}" for model, answer in pair.paper.items())
            ours = ", ".join(
                f"{a.model} {a.answer} {a.probability:.2f}" for a in self.answers if a.pair == pair.name
            )
            lines += [f"   {first}", f"   {second}", f"   paper: {paper}", f"   here:  {ours}"]
        return "\n".join([*lines, "", *self.summary()])

    def to_csv(self) -> str:
        """Write one line an answer, with a header."""
        stream = io.StringIO()
        writer = csv.DictWriter(stream, [field.name for field in fields(Answered)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.as_records())
        return stream.getvalue()

    def as_records(self) -> list[dict[str, object]]:
        """Return one plain record an answer."""
        return [asdict(answer) for answer in self.answers]

    def summary(self) -> list[str]:
        """Return one line a model: how many it has right, and where it comes from."""
        columns = self.examples.pairs[0].paper
        lines = []
        for model, origin in self.origin.items():
            right = sum(answer.right for answer in self.answers if answer.model == model)
            said = f"; the paper's {self._paper_right(model)}" if model in columns else ""
            lines.append(f"{model}: {right} of {len(self.found)} right{said}; {origin}")
        return lines

    def _paper_right(self, model: str) -> int:
        return sum(pair.paper[model] == pair.gold for pair in self.examples.pairs)

    def to_markdown(self, command: str) -> str:
        """Write the answers, without the sentences, which belong to the data set.

        Args:
            command: that made them.

        Returns:
            Markdown, ending with a line break.
        """
        paper = list(self.examples.pairs[0].paper)
        heads = [
            "pair",
            "gold",
            *(f"{name}, paper" for name in paper),
            *(f"{name}, Heedful" for name in self.origin),
        ]
        said = {(a.pair, a.model): f"**{a.answer}** {a.probability:.2f}" for a in self.answers}
        rows = []
        for pair in self.examples.pairs:
            ours = [said.get((pair.name, model), "") for model in self.origin]
            rows.append([f"{pair.name} `{pair.id}`", pair.gold, *pair.paper.values(), *ours])
        grid = "\n".join(markdown_table(heads, rows))
        notes = "\n".join(f"- {line}" for line in (*self.table.notes, *self.summary()))
        return f"### {self.table.title}\n\n```bash\n{command}\n```\n\n{grid}\n\n{notes}\n"


MODELS = "models"
"""Folder of the models that were trained for examples, below the folder of results."""


def trained(examples: Trained, budget: Budget, out: Path) -> dict[str, Path]:
    """Return where the model of each name is, or will be, kept.

    Args:
        examples: what names the models of a table.
        budget: by which they are trained.
        out: the folder of results.

    Returns:
        Name to run folder.
    """
    return {
        name: out / MODELS / _cell(examples, system, budget).folder
        for name, system in examples.models.items()
    }


def answer_examples(table: Table, order: Order) -> ExampleTable:
    """Make a table of examples; its models are trained once and kept.

    Args:
        table: with examples.
        order: how it is made.

    Returns:
        The answers. Markdown, CSV and JSON without the sentences are written to ``order.out``.

    Raises:
        UsageError: if there is no model to answer, or one does not answer pairs with these classes.
        DataError: if the data holds none of the pairs.
    """
    examples = table.examples
    assert examples is not None  # the caller looked
    check_budget(table, examples, order.budget)
    refuse_foreign_table(order.out / table.name)
    name, _, split = examples.part.partition(":")
    found = examples.find(catalog.load(name, split, catalog.data_folder(order.data)).examples)
    if not found:
        raise DataError(f"{examples.part} holds none of the {len(examples.pairs)} pairs")
    predictors = load_models(table, examples, order)
    answers = [a for model, predictor in predictors.items() for a in _ask(model, predictor, examples, found)]
    origin = {model: origin_of(predictor) for model, predictor in predictors.items()}
    made = ExampleTable(table, found, tuple(answers), origin)
    words = [command_of(table, order.budget), *(f"--model {model}=FOLDER" for model in order.models)]
    out = order.out
    write_text(out / f"{table.name}.md", made.to_markdown(" ".join(words)))
    write_text(out / f"{table.name}.csv", made.to_csv())
    write_text(out / f"{table.name}.json", json.dumps(made.as_records(), indent=1) + "\n")
    return made


def check_budget(table: Table, examples: Trained, budget: Budget) -> None:
    """Refuse a budget that the experiment of a table's models does not have."""
    if budget.name not in (known := experiments()[examples.experiment].budgets):
        raise UsageError(
            f"--budget {budget.name!r}: {table.name} has none of that name: {nearest(budget.name, list(known))}"
        )


def load_models(table: Table, examples: Trained, order: Order) -> dict[str, Predictor]:
    """Load the models of a table, those that are given and those that were trained; train what is missing.

    Args:
        table: whose models they are.
        examples: what names them.
        order: how the table is made.

    Returns:
        Name to model.

    Raises:
        UsageError: if there is none.
    """
    all_given = set(examples.models) <= set(order.models)
    folders = {**({} if all_given else _train_missing(examples, order)), **order.models}
    if not folders:
        raise UsageError(
            f"{table.name}: no model is there; leave --no-run out, or name one: --model NAME=FOLDER"
        )
    return {model: _classifier(folder) for model, folder in folders.items()}


def _train_missing(examples: Trained, order: Order) -> dict[str, Path]:
    """Train the models of a table that are neither given nor kept; return the folders of all that are there."""
    ready = {}
    seed = (order.budget.seeds or experiments()[examples.experiment].seeds)[0]
    for name, folder in trained(examples, order.budget, order.out).items():
        if name in order.models:
            continue
        cell = _cell(examples, examples.models[name], order.budget)
        config = load_config(cell.recipe, [*cell.changes, f"train.seed={seed}"])
        if (folder / MODEL).exists():
            if from_table(load_model(folder).about.run, str(folder)) != config:
                raise UsageError(f"{folder}: made with other settings; use another --out or delete it")
            ready[name] = folder
        elif order.run:
            order.print_line(f"{name}: training; an interrupted command goes on")
            train(config, prepare(config, order.data), folder=folder, resume=True, reporter=order.reporter)
            ready[name] = folder
    return ready


def _classifier(folder: Path) -> Predictor:
    model = load_model(folder)
    if not isinstance(model, Predictor):
        raise UsageError(
            f"{folder}: the sentences of a table are answered with classes; got {model.model.task!r}"
        )
    return model


def _cell(examples: Trained, system: str, budget: Budget) -> Cell:
    return Cell(experiments()[examples.experiment], systems()[system], budget)


def origin_of(predictor: Predictor) -> str:
    """Return how a model was trained, from what its folder keeps."""
    data, settings = predictor.about.data, Fields(predictor.about.run, "").table("train", {})
    figures = Fields(predictor.about.metrics, "the figures of the model")
    first = data.whole("train_limit", 0)
    limit = f" (first {first:,})" if first else ""
    steps = f"{figures.whole('steps'):,} steps, " if "steps" in figures else ""
    test = figures.part("test").part("metrics", {}) if "test" in figures else Fields({}, "")
    score = f", accuracy on its test part {100 * test.number('accuracy'):.1f}" if "accuracy" in test else ""
    return (
        f"{predictor.model.encoder}, trained on {data.text('set', '') or 'files'} {data.record.get('train')}{limit}: "
        f"{steps}seed {settings.get('seed')}{score}"
    )


def _ask(
    model: str, predictor: Predictor, examples: Examples, found: Mapping[str, Example]
) -> list[Answered]:
    wanted = {pair.gold for pair in examples.pairs}
    if not predictor.is_pair or not wanted <= set(predictor.labels):
        raise UsageError(
            f"--model {model}: expected a model that answers pairs with {', '.join(sorted(wanted))}; "
            f"this one answers with {', '.join(predictor.labels) or 'scores'}"
        )
    texts = [(example.texts[0], example.texts[1]) for example in found.values()]
    answered = []
    for (name, example), answer in zip(found.items(), predictor.answer(texts), strict=True):
        label = str(answer.label)
        answered.append(Answered(name, model, label, answer.probabilities[label], label == example.target))
    return answered
