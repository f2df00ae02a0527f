"""What is said of a whole model as sections of tables, words and texts, whatever the model answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from heedful.data.examples import Example
from heedful.explain import Explanation
from heedful.explain.word_sums import WordSum


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        header: names of the columns; the first one is of names, the others of figures.
        rows: the cells, as they are shown.
        strong: numbers of the rows that stand out.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    strong: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Words:
    """The strongest words and phrases by what they speak for; their texts are places in `Overview.examples`."""

    found: Mapping[str, tuple[WordSum, ...]]


@dataclass(frozen=True)
class ShownRow:
    """One row of the file that is shown.

    Attributes:
        place: in `Overview.examples`.
        facts: what is said of it.
        explanation: whose colors the words have; None for the plain text.
        marked: place of a word of the example's ready-made words that stands out; None for none.
    """

    place: int
    facts: str
    explanation: Explanation | None = None
    marked: int | None = None


@dataclass(frozen=True)
class Texts:
    """Rows of the file.

    Attributes:
        shown: the rows.
        title: what they have in common, where there are several such lists; they are folded away under it.
    """

    shown: tuple[ShownRow, ...]
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A part of what is said.

    Attributes:
        key: its short name, as in JSON.
        title: its title.
        note: what its figures mean.
        blocks: tables, words and texts.
    """

    key: str
    title: str
    note: str
    blocks: tuple[Table | Words | Texts, ...]


@dataclass(frozen=True, eq=False)
class Overview:
    """What is said of a whole model.

    Attributes:
        model: what it is called.
        source: what the rows are called.
        headline: the most important figure.
        beside: further figures.
        examples: the rows with gold.
        sections: the parts; those without content are left out.
        figures: the figures by name, for JSON.
    """

    model: str
    source: str
    headline: str
    beside: str
    examples: Sequence[Example]
    sections: tuple[Section, ...]
    figures: Mapping[str, object] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; texts stand where they belong."""
        parts = {section.key: [self._plain(block) for block in section.blocks] for section in self.sections}
        return {"model": self.model, "rows": len(self.examples), **self.figures, **parts}

    def _plain(self, block: Table | Words | Texts) -> object:
        if isinstance(block, Table):
            return [dict(zip(block.header, row, strict=True)) for row in block.rows]
        if isinstance(block, Words):
            return {
                name: [{"word": word.name, "mean": word.signed, "texts": word.count} for word in words]
                for name, words in block.found.items()
            }
        rows = [(each, self.examples[each.place]) for each in block.shown]
        texts = [{"row": row.row, "texts": list(row.texts), "facts": each.facts} for each, row in rows]
        return {"title": block.title, "rows": texts} if block.title else texts


def filled(*sections: Section) -> tuple[Section, ...]:
    """Return the sections that have content."""
    return tuple(section for section in sections if section.blocks)
