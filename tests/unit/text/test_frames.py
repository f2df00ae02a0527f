"""Files of several frames: xz, bzip2 and Zstandard, and never half a file for a whole one."""

from __future__ import annotations

import bz2
import lzma
import sys
import types
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from heedful.data.readers.table_files import read_table
from heedful.errors import DataError, MissingExtraError
from heedful.text.text_files import find_file

Compress = Callable[[bytes], bytes]
NAMES = {"xz": "a.csv.xz", "bz2": "a.csv.bz2"}


@pytest.fixture(params=["xz", "bz2", "stand-in", "library"])
def name(request: pytest.FixtureRequest) -> str:
    return NAMES.get(request.param, "a.csv.zst")


@pytest.fixture
def compress(request: pytest.FixtureRequest, name: str, monkeypatch: pytest.MonkeyPatch) -> Compress:
    """A frame; of Zstandard that of its library where it is installed, else of zlib, whose objects are alike."""
    kind = request.node.callspec.params["name"]
    if kind in NAMES:
        return lzma.compress if kind == "xz" else bz2.compress
    if kind == "library":
        if sys.version_info >= (3, 14):
            return pytest.importorskip("compression.zstd").compress  # type: ignore[no-any-return]
        return pytest.importorskip("zstandard").ZstdCompressor().compress  # type: ignore[no-any-return]
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    stand_in = types.SimpleNamespace(
        ZstdDecompressor=lambda: types.SimpleNamespace(decompressobj=zlib.decompressobj)
    )
    monkeypatch.setitem(sys.modules, "zstandard", stand_in)
    return zlib.compress


def rows(file: Path) -> list[str]:
    return [example.texts[0] for example in read_table(file, text="text").examples]


def test_frames_follow_one_another(tmp_path: Path, name: str, compress: Compress) -> None:
    texts = [f"the text of row {i}" for i in range(5_000)]
    content = ("text\n" + "\n".join(texts) + "\n").encode()
    file = tmp_path / name
    file.write_bytes(compress(content[:1_000]) + compress(content[1_000:]))
    assert rows(file) == texts
    assert find_file(tmp_path / "a.csv") == file


@pytest.mark.parametrize(
    "damage", ["cut", "second frame cut", "follows", "second header", "garbage", "empty"]
)
def test_half_a_file_is_not_taken_for_a_whole_one(
    tmp_path: Path, name: str, compress: Compress, damage: str
) -> None:
    whole = compress(b"text\n" + b"row\n" * 1_000)
    content = {
        "cut": whole[:-3],
        "second frame cut": whole + whole[:-3],
        "follows": whole + b"something else",
        "second header": whole + b"?" + whole[1:],
        "empty": b"",
        "garbage": b"no frame at all",
    }
    (tmp_path / name).write_bytes(content[damage])
    with pytest.raises(DataError, match=r"a\.csv\.\w+: row \d+: the compressed file is cut short or damaged"):
        rows(tmp_path / name)


def test_what_it_unpacks_to_is_limited(
    tmp_path: Path, name: str, compress: Compress, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(compress(b"text\n" + b"row\n" * 10_000))
    monkeypatch.setenv("HEEDFUL_MAX_UNPACKED", "10K")
    with pytest.raises(DataError, match="HEEDFUL_MAX_UNPACKED"):
        rows(tmp_path / name)


def test_the_extra_is_named_where_the_library_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "a.csv.zst").write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r"heedful\[zstd\]"):
        rows(tmp_path / "a.csv.zst")


def test_xz_may_be_padded_between_its_frames(tmp_path: Path) -> None:
    first, second = lzma.compress(b"text\none\n"), lzma.compress(b"two\n")
    (tmp_path / "a.csv.xz").write_bytes(first + b"\0" * 2_000 + second + b"\0" * 8)
    assert rows(tmp_path / "a.csv.xz") == ["one", "two"]
