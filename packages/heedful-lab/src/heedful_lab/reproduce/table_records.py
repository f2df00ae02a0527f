"""A table with its figures as plain values and as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from heedful.storage.ownership import is_record, refuse_foreign_results
from heedful_lab.reproduce.cell_runs import Result, Runs


def to_records(result: Result) -> list[dict[str, object]]:
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
                    "gap_to": column.key if figure.paper else column.against if figure.against else "",
                    **(_origin(runs) if runs and figure.values else {}),
                    "p": test.p if test and runs and column.figure == f"test.metrics.{runs.tested}" else None,
                }
            )
    return records


def refuse_foreign_table(stem: Path) -> None:
    """Refuse a folder in which a table would replace files of its names that `heedful reproduce` did not write.

    Args:
        stem: path of the files without their endings.

    Raises:
        OutputError: naming them.
    """
    names = [f"{stem.name}{suffix}" for suffix in (".md", ".csv", ".json", ".png", ".svg")]
    refuse_foreign_results(stem.parent, names, own=is_record(stem.parent / f"{stem.name}.json", ()))


def _origin(runs: Runs) -> dict[str, object]:
    first = runs.found[0]
    return {
        "runs": [str(name) for name in runs.names],
        "parameters": runs.figures("parameters")[0],
        "epoch_seconds": float(np.mean(runs.figures("epoch_seconds"))),
        "epoch_cpu_seconds": [record.figures.epoch_cpu_seconds for record in runs.found],
        "test_seconds": float(np.mean(runs.figures("test.seconds"))),
        "peak_megabytes": runs.peak,
        "peak_gpu_megabytes": runs.peak_on_gpu,
        "protocol": first.protocol.of_all_runs().sentence(),
        "budget": runs.cell.budget.name,
        "command": runs.cell.command("DIR", "OUT"),
        "signatures": first.figures.test.signatures,
        "versions": dict(first.machine),
        "data": dict(first.data),
    }


def to_csv(result: Result) -> str:
    """Write the records as CSV, lists and nested values on one line each.

    Args:
        result: the figures.

    Returns:
        CSV with a header.
    """
    records = to_records(result)
    plain = [{key: _on_one_line(value) for key, value in record.items()} for record in records]
    names = list(dict.fromkeys(name for record in plain for name in record))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(plain)
    return stream.getvalue()


def _on_one_line(value: object) -> object:
    if isinstance(value, dict):
        return "; ".join(f"{key}={text}" for key, text in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else value
