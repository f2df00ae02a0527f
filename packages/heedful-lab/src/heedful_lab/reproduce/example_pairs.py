"""The pairs of a table of examples, each known by its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from heedful.data.examples import Example
from heedful.storage.fields import Fields


@dataclass(frozen=True)
class Pair:
    """One example of a paper, known by its hash, so that its sentences need not be kept here.

    Attributes:
        name: as the paper calls it.
        id: its ``pairID`` in the data set.
        sha256: of premise, tab, hypothesis in UTF-8.
        gold: its class.
        paper: model of the paper to the class it answered.
    """

    name: str
    id: str
    sha256: str
    gold: str
    paper: Mapping[str, str]


@dataclass(frozen=True)
class Examples:
    """What a table of examples needs.

    Attributes:
        part: data set and split that holds the pairs, as ``set:split``.
        experiment: key of the experiment by which its models are trained.
        models: name in the paper to the key of the system.
        pairs: the examples.
    """

    part: str
    experiment: str
    models: Mapping[str, str]
    pairs: tuple[Pair, ...]

    def find(self, examples: Iterable[Example]) -> dict[str, Example]:
        """Return name to example of the pairs that are among some examples."""
        names = {pair.sha256: pair.name for pair in self.pairs}
        found = ((names.get(_digest(example)), example) for example in examples)
        return {name: example for name, example in found if name is not None}


def read_examples(table: Fields) -> Examples:
    """Read the ``[examples]`` table of a TOML file from its fields."""
    columns = table.texts("columns")
    pairs = tuple(
        Pair(
            pair.text("name"),
            pair.text("id"),
            pair.text("sha256"),
            pair.text("gold"),
            dict(zip(columns, pair.texts("paper"), strict=True)),
        )
        for pair in table.parts("pairs")
    )
    return Examples(table.text("part"), table.text("experiment"), table.texts_by_name("models"), pairs)


def _digest(example: Example) -> str:
    return hashlib.sha256("\t".join(example.texts).encode("utf-8")).hexdigest()
