"""Kernels of smaller numbers under the compiler's sanitizers, against plain loops; skipped without a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import heedful

CSRC, HERE = Path(heedful.__file__).parent / "csrc", Path(__file__).parent
FORMS = {"whole": ("portable", "amx"), "bfloat16": ("float32", "amx")}
"""Those that every processor has here: the tiles of AMX are computed in plain C++."""
SOURCES = {
    "whole": (("whole_driver", "chain_driver"), ("whole", "chain", "texts", "dense")),
    "bfloat16": (("bfloat16_driver",), ("bfloat16",)),
}
"""The plain loops and the kernels: steps that follow each other are looked at with those of whole numbers."""
FLAGS = ("-std=c++17", "-ffp-contract=off")
WATCHED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""Flags of the kernels, not of the plain loops that they are compared with."""


@pytest.mark.parametrize("numbers", FORMS)
def test_every_form_equals_plain_loops_and_reads_past_no_end(tmp_path: Path, numbers: str) -> None:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program, tiles = tmp_path / "driver", f'-DHEEDFUL_TILES="{HERE / "plain_tiles.h"}"'
    drivers, kernels = SOURCES[numbers]
    commands = [  # the compiler takes longest, and least without optimizing what it instruments
        *((*("-O1", f"-I{CSRC}", "-c"), HERE / f"{name}.cpp") for name in drivers),
        *((*("-O0", *WATCHED, tiles, f"-I{CSRC}", "-c"), CSRC / f"{name}.cpp") for name in kernels),
        (*WATCHED, *(f"{name}.o" for name in drivers + kernels), "-o", program.name),
    ]
    for given in commands:
        built = subprocess.run(
            [compiler, *FLAGS, *map(str, given)], cwd=tmp_path, capture_output=True, text=True
        )
        if built.returncode and "san" in built.stderr:
            pytest.skip("the compiler has no sanitizers")
        assert not built.returncode, built.stderr[-2000:]
    ran = subprocess.run([str(program)], capture_output=True, text=True)
    assert not ran.returncode, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert set(FORMS[numbers]) <= set(ran.stdout.split())
