"""The precision of a run: chosen from the processor, warned of where it is slower, said in the run's record."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
import torch

from heedful.errors import UsageError
from heedful.machine import processors
from heedful.training import distributed
from heedful.training.distributed import settled
from heedful.training.train_settings import TrainSettings
from toy_training import train_toy

CPU = {"device": "cpu"}


@pytest.fixture
def flags(monkeypatch: pytest.MonkeyPatch):
    def give(*names: str, vendor: str = "GenuineIntel") -> None:
        monkeypatch.setattr(processors, "flags", lambda root=None: frozenset(names))
        monkeypatch.setattr(processors, "cpu_info", lambda *_, root=None: vendor)

    return give


@pytest.mark.parametrize(
    ("names", "chosen", "word"),
    [
        (("fpu", "amx_bf16"), "bf16-mixed", "AMX"),
        (("fpu", "avx512_bf16", "amx_bf16"), "bf16-mixed", "AMX, AVX-512 BF16"),
        (("fpu", "avx512_bf16"), "32-true", "AVX-512 BF16 but no AMX"),
        (("fpu", "avx512f"), "32-true", "no instructions"),
        ((), "32-true", "does not say"),
    ],
)
def test_auto_takes_bfloat16_where_there_are_instructions(flags, names, chosen: str, word: str) -> None:
    flags(*names)
    settings, reason = settled(TrainSettings(precision="auto", **CPU))
    assert settings == TrainSettings(precision=chosen, **CPU)
    assert word in reason


def test_auto_takes_bfloat16_on_a_processor_of_amd(flags) -> None:
    flags("fpu", "avx512_bf16", vendor="AuthenticAMD")
    settings, reason = settled(TrainSettings(precision="auto", **CPU))
    assert settings.precision == "bf16-mixed"
    assert "AVX-512 BF16" in reason


@pytest.mark.parametrize(
    ("asked", "names", "warnings"),
    [
        ("bf16-mixed", ("fpu",), 1),
        ("bf16-mixed", ("amx_bf16",), 0),
        ("bf16-mixed", (), 0),
        ("auto", ("fpu",), 0),
        ("32-true", ("fpu",), 0),
    ],
)
def test_bfloat16_that_is_slower_is_warned_of(
    flags, caplog: pytest.LogCaptureFixture, asked: str, names: tuple[str, ...], warnings: int
) -> None:
    flags(*names)
    with caplog.at_level(logging.WARNING, logger=distributed.__name__):
        settings, _ = settled(TrainSettings(precision=asked, **CPU))
    assert settings.precision == asked or asked == "auto"
    assert len(caplog.records) == warnings


def test_a_gpu_decides_where_the_run_is_on_it(flags, monkeypatch: pytest.MonkeyPatch) -> None:
    flags("fpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for known, chosen in ((True, "bf16-mixed"), (False, "32-true")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda known=known, **_: known)
        assert settled(TrainSettings(precision="auto"))[0].precision == chosen


def test_the_run_says_its_precision_and_its_threads(tmp_path: Path, flags) -> None:
    flags("fpu")
    train_toy(tmp_path / "run", max_steps=2, precision="auto", **CPU)
    told = json.loads((tmp_path / "run" / "env.json").read_text(encoding="utf-8"))
    assert told["precision"] == "32-true"
    assert "no instructions" in told["precision_reason"]
    assert told["threads"] == torch.get_num_threads()
    assert {"threads_reason", "threads_wait"} <= told.keys()


def test_a_run_is_not_resumed_in_another_precision(tmp_path: Path, flags) -> None:
    flags("fpu")
    train_toy(tmp_path / "run", max_steps=2, precision="auto", **CPU)
    flags("amx_bf16")
    with pytest.raises(UsageError, match="precision"):
        train_toy(tmp_path / "run", max_steps=4, precision="auto", resume=True, **CPU)
