"""Time of the training steps of two commits, in turns: how many times as fast is the second?

    python -m heedful_lab.studies.two_commits 0edb4fd HEAD mtsa-snli --data DIR --set-second batches.group=true

Each commit is
checked out and compiled in a folder of its own. One turn trains the recipe with each of them for 72 steps on the first
12,800 pairs of the part of SNLI, one thread, in a fresh process that is ended after its last step. What counts is the
time from step 24 to step 72: that of the wall in its ``metrics.jsonl``, which both commits write, and that of the
processor, from the system as soon as the file has the step. The same seed gives both the same batches, except where a
setting of the second commit, such as grouping, makes other ones.

Beside other work only the processor's time means something, and it too grows where others use the caches. Settings that
only one commit knows are given to it alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heedful_lab.repository import ROOT

FIRST, LAST, EVERY = 24, 72, 24
PATIENCE = 600
SETTINGS = (
    "data.train=train-part",
    "data.train_limit=12800",
    "batches.size=64",
    "train.device=cpu",
    f"train.max_steps={LAST + EVERY}",
    f"train.log_every={EVERY}",
)


class Times(NamedTuple):
    """Seconds of some steps.

    Attributes:
        wall: of the wall's clock.
        processor: of the processor.
    """

    wall: float
    processor: float


def checked_out(commit: str, folder: Path) -> Path:
    """Check out a commit, compile its kernels and its modules, as pip does, and return the folder of its packages."""
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    subprocess.run(["git", "checkout", "-q", commit], cwd=folder, check=True)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-m", "compileall", "-q", "src", "packages"], cwd=folder, check=False)
    return folder / "src"


def seconds_at(log: Path) -> dict[int, float]:
    """Return the seconds since the start at each step that a log of training names."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    records = [json.loads(line) for line in lines if line.endswith("}")]
    return {record["step"]: record["seconds"] for record in records if record["kind"] == "train"}


def used_by(process: int) -> float:
    """Return the processor time of a process until now, in user and in system mode (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def trained(source: Path, recipe: str, settings: list[str], data: str) -> Times:
    """Return the seconds from step `FIRST` to step `LAST` of a recipe in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(source), "HEEDFUL_DATA": data, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "heedful", "train", recipe, "--out", str(folder / "run")]
        for setting in settings:
            command += ["--set", setting]
        said = (folder / "said").open("wb")
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=said)
        try:
            end, used = time.monotonic() + PATIENCE, dict[int, float]()
            while LAST not in (found := seconds_at(folder / "run" / "metrics.jsonl")):
                used.update({step: used_by(process.pid) for step in found if step not in used})
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit((folder / "said").read_text(encoding="utf-8")[-2000:] or "nothing was trained")
                time.sleep(0.05)
            used[LAST] = used_by(process.pid)
        finally:
            process.kill()
            process.wait()
            said.close()
    return Times(found[LAST] - found[FIRST], used[LAST] - used[FIRST])


def told(before: Sequence[Times], after: Sequence[Times]) -> str:
    """Say how many times as fast the second is: the median, least and most of the turns, and the least times."""
    lines = list[str]()
    for name, one, other in (
        ("wall", [each.wall for each in before], [each.wall for each in after]),
        ("processor", [each.processor for each in before], [each.processor for each in after]),
    ):
        ratios = [x / y for x, y in zip(one, other, strict=True)]
        spread = f"{statistics.median(ratios):.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(f"{name}: {spread}; least {min(one):.2f} s and {min(other):.2f} s")
    return "\n".join(lines)


def main() -> None:
    """Print each turn, and the median ratio with the least and the most."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", help="a commit")
    parser.add_argument("second", help="a commit")
    parser.add_argument("recipe", help="a recipe on SNLI, such as disan-snli")
    parser.add_argument("--data", default=os.environ.get("HEEDFUL_DATA", ""), help="folder of the data sets")
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--set", action="append", default=[], help="a setting for both")
    parser.add_argument("--set-second", action="append", default=[], help="a setting for the second alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        first, second = (
            checked_out(commit, Path(name) / place)
            for commit, place in ((given.first, "first"), (given.second, "second"))
        )
        before, after = list[Times](), list[Times]()
        for turn in range(given.turns):
            both = [*SETTINGS, *given.set]
            before.append(trained(first, given.recipe, both, given.data))
            after.append(trained(second, given.recipe, [*both, *given.set_second], given.data))
            print(f"turn {turn + 1}: {before[-1]}, {after[-1]}", flush=True)
    print(f"{given.recipe}\n{told(before, after)}")


if __name__ == "__main__":
    main()
