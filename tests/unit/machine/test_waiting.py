"""What is loaded before the command line can tell of Ctrl-C, and how the threads of torch wait."""

from __future__ import annotations

import subprocess
import sys

import pytest

from heedful.machine.waiting import WAITING, chosen, spin_briefly


def test_importing_the_package_loads_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules); import heedful; print(*set(sys.modules) - before)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    ours = {name for name in found.split() if name.startswith("heedful")}
    assert ours == {"heedful", "heedful.machine", "heedful.machine.waiting", "heedful.version"}
    assert not {"typing", "re", "pathlib", "logging", "dataclasses"} & set(found.split())


def test_what_the_user_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.machine.waiting._CHOSEN", {})
    environment = {"OMP_WAIT_POLICY": "ACTIVE"}
    spin_briefly(environment)
    assert environment == {"OMP_WAIT_POLICY": "ACTIVE"}
    assert chosen() == "OMP_WAIT_POLICY=ACTIVE"


def test_threads_sleep_soon_where_torch_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.machine.waiting._CHOSEN", {})
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    environment: dict[str, str] = {}
    spin_briefly(environment)
    assert environment == WAITING
    assert chosen() == "a short spin, then sleep"
