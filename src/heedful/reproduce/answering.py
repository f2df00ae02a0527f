"""Makes a table of example pairs: trains its models, or takes those that are given, and lets them answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from heedful.config import from_table, load_config
from heedful.data import catalogue
from heedful.data.examples import Example
from heedful.errors import DataError, UsageError, nearest
from heedful.files import write_text
from heedful.pipeline import prepare, train
from heedful.predictor import Predictor
from heedful.reproduce.example_table import Answered, ExampleTable
from heedful.reproduce.pairs import Examples
from heedful.reproduce.plan import Table, experiments, systems
from heedful.reproduce.runner import Budget, Cell, command_of
from heedful.training.progress import Reporter

MODELS = "models"
"""Folder of the models that were trained for examples, below the folder of results."""


def trained(examples: Examples, budget: Budget, out: Path) -> dict[str, Path]:
    """Return where the model of each name is, or will be, kept.

    Args:
        examples: of a table.
        budget: by which they are trained.
        out: the folder of results.

    Returns:
        Name to run folder.
    """
    return {
        name: out / MODELS / _cell(examples, system, budget).folder
        for name, system in examples.models.items()
    }


def answer_examples(
    table: Table,
    data: Path | None,
    out: Path,
    budget: Budget,
    models: Mapping[str, Path],
    *,
    run: bool = True,
    reporter: Reporter | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> ExampleTable:
    """Make a table of examples; its models are trained once and kept.

    Args:
        table: with examples.
        data: the folder of data sets.
        out: the folder of results.
        budget: by which models are trained.
        models: trained models by name; one of the paper's names replaces the model that would be trained.
        run: False takes only models that are there.
        reporter: shows the progress of training.
        say: told what happens.

    Returns:
        The answers. Markdown, CSV and JSON without the sentences are written to ``out``.

    Raises:
        UsageError: if there is no model to answer, or one does not answer pairs with these classes.
        DataError: if the data holds none of the pairs.
    """
    examples = table.examples
    assert examples is not None  # the caller looked
    if budget.name not in (known := experiments()[examples.experiment].budgets):
        raise UsageError(
            f"--budget {budget.name!r}: {table.name} has none of that name: {nearest(budget.name, list(known))}"
        )
    name, _, split = examples.part.partition(":")
    found = examples.find(catalogue.load(name, split, catalogue.data_folder(data)).examples)
    if not found:
        raise DataError(f"{examples.part} holds none of the {len(examples.pairs)} pairs")
    kept = (
        {}
        if set(examples.models) <= set(models)
        else _train_missing(examples, data, out, budget, models, run, reporter, say)
    )
    folders = {**kept, **models}
    if not folders:
        raise UsageError(
            f"{table.name}: no model is there; leave --no-run out, or name one: --model NAME=FOLDER"
        )
    predictors = {model: Predictor.load(folder) for model, folder in folders.items()}
    answers = [a for model, predictor in predictors.items() for a in _ask(model, predictor, examples, found)]
    origin = {model: _origin(predictor) for model, predictor in predictors.items()}
    made = ExampleTable(table, found, tuple(answers), origin)
    words = [command_of(table, budget), *(f"--model {model}=FOLDER" for model in models)]
    write_text(out / f"{table.name}.md", made.to_markdown(" ".join(words)))
    write_text(out / f"{table.name}.csv", made.to_csv())
    write_text(out / f"{table.name}.json", json.dumps(made.as_records(), indent=1) + "\n")
    return made


def _train_missing(
    examples: Examples,
    data: Path | None,
    out: Path,
    budget: Budget,
    given: Mapping[str, Path],
    run: bool,
    reporter: Reporter | None,
    say: Callable[[str], None],
) -> dict[str, Path]:
    """Train the models of a table that are neither given nor kept; return the folders of all that are there."""
    ready = {}
    seed = (budget.seeds or experiments()[examples.experiment].seeds)[0]
    for name, folder in trained(examples, budget, out).items():
        if name in given:
            continue
        cell = _cell(examples, examples.models[name], budget)
        config = load_config(cell.experiment.recipe, [*cell.changes, f"train.seed={seed}"])
        if (folder / "model").exists():
            if from_table(Predictor.load(folder).about.run, str(folder)) != config:
                raise UsageError(f"{folder}: made with other settings; use another --out or delete it")
            ready[name] = folder
        elif run:
            say(f"{name}: training; an interrupted command goes on")
            train(config, prepare(config, data), folder=folder, resume=True, reporter=reporter)
            ready[name] = folder
    return ready


def _cell(examples: Examples, system: str, budget: Budget) -> Cell:
    return Cell(experiments()[examples.experiment], systems()[system], budget)


def _origin(predictor: Predictor) -> str:
    """Say how a model was trained, from what its folder keeps."""
    run, metrics = predictor.about.run, predictor.about.metrics
    data, settings = run.get("data", {}), run.get("train", {})
    limit = f" (first {data['train_limit']:,})" if data.get("train_limit") else ""
    steps = f"{metrics['steps']:,} steps, " if "steps" in metrics else ""
    test = (metrics.get("test") or {}).get("metrics", {}).get("accuracy")
    score = f", accuracy on its test part {100 * test:.1f}" if test is not None else ""
    return (
        f"{predictor.model.encoder}, trained on {data.get('set') or 'files'} {data.get('train')}{limit}: "
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
