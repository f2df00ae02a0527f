"""Every record of Heedful's own is read in one way: what is damaged is refused by one line that names the file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from heedful.baselines.saved_boards import kept_note
from heedful.bulk.output_folder import OutputFolder
from heedful.data.cache import read_stored, write_stored
from heedful.errors import ArtifactError
from heedful.run.kept_settings import check_same_run
from heedful.run.record import read_record
from heedful.run.run_config import RunConfig
from heedful.storage.fields import not_safetensors, plain_json, read_fields
from heedful.storage.layout import STATE_FILES
from heedful.storage.manifest import (
    LABELS,
    MANIFEST,
    listed,
    listed_checksum,
    read_labels,
    read_words,
    verify_manifest,
    write_manifest,
)
from heedful.storage.ownership import is_record
from heedful.text.vocabulary import Vocabulary, vocabulary_from_json
from heedful.training.progress import MetricsLog
from heedful.training.run_folder import RunFolder
from heedful.training.state import saved_step

WHOLE = b'{"format_version": 1, "files": {"a": {"bytes": 1}}, "packages": {}}'
DAMAGES = {
    "empty": b"",
    "cut off": WHOLE[:-9],
    "no table": b'"text"',
    "no UTF-8": WHOLE[:-1] + b', "x": "\xff"}',
    "a name twice": WHOLE[:-1] + b', "files": {}}',
    "no number": WHOLE[:-1] + b', "x": NaN}',
    "infinite": WHOLE[:-1] + b', "x": 1e999}',
    "long number": WHOLE[:-1] + b', "x": ' + b"9" * 5_000 + b"}",
    "nested": b'{"x": ' + b"[" * 100_000,
    "another type": b'{"format_version": "1", "files": [3], "packages": 5}',
}
FIGURES = {"no number", "infinite"}
"""What may stand in records of figures, where some are not defined; these are then refused for what else they lack."""


def _environment(folder: Path) -> None:
    home = RunFolder(folder)
    home.checkpoint.mkdir(parents=True, exist_ok=True)
    (home.checkpoint / MANIFEST).write_text("{}")
    home.refuse_foreign()


def _log(folder: Path) -> None:
    log = folder / "metrics.jsonl"
    log.write_bytes(log.read_bytes() + b'\n{"step": 2}\n')
    MetricsLog(log).restore(2)


def _data(folder: Path) -> None:
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / MANIFEST).write_text("{}")
    check_same_run(folder, RunConfig(), {"a": "0"})


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a manifest": (MANIFEST, lambda folder: verify_manifest(folder, ["a"])),
    "a checksum of it": (MANIFEST, lambda folder: listed_checksum(folder / "b")),
    "labels": (LABELS, read_labels),
    "a vocabulary": (
        "vocabulary.json",
        lambda folder: Vocabulary.from_plain(
            read_words(folder / "vocabulary.json", "extra"), str(folder / "vocabulary.json")
        ),
    ),
    "a vocabulary in the cache": (
        "vocabulary.json",
        lambda folder: vocabulary_from_json(
            (folder / "vocabulary.json").read_bytes().decode("utf-8", "replace"),
            str(folder / "vocabulary.json"),
        ),
    ),
    "the environment of a run": ("env.json", _environment),
    "the log of a run": ("metrics.jsonl", _log),
    "the data of a run": ("data.json", _data),
    "the state of a checkpoint": (STATE_FILES[1], saved_step),
    "a run of a study": ("run.json", lambda folder: read_record(folder / "run.json")),
    "predictions of a part": (
        "_heedful/done/part.json",
        lambda folder: OutputFolder(folder).finished(()),
    ),
    "encoded data": (MANIFEST, read_stored),
}


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_record_is_named(tmp_path: Path, name: str) -> None:
    file, read = READERS[name]
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    for content in DAMAGES.values():
        (tmp_path / file).write_bytes(content)
        with pytest.raises(ArtifactError, match=re.escape(str(tmp_path))):
            read(tmp_path)


def test_what_only_may_be_a_record_is_none_where_it_is_damaged(tmp_path: Path) -> None:
    for damage, content in DAMAGES.items():
        (tmp_path / MANIFEST).write_bytes(content)
        (tmp_path / "out.json").write_bytes(content)
        assert listed(tmp_path) == frozenset(), damage
        assert is_record(tmp_path / "out.json", ("format_version", "files")) == (
            damage in FIGURES | {"another type"}
        )


def test_a_board_says_what_to_do_and_may_have_figures_that_are_none(tmp_path: Path) -> None:
    board = tmp_path / "board.json"
    for damage in DAMAGES.keys() - FIGURES - {"another type"}:
        board.write_bytes(DAMAGES[damage])
        with pytest.raises(ArtifactError, match=r"board\.json: .*Delete it, or name another --out"):
            kept_note(board, {})
    board.write_text(json.dumps({"score": float("nan"), "made_of": {"runs": [1]}}))
    assert "exists and is kept" in kept_note(board, {"runs": [1]})


def test_a_whole_record_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    write_manifest(tmp_path, ["a"])
    verify_manifest(tmp_path, ["a"])
    assert listed(tmp_path) == {"a", MANIFEST}
    write_stored(tmp_path / "cache", {"b.txt": "b"}, {})
    assert read_stored(tmp_path / "cache")[0] == {"b.txt": "b"}
    assert list(read_fields(tmp_path / MANIFEST)) == ["format_version", "files"]


def test_figures_may_be_none_and_a_reason_is_given_for_the_rest() -> None:
    assert str(plain_json('{"a": [NaN, -Infinity, 2.5]}', finite=False)) == "{'a': [nan, -inf, 2.5]}"
    for content, reason in (
        ("[NaN]", "the number NaN is not finite"),
        ("[-1e999]", "the number -1e999 is not finite"),
        ('{"a": 1, "a": 1}', "the name 'a' stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "a number in it has thousands of digits; write it as a string"),
        (b"\xff", "codec can't decode"),
    ):
        with pytest.raises(ValueError, match=reason):
            plain_json(content)


def test_a_name_that_is_not_utf_8_has_a_remedy_of_its_own() -> None:
    assert "rename it" in str(not_safetensors(Path("caf\udce9/weights.safetensors"), ValueError("x")))
    assert "x. Copy the folder again" in str(not_safetensors(Path("weights.safetensors"), ValueError("x")))
