from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import heedful
import heedful.runtime
from heedful import TextClassifier
from heedful.errors import ArtifactError, UsageError
from heedful.explain import Explanation, SentenceView
from heedful.figure_style import check_figure
from heedful.opening import open_model
from heedful.storage import replace_folder
from heedful.storage.checked_paths import checked_path
from heedful.tasks import load_model
from heedful.text.text_files import find_file


def filled(path: Any) -> None:
    with replace_folder(path):
        pass


EXPLAINED = Explanation((SentenceView("text", "a", ("a",), ((0, 1),)),), ("yes", "no"), (0.6, 0.4))
READ: dict[str, Callable[[Any], object]] = {
    "from_pretrained": heedful.from_pretrained,
    "TextClassifier": TextClassifier.from_pretrained,
    "runtime": heedful.runtime.load,
    "load_model": load_model,
    "open_model": open_model,
    "load": heedful.load,
}
DOORS: dict[str, Callable[[Any], object]] = {
    **READ,
    "find_file": find_file,
    "fit": lambda path: TextClassifier().fit(["a", "b"] * 9, ["x", "y"] * 9, folder=path),
    "replace_folder": filled,
    "check_figure": lambda path: check_figure(path, "a figure"),
    "to_html": EXPLAINED.to_html,
}


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_path_is_refused_by_every_door_in_one_line(door: str) -> None:
    cases: dict[Any, str] = {b"abc": "as a string or a pathlib.Path; got b'abc'", 3: "got 3", (): r"got \[\]"}
    cases |= {"": "is empty", " \t": "is empty", "a\0b": "no path can have", "\ud800": "no path can have"}
    cases |= {} if door == "fit" else {None: "got None"}  # where it means that nothing is kept
    for value, part in cases.items():
        with pytest.raises(UsageError, match=part) as caught:
            DOORS[door](value)
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("door", [name for name in READ if name != "load"])
def test_a_file_is_no_model_as_a_string_or_a_path(door: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("a")
    for given in (file, str(file)):
        with pytest.raises(ArtifactError, match=r"notes\.txt: is a file, and a model is a folder"):
            READ[door](given)


def test_names_of_bytes_that_are_no_characters_are_paths() -> None:
    assert checked_path("caf\udce9", "folder") == Path("caf\udce9")
