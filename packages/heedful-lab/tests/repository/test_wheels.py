"""The packages of a release: their metadata, their one version, and the index that they are tried from."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import heedful
from heedful_lab.repository import ROOT, wheels


def metadata(name: str) -> dict[str, Any]:
    return tomllib.loads((wheels.PACKAGES[name] / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", wheels.PACKAGES)
def test_metadata_is_complete(name: str) -> None:
    project, main = metadata(name)["project"], metadata("heedful")["project"]
    assert project["name"] == name
    assert project["dynamic"] == ["version"]
    assert "version" not in project
    for field in ("description", "readme", "license", "license-files", "keywords"):
        assert project[field]
    assert project["authors"] == main["authors"]
    assert project["requires-python"] == main["requires-python"]
    pythons = {each for each in project["classifiers"] if "Python :: 3." in each}
    assert pythons == {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)}
    assert not any(each.startswith("License ::") for each in project["classifiers"])  # an expression says it
    for file in (project["readme"], *project["license-files"]):
        assert (wheels.PACKAGES[name] / file).is_file()


@pytest.mark.parametrize("name", ["heedful-en", "heedful-lab"])
def test_the_version_comes_from_one_place(name: str, tmp_path: Path) -> None:
    script = wheels.PACKAGES[name] / "setup.py"
    copy = tmp_path / "a" / "b" / "setup.py"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(script.read_bytes())
    (copy.parent / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: x\nVersion: 7.8.9\n")
    for place, wanted in ((script, heedful.__version__), (copy, "7.8.9")):
        program = (
            "import runpy, sys, setuptools; setuptools.setup = lambda version: print(version); "
            "runpy.run_path(sys.argv[1], run_name='__main__')"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, place], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert done.stdout.strip() == wanted


def test_the_places_that_cannot_read_the_version_agree() -> None:
    image = (ROOT / "packages" / "heedful-runtime" / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"^ARG VERSION=(.+)$", image, re.MULTILINE) == [heedful.__version__]
    about = json.loads((ROOT / "packages" / "heedful-js" / "package.json").read_text(encoding="utf-8"))
    assert about["version"] == "0.0.0"  # the command that writes the package sets it


def test_the_image_runs_as_nobody_and_builds_nothing() -> None:
    image = (ROOT / "packages" / "heedful-runtime" / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER 10001$", image, re.MULTILINE)
    assert "--only-binary :all:" in image
    assert "heedful-runtime[serve]==${VERSION}" in image


def test_the_runtime_asks_for_no_kernel_that_it_leaves_out(tmp_path: Path) -> None:
    setup = runpy.run_path(str(ROOT / "packages" / "heedful-runtime" / "setup.py"))
    setup["gather"](ROOT / "src" / "heedful", tmp_path)
    exported = re.compile(r"^HEEDFUL_EXPORT [\w ]+[ *](heedful_\w+)\(", re.MULTILINE)
    left_out = [tmp_path / "csrc" / f"{name}.cpp" for name in setup["TRAINING"]]
    names = {name for file in left_out for name in exported.findall(file.read_text(encoding="utf-8"))}
    assert len(names) >= len(left_out)
    kept = [file for file in (tmp_path / "csrc").iterdir() if file not in left_out]
    for file in (*kept, *(tmp_path / "heedful_runtime").rglob("*.py")):
        assert not names & set(re.findall(r"heedful_\w+", file.read_text(encoding="utf-8"))), file


def test_one_wheel_serves_every_python() -> None:
    described = metadata("heedful")["tool"]["cibuildwheel"]
    assert described["build"] == "cp311-*"
    for script in (ROOT / "setup.py", ROOT / "packages" / "heedful-runtime" / "setup.py"):
        assert "py_limited_api=True" in script.read_text(encoding="utf-8")
    assert metadata("heedful")["project"]["requires-python"] == ">=3.11"


def test_the_server_needs_the_same_libraries_everywhere() -> None:
    served = [
        metadata(name)["project"]["optional-dependencies"]["serve"] for name in ("heedful", "heedful-runtime")
    ]
    assert served[0] == served[1]


def files(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).write_bytes(name.encode())
    return [folder / name for name in names]


def test_an_index_has_a_folder_for_each_package(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        "heedful_runtime-1.2.0-cp311-abi3-manylinux_2_28_x86_64.whl",
        "heedful_runtime-1.2.0.tar.gz",
        "heedful-1.2.0.tar.gz",
    )
    wheels.write_index(tmp_path / "simple", found)
    page = (tmp_path / "simple" / "heedful-runtime" / "index.html").read_text(encoding="utf-8")
    digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
    assert f'href="{found[0].name}#sha256={digest}"' in page
    assert page.count("<a ") == 2
    assert (tmp_path / "simple" / "heedful-runtime" / found[0].name).read_bytes() == found[0].read_bytes()
    root = (tmp_path / "simple" / "index.html").read_text(encoding="utf-8")
    assert re.findall('href="([^"]+)"', root) == ["heedful/", "heedful-runtime/"]


def test_other_versions_and_heavy_wheels_are_named(tmp_path: Path) -> None:
    found = files(tmp_path, "heedful-1.2.0-py3-none-any.whl", "heedful_en-1.3.0.tar.gz")
    assert wheels.versions(found) == ["all packages have one version, found 1.2.0, 1.3.0"]
    assert wheels.versions(found[:1]) == []
    assert wheels.too_large(found) == []
    found[0].write_bytes(b"x" * 2_100_000)
    assert wheels.too_large(found) == ["heedful-1.2.0-py3-none-any.whl: 2.10 MB, at most 2.0 expected"]


def test_a_python_that_does_not_start_is_named_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = str(tmp_path / "python9")
    broken = tmp_path / "shim"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    named = [
        f"--python {path}: a command that starts Python expected; give the path of one"
        for path in (missing, broken)
    ]
    assert wheels.unusable([sys.executable, missing, str(broken)]) == named
    monkeypatch.setattr(sys, "argv", ["wheels", str(tmp_path / "out"), "--python", missing])
    with pytest.raises(SystemExit, match="python9: a command that starts Python"):
        wheels.main()
    assert not (tmp_path / "out").exists()


def test_a_new_environment_sees_nothing_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    seen = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        seen.append((command, options["env"]))
        return subprocess.CompletedProcess(command, 0, "Ada/PROPN\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    assert wheels.try_out(tmp_path, sys.executable, "1.2.0") == "Ada/PROPN"
    assert wheels.image_weight(tmp_path, sys.executable, "1.2.0") == 0
    assert [command[1:4] for command, _ in seen if "pip" in command] == [
        ["-m", "pip", "install"],
        ["-m", "pip", "download"],
    ]
    assert all("heedful-runtime[serve]==1.2.0" in command for command, _ in seen if "pip" in command)
    assert len(seen) == 5
    assert not any("PYTHONPATH" in environment for _, environment in seen)
    assert all("PATH" in environment for _, environment in seen)


def test_no_file_of_a_wheel_is_in_it_twice() -> None:
    for name, package in wheels.PACKAGES.items():
        for file in metadata(name)["project"]["license-files"]:
            assert "/" not in file, f"{package / file} is data of the package already"
