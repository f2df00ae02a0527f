"""A table with its figures as Markdown, CSV and plain values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from heedful.evaluation.significance import describe_p
from heedful.reproduce.gather import Figure, Result, Runs, titles
from heedful.reproduce.pairwise import matrices
from heedful.reproduce.plan import Column, Row


def to_markdown(result: Result, command: str) -> str:
    """Write a table with its protocols, costs and tests.

    Args:
        result: the figures.
        command: that made them.

    Returns:
        Markdown, ending with a line break.
    """
    blocks = [
        f"### {result.table.title}",
        f"```bash\n{command}\n```",
        _figures(result),
        "\n".join(_below(result)),
    ]
    if result.runs:
        blocks += [
            "Cost, mean over runs; CPU seconds count all threads, the seconds of the test part are wall time:",
            _costs(result),
        ]
    tests = _tests(result)
    if tests:
        blocks += [
            f"Difference to {result.table.compare}, 95 % interval and p (paired bootstrap over the test examples, "
            "answers of all runs; in points: of accuracy for classes, of 100 times Pearson's correlation for scores, "
            "of F1 for roles, of BLEU for translations):",
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
                cells.append(_ours(figure, column, emphasise=bool(cited), usual=_usual(result, column)))
        lines.append(cells)
    return _grid(heads, lines)


def _usual(result: Result, column: Column) -> int:
    """Number of runs behind most figures of a column: only where it differs, a figure says its own."""
    return max(len(result.figure(row, column).values) for row in result.table.rows)


def _ours(figure: Figure, column: Column, *, emphasise: bool, usual: int) -> str:
    if figure.mean is None:
        return ""
    text = f"{figure.mean:.{column.digits}f}"
    text = f"**{text}**" if emphasise else text
    if figure.deviation is not None:
        text += f" ± {figure.deviation:.{column.digits}f}"
    if len(figure.values) != usual:
        text += f", n {len(figure.values)}"
    return text if figure.gap is None else f"{text} ({figure.gap:+.{column.digits}f})"


def _below(result: Result) -> list[str]:
    lines = [f"- {note}" for note in result.table.notes]
    lines += [f"- {row.name}: {row.note}" for row in result.table.rows if row.note]
    idle: list[str] = []
    for name, title in titles(result).items():
        runs = [found for key, found in result.runs.items() if key[0] == name]
        if not runs:
            idle.append(name)
            continue
        varied = [str(record["summary"]["varied"]).rpartition("=")[2] for record in runs[0].found]
        kind = "folds" if runs[0].cell.experiment.folds else "seeds"
        said = f"- {title}: {kind} {', '.join(varied)}; {_protocol(runs[0])}; {_budget(runs[0])}"
        lines.append(said)
    machines = {_machine(record) for found in result.runs.values() for record in found.found}
    lines += [f"- Measured with {machine}." for machine in sorted(machines)]
    lines += [f"- Experiments without runs: {', '.join(idle)}."] if idle else []
    begun = {key[0] for key in result.runs}
    absent = [cell for cell in result.missing if cell.experiment.name in begun]
    if absent:
        names = ", ".join(f"{cell.system.name} on {cell.experiment.name}" for cell in absent)
        lines.append(f"- Not run: {names}.")
    return lines


def _protocol(runs: Runs) -> str:
    text: str = runs.found[0]["protocol"]
    return text.replace(f"(seed {runs.found[0]['settings']['train']['seed']})", "(with the run's seed)")


def _budget(runs: Runs) -> str:
    train, batch = runs.found[0]["settings"]["train"], runs.found[0]["settings"]["batches"]["size"]
    length = f"{train['max_steps']:,} steps" if train["max_steps"] else f"{train['epochs']} passes"
    patience = f", patience {train['patience']}" if train["patience"] else ""
    return f"budget {runs.cell.budget.name}: at most {length}{patience}, batches of {batch}."


def _machine(record: Any) -> str:
    machine = record["machine"]
    return f"heedful {machine['heedful']}, torch {machine['torch']}, Python {machine['python']}, {machine['platform']}"


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
    kept = [record["summary"].get("epoch_cpu_seconds") for record in runs.found]
    epoch = "?" if None in kept else f"{np.mean(kept):.1f}"
    peaks = [record["peak_megabytes"] for record in runs.found if record["peak_megabytes"]]
    return f"{parameters:,.0f}, {epoch}, {test:.1f}, {max(peaks) if peaks else '?'}"


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
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def to_records(result: Result) -> list[dict[str, Any]]:
    """Return one plain record a measured or cited figure, for CSV and JSON.

    Args:
        result: the figures.

    Returns:
        The records, in the order of rows and columns.
    """
    tests = {(row.name, experiment): found for row, experiment, found in result.tested()}
    records = []
    for row in result.table.rows:
        for column in result.table.columns:
            figure = result.figure(row, column)
            if figure.mean is None and not figure.paper:
                continue
            runs = result.runs.get((column.experiment, row.system))
            test = tests.get((row.name, column.experiment))
            records.append(
                {
                    "table": result.table.name,
                    "row": row.name,
                    "column": column.key,
                    "cited_only": not row.system,
                    "paper": figure.paper,
                    "mean": figure.mean,
                    "deviation": figure.deviation,
                    "values": list(figure.values),
                    "gap": figure.gap,
                    **(_origin(runs) if runs and figure.values else {}),
                    "p": test.p if test else None,
                }
            )
    return records


def _origin(runs: Runs) -> dict[str, Any]:
    first = runs.found[0]
    return {
        "runs": [record["summary"]["varied"] for record in runs.found],
        "parameters": runs.figures("parameters")[0],
        "epoch_seconds": float(np.mean(runs.figures("epoch_seconds"))),
        "epoch_cpu_seconds": [record["summary"].get("epoch_cpu_seconds") for record in runs.found],
        "test_seconds": float(np.mean(runs.figures("test.seconds"))),
        "peak_megabytes": max(record["peak_megabytes"] or 0 for record in runs.found),
        "protocol": _protocol(runs),
        "budget": runs.cell.budget.name,
        "command": runs.cell.command("DIR", "OUT"),
        "versions": first["machine"],
        "data": first["data"],
    }


def to_csv(result: Result) -> str:
    """Write the records as CSV, without the nested ones.

    Args:
        result: the figures.

    Returns:
        CSV with a header.
    """
    records = to_records(result)
    plain = [
        {
            key: " ".join(map(str, value)) if isinstance(value, list) else value
            for key, value in record.items()
            if not isinstance(value, dict)
        }
        for record in records
    ]
    names = list(dict.fromkeys(name for record in plain for name in record))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(plain)
    return stream.getvalue()
