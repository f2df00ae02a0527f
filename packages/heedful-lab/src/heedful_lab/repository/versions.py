"""Run the tests with the oldest libraries that pyproject.toml promises, and with the newest that there are.

    python -m heedful_lab.repository.versions build/versions oldest newest --python python3.11 --torch torch==2.13.0

Each kind gets an environment of its own in the folder, with heedful, what its extra "all" names, and the laboratory;
heedful-en is not there, as with a stranger, and what the tests need of it is skipped and counted. torch is installed
first and as ``--torch`` says, by default as constraints.txt pins it; a build that brings libraries of CUDA is refused,
because they take gigabytes. The exit status is 0 if all tests passed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from heedful_lab.repository import ROOT

KINDS = ("oldest", "newest")
TESTS = (
    "tests/unit",
    *(f"tests/contracts/test_{each}.py" for each in ("encoders", "sklearn", "sklearn_checks")),
)
"""What is run by default: what needs no package beside those of the extra "all"."""
TOOLS = ("pytest", "hypothesis", "setuptools>=77", "pandas<3")
"""What runs the tests, and what many of them read, in whatever version."""
_BOUND = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def promised() -> dict[str, str]:
    """Return the oldest version of each library that heedful[all] needs, by name, as pyproject.toml has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]  # heedful[model2vec,parquet,...]
    named = [each for extra in everything.partition("[")[2].rstrip("]").split(",") for each in extras[extra]]
    found = [_BOUND.match(each) for each in (*project["dependencies"], *named)]
    return {each[1]: each[2] for each in found if each is not None}


def wanted(kind: str) -> list[str]:
    """Return what pip is asked for beside torch.

    Args:
        kind: one of `KINDS`.

    Returns:
        Requirements, such as ``numpy==1.26.*`` or ``numpy``.
    """
    return [
        f"{name}=={version}.*" if kind == "oldest" else name
        for name, version in promised().items()
        if name != "torch"
    ]


def pinned_torch() -> str:
    """Return how constraints.txt pins torch."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("torch=="))


def brings_cuda(report: str) -> list[str]:
    """Return the libraries of CUDA that pip would install.

    Args:
        report: what ``pip install --dry-run --report -`` printed.

    Returns:
        Their names.
    """
    names = [each["metadata"]["name"].lower() for each in json.loads(report)["install"]]
    return sorted(name for name in names if name.startswith(("nvidia-", "cuda-")) or name == "triton")


def install(folder: Path, kind: str, python: str, torch: str) -> Path:
    """Make an environment, with what a kind names.

    Args:
        folder: of the environment; one that is there is used again.
        kind: one of `KINDS`.
        python: the command of the interpreter.
        torch: the requirement of torch.

    Returns:
        The interpreter of the environment.
    """
    own = folder / "bin" / "python"
    if not own.exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(own), "-m", "pip", "install", "-q"]
    dry = [*pip, "--dry-run", "--report", "-", torch]
    if cuda := brings_cuda(subprocess.run(dry, check=True, capture_output=True, text=True).stdout):
        sys.exit(
            f"{torch} brings {len(cuda)} libraries of CUDA ({cuda[0]}, ...) with this Python: name a build for the "
            "processor with --torch, or another Python with --python"
        )
    subprocess.run([*pip, torch], check=True)
    subprocess.run([*pip, "--upgrade", torch, *wanted(kind), *TOOLS], check=True)
    subprocess.run(
        [*pip, "--no-deps", "-e", str(ROOT), "-e", str(ROOT / "packages" / "heedful-lab")], check=True
    )
    return own


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the module says; see ``--help``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of the environments, such as build/versions")
    parser.add_argument("kinds", nargs="+", choices=KINDS, help="what is run")
    parser.add_argument("--python", default=sys.executable, help="command of the interpreter")
    parser.add_argument("--torch", default=pinned_torch(), help="requirement of torch, such as torch==2.6.*")
    parser.add_argument("--tests", nargs="+", default=list(TESTS), help="what pytest is given")
    given = parser.parse_args(arguments)
    try:
        return max(_tested(given, kind) for kind in given.kinds)
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"{' '.join(map(str, error.cmd))}: exit code {error.returncode}\n{error.stderr or ''}".strip()
        )


def _tested(given: argparse.Namespace, kind: str) -> int:
    # nothing of the checkout's own environment: it would bring heedful-en and the rest
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    own = install(given.folder.resolve() / kind, kind, given.python, given.torch)
    subprocess.run([str(own), "-m", "pip", "list"], check=True)
    command = [str(own), "-m", "pytest", "-p", "no:cacheprovider", *given.tests]
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    print(f"{kind}: {'passed' if code == 0 else 'FAILED'}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
