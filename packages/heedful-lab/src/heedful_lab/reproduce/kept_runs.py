"""The runs of the papers' tables on disk: one file a run where they are made, one packed file an experiment to pass on.

``runs/BUDGET/EXPERIMENT/SYSTEM/train.seed=1.json`` is what a study writes. ``runs/BUDGET/EXPERIMENT.jsonl.gz`` holds
the same records, one JSON line a run, each with its system; a run that lies in both is taken from its own file.
``EXPERIMENT.runs.jsonl`` is the same without compression, so that a difference can be read; which answers are right
is a string of ones and zeros there.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from heedful.errors import ArtifactError
from heedful.run.record import RunRecord, from_dict, read_record
from heedful.storage import plain_errors, write_bytes
from heedful.storage.fields import Fields
from heedful.storage.layout import Varied, record_files

SUFFIX, PLAIN = ".jsonl.gz", ".runs.jsonl"
Packed = Mapping[tuple[str, Varied], RunRecord]
"""(system, what varied) to the record."""


def read_packed(file: Path) -> Packed:
    """Read a packed file.

    Args:
        file: its path; it may be missing.

    Returns:
        Its runs; none if there is no such file.

    Raises:
        ArtifactError: if it is not what `pack` writes.
    """
    if not file.exists():
        return {}
    status = file.stat()
    return _read_packed(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _read_packed(file: Path, time: int, size: int) -> Packed:
    """Read a file once as long as it stays the same: all systems of an experiment lie in it."""
    found = {}
    try:
        content = file.read_bytes()
        if not (text := (gzip.decompress(content) if file.suffix == ".gz" else content).decode("utf-8")):
            raise ValueError("the file is empty")
        for line in text.splitlines():
            fields = Fields(json.loads(line), "", error=ValueError)
            record = from_dict(_spelled_out(fields.value("record")))
            found[fields.text("system"), record.varied] = record
    except (OSError, EOFError, ValueError) as error:
        raise ArtifactError(f"{file}: expected packed runs of heedful reproduce; {error}") from error
    return found


def packed_files(folder: Path) -> list[Path]:
    """Return the packed files below a folder of all runs, in order."""
    return sorted(path for suffix in (SUFFIX, PLAIN) for path in folder.glob(f"*/*{suffix}"))


def experiment_of(file: Path) -> str:
    """Return the key of the experiment whose runs a packed file holds."""
    return file.name.removesuffix(SUFFIX).removesuffix(PLAIN)


def _spelled_out(record: Any) -> Any:
    """Turn a string of ones and zeros into numbers again."""
    answers = record.get("answers") if isinstance(record, dict) else None
    if not (isinstance(answers, dict) and isinstance(answers.get("predicted"), str)):
        return record
    return {**record, "answers": {**answers, "predicted": [int(one) for one in answers["predicted"]]}}


def _in_short(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write which answers are right as a string of ones and zeros."""
    answers = record.get("answers")
    if not (isinstance(answers, dict) and answers["kind"] == "right"):
        return record
    return {**record, "answers": {**answers, "predicted": "".join(map(str, answers["predicted"]))}}


def pack(file: Path, runs: Packed) -> None:
    """Write runs into a packed file; the same runs give the same bytes with the same version of zlib.

    Args:
        file: where to; whatever it holds is replaced.
        runs: all that it shall hold.

    Raises:
        OutputError: if it cannot be written.
    """
    shown = (lambda record: record) if file.suffix == ".gz" else _in_short
    lines = [
        json.dumps({"system": system, "record": shown(runs[system, varied].as_dict())}, separators=(",", ":"))
        for system, varied in sorted(runs)
    ]
    text = ("\n".join(lines) + "\n").encode("utf-8")
    with plain_errors(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(file, gzip.compress(text, 9, mtime=0) if file.suffix == ".gz" else text)


def runs_of_cell(folder: Path, cell: Path) -> dict[Varied, tuple[Path, RunRecord]]:
    """Read all runs of a cell, from its own folder and from the packed file of its experiment.

    Args:
        folder: of all runs.
        cell: budget, experiment and system, as a path below it.

    Returns:
        What varied to the file and the record.

    Raises:
        ArtifactError: if a file is not what a study or `pack` writes.
    """
    packed = packed_file(folder, cell.parent)
    found = {
        varied: (packed, run) for (system, varied), run in read_packed(packed).items() if system == cell.name
    }
    for file in record_files(folder / cell):
        record = read_record(file)
        found[record.varied] = (file, record)
    return found


def packed_file(folder: Path, experiment: Path) -> Path:
    """Return where the runs of an experiment are packed.

    Args:
        folder: of all runs.
        experiment: budget and experiment, as a path below it.

    Returns:
        The path of the file: the plain one where there is one.
    """
    plain = folder / experiment.parent / f"{experiment.name}{PLAIN}"
    return plain if plain.exists() else plain.with_name(f"{experiment.name}{SUFFIX}")


def take_up(source: Path, target: Path) -> int:
    """Pack the runs of one folder into the packed files of another, without gold labels; other runs there stay.

    Args:
        source: a folder of all runs; its own packed files are taken up too.
        target: likewise; may be the same folder, whose single files are then removed.

    Returns:
        The number of runs that were taken up.

    Raises:
        ArtifactError: if a file is not what a study or `pack` writes.
        OutputError: if a file cannot be written.
    """
    count = 0
    for experiment, files in _by_experiment(source).items():
        place = packed_file(target, experiment)
        runs = dict(read_packed(place))
        if source != target:
            runs.update(read_packed(packed_file(source, experiment)))
        for file in files:
            record = read_record(file).without_gold()
            runs[file.parent.name, record.varied] = record
        if dict(read_packed(place)) != runs:
            pack(place, runs)
        count += len(files)
        if source == target:
            _remove(files)
    return count


def _by_experiment(source: Path) -> dict[Path, list[Path]]:
    """Return (budget, experiment) as a path to the single files of its runs."""
    found: dict[Path, list[Path]] = {
        path.relative_to(source).parent / experiment_of(path): [] for path in packed_files(source)
    }
    for folder in sorted(source.glob("*/*/*/")):
        if files := record_files(folder):
            found.setdefault(folder.relative_to(source).parent, []).extend(files)
    return found


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        with plain_errors(file):
            file.unlink()
            for folder in file.parents[:2]:
                if not any(folder.iterdir()):
                    folder.rmdir()
