"""An ONNX file, which is without the answer that no class fits, says so; folders, pages and JavaScript keep it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heedful import TextClassifier
from heedful.export.onnx_file import note_of
from heedful.runtime import load
from heedful.storage.model_folder import load_model_folder
from tiny import run, texts

FEW = {"text__vectors": "", "model__sentence": "none", "threads": 1}
NONE = "none of these"
SAID = "itself answers 'none of these' to a text that is unlike its training texts"


def saved(folder: Path, **options: Any) -> Path:
    rows = [(text, f"{label} film" if "film" in text else label) for text, label in texts()[:120]]
    model = TextClassifier(**FEW, model__task_options=options)
    model.fit([text for text, _ in rows], [label for _, label in rows], baseline=False)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def rejecting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("rejecting") / "model", reject=0.9)


def about(packed: bytes) -> dict[str, Any]:
    """Return what a model file says of itself."""
    content = gzip.decompress(packed)
    head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    found: dict[str, Any] = json.loads(head["__metadata__"]["model"])
    return found


def test_the_page_and_the_file_for_javascript_reject_and_say_nothing(rejecting: Path, tmp_path: Path) -> None:
    page, file = tmp_path / "model.html", tmp_path / "model.heedful"
    result = run("export", rejecting, "--page", page, "--javascript", file)
    assert (result.code, result.err) == (0, "")
    (inside,) = re.findall(r'id="model">([^<]*)<', page.read_text(encoding="utf-8"))
    for packed in (base64.b64decode(inside), file.read_bytes()):
        assert about(packed)["reject"]["label"] == NONE


def test_the_onnx_file_says_it(rejecting: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    result = run("export", rejecting, "--onnx", tmp_path / "model.onnx")
    assert result.code == 0, result.err
    assert SAID in result.err
    metadata = {each.key: each.value for each in onnx.load(str(tmp_path / "model.onnx")).metadata_props}
    assert SAID in metadata["note"]


@pytest.mark.parametrize("numbers", ["int8", "float16", "float32"])
def test_folders_go_on_rejecting_and_say_nothing(rejecting: Path, tmp_path: Path, numbers: str) -> None:
    result = run("export", rejecting, f"--{numbers}", tmp_path / "small")
    assert result.code == 0, result.err
    assert not result.err
    some = ["quantum chromodynamics of heavy ions", *(text for text, _ in texts()[:20])]
    own, small = (list(load(folder).predict(some)) for folder in (rejecting, tmp_path / "small"))
    assert small[0].label == NONE
    assert sum(answer.label == NONE for answer in small) < 10
    assert [answer.label for answer in small] == [answer.label for answer in own]


def test_other_models_have_nothing_to_say(tmp_path: Path) -> None:
    result = run("export", saved(tmp_path / "model"), "--javascript", tmp_path / "model.heedful")
    assert (result.code, result.err) == (0, "")
    assert about((tmp_path / "model.heedful").read_bytes())["reject"] is None


def test_it_is_one_line_whatever_the_label(rejecting: Path) -> None:
    folder = load_model_folder(rejecting)
    table = folder.settings.table("reject", {})
    other = replace(folder, config={**folder.config, "reject": {**table, "label": "none\nof " + "x" * 500}})
    assert "\n" not in note_of(other)
    assert len(note_of(other)) < 250
