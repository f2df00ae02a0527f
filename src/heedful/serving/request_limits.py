"""How much a client may ask of the server, and how the server says no."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from heedful.settings import Settings, at_least, ranged


@dataclass(frozen=True)
class Bounds(Settings):
    """The limits of the server.

    Attributes:
        body: bytes of the body of a request; more gets 413.
        texts: texts, or pairs, of a request; more gets 422.
        queue: texts that may wait for one model; more gets 429.
        explanations: explanations that may wait; more gets 429.
        connections: connections that are open together; a request on another one gets 503.
        seconds: from the arrival of a request's head to its answer; more gets 408 while the body arrives, and 504
            while the answer is computed.
        head: bytes of the head of a request, and of its trailers; more gets 431.
        fields: fields of the head of a request, and of its trailers; more gets 431.
        word_memory: megabytes of each model for what it makes of single words; 0 keeps nothing.
        head_seconds: for which a connection may be silent, or may send the head of a request; it is then closed.
    """

    body: int = ranged(1 << 20, at_least(1))
    texts: int = ranged(1_024, at_least(1))
    queue: int = ranged(8_192, at_least(1))
    explanations: int = ranged(64, at_least(1))
    connections: int = ranged(4_096, at_least(1))
    seconds: float = ranged(30.0, at_least(0.001))
    head: int = ranged(1 << 15, at_least(1))
    fields: int = ranged(100, at_least(1))
    word_memory: int = ranged(64, at_least(0))
    head_seconds: float = ranged(10.0, at_least(0.001))


class Refused(Exception):
    """A request that is not answered.

    Args:
        status: the status of HTTP.
        field: what is wrong: a field of the body such as ``texts[3]``, "body", a header, or "server" where it is not
            the request.
        message: what was expected, what came, and what to do; it goes to the client alone and never to the log.
        again: seconds after which the client may try again; 0 where that would not help.
        allow: methods that the endpoint has, where another one was asked.

    Attributes:
        status: as given.
        field: as given.
        again: as given.
        allow: as given.
    """

    def __init__(
        self, status: HTTPStatus, field: str, message: str, *, again: int = 0, allow: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.status, self.field, self.again, self.allow = status, field, again, allow

    def body(self) -> bytes:
        """Return the answer: one JSON object whose "error" says what is wrong, where, and what to do."""
        error = {
            "status": int(self.status),
            "type": self.status.name.lower(),
            "field": self.field,
            "message": str(self),
        }
        return json.dumps({"error": error}).encode()
