"""Example pairs with what models answered, as text and as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from heedful.data.examples import Example
from heedful.reproduce.pairs import Examples
from heedful.reproduce.plan import Table


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

    def as_records(self) -> list[dict[str, Any]]:
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
        rows = [heads, ["---"] * len(heads)]
        for pair in self.examples.pairs:
            ours = [said.get((pair.name, model), "") for model in self.origin]
            rows.append([f"{pair.name} `{pair.id}`", pair.gold, *pair.paper.values(), *ours])
        grid = "\n".join("| " + " | ".join(row) + " |" for row in rows)
        notes = "\n".join(f"- {line}" for line in (*self.table.notes, *self.summary()))
        return f"### {self.table.title}\n\n```bash\n{command}\n```\n\n{grid}\n\n{notes}\n"
