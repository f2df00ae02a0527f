"""The description of the interface, OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heedful.explain.methods.method_names import METHODS
from heedful.features.feature_kinds import KINDS
from heedful.model.answers import Answer, LabelsAnswer, TagsAnswer, WordsRead
from heedful.model.decisions.conformal import METHODS as SET_METHODS
from heedful.model.role_spans import RoleSpan
from heedful.serving.request_limits import Bounds
from heedful.serving.schemas import Schema, list_of, record, schema_of
from heedful.version import __version__

_STATUS = {
    "400": "The request is no HTTP/1.1.",
    "401": "The key is missing or wrong.",
    "404": "There is no such model.",
    "405": "The endpoint is asked by another method; Allow names those that it has.",
    "408": "The body did not arrive in time.",
    "413": "The body is too long.",
    "415": "The body is not declared as JSON in UTF-8, or is compressed.",
    "421": "The server has another name.",
    "422": "A field is wrong; the error names it.",
    "429": "Too many texts wait; try again after Retry-After.",
    "431": "The head of the request is too long, or has too many fields.",
    "500": "The server made a mistake.",
    "503": "The server is full or about to end; try again.",
    "504": "There was no answer in time.",
}
_LINES = "application/x-ndjson"


def document(models: Sequence[str], bounds: Bounds, *, key: bool) -> dict[str, object]:
    """Describe the interface of a server.

    Args:
        models: names of its models.
        bounds: its limits.
        key: whether a key is needed.

    Returns:
        The document.
    """
    from heedful.explain import Explanation

    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Heedful",
            "version": __version__,
            "description": "Answers, vectors and explanations of the models that this server has.",
        },
        "servers": [{"url": "/", "description": "This server."}],
        "paths": _paths(models, bounds, key=key),
        "components": {
            "schemas": {
                **_SCHEMAS,
                "Explanation": {**schema_of(Explanation), "required": ["sides", "labels"]},
            },
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}] if key else [],
    }


def _paths(models: Sequence[str], bounds: Bounds, *, key: bool) -> dict[str, object]:
    model = {"type": "string", "enum": list(models), "description": "May be left out if there is one model."}
    texts = {**list_of(_TEXT), "minItems": 1, "maxItems": bounds.texts}
    pairs = {**texts, "items": _PAIR}
    rows = {**texts, "items": _ROW}
    yes = {"type": "boolean", "default": False}
    tree = {
        "tree": {**_TEXT, "minLength": 1},
        "at_least": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1},
    }
    further = {
        "model": model,
        "page": yes,
        "method": {"type": "string", "enum": list(METHODS)},
        "why": _TEXT,
        "neighbors": {"type": "integer", "minimum": 0, "maximum": 100, "default": 0},
        "features_of": _TEXT,
        "policy": yes,
        **tree,
    }
    asked = {
        "model": model,
        "coverage": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "sets": {"enum": list(SET_METHODS), "default": SET_METHODS[0]},
        "by_class": yes,
        **tree,
    }
    embedded = {
        "model": model,
        "input": {"anyOf": [_TEXT, texts]},
        "encoding_format": {"enum": ["float", "base64"], "default": "float"},
        "user": {"description": "Ignored."},
    }
    return {
        "/v1/predict": _post(
            "predict",
            "Answer texts, or pairs for a model of pairs; with coverage, also with a set of labels that holds the "
            "right one so often, or of a number an interval, and what is promised of them (of lines in the header "
            "Heedful-Promise). Of classes, sets says how sets are made, and by_class that each class has its promise; "
            "tree takes classes as paths, whose parents have the sums of their children, and at_least stops an answer "
            "at the deepest node that is so likely. "
            "A model that reads columns beside the text needs features, one object for each text.",
            _body(
                texts={"texts": texts, "features": rows, **asked},
                pairs={"pairs": pairs, "features": rows, **asked},
            ),
            "Answers",
            lines="Answer",
        ),
        "/v1/encode": _post(
            "encode",
            "Turn texts into vectors.",
            _body(texts={"model": model, "texts": texts}),
            "Vectors",
            lines="Vector",
        ),
        "/v1/explain": _post(
            "explain",
            "Show what each word of one text or pair contributes to the answer, by a method; with why, to another "
            "class; with page, as a page of HTML too; with neighbors, with training examples that it resembles, of a "
            "model that keeps them; with features_of, with single features of a word; with policy, "
            "with the steps of a policy; with tree, and at_least, of the class or the parent that is answered.",
            _body(
                text={"text": _TEXT, "features": _ROW, **further},
                pair={"pair": _PAIR, "features": _ROW, **further},
            ),
            "Explained",
        ),
        "/v1/embeddings": _post(
            "createEmbedding",
            "Turn texts into vectors, in the shape of OpenAI's interface.",
            _body(input=embedded),
            "Embeddings",
        ),
        "/v1/models": _get("listModels", "List the models.", "Models", refused=("401",) if key else ()),
        "/health/live": _get("isLive", "Say that the process runs.", "Live", open_to_all=True),
        "/health/ready": _get(
            "isReady",
            "Say that every model is ready; 503 when the server is about to end, or cannot answer.",
            "Ready",
            refused=("503",),
            open_to_all=True,
        ),
        "/metrics": _get(
            "getMetrics",
            "Give the counts for Prometheus, as OpenMetrics or in its older text form.",
            kinds=("application/openmetrics-text", "text/plain"),
            refused=("401",) if key else (),
        ),
        "/openapi.json": _get("describe", "Give this document.", "Document", refused=("401",) if key else ()),
        "/": _get("showPlayground", "Show the playground.", kinds=("text/html",), open_to_all=True),
    }


def _body(**ways: Mapping[str, object]) -> Schema:
    """Return the schema of a body that may be written in several ways; each is called by the field that it needs."""
    each = [
        {"type": "object", "properties": fields, "required": [needed], "additionalProperties": False}
        for needed, fields in ways.items()
    ]
    return each[0] if len(each) == 1 else {"anyOf": each}


def _post(
    name: str, summary: str, body: Mapping[str, object], answer: str, lines: str = ""
) -> dict[str, object]:
    content = {**_content(_named(answer)), **({_LINES: {"schema": _named(lines)}} if lines else {})}
    return {
        "post": {
            "operationId": name,
            "summary": summary,
            "requestBody": {"required": True, "content": _content(body)},
            "responses": {"200": {"description": "The results.", "content": content}, **_refused(_STATUS)},
        }
    }


def _get(
    name: str,
    summary: str,
    answer: str = "",
    *,
    kinds: Sequence[str] = ("application/json",),
    refused: Sequence[str] = (),
    open_to_all: bool = False,
) -> dict[str, object]:
    schema = _named(answer) if answer else _TEXT
    good = {"description": summary, "content": {kind: {"schema": schema} for kind in kinds}}
    often = ("400", "405", "421", "431", "500", "503")
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "responses": {"200": good, **_refused(sorted({*often, *refused}))},
            **({"security": []} if open_to_all else {}),
        }
    }


def _refused(statuses: Sequence[str] | Mapping[str, str]) -> dict[str, object]:
    return {
        status: {
            "description": _STATUS[status],
            "content": _content(_named("Error")),
            **({"headers": _HEADERS[status]} if status in _HEADERS else {}),
        }
        for status in statuses
    }


def _content(schema: Mapping[str, object]) -> dict[str, object]:
    return {"application/json": {"schema": schema}}


def _named(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_PAIR = {**list_of(_TEXT), "minItems": 2, "maxItems": 2, "description": "Premise, hypothesis."}
_NUMBERS = list_of({"type": "number"})
_ROW: Schema = {
    "type": "object",
    "additionalProperties": {"type": ["number", "string", "boolean", "null"]},
    "description": "A value for each column that the model reads beside a text; null where it is not known.",
}
_AGAIN = {"Retry-After": {"description": "Seconds until the next try.", "schema": _COUNT}}
_HEADERS = {
    "401": {"WWW-Authenticate": {"description": "Bearer.", "schema": _TEXT}},
    "405": {"Allow": {"description": "The methods of the endpoint.", "schema": _TEXT}},
    "429": _AGAIN,
    "503": _AGAIN,
    "504": _AGAIN,
}


def _answer(kind: type) -> Schema:
    """Return the schema of a line of answers: the record, and its row."""
    found = schema_of(kind)
    return {
        **found,
        "properties": {"row": _COUNT, **dict(found["properties"])},  # type: ignore[call-overload]
        "required": ["row", *found["required"]],  # type: ignore[misc]
    }


def _roles() -> Schema:
    """Return the schema of the answers of a model of semantic roles, whose record needs torch."""
    predicate = record(
        place=_COUNT,
        word=_TEXT,
        probability={"type": "number"},
        tags=list_of(_TEXT),
        spans=list_of(schema_of(RoleSpan)),
        sense=_TEXT,
    )
    words = dict(schema_of(WordsRead)["properties"])  # type: ignore[call-overload]
    yes = {"type": "boolean"}
    return record(row=_COUNT, **words, predicates=list_of(predicate), unknown=_COUNT, truncated=yes)


_SCHEMAS: dict[str, Schema] = {
    "ClassAnswer": {**_answer(Answer), "description": "Of a model of classes, grades or numbers."},
    "LabelsAnswer": {**_answer(LabelsAnswer), "description": "Of a model of several labels."},
    "TagsAnswer": {**_answer(TagsAnswer), "description": "Of a model of tags of words."},
    "RolesAnswer": {**_roles(), "description": "Of a model of semantic roles."},
    "OtherAnswer": {
        "type": "object",
        "properties": {"row": _COUNT},
        "required": ["row"],
        "not": {
            "anyOf": [{"required": [name]} for name in ("probabilities", "labels", "tags", "predicates")]
        },
        "description": "Of a model whose task comes with another package.",
    },
    "Answer": {
        "description": "The line that heedful predict --json prints.",
        "anyOf": [_named(f"{kind}Answer") for kind in ("Class", "Labels", "Tags", "Roles", "Other")],
    },
    "Answers": {
        "type": "object",
        "properties": {"model": _TEXT, "answers": list_of(_named("Answer")), "promise": _TEXT},
        "required": ["model", "answers"],
    },
    "Vector": _NUMBERS,
    "Vectors": record(model=_TEXT, vectors=list_of(_named("Vector"))),
    "Explained": {
        "type": "object",
        "properties": {"model": _TEXT, "explanation": _named("Explanation"), "page": _TEXT},
        "required": ["model", "explanation"],
    },
    "Embeddings": record(
        object={"const": "list"},
        data=list_of(
            record(
                object={"const": "embedding"},
                index=_COUNT,
                embedding={"anyOf": [_NUMBERS, {**_TEXT, "description": "With encoding_format base64."}]},
            )
        ),
        model=_TEXT,
        usage=record(prompt_tokens=_COUNT, total_tokens=_COUNT),
    ),
    "Models": record(
        object={"const": "list"},
        data=list_of(
            record(
                id=_TEXT,
                object={"const": "model"},
                task=_TEXT,
                pair={"type": "boolean"},
                max_tokens=_COUNT,
                columns=list_of(record(name=_TEXT, kind={"enum": list(KINDS)})),
                computed_by={"enum": ["runtime", "torch"]},
            )
        ),
    ),
    "Live": record(status={"const": "live"}),
    "Ready": record(status={"const": "ready"}, models=list_of(_TEXT)),
    "Document": {"type": "object", "description": "OpenAPI 3.1."},
    "Error": record(error=record(status={"type": "integer"}, type=_TEXT, field=_TEXT, message=_TEXT)),
}
