from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.errors import UsageError
from heedful_lab.bench import BenchRefused, ModelPlan, ModelReport, run_models, write_models
from heedful_lab.bench.bench_systems import PEER, SYSTEMS, Trainee, settings_of
from heedful_lab.bench.corpus import bucketed, evenly_spaced, padding_share, snli_like_pairs
from heedful_lab.bench.model_report import ModelRow
from printed_sizes import PRINTED, on_pairs, rounded

SMALL = {"pairs": 24, "batch": 4, "batches": 2, "width": 24, "requests": 2}
SOME = (PEER, "disan", "mdman", "decomposable")
"""Systems that are timed here: the peer, the one with a target, the one whose settings change, and a whole network."""
PLAN = ModelPlan(**SMALL)


def with_two_repeats(plan: ModelPlan) -> ModelPlan:
    """Return a plan that no median is printed of: what is measured does not depend on how often."""
    object.__setattr__(plan, "repeats", 2)
    return plan


@pytest.fixture(scope="module")
def report() -> ModelReport:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heedful_lab.bench.timing._SHORTEST", 0.0)
        return run_models(with_two_repeats(ModelPlan(**SMALL, systems=SOME)))


def test_every_system_is_timed_in_every_way(report: ModelReport) -> None:
    assert tuple(row.name for row in report.rows) == SOME
    for row in report.rows:
        assert min(row.train, row.infer, row.megabytes, row.latency, row.parameters) > 0
        assert row.latency_95 >= row.latency
    reduced = {(row.name, row.precision): row for row in report.precisions}
    assert list(reduced) == [(name, precision) for name in SOME for precision in ("bfloat16", "int8")]
    for row in reduced.values():
        assert min(row.infer, row.latency) > 0
        assert 0 < row.difference < 0.1
        assert 0 <= row.changed <= 1
    assert report.pairs == 8
    assert "feature-wise attention" in report.kernels["disan"]
    assert report.epoch_ratio("multi-head") == 1.0


def test_every_system_is_timed_with_and_without_shared_texts(report: ModelReport) -> None:
    assert tuple(row.name for row in report.sharing) == SOME
    for row in report.sharing:
        assert min(row.train, row.train_grouped, row.infer_each, row.infer) > 0
        assert " | ".join(row.cells()) in report.markdown()


def test_pairs_in_a_row_share_a_premise_where_asked() -> None:
    pairs = snli_like_pairs(9, premise_of=3)
    premises = [pair.texts[0] for pair in pairs]
    assert [premises.index(premise) for premise in premises] == [0, 0, 0, 3, 3, 3, 6, 6, 6]
    assert len({pair.texts[1] for pair in pairs}) == 9
    assert [pair.texts[1] for pair in pairs] == [pair.texts[1] for pair in snli_like_pairs(9)]


def test_the_table_names_ratios_kernels_and_the_target(report: ModelReport) -> None:
    text = report.markdown()
    assert all(f"| {name} | " in text for name in SOME)
    assert "* disan: feature-wise attention: " in text
    assert all(f"| {name} | int8 | " in text for name in SOME)
    verdict = "met" if (report.epoch_ratio("disan") or 0) <= 1.4 else "missed"
    assert f"target 1.4: {verdict}." in text


def test_ratios_are_to_the_peer() -> None:
    row = {"parameters": 1, "train_spread": 0.1, "infer_spread": 0.1, "latency_95": 9.0}
    peer = ModelRow(name="multi-head", train=100.0, megabytes=10.0, infer=100.0, latency=2.0, **row)
    slow = ModelRow(name="disan", train=50.0, megabytes=5.0, infer=25.0, latency=3.0, **row)
    report = ModelReport({}, 8, 4, 0.1, 7, ("x",), {}, (peer, slow))
    assert report.epoch_ratio("disan") == 2.0
    assert report.epoch_ratio("mtsa") is None
    assert (
        "| disan | 1 | 50 | 10% | 0.50 | 5 | 0.50 | 25 | 10% | 0.25 | 3.00 | 9.00 | 1.50 |"
        in report.markdown()
    )
    assert "takes 2.00 times that of multi-head; target 1.4: missed" in report.markdown()


def test_files_hold_the_same_rows(report: ModelReport, tmp_path: Path) -> None:
    assert [path.name for path in write_models(report, tmp_path)] == [
        "models.md",
        "models.json",
        "models.csv",
    ]
    loaded = json.loads((tmp_path / "models.json").read_text())
    with open(tmp_path / "models.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in loaded["rows"]] == [row["name"] for row in rows] == list(SOME)


def test_a_wrong_implementation_stops_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> list[str]:
        raise BenchRefused("wrong")

    monkeypatch.setattr("heedful_lab.bench.models.verify", refuse)
    monkeypatch.setattr("heedful_lab.bench.models.Trainee", None)  # nothing is built, let alone timed
    with pytest.raises(BenchRefused, match="wrong"):
        run_models(PLAN)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_model_that_is_timed_is_as_large_as_its_row_in_the_tables(system: str) -> None:
    parameters = Trainee(settings_of(system, width=300, batch=4), snli_like_pairs(12)).parameters
    assert parameters == on_pairs(system)
    rows = [printed for _, name, printed in PRINTED if name == system]
    assert [rounded(parameters, printed) for printed in rows] == rows
    assert rows or system == "mdman"  # whose paper prints no size


def test_a_step_trains() -> None:
    examples = snli_like_pairs(12)
    model = Trainee(settings_of("disan", width=8, batch=4), examples)
    network = model.predictor.network
    with torch.no_grad():  # scores far from 0: where tanh is straight, queries have next to no gradient
        network.sentence_encoder.embedding.weight.mul_(40)
    before = {name: value.clone() for name, value in network.named_parameters()}
    model.train([np.arange(4)])
    still = [name for name, value in network.named_parameters() if (value == before[name]).all()]
    assert still == []
    assert all(parameter.grad is None for parameter in network.parameters())
    table = network.sentence_encoder.embedding.weight
    moved = (table != before["sentence_encoder.embedding.weight"]).any(dim=1).nonzero()[:, 0]
    seen = {int(i) for side in model.dataset.sides for row in range(4) for i in side[row]}
    assert set(moved.tolist()) == seen


def test_pairs_are_as_long_as_those_of_snli() -> None:
    pairs = snli_like_pairs(4000)
    lengths = np.array([[len(text.split()) for text in pair.texts] for pair in pairs])
    assert np.allclose(lengths.mean(axis=0), [14.1, 8.2], atol=0.35)
    assert np.allclose(lengths.std(axis=0), [6.1, 3.2], atol=0.35)
    assert all(
        len(heads) == length
        for pair, row in zip(pairs, lengths, strict=True)
        for heads, length in zip(pair.heads, row, strict=True)
    )
    assert pairs == snli_like_pairs(4000)
    every = bucketed(lengths, 64)
    some = evenly_spaced(every, 6)
    assert len(some) == 6
    assert [len(batch) for batch in every] == [64] * 62
    assert padding_share(lengths, [np.array([0])]) == 0.0
    assert 0.05 < padding_share(lengths, every) < 0.2
    assert (
        abs(np.mean([lengths[b].sum() for b in some]) / np.mean([lengths[b].sum() for b in every]) - 1) < 0.05
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": ("dissan",)}, "did you mean 'disan'"),
        ({"repeats": 6}, "repeats must be at least 7"),
        ({"pairs": 100}, "at least three batches"),
    ],
)
def test_plans_are_checked(change: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ModelPlan(**change)


def test_the_peer_is_always_timed() -> None:
    assert ModelPlan(systems=("disan",)).names == ("multi-head", "disan")
