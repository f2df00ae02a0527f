"""The kernels of whole numbers under the compiler's sanitizers, against plain loops; skipped without a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import heedful

CSRC = Path(heedful.__file__).parent / "csrc"
DRIVER, TILES = (Path(__file__).with_name(name) for name in ("whole_driver.cpp", "plain_tiles.h"))
FLAGS = (
    "-std=c++17",
    "-O1",
    "-g",
    "-ffp-contract=off",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)


@pytest.mark.parametrize("tiles", ["of the processor", "in plain C++"])
def test_every_form_equals_plain_loops_and_reads_past_no_end(tmp_path: Path, tiles: str) -> None:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program = tmp_path / "driver"
    plain = [f'-DHEEDFUL_TILES="{TILES}"'] if tiles == "in plain C++" else []
    command = [compiler, *FLAGS, *plain, "-o", str(program), str(DRIVER), str(CSRC / "whole.cpp")]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode and "san" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert not built.returncode, built.stderr[-2000:]
    ran = subprocess.run([str(program), *(["amx"] if plain else [])], capture_output=True, text=True)
    assert not ran.returncode, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert ("amx" if plain else "portable") in ran.stdout
