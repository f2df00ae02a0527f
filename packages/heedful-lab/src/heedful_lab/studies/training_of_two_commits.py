"""Processor time of the whole command ``heedful train`` with two commits, in turns, on the same rows.

    python -m heedful_lab.studies.training_of_two_commits c7e2665 HEAD --data DIR --rows 100,1000 --turns 3

Each commit is checked out and compiled in a folder of its own. In each turn both train `my-texts` on the same sentences
of SUBJ, drawn by ``random.Random(0)``, in a fresh process with one thread; the seconds are those of the processor, user
and system, imports and rivals and the model folder included. Other work on the machine makes them longer, but both
alike, so the ratio of the two says more than either. ``--first-recipe`` and ``--second-recipe`` name other recipes.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from heedful.tables import markdown_table
from heedful_lab.studies.few_labels import known
from heedful_lab.studies.two_commits import checked_out

Times = dict[int, dict[str, list[float]]]
"""Seconds by the number of rows and by "first" or "second"."""


def written(rows: int, data: Path, folder: Path) -> Path:
    """Write so many sentences of SUBJ as a file of texts and labels."""
    texts, labels = known("subj", "all", data)
    order = list(range(len(texts)))
    random.Random(0).shuffle(order)
    file = folder / f"{rows}.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("text", "label"))
        writer.writerows((texts[k], labels[k]) for k in order[:rows])
    return file


def processor_seconds(command: Sequence[str], source: Path) -> float:
    """Run a command over a source tree; return the processor seconds that it and its children took."""
    environment = {**os.environ, "PYTHONPATH": packages_of(source), "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-1000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def packages_of(source: Path) -> str:
    """Return the path of imports for a checkout: Heedful, and heedful-en of the same commit."""
    english = source.parent / "packages" / "heedful-en" / "src"
    return os.pathsep.join(str(each) for each in (source, english) if each.is_dir())


def in_turns(sizes: Sequence[int], turns: int, train: Callable[[str, int], float]) -> Times:
    """Train with both commits in each turn, the first one first in every other turn; print each turn as it comes."""
    times: Times = {rows: {"first": [], "second": []} for rows in sizes}
    for rows in sizes:
        for turn in range(turns):
            for which in ("first", "second") if turn % 2 == 0 else ("second", "first"):
                times[rows][which].append(train(which, rows))
            said = ", ".join(f"{which} {found[-1]:.1f} s" for which, found in times[rows].items())
            print(f"{rows} rows, turn {turn + 1}: {said}", flush=True)
    return times


def table(times: Times, first: str, second: str) -> str:
    """Return the least and the median of each, and the ratio of the medians."""
    lines = []
    for rows, found in times.items():
        least = [f"{min(values):.1f}" for values in found.values()]
        middle = [statistics.median(values) for values in found.values()]
        lines.append((f"{rows:,}", *least, *(f"{x:.1f}" for x in middle), f"{middle[1] / middle[0]:.2f}"))
    header = (
        "rows",
        *(f"{kind}, {name}" for kind in ("least", "median") for name in (first, second)),
        "ratio",
    )
    return "\n".join(markdown_table(header, lines))


def main() -> None:
    """Print each turn, and the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("first", help="a commit")
    parser.add_argument("second", help="a commit")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--rows", default="100,1000", help="numbers of rows, comma-separated, at most 10,000")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--first-recipe", default="my-texts")
    parser.add_argument("--second-recipe", default="my-texts")
    given = parser.parse_args()
    sizes = [int(each) for each in given.rows.split(",")]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        trees = {which: checked_out(getattr(given, which), place / which) for which in ("first", "second")}
        recipes = {"first": given.first_recipe, "second": given.second_recipe}
        files = {rows: written(rows, given.data, place) for rows in sizes}

        def train(which: str, rows: int) -> float:
            out = tempfile.mkdtemp(dir=place)
            command = [sys.executable, "-m", "heedful", "train", recipes[which], "--out", f"{out}/run"]
            return processor_seconds([*command, "--set", f"data.train={files[rows]}"], trees[which])

        times = in_turns(sizes, given.turns, train)
    print(table(times, given.first, given.second))


if __name__ == "__main__":
    main()
