"""``heedful demo``: the whole product on a corpus that needs no data, in about a minute on a laptop."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from heedful.errors import OutputError
from heedful.explain import Explanation
from heedful.run import RunResult, check_run_folder, prepare, train
from heedful.run.protocol import GENERATED
from heedful.run.recipe_files import load_config
from heedful.run.run_config import RunConfig
from heedful.storage.fields import read_fields
from heedful.storage.named_models import find_model, packaged_models
from heedful.tasks import AnyModel, load_model, task_named, task_of
from heedful.tasks.schema import Text
from heedful.training.progress import Reporter
from heedful.training.run_folder import RunFolder

PAIRS = (
    ("the red dog chases the cat", "the cat is chased by the red dog"),
    ("the red dog chases the cat", "the red cat chases the dog"),
    ("the big dog chases the red cat", "the red dog chases the cat"),
    ("the red cup is above the box", "the box is below the red cup"),
    ("the farmer is sleeping and the boy is not running", "the boy is running"),
    ("the cat is eating in the park and the dog is running", "the dog is running in the park"),
)
"""No premise is in the training split. Each pair turns on who does what to whom, what is above what, what is negated or
who is where."""

GOLD = (
    "entailment",
    "contradiction",
    "neutral",
    "entailment",
    "contradiction",
    "neutral",
)
"""What follows by the rules of the corpus, shown where the model says otherwise."""


@dataclass(frozen=True)
class DemoResult:
    """What the demo made.

    Attributes:
        run: the trained model and its figures.
        answers: each pair of the demo and what the model says.
        explanation: of the first pair.
        page: the explanation page.
    """

    run: RunResult
    answers: list[tuple[tuple[str, str], str, float]]
    explanation: Explanation
    page: Path


def run_demo(
    folder: Path,
    overrides: Sequence[str] = (),
    reporter: Reporter | None = None,
    print_line: Callable[[str], None] = lambda _: None,
) -> DemoResult:
    """Ask the models of heedful-en if it is installed, generate the corpus, train DiSAN, answer pairs and explain one.

    Args:
        folder: run folder; an earlier demo there is replaced.
        overrides: ``key=value`` settings.
        reporter: shows progress.
        print_line: told what happens next.

    Returns:
        The model, its answers and the page.

    Raises:
        UsageError: if the settings are wrong, or another process is at work in the folder.
        OutputError: if the folder holds anything but an earlier demo.
    """
    config = load_config("disan-scenes-small", overrides)
    check_run_folder(folder, resume=True)
    with RunFolder(folder).alone("demo"):
        return _run_alone(config, folder, reporter, print_line)


def _run_alone(
    config: RunConfig, folder: Path, reporter: Reporter | None, print_line: Callable[[str], None]
) -> DemoResult:
    _refuse_all_but_demo(folder)
    for line in packaged_answers():
        print_line(line)
    print_line("Generating sentence pairs about small scenes ...")
    prepared = prepare(config, None)
    sizes = ", ".join(f"{len(data):,} {name}" for name, data in prepared.datasets.items())
    print_line(
        f"{sizes} pairs; {task_named(prepared.task).vocabulary_note(prepared.lexicon)}. Training DiSAN ..."
    )
    run = train(config, prepared, folder=folder, overwrite=True, reporter=reporter)
    answers = run.predictor.answer(PAIRS)
    rows = [
        (pair, answer.label or "", answer.probabilities[answer.label or ""])
        for pair, answer in zip(PAIRS, answers, strict=True)
    ]
    explanation = run.predictor.explain(PAIRS[0])
    page = explanation.to_html(folder / "explanation.html")
    return DemoResult(run, rows, explanation, page)


def _refuse_all_but_demo(folder: Path) -> None:
    """Refuse a folder with something of the user's, of which a run that was trained on other data costs most."""
    home = RunFolder(folder)
    home.refuse_foreign(replaces=True)
    if home.config.exists() and read_fields(home.config).part("data", {}).record.get("set") != GENERATED:
        raise OutputError(f"{folder}: holds a run that is not the demo's; choose another --out")


QUESTIONS: Mapping[str, Sequence[Text]] = MappingProxyType(
    {
        "en-nli": (
            ("A woman is playing the violin on a stage.", "A woman is making music."),
            ("A woman is playing the violin on a stage.", "A woman is asleep in her bed."),
            ("A woman is playing the violin on a stage.", "The woman is famous."),
        ),
        "en-upos": ("Heedful reads a sentence and tags each of its words.",),
        "en-roles": ("The cook gave the hungry children some warm bread yesterday.",),
    }
)
"""What each model of heedful-en is asked."""


def packaged_answers() -> Iterator[str]:
    """Ask the models of heedful-en that are installed.

    Yields:
        A first line, and for each model the command that asks it, and a line for each answer.
    """
    names = [name for name in packaged_models() if name in QUESTIONS]
    if names:
        yield "The trained English models of the package heedful-en:"
    for name in names:
        yield from _predictions(name, load_model(find_model(name)), QUESTIONS[name])


def _predictions(name: str, model: AnyModel, requests: Sequence[Text]) -> Iterator[str]:
    task = task_of(model)
    for request, answer in zip(requests, model.answer(requests), strict=True):
        given = (
            ("--text", request)
            if isinstance(request, str)
            else ("--premise", request[0], "--hypothesis", request[1])
        )
        yield f"  heedful predict {name} {' '.join(map(shlex.quote, map(str, given)))}"
        for cells in task.rows(answer):
            yield "      " + "  ".join(cell for cell in cells if cell)
