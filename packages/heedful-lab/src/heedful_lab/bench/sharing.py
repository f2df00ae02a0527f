"""What it brings to read a text once that several pairs have, in training and in prediction, on whole models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from heedful.data.batching import collate, distinct_texts
from heedful.data.encoding import EncodedDataset
from heedful.run.recipe_files import override
from heedful.tables import markdown_table
from heedful.tasks import Predictor
from heedful_lab.bench.bench_systems import Trainee, inference, settings_of, training
from heedful_lab.bench.corpus import bucketed, evenly_spaced, snli_like_pairs
from heedful_lab.bench.timing import Step, interleave

PAIRS_A_PREMISE = 3
"""SNLI and MultiNLI write three hypotheses for each premise."""


@dataclass(frozen=True)
class SharingRow:
    """One model on pairs of which three share their premise.

    Attributes:
        name: of the model.
        train: pairs a second in training where every pair's texts are read.
        train_grouped: the same with ``batches.group``.
        infer_each: pairs a second when answering many where every pair's texts are read.
        infer: the same as a model answers: every distinct text is read once.
    """

    name: str
    train: float
    train_grouped: float
    infer_each: float
    infer: float

    def cells(self) -> list[str]:
        """Return the cells of the row: the name, then both speeds and their ratio, of training and of inference."""
        training = [
            f"{self.train:,.0f}",
            f"{self.train_grouped:,.0f}",
            f"{self.train_grouped / self.train:.2f}",
        ]
        inference = [f"{self.infer_each:,.0f}", f"{self.infer:,.0f}", f"{self.infer / self.infer_each:.2f}"]
        return [self.name, *training, *inference]


def sharing_table(rows: tuple[SharingRow, ...]) -> list[str]:
    """Write the rows as Markdown, with what was measured; nothing for no rows."""
    if not rows:
        return []
    return [
        "",
        "## Texts that pairs share",
        "",
        f"Each premise has {PAIRS_A_PREMISE} hypotheses, as in SNLI and MultiNLI. Grouped: with `batches.group` the "
        "pairs of a premise train in one batch and its texts are encoded once. Each read: every text of every pair is "
        "read; once: as a model answers, every distinct text is.",
        "",
        *markdown_table(
            ["model", "training pairs/s", "grouped", "x", "inference pairs/s, each read", "once", "x"],
            (row.cells() for row in rows),
            right=range(1, 7),
        ),
    ]


def measure_sharing(
    names: tuple[str, ...], *, pairs: int, batch: int, batches: int, width: int, repeats: int
) -> tuple[SharingRow, ...]:
    """Time models on pairs that share premises, all cases of all models in turns.

    Args:
        names: of models.
        pairs: how many are drawn.
        batch: pairs a training step.
        batches: steps behind one measurement, from short sentences to long ones.
        width: features of a word vector.
        repeats: measurements of each case.

    Returns:
        A row a model: medians.
    """
    examples = snli_like_pairs(pairs, premise_of=PAIRS_A_PREMISE)
    steps: dict[tuple[str, str], Step] = {}
    for name in names:
        config = settings_of(name, width=width, batch=batch)
        apart, grouped = (
            Trainee(override(config, {"batches.group": group}), examples) for group in (False, True)
        )
        lengths = apart.dataset.lengths()
        plain = evenly_spaced(bucketed(lengths, batch), batches)
        together = evenly_spaced(bucketed(lengths, batch, distinct_texts(apart.dataset).groups()), batches)
        asked = apart.dataset.select(np.concatenate(together))
        steps |= {
            (name, "train"): training(apart, plain),
            (name, "train_grouped"): training(grouped, together),
            (name, "infer_each"): _reading_each(apart.predictor, asked),
            (name, "infer"): inference(apart.predictor, asked),
        }
    for step in steps.values():  # warm
        step()
    timings = interleave(steps, repeats)
    speeds = {case: batch * batches / timing.median for case, timing in timings.items()}
    return tuple(
        SharingRow(
            name,
            train=speeds[name, "train"],
            train_grouped=speeds[name, "train_grouped"],
            infer_each=speeds[name, "infer_each"],
            infer=speeds[name, "infer"],
        )
        for name in names
    )


def _reading_each(predictor: Predictor, dataset: EncodedDataset) -> Step:
    @torch.inference_mode()
    def step() -> None:
        predictor.network.eval()
        for rows in predictor.batches(dataset):
            predictor.network(collate(dataset, rows)).logits.numpy()

    return step
