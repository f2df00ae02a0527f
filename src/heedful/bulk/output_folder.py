"""A folder of predictions: what it holds, which of its files are whole, and what became of the rows."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from heedful.bulk.part_files import PredictionPart
from heedful.bulk.part_task import RowCounts
from heedful.errors import InUseError, UsageError
from heedful.storage import alone, is_empty, plain_errors, sweep, write_text
from heedful.storage.fields import damaged, read_fields, read_json

_DAMAGED = damaged("Choose another --output.")

OWN, SIDE = "_heedful", "_bad"
"""Folders in the folder of predictions; engines that read a folder of parts leave out names that begin with _."""
_JOB, _DONE = "job.json", "done"
_WORDS = {
    "model": "predictions of another model",
    "task": "predictions of another task",
    "columns": "predictions from other columns",
}


class OutputFolder:
    """The predictions of many parts, each in a file that is whole or not there.

    A part is finished when its record is in the folder; the record is written after its file.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.side = path, path / SIDE
        self._own = path / OWN
        self._done = self._own / _DONE

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes out; what dead ones left half written is removed, at the beginning and at the end."""
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(alone(self.path, "heedful predict"))
            except InUseError as error:
                raise InUseError(str(error).replace("--out", "--output")) from error
            self._sweep()
            try:
                yield
            finally:
                self._sweep()

    def begin(self, settings: Mapping[str, object]) -> None:
        """Write down what the folder is for, or see that it is still the same.

        Args:
            settings: everything that a prediction depends on, as plain values.

        Raises:
            UsageError: if the folder holds something else, or predictions that were made in another way; names what
                differs.
        """
        job, wanted = self._own / _JOB, json.loads(json.dumps(settings))
        if job.exists():
            found = read_json(job, dict, _DAMAGED, finite=False)
            other = [name for name in {**wanted, **found} if wanted.get(name) != found.get(name)]
            if not other:
                return
            if any(self._done.rglob("*.json")):
                said = _WORDS.get(other[0], f"predictions with another {other[0].replace('_', '-')}")
                raise UsageError(
                    f"{self.path}: holds {said} ({_shown(found.get(other[0]))}, now {_shown(wanted.get(other[0]))}); "
                    "choose another --output"
                )
            job.unlink()  # the run ended before its first part was finished
        for folder in (self._done, self._own):
            with contextlib.suppress(OSError):  # empty: the disk was full before its first file was written
                folder.rmdir()
        if not is_empty(self.path):
            raise UsageError(f"{self.path}: holds other files; choose another --output, or an empty folder")
        write_text(job, json.dumps(wanted, indent=1, sort_keys=True) + "\n")

    def finished(self, parts: Sequence[PredictionPart]) -> dict[PredictionPart, RowCounts]:
        """Return the parts that are finished, with what became of their rows.

        Args:
            parts: all parts of this run.

        Returns:
            Those whose record is in the folder and whose file is too.

        Raises:
            UsageError: if a file has changed since it was predicted, or the folder holds predictions of parts that are
                no longer among these.
        """
        known = {part.name: part for part in parts}
        found: dict[PredictionPart, RowCounts] = {}
        for record in sorted(self._done.rglob("*.json")):
            name = record.relative_to(self._done).as_posix().removesuffix(".json")
            kept = read_fields(record, _DAMAGED)
            if name not in known:
                raise UsageError(
                    f"{self.path}: holds predictions of {kept.text('file')}, which --input does not name any more; "
                    "choose another --output"
                )
            part = known[name]
            if kept.items("state") != part.state:
                raise UsageError(
                    f"{part.file}: has changed since it was predicted; choose another --output, or delete "
                    f"{record} to predict it again"
                )
            counts = kept.part("counts")
            with contextlib.suppress(OSError):  # somebody removed the file: it is made again
                if os.stat(self.path / part.output).st_size == kept.whole("bytes"):
                    found[part] = RowCounts(**{name: counts.whole(name) for name in counts})
        return found

    def keep(self, part: PredictionPart, counts: RowCounts) -> None:
        """Write the record of a part whose file is written."""
        with plain_errors(self.path):
            size = (self.path / part.output).stat().st_size
        record = {"file": str(part.file), "state": part.state, "bytes": size, "counts": asdict(counts)}
        write_text(self._done / f"{part.name}.json", json.dumps(record) + "\n")

    def _sweep(self) -> None:
        for folder in (self.path, *(each for each in self.path.rglob("*") if each.is_dir())):
            sweep(folder)


def _shown(value: object) -> str:
    return f"{value if value and isinstance(value, str) else json.dumps(value):.40}"
