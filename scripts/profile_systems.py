"""Where the time of a training step and of inference goes, system by system.

Run: ``python scripts/profile_systems.py [--threads 1] [--steps 6] [--systems disan,mtsa]``. Batches are those of
``heedful bench --models``: 64 pairs as long as SNLI's, random words, width 300; models and optimizers are those of the
packaged recipes. Prints one Markdown table for training and one for inference: the milliseconds of a batch, then the
share of each kind of work. Inference is ``Predictor.answer`` from text, so tokenizing and answers count too.

The shares come from `torch.profiler`: an operator's own time counts for its kind. "Python and the rest" is what passed
outside every operator: the interpreter, cutting the batch, text, building answers. The profiler slows small operators,
so that share is too large by a little; the milliseconds are measured without it. Only an idle machine tells anything.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile

from heedful.data.examples import Corpus
from heedful_lab.bench.bench_systems import SYSTEMS, Trainee, settings_of
from heedful_lab.bench.corpus import bucketed, evenly_spaced, snli_like_pairs

BATCH, WIDTH, PAIRS = 64, 300, 6_400
REST = "Python and the rest"
KINDS = {
    "matrix products": (
        "aten::mm",
        "aten::bmm",
        "aten::addmm",
        "aten::baddbmm",
        "mkldnn",
        "convolution",
        "aten::lstm",
    ),
    "attention and pooling kernels": (
        # "heedful::additive", and "GeneratedBackwardFor_heedful_additive_default" of its backward pass
        *(
            f"heedful{mark}{name}"
            for mark in ("::", "_")
            for name in ("additive", "tensorized", "source_to_token")
        ),
        "scaled_dot_product",
        "softmax",
    ),
    "dropout": ("heedful::dropout", "bernoulli", "aten::dropout", "native_dropout"),
    "optimizer": ("adadelta", "adam", "_foreach", "adagrad", "Optimizer", "addcdiv", "addcmul"),
    "word vectors": ("embedding", "index_select", "coalesce", "sparse", "unique", "index_add"),
}
"""Kinds of work by parts of operator names; the first that fits counts, and what fits none is element-wise."""
ELEMENTWISE = "element-wise, copies"


def kind_of(operator: str) -> str:
    """Return the kind of work an operator does."""
    for kind, parts in KINDS.items():
        if any(part.lower() in operator.lower() for part in parts):
            return kind
    return ELEMENTWISE


def shares(run: Callable[[], object]) -> dict[str, float]:
    """Return the share of each kind of work in the time of a call."""
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        begin = time.perf_counter()
        run()
        total = 1e6 * (time.perf_counter() - begin)
    spent: Counter[str] = Counter()
    for event in recorded.key_averages():
        # autograd's own entries are bookkeeping around the operators they call
        kind = REST if event.key.startswith("autograd::engine") else kind_of(event.key)
        spent[kind] += event.self_cpu_time_total
    known = sum(value for kind, value in spent.items() if kind != REST)
    spent[REST] = max(total - known, 0)
    return {kind: value / sum(spent.values()) for kind, value in spent.items()}


def milliseconds(run: Callable[[], object], batches: int) -> float:
    """Return the time of a batch, the least of three."""

    def once() -> float:
        begin = time.perf_counter()
        run()
        return 1000 * (time.perf_counter() - begin) / batches

    return min(once() for _ in range(3))


def row(name: str, run: Callable[[], object], batches: int) -> str:
    """Return one line of a table."""
    run()  # warm
    taken, found = milliseconds(run, batches), shares(run)
    cells = [f"{100 * found.get(kind, 0):.0f}" for kind in (*KINDS, ELEMENTWISE, REST)]
    return f"| {name} | {taken:.0f} | {' | '.join(cells)} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=6, help="batches behind one figure")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    wanted = parser.parse_args()
    torch.set_num_threads(wanted.threads)
    examples = snli_like_pairs(PAIRS)
    training, inference = [], []
    for name in wanted.systems.split(","):
        trainee = Trainee(settings_of(name, width=WIDTH, batch=BATCH), examples)
        batches = evenly_spaced(bucketed(trainee.dataset.lengths(), BATCH), wanted.steps)
        training.append(row(name, lambda t=trainee, b=batches: t.train(b), len(batches)))
        asked = Corpus([examples[place] for rows in batches for place in rows])
        inference.append(row(name, lambda t=trainee, a=asked: t.predictor.answer(a), len(batches)))
    head = f"| model | ms a batch | {' | '.join((*KINDS, ELEMENTWISE, REST))} |"
    for title, lines in (("Training", training), ("Inference", inference)):
        print(f"\n{title}, shares in %\n\n{head}\n|{' --- |' * (head.count('|') - 1)}", *lines, sep="\n")


if __name__ == "__main__":
    main()
