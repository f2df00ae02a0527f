"""Compile the kernels of exported pages, with the compiler of the wheel ``ziglang``.

    python -m heedful_lab.repository.page_kernels

The module goes to src/heedful/page/kernels.wasm, which the wheel carries, so that no user needs a compiler.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from heedful_lab.repository import ROOT

PAGE = ROOT / "src" / "heedful" / "page"
FLAGS = (
    *("-target", "wasm32-wasi", "-mexec-model=reactor", "-msimd128", "-mbulk-memory"),
    *("-std=c++17", "-O3", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-g0"),
    *("-Wl,--strip-all", "-Wl,--export=__heap_base", "-Wl,-z,stack-size=131072"),
)


def build(target: Path) -> None:
    """Compile the kernels, with the compiler of the wheel ``ziglang``.

    Args:
        target: the file to write.
    """
    command = [sys.executable, "-m", "ziglang", "c++", *FLAGS, "-o", str(target), str(PAGE / "kernels.cpp")]
    subprocess.run(command, check=True)
    target.chmod(0o644)


if __name__ == "__main__":
    build(PAGE / "kernels.wasm")
    print(f"kernels.wasm: {(PAGE / 'kernels.wasm').stat().st_size:,} bytes")
