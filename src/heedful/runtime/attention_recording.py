"""How the description of a network says what an explanation shows of its steps, and how that is collected."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heedful.attention_names import MapPlace
from heedful.errors import UsageError, nearest
from heedful.model.attention_records import Looked, Values
from heedful.runtime.kernels import Floats
from heedful.storage.fields import Fields, is_list, is_whole

Weigh = Callable[[str], Values]
"""Name of a value to how the step that makes it weighs what it reads."""
KINDS = ("map", "gate", "fusion", "weights", "chosen", "unchosen", "alignment")


@dataclass(frozen=True)
class RecordingEntry:
    """One thing that an explanation shows, as the description of a network says it.

    Attributes:
        what: "map", the weights of the pairs of words; "gate", a value, averaged over features; "fusion", the share of
            one attention; "weights", of the words in the sentence vector; "chosen", the pairs that a policy opened, or
            "unchosen" for none; "alignment", the weights of the pairs of words of two texts.
        of: names of the values: one, but for the parts of a sentence vector.
        place: where it stands in the network.
        number: of a head or a share, from 0.
        turned: whether the rows of an alignment are the words of the second text.
    """

    what: str
    of: tuple[str, ...]
    place: MapPlace
    number: int = 0
    turned: bool = False


def read_shown(entries: object) -> tuple[RecordingEntry, ...]:
    """Read what a description says is shown.

    Args:
        entries: a list of tables.

    Returns:
        The same, checked.

    Raises:
        UsageError: if it is no such thing.
    """
    if not is_list(entries):
        raise UsageError(f"network.shown: a list expected; got {entries!r:.80}")
    return tuple(_read(Fields(entry, "network.shown", error=UsageError)) for entry in entries)


def _read(fields: Fields) -> RecordingEntry:
    of, place, number = fields.value("of"), fields.part("place", {}), fields.whole("number", 0)
    names = (of,) if isinstance(of, str) else fields.texts("of")
    if not names:
        raise fields.wrong("of", "must name a value")
    if number < 0:
        raise fields.wrong("number", f"must be 0 or more; got {number}")
    if (what := fields.text("what")) not in KINDS:
        raise fields.wrong("what", f"is unknown: {nearest(what, KINDS)}")
    place.only(*(each.name for each in dataclasses.fields(MapPlace)))
    for name, value in place.record.items():
        if not isinstance(value, str) and not is_whole(value):
            raise place.wrong(name, f"must be a string or a whole number; got {value!r:.80}")
    record: dict[str, Any] = dict(place.record)
    return RecordingEntry(what, names, MapPlace(**record), number, fields.flag("turned", False))


def look(shown: Sequence[RecordingEntry], values: Mapping[str, Floats], weigh: Weigh) -> Looked:
    """Collect what is shown of one text.

    Args:
        shown: what is to be shown.
        values: everything that the network computed for the text, by name.
        weigh: gives the weights of a step.

    Returns:
        The record.

    Raises:
        UsageError: if a value is missing.
    """
    looked = Looked()
    for each in shown:
        name = each.of[0]
        if name not in values:
            raise UsageError(f"network.shown: there is no value {name!r:.80}")
        if each.what == "map":
            looked.maps[each.place] = _one(weigh(name), each.number, 3)
        elif each.what == "gate":
            looked.gates[each.place] = values[name].mean(axis=1, dtype=np.float64)
        elif each.what == "fusion":
            looked.fusion[each.place] = _one(weigh(name).T, each.number, 2)
        elif each.what == "chosen":
            looked.chosen = values[name] > 0
        elif each.what == "unchosen":
            looked.chosen = np.zeros((len(values[name]),) * 2, bool)
        else:
            parts = [weigh(part).mean(axis=1, dtype=np.float64) for part in each.of]
            looked.weights = np.mean(parts, axis=0)
    return looked


def align(shown: Sequence[RecordingEntry], weigh: Weigh) -> dict[MapPlace, Values]:
    """Collect the alignments of two texts; see `look`."""
    return {each.place: weigh(each.of[0]).T if each.turned else weigh(each.of[0]) for each in shown}


def _one(weights: Values, number: int, axes: int) -> Values:
    """Return one head or one share, where there are several."""
    if weights.ndim < axes:
        return weights
    if number >= len(weights):
        raise UsageError(f"network.shown: number {number} of {len(weights)}")
    return weights[number]
