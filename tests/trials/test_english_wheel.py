"""The wheel of heedful-en in a fresh virtual environment: its models answer at once, by name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import heedful

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "packages" / "heedful-en"
pytestmark = [
    pytest.mark.trial,
    pytest.mark.skipif(not PACKAGE.is_dir(), reason="needs the checkout, where heedful-en is"),
]


def run(*command: object) -> str:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # it would come first
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, env=own
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_answers_in_a_fresh_environment(tmp_path: Path) -> None:
    source = shutil.copytree(
        PACKAGE, tmp_path / "packages" / PACKAGE.name, ignore=shutil.ignore_patterns("build", "*.egg-info")
    )
    (tmp_path / "src" / "heedful").mkdir(parents=True)  # whose version it takes
    shutil.copy(ROOT / "src" / "heedful" / "version.py", tmp_path / "src" / "heedful")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(
        *pip,
        "wheel",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--wheel-dir",
        tmp_path / "wheels",
        source,
    )
    (wheel,) = (tmp_path / "wheels").glob("heedful_en-*.whl")
    assert wheel.stat().st_size < 50_000_000
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for kept in ("LICENSE", "NOTICE", "word_vectors/rows.safetensors", "word_vectors/baseforms.tsv"):
        assert [name for name in names if name.endswith(kept)], kept
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "fresh")
    python = tmp_path / "fresh" / "bin" / "python"
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel)
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # Heedful and what it needs come from here; the models only from the wheel.
    others = dict.fromkeys(
        (Path(heedful.__file__).parents[1], sysconfig.get_path("purelib"), *_dependencies())
    )
    (packages / "others.pth").write_text("".join(f"{path}\n" for path in others))
    where = run(python, "-c", "import heedful_en; print(heedful_en.__file__)").strip()
    assert Path(where).is_relative_to(tmp_path / "fresh")
    pair = (
        "--premise",
        "A woman is playing the violin on a stage.",
        "--hypothesis",
        "A woman is making music.",
    )
    assert run(python, "-m", "heedful", "predict", "en-nli", *pair).startswith("entailment\t")
    tagged = run(python, "-m", "heedful", "predict", "en-upos", "--text", "A woman reads a good book.")
    assert tagged.startswith("A/DET woman/NOUN reads/VERB a/DET good/ADJ book/NOUN ./PUNCT\t")


def _dependencies() -> list[str]:
    """Return the folders in which the libraries of Heedful are installed."""
    import numpy

    return [str(Path(numpy.__file__).parents[1])]
