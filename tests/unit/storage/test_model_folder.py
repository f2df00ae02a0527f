from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from heedful.errors import ArtifactError, OutputError, UsageError
from heedful.storage.manifest import (
    CARD,
    CONFIG,
    LABELS,
    MANIFEST,
    METRICS,
    MODEL_FILES,
    VOCABULARY,
    WEIGHTS,
    answers_checksum,
    manifest_checksum,
    write_manifest,
)
from heedful.storage.model_folder import ModelFolder, load_model_folder, save_model_folder

CHECKED = tuple(name for name in MODEL_FILES if name != CARD)
CONTENT = ModelFolder(
    config={"task": "classify", "encoder": {"width": 4}, "tokenizer": "treebank"},
    state={
        "weight": torch.arange(6.0).reshape(2, 3),
        "frozen": torch.tensor([[0.5, -2.0]], dtype=torch.float16),
        "scalar": torch.tensor(3),
        "empty": torch.empty(0, 4),
    },
    vocabulary={"words": ["", "", "a", "naïve", "\ud800"]},
    labels=["yes", "no"],
    metrics={"dev": {"accuracy": 0.75, "pearson": None}},
    card="# A model\n\nFor tests – nothing else.\n",
)


def save(path: Path, **changes) -> None:
    save_model_folder(path, replace(CONTENT, **changes))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    save(path)
    return path


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "model"))


def test_a_folder_that_may_not_be_looked_into_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(self: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    for name in ("exists", "is_dir"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, name, refusing)
            with pytest.raises(
                ArtifactError, match=r"cannot be read: Permission denied\. Check its permissions"
            ):
                load_model_folder(tmp_path)


def test_everything_comes_back(folder: Path) -> None:
    loaded = load_model_folder(folder)
    assert {path.name for path in folder.iterdir()} == {*MODEL_FILES, MANIFEST}
    for name in ("config", "vocabulary", "labels", "metrics", "card"):
        assert getattr(loaded, name) == getattr(CONTENT, name)
    assert loaded.state.keys() == CONTENT.state.keys()
    for name, tensor in CONTENT.state.items():
        assert loaded.state[name].dtype == tensor.dtype
        assert torch.equal(loaded.state[name], tensor)


def test_a_metric_that_is_not_finite_becomes_none(tmp_path: Path) -> None:
    save(tmp_path / "model", metrics={"test": [float("nan"), 1.0], "mse": float("inf")})
    assert load_model_folder(tmp_path / "model").metrics == {"test": [None, 1.0], "mse": None}


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([*CHECKED, MANIFEST]), st.randoms(use_true_random=False), st.integers(1, 255))
def test_a_flipped_byte_anywhere_is_found(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, name: str, draw, flip: int
) -> None:
    path = Path(shutil.copytree(folder, tmp_path_factory.mktemp("flipped") / "model")) / name
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= flip
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"Copy the folder again|version of heedful") as caught:
        load_model_folder(path.parent)
    assert str(path.parent) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_byte_of_the_manifest_counts(copy: Path) -> None:
    path = copy / MANIFEST
    content = path.read_bytes()
    assert len(content) > 500
    for position in range(len(content)):
        flipped = bytearray(content)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        with pytest.raises(ArtifactError):
            load_model_folder(copy)


@pytest.mark.parametrize("name", [*CHECKED, MANIFEST])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(ArtifactError, match=f"{name}: missing"):
        load_model_folder(copy)


@pytest.mark.parametrize("name", CHECKED)
def test_a_truncated_file_says_how_long_it_was(copy: Path, name: str) -> None:
    size = (copy / name).stat().st_size
    (copy / name).write_bytes((copy / name).read_bytes()[:-1])
    with pytest.raises(ArtifactError, match=f"{name}: was altered: expected .*{size}.*, found .*{size - 1}"):
        load_model_folder(copy)


@pytest.mark.parametrize("card", [b"# Edited on the Hub\n", b"", b"\xff\xfe", None])
def test_an_edited_card_breaks_nothing(copy: Path, card: bytes | None) -> None:
    before, checksum = load_model_folder(copy), manifest_checksum(copy)
    (copy / CARD).unlink()
    if card is not None:
        (copy / CARD).write_bytes(card)
    read = load_model_folder(copy)
    assert read.card == (card or b"").decode("utf-8", errors="replace")
    assert read.config == before.config
    assert manifest_checksum(copy) == checksum
    save_model_folder(copy, read)
    assert load_model_folder(copy).card == read.card


def test_a_folder_whose_manifest_lists_the_card_still_loads(copy: Path) -> None:
    listed = {"bytes": 1, "sha256": "0" * 64}
    rewrite_manifest(copy, lambda manifest: manifest["files"].update({CARD: listed}))
    assert load_model_folder(copy).card


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="there is none"):
        load_model_folder(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArtifactError, match="no folder written by heedful"):
        load_model_folder(tmp_path / "empty")


def test_the_folder_that_is_meant_is_named(copy: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(copy, runs / "reviews" / "model")
    (runs / "notes").mkdir()
    with pytest.raises(ArtifactError, match=r"there is none\. Did you mean '.*runs/reviews'\?"):
        load_model_folder(runs / "reviws")
    with pytest.raises(ArtifactError, match=r"there is none\. Check the path\."):
        load_model_folder(runs / "something else")
    with pytest.raises(ArtifactError, match=r"Check the path, or install the package .* heedful-en\."):
        load_model_folder(Path("en-sentence"))
    with pytest.raises(ArtifactError, match=r"It holds the runs reviews: name one of them\."):
        load_model_folder(runs)


def rewrite_manifest(folder: Path, change) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def test_another_version_is_refused(copy: Path) -> None:
    rewrite_manifest(copy, lambda manifest: manifest.update(format_version=99))
    with pytest.raises(ArtifactError, match="expected format_version 1, found 99"):
        load_model_folder(copy)


@pytest.mark.parametrize("name", ["../outside.json", "/absolute.json", "more.json"])
def test_a_manifest_names_the_known_files_and_no_others(copy: Path, name: str) -> None:
    rewrite_manifest(copy, lambda manifest: manifest["files"].update({name: {"bytes": 0, "sha256": ""}}))
    with pytest.raises(ArtifactError, match="expected the files"):
        load_model_folder(copy)


@pytest.mark.parametrize("change", [{"bytes": 5}, {"extra": 1}])
def test_a_manifest_entry_has_the_known_fields_and_no_others(copy: Path, change: dict) -> None:
    rewrite_manifest(copy, lambda manifest: manifest["files"][CONFIG].update(change))
    with pytest.raises(ArtifactError, match=f"{CONFIG}: was altered"):
        load_model_folder(copy)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        (CONFIG, "[]", "expected a JSON dict, found list"),
        (LABELS, "[1, 2]", "expected a list of strings"),
        (VOCABULARY, "{", "expected JSON"),
        (METRICS, "[" * 100_000, "expected JSON"),
        (METRICS, b"\xff", "expected UTF-8"),
        (WEIGHTS, b"\xff" * 64, "expected a safetensors file"),
        (WEIGHTS, b"", "expected a safetensors file"),
        (WEIGHTS, b"\x80\x04c__builtin__\nprint\n.", "expected a safetensors file"),
    ],
)
def test_a_sealed_folder_with_the_wrong_content_is_refused(
    copy: Path, name: str, content: str | bytes, text: str
) -> None:
    (copy / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    write_manifest(copy, MODEL_FILES)
    with pytest.raises(ArtifactError, match=f"{name}: {text}"):
        load_model_folder(copy)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_that_are_not_finite_are_refused_both_ways(copy: Path, dtype: torch.dtype) -> None:
    bad = {"weight": torch.tensor([1.0, float("inf")], dtype=dtype)}
    with pytest.raises(UsageError, match="tensor 'weight' holds values that are not finite"):
        save(copy, state=bad)
    load_model_folder(copy)
    save_file(bad, copy / WEIGHTS)
    write_manifest(copy, MODEL_FILES)
    with pytest.raises(ArtifactError, match="tensor 'weight' holds values that are not finite"):
        load_model_folder(copy)


def test_a_failed_save_leaves_the_old_model(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("heedful.storage.model_folder.write_manifest", full)
    with pytest.raises(OutputError, match="No space left on device"):
        save(copy, card="new")
    assert load_model_folder(copy).card == CONTENT.card
    assert [path.name for path in copy.parent.iterdir()] == [copy.name], "a temporary folder was left behind"


def test_a_disk_that_fills_while_tensors_are_written(copy: Path) -> None:
    """The limit on a file's size stands in for a full disk: the system refuses the write itself."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OutputError, match="cannot write") as caught:
            save(copy, state={"weight": torch.zeros(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assert load_model_folder(copy).labels == CONTENT.labels


def test_a_save_that_was_killed_between_its_renames_is_found(copy: Path) -> None:
    copy.rename(copy.parent / f".tmp-old-{copy.name}")
    assert load_model_folder(copy).labels == CONTENT.labels


def test_loading_leaves_the_temporary_folder_of_a_writer_alone(copy: Path) -> None:
    writing = copy.parent / f".tmp-new-{copy.name}-1"
    writing.mkdir()
    load_model_folder(copy)
    assert writing.is_dir()


def test_the_files_can_be_read_by_others(folder: Path) -> None:
    assert {path.stat().st_mode & 0o044 for path in folder.iterdir()} == {0o044}


def test_an_altered_manifest_is_named_beside_the_file_it_no_longer_fits(copy: Path) -> None:
    manifest = copy / MANIFEST
    text = manifest.read_text()
    digits = json.loads(text)["files"][WEIGHTS]["sha256"]
    manifest.write_text(text.replace(digits, ("0" if digits[0] != "0" else "1") + digits[1:]))
    with pytest.raises(ArtifactError, match=f"{WEIGHTS}: was altered: .* or {MANIFEST}, which expects it"):
        load_model_folder(copy)


def test_a_model_that_was_trained_again_alike_is_known_by_what_it_answers(
    folder: Path, tmp_path: Path
) -> None:
    first = answers_checksum(folder)
    save(tmp_path / "slower", metrics={"seconds": 9.0}, card="# Another card\n")
    assert answers_checksum(tmp_path / "slower") == first
    assert manifest_checksum(tmp_path / "slower") != manifest_checksum(folder)
    for name, changes in {
        "weights": {"state": {**CONTENT.state, "scalar": torch.tensor(4)}},
        "labels": {"labels": ["no", "yes"]},
        "config": {"config": {**CONTENT.config, "tokenizer": "words"}},
        "words": {"vocabulary": {"words": ["", "", "a"]}},
    }.items():
        save(tmp_path / name, **changes)
        assert answers_checksum(tmp_path / name) != first, name
    with pytest.raises(ArtifactError, match="model"):
        answers_checksum(tmp_path)
