"""Train, evaluate, save: one run from its settings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heedful.config import RunConfig, to_toml
from heedful.data.collate import collate
from heedful.data.encode import EncodedDataset
from heedful.data.sampler import BucketSampler
from heedful.errors import UsageError
from heedful.evaluation import METRICS, Report, evaluate_classes, evaluate_scores
from heedful.files import write_text
from heedful.models import ModelConfig, Network, build_network
from heedful.objectives import cross_entropy, relatedness_loss
from heedful.pipeline.card import model_card
from heedful.pipeline.prepare import Prepared
from heedful.predictor import Predictor, TextSettings
from heedful.structures import Batch, NetworkOutput
from heedful.training.loop import FitResult, fit
from heedful.training.progress import Reporter

TASKS = {"text": "text", "pair": "pair", "score": "relatedness"}
"""Kind of data to task of the model."""


@dataclass(frozen=True)
class RunResult:
    """What a run gives.

    Attributes:
        predictor: the model with its best weights.
        fit: what training did.
        dev: report on the part that selected.
        test: report on the part read once; None where there is none.
        parameters: trained parameters, word vectors excluded.
        seconds: wall time of everything.
    """

    predictor: Predictor
    fit: FitResult
    dev: Report
    test: Report | None
    parameters: int
    seconds: float

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "dev": self.dev.as_dict(),
            "test": None if self.test is None else self.test.as_dict(),
            "best_step": self.fit.best_step,
            "steps": self.fit.steps,
            "epochs": self.fit.epochs,
            "train_seconds": self.fit.seconds,
            "seconds": self.seconds,
            "parameters": self.parameters,
            "stopped": self.fit.stopped,
        }


class TrainingBatches:
    """The training examples as the loop wants them.

    Args:
        dataset: encoded training examples.
        config: the run; its ``[batches]`` table and seed are read.
    """

    def __init__(self, dataset: EncodedDataset, config: RunConfig) -> None:
        self.dataset = dataset
        self.sampler = BucketSampler(
            dataset.lengths(),
            batch_size=config.batches.size,
            max_tokens=config.batches.tokens or None,
            seed=config.train.seed,
            bucketing=config.batches.bucketing,
        )

    def batches(self, epoch: int) -> Sequence[Sequence[int]]:
        """Return the batches of an epoch, a pure function of seed and epoch."""
        return self.sampler.batches(epoch)  # type: ignore[return-value]

    def collate(self, rows: Sequence[int]) -> Batch:
        """Pad the rows of one batch."""
        return collate(self.dataset, np.asarray(rows))


def train(
    config: RunConfig,
    prepared: Prepared,
    *,
    folder: Path | None = None,
    resume: bool = False,
    reporter: Reporter | None = None,
) -> RunResult:
    """Train a model, evaluate it on its dev and test parts and save it.

    Args:
        config: the settings.
        prepared: the data, from `prepare`.
        folder: run folder to write; None keeps everything in memory.
        resume: continue an interrupted run in ``folder``.
        reporter: shows progress; None for none.

    Returns:
        The model and its figures.

    Raises:
        UsageError: if settings contradict the data.
    """
    started = time.perf_counter()
    model = _model_config(config, prepared)
    torch.manual_seed(config.train.seed)
    network = build_network(
        model, torch.from_numpy(prepared.table.trainable), torch.from_numpy(prepared.table.frozen)
    )
    text = TextSettings(
        config.text.tokenizer, config.data.max_tokens, config.data.truncate, config.batches.eval_size
    )
    predictor = Predictor(network, model, prepared.vocabulary, prepared.labels, text)

    def evaluate(_: torch.nn.Module) -> dict[str, float]:
        return report(predictor, prepared.datasets["dev"]).metrics

    result = fit(
        network,
        TrainingBatches(prepared.datasets["train"], config),
        _objective(model),
        config.train,
        evaluate=evaluate,
        folder=folder,
        resume=resume,
        config=asdict(config),
        reporter=reporter,
    )
    dev = report(predictor, prepared.datasets["dev"])
    test = report(predictor, prepared.datasets["test"]) if "test" in prepared.datasets else None
    seconds = time.perf_counter() - started
    run = RunResult(predictor, result, dev, test, count_parameters(network), seconds)
    if folder is not None:
        write_text(folder / "config.toml", to_toml(config))
        card = model_card(config, prepared, run.summary())
        predictor.save(folder / "model", run.summary(), card, asdict(config))
    return run


def report(predictor: Predictor, dataset: EncodedDataset) -> Report:
    """Evaluate a model on an encoded data set with gold.

    Args:
        predictor: the model.
        dataset: the examples.

    Returns:
        The report.

    Raises:
        UsageError: if the data set has no gold.
    """
    if dataset.targets is None or not len(dataset):
        raise UsageError("there is no gold to evaluate against: name the column of the label or score")
    started = time.perf_counter()
    logits, _ = predictor.run(dataset)
    seconds = time.perf_counter() - started
    groups = [dataset.group_names[code] for code in dataset.groups] if len(dataset.group_names) > 1 else []
    notes = {"texts without words": dataset.report.empty, "texts cut": dataset.report.truncated}
    if predictor.model.task == "relatedness":
        gold = dataset.targets.astype(np.float64)
        return evaluate_scores(gold, predictor.scores(logits), groups=groups, seconds=seconds, notes=notes)
    return evaluate_classes(
        dataset.targets.astype(np.int64),
        logits.argmax(axis=1),
        predictor.labels,
        groups=groups,
        seconds=seconds,
        notes=notes,
    )


def count_parameters(network: Network) -> int:
    """Count trained numbers, word vectors excluded."""
    table = network.sentence_encoder.embedding.weight
    return sum(p.numel() for p in network.parameters() if p is not table)


def _model_config(config: RunConfig, prepared: Prepared) -> ModelConfig:
    task = TASKS[prepared.kind]
    if config.model.task != task:
        raise UsageError(f"model.task is {config.model.task!r}, but the data is for {task!r}; set model.task={task}")
    metric = METRICS.get(config.train.metric)
    wanted = "max" if metric is None or metric.better == "higher" else "min"
    if config.train.direction != wanted:
        raise UsageError(f"train.direction must be {wanted!r} for train.metric={config.train.metric!r}")
    outputs = config.model.outputs if task == "relatedness" else len(prepared.labels)
    return replace(config.model, outputs=outputs)


def _objective(model: ModelConfig) -> Any:
    loss = relatedness_loss if model.task == "relatedness" else cross_entropy

    def objective(output: NetworkOutput, targets: Tensor) -> Tensor:
        return loss(output.logits, targets)

    return objective
