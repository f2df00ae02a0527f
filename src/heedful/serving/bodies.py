"""What a client may send: the bodies of requests, read strictly, each mistake named by its field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import NoReturn

from heedful.errors import nearest
from heedful.explain.methods.method_names import METHODS
from heedful.explain.neighbors import MOST
from heedful.serving.request_limits import Refused
from heedful.serving.served_model import Request
from heedful.storage.fields import is_list, is_table, plain_json

TEXTS, PAIRS, FEATURES_OF, POLICY_STEPS = "texts", "pairs", "features_of", "policy"
METHOD, WHY, NEIGHBORS, FEATURES = "method", "why", "neighbors", "features"


@dataclass(frozen=True)
class ParsedRequest:
    """A request as it was understood.

    Attributes:
        requests: its texts or pairs, at least one.
        field: name of the list that they came in.
        options: further fields of the body.
    """

    requests: Sequence[Request]
    field: str
    options: Mapping[str, object]


def read_object(data: bytes) -> dict[str, object]:
    """Read a body as one JSON object without repeated names.

    Args:
        data: the body.

    Returns:
        Its fields.

    Raises:
        Refused: with 422 if it is something else.
    """
    try:
        value = plain_json(data.decode("utf-8-sig"))
    except ValueError as error:
        wrong(
            "body", f'the body must be JSON in UTF-8: {error}. Send an object such as {{"texts": ["..."]}}.'
        )
    if not is_table(value):
        wrong(
            "body", f'the body must be a JSON object, not {kind_of_value(value)}. Send {{"texts": ["..."]}}.'
        )
    return dict(value)


def refuse_other_media(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body that is declared as something else than JSON in UTF-8 as it is.

    Args:
        headers: name in small letters to value.

    Raises:
        Refused: with 415.
    """
    kind, _, parameters = headers.get(b"content-type", b"").lower().partition(b";")
    if kind.strip() != b"application/json":
        message = "send the header Content-Type: application/json."
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content-type", message)
    for each in parameters.split(b";"):
        name, _, value = each.strip().partition(b"=")
        if name.strip() == b"charset" and value.strip().strip(b'"') not in (b"utf-8", b"utf8", b"us-ascii"):
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content-type", "send the body in UTF-8.")
    if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        message = "send the body as it is, without compression."
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content-encoding", message)


def model_name(fields: Mapping[str, object], names: Sequence[str]) -> str:
    """Return which model is asked; the field may be left out where there is only one.

    Args:
        fields: of the body.
        names: of the models.

    Returns:
        The name.

    Raises:
        Refused: with 422 if none is named, with 404 if there is no such model.
    """
    name = fields.get("model", names[0] if len(names) == 1 else None)
    if name is None and len(names) > 1:
        wrong("model", f'several models are served: set "model" to one of {", ".join(names)}.')
    if not isinstance(name, str):
        wrong("model", f"expected a string, got {kind_of_value(name)}; the models are {', '.join(names)}.")
    if name not in names:
        raise Refused(
            HTTPStatus.NOT_FOUND, "model", f"there is no such model; the models are {', '.join(names)}."
        )
    return name


def read_list(
    fields: Mapping[str, object], most: int, *, pair: bool, further: Sequence[str] = ()
) -> ParsedRequest:
    """Read the texts, or pairs, of a request.

    Args:
        fields: of the body.
        most: how many there may be.
        pair: whether the model takes pairs.
        further: names of other fields that the body may have.

    Returns:
        What is asked.

    Raises:
        Refused: with 422, naming the first field that is wrong.
    """
    field, other = (PAIRS, TEXTS) if pair else (TEXTS, PAIRS)
    refuse_unknown(fields, ("model", field, *further))
    if field not in fields:
        said = "pairs, [[premise, hypothesis], ...]" if pair else 'single texts, ["...", ...]'
        wrong(field, f'missing: this model takes {said}, under "{field}" and not "{other}".')
    return ParsedRequest(_items(fields[field], field, most, _pair if pair else text_of), field, {})


def read_texts(fields: Mapping[str, object], most: int) -> ParsedRequest:
    """Read single texts, whatever the model takes; see `read_list`."""
    return read_list(fields, most, pair=False)


def read_one(fields: Mapping[str, object], *, pair: bool, further: Sequence[str] = ()) -> ParsedRequest:
    """Read the one text or pair that is to be explained.

    Args:
        fields: of the body; "page" asks for the page too, "method" for a method of explanation, "why" for the
            explanation of another class, "neighbors" for training examples that the text resembles, "features_of" for
            single features of a word, "policy" for the steps of a policy.
        pair: whether the model takes pairs.
        further: fields that are there beside these, which the caller reads.

    Returns:
        What is asked, with the options "page", "policy", "method", "why", "neighbors" and "features_of", strings empty
        where they are missing.

    Raises:
        Refused: with 422, naming the first field that is wrong.
    """
    field = "pair" if pair else "text"
    refuse_unknown(
        fields,
        ("model", field, FEATURES, "page", METHOD, WHY, NEIGHBORS, POLICY_STEPS, FEATURES_OF, *further),
    )
    if field not in fields:
        said = 'a pair, "pair": [premise, hypothesis]' if pair else 'a text, "text": "..."'
        wrong(field, f"missing: this model explains {said}.")
    for name in ("page", POLICY_STEPS):
        if not isinstance(given := fields.get(name, False), bool):
            wrong(name, f"expected true or false, got {kind_of_value(given)}.")
    words = {name: text_of(fields.get(name, ""), name) for name in (FEATURES_OF, METHOD, WHY)}
    if words[METHOD] and words[METHOD] not in METHODS:
        named = words[METHOD][:40]
        wrong(METHOD, f"there is no explanation method {named!r}; {nearest(named, METHODS).rstrip('.')}")
    count = fields.get(NEIGHBORS, 0)
    if type(count) is not int or not 0 <= count <= MOST:
        wrong(
            NEIGHBORS, f"expected a whole number from 0 to {MOST}, got {kind_of_value(count)} {count!s:.20}."
        )
    options: dict[str, object] = {name: fields.get(name, False) for name in ("page", POLICY_STEPS)} | words
    options[NEIGHBORS] = count
    return ParsedRequest([(_pair if pair else text_of)(fields[field], field)], field, options)


def read_input(fields: Mapping[str, object], most: int) -> ParsedRequest:
    """Read a request for vectors in the shape of OpenAI's interface.

    Args:
        fields: of the body: "input" is a text or a list of them; "user" is ignored.
        most: how many there may be.

    Returns:
        What is asked, with the option "base64".

    Raises:
        Refused: with 422, naming the first field that is wrong.
    """
    refuse_unknown(fields, ("model", "input", "encoding_format", "user"))
    if "input" not in fields:
        wrong("input", 'missing: send a text, or a list of texts, under "input".')
    given = fields["input"]
    form = fields.get("encoding_format", "float")
    if form not in ("float", "base64"):
        wrong("encoding_format", 'expected "float" or "base64".')
    texts = _items([given] if isinstance(given, str) else given, "input", most, text_of)
    return ParsedRequest(texts, "input", {"base64": form == "base64"})


def refuse_unknown(fields: Mapping[str, object], known: Sequence[str]) -> None:
    """Refuse fields that mean nothing.

    Args:
        fields: of the body.
        known: names that are understood.

    Raises:
        Refused: with 422, naming the first other one.
    """
    for name in fields:
        if name not in known:
            shown = name if name.isprintable() and len(name) <= 40 else "of an unknown name"
            hint = nearest(name[:40], list(known))
            wrong(shown, f"there is no such field; {hint}{'' if hint.endswith('?') else '.'}")


def wrong(field: str, message: str) -> NoReturn:
    """Refuse a body.

    Args:
        field: what is wrong.
        message: what was expected, what came and what to do.

    Raises:
        Refused: with 422.
    """
    raise Refused(
        HTTPStatus.UNPROCESSABLE_ENTITY, field, f"{field}: {message}" if field != "body" else message
    )


def kind_of_value(value: object) -> str:
    """Return what a value of JSON is, for messages."""
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _items(value: object, field: str, most: int, read: Callable[[object, str], Request]) -> list[Request]:
    if not is_list(value):
        wrong(field, f"expected a list, got {kind_of_value(value)}.")
    if not 1 <= len(value) <= most:
        wrong(field, f"expected 1 to {most:,} items, got {len(value):,}. Send several requests.")
    return [read(item, f"{field}[{number}]") for number, item in enumerate(value)]


def text_of(value: object, field: str) -> str:
    """Return a string of whole characters, or refuse what else a field has."""
    if not isinstance(value, str):
        wrong(field, f"expected a string, got {kind_of_value(value)}.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            wrong(field, "holds half a surrogate pair, which is no character. Send whole characters.")
    return value


def _pair(value: object, field: str) -> tuple[str, str]:
    if not is_list(value) or len(value) != 2:
        came = f"a list of {len(value)}" if is_list(value) else kind_of_value(value)
        wrong(field, f"expected a pair [premise, hypothesis], got {came}.")
    return text_of(value[0], f"{field}[0]"), text_of(value[1], f"{field}[1]")
