"""The folder of a run: what a run wrote is told from what is the user's, and only the first is ever removed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from heedful.errors import ArtifactError, InUseError, OutputError, UsageError
from heedful.storage import alone, holds
from heedful.storage.folders import remove_folder
from heedful.storage.manifest import MANIFEST, MODEL_FILES, write_manifest
from heedful.storage.ownership import WITHOUT_NETWORK
from heedful.training.run_folder import RunFolder

CONFIG = {"train": {"seed": 1, "lr": 0.1, "limit": None}}
RECIPE = "[train]\nseed = 1\nlr = 0.1\n"


@pytest.fixture
def home(tmp_path: Path) -> RunFolder:
    """Return the folder of a run that was trained to its end, with a letter of the user's beside it."""
    home = RunFolder(tmp_path / "run")
    home.begin(CONFIG, {"a.csv": "0" * 64}, resume=False)
    home.metrics.write_text('{"step": 1}\n')
    home.recipe.write_text(RECIPE)
    home.checkpoint.mkdir(parents=True)
    home.model.mkdir()
    for name in MODEL_FILES:
        (home.model / name).write_text(name)
    write_manifest(home.model, MODEL_FILES)
    (home.root / "letter.txt").write_text("Dear")
    return home


def test_a_run_that_goes_on_for_longer_is_still_one(home: RunFolder) -> None:
    home.begin({"train": {**CONFIG["train"], "epochs": 9}}, resume=True)
    home.refuse_foreign()
    home.config.write_text('{"train": 3}')
    with pytest.raises(OutputError, match=r"config\.toml"):
        home.refuse_foreign()


def test_only_what_the_run_wrote_is_removed(home: RunFolder) -> None:
    assert tomllib.loads(RECIPE) == {"train": {"seed": 1, "lr": 0.1}}
    home.refuse_foreign(replaces=True)
    assert all(path.exists() for path in home.written())
    assert home.holds_run()
    home.remove()
    assert [path.name for path in home.root.iterdir()] == ["letter.txt"]
    assert not home.holds_run()


def test_a_file_of_the_users_with_a_name_of_ours_keeps_the_whole_run(home: RunFolder) -> None:
    home.recipe.write_text("[train]\nseed = 2\n")
    for act in (home.refuse_foreign, home.remove):
        with pytest.raises(
            OutputError, match=r"no run of Heedful's wrote config\.toml in it.*choose another --out"
        ):
            act()
    assert all(path.exists() for path in home.written())


def test_a_log_beside_a_run_without_a_network_is_the_users(tmp_path: Path) -> None:
    home = RunFolder(tmp_path / "run")
    home.begin(CONFIG, chosen=WITHOUT_NETWORK, resume=False)
    home.metrics.write_text("mine")
    with pytest.raises(OutputError, match=r"no run of Heedful's wrote metrics\.jsonl"):
        home.begin({"new": 1}, resume=False, overwrite=True)
    remove_folder(home.root)  # as studies do
    assert [path.read_text() for path in home.root.iterdir()] == ["mine"]


def test_what_the_user_has_put_beside_the_files_of_a_run_stays(home: RunFolder) -> None:
    mine = [
        home.model / "notes.txt",
        home.checkpoint.parent / "mine.txt",
        home.checkpoint / "deep" / "own.txt",
    ]
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
    home.begin({"new": 1}, resume=False, overwrite=True)
    assert [file.read_text() for file in mine] == ["mine"] * 3
    assert [path.name for path in home.model.iterdir()] == ["notes.txt"]
    assert json.loads(home.config.read_text()) == {"new": 1}


def test_a_linked_model_of_a_run_is_replaced_where_it_lies(home: RunFolder, tmp_path: Path) -> None:
    home.model.rename(tmp_path / "disk")
    home.model.symlink_to(tmp_path / "disk")
    home.begin({"new": 1}, resume=False, overwrite=True)
    assert home.model.is_symlink()
    assert list((tmp_path / "disk").iterdir()) == []


@pytest.mark.parametrize(
    "name", ["config.json", "config.toml", "data.json", "env.json", "metrics.jsonl", "model"]
)
def test_a_file_without_a_run_is_the_users(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"packages": {}}')
    with pytest.raises(OutputError, match=f"no run of Heedful's wrote {name}"):
        RunFolder(tmp_path).refuse_foreign()


def test_a_model_folder_is_no_run(home: RunFolder) -> None:
    with pytest.raises(OutputError, match=r"wrote config\.json"):
        RunFolder(home.model).remove()
    assert len(list(home.model.iterdir())) == len(MODEL_FILES) + 1


def test_other_files_are_in_nobodys_way_unless_a_run_is_to_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\n")
    RunFolder(tmp_path).refuse_foreign()
    RunFolder(tmp_path / "new").refuse_foreign(replaces=True)
    with pytest.raises(OutputError, match="is not a run of Heedful's"):
        RunFolder(tmp_path).refuse_foreign(replaces=True)


def test_a_run_is_replaced_only_where_that_was_asked_for(home: RunFolder) -> None:
    with pytest.raises(UsageError, match="already holds a run"):
        home.begin({"new": 1}, resume=False)
    assert json.loads(home.config.read_text()) == CONFIG
    home.begin({"new": 1}, resume=False, overwrite=True)
    assert json.loads(home.config.read_text()) == {"new": 1}
    assert not home.holds_run()
    assert (home.root / "letter.txt").exists()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1, 2]", b'{"packages": 5}', b"{" * 100_000])
def test_a_damaged_environment_is_named_for_what_it_is(home: RunFolder, content: bytes) -> None:
    (home.checkpoint / MANIFEST).write_text("{}")
    home.environment.write_bytes(content)
    for act in (home.refuse_foreign, home.remove):
        with pytest.raises(ArtifactError, match=r"env\.json: .*The checkpoint .* delete the file"):
            act()
    assert all(path.exists() for path in home.written())
    home.environment.unlink()
    home.refuse_foreign()
    home.begin(CONFIG, resume=True)
    home.refuse_foreign()


def test_a_writer_undoes_what_a_killed_one_left_and_keeps_others_out(tmp_path: Path) -> None:
    home = RunFolder(tmp_path / "run")
    (home.checkpoint.parent / ".tmp-old-latest").mkdir(parents=True)
    (tmp_path / "run" / ".tmp-old-model").mkdir()
    with home.alone(), home.alone():  # what a caller has, a callee need not ask for
        assert holds(home.root)
        assert home.checkpoint.is_dir()
        assert home.model.is_dir()
        with pytest.raises(InUseError, match="another search"), alone(home.root, "search"):
            pass
    assert not holds(home.root)
    with alone(home.root, "search"), home.alone():
        pass


def test_a_run_that_goes_on_never_has_half_a_file(home: RunFolder) -> None:
    """Settings and sums are written again as a whole: whoever has the old file open still reads all of it."""
    before = [path.read_bytes() for path in (home.config, home.data)]
    assert all(before)
    with home.config.open("rb") as config, home.data.open("rb") as data:
        home.begin({"seed": 2}, {"train.csv": "0" * 64}, resume=True)
        assert [config.read(), data.read()] == before
