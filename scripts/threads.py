"""Training under former and present settings of the OpenMP threads, in turns, idle or beside busy processes.

Run: ``python scripts/threads.py [--beside 2] [--turns 9] [--steps 10] [--arm NAME:VARIABLE=VALUE,...]``. An arm is a
process that trains the recipe ``my-texts`` on generated texts about as long as short reviews. The processes take so
many steps in turns, and each waits, asleep, for its turn: one turn of all arms meets nearly the same other work.
``former`` waits by spinning, on all cores that the process may use, as torch does by itself; ``present`` is what
Heedful chooses, with settings of the caller's own (``OMP_NUM_THREADS`` and the like) removed.

With ``--beside N``, N busy processes share the cores; without it the machine should do nothing else: any other work
counts like busy processes. The load is printed. Printed are, for each arm, the medians over the turns of wall and CPU
seconds, and of the ratio to ``former`` in the same turn, with the quartiles of the ratio.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heedful.machine import threads

FORMER = {"GOMP_SPINCOUNT": "300000", "OMP_NUM_THREADS": str(os.cpu_count())}
"""What GNU's OpenMP does where nothing is said: 300,000 turns of the waiting loop, one thread a core."""
ARMS: dict[str, dict[str, str]] = {"former": FORMER, "present": {}}


def write_texts(path: Path, rows: int = 3_000) -> None:
    """Write texts of 3 to 50 random words with Zipf frequencies, in two classes that one word in five tells apart."""
    rng = np.random.default_rng(0)
    lines = ["text,label"]
    for row in range(rows):
        words = np.minimum(rng.zipf(1.3, int(np.clip(rng.gamma(4, 5), 3, 50))), 20_000)
        told = rng.random(len(words)) < 0.2
        text = " ".join(
            f"{'pn'[row % 2] if t else 'w'}{w}" for w, t in zip(words.tolist(), told, strict=True)
        )
        lines.append(f"{text},{('good', 'bad')[row % 2]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Turns:
    """A reporter that lets the training go on when its turn comes, and says what the turn took."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def start(self, total: int, done: int) -> None:
        """Begin."""
        self._wait()

    def step(self, step: int, loss: float) -> None:
        """End the turn after its last step, and wait for the next one."""
        if step % self.steps == 0:
            wall, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
            print(json.dumps({"wall": wall, "cpu": cpu, "loss": loss, **threads.told()}), flush=True)
            self._wait()

    def evaluation(self, record: Mapping[str, Any]) -> None:
        """Ignore an evaluation."""

    def close(self) -> None:
        """End."""

    def _wait(self) -> None:
        if not sys.stdin.readline():
            os._exit(0)
        self.wall, self.cpu = time.perf_counter(), time.process_time()


def work(texts: str, steps: int) -> None:
    """Train until nobody asks for another turn."""
    threads.begin()
    from heedful.run import prepare, train
    from heedful.run.recipe_files import load_config

    config = load_config("my-texts", (f"data.train={texts}", "train.epochs=1000", "train.patience=0"))
    prepared = prepare(config, None)
    print("ready", flush=True)
    train(config, prepared, reporter=Turns(steps))


@contextlib.contextmanager
def workers(arms: Mapping[str, Mapping[str, str]], folder: Path, steps: int) -> Iterator[dict[str, Any]]:
    """Start a process for each arm, one after the other."""
    clean = {name: value for name, value in os.environ.items() if name not in threads.VARIABLES}
    write_texts(folder / "texts.csv")
    started: dict[str, Any] = {}
    try:
        for name, settings in arms.items():
            started[name] = subprocess.Popen(
                [sys.executable, __file__, "--work", str(folder / "texts.csv"), "--steps", str(steps)],
                env={**clean, **settings, "HEEDFUL_CACHE": str(folder / "cache")},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            if started[name].stdout.readline() != "ready\n":
                raise SystemExit(f"{name} did not start")
            take_turn(started[name])  # memory is allocated
        yield started
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def take_turn(worker: Any) -> dict[str, Any]:
    """Let one arm take its steps."""
    worker.stdin.write("\n")
    worker.stdin.flush()
    return dict(json.loads(worker.stdout.readline()))


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep so many processes busy."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def compare(arms: dict[str, dict[str, str]], turns: int, steps: int) -> dict[str, list[dict[str, Any]]]:
    """Let the arms take their turns, in alternating order."""
    took: dict[str, list[dict[str, Any]]] = {name: [] for name in arms}
    with tempfile.TemporaryDirectory() as place, workers(arms, Path(place), steps) as started:
        for turn in range(turns):
            for name in list(arms)[:: 1 if turn % 2 else -1]:
                took[name].append(take_turn(started[name]))
            found = ", ".join(f"{name} {took[name][-1]['wall']:.2f}" for name in arms)
            print(f"turn {turn + 1}, wall s: {found}; load {os.getloadavg()[0]:.1f}", flush=True)
    return took


def main() -> None:
    """Measure the arms in turns and print the medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beside", type=int, default=0, help="busy processes to start")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--steps", type=int, default=10, help="of each arm in a turn")
    parser.add_argument(
        "--arm", action="append", default=[], metavar="NAME:VARIABLE=VALUE,...", help="one more"
    )
    parser.add_argument("--work", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.work:
        work(wanted.work, wanted.steps)
    arms = dict(ARMS)
    for text in wanted.arm:
        name, _, pairs = text.partition(":")
        arms[name] = dict(pair.split("=", 1) for pair in pairs.split(","))
    with busy(wanted.beside):
        took = compare(arms, wanted.turns, wanted.steps)
    print(f"\n{wanted.turns} turns of {wanted.steps} steps, beside {wanted.beside} busy processes; medians:")
    for name, turns in took.items():
        for what in ("wall", "cpu"):
            ratios = [old[what] / new[what] for old, new in zip(took["former"], turns, strict=True)]
            low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
            print(
                f"{name:10} {what:4} {statistics.median(turn[what] for turn in turns):7.2f} s   "
                f"former / {name}: {middle:.2f} (quartiles {low:.2f} to {high:.2f})"
            )
        told = turns[-1]
        print(
            f"{'':10} threads: {told['threads']}, {told['threads_reason']}; waiting: {told['threads_wait']}"
        )
    if len({tuple(turn["loss"] for turn in turns) for turns in took.values()}) > 1:
        raise SystemExit("the arms differ in their losses")
    print("the losses of all arms are equal to the last bit")


if __name__ == "__main__":
    main()
