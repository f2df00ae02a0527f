"""Write docs/baselines.md, and the short table of README.md, from the boards in results/baselines and their notes.

    python -m heedful_lab.repository.baselines_page          # writes both
    python -m heedful_lab.repository.baselines_page --check  # says whether they are up to date
    python -m heedful_lab.repository.baselines_page --collect FOLDER  # first takes what it printed as JSON
    python -m heedful_lab.repository.baselines_page --rows FOLDER  # takes no more than the rows it has

A board is named after its data set, with ``-1000`` where 1,000 training examples were drawn. It keeps which answers are
right, one bit a test example, and no gold label.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path
from typing import Any

from heedful.tables import markdown_table
from heedful_lab.repository import ROOT
from heedful_lab.repository.board_rows import Board, with_rows

BOARDS, NOTES = ROOT / "results" / "baselines", ROOT / "results" / "notes"
RUNS = ROOT / "results" / "runs" / "standard"
STUDIES = {"trec": "trec", "cr": "cr", "mpqa": "mpqa", "subj": "subj", "sst-2": "sst2", "sick-r": "sick"}
"""Board to the file with the runs that its kept rows are made of."""
PAGE, README = ROOT / "docs" / "baselines.md", ROOT / "README.md"
SHORT = ("trec", "cr", "mpqa", "subj", "sst-2")
SHORT_ROWS = (
    "Heedful, DiSAN",
    "Heedful, Bi-LSTM",
    "NB-SVM (words 1-2)",
    "TF-IDF (words 1-2) + logistic regression",
    "fastText (words 1-2)",
)
START, END = "<!-- scoreboard -->", "<!-- /scoreboard -->"
SETS = {
    "trec": "TREC",
    "cr": "CR",
    "mpqa": "MPQA",
    "subj": "SUBJ",
    "sst-2": "SST-2",
    "sst-2-sentences": "SST-2, sentences",
    "sst-5": "SST-5",
    "sst-5-sentences": "SST-5, sentences",
    "snli": "SNLI, a part",
    "sick-r": "SICK (r)",
}
FEW = "-1000"
NAMES = {"disan": "DiSAN", "mtsa": "MTSA", "bi-lstm": "Bi-LSTM", "embedding": "words without context"}
DEFAULT = "This list compares DiSAN, the default network, with the best simple model on the test split:"
BEST = (
    "This list compares the best of Heedful's networks with the best simple model. Both were chosen on the test split "
    "itself, so the figures of both are too optimistic:"
)
TYPOS = (
    "The table shows how much the same figure changes, in points, if 10 % of the words get a typo (one edit), with all "
    "training examples. Rows from kept studies are missing, because a study keeps no model."
)
ECE = (
    "The table gives the expected calibration error in points, at the temperature that was fitted on dev, with all "
    "training examples."
)
COST = (
    "The table gives the processor seconds of training with all examples, including the choice on dev. Other work ran "
    "on the same machine, so they are accurate to a factor of two. Heedful's rows are kept runs with one thread: the "
    "processor seconds of all epochs or, if only the wall time was measured, that time as an upper limit (≤)."
)


SPEED = (
    "The table gives the number of test texts or pairs that are predicted in one second of processor time, if all are "
    "given at once; the time to load the model is not included."
)
INSTALLED = """The table gives the size of an installation in megabytes, with all dependencies, without bytecode files
(`python -m heedful_lab.repository.installed_sizes`, Linux, Python 3.11):

| system | MB | largest parts |
| --- | ---: | --- |
| Heedful's networks with `heedful-runtime`, to predict | 59, and less than 1 of its own | NumPy 57 |
| fastText | 78 | NumPy 57, fastText 16 |
| scikit-learn: TF-IDF, NB-SVM, mean of word vectors | 206 | SciPy 114, NumPy 57, scikit-learn 32 |
| spaCy | 268 | spaCy 120, NumPy 57, BLIS 41 |
| Heedful, to train | 957 | torch 699, SciPy 114, NumPy 57 |"""


def page() -> str:
    """Return the page: notes around the tables."""
    whole, few = (
        {name: _board(name + suffix) for name in SETS if (BOARDS / f"{name}{suffix}.json.gz").exists()}
        for suffix in ("", FEW)
    )
    tables = [
        f"## Who wins\n\n{DEFAULT}\n\n" + _verdicts(whole, "Heedful, DiSAN"),
        f"{BEST}\n\n" + _verdicts(whole),
        "## All training examples\n\n" + _table(whole, "metric", 1),
        "## 1,000 training examples\n\n" + _verdicts(few) + "\n\n" + _table(few, "metric", 1),
        f"## With typos\n\n{TYPOS}\n\n" + _table(whole, "typos", 1),
        "With 1,000 training examples:\n\n" + _table(few, "typos", 1),
        f"## Calibration\n\n{ECE}\n\n" + _table(whole, "ece", 1),
        "With 1,000 training examples:\n\n" + _table(few, "ece", 1),
        f"## Cost\n\n{COST}\n\n" + _table(whole, "train_cpu_seconds", 1),
        "With 1,000 training examples:\n\n" + _table(few, "train_cpu_seconds", 1),
        "The size of a model on disk in megabytes, without quantization:\n\n" + _table(whole, "megabytes", 1),
        f"{SPEED}\n\n" + _table(whole, "texts_per_cpu_second", 0),
        "With 1,000 training examples:\n\n" + _table(few, "texts_per_cpu_second", 0),
        f"{INSTALLED}",
        "## What dev chose\n\n" + _chosen(whole),
    ]
    head, tail = (
        (NOTES / f"baselines-{part}.md").read_text(encoding="utf-8").strip() for part in ("head", "tail")
    )
    return "\n\n".join([head, *tables, tail]) + "\n"


def readme() -> str:
    """Return README.md with the short table between its two marks."""
    boards = {name: _board(name) for name in SHORT}
    rows = []
    for system in SHORT_ROWS:
        cells = []
        for board in boards.values():
            best = max(row["metric"] for row in board["rows"] if row["system"] in SHORT_ROWS)
            row = next(row for row in board["rows"] if row["system"] == system)
            cells.append(f"**{_value(row, 1)}**" if row["metric"] == best else _value(row, 1))
        rows.append([system, *cells])
    heads = ["accuracy on test", *(SETS[name] for name in SHORT)]
    lines = markdown_table(heads, rows, right=range(1, len(heads)))
    head, _, rest = README.read_text(encoding="utf-8").partition(START)
    return head + START + "\n" + "\n".join(lines) + "\n" + END + rest.partition(END)[2]


def _kept(name: str) -> Board:
    board: Board = json.loads(gzip.decompress((BOARDS / f"{name}.json.gz").read_bytes()))
    return board


def _board(name: str) -> Board:
    board = _kept(name)
    for row in board["rows"]:
        if row["kept"] and name in STUDIES:
            row["train_cpu_seconds"], row["at_most"] = _kept_cost(name, row)
    return board


def _kept_cost(name: str, row: dict[str, Any]) -> tuple[float | None, bool]:
    """Return the mean seconds of the runs that a kept row is made of, and whether some are by the clock alone.

    None where a run of the row is not found by its seed or fold and its figure.
    """
    seconds, at_most = [], False
    with gzip.open(RUNS / f"{STUDIES[name]}.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    runs = {
        (f"Heedful, {NAMES.get(each['system'])}", each["record"]["varied"]): each["record"]["figures"]
        for each in found
        if each["record"]["machine"]["threads"] == "1"
    }
    for varied, run in row["runs"].items():
        figures = runs.get((row["system"], varied))
        if figures is None:
            return None, False
        metrics = figures["test"]["metrics"]
        if abs(metrics.get("accuracy", metrics.get("pearson")) - run["metric"]) > 1e-5:
            return None, False
        each = figures.get("epoch_cpu_seconds")
        at_most = at_most or each is None
        seconds.append(figures["train_seconds"] if each is None else each * figures["epochs"])
    return sum(seconds) / len(seconds), at_most


def _verdicts(boards: dict[str, Board], system: str = "") -> str:
    """Write one line a data set, defeats first; of one of Heedful's rows, or of its best on each."""
    order = ("loses", "is behind", "is ahead", "wins", "no network")
    lines = [_verdict(name, board, system) for name, board in boards.items()]
    return "\n".join(sorted(lines, key=lambda line: next(k for k, word in enumerate(order) if word in line)))


def _verdict(name: str, board: Board, system: str) -> str:
    """Return in one line whether Heedful's best row or another one is ahead, and how sure that is."""
    own = next((row for row in board["rows"] if row["own"] and system in ("", row["system"])), None)
    other = next(row for row in board["rows"] if not row["own"])
    if own is None:
        best = f"{other['system']} ({_value(other, 1)})"
        return f"- {SETS[name]}: no network was trained; the best simple model is {best}."
    first, second = sorted((own, other), key=lambda row: -row["metric"])
    test = next(t for t in board["tests"] if (t["better"], t["worse"]) == (first["system"], second["system"]))
    p = test["p_holm"]
    sure = f"p = {p:.3f}" if p >= 0.001 else f"p = {p:.0e}"
    verdict = "wins" if first is own else "loses"
    if p >= 0.05:
        verdict = "is ahead, not significantly" if first is own else "is behind, not significantly"
    return (
        f"- {SETS[name]}: **Heedful {verdict}**: {own['system'].removeprefix('Heedful, ')} {_value(own, 1)}, "
        f"{other['system']} {_value(other, 1)} ({sure})."
    )


def _table(boards: dict[str, Board], figure: str, digits: int) -> str:
    """Write one figure of every system on every data set; the best of a column in bold where more is better."""
    systems = list(dict.fromkeys(row["system"] for board in boards.values() for row in board["rows"]))
    order = [name for name in systems if name.startswith("Heedful")]
    order += [name for name in systems if name not in order]
    best = {name: max((row["metric"] for row in board["rows"]), default=0) for name, board in boards.items()}
    rows = []
    for system in order:
        cells = []
        for name, board in boards.items():
            row = next((row for row in board["rows"] if row["system"] == system), None)
            cell = _cell(row, figure, digits)
            bold = figure == "metric" and row is not None and row["metric"] == best[name]
            cells.append(f"**{cell}**" if bold else cell)
        if any(cells):
            rows.append([system, *cells])
    return "\n".join(markdown_table(["system", *(SETS[name] for name in boards)], rows))


def _cell(row: dict[str, Any] | None, figure: str, digits: int) -> str:
    if row is None or row[figure] is None:
        return ""
    if figure == "metric":
        ends = " [{:.1f}, {:.1f}]".format(*(100 * end for end in row["interval"])) if row["interval"] else ""
        return _value(row, digits) + ends
    if figure == "typos":
        return f"{100 * (row['typos'] - row['metric']):+.1f}"
    if figure == "train_cpu_seconds" and row.get("at_most"):
        return f"≤ {row[figure]:.0f}"
    return f"{(100 if figure == 'ece' else 1) * row[figure]:.{digits}f}"


def _value(row: dict[str, Any], digits: int) -> str:
    return f"{100 * row['metric']:.{digits}f}"


def _chosen(boards: dict[str, Board]) -> str:
    lines = []
    for name, board in boards.items():
        rows = {
            row["system"]: dict.fromkeys(run["chosen"] for run in row["runs"].values())
            for row in board["rows"]
        }
        said = "; ".join(f"{system}: {', '.join(found)}" for system, found in rows.items() if any(found))
        lines.append(
            f"- {SETS[name]} ({board['examples']:,} training, {board['tested']:,} test examples; {board['protocol']}; "
            f"{', '.join(next(iter(board['rows']))['runs'])}): {said}."
        )
    return "\n".join(lines)


def collect(folder: Path, *, rows_alone: bool = False) -> None:
    """Take boards that were printed as JSON, under the names that tables use, figures at five digits.

    Args:
        folder: of the boards.
        rows_alone: whether only their rows are taken, each in the place of that system's row in the kept board.
    """
    BOARDS.mkdir(parents=True, exist_ok=True)
    for file in sorted(folder.glob("*.json")):
        board = _renamed(json.loads(file.read_text(encoding="utf-8")))
        if rows_alone:
            board = _renamed(with_rows(_kept(file.stem), board["rows"]))
        text = json.dumps(board, ensure_ascii=False)
        (BOARDS / f"{file.name}.gz").write_bytes(gzip.compress(text.encode("utf-8") + b"\n", 9, mtime=0))


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {_name(key): _renamed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.5g}")
    return _name(value) if isinstance(value, str) else value


def _name(text: str) -> str:
    """Write "Heedful,disan" as tables do."""
    first, comma, rest = text.partition(",")
    return f"Heedful, {NAMES.get(rest.strip(), rest.strip())}" if first == "Heedful" and comma else text


def main() -> int:
    """Write or check both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--collect", type=Path)
    parser.add_argument("--rows", type=Path)
    asked = parser.parse_args()
    if asked.collect is not None:
        collect(asked.collect)
    if asked.rows is not None:
        collect(asked.rows, rows_alone=True)
    wrong = 0
    for file, text in ((PAGE, page()), (README, readme())):
        if not asked.check:
            file.write_text(text, encoding="utf-8")
        elif file.read_text(encoding="utf-8") != text:
            module = "heedful_lab.repository.baselines_page"
            print(f"{file}: is not what the boards make of it; run python -m {module}", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
