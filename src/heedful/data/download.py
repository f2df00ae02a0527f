"""Downloading one file over HTTP: mirrors, resume, size cap, checksum. Nothing is believed before it is checked."""

from __future__ import annotations

import io
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast
from urllib.error import HTTPError
from urllib.parse import urlsplit

from heedful.errors import DataError, UsageError
from heedful.storage import plain_errors, sha256

if TYPE_CHECKING:
    from socket import socket

    from _typeshed import WriteableBuffer

SCHEMES = ("https://", "http://")
WINDOW_SECONDS = 60.0
LEAST_BYTES = 60 << 10
"""A server that sends fewer bytes in a window, less than 1 KiB a second, is given up; the download can be resumed."""


class _Paced(io.RawIOBase):
    """The bytes of a server, headers included, that must keep coming."""

    def __init__(self, inner: io.RawIOBase) -> None:
        self._inner = inner
        self._since, self._got = time.monotonic(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        count = self._inner.readinto(buffer)
        self._got += count or 0
        now = time.monotonic()
        if now - self._since >= WINDOW_SECONDS:
            if self._got < LEAST_BYTES and count:
                raise TimeoutError(f"too slow: {self._got:,} bytes in {now - self._since:.0f} seconds")
            self._since, self._got = now, 0
        return count

    def close(self) -> None:
        self._inner.close()
        super().close()


_MOST_HEADS = 10


class _PacedResponse(HTTPResponse):
    def __init__(
        self, sock: socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_Paced(raw))
        self._heads = 0

    def _read_status(self) -> tuple[str, int, str]:
        """Read a status line; Python skips interim answers (100 Continue) without end."""
        self._heads += 1
        if self._heads > _MOST_HEADS:
            raise HTTPException(f"more than {_MOST_HEADS} interim answers")
        found: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
        return found


class _Connection(HTTPConnection):
    response_class = _PacedResponse


class _SecureConnection(HTTPSConnection):
    response_class = _PacedResponse


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_Connection, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_SecureConnection, req)


class _Redirect(urllib.request.HTTPRedirectHandler):
    """Follows redirects to HTTP and HTTPS; Python's own follows those to FTP too."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not newurl.lower().startswith(SCHEMES):
            scheme = urlsplit(newurl).scheme
            raise HTTPError(req.full_url, code, f"redirect to a {scheme} address is refused", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> object:
        # Python's own reads the body of a redirect to its end, however long it says that it is; a closed one is empty.
        fp.close()
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


@lru_cache
def opener() -> urllib.request.OpenerDirector:
    """Return what opens addresses: HTTP and HTTPS, through the proxies of the environment, and nothing else."""
    made = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _Http(),
        _Https(),
        _Redirect(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        made.add_handler(handler)
    return made


@dataclass(frozen=True)
class Download:
    """One file to download.

    Attributes:
        mirrors: addresses, tried in order.
        sha256: its checksum in hexadecimal; None where none is published.
        size: its size in bytes; None where it is not known.
        members: for a zip archive, which member becomes which file of the data folder.
        file: for a plain file, where it goes in the data folder.
    """

    mirrors: tuple[str, ...]
    sha256: str | None
    size: int | None = None
    members: Mapping[str, str] | None = None
    file: str = ""

    @property
    def name(self) -> str:
        """Name of the file that is downloaded."""
        return self.mirrors[0].rpartition("/")[2]


def _members(release: str, folder: str, splits: tuple[str, ...]) -> dict[str, str]:
    """Return the members of an archive of sentence pairs, which names its splits after the release."""
    return {f"{release}/{release}_{split}.jsonl": f"{folder}/{release}_{split}.jsonl" for split in splits}


_SNLI = Download(
    ("https://nlp.stanford.edu/projects/snli/snli_1.0.zip",),
    "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
    94_550_081,
    _members("snli_1.0", "snli", ("train", "dev", "test")),
)
_MULTINLI = Download(
    ("https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",),
    "049f507b9e36b1fcb756cfd5aeb3b7a0cfcb84bf023793652987f7e7e0957822",
    226_850_426,
    _members("multinli_1.0", "multinli", ("train", "dev_matched", "dev_mismatched")),
)
_SST = Download(
    ("https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",),
    "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
    789_539,
    {f"trees/{split}.txt": f"sst/trees/{split}.txt" for split in ("train", "dev", "test")},
)
_SST_RELEASE = Download(
    ("https://nlp.stanford.edu/~socherr/stanfordSentimentTreebank.zip",),
    "3f5209483b46bbf129cacbbbe6ae02fe780407034f61cf6342b7833257c3f1db",
    6_372_817,
    {
        f"stanfordSentimentTreebank/{file}.txt": f"sst/stanfordSentimentTreebank/{file}.txt"
        for file in ("SOStr", "STree", "dictionary", "sentiment_labels", "datasetSplit")
    },
)
_TREC_ROOTS = ("https://cogcomp.seas.upenn.edu/Data/QA/QC", "http://cogcomp.org/Data/QA/QC")
_TREC_TRAIN = Download(
    tuple(f"{root}/train_5500.label" for root in _TREC_ROOTS),
    "9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3",
    335_858,
    file="trec/train_5500.label",
)
_TREC_TEST = Download(
    tuple(f"{root}/TREC_10.label" for root in _TREC_ROOTS),
    "033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e",
    23_354,
    file="trec/TREC_10.label",
)
_GLOVE_6B = Download(
    ("https://nlp.stanford.edu/data/glove.6B.zip",),
    "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
    862_182_613,
    {f"glove.6B.{width}d.txt": f"glove/glove.6B.{width}d.txt" for width in (50, 100, 200, 300)},
)
_GLOVE_840B = Download(
    ("https://nlp.stanford.edu/data/glove.840B.300d.zip",),
    "c06db255e65095393609f19a4cfca20bf3a71e20cc53e892aafa490347e3849f",
    None,
    {"glove.840B.300d.txt": "glove/glove.840B.300d.txt"},
)
SOURCES: dict[str, tuple[Download, ...]] = {
    "snli": (_SNLI,),
    "multinli": (_MULTINLI,),
    "sst": (_SST,),
    "sst-release": (_SST_RELEASE,),
    "trec": (_TREC_TRAIN, _TREC_TEST),
    "glove-6b": (_GLOVE_6B,),
    "glove-840b": (_GLOVE_840B,),
}


OFFLINE_VARIABLES = ("HEEDFUL_OFFLINE", "HF_HUB_OFFLINE")
MOST_BYTES = 4 << 30
_BLOCK = 1 << 20
_TIMEOUT_SECONDS = 30.0
_LONGEST_REASON = 300
_DIGITS = 18

Progress = Callable[[int, int | None], None]


def is_offline() -> bool:
    """Return whether ``HEEDFUL_OFFLINE`` or ``HF_HUB_OFFLINE`` forbids the network."""
    return any(os.environ.get(name, "").lower() in ("1", "true", "yes", "on") for name in OFFLINE_VARIABLES)


def download(
    wanted: Download, folder: Path, *, most_bytes: int = MOST_BYTES, progress: Progress | None = None
) -> Path:
    """Download a file from the first mirror that gives it whole and unaltered.

    A download that breaks off is kept and resumed by the next call. A file that is complete but has another checksum is
    deleted, and the next mirror is tried.

    Args:
        wanted: what to download. Without a published checksum the file is returned unchecked: the caller must ask.
        folder: where it is kept.
        most_bytes: largest size taken where none is published.
        progress: called with the bytes so far and the size, where it is known.

    Returns:
        The file.

    Raises:
        DataError: naming each mirror and its trouble, if none works.
        UsageError: if a mirror is not an HTTP address.
        OutputError: if the file cannot be written.
    """
    file, part = folder / wanted.name, folder / f"{wanted.name}.part"
    if file.is_file() and problem(wanted, file) is None:
        return file
    with plain_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    troubles = []
    for mirror in wanted.mirrors:
        if not mirror.startswith(SCHEMES):
            raise UsageError(f"{mirror}: only http and https addresses are downloaded")
        trouble = _try(mirror, wanted, part, wanted.size or most_bytes, progress)
        if trouble is None:
            with plain_errors(file):
                os.replace(part, file)
            return file
        troubles.append(f"{mirror}: {trouble}")
    raise DataError(
        f"{wanted.name}: no mirror gave the file ({'; '.join(troubles)}); get it elsewhere and use --from FILE"
    )


def problem(wanted: Download, file: Path) -> str | None:
    """Return what is wrong with a downloaded file.

    Returns size or checksum expected and found; None where both agree or neither is known.
    """
    size = file.stat().st_size
    if wanted.size is not None and size != wanted.size:
        return f"expected {wanted.size:,} bytes, got {size:,}"
    if wanted.sha256 is None:
        return None
    found = sha256(file)
    return None if found == wanted.sha256 else f"expected SHA-256 {wanted.sha256}, got {found}"


class _TransferError(Exception):
    """The transfer failed; the message says why, in one line."""

    def __init__(self, reason: object) -> None:
        super().__init__(" ".join(str(reason).split())[:_LONGEST_REASON])


def _try(mirror: str, wanted: Download, part: Path, most_bytes: int, progress: Progress | None) -> str | None:
    """Fetch from one mirror and check; what was resumed and turns out wrong is fetched once more from the start."""
    while True:
        resumed = part.exists()
        try:
            _fetch(mirror, part, most_bytes, progress)
        except _TransferError as error:
            return str(error)
        trouble = problem(wanted, part)
        if trouble is None:
            return None
        part.unlink()
        if not resumed:
            return trouble


def _fetch(address: str, part: Path, most_bytes: int, progress: Progress | None) -> None:
    """Write an address to a file, going on where an earlier attempt broke off if the server can."""
    have = part.stat().st_size if part.exists() else 0
    answer = _open(address, have)
    if answer is None:
        return
    with answer:
        announced = _whole(answer.headers.get("Content-Length", ""))
        resumed = answer.status == HTTPStatus.PARTIAL_CONTENT
        have = have if resumed else 0
        size = None if announced is None else have + announced
        if resumed and not (_continues(answer, have, size) and (size or 0) <= most_bytes):
            # Not the bytes that were asked for: added to what there is they would spoil this try and all later ones.
            answer.close()
            if not part.exists():
                raise _TransferError("the server sent a part of the file where all of it was asked for")
            part.unlink()
            return _fetch(address, part, most_bytes, progress)
        if size is not None and size > most_bytes:
            raise _TransferError(f"{size:,} bytes, more than the {most_bytes:,} expected")
        with plain_errors(part), part.open("ab" if resumed else "wb") as out:
            while block := _read(answer):
                have += len(block)
                if have > most_bytes:
                    out.truncate(0)
                    raise _TransferError(f"more than the {most_bytes:,} bytes expected")
                out.write(block)
                if progress is not None:
                    progress(have, size)
            out.flush()
            os.fsync(out.fileno())
    if size is not None and have < size:
        raise _TransferError(f"broke off after {have:,} of {size:,} bytes; run it again to go on")


def _whole(field: str) -> int | None:
    """Return the whole number that a field of a head is; None for anything else, such as "²"."""
    return int(field) if field.isascii() and field.isdigit() and len(field) <= _DIGITS else None


def _continues(answer: HTTPResponse, have: int, size: int | None) -> bool:
    """Return whether a partial answer has the bytes after the first ``have`` of a file of ``size``, if known."""
    said = answer.headers.get("Content-Range", "")
    found = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)", said)
    if found is None or int(found[1]) != have:
        return False
    whole = _whole(found[2])
    return size is None or whole is None or whole == size


def _open(address: str, have: int) -> HTTPResponse | None:
    """Ask for the bytes after the first ``have``; None where the server says that there are none."""
    request = urllib.request.Request(address, headers={"User-Agent": "heedful"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        return cast(HTTPResponse, opener().open(request, timeout=_TIMEOUT_SECONDS))
    except urllib.error.HTTPError as error:
        error.close()
        if have and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return None
        raise _TransferError(f"HTTP {error.code} {error.reason}") from error
    except (OSError, HTTPException, ValueError) as error:  # ValueError: an address or a header that is none
        reason = getattr(error, "reason", "") or error
        raise _TransferError(str(reason) or type(reason).__name__) from error


def _read(answer: HTTPResponse) -> bytes:
    try:
        return answer.read(_BLOCK)
    except (OSError, HTTPException, ValueError) as error:
        raise _TransferError(f"broke off ({error}); run it again to go on") from error
