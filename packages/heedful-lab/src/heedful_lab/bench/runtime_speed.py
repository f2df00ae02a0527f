"""Answers without torch beside answers with it, in one run and with one thread: ``heedful bench --runtime``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heedful.errors import UsageError
from heedful.export import described
from heedful.export.folder import Numbers, export_folder
from heedful.model.model import Model
from heedful.models import ModelConfig
from heedful.runtime import load
from heedful.storage.model_folder import load_model_folder
from heedful.tables import markdown_table
from heedful.tasks import Predictor, Text, TextSettings, build_network, load_model
from heedful.text.vocabulary import Vocabulary
from heedful_lab.bench.bench_report import write_files
from heedful_lab.bench.product_speed import Product, product_speeds

TRAINED, FROZEN, WORDS, BATCH = 9_000, 32_000, 10, 64
_ROUNDS = {False: (100, 10, 3), True: (1_000, 60, 9)}
"""Measurements of one request, of a batch and of a cold start; the second for ``--full``."""
_COLD = """import sys
from heedful import opening
from heedful.cli.main import run
from heedful.errors import UsageError
def refuse(folder):
    raise UsageError("torch is to compute")
if sys.argv.pop(1) == "torch":
    opening.load = refuse
code = run(sys.argv[1:])
try:  # not ru_maxrss, which a process has from its parent
    status = open("/proc/self/status").read().split()
    print(status[status.index("VmHWM:") + 1], file=sys.stderr)
except OSError:
    print("0", file=sys.stderr)
sys.exit(code)
"""
SMALL: tuple[Numbers, ...] = ("float16", "int8")
"""What folders of smaller numbers keep."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Measured:
    """One figure of one way.

    Attributes:
        what: what was measured, with its unit.
        way: "torch", or "runtime" with the numbers of the folder: float32, float16 or int8.
        median: of the measurements.
        high: their 99th percentile.
        beside_torch: how many times as good as torch's median.
    """

    what: str
    way: str
    median: float
    high: float
    beside_torch: float


@dataclass(frozen=True)
class RuntimeReport:
    """What ``heedful bench --runtime`` prints.

    Attributes:
        rows: the figures.
        products: the speed of matrix products alone.
    """

    rows: tuple[Measured, ...]
    products: tuple[Product, ...] = ()

    def json(self) -> str:
        """Return one JSON object."""
        return json.dumps(asdict(self))

    def markdown(self) -> str:
        """Return a table, and one of the products."""
        head = ("figure (one thread)", "way", "median", "99th percentile", "times as good as torch")
        rows = (
            (row.what, row.way, f"{row.median:.3g}", f"{row.high:.3g}", f"{row.beside_torch:.2f}")
            for row in self.rows
        )
        tables = [markdown_table(head, rows, right=(2, 3, 4))]
        if self.products:
            names = ("rows x inputs x outputs", "numbers", "by", "GOP/s", "share of the processor's peak")
            products = (
                (row.size, row.numbers, row.form, f"{row.speed:.0f}", f"{row.share:.0%}")
                for row in self.products
            )
            tables.append(markdown_table(names, products, right=(3, 4)))
        return "\n\n".join("\n".join(table) for table in tables)

    def write(self, folder: Path) -> list[Path]:
        """Write the table and the figures into a folder; returns the files."""
        return write_files({"runtime.md": self.markdown() + "\n", "runtime.json": self.json() + "\n"}, folder)


def run_runtime(full: bool, print_line: Say) -> RuntimeReport:
    """Time a DiSAN of the default size with random weights and 41,000 word vectors, for texts and for pairs.

    Calls of the ways alternate, so that other work on the machine falls on all of them.

    Args:
        full: whether to measure often enough for a 99th percentile that means something.
        print_line: takes a line of progress.

    Returns:
        The report.

    Raises:
        UsageError: if a measured command fails.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as temporary:
            rows = tuple(_measured(Path(temporary), _ROUNDS[full], print_line))
        print_line("matrix products")
        return RuntimeReport(rows, tuple(product_speeds(_ROUNDS[full][1])))
    finally:
        torch.set_num_threads(threads)


def _measured(folder: Path, rounds: tuple[int, int, int], print_line: Say) -> Iterator[Measured]:
    generator = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in generator.integers(0, TRAINED, WORDS)) for _ in range(2 * BATCH)]
    pairs = list(zip(texts[:BATCH], texts[BATCH:], strict=True))
    asked: dict[str, Sequence[Text]] = {"text": texts[:BATCH], "pair": pairs}
    for task, requests in asked.items():
        path = random_model(task, folder / task)
        small: dict[Numbers, Path] = {kind: folder / f"{task}-{kind}" for kind in SMALL}
        for kind, place in small.items():
            export_folder(load_model_folder(path), described(load_model(path).network), place, kind)
        print_line(f"one {task}")
        yield from _rows(
            f"one {task} of {WORDS} words, ms", _alternated(_ways(path, small, requests[:1]), rounds[0])
        )
        print_line(f"{BATCH} requests of {task}")
        found = _alternated(_ways(path, small, requests), rounds[1])
        speeds = {way: BATCH * 1000 / times for way, times in found.items()}
        yield from _rows(f"{task}s a second, {BATCH} at a time", speeds, more_is_better=True)
        if task == "text":
            print_line("cold starts")
            yield from _cold(path, small, texts[0], rounds[2])


def _ways(
    path: Path, small: Mapping[Numbers, Path], asked: Sequence[Text]
) -> dict[str, Callable[[], object]]:
    """Return the ways to answer the same requests."""
    model = load_model(path)
    ways: dict[str, Callable[[], object]] = {"torch": lambda: model.answer(asked)}
    for way, place in _folders(path, small).items():
        ways[way] = partial(_answered, load(place), asked)
    return ways


def _answered(model: Model[Any, Any], asked: Sequence[Text]) -> list[object]:
    return list(model.predict(asked))


def _folders(path: Path, small: Mapping[Numbers, Path]) -> dict[str, Path]:
    """Return the folders that the runtime reads, by way."""
    return {"runtime, float32": path, **{f"runtime, {kind}": place for kind, place in small.items()}}


def random_model(task: str, path: Path) -> Path:
    """Save a DiSAN of the default size with random weights and 41,000 word vectors.

    Args:
        task: "text" or "pair".
        path: the folder to write.

    Returns:
        The folder.
    """
    torch.manual_seed(0)
    words, further = (
        tuple(f"{name}{n}" for n in range(count)) for name, count in (("w", TRAINED), ("x", FROZEN))
    )
    config = ModelConfig(task=task, outputs=6)
    network = build_network(config, torch.randn(TRAINED + 2, 300) / 20, torch.randn(FROZEN, 300) / 20)
    vocabulary = Vocabulary(words, extra=further)
    Predictor(network, config, vocabulary, tuple("abcdef"), TextSettings()).save(path)
    return path


def _alternated(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, np.ndarray]:
    """Call each way in turn and return its times in milliseconds."""
    for call in ways.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            start = time.perf_counter()
            call()
            times[name].append(1e3 * (time.perf_counter() - start))
    return {name: np.array(each) for name, each in times.items()}


def _rows(what: str, found: Mapping[str, np.ndarray], *, more_is_better: bool = False) -> Iterator[Measured]:
    usual = float(np.median(found["torch"]))
    for way, each in found.items():
        median, high = float(np.median(each)), float(np.quantile(each, 0.99))
        yield Measured(
            what, way, median, high, median / usual if more_is_better else usual / max(median, 1e-9)
        )


def _cold(path: Path, small: Mapping[Numbers, Path], text: str, rounds: int) -> Iterator[Measured]:
    seconds: dict[str, list[float]] = {}
    memory: dict[str, list[float]] = {}
    for _ in range(rounds):
        for way, folder in (("torch", path), *_folders(path, small).items()):
            command = [sys.executable, "-c", _COLD, way, "predict", str(folder), "--text", text]
            start = time.perf_counter()
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            if done.returncode:
                raise UsageError(f"heedful predict ended with code {done.returncode}: {done.stderr[-300:]}")
            seconds.setdefault(way, []).append(time.perf_counter() - start)
            memory.setdefault(way, []).append(int(done.stderr.split()[-1]) / 1024)
    yield from _rows("heedful predict, cold start, s", {way: np.array(each) for way, each in seconds.items()})
    if any(map(any, memory.values())):
        peaks = {way: np.array(each) for way, each in memory.items()}
        yield from _rows("heedful predict, peak memory, MB", peaks)
