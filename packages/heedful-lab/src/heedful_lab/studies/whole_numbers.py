"""Time of the runtime in whole numbers, of an earlier commit, and of all-MiniLM-L6-v2 in torch, in turns on one thread.

    python -m heedful_lab.studies.whole_numbers b571fa2 --data DIR

The runtime of the commit is checked out and compiled, and is imported beside this one: all run in one process. The
model is en-sentences of heedful-en, exported in float32 and in 8 bits. The texts are those of SNLI's dev part, each
once; "ten words" are 64 texts of ten words whose words have come before. With `--form avx2` both are held to AVX2. What
counts is the processor's time, since other programs may run; a ratio is the median over the turns, with the least and
the most.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import lzma
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from heedful.runtime import int8_products, kernels, load
from heedful_lab.repository import ROOT

ALONE = """
import importlib, json, resource, statistics, sys, time
place, module, folder = sys.argv[1:]
sys.path.insert(0, place)
model, texts = importlib.import_module(module).load(folder), json.load(sys.stdin)
pages, times = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt, []
for turn in range(43):
    before, start = pages(), time.process_time()
    model.encode(texts)
    times.append((time.process_time() - start, pages() - before))
seconds, new = (statistics.median(each) for each in zip(*times[3:]))
print(f"{1000 * seconds:.2f} ms a batch, {new:,.0f} new pages of memory")
"""
"""What a process runs that has one model."""
BATCH = 64
Encode = Callable[[Sequence[str]], object]


def unpacked(path: Path) -> str:
    """Return the text of a compressed file."""
    return lzma.decompress(path.read_bytes()).decode("utf-8")


def runtime_of(commit: str, folder: Path) -> None:
    """Check out a commit, compile it, and make its runtime importable as ``heedful_runtime``."""
    source = folder / "source"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(source)], check=True)
    subprocess.run(["git", "checkout", "-q", commit], cwd=source, check=True)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build, cwd=source, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    setup = runpy.run_path(str(source / "packages" / "heedful-runtime" / "setup.py"))
    setup["gather"](source / "src" / "heedful", folder / "gathered")
    (built,) = (source / "src" / "heedful").glob("_kernels*")
    built.rename(folder / "gathered" / "heedful_runtime" / built.name)
    sys.path.insert(0, str(folder / "gathered"))


def exported(folder: Path) -> dict[str, Path]:
    """Export en-sentences."""
    made = {kind: folder / kind for kind in ("float32", "int8")}
    options = [word for kind, path in made.items() for word in (f"--{kind}", str(path))]
    subprocess.run(
        [sys.executable, "-m", "heedful", "export", "en-sentences", *options], check=True, stdout=sys.stderr
    )
    return made


def encoder(load_model: Callable[[Path], object], folder: Path) -> Encode:
    """Return a function that turns texts into vectors."""
    model = load_model(folder)
    return lambda texts: model.encode(texts)  # type: ignore[attr-defined]


def teacher(folder: Path) -> Encode:
    """Return the teacher in bfloat16."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModel.from_pretrained(folder, dtype=torch.bfloat16).eval()

    @torch.inference_mode()
    def encode(texts: Sequence[str]) -> object:
        given = tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
        states, mask = network(**given).last_hidden_state, given["attention_mask"][:, :, None]
        return (states * mask).sum(1) / mask.sum(1)

    return encode


def tell_alone(title: str, place: Path, module: str, folder: Path, texts: Sequence[str]) -> None:
    """Print the time of a batch in a process that has one model."""
    command = [sys.executable, "-c", ALONE, str(place), module, str(folder)]
    ran = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    print(f"  {title}: {ran.stdout.strip()}")


def timed(systems: dict[str, Encode], blocks: Sequence[Sequence[str]]) -> dict[str, list[float]]:
    """Return the seconds of each block with each system; the order changes with every block."""
    found: dict[str, list[float]] = {name: [] for name in systems}
    names = list(systems)
    for turn, block in enumerate(blocks):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = time.process_time()
            systems[name](block)
            found[name].append(time.process_time() - start)
    return {name: times[2:] for name, times in found.items()}


def tell(title: str, times: dict[str, list[float]], texts: int) -> None:
    """Print texts a second, and how many times as fast the last system is as each."""
    *_, last = times
    print(title)
    for name, each in times.items():
        ratios = [one / other for one, other in zip(each, times[last], strict=True)]
        speed, middle = texts / statistics.median(each), statistics.median(ratios)
        said = f"{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"  {name}: {speed:,.0f} texts a second; {last} is {said} times as fast")


def main() -> None:
    """Time batches and single texts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", help="the earlier one")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--form", choices=("avx512", "avx2"), default="avx512")
    given = parser.parse_args()
    pairs = [
        json.loads(line) for line in unpacked(given.data / "snli" / "snli_1.0_dev.jsonl.xz").splitlines()
    ]
    texts = list(dict.fromkeys(pair[side] for pair in pairs for side in ("sentence1", "sentence2")))
    ten = [text for text in texts if len(text.split()) == 10]
    stsb = io.StringIO(unpacked(given.data / "stsb" / "stsb-en-dev.csv.xz"), newline="")
    sentences = [text for row in csv.reader(stsb) for text in row[:2]]
    with tempfile.TemporaryDirectory() as name:
        runtime_of(given.commit, Path(name))
        folders, earlier = exported(Path(name)), importlib.import_module("heedful_runtime")
        if given.form == "avx2":
            earlier_kernels = importlib.import_module("heedful_runtime.runtime.kernels")
            for module in (kernels, earlier_kernels):
                module.LIBRARY.heedful_use_instruction_set(b"avx2")
            int8_products.use_form("avx2")
        print(f"products in whole numbers: {int8_products.form()}; {os.cpu_count()} cores")
        model = load(folders["int8"])
        systems = {
            "earlier, float32": encoder(earlier.load, folders["float32"]),
            "earlier, int8": encoder(earlier.load, folders["int8"]),
            "now, float32": encoder(load, folders["float32"]),
            "now, int8": model.encode,
        }
        turns = given.turns + 2
        new = [texts[BATCH * turn : BATCH * turn + BATCH] for turn in range(turns)]
        tell("64 texts that are new each time", timed(systems, new), BATCH)
        words = model.program.word_counts
        print(f"  of {words.requested:,} words {1 - words.computed / words.requested:.0%} had come before")
        tell("64 texts of ten words, again", timed(systems, [ten[:BATCH]] * turns), BATCH)
        tell("one text of ten words", timed(systems, [[text] for text in (ten * 4)[: 10 * turns]]), 1)
        print("64 texts of ten words, again, each system in a process of its own, twice")
        for _ in range(2):
            for kind, folder in folders.items():
                tell_alone(
                    f"earlier, {kind}", Path(name) / "gathered", "heedful_runtime", folder, ten[:BATCH]
                )
                tell_alone(f"now, {kind}", ROOT / "src", "heedful.runtime", folder, ten[:BATCH])
        minilm = given.data / "minilm"
        if minilm.is_dir() and given.form == "avx512":
            some = {"all-MiniLM-L6-v2, torch, bfloat16": teacher(minilm), "now, int8": systems["now, int8"]}
            blocks = [sentences[BATCH * turn : BATCH * turn + BATCH] for turn in range(min(turns, 20))]
            tell("64 sentences of STS-B's dev part, new each time", timed(some, blocks), BATCH)


if __name__ == "__main__":
    main()
