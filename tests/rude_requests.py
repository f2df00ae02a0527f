"""Requests that no good client sends: bytes for a socket, made from random numbers."""

from __future__ import annotations

import json
import random
from typing import Any

PATHS = (
    "/v1/predict",
    "/v1/encode",
    "/v1/explain",
    "/v1/embeddings",
    "/",
    "/metrics",
    "/v1/models",
    "/x",
    "*",
)
FIELDS = (
    *("model", "texts", "pairs", "text", "pair", "input", "page", "encoding_format", "__proto__", ""),
    *(
        "coverage",
        "sets",
        "by_class",
        "tree",
        "at_least",
        "features",
        "neighbors",
        "why",
        "method",
        "features_of",
    ),
)
WORDS = (
    "film",
    "\x00",
    "\ud800",
    "🙂" * 9,
    "<script>",
    "../../etc/passwd",
    "a " * 300,
    "",
    "\u202e",
    "{{7*7}}",
    "%s%n",
)
HEADERS = (
    "Content-Type: application/json",
    "Content-Type: text/plain",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked",
    "Content-Length: -1",
    "Content-Length: 99999999999999999999",
    "Content-Length: 5",
    "Expect: 100-continue",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Authorization: Bearer \xff\xfe",
    "Host: evil.example",
    "Host: [::1",
    "X-Long: " + "y" * 70_000,
    "Accept: application/x-ndjson",
    ": empty",
    "no colon",
    "Cookie: a=\x01",
)


def rude_request(draw: random.Random) -> bytes:
    """Make one request, most of them malformed in the body, the head or the bytes themselves."""
    body = _body(draw)
    method = draw.choice(("POST",) * 8 + ("GET", "PUT", "HEAD", "OPTIONS", "CONNECT", "BREW", "post", ""))
    path = (
        draw.choice(PATHS)
        if draw.random() < 0.9
        else "/" + "".join(map(chr, draw.choices(range(33, 255), k=9)))
    )
    version = draw.choice(("HTTP/1.1",) * 12 + ("HTTP/1.0", "HTTP/2.0", "HTTP/9", "x"))
    lines = ["Host: localhost", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    if draw.random() < 0.25:
        lines += draw.choices(HEADERS, k=draw.randint(1, 3))
        draw.shuffle(lines)
    if draw.random() < 0.1:
        lines.pop()
    head = f"{method} {path} {version}\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n"
    whole = head.encode("latin-1", "replace") + body
    if draw.random() < 0.1:
        whole = whole[: draw.randrange(len(whole))]
    if draw.random() < 0.1:
        place = draw.randrange(max(1, len(whole)))
        whole = whole[:place] + draw.randbytes(draw.randint(1, 4)) + whole[place + 1 :]
    return whole


def _body(draw: random.Random) -> bytes:
    chance = draw.random()
    if chance < 0.1:
        return draw.randbytes(draw.randint(0, 60))
    if chance < 0.15:
        return draw.choice(
            (
                b"[" * 60_000,
                b'{"a":' * 20_000,
                b"9" * 9_000,
                b'"\\ud800"',
                b"NaN",
                b"{}" * 9,
                b"\xef\xbb\xbf{}",
            )
        )
    fields = {draw.choice(FIELDS): _value(draw, 0) for _ in range(draw.randint(0, 3))}
    if draw.random() < 0.5:
        fields.setdefault("texts", [draw.choice(WORDS) for _ in range(draw.randint(0, 3))])
    data = json.dumps(fields, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")
    return data[: draw.randint(0, len(data))] if draw.random() < 0.15 else data


def _value(draw: random.Random, depth: int) -> Any:
    kind = draw.randrange(8 if depth < 3 else 6)
    if kind < 3:
        return draw.choice(WORDS)
    if kind == 3:
        return draw.choice((0, -1, 1e308, float("inf"), 10**40, 3.5))
    if kind == 4:
        return draw.choice((None, True, False))
    if kind == 5:
        return draw.choice(FIELDS)
    items = [_value(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    return items if kind == 6 else {draw.choice(WORDS): item for item in items}
