"""A table with its figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from heedful.evaluation.significance import describe_p
from heedful.evaluation.statistics import holm
from heedful.run.record import RunRecord
from heedful.storage.fields import Fields
from heedful.tables import markdown_table
from heedful_lab.reproduce.cell_runs import Figure, Result, Runs, comparable, compare, titles
from heedful_lab.reproduce.learning_curves import dev_column, learning_curves, stopped_rising
from heedful_lab.reproduce.plan import Column, Row

LEVEL = 0.05
EPOCHS = (1, 2, 3, 5, 8, 10, 12, 15, 20, 30, 40, 50, 60, 80)
"""After which the dev figure is printed."""
Pairs = Mapping[tuple[str, str], tuple[float, float]]
"""(row, other row) to row minus other row in points, and its p-value adjusted for all pairs."""


def pairwise(result: Result, experiment: str) -> Pairs:
    """Test all pairs of rows in one experiment, by the paired bootstrap with Holm's adjustment.

    Args:
        result: the figures.
        experiment: its key.

    Returns:
        Both orders of every pair of rows whose answers were kept.
    """
    systems = {row.name: row.system for row in result.table.rows if (experiment, row.system) in result.runs}
    runs = {name: result.runs[experiment, system] for name, system in systems.items()}
    pairs = [pair for pair in combinations(runs, 2) if comparable(*(runs[name] for name in pair))]
    tests = [compare(runs[first], runs[second], result.resampled) for first, second in pairs]
    adjusted = holm([1.0 if test.p is None else test.p for test in tests])
    both = {}
    for (first, second), test, p in zip(pairs, tests, adjusted, strict=True):
        both[first, second] = (100 * test.difference, p)
        both[second, first] = (-100 * test.difference, p)
    return both


def matrices(result: Result) -> list[str]:
    """Write one matrix for each experiment: row minus column, in bold where the adjusted p is below 0.05.

    Args:
        result: the figures.

    Returns:
        Markdown tables, the experiment in the first head; none for experiments with fewer than two rows to compare.
    """
    return [text for name in result.table.experiments() if (text := _matrix(result, name))]


def _matrix(result: Result, experiment: str) -> str:
    found = pairwise(result, experiment)
    names = list(dict.fromkeys(first for first, _ in found))
    ordered = [row.name for row in result.table.rows if row.name in names]
    if not ordered:
        return ""
    rows = []
    for first in ordered:
        cells = (_cell(*found[first, second]) if (first, second) in found else "" for second in ordered)
        rows.append([first, *cells])
    return "\n".join(markdown_table([experiment, *ordered], rows))


def _cell(points: float, p: float) -> str:
    text = f"{round(points, 1) + 0.0:+.1f}"  # the sum turns -0.0 into 0.0
    return f"**{text}**" if p < LEVEL else text


def to_markdown(result: Result, command: str, absent: Mapping[str, Sequence[str]] | None = None) -> str:
    """Write a table with its protocols, costs and tests.

    Args:
        result: the figures.
        command: that made them.
        absent: experiment to the data that the folder lacks, as far as it was asked.

    Returns:
        Markdown, ending with a line break.
    """
    blocks = [
        f"### {result.table.title}",
        f"```bash\n{command}\n```",
        _figures(result),
        "\n".join(_below(result, absent or {})),
    ]
    rises = _rises(result) if result.budget.name == "converged" else []
    if rises:
        blocks += [
            "The dev figure after each epoch, and the epoch that was best:",
            *rises,
            _still_rising(result),
        ]
    if result.runs:
        blocks += [
            "Cost, mean over runs; CPU seconds count all threads, the seconds for the test split are wall time:",
            _costs(result),
        ]
    tests = _tests(result)
    if tests:
        blocks += [
            f"Difference to {result.table.compare}, 95 % interval and p (paired bootstrap over the test examples, "
            "predictions of all runs; in points: of accuracy for classes, of 100 times Pearson's correlation for "
            "scores, of F1 for roles, of BLEU for translations):",
            tests,
        ]
    every = matrices(result) if result.table.pairwise else []
    if every:
        blocks += [
            "Row minus column in points; bold where p < 0.05 in the same test after Holm's adjustment for all pairs:",
            *every,
        ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _figures(result: Result) -> str:
    columns = result.table.columns
    cited, measured = (
        [column for column in columns if any(test(result.figure(row, column)) for row in result.table.rows)]
        for test in (lambda figure: figure.paper, lambda figure: figure.values)
    )
    ours = ", Heedful" if cited else ""
    heads = ["model"]
    for column in columns:
        heads += [f"{column.head}, paper"] if column in cited else []
        heads += [f"{column.head}{ours}"] if column in measured else []
    lines = []
    for row in result.table.rows:
        cells = [row.name if row.system else f"{row.name} (cited)"]
        for column in columns:
            figure = result.figure(row, column)
            cells += [figure.paper] if column in cited else []
            if column in measured:
                cells.append(_ours(figure, column, emphasize=bool(cited), usual=_usual(result, column)))
        lines.append(cells)
    return _grid(heads, lines)


def _usual(result: Result, column: Column) -> int:
    """Number of runs behind most figures of a column: only where it differs, a figure says its own."""
    return max(len(result.figure(row, column).values) for row in result.table.rows)


def _ours(figure: Figure, column: Column, *, emphasize: bool, usual: int) -> str:
    if figure.mean is None:
        return ""
    text = f"{figure.mean:.{column.digits}f}"
    text = f"**{text}**" if emphasize else text
    if figure.deviation is not None:
        text += f" ± {figure.deviation:.{column.digits}f}"
    if len(figure.values) != usual:
        text += f", n {len(figure.values)}"
    return text if figure.gap is None else f"{text} ({figure.gap:+.{column.digits}f})"


def _below(result: Result, absent: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [f"- {note}" for note in result.table.notes]
    lines += [
        f"- {column.head}: the difference in brackets is from the paper's {cited.head}, which has other data or "
        "another protocol."
        for column in result.table.columns
        for cited in result.table.columns
        if cited.key == column.against and any(result.figure(row, column).gap for row in result.table.rows)
    ]
    lines += [f"- {row.name}: {row.note}" for row in result.table.rows if row.note]
    idle: list[str] = []
    for name, title in titles(result).items():
        runs = [found for key, found in result.runs.items() if key[0] == name]
        if not runs:
            idle.append(name)
            continue
        most = max(runs, key=lambda one: len(one.found))
        protocol = most.found[0].protocol.of_all_runs().sentence()
        lines.append(f"- {title}: {_varied(most)}; {protocol}; {_budget(most)} {_data(runs)}")
        lines += [
            *_chosen(result, name),
            *(f"- {name}: {signature}." for name, signature in _signatures(most)),
        ]
    lines += _versions([record for found in result.runs.values() for record in found.found])
    planned = {one.cell.experiment.name for one in result.cells}
    for said, without in (
        ("Experiments without runs", [name for name in idle if name in planned]),
        (
            f"Experiments without a budget {result.budget.name}",
            [name for name in idle if name not in planned],
        ),
    ):
        lines += [f"- {said}: {', '.join(_reasoned(name, absent) for name in without)}."] if without else []
    begun = {key[0] for key in result.runs}
    missing = [cell.name for cell in result.missing if cell.experiment.name in begun]
    return [*lines, f"- Not run: {', '.join(missing)}."] if missing else lines


def _chosen(result: Result, name: str) -> list[str]:
    """Write which value the dev split chose for each row."""
    found = {key[1]: runs.cell for key, runs in result.runs.items() if key[0] == name}
    choice = next((cell.experiment.choice for cell in found.values()), None)
    if choice is None:
        return []
    rows = [f"{row.name} {found[row.system].value}" for row in result.table.rows if row.system in found]
    return [
        f"- {name}: of {', '.join(choice.values)} the dev split chose as {choice.setting}, with the first seed: "
        f"{', '.join(rows)}."
    ]


def _reasoned(name: str, absent: Mapping[str, Sequence[str]]) -> str:
    """Name an experiment that was not run, and the data that it lacks."""
    return f"{name} (the data folder lacks {', '.join(absent[name])})" if absent.get(name) else name


def _varied(runs: Runs) -> str:
    """Return which seeds or folds are there, and which the command makes where it makes more."""
    kind = "folds" if runs.cell.experiment.folds else "seeds"
    found, wanted = ([str(name.number) for name in names] for names in (runs.names, runs.cell.runs))
    there = ", ".join(found)
    if not runs.lacking:
        return f"{kind} {there}"
    planned = len(wanted) if kind == "folds" else ", ".join(wanted)
    return f"{kind} {there} of {planned} (the others are not finished)"


def _data(of: Sequence[Runs]) -> str:
    """Return the checksum of the data of an experiment's runs; that some read other data is said."""
    sums = sorted({sum_[:12] for runs in of for sum_ in runs.sums})
    if len(sums) > 1:
        return f"Data: the runs were made from different data, sums {', '.join(sums)}: do not compare them."
    files = len(of[0].found[0].data)
    return f"Data: {files} file{'s' * (files != 1)}, sum {sums[0]}."


def _signatures(runs: Runs) -> list[tuple[str, str]]:
    """Return how sacreBLEU says it counted, metric by metric."""
    return list(runs.found[0].figures.test.signatures.items())


def _budget(runs: Runs) -> str:
    settings = Fields(runs.found[0].settings, "", "settings.")
    train, batch = settings.part("train"), settings.part("batches").whole("size")
    most, patience = train.whole("max_steps"), train.whole("patience")
    length = f"{most:,} steps" if most else f"{train.whole('epochs')} epochs"
    waits = f", patience {patience}" if patience else ""
    return f"budget {runs.cell.budget.name}: at most {length}{waits}, batches of {batch}."


def _versions(records: Sequence[RunRecord]) -> list[str]:
    """Write a line for each set of versions, with the commits of the runs that recorded theirs."""
    commits: dict[str, set[str]] = {}
    for machine in (record.machine for record in records):
        versions = f"heedful {machine['heedful']}, torch {machine['torch']}, Python {machine['python']}"
        device = "" if machine.get("cuda", "none") == "none" else f", on {machine['cuda']}"
        commits.setdefault(f"{versions}, {machine['platform']}{device}", set()).add(machine.get("commit", ""))
    lines = []
    for versions, found in sorted(commits.items()):
        named = ", ".join(sorted(found - {""}))
        others = ", other runs did not record theirs" if "" in found else ""
        lines.append(f"- Measured with {versions}{f'; commit {named}{others}' if named else ''}.")
    return lines


def _rises(result: Result) -> list[str]:
    """Write how the dev figure rose, one table an experiment; a cell is empty unless all runs came so far."""
    grids = []
    for name in result.table.experiments():
        column, curves = dev_column(result, name), learning_curves(result, name)
        shown = [
            epoch
            for epoch in map(str, EPOCHS)
            if any(epoch in run.dev_by_epoch for runs in curves.values() for run in runs)
        ]
        lines = []
        for row, runs in curves.items():
            values = [[run.dev_by_epoch.get(epoch, np.nan) for run in runs] for epoch in shown]
            means = [column.scale * np.mean(each) for each in values]
            best = np.mean([run.epochs * run.best_step / run.steps for run in runs])
            cells = ["" if np.isnan(mean) else f"{mean:.{column.digits}f}" for mean in means]
            lines.append([row, *cells, f"{best:.0f}"])
        grids += [_grid([f"{name}, epoch", *shown, "best"], lines)] if lines else []
    return grids


def _still_rising(result: Result) -> str:
    """Name the rows of which a run's dev figure rose in its last fifth: they have not converged."""
    found = []
    for name in result.table.experiments():
        for row, runs in learning_curves(result, name).items():
            if not all(stopped_rising(list(run.dev_by_epoch.values())) for run in runs):
                found.append(f"{row} ({name})")
    return f"Still rising in the last fifth of the run: {', '.join(found)}." if found else ""


def _costs(result: Result) -> str:
    names = list(dict.fromkeys(key[0] for key in result.runs))
    heads = ["model", *(f"{name}: parameters, CPU s/epoch, test s, peak MB" for name in names)]
    lines = []
    for row in _measured(result):
        cells = [row.name]
        for name in names:
            runs = result.runs.get((name, row.system))
            cells.append(_cost(runs) if runs else "")
        lines.append(cells)
    return _grid(heads, lines)


def _cost(runs: Runs) -> str:
    parameters, test = runs.figures("parameters")[0], np.mean(runs.figures("test.seconds"))
    kept = [record.figures.epoch_cpu_seconds for record in runs.found]
    wall = f"{np.mean(runs.figures('epoch_seconds')):.1f} wall"  # older runs kept no other
    measured = [seconds for seconds in kept if seconds is not None]
    epoch = wall if len(measured) < len(kept) else f"{np.mean(measured):.1f}"
    memory = f"{runs.peak or '?'}" + (f" + {runs.peak_on_gpu} GPU" if runs.peak_on_gpu else "")
    return f"{parameters:,.0f}, {epoch}, {test:.1f}, {memory}"


def _measured(result: Result) -> Iterable[Row]:
    systems = {key[1] for key in result.runs}
    return [row for row in result.table.rows if row.system in systems]


def _tests(result: Result) -> str:
    found = list(result.tested())
    names = list(dict.fromkeys(experiment for _, experiment, _ in found))
    by_row: dict[str, dict[str, str]] = {}
    for row, experiment, comparison in found:
        text = f"{100 * comparison.difference:+.2f}"
        if comparison.interval is not None:
            text += f" [{100 * comparison.interval.low:+.2f}, {100 * comparison.interval.high:+.2f}]"
        text += f", {describe_p(comparison.p)}"
        by_row.setdefault(row.name, {})[experiment] = text
    lines = [[name, *(cells.get(experiment, "") for experiment in names)] for name, cells in by_row.items()]
    return _grid(["model", *names], lines) if lines else ""


def _grid(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(markdown_table(heads, lines))
