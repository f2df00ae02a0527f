"""What is known of a data set: task, class names in their fixed order, files, readers, counts, license, origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heedful.data.examples import Corpus

NOT_STATED = "none stated"
FETCH = "heedful data get {}"


@dataclass(frozen=True)
class Part:
    """One split of a data set.

    Attributes:
        file: its file, relative to the data folder; a compressed one is found too.
        read: its reader.
        rows: rows with gold that the file holds, those without text included.
        options: keyword arguments of the reader.
        beside: further files that the reader opens, relative to the data folder.
    """

    file: str
    read: Callable[..., Corpus]
    rows: int
    options: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSet:
    """One data set, as one task sees it.

    Attributes:
        name: what it is called on the command line.
        task: what its gold is for, ``model.task``: "text" (the class of a text), "pair" (the class of two),
            "relatedness" (a number for two), "tags" (a tag a word) or "roles" (the arguments of the predicates of a
            text).
        labels: class names in their fixed order; empty for scores, and where they are collected from the data.
        parts: the splits by name.
        license: as its authors state it.
        homepage: where it is described.
        citation: what to cite.
        obtain: how to get it.
        training_options: options of the reader that make samples to train on; the other parts are read without them.
    """

    name: str
    task: str
    labels: tuple[str, ...]
    parts: Mapping[str, Part]
    license: str
    homepage: str
    citation: str
    obtain: str
    training_options: tuple[str, ...] = ()
