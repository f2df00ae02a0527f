"""What ``heedful demo`` begins with: the models of installed packages, asked about sentences of everyday English."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from heedful.storage.named_models import find_model, packaged_models
from heedful.tasks import AnyModel, load_model, task_of
from heedful.tasks.records import Text

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
        yield from _asked(name, load_model(find_model(name)), QUESTIONS[name])


def _asked(name: str, model: AnyModel, requests: Sequence[Text]) -> Iterator[str]:
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
