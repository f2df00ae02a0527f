"""A figure of single sentences: which they are, which models read them, what is drawn of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from heedful.errors import shown
from heedful.storage.fields import Fields, is_texts

Kind = Literal["attention", "gates", "features", "scores", "masks"]
"""attention: heat maps of words by words. gates: a row a gate. features: the source2token weights of one word, feature
by feature, in several sentences. scores: token2token and source2token scores apart. masks: what a policy adds."""

_KINDS: tuple[Kind, ...] = get_args(Kind)


class Trained(Protocol):
    """What names the models of a table that trains them itself.

    Attributes:
        experiment: key of the experiment by which they are trained.
        models: name in the paper to the key of the system.
    """

    @property
    def experiment(self) -> str:
        """See the class."""

    @property
    def models(self) -> Mapping[str, str]:
        """See the class."""


@dataclass(frozen=True)
class Sentence:
    """One sentence of a figure.

    Attributes:
        name: as the paper calls it; empty where it is the only one.
        text: its words.
        word: the word whose features are drawn; empty elsewhere. Sentences with the same word stand together.
    """

    name: str
    text: str
    word: str = ""


@dataclass(frozen=True)
class Picture:
    """What a figure needs.

    Attributes:
        kind: what is drawn.
        experiment: key of the experiment by which its models are trained.
        models: name in the paper to the key of the system.
        panels: pairs of a model and the name of a map or gate of it, in order; "*" for all of it.
        sentences: what is read.
    """

    kind: Kind
    experiment: str
    models: Mapping[str, str]
    panels: tuple[tuple[str, str], ...]
    sentences: tuple[Sentence, ...]


def read_picture(table: Fields) -> Picture:
    """Read the ``[picture]`` table of a TOML file.

    Args:
        table: its fields.

    Returns:
        The picture.
    """
    sentences = tuple(
        Sentence(one.text("name"), one.text("text"), one.text("word", "")) for one in table.parts("sentences")
    )
    panels = tuple(_panel(table, panel) for panel in table.items("panels"))
    for kind in _KINDS:
        if kind == table.text("kind"):
            models = table.texts_by_name("models")
            return Picture(kind, table.text("experiment"), models, panels, sentences)
    raise table.wrong("kind", f"must be one of {', '.join(_KINDS)}")


def _panel(table: Fields, panel: object) -> tuple[str, str]:
    if is_texts(panel) and len(panel) == 2:
        return panel[0], panel[1]
    raise table.wrong("panels", f"must be pairs of a model and a name; got {shown(panel)}")
