"""What a description says that an explanation shows is read as its types, or refused by a line that names the field."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.attention_names import MapPlace
from heedful.errors import UsageError
from heedful.runtime.attention_recording import RecordingEntry, look, read_shown

MAP = {"what": "map", "of": "v1", "place": {"rule": "forward", "layer": 2}, "number": 1}


def test_an_entry_is_read() -> None:
    (entry, weights) = read_shown([MAP, {"what": "weights", "of": ["v2", "v3"]}])
    assert entry == RecordingEntry("map", ("v1",), MapPlace(rule="forward", layer=2), 1)
    assert (weights.of, weights.place, weights.turned) == (("v2", "v3"), MapPlace(), False)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"what": "mop"}, "what is unknown: did you mean 'map'"),
        ({"of": 3}, "of must be a list; got 3"),
        ({"of": []}, "of must name a value"),
        ({"of": ["v1", 2]}, "of must be a list in which each item is a string; got 2"),
        ({"number": -1}, "number must be 0 or more; got -1"),
        ({"number": True}, "number must be a whole number; got True"),
        ({"place": {"layer": 1.5}}, r"place.layer must be a string or a whole number; got 1.5"),
        ({"place": {"depth": 1}}, "place.depth is unknown"),
        ({"turned": "yes"}, "turned must be true or false"),
    ],
)
def test_an_entry_that_is_wrong_names_its_field(change: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=rf"^network.shown: {said}"):
        read_shown([{**MAP, **change}])


@pytest.mark.parametrize("entries", [None, {"what": "map"}, "map", [3], [None]])
def test_what_is_no_list_of_tables_is_refused(entries: object) -> None:
    with pytest.raises(UsageError, match=r"^network\.shown: .*(list expected|must be a table)"):
        read_shown(entries)


def test_one_head_of_several_is_shown() -> None:
    weights = np.arange(8.0).reshape(2, 2, 2)
    found = look(read_shown([MAP]), {"v1": np.zeros((2, 3), np.float32)}, lambda name: weights)
    np.testing.assert_array_equal(found.maps[MapPlace(rule="forward", layer=2)], weights[1])
    with pytest.raises(UsageError, match="number 1 of 1"):
        look(read_shown([MAP]), {"v1": np.zeros((2, 3), np.float32)}, lambda name: weights[:1])
