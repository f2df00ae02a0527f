"""Entry points are those that ``importlib.metadata`` finds, without its import."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from heedful.errors import ArtifactError
from heedful.storage.entry_points import EntryPoint, entry_points


def _theirs() -> set[tuple[str, str, str]]:
    found = metadata.entry_points()
    return {(group, each.name, each.value) for group in found.groups for each in found.select(group=group)}


def _ours() -> set[tuple[str, str, str]]:
    return {(each.group, each.name, each.value) for each in entry_points()}


def _write(place: Path, folder: str, text: str) -> None:
    (place / folder).mkdir(parents=True)
    (place / folder / "METADATA").write_text(f"Name: {folder.partition('-')[0]}\nVersion: 1.0\n")
    (place / folder / "entry_points.txt").write_text(text)


def test_what_is_installed_here_is_found_as_the_library_finds_it() -> None:
    assert _ours() == _theirs()
    assert all(each.package for each in entry_points())


def test_the_first_of_two_versions_counts_and_comments_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "none"), ""])
    monkeypatch.chdir(tmp_path / "..")
    _write(
        tmp_path / "a",
        "Some_Thing-2.0.dist-info",
        "# no\n[g]\n# x = y:z\nnew = m:f\n\n[h]\nb=m : f [extra]\n",
    )
    _write(tmp_path / "b", "some.thing-1.0.dist-info", "[g]\nold = m:f\n")
    _write(tmp_path / "b", "other.egg-info", "[g]\negg = m:f\n")
    assert {(each.group, each.name) for each in entry_points()} == {("g", "new"), ("h", "b"), ("g", "egg")}
    assert {each.package for each in entry_points()} == {"Some-Thing", "other"}


def test_packages_in_a_zip_file_are_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as file:
        file.writestr("packed-1.0.dist-info/METADATA", "Name: packed\nVersion: 1.0\n")
        file.writestr("packed-1.0.dist-info/entry_points.txt", "[g]\nzipped = m:f\n")
    monkeypatch.syspath_prepend(tmp_path / "packed.zip")
    assert EntryPoint("zipped", "m:f", "g", "packed") in entry_points()


@pytest.mark.parametrize(
    ("value", "expected"),
    [("os.path:join", "join"), ("collections : OrderedDict.fromkeys [x]", "fromkeys"), ("json", "json")],
)
def test_what_is_named_is_imported(value: str, expected: str) -> None:
    assert EntryPoint("a", value, "g", "p").load().__name__ == expected


@pytest.mark.parametrize("value", ["no_such_module_here:f", "json:no_such_name", "this_is_broken:f"])
def test_a_package_that_is_damaged_or_half_removed_is_named(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "this_is_broken.py").write_text("def (\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ArtifactError, match=r"'a' of the installed package p, cannot be imported.*again$"
    ) as it:
        EntryPoint("a", value, "g", "p").load()
    assert "\n" not in str(it.value)


def test_nothing_of_the_slow_library_is_imported() -> None:
    said = "import sys, heedful.storage.installed as i; i.installed('heedful.models')"
    subprocess.run(
        [sys.executable, "-S", "-c", f"{said}; assert 'email' not in sys.modules, 'email'"],
        check=True,
        env={"PYTHONPATH": str(Path(sys.modules["heedful"].__file__ or "").parents[1])},
    )
