"""What was measured, one line of JSON a cell: an interrupted command goes on after the last whole line."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from heedful.errors import DataError
from heedful.storage import write_text

Group = Literal["ours", "simple", "library", "transformer"]
"""What kind of system: Heedful's models, linear models of scikit-learn, other libraries, transformers."""


@dataclass(frozen=True)
class Cell:
    """One system, trained on one draw of labels and measured on the test split.

    Attributes:
        data: the data set.
        labels: how many labels were asked for; 0 for all.
        seed: of the draw, or the number of the fold.
        system: its name.
        group: what kind of system it is.
        rows: training examples that it had, those that it chose by included.
        tested: test examples.
        right: how many of them it answered rightly.
        ece: expected calibration error of its probabilities.
        log_loss: mean negative log-likelihood of the gold label, in nats.
        ms: median processor time of one text by itself, in milliseconds, on one thread; 0 where it was not taken.
        texts_per_second: test texts by processor time, all at once, on one thread; likewise.
        megabytes: of the model on disk.
        installed: megabytes of the model and of the packages that it needs to predict.
        train_seconds: processor time of training, its choices included; 0 where it was not taken.
        parameters: trained numbers of a network; 0 where there is none.
    """

    data: str
    labels: int
    seed: int
    system: str
    group: Group
    rows: int
    tested: int
    right: int
    ece: float
    log_loss: float
    ms: float
    texts_per_second: float
    megabytes: float
    installed: float
    train_seconds: float
    parameters: int = 0

    @property
    def key(self) -> tuple[str, int, int, str]:
        """What tells it from the other cells of a file."""
        return self.data, self.labels, self.seed, self.system

    @property
    def accuracy(self) -> float:
        """Share of the test examples that it answered rightly."""
        return self.right / self.tested


def read_cells(file: Path) -> list[Cell]:
    """Read the cells that are there.

    Args:
        file: one JSON object a line; it may be missing.

    Returns:
        The cells in the order of the file. A last line without its end was cut off in writing, and is left out.

    Raises:
        DataError: naming the line, if another one is no cell.
    """
    if not file.exists():
        return []
    return [_cell(line, f"{file}, line {number}") for number, line in enumerate(_whole_lines(file), start=1)]


def add_cell(file: Path, cell: Cell) -> None:
    """Write one more line; a last line that was cut off is replaced.

    Args:
        file: the file; it may be missing.
        cell: what was measured.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = sum(len(line.encode("utf-8")) + 1 for line in _whole_lines(file)) if file.exists() else 0
    with file.open("ab") as stream:
        stream.truncate(whole)
        stream.write((json.dumps(asdict(cell)) + "\n").encode("utf-8"))
        stream.flush()
        os.fsync(stream.fileno())


def write_cells(file: Path, cells: Sequence[Cell]) -> None:
    """Write all cells in the place of those that are there, whole or not at all."""
    write_text(file, "".join(json.dumps(asdict(cell)) + "\n" for cell in cells))


def _whole_lines(file: Path) -> list[str]:
    try:
        return file.read_bytes().decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError:
        raise DataError(f"{file}: expected lines of JSON in UTF-8; choose another --out") from None


def _cell(line: str, where: str) -> Cell:
    wanted = {field.name for field in fields(Cell)}
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or set(found) != wanted:
        raise DataError(
            f"{where}: is no cell of 'heedful baselines --sizes': remove the line, or choose another --out"
        )
    return Cell(**found)
