"""Every reader on 20,000 files: the rows that were put in, a refusal in one line where a row is wrong, and no third."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from attempts import call
from fuzzed_formats import FORMATS, Format, Rows, Sample
from heedful.cli.output import message
from heedful.errors import DataError, UsageError
from packers import in_zip
from tally import Outcome, Tally

INPUTS = 20_000
CHANGES = (
    "sound",
    "sound",
    "packed",
    "bad row",
    "bad row",
    "noise",
    "row noise",
    "row noise",
    "packed noise",
    "no row",
)


QUICK_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, 1),
    ".xz": lambda content: lzma.compress(content, preset=0),
    ".bz2": bz2.compress,
    ".zip": in_zip,
}


def joined(form: Format, sample: Sample, units: list[bytes], draw: random.Random) -> bytes:
    """Put units into one file in a way that a reader must not notice: line ends, marks, blank lines, the last end."""
    if form.raw:
        return units[0]
    end = draw.choice([b"\n", b"\n", b"\r\n"]) if form.lines and form.name != "a.csv" else b"\n"
    lines = sample.head + units
    if form.blank and form.lines and draw.random() < 0.3:
        lines.insert(draw.randint(len(sample.head), len(lines)), b"")
    content = end.join(lines) + (end if draw.random() < 0.7 or not lines[-1] else b"")
    mark = b"\xef\xbb\xbf" if draw.random() < 0.2 and form.mark else b""
    return mark + content


def noise(content: bytes, draw: random.Random) -> bytes:
    """Change bytes, without a thought for what they mean."""
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 1, 2, 10])):
        at = draw.randrange(len(changed) + 1)
        match draw.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([draw.randrange(256)])
            case 1:
                changed[at:at] = draw.choice(
                    [b"\n", b"\r", b"\0", b'"', b"\t", b"{", b"(", b"\xff\xfe", b"\xc3", b"1" * 5_000]
                )
            case 2:
                del changed[at : at + draw.choice([1, 1, 4, 50])]
            case 3:
                changed[at:at] = changed[at : at + draw.choice([1, 10, 100])]
            case _:
                del changed[at:]
    return bytes(changed)


def row_noise(unit: bytes, form: Format, draw: random.Random) -> bytes:
    """Change bytes of one row, so that the others must stay as they are."""
    if not form.lines:
        return noise(unit[:-1], draw) + b"\n"
    lost = b'\r\n"' if form.name == "a.csv" else b"\r\n"
    return bytes(byte for byte in noise(unit, draw) if byte not in lost)


def attempt(form: Format, draw: random.Random, folder: Path, what: str) -> Outcome:
    """Make a file, change it in one way, and judge what the reader makes of it."""
    sample = form.make(draw)
    units, rows = list(sample.units), list(sample.rows)
    change = draw.choice(CHANGES)
    if change == "packed noise" and not form.packs:  # which has no checksums
        change = "noise"
    if change == "no row" and not form.raw and not sample.beside:
        at = draw.randrange(len(units))
        del units[at], rows[at]
    if change == "bad row":
        wrong = draw.choice(sample.bad)
        units = [wrong] if form.raw else [*units[: (at := draw.randint(0, len(units)))], wrong, *units[at:]]
    at = draw.randrange(len(units)) if units else 0
    if change == "row noise":
        if form.raw or (
            b'"' in units[at] and form.name == "a.csv"
        ):  # a quote that is gone takes the next lines along
            change = "noise"
        else:
            units[at] = row_noise(units[at], form, draw)
    content = joined(form, sample, units, draw) if units or sample.head else b""
    name = form.name
    if change.startswith("packed") and form.packs:
        suffix = draw.choice(sorted(QUICK_PACKERS))
        name, packed = name + suffix, QUICK_PACKERS[suffix](content)
        if suffix != ".zip" and draw.random() < 0.3:
            half = len(content) // 2
            packed = QUICK_PACKERS[suffix](content[:half]) + QUICK_PACKERS[suffix](content[half:])
        content = packed
    if change in ("noise", "packed noise"):
        content = noise(content, draw)
    expected: Rows = [row for row in rows if row is not None]
    for stale in folder.iterdir():
        stale.unlink()
    (folder / name).write_bytes(content)
    for beside, other in sample.beside:
        (folder / beside).write_bytes(other)

    def read() -> Rows:
        try:
            return form.read(folder / form.name)
        except (DataError, UsageError) as error:  # as the command line prints it
            raise (DataError if isinstance(error, DataError) else UsageError)(message(str(error))) from error

    def right(found: Rows) -> bool:
        if change == "bad row":
            return False  # it had to be refused
        if change == "row noise":
            after = [row for row in rows[at + 1 :] if row is not None]
            before = [row for row in rows[:at] if row is not None]
            return found[: len(before)] == before and found[len(found) - len(after) :] == after
        if change == "noise":
            return True  # the meaning may have changed; that it is read or refused is all that can be said
        return found == expected  # also of a packed file with noise: all packers have checksums

    allowed = change.endswith(("noise", "bad row")) or not expected
    note = f"{what}, {change}, {name}, {content[:600]!r}"
    return call(note, read, right, refusals=allowed, clock=time.process_time)


@pytest.mark.parametrize("name", FORMATS)
def test_fuzzed_files(tally: Tally, tmp_path: Path, name: str) -> None:
    for number in range(tally.count(INPUTS // len(FORMATS) + 1)):
        seed = f"{tally.seed} {name} {number}"
        tally.add(attempt(FORMATS[name], random.Random(seed), tmp_path, f"seed {seed!r}"))
