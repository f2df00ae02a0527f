"""The one training loop: task-agnostic, resumable at every step, the same on one process or several."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import nn

from heedful.errors import DivergedError, Interrupted
from heedful.machine import threads
from heedful.machine.memory import freed_memory_kept
from heedful.machine.signals import StopRequest
from heedful.machine.torch_state import own_torch_state
from heedful.storage.ownership import WITHOUT_NETWORK
from heedful.training.breakage import FEW_TEXTS, BreakageWatch, Sign, sample
from heedful.training.checkpointing import Keeper
from heedful.training.distributed import settled, share_weights, start_fabric
from heedful.training.optim import build_optimizer, learning_rate_factor
from heedful.training.progress import Cost, Reporter, Silent
from heedful.training.run_folder import RunFolder, RunStorage
from heedful.training.run_state import StopReason
from heedful.training.state import checkpoint_exists, saved_threads, trainable_weights
from heedful.training.step import GradientStep, Objective, StepResult, TrainingData
from heedful.training.train_settings import TrainSettings

Evaluate = Callable[[nn.Module], Mapping[str, float]]
GIVE_BACK_EVERY = 50
"""Steps after which free memory goes back to the system; this takes less than half a percent of their time."""


@dataclass(frozen=True)
class FitResult:
    """How a run went.

    Attributes:
        stopped: what ended it.
        best_step: step of the best evaluation, whose weights the network now has; -1 without evaluations.
        best_metrics: what was measured then.
        steps: optimizer steps taken.
        epochs: passes completed.
        seconds: time over all resumptions.
        history: one record an evaluation, as in ``metrics.jsonl``.
        stepping: what the steps alone took over all resumptions; evaluations and checkpoints are left out.
        seconds_before: the part of ``seconds`` that lies before the last resumption.
        resumed: how often the run was resumed.
        signs: what looked broken on the way, a sentence each with its remedy; see `heedful.training.breakage`.
        dead: share of the units of each layer that never fired when the network was last looked at, by layer.
    """

    stopped: StopReason
    best_step: int
    best_metrics: dict[str, float]
    steps: int
    epochs: int
    seconds: float
    history: tuple[dict[str, object], ...]
    stepping: Cost
    seconds_before: float
    resumed: int
    signs: tuple[str, ...] = ()
    dead: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        best = f"best at {self.best_step:,}; {self.seconds:.0f} s"
        return f"FitResult({self.stopped!r} after {self.steps:,} steps, {best})"


def fit(
    network: nn.Module,
    data: TrainingData,
    objective: Objective,
    settings: TrainSettings,
    *,
    evaluate: Evaluate | None = None,
    keeping: RunStorage | None = None,
    reporter: Reporter | None = None,
) -> FitResult:
    """Train a network in place; it ends in evaluation mode with the best weights (the last ones if none were best).

    All randomness is a pure function of the seed, the step and the shard, so that a run that was killed and resumed,
    or run again, ends with the same weights to the bit on the same machine. The caller's random state is not touched.

    Args:
        network: takes a `Batch`, returns a `NetworkOutput`.
        data: batches of rows by epoch, and their collation.
        objective: loss of each example, [B], from the output and the batch's targets.
        settings: how the run goes.
        evaluate: measures the network, which is in evaluation mode and records no gradients.
        keeping: where the run is kept; None keeps nothing on disk.
        reporter: hears of the progress; None reports nothing.

    Returns:
        How the run went.

    Raises:
        Interrupted: on SIGINT or SIGTERM, after the step in hand was finished and saved.
        DivergedError: if a loss, a gradient or the learning rate is not finite in float32; the state before that step
            is saved.
        OutputError: if the folder cannot be written; the last complete checkpoint stays.
        InUseError: if another process is at work in the folder.
        UsageError: if the folder holds a run that is neither to be resumed nor to be replaced, or the resumed
            run had other settings or data.
        ArtifactError: if the checkpoint was altered.
    """
    settings, reason = settled(settings)
    with own_torch_state():
        return _fit(network, data, objective, settings, reason, evaluate, keeping, reporter)


def _threads_of(keeping: RunStorage | None) -> int | None:
    """Return the number of threads of the run that goes on; None where none does."""
    return saved_threads(RunFolder(keeping.folder).checkpoint) if keeping and keeping.resume else None


def _fit(
    network: nn.Module,
    data: TrainingData,
    objective: Objective,
    settings: TrainSettings,
    reason: str,
    evaluate: Evaluate | None,
    keeping: RunStorage | None,
    reporter: Reporter | None,
) -> FitResult:
    """See `fit`; the reason is that of the precision."""
    home, resume = (None, False) if keeping is None else (RunFolder(keeping.folder), keeping.resume)
    alone = contextlib.nullcontext() if home is None else home.alone()
    with alone, threads.kept(_threads_of(keeping)):
        fabric = start_fabric(settings)
        network = fabric.to_device(network)
        share_weights(fabric, list(trainable_weights(network).values()))
        optimizers = build_optimizer(network, settings.optimizer)
        keeper = Keeper(network, optimizers, settings, home, writes=fabric.is_global_zero)
        goes_on = resume and home is not None and checkpoint_exists(home.checkpoint)
        if goes_on:  # before anything is written: a checkpoint that is refused leaves the folder as it was
            keeper.begin(data.batches, resume=resume)
        if home is not None and keeping is not None and fabric.is_global_zero:
            precision = {"precision": settings.precision, "precision_reason": reason}
            home.begin(keeping.config, keeping.files, precision, resume=resume, overwrite=keeping.overwrite)
        fabric.barrier()
        if not goes_on:
            keeper.begin(data.batches, resume=resume)
        visible = reporter if reporter is not None and fabric.is_global_zero else Silent()
        step = GradientStep(fabric, network, data, objective, settings)
        with freed_memory_kept() as give_back, StopRequest() as request:
            loop = _Loop(step, keeper, evaluate, visible, request, give_back)
            result = loop.run()
        # A signal during the last evaluation or save: the caller is to stop.
        if request.is_set and fabric.world_size == 1:
            raise Interrupted(loop.interruption())
        return result


def without_network(keeping: RunStorage | None) -> FitResult:
    """Begin the folder of a run that trains no network, and say that no step was taken.

    Args:
        keeping: where the run is kept; None keeps nothing on disk.

    Returns:
        A result without steps.
    """
    if keeping is not None:
        home = RunFolder(keeping.folder)
        home.begin(
            keeping.config, keeping.files, WITHOUT_NETWORK, resume=keeping.resume, overwrite=keeping.overwrite
        )
    return FitResult("no network", -1, {}, 0, 0, 0.0, (), Cost(), 0.0, 0)


class _Loop:
    """Steps, evaluations and checkpoints in their order."""

    def __init__(
        self,
        gradient_step: GradientStep,
        keeper: Keeper,
        evaluate: Evaluate | None,
        reporter: Reporter,
        request: StopRequest,
        give_back: Callable[[], bool],
    ) -> None:
        self.gradient_step, self.keeper, self.evaluate = gradient_step, keeper, evaluate
        self.reporter, self.request, self.give_back = reporter, request, give_back
        self.fabric, self.network = gradient_step.fabric, gradient_step.network
        self.settings, self.data = gradient_step.settings, gradient_step.data
        self.total_steps = self.settings.total_steps(keeper.state.steps_per_epoch)
        before = [str(record["name"]) for record in keeper.log.records if record.get("kind") == "sign"]
        self.watch = BreakageWatch(self.network, self.settings, before)

    def run(self) -> FitResult:
        """Train to the end."""
        keeper = self.keeper
        self.reporter.start(self.total_steps, keeper.state.step)
        try:
            while (reason := keeper.state.stop_reason(self.settings)) is None:
                self._run_epoch()
        except DivergedError as error:
            raise DivergedError(f"{error}. {keeper.keep_last_good()}") from None
        finally:
            self.reporter.close()
            self.network.eval()
        keeper.finish()
        state = keeper.state
        history = tuple(record for record in keeper.log.records if record.get("kind") == "evaluation")
        signs = tuple(
            str(record["sentence"]) for record in keeper.log.records if record.get("kind") == "sign"
        )
        return FitResult(
            reason,
            state.best.step,
            state.best.metrics,
            state.step,
            state.epoch,
            state.seconds,
            history,
            Cost(state.seconds, state.cpu_seconds) - state.aside,
            keeper.seconds_before,
            state.resumed,
            signs,
            self.watch.dead,
        )

    def _run_epoch(self) -> None:
        """Run what is left of the epoch."""
        keeper, state = self.keeper, self.keeper.state
        batches = self.data.batches(state.epoch)
        for rows in batches[state.position :]:
            asked = self._step(rows, last=state.position + 1 == len(batches))
            if state.step % GIVE_BACK_EVERY == 0:
                self.give_back()
            due = self._evaluation_due()
            improved = self._evaluate_if_due()
            if self.fabric.is_global_zero and self.watch.due(state.step, self._evaluations() if due else 0):
                self._look(rows)
            asked = asked or (self.fabric.world_size == 1 and self.request.is_set)
            over = state.stop_reason(self.settings) is not None
            if over or asked or improved or keeper.save_due():
                keeper.save()
            if asked:
                raise Interrupted(self.interruption())
            if over:
                return

    def _step(self, rows: Sequence[int], *, last: bool) -> bool:
        """Take one optimizer step; return whether any process was asked to stop."""
        keeper, state, settings = self.keeper, self.keeper.state, self.settings
        self.network.train()
        keeper.optimizers.zero_grad()
        result = self.gradient_step.compute(rows, state.step, stop=self.request.is_set)
        factor = learning_rate_factor(state.step, settings, self.total_steps)
        keeper.optimizers.scale_lr(factor)
        if keeper.optimizers.largest_rate() > torch.finfo(torch.float32).max:
            rate = keeper.optimizers.largest_rate()
            raise DivergedError(
                f"step {state.step + 1}: the learning rate {rate:g} is beyond the range of float32"
            )
        keeper.optimizers.step()
        state.step += 1
        keeper.stepped()
        state.epoch, state.position = (state.epoch + 1, 0) if last else (state.epoch, state.position + 1)
        self._count(result, len(rows))
        self.reporter.step(state.step, result.loss)
        if state.step % settings.log_every == 0 and not self._evaluation_due():
            keeper.record(
                "train",
                lr=settings.optimizer.lr * factor,
                gradient_norm=result.gradient_norm,
                **self._log_fields(),
            )
        return result.stop

    def _count(self, result: StepResult, rows: int) -> None:
        state = self.keeper.state
        state.loss_sum += result.loss * rows
        state.loss_count += rows
        for name, mean in result.figures.items():
            state.figure_sums[name] = state.figure_sums.get(name, 0.0) + mean * rows

    def _log_fields(self) -> dict[str, str]:
        """Collect what the modules that know the step say of it."""
        return {name: said for part in self.gradient_step.stepped for name, said in part.log_fields().items()}

    def _evaluation_due(self) -> bool:
        state = self.keeper.state
        every = self.settings.evaluation_steps(state.steps_per_epoch)
        on_schedule = state.step % every == 0 if every else state.position == 0
        on_schedule = on_schedule and state.step >= self.settings.evaluate_from
        return self.evaluate is not None and (on_schedule or state.stop_reason(self.settings) is not None)

    def _evaluate_if_due(self) -> bool:
        """Measure on the first process; return whether it was the best so far."""
        if self.evaluate is None or not self._evaluation_due():
            return False
        metrics: dict[str, float] = {}
        with self.keeper.judged():
            with self.keeper.state.aside.counting():
                if self.fabric.is_global_zero:
                    self.network.eval()
                    with torch.no_grad():
                        metrics = {name: float(value) for name, value in self.evaluate(self.network).items()}
                metrics = self.fabric.broadcast(metrics)
            signs = self.watch.judge(self.keeper.state.step, metrics, self.keeper.state.best.metrics)
            best = self.keeper.consider(metrics)
        self._report(signs)
        self.reporter.evaluation(self.keeper.record("evaluation", **metrics, **self._log_fields(), best=best))
        return best

    def _evaluations(self) -> int:
        """Count the evaluations so far, those before an interruption too."""
        return sum(record.get("kind") == "evaluation" for record in self.keeper.log.records)

    def _look(self, rows: Sequence[int]) -> None:
        """Look for signs that training breaks the network; the first process does."""
        with self.keeper.state.aside.counting():
            chosen = sample(self.data.batches(0), self.data.collate)
            batches = [batch.to(self.fabric.device) for batch in chosen]
            few = sample(self.data.batches(0), self.data.collate, FEW_TEXTS)[0].to(self.fabric.device)
            signs = self.watch.look(self.keeper.state.step, batches, few, self.data.collate(rows))
        self._report(signs)

    def _report(self, signs: Sequence[Sign]) -> None:
        for sign in signs:
            record = {
                "kind": "sign",
                "step": self.keeper.state.step,
                "name": sign.name,
                "sentence": sign.sentence,
            }
            self.keeper.log.write(record)
            self.reporter.sign(sign.sentence)

    def interruption(self) -> str:
        """Report the step of an interrupted run and where it is saved."""
        step, home = self.keeper.state.step, self.keeper.home
        kept = (
            f"everything is saved in {home.root}; resume it to continue"
            if home
            else "nothing is saved on disk"
        )
        return f"interrupted after step {step} of at most {self.total_steps}; {kept}"
