"""The table of tasks that need no torch to answer: how many texts, what the logits stand for, how answers are laid out.

Nobody else asks for a task by its name: whoever needs to know something of a task asks its `Kind`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from heedful.model.answers import CLASSES, GRADES, LABELS, NUMBERS, TAGS, AnswerLayout


@dataclass(frozen=True)
class Kind:
    """What is known of the answers of a task.

    Attributes:
        layout: the answers as columns.
        outputs: what the logits of a model stand for: "classes"; "labels", each by itself; "columns", the classes
            of one label column behind those of another; "grades" from 1; a "number";
            "tags", one a word; a "vector", which has labels once a user names some; or "other".
        texts: of an example, 1 or 2.
        noun: what a model of it is a model of, for messages.
    """

    layout: AnswerLayout[Any]
    outputs: Literal["classes", "labels", "columns", "grades", "number", "tags", "vector", "other"]
    texts: Literal[1, 2] = 1
    noun: str = "another task"

    @property
    def has_labels(self) -> bool:
        """Whether a model keeps the names of what its logits stand for."""
        return self.outputs in ("classes", "labels", "columns", "tags")

    @property
    def of_words(self) -> bool:
        """Whether each word has an answer."""
        return self.outputs == "tags"

    @property
    def is_score(self) -> bool:
        """Whether the answer is a number."""
        return self.outputs in ("grades", "number")

    @property
    def set_header(self) -> tuple[str, ...]:
        """The name of the column of what is promised of an answer."""
        return ("interval",) if self.is_score else ("set",)

    @property
    def joins_parts(self) -> bool:
        """Whether linear parts of texts may stand beside the network."""
        return self.outputs not in ("tags", "vector")


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "text": Kind(CLASSES, "classes", noun="texts"),
        "pair": Kind(CLASSES, "classes", 2, "pairs"),
        "relatedness": Kind(GRADES, "grades", 2, "relatedness"),
        "number": Kind(NUMBERS, "number", noun="numbers"),
        "pair-number": Kind(NUMBERS, "number", 2, "numbers of pairs"),
        "labels": Kind(LABELS, "labels", noun="several labels"),
        "label-columns": Kind(LABELS, "columns", noun="label columns"),
        "tags": Kind(TAGS, "tags", noun="tags of words"),
        "vector": Kind(CLASSES, "vector", noun="vectors of texts"),
    }
)
"""``model.task`` to what is known of its answers."""
_OTHER = Kind(AnswerLayout((), object, lambda answer: []), "other")
WITH_TORCH = ("roles",)
"""Tasks that only torch answers."""
ELSEWHERE: Mapping[str, str] = MappingProxyType({"translation": "heedful-lab"})
"""Tasks of other packages, which only torch answers: ``model.task`` to the package that brings it."""


def kind_of(task: str) -> Kind:
    """Return what is known of the answers of a task; of one that is not in the table only that it is another.

    Args:
        task: ``model.task``.

    Returns:
        The kind.
    """
    return KINDS.get(task, _OTHER)
