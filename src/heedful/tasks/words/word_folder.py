"""What the folder of a model that reads words says of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from heedful.tasks.schema import FolderSettings


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
