"""How answers and refusals are sent."""

from __future__ import annotations

import base64
from http import HTTPStatus

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from heedful.serving.request_limits import Refused
from heedful.text.characters import json_line

LINES = "application/x-ndjson"
"""What a client accepts that wants the very lines of the command line."""
PROMISE = "heedful-promise"
"""The header in which the promise stands of answers that are sent as bare lines."""


def mistake(error: Exception) -> Refused:
    """Return what a client gets for a mistake of the server.

    Args:
        error: the mistake; its message is not repeated, because it could quote a text.

    Returns:
        The refusal: 503 if memory is used up, else 500.
    """
    if isinstance(error, MemoryError):
        message = "out of memory. Send fewer or shorter texts, or try again later."
        return Refused(HTTPStatus.SERVICE_UNAVAILABLE, "server", message, again=5)
    message = "the server made a mistake; its log says where. The request can be sent again."
    return Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "server", message)


def refusal(refused: Refused) -> Response:
    """Return the response for a request that is not answered.

    Args:
        refused: why.

    Returns:
        The response, with the headers that belong to its status.
    """
    headers = {"retry-after": str(refused.again)} if refused.again else {}
    if refused.allow:
        headers["allow"] = ", ".join(refused.allow)
    if refused.status == HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    if refused.status in (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT):
        headers["connection"] = "close"  # the rest of the body is not read
    return Response(refused.body(), refused.status, headers, "application/json")


def listed(request: Request, name: str, field: str, lines: list[str], promise: str = "") -> Response:
    """Return results as one object, or line by line as the command prints them if the client accepts only lines.

    Args:
        request: what was asked.
        name: of the model.
        field: name of the list of results.
        lines: each result as JSON.
        promise: what is promised of their sets, a field of the object and a header of lines; empty where there are
            none.

    Returns:
        The response.
    """
    if request.headers.get("accept", "").strip() == LINES:
        headers = {PROMISE: promise} if promise else {}
        return Response("".join(f"{line}\n" for line in lines), headers=headers, media_type=LINES)
    more = f', "promise": {json_line(promise)}' if promise else ""
    return plain_json(f'{{"model": {json_line(name)}, "{field}": [{", ".join(lines)}]{more}}}')


def as_json(value: object) -> Response:
    """Return a value as a response of JSON.

    Args:
        value: the value.

    Returns:
        The response.
    """
    return plain_json(json_line(value))


def plain_json(text: str) -> Response:
    """Return text that is JSON already as a response.

    Args:
        text: the text.

    Returns:
        The response.
    """
    return Response(text, media_type="application/json")


def as_base64(numbers: list[float]) -> str:
    """Return numbers as OpenAI's interface packs them.

    Args:
        numbers: a vector.

    Returns:
        Their bytes as 32-bit floats, the lowest byte first, in base64.
    """
    return base64.b64encode(np.asarray(numbers, "<f4").tobytes()).decode("ascii")
