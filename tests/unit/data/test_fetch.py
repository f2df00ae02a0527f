from __future__ import annotations

import hashlib
import io
import socket
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from heedful.data import download as http
from heedful.data.datasets import own_data_sets
from heedful.data.download import SOURCES, Download, download
from heedful.data.fetch import get, targets
from heedful.errors import DataError, OutputError, UsageError
from loopback import raw_server

CONTENT = b"LOC:city Where is it ?\n" * 500


class Mirror(ThreadingHTTPServer):
    """A server on the loopback that serves what a test puts into ``files`` and remembers what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files: dict[str, bytes] = {}
        self.breaks_after: int | None = None
        self.resumes = True
        self.says_size = True
        self.sends_all = False
        self.asked: list[tuple[str, str | None]] = []

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Answer(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:
        mirror, ranged = self.server, self.headers.get("Range")
        mirror.asked.append((self.path, ranged))
        content = mirror.files.get(self.path.lstrip("/"))
        if content is None:
            self.send_error(404)
            return
        start = int(ranged.removeprefix("bytes=").rstrip("-")) if ranged and mirror.resumes else 0
        if start and start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if mirror.sends_all:
            start = 0
        if mirror.says_size:
            self.send_header("Content-Length", str(len(content) - start))
        if ranged and mirror.resumes:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        end = len(content) if mirror.breaks_after is None else start + mirror.breaks_after
        self.wfile.write(content[start:end])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    with Mirror() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEEDFUL_OFFLINE", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def drip(head: bytes) -> Callable[[socket.socket], None]:
    """Send a beginning at once, and then a byte every fiftieth of a second, until the client leaves."""

    def answer(to: socket.socket) -> None:
        to.sendall(head)
        for _ in range(30_000):
            to.sendall(b"1")
            time.sleep(0.02)
        WAITED_FOR.append(head)

    return answer


WAITED_FOR: list[bytes] = []
"""Beginnings of answers that a client has waited for to their ends."""


OK = b"HTTP/1.1 200 OK\r\n"


def moved(to: bytes) -> bytes:
    return b"HTTP/1.1 302 Found\r\nLocation: " + to + b"\r\nContent-Length: 0\r\n\r\n"


ANSWERS: dict[str, tuple[bytes, str]] = {
    "no HTTP": (b"\x1b[31m\r\n\0garbage\n" * 20, "BadStatusLine|\\[31m"),
    "ftp": (
        moved(b"ftp://127.0.0.1/a"),
        "to a ftp address",
    ),
    "file": (
        moved(b"file:///etc/passwd"),
        "Redirection to url .file:.* is not allowed",
    ),
    "loop": (moved(b"/a.label"), "infinite loop"),
    "nowhere": (moved(b"http://[::1"), "IPv6"),
    "endless body of a redirect": (moved(b"/a.label").replace(b"h: 0", b"h: " + b"9" * 25), "infinite loop"),
    "reason": (b"HTTP/1.1 500 " + b"no \x0b\x85 " * 300 + b"\r\nContent-Length: 0\r\n\r\n", "HTTP 500 no no"),
    "chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", "broke off"),
    "headers": (OK + b"".join(b"X-%d: a\r\n" % i for i in range(300)) + b"\r\n", "headers"),
    "nothing": (b"", "closed connection"),
    "endless interim answers": (b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, "more than 10 interim answers"),
    "a part that nobody asked for": (
        b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\n12345",
        "where all of it was asked for",
    ),
    "a size that is no number": (
        OK + "Content-Length: ²\r\n\r\nabc".encode("latin-1"),
        "expected .* bytes, got 3",
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_whatever_a_server_says_is_refused_in_one_short_line(tmp_path: Path, case: str) -> None:
    content, said = ANSWERS[case]
    with (
        raw_server(lambda to: to.sendall(content)) as address,
        pytest.raises(DataError, match=said) as refused,
    ):
        get("trec", tmp_path, sources=plain(address))
    message = str(refused.value)
    assert len(message.splitlines()) == 1
    assert len(message) < 700
    assert not (tmp_path / "trec").exists()


@pytest.mark.parametrize(
    "head",
    [
        b"",
        OK + b"X-",
        OK + b"Content-Length: 10000\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n",
    ],
    ids=["status", "header", "content", "chunk"],
)
def test_a_server_that_drips_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(http, "WINDOW_SECONDS", 0.2)
    monkeypatch.setattr(http, "LEAST_BYTES", 1_000)
    with raw_server(drip(head)) as address:
        with pytest.raises(DataError, match=r"too slow: .* bytes in"):
            get("trec", tmp_path, sources=plain(address))
        assert head not in WAITED_FOR


def plain(*mirrors: str, content: bytes = CONTENT, known: bool = True) -> dict[str, tuple[Download, ...]]:
    digest = hashlib.sha256(content).hexdigest() if known else None
    return {"trec": (Download(mirrors, digest, len(content) if known else None, file="trec/a.label"),)}


def zipped(names: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in names.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_plain_file(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["a.label"] = CONTENT
    seen: list[tuple[int, int | None]] = []
    files = get(
        "trec", tmp_path, sources=plain(mirror.address("a.label")), progress=lambda *step: seen.append(step)
    )
    assert files == [tmp_path / "trec" / "a.label"]
    assert files[0].read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.label"]


def test_files_already_there_cost_no_request(mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "trec").mkdir()
    (tmp_path / "trec" / "a.label").write_bytes(b"mine")
    assert get("trec", tmp_path, sources=plain(mirror.address("a.label")))[0].read_bytes() == b"mine"
    assert mirror.asked == []


def test_archive_members_go_where_the_catalog_looks(mirror: Mirror, tmp_path: Path) -> None:
    packed = zipped({"x/train.txt": b"(3 good)\n", "x/README": b"hi", "__MACOSX/._x": b""})
    mirror.files["x.zip"] = packed
    digest = hashlib.sha256(packed).hexdigest()
    source = Download((mirror.address("x.zip"),), digest, len(packed), {"x/train.txt": "sst/trees/train.txt"})
    files = get("sst-2", tmp_path, sources={"sst": (source,)})
    assert files == [tmp_path / "sst" / "trees" / "train.txt"]
    assert files[0].read_bytes() == b"(3 good)\n"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["train.txt"]


def test_missing_mirror_then_a_good_one(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["good/a.label"] = CONTENT
    sources = plain(mirror.address("gone/a.label"), mirror.address("good/a.label"))
    assert get("trec", tmp_path, sources=sources)[0].read_bytes() == CONTENT
    assert [path for path, _ in mirror.asked] == ["/gone/a.label", "/good/a.label"]


def test_every_mirror_and_its_trouble_is_named(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["bad/a.label"] = CONTENT[:-1] + b"?"
    nobody = "http://127.0.0.1:9/a.label"
    sources = plain(mirror.address("gone/a.label"), mirror.address("bad/a.label"), nobody)
    with pytest.raises(
        DataError, match=r"HTTP 404.*expected SHA-256 \w{64}, got \w{64}.*127.0.0.1:9.*--from FILE"
    ):
        get("trec", tmp_path, sources=sources)
    assert not (tmp_path / "trec").exists()
    assert list((tmp_path / ".downloads").iterdir()) == []


def test_wrong_checksum_falls_back_to_the_next_mirror(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files |= {"bad/a.label": CONTENT[:-1] + b"?", "good/a.label": CONTENT}
    sources = plain(mirror.address("bad/a.label"), mirror.address("good/a.label"))
    assert get("trec", tmp_path, sources=sources)[0].read_bytes() == CONTENT


def test_broken_download_is_resumed(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["a.label"] = CONTENT
    sources = plain(mirror.address("a.label"))
    mirror.breaks_after = 1_000
    with pytest.raises(DataError, match="run it again to go on"):
        get("trec", tmp_path, sources=sources)
    assert (tmp_path / ".downloads" / "a.label.part").stat().st_size == 1_000
    mirror.breaks_after = None
    assert get("trec", tmp_path, sources=sources)[0].read_bytes() == CONTENT
    assert mirror.asked[-1] == ("/a.label", "bytes=1000-")


@pytest.mark.parametrize("resumes", [True, False])
@pytest.mark.parametrize("stale", [b"?" * 1_000, CONTENT + b"?"])
def test_stale_part_is_thrown_away(mirror: Mirror, tmp_path: Path, resumes: bool, stale: bytes) -> None:
    mirror.files["a.label"], mirror.resumes = CONTENT, resumes
    (tmp_path / ".downloads").mkdir()
    (tmp_path / ".downloads" / "a.label.part").write_bytes(stale)
    assert get("trec", tmp_path, sources=plain(mirror.address("a.label")))[0].read_bytes() == CONTENT


@pytest.mark.parametrize("says_size", [True, False])
def test_too_large_a_file_is_refused(mirror: Mirror, tmp_path: Path, says_size: bool) -> None:
    mirror.files["a.label"], mirror.says_size = CONTENT, says_size
    with pytest.raises(DataError, match="more than the 5,000"):
        get("trec", tmp_path, sources=plain(mirror.address("a.label"), known=False), most_bytes=5_000)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 0


def test_unknown_checksum_needs_consent(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["a.label"] = CONTENT
    sources = plain(mirror.address("a.label"), known=False)
    digest = hashlib.sha256(CONTENT).hexdigest()
    with pytest.raises(UsageError, match=f"--accept-checksum {digest}"):
        get("trec", tmp_path, sources=sources)
    with pytest.raises(UsageError, match=f"--accept-checksum {digest}"):
        get("trec", tmp_path, sources=sources, accept=["0" * 64])
    assert not (tmp_path / "trec").exists()
    assert get("trec", tmp_path, sources=sources, accept=[digest.upper()])[0].read_bytes() == CONTENT
    assert len(mirror.asked) == 1  # the file that waited for consent was kept


@pytest.mark.parametrize("variable", ["HEEDFUL_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_opens_no_connection(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    mirror.files["a.label"] = CONTENT
    monkeypatch.setenv(variable, "1")
    with pytest.raises(UsageError, match=r"downloads are off .*--from FILE"):
        get("trec", tmp_path, sources=plain(mirror.address("a.label")))
    assert mirror.asked == []
    (tmp_path / "a.label").write_bytes(CONTENT)
    files = get("trec", tmp_path, sources=plain(mirror.address("a.label")), from_file=tmp_path / "a.label")
    assert files[0].read_bytes() == CONTENT


def test_local_copy_with_another_checksum(tmp_path: Path) -> None:
    copy = tmp_path / "copy.label"
    copy.write_bytes(CONTENT[:-1] + b"?")
    digest = hashlib.sha256(copy.read_bytes()).hexdigest()
    sources = plain("http://127.0.0.1:9/a.label")
    with pytest.raises(DataError, match=f"copy.label: expected SHA-256 .*--accept-checksum {digest}"):
        get("trec", tmp_path, sources=sources, from_file=copy)
    assert (
        get("trec", tmp_path, sources=sources, from_file=copy, accept=[digest])[0].read_bytes()
        == copy.read_bytes()
    )
    assert copy.exists()


def test_local_folder_for_several_files(tmp_path: Path) -> None:
    digest = hashlib.sha256(CONTENT).hexdigest()
    two = tuple(
        Download((f"http://127.0.0.1:9/{name}",), digest, len(CONTENT), file=f"trec/{name}")
        for name in ("a", "b")
    )
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(CONTENT)
    assert len(get("trec", tmp_path / "data", sources={"trec": two}, from_file=tmp_path)) == 2
    with pytest.raises(UsageError, match="give the folder that holds b"):
        get("trec", tmp_path / "other", sources={"trec": two}, from_file=tmp_path / "a")
    with pytest.raises(DataError, match=r"no such file; a copy of http.*/a was expected"):
        get("trec", tmp_path / "other", sources={"trec": two}, from_file=tmp_path / "data")


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to get by the name 'snil'; did you mean 'snli'"):
        get("snil", tmp_path)
    with pytest.raises(UsageError, match=r"cr has no download; to get it: copy data/custrev\.all"):
        get("cr", tmp_path)


def test_only_http_addresses(tmp_path: Path) -> None:
    (tmp_path / "a.label").write_bytes(CONTENT)
    with pytest.raises(UsageError, match="only http and https"):
        download(Download((f"file://{tmp_path}/a.label",), None, file="a.label"), tmp_path / "cache")


def test_folder_that_cannot_be_written(mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    mirror.files["a.label"] = CONTENT
    with pytest.raises(OutputError, match="cannot write"):
        get("trec", tmp_path / "data", sources=plain(mirror.address("a.label")))


def test_the_table_of_sources() -> None:
    assert len(SOURCES) >= 6
    catalog = {part.file for entry in own_data_sets().values() for part in entry.parts.values()}
    for name, wanted in SOURCES.items():
        for one in wanted:
            assert all(mirror.startswith("http") for mirror in one.mirrors)
            assert one.sha256 is None or (len(one.sha256) == 64 and int(one.sha256, 16) > 0)
            assert bool(one.members) != bool(one.file)
            if name in ("snli", "multinli", "sst", "trec"):
                assert set(targets(one)) <= catalog


@pytest.mark.data
def test_published_checksums_of_trec_are_those_of_the_files(data_dir: Path, tmp_path: Path) -> None:
    files = get("trec", tmp_path, from_file=data_dir / "trec", offline=True)
    assert [file.name for file in files] == ["train_5500.label", "TREC_10.label"]


@pytest.mark.parametrize("says", ["the range", "another range", "no range"])
def test_a_partial_answer_with_the_whole_file_does_not_spoil_later_tries(
    mirror: Mirror, tmp_path: Path, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.files["a.label"] = CONTENT
    wanted = Download(
        (mirror.address("a.label"),), hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), file="a"
    )
    (tmp_path / "a.label.part").write_bytes(CONTENT[:100])
    mirror.sends_all = says != "the range"
    if says == "no range":
        sent = Answer.send_header
        monkeypatch.setattr(
            Answer, "send_header", lambda self, k, v: None if k == "Content-Range" else sent(self, k, v)
        )
    assert download(wanted, tmp_path).read_bytes() == CONTENT
