"""Instructions for bfloat16, from a file that only looks like the system's."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.machine.processors import bfloat16_instructions, bfloat16_obstacle, cpu_info, flags


def processor(root: Path, text: str) -> Path:
    (root / "proc").mkdir()
    (root / "proc/cpuinfo").write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("flags\t\t: fpu avx512f amx_bf16 amx_tile avx512_bf16", ("AMX", "AVX-512 BF16")),
        ("flags\t\t: fpu avx512f avx512_bf16", ("AVX-512 BF16",)),
        ("flags\t\t: fpu avx512f avx512_vnni", ()),
        ("Features\t: fp asimd bf16 i8mm", ("Arm BF16",)),
        ("Features\t: fp asimd svebf16", ()),
        ("model name\t: unknown", None),
    ],
)
def test_instructions_are_read_from_the_flags(
    tmp_path: Path, line: str, names: tuple[str, ...] | None
) -> None:
    root = processor(tmp_path, f"processor\t: 0\n{line}\n")
    assert bfloat16_instructions(root) == names
    fast = names is None or {"AMX", "Arm BF16"} & set(names)
    assert (bfloat16_obstacle(root) == "") == bool(fast)


@pytest.mark.parametrize(
    ("vendor", "flag", "fast"),
    [
        ("AuthenticAMD", "avx512_bf16", True),
        ("GenuineIntel", "avx512_bf16", False),
        ("AuthenticAMD", "avx512_vnni", False),
    ],
)
def test_the_instructions_of_avx512_are_fast_on_processors_of_amd(
    tmp_path: Path, vendor: str, flag: str, fast: bool
) -> None:
    root = processor(tmp_path, f"processor\t: 0\nvendor_id\t: {vendor}\nflags\t\t: fpu {flag}\n")
    assert (bfloat16_obstacle(root) == "") == fast


def test_where_the_system_says_nothing_nothing_is_known(tmp_path: Path) -> None:
    assert bfloat16_instructions(tmp_path) is None
    assert bfloat16_obstacle(tmp_path) == ""
    assert flags(tmp_path) == frozenset()


def test_the_first_processor_speaks(tmp_path: Path) -> None:
    root = processor(tmp_path, "model name\t: First : one\nmodel name\t: Second\n")
    assert cpu_info("model name", root=root) == "First : one"
