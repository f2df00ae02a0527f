"""A folder that is not Heedful's is never deleted, and what is not Heedful's in a folder of its own stays."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from heedful.errors import OutputError
from heedful.storage import folders, remove_folder, replace_folder, write_text
from heedful.storage.manifest import MODEL_FILES, WEIGHTS, write_manifest
from heedful.storage.ownership import foreign_names, own_bytes, own_names, remove_run


def save(path: Path, content: str = "new", *names: str) -> None:
    with replace_folder(path) as new:
        for name in names or MODEL_FILES:
            (new / name).write_text(content)
        write_manifest(new, names or MODEL_FILES)


def tree(folder: Path) -> dict[str, str]:
    """What lies below a folder: path to content, "/" for a folder, the target of a link."""
    found = {}
    for path in sorted(folder.rglob("*")):
        said = f"-> {os.readlink(path)}" if path.is_symlink() else "/" if path.is_dir() else path.read_text()
        found[str(path.relative_to(folder))] = said
    return found


@pytest.fixture(params=["exchanging", "renaming"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "renaming":
        monkeypatch.setattr(folders, "_exchange", lambda *_: False)
    return str(request.param)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.parametrize(
    "mine",
    [
        {"thesis.tex": "ten years"},
        {"deep/er/notes": "x"},
        {"config.json": "{}"},
        {"manifest.json": '{"name": "a web page", "icons": []}', "config.json": "{}"},
        {"manifest.json": '{"files": ["a"]}', "index.html": "x"},
        {"README.md": "# Mine"},
        {"weights.safetensors": "mine", "config.json": "{}"},
        {".git/HEAD": "ref"},
    ],
    ids=lambda mine: "+".join(mine),
)
def test_a_foreign_folder_stays_byte_for_byte(tmp_path: Path, way: str, mine: dict[str, str]) -> None:
    for name, content in mine.items():
        write_text(tmp_path / "papers" / name, content)
    before = tree(tmp_path)
    with pytest.raises(
        OutputError, match=r"papers: holds other files.*Name a new folder, such as .*papers/model"
    ):
        save(tmp_path / "papers")
    assert tree(tmp_path) == before
    save(tmp_path / "papers" / "model")
    assert {name: found for name, found in tree(tmp_path).items() if name in before} == before


def test_what_lies_beside_our_files_stays(tmp_path: Path, way: str) -> None:
    path = tmp_path / "model"
    save(path, "old")
    write_text(path / "notes.txt", "mine")
    write_text(path / "pictures" / "deep" / "a.txt", "a")
    (path / "link").symlink_to("nowhere")
    (path / "pictures").chmod(0o750)
    number = (path / "notes.txt").stat().st_ino
    with (path / "notes.txt").open("a") as held:
        save(path, "new")
        held.write(" still")
    found = tree(path)
    assert {found[name] for name in MODEL_FILES} == {"new"}
    assert found["notes.txt"] == "mine still"
    assert found["pictures/deep/a.txt"] == "a"
    assert found["link"] == "-> nowhere"
    assert (path / "notes.txt").stat().st_ino == number
    assert stat.S_IMODE((path / "pictures").stat().st_mode) == 0o750
    assert os.listdir(tmp_path) == ["model"]


def test_a_file_is_copied_where_it_cannot_be_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model"
    save(path, "old")
    write_text(path / "notes.txt", "mine")

    def no_link(*_: object, **__: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    save(path, "new")
    assert (path / "notes.txt").read_text() == "mine"


def test_what_comes_while_the_folders_change_places_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / "model", folders._exchange
    save(path, "old")

    def late(one: Path, other: Path) -> bool:
        write_text(path / "late.txt", "late")
        return real(one, other)

    monkeypatch.setattr(folders, "_exchange", late)
    save(path, "new")
    assert (path / "late.txt").read_text() == "late"


def test_a_file_of_the_user_with_a_name_of_ours_is_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(path, "old", "a.txt")
    write_text(path / "b.txt", "mine")
    with pytest.raises(OutputError, match=r"model: Heedful did not write b\.txt there.*or move it away"):
        save(path, "new", "a.txt", "b.txt")
    assert tree(path)["b.txt"] == "mine"
    assert tree(path)["a.txt"] == "old"
    assert foreign_names(path, ["a.txt", "b.txt", "c.txt"]) == ["b.txt"]


def test_a_link_to_a_folder_stays_one(tmp_path: Path, way: str) -> None:
    real, link = tmp_path / "disk" / "big", tmp_path / "runs" / "model"
    link.parent.mkdir()
    save(real, "old")
    link.symlink_to("../disk/big")
    save(link, "new")
    assert os.readlink(link) == "../disk/big"
    assert (real / WEIGHTS).read_text() == "new"
    assert os.listdir(tmp_path / "runs") == ["model"]
    assert os.listdir(tmp_path / "disk") == ["big"]
    (tmp_path / "there").symlink_to(tmp_path / "not" / "yet")
    save(tmp_path / "there", "new")
    assert (tmp_path / "not" / "yet" / WEIGHTS).read_text() == "new"


def test_modes_follow_the_umask_and_what_is_replaced(tmp_path: Path, way: str, umask: None) -> None:
    path = tmp_path / "model"
    save(path)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()}
    assert (stat.S_IMODE(path.stat().st_mode), modes) == (0o750, {0o640})
    path.chmod(0o700)
    (path / WEIGHTS).chmod(0o600)
    save(path, "again")
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((path / WEIGHTS).stat().st_mode) == 0o600
    assert stat.S_IMODE((path / "labels.json").stat().st_mode) == 0o640


def test_the_working_folder_and_the_root_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "model", "old")
    monkeypatch.chdir(tmp_path / "model")
    with pytest.raises(OutputError, match="is the folder that you work in"):
        save(Path("."))
    with pytest.raises(OutputError, match="is where a disk is mounted"):
        save(Path("/"))
    assert (tmp_path / "model" / WEIGHTS).read_text() == "old"


def test_a_model_with_a_damaged_manifest_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(path, "old")
    (path / "manifest.json").write_text("{half")
    save(path, "new")
    assert (path / WEIGHTS).read_text() == "new"
    (path / "manifest.json").write_text("{half")
    write_text(path / "notes.txt", "mine")
    with pytest.raises(OutputError, match="holds other files"):
        save(path, "newer")
    assert own_names(path) == frozenset()


@pytest.mark.parametrize("mark", ["metrics.jsonl", "env.json"])
def test_the_model_of_a_run_is_replaced_whatever_has_been_put_into_its_place(
    mark: str, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    write_text(run / mark, "")
    write_text(run / "model" / "notes.txt", "mine")
    save(run / "model", "new")
    assert tree(run / "model")["notes.txt"] == "mine"
    write_text(run / "plan.md", "mine")
    remove_run(run, keep=True)
    assert tree(run) == {"model": "/", "model/notes.txt": "mine", "plan.md": "mine"}


def test_the_run_of_a_study_leaves_what_is_not_its_own(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write_text(run / "env.json", "{}")
    save(run / "checkpoints" / "latest", "x", "state.json")
    write_text(run / "checkpoints" / "best" / "mine.bin", "mine")
    remove_folder(run)
    assert tree(run) == {"checkpoints": "/", "checkpoints/best": "/", "checkpoints/best/mine.bin": "mine"}


def test_the_size_of_a_model_is_that_of_its_own_files(tmp_path: Path) -> None:
    save(tmp_path / "model", "ten letter")
    size = own_bytes(tmp_path / "model")
    assert size == 60 + (tmp_path / "model" / "manifest.json").stat().st_size
    (tmp_path / "model" / "thesis.tex").write_text("ten years")
    (tmp_path / "model" / "link").symlink_to("nowhere")
    assert own_bytes(tmp_path / "model") == size
    (tmp_path / "model" / "README.md").unlink()
    assert own_bytes(tmp_path / "model") == size - 10
