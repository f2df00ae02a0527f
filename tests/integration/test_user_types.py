"""What pyright says of a user's file: right calls have useful types, and misspelled ones are named."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PYRIGHT = shutil.which("pyright")
USER = """
import heedful
from heedful import TextClassifier, TokenTagger, from_pretrained, load

model = TextClassifier(train__epochs=3, model__dropout=0.5).fit(["a", "b"], ["x", "y"])
reveal_type(model)
reveal_type(model.score(["a"], ["x"]))
reveal_type(model.answer(["a"])[0].label)
from_pretrained("a folder").predict(["a"])
load("en-nli").predict([("a", "b")])
TokenTagger().fit([["a"]], [["b"]]).predict([["a"]])
"""
MISSPELLED = {
    "TextClassifier(train__epoch=3)": "train__epoch",
    "TextClassifier(model__dropout='high')": "model__dropout",
    "model.fit(['a'], ['b'], foo=3)": "foo",
    "model.explain('a', method='nonsense')": "nonsense",
    "heedful.TextClasifier()": "TextClasifier",
}


@pytest.mark.skipif(PYRIGHT is None, reason="pyright is not installed")
def test_pyright_understands_a_users_file(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER + "\n".join(MISSPELLED) + "\n")
    settings = {"extraPaths": [str(Path(__file__).parents[2] / "src")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [str(PYRIGHT), "--outputjson", "--pythonpath", sys.executable, "user.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    notes = json.loads(said.stdout)["generalDiagnostics"]
    wrong = [note["message"] for note in notes if note["severity"] == "error"]
    assert len(wrong) == len(MISSPELLED), wrong
    for message, part in zip(wrong, MISSPELLED.values(), strict=True):
        assert part in message
    shown = [note["message"] for note in notes if note["severity"] == "information"]
    assert [message.split(" is ")[-1] for message in shown] == ['"TextClassifier"', '"float"', '"str | None"']
