"""Columns beside the texts of examples: fitted to training rows, and suspected where one of them tells the gold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from heedful.data.examples import Corpus, Gold, LabelSet
from heedful.data.tokens import place
from heedful.errors import UsageError
from heedful.features.cells import Cell, named_cell
from heedful.features.feature_columns import FeatureColumns
from heedful.features.feature_kinds import doubt_about, wanted_columns

_FEW = 20
"""Rows below which a column that tells all gold may do so by chance."""
Cells = Mapping[str, object]


def plain_rows(
    names: Sequence[str], cells: Sequence[Cells | None], numbers: Sequence[int]
) -> Iterator[tuple[list[Cell], str]]:
    """Yield the values of the columns of each example, with where they stand.

    Args:
        names: of the columns.
        cells: of each example the values by name.
        numbers: the row of each example.

    Yields:
        The values in the order of the names, and the row for messages.

    Raises:
        DataError: if a column is not there.
    """
    for own, number in zip(cells, numbers, strict=True):
        where = f"row {number}"
        yield [named_cell(own, name, where) for name in names], where


def fitted_columns(
    features: Sequence[str], cells: Sequence[Cells | None], numbers: Sequence[int]
) -> FeatureColumns:
    """Fit the columns of ``data.features`` to training examples; see `plain_rows` for the other arguments."""
    wanted = wanted_columns(features)
    rows = list(plain_rows([each.name for each in wanted], cells, numbers))
    return FeatureColumns.fitted(wanted, [row for row, _ in rows], lambda at: rows[at][1])


def doubts_about_columns(features: Sequence[str], cells: Sequence[Cells | None]) -> list[str]:
    """Say which columns were perhaps meant to be of another kind, or hold one value alone.

    Args:
        features: ``data.features``.
        cells: of each training example the values by name, all columns there.

    Returns:
        A sentence for a person each.
    """
    wanted = [each for each in wanted_columns(features) if each.kind is None]
    found = [doubt_about(each.name, [named_cell(own, each.name, "") for own in cells]) for each in wanted]
    return [doubt for doubt in found if doubt]


def notes_on_columns(features: Sequence[str], corpus: Corpus) -> tuple[str, ...]:
    """Say what the columns beside the texts are, and which of them tells the gold by itself.

    Args:
        features: ``data.features``.
        corpus: the training examples.

    Returns:
        A sentence for a person each; none without columns.

    Raises:
        UsageError: if the examples have no columns.
        DataError: if a column cannot be read; names the file and the row.
    """
    if not features:
        return ()
    examples = [example for example in corpus.examples if example.target is not None]
    if not any(example.cells for example in examples):
        raise UsageError(
            "data.features: there are no columns beside these texts; features are columns of a table of yours, or of "
            "a table X of an estimator"
        )
    wanted = wanted_columns(features)
    found = []
    for number, example in enumerate(examples, start=1):
        where = place(corpus.source, example.row or number)
        found.append(([named_cell(example.cells, each.name, where) for each in wanted], where))
    columns = FeatureColumns.fitted(wanted, [row for row, _ in found], lambda at: found[at][1])
    rows = [columns.read_plain(*each) for each in found]
    golds = [_plain_gold(example.target) for example in examples]
    doubts = doubts_about_columns(features, [example.cells for example in examples])
    notes = [f"columns beside the text: {columns.summary()}", *doubts]
    for at, name in enumerate(columns.names):
        if _determines([row[at] for row in rows], golds):
            notes.append(
                f"the column “{name}” tells the gold of every training row by itself: is it known before the gold is? "
                "If not, leave it out"
            )
    return tuple(notes)


def _plain_gold(gold: Gold) -> object:
    return tuple(sorted(gold.names)) if isinstance(gold, LabelSet) else gold


def _determines(values: Sequence[object], golds: Sequence[object]) -> bool:
    """Say whether the value of a column tells the gold, and not only because values hardly repeat."""
    if len(values) < _FEW or len(set(golds)) < 2:
        return False
    if all(value == gold for value, gold in zip(values, golds, strict=True)):
        return True
    met: defaultdict[object, Counter[object]] = defaultdict(Counter)
    for value, gold in zip(values, golds, strict=True):
        met[value][gold] += 1
    repeated = sum(sum(counts.values()) for counts in met.values() if sum(counts.values()) > 1)
    pure = all(len(counts) == 1 for counts in met.values())
    return pure and repeated > len(values) / 2
