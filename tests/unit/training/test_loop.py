from __future__ import annotations

import contextlib
import errno
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from heedful.errors import DivergedError, Interrupted, OutputError, UsageError
from heedful.training import checkpointing, loop
from heedful.training import progress as cost
from heedful.training.loop import fit
from heedful.training.run_folder import RunStorage
from heedful.training.train_settings import OptimizerSettings
from toy_training import (
    AskedAtOnce,
    ToyData,
    ToyNetwork,
    accuracy_on,
    cross_entropy,
    toy_settings,
    train_toy,
    weights_hash,
)

ADAM = OptimizerSettings("adam", lr=0.05)


def test_one_seed_gives_the_same_bits_twice_and_another_seed_others() -> None:
    first, _ = train_toy()
    second, _ = train_toy()
    third, _ = train_toy(seed=1)
    assert weights_hash(first) == weights_hash(second)
    assert weights_hash(first) != weights_hash(third)


def test_freed_memory_goes_back_every_few_dozen_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    network = ToyNetwork()
    taken = [0]

    @contextlib.contextmanager
    def watched() -> Iterator[Callable[[], bool]]:
        yield lambda: given.append(taken[0]) is None

    network.register_forward_hook(lambda part, *_: taken.__setitem__(0, taken[0] + part.training))
    monkeypatch.setattr(loop, "freed_memory_kept", watched)
    fit(network, ToyData(), cross_entropy, toy_settings(epochs=0, max_steps=120))
    assert given == [50, 100]


def test_it_learns() -> None:
    _, result = train_toy(optimizer=ADAM, epochs=20)
    assert result.best_metrics["accuracy"] > 0.9
    assert (result.stopped, result.steps, result.epochs) == ("epochs", 160, 20)
    assert [record["step"] for record in result.history] == list(range(8, 161, 8))


def test_the_callers_random_state_is_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    network, data = ToyNetwork(), ToyData()
    torch.manual_seed(5)
    fit(network, data, cross_entropy, toy_settings(epochs=1))
    assert torch.equal(torch.rand(3), expected)


def test_shards_without_dropout_give_the_same_curve_and_with_it_another() -> None:
    def curve(shards: int, dropout: float) -> list[float]:
        data = ToyData()
        result = fit(
            ToyNetwork(dropout), data, cross_entropy, toy_settings(shards=shards), evaluate=accuracy_on(data)
        )
        return [record["train_loss"] for record in result.history]

    assert curve(3, 0.0) == pytest.approx(curve(1, 0.0), rel=1e-5)
    assert curve(3, 0.3) != pytest.approx(curve(1, 0.3), rel=1e-5)


def scripted(values: list[float], seen: list[str]):
    """Return an evaluation with given scores, noting the weights it saw."""
    script = iter(values)

    def evaluate(network: nn.Module) -> dict[str, float]:
        assert not network.training
        assert not torch.is_grad_enabled()
        seen.append(weights_hash(network))
        return {"score": next(script)}

    return evaluate


@pytest.mark.parametrize(
    ("direction", "values"), [("max", [0.1, 0.5, 0.4, math.nan, 0.9]), ("min", [0.5, 0.1, 0.1, 0.3, 0.0])]
)
def test_patience_ends_the_run_and_the_best_weights_come_back(direction: str, values: list[float]) -> None:
    seen: list[str] = []
    network = ToyNetwork()
    settings = toy_settings(evaluate_every=3, metric="score", direction=direction, patience=2)
    result = fit(network, ToyData(), cross_entropy, settings, evaluate=scripted(values, seen))
    assert (result.stopped, result.steps, result.best_step) == ("patience", 12, 6)
    assert result.best_metrics == {"score": values[1]}
    assert weights_hash(network) == seen[1] != seen[-1]
    assert not network.training


def test_the_last_step_is_evaluated_off_schedule() -> None:
    _, result = train_toy(max_steps=11, evaluate_every=4)
    assert [record["step"] for record in result.history] == [4, 8, 11]
    assert result.stopped == "max_steps"


def test_no_step_before_the_first_is_evaluated() -> None:
    _, result = train_toy(max_steps=11, evaluate_every=2, evaluate_from=6)
    assert [record["step"] for record in result.history] == [6, 8, 10, 11]
    _, late = train_toy(max_steps=11, evaluate_every=2, evaluate_from=50)
    assert [record["step"] for record in late.history] == [11], "the last step is always evaluated"


def test_without_evaluation_the_last_weights_stay() -> None:
    network = ToyNetwork()
    result = fit(network, ToyData(), cross_entropy, toy_settings(max_steps=5))
    assert (result.best_step, result.best_metrics, result.history) == (-1, {}, ())
    assert weights_hash(network) != weights_hash(ToyNetwork())


def test_clipping_and_schedule_take_part() -> None:
    plain, clipped, falling = (
        weights_hash(train_toy(**change)[0]) for change in ({}, {"clip_norm": 0.01}, {"schedule": "linear"})
    )
    assert len({plain, clipped, falling}) == 3
    assert weights_hash(train_toy(clip_norm=1e6)[0]) == plain


def test_bfloat16_products_train() -> None:
    network, result = train_toy(precision="bf16-mixed", optimizer=ADAM, epochs=10)
    assert result.best_metrics["accuracy"] > 0.8
    assert {parameter.dtype for parameter in network.parameters()} == {torch.float32}


def test_a_finished_run_resumes_to_the_same_answer_and_may_be_prolonged(tmp_path: Path) -> None:
    network, result = train_toy(tmp_path / "run", epochs=2)
    again, resumed = train_toy(tmp_path / "run", epochs=2, resume=True)
    assert weights_hash(again) == weights_hash(network)
    assert resumed.history == result.history
    longer, _ = train_toy(tmp_path / "run", epochs=4, resume=True)
    assert weights_hash(longer) == weights_hash(train_toy(epochs=4)[0])


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    train_toy(tmp_path, epochs=1)
    before = (tmp_path / "metrics.jsonl").read_bytes()
    with pytest.raises(UsageError, match="already holds a run: resume it, or choose another folder"):
        train_toy(tmp_path, epochs=1)
    assert (tmp_path / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"seed": 9}, "seed: 0 then, 9 now"),
        ({"optimizer": ADAM}, "optimizer: .*adadelta.*adam"),
        ({"size": 30}, "8 .*4"),
    ],
)
def test_a_resume_that_would_go_another_way_is_refused(tmp_path: Path, change: dict, text: str) -> None:
    train_toy(tmp_path, epochs=1)
    with pytest.raises(UsageError, match=text):
        train_toy(tmp_path, epochs=2, resume=True, **change)


def test_the_run_folder_holds_what_a_rerun_needs(tmp_path: Path) -> None:
    data = ToyData()
    fit(
        ToyNetwork(),
        data,
        cross_entropy,
        toy_settings(epochs=1, log_every=3),
        evaluate=accuracy_on(data),
        keeping=RunStorage(tmp_path, config={"train": {"epochs": 1}}),
    )
    assert json.loads((tmp_path / "config.json").read_text()) == {"train": {"epochs": 1}}
    environment = json.loads((tmp_path / "env.json").read_text())
    assert environment["packages"]["torch"] == torch.__version__
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["step"]) for line in lines] == [("train", 3), ("train", 6), ("evaluation", 8)]
    assert lines[2]["best"] is True
    assert (tmp_path / "checkpoints" / "latest" / "manifest.json").is_file()


class BadAtStep:
    """Cross-entropy that turns one example's loss, or only its gradient, bad at a given call."""

    def __init__(self, call: int, kind: str) -> None:
        self.calls, self.call, self.kind = 0, call, kind

    def __call__(self, output, targets):
        losses = cross_entropy(output, targets)
        self.calls += 1
        if self.calls != self.call:
            return losses
        if self.kind == "gradient":
            return losses + (output.logits[:, 0] * 0).sqrt()  # value 0, gradient inf * 0
        return torch.where(torch.arange(len(losses)) == 2, torch.nan, losses)


@pytest.mark.parametrize("kind", ["loss", "gradient"])
def test_a_step_that_is_not_finite_names_itself_and_its_rows(tmp_path: Path, kind: str) -> None:
    network, data = ToyNetwork(), ToyData()
    settings = toy_settings(evaluate_every=5, epochs=4)
    unbroken, _ = train_toy(evaluate_every=5, epochs=4, max_steps=5)
    with pytest.raises(DivergedError) as caught:
        fit(
            network,
            data,
            BadAtStep(12, kind),
            settings,
            evaluate=accuracy_on(data),
            keeping=RunStorage(tmp_path),
        )
    rows = data.batches(1)[3]
    named = str(rows[2]) if kind == "loss" else ", ".join(map(str, rows))
    message = str(caught.value)
    assert message.startswith(f"step 12: the {'loss is nan' if kind == 'loss' else 'gradient'}")
    assert f": {named}. " in message
    assert "best weights, of step 5" in message
    assert weights_hash(network) == weights_hash(unbroken)
    # The state before the bad step was saved: with a sound objective the run goes on from there.
    resumed = ToyNetwork()
    fit(
        resumed, data, cross_entropy, settings, evaluate=accuracy_on(data), keeping=RunStorage(tmp_path, True)
    )
    assert weights_hash(resumed) == weights_hash(train_toy(evaluate_every=5, epochs=4)[0])


def test_without_an_evaluation_the_weights_before_the_bad_step_are_kept() -> None:
    network, good = ToyNetwork(), ToyNetwork()
    with pytest.raises(DivergedError, match="holds the weights of step 3"):
        fit(network, ToyData(), BadAtStep(4, "loss"), toy_settings())
    fit(good, ToyData(), cross_entropy, toy_settings(max_steps=3))
    assert weights_hash(network) == weights_hash(good)


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    train_toy(folder, epochs=1)

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("heedful.training.state.write_json", full)
        with pytest.raises(OutputError, match="No space left on device") as caught:
            train_toy(folder, epochs=3, resume=True)
    assert "\n" not in str(caught.value)
    network, _ = train_toy(folder, epochs=3, resume=True)
    assert weights_hash(network) == weights_hash(train_toy(epochs=3)[0])


def test_a_place_that_cannot_be_written_stops_before_the_first_step(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        train_toy(tmp_path / "file" / "run")


def test_a_request_to_stop_finishes_the_step_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("heedful.training.loop.StopRequest", AskedAtOnce)
        with pytest.raises(Interrupted, match=r"after step 1 of at most 24; "):
            train_toy(tmp_path)
        with pytest.raises(Interrupted, match="on disk"):
            train_toy()
    network, _ = train_toy(tmp_path, resume=True)
    assert weights_hash(network) == weights_hash(train_toy()[0])


def test_the_objective_must_return_one_loss_an_example() -> None:
    with pytest.raises(ValueError, match=r"one loss an example, \[8\]; got \[\]"):
        fit(
            ToyNetwork(),
            ToyData(),
            lambda output, targets: cross_entropy(output, targets).mean(),
            toy_settings(),
        )


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'accuracy'"):
        train_toy(metric="acuracy")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_cuda_must_exist() -> None:
    with pytest.raises(UsageError, match="finds no CUDA device"):
        fit(ToyNetwork(), ToyData(), cross_entropy, replace(toy_settings(), device="cuda"))


def test_shards_must_be_dealt_evenly_to_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TORCHELASTIC_RUN_ID", "toy"), ("WORLD_SIZE", "2"), ("LOCAL_WORLD_SIZE", "2")):
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="shards must be a multiple of the number of processes, 2; got 3"):
        train_toy(shards=3)


def test_the_cost_of_a_resumed_run_is_that_of_all_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step takes 1 s of the clock and 2 of the processor, an evaluation 100 s, a checkpoint 1,000 s."""
    clock = [0.0]
    monkeypatch.setattr(
        cost, "time", SimpleNamespace(monotonic=lambda: clock[0], process_time=lambda: 2 * clock[0])
    )

    def taking(seconds: float, function):
        def call(*arguments, **options):
            clock[0] += seconds
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(checkpointing, "save_state", taking(1000.0, checkpointing.save_state))
    data, settings = ToyData(), toy_settings(epochs=2, save_steps=3)

    def run(folder: Path, objective=cross_entropy, *, resume: bool = False):
        evaluate = taking(100.0, accuracy_on(data))
        return fit(
            ToyNetwork(),
            data,
            taking(1.0, objective),
            settings,
            evaluate=evaluate,
            keeping=RunStorage(folder, resume),
        )

    unbroken = run(tmp_path / "unbroken")
    assert unbroken.stepping == cost.Cost(16.0, 32.0)
    assert (unbroken.resumed, unbroken.seconds_before) == (0, 0.0)

    def cut_off(output, targets):
        raise KeyboardInterrupt

    calls = iter([cross_entropy] * 10 + [cut_off])
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "broken", lambda output, targets: next(calls)(output, targets))
    clock[0] += 1e6  # between the parts
    resumed = run(tmp_path / "broken", resume=True)
    assert resumed.stepping == cost.Cost(16.0, 32.0)  # step 10, which was lost, counts once
    assert resumed.resumed == 1
    assert 0 < resumed.seconds_before < resumed.seconds < 1e6
