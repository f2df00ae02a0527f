"""What the kept runs cost: core-hours of training by system and data set."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from heedful.errors import UsageError
from heedful.tables import markdown_table
from heedful_lab.reproduce.kept_runs import experiment_of, packed_files, read_packed

NAMES = {
    "disan": "DiSAN",
    "mtsa": "MTSA",
    "mssan": "MS-SAN",
    "mdman": "MDMAN",
    "decomposable": "decomposable attention",
    "bi-lstm": "Bi-LSTM",
    "multi-head": "multi-head",
}
OTHERS, SUM, GPU = "other rows", "sum", "on a GPU"
DATA = {
    "trec": "TREC",
    "cr": "CR",
    "mpqa": "MPQA",
    "subj": "SUBJ",
    "sst5": "SST-5",
    "sst2": "SST-2",
    "sick": "SICK",
    "snli": "SNLI",
    "multinli": "MultiNLI",
    "scenes": "generated",
    "ewt": "roles",
    "multi30k": "Multi30k",
}
"""The first word of an experiment's name to the heading of its column."""


def section(runs: Path) -> str:
    """Write the table of what the kept runs cost.

    Args:
        runs: the folder of packed runs.

    Returns:
        Markdown for a page of the results; a line a system, a column a data set, with sums.

    Raises:
        UsageError: if an experiment belongs to no column.
    """
    hours: dict[tuple[str, str], float] = defaultdict(float)
    for file in packed_files(runs):
        data = experiment_of(file).partition("-")[0]
        if data not in DATA:
            raise UsageError(f"{file}: expected the name of a data set before '-', one of {', '.join(DATA)}")
        for (system, _), record in read_packed(file).items():
            figures, on_gpu = record.figures, record.machine.get("cuda", "none") != "none"
            if on_gpu:
                hours[GPU, data] += figures.train_seconds / 3600
                continue
            seconds = (figures.epoch_cpu_seconds or figures.epoch_seconds) * figures.epochs
            name = system.partition("@")[0].removesuffix("-scaled")
            for row in (NAMES.get(name, OTHERS), SUM):
                hours[row, data] += seconds / 3600
    heads = ["system", *DATA.values(), SUM]
    return "\n".join(
        [
            "# What the runs cost",
            "",
            "Hours of one core that all kept runs of a system took to train, of all recipes, protocols, folds and",
            "seeds, without evaluations. Most are processor seconds with one thread, the oldest are wall time. The",
            "machines had two cores of AMD EPYC or Intel Xeon. The page of each table has the seconds an epoch of",
            "each of its rows. Runs on a GPU, several of which shared it, stand in the last line with their wall time.",
            "",
            *markdown_table(
                heads,
                (
                    _cells(row, [hours[row, data] for data in DATA])
                    for row in (*NAMES.values(), OTHERS, SUM, GPU)
                ),
            ),
            "",
        ]
    )


def _cells(row: str, values: list[float]) -> list[str]:
    return [row, *(f"{value:.2f}" if value else "" for value in [*values, sum(values)])]
