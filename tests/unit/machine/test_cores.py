"""The quota of control groups and the load, from files that only look like the system's."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.machine import threads
from heedful.machine.threads import Look, quota


def system(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


V2 = {"proc/self/cgroup": "0::/grp/job\n"}
V1 = {"proc/self/cgroup": "9:memory:/m\n3:cpu,cpuacct:/job\n2:cpuset:/\n0::/\n"}
QUOTAS: dict[str, tuple[dict[str, str], float | None]] = {
    "nothing to read": ({}, None),
    "no limit": ({**V2, "sys/fs/cgroup/grp/job/cpu.max": "max 100000\n"}, None),
    "of its own": ({**V2, "sys/fs/cgroup/grp/job/cpu.max": "150000 100000\n"}, 1.5),
    "of the group around": (
        {
            **V2,
            "sys/fs/cgroup/grp/job/cpu.max": "400000 100000\n",
            "sys/fs/cgroup/grp/cpu.max": "100000 50000\n",
        },
        2.0,
    ),
    "a container sees its group as the root": ({**V2, "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3.0),
    "both versions are mounted": (
        {
            "proc/self/cgroup": "1:cpu:/\n0::/a\n",
            "sys/fs/cgroup/unified/a/cpu.max": "50000 100000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        0.5,
    ),
    "version 1": (
        {
            **V1,
            "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "250000\n",
            "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
        },
        2.5,
    ),
    "version 1 without a limit": (
        {
            **V1,
            "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
        },
        None,
    ),
    "nonsense": ({**V2, "sys/fs/cgroup/grp/job/cpu.max": "a lot\n"}, None),
}


@pytest.mark.parametrize(("files", "granted"), QUOTAS.values(), ids=QUOTAS)
def test_the_smallest_grant_of_all_groups_holds(
    tmp_path: Path, files: dict[str, str], granted: float | None
) -> None:
    assert quota(system(tmp_path, files)) == granted


# user nice system idle iowait irq softirq steal guest guest_nice
STAT = """cpu  999 999 999 999 999 999 999 999 0 0
cpu0 100 50 20 800 30 1 2 7 0 0
cpu1 300 0 0 700 0 0 0 0 0 0
cpu2 1 2 3 4 5 6 7 8 0 0
intr 5
"""


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "allowed", lambda: frozenset({0, 1}))
    monkeypatch.setattr(threads, "_yields", lambda: False)


@pytest.mark.usefixtures("two_cores")
def test_a_look_counts_the_allowed_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = system(tmp_path, {"proc/stat": STAT})
    look = Look.now(root)
    assert look is not None
    assert (look.busy, look.total, look.processors) == (100 + 20 + 1 + 2 + 7 + 300, 2010, 2)
    monkeypatch.setattr(threads, "_yields", lambda: True)
    yielding = Look.now(root)
    assert yielding is not None
    assert yielding.busy == look.busy + 50  # work of low priority does not yield to a process of low priority


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize(
    "files", [{}, {"proc/stat": "intr 5\n"}, {"proc/stat": "cpu0 0 0 0 0 0 0 0 0 0 0\n"}]
)
def test_without_counters_there_is_no_look(tmp_path: Path, files: dict[str, str]) -> None:
    assert Look.now(system(tmp_path, files)) is None


BEFORE = Look(busy=1000, total=10_000, processors=2, own=1.0, at=50.0)


@pytest.mark.parametrize(
    ("later", "others"),
    [
        (Look(1000, 10_400, 2, 1.0, 52.0), 0.0),  # nobody worked
        (Look(1200, 10_400, 2, 3.0, 52.0), 0.0),  # this process alone
        (Look(1400, 10_400, 2, 2.0, 52.0), 1.5),  # all cores full, half a core is ours
        (Look(1100, 10_400, 2, 9.0, 52.0), 0.0),  # never less than nothing
        (Look(1400, 10_010, 2, 1.0, 52.0), 2.0),  # nor more than there is
        (Look(1400, 10_400, 2, 2.0, 50.1), None),  # too near
        (Look(1000, 10_000, 2, 1.0, 52.0), None),  # the counters stand still
    ],
)
def test_what_others_take_is_all_work_less_our_own(later: Look, others: float | None) -> None:
    assert BEFORE.others_until(later) == others
