"""The description of the interface, OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heedful import __version__
from heedful.explain.methods.method_names import METHODS
from heedful.serving.bounds import Bounds

_STATUS = {
    "400": "The request is no HTTP/1.1.",
    "401": "The key is missing or wrong.",
    "404": "There is no such model.",
    "405": "The endpoint is asked by another method.",
    "408": "The body did not arrive in time.",
    "413": "The body is too long.",
    "415": "The body is not declared as JSON.",
    "421": "The server has another name.",
    "422": "A field is wrong; the error names it.",
    "429": "Too many texts wait; try again after Retry-After.",
    "500": "The server made a mistake.",
    "503": "The server is full or about to end; try again.",
    "504": "There was no answer in time.",
}


def document(models: Sequence[str], bounds: Bounds, *, key: bool) -> dict[str, object]:
    """Describe the interface of a server.

    Args:
        models: names of its models.
        bounds: its limits.
        key: whether a key is needed.

    Returns:
        The document.
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": "Heedful", "version": __version__},
        "paths": _paths(models, bounds),
        "components": {
            "schemas": _SCHEMAS,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        **({"security": [{"key": []}]} if key else {}),
    }


def _paths(models: Sequence[str], bounds: Bounds) -> dict[str, object]:
    model = {"type": "string", "enum": list(models)}
    texts = {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": bounds.texts}
    pairs = {**texts, "items": _PAIR}
    either = {"type": "object", "properties": {"model": model, "texts": texts, "pairs": pairs}}
    page = {"type": "boolean", "default": False}
    one = {
        "model": model,
        "text": _TEXT,
        "pair": _PAIR,
        "page": page,
        "method": {"type": "string", "enum": list(METHODS)},
        "why": _TEXT,
        "features_of": _TEXT,
        "policy": page,
    }
    embedded = {
        "model": model,
        "input": {"oneOf": [_TEXT, texts]},
        "encoding_format": {"enum": ["float", "base64"], "default": "float"},
        "user": {},
    }
    encoded = {"type": "object", "properties": {"model": model, "texts": texts}, "required": ["texts"]}
    return {
        "/v1/predict": _post("Answer texts, or pairs for a model of pairs.", either, "Answers"),
        "/v1/encode": _post("Turn texts into vectors.", encoded, "Vectors"),
        "/v1/explain": _post(
            "Show what each word of one text or pair contributes to the answer, by a method; with why, to another "
            "class; with page, as a page of HTML too; with features_of, with single features of a word; with policy, "
            "with the steps of a policy.",
            {"type": "object", "properties": one},
            "Explained",
        ),
        "/v1/embeddings": _post(
            "Turn texts into vectors, in the shape of OpenAI's interface.",
            {"type": "object", "properties": embedded, "required": ["input"]},
            "Embeddings",
        ),
        "/v1/models": _get("List the models."),
        "/health/live": _get("Say that the process runs."),
        "/health/ready": _get("Say that every model is ready; 503 when the server is about to end."),
        "/metrics": _get("Give the counts in the text form of Prometheus.", "text/plain"),
        "/openapi.json": _get("Give this document."),
        "/": _get("Show the playground.", "text/html"),
    }


def _post(summary: str, body: Mapping[str, object], answer: str) -> dict[str, object]:
    errors = {
        status: {"description": said, "content": _content({"$ref": "#/components/schemas/Error"})}
        for status, said in _STATUS.items()
    }
    good = {"description": "The results.", "content": _content({"$ref": f"#/components/schemas/{answer}"})}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": _content(body)},
            "responses": {"200": good, **errors},
        }
    }


def _get(summary: str, kind: str = "application/json") -> dict[str, object]:
    return {
        "get": {"summary": summary, "responses": {"200": {"description": summary, "content": {kind: {}}}}}
    }


def _content(schema: Mapping[str, object]) -> dict[str, object]:
    return {"application/json": {"schema": schema}}


_TEXT = {"type": "string"}
_PAIR = {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2, "description": "Premise, hypothesis."}
_NUMBERS = {"type": "array", "items": {"type": "number"}}


def _object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_SCHEMAS = {
    "Answers": _object(
        model=_TEXT,
        answers={
            "type": "array",
            "description": "The lines of heedful predict --json: row, label, probabilities, score, and how the "
            "texts were read.",
            "items": {"type": "object"},
        },
    ),
    "Vectors": _object(model=_TEXT, vectors={"type": "array", "items": _NUMBERS}),
    "Explained": _object(
        model=_TEXT,
        explanation={"type": "object", "description": "What heedful explain --json prints."},
    ),
    "Embeddings": _object(
        object={"const": "list"},
        data={
            "type": "array",
            "items": _object(
                object={"const": "embedding"},
                index={"type": "integer"},
                embedding={"oneOf": [_NUMBERS, _TEXT]},
            ),
        },
        model=_TEXT,
        usage=_object(prompt_tokens={"type": "integer"}, total_tokens={"type": "integer"}),
    ),
    "Error": _object(error=_object(status={"type": "integer"}, type=_TEXT, field=_TEXT, message=_TEXT)),
}
