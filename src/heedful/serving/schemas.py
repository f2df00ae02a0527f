"""JSON Schema of records: what `dataclasses.asdict` and ``json`` make of them, read from their types."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence

Schema = dict[str, object]
_PLAIN: Mapping[object, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
}


def schema_of(kind: object) -> Schema:
    """Return the schema of the values of a type.

    Args:
        kind: a plain type, a dataclass, or a union, sequence or mapping of such types. Any other type allows any value.

    Returns:
        The schema.
    """
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(each) for each in inner]}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if origin is tuple and inner[1:] != (...,):
        each = [schema_of(one) for one in inner]
        return {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}
    if origin in (tuple, list, Sequence):
        return {"type": "array", "items": schema_of(inner[0])}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        found = record(**{name: schema_of(one) for name, one in _fields(kind).items()})
        needed = [field.name for field in dataclasses.fields(kind) if field.default is not None]
        return {**found, "required": needed}  # what is None by default is left out where it was not asked for
    return {}


def record(**properties: object) -> Schema:
    """Return the schema of an object that has every one of some fields.

    Args:
        **properties: field to schema.

    Returns:
        The schema.
    """
    return {"type": "object", "properties": properties, "required": list(properties)}


def list_of(items: Schema) -> Schema:
    """Return the schema of a list.

    Args:
        items: schema of each item.

    Returns:
        The schema.
    """
    return {"type": "array", "items": items}


def _fields(kind: type) -> dict[str, object]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
