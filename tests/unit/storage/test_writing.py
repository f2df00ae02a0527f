"""Single files: links, modes, pipes and devices stay what they are, and no file of a model is written over."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from heedful.errors import OutputError
from heedful.storage import replacing, write_bytes, write_text
from heedful.storage.manifest import MODEL_FILES, write_manifest
from heedful.storage.writing import plain_errors
from waiting import PATIENCE


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o007)
    yield
    os.umask(before)


def test_a_new_file_has_what_the_umask_leaves_it(tmp_path: Path, umask: None) -> None:
    write_text(tmp_path / "deep" / "a.txt", "a")
    assert mode(tmp_path / "deep" / "a.txt") == 0o660
    assert mode(tmp_path / "deep") == 0o770


def test_half_a_character_is_written_as_its_escape(tmp_path: Path) -> None:
    write_text(tmp_path / "a.jsonl", '{"text": "\ud800"}\n')
    assert (tmp_path / "a.jsonl").read_bytes() == b'{"text": "\\ud800"}\n'


@pytest.mark.parametrize("bits", [0o600, 0o644, 0o400, 0o755])
def test_a_replaced_file_keeps_its_mode_and_its_new_content_is_never_wider(tmp_path: Path, bits: int) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("old")
    file.chmod(bits)
    with replacing(file) as stream:
        stream.write(b"new")
        (half,) = [entry for entry in tmp_path.iterdir() if entry != file]
        assert mode(half) == 0o600
    assert (mode(file), file.read_text()) == (bits, "new")
    assert os.listdir(tmp_path) == ["secret.txt"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_replaced_file_keeps_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    os.chown(file, 12345, 23456)
    write_text(file, "new")
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 23456)


def test_a_link_to_a_file_stays_one(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "a.txt").write_text("old")
    link, chain, dangling = tmp_path / "link.txt", tmp_path / "chain.txt", tmp_path / "dangling.txt"
    link.symlink_to("disk/a.txt")
    chain.symlink_to("link.txt")
    dangling.symlink_to("disk/b.txt")
    for path, target in ((link, "a.txt"), (chain, "a.txt"), (dangling, "b.txt")):
        write_text(path, path.name)
        assert path.is_symlink()
        assert (tmp_path / "disk" / target).read_text() == path.name
    assert sorted(os.listdir(tmp_path)) == ["chain.txt", "dangling.txt", "disk", "link.txt"]
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(OutputError, match="loop: cannot write: Too many levels"):
        write_text(loop, "x")


def test_a_pipe_and_a_device_stay_what_they_are(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    with replacing(pipe) as stream:
        stream.write(b"ab")
        stream.seek(0)
        stream.write(b"c")
    reader.join(timeout=PATIENCE)
    assert got == [b"cb"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link = tmp_path / "nothing"
    link.symlink_to(os.devnull)
    write_bytes(link, b"x")
    assert link.is_char_device()


def test_a_folder_in_the_place_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is a folder, and a file goes there"):
        write_text(tmp_path, "x")


def test_no_single_file_of_a_model_is_written_over(tmp_path: Path) -> None:
    for name in MODEL_FILES:
        (tmp_path / name).write_text("x")
    write_manifest(tmp_path, MODEL_FILES)
    (tmp_path / "link.html").symlink_to("weights.safetensors")
    for name in (*MODEL_FILES, "manifest.json", "link.html"):
        with pytest.raises(OutputError, match="is a part of the model in"):
            write_text(tmp_path / name, "page")
    write_text(tmp_path / "why.html", "page")
    assert (tmp_path / "weights.safetensors").read_text() == "x"


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    for asked in ("file", "file/b", "file/b/c"):
        named = pytest.raises(OutputError, match=r"file is a file, not a folder\. Choose another folder")
        with named, plain_errors(tmp_path / asked):
            (tmp_path / asked).mkdir(parents=True, exist_ok=True)
    (tmp_path / "loop").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="a link there leads to no folder"), plain_errors(tmp_path / "loop"):
        (tmp_path / "loop").mkdir(exist_ok=True)
