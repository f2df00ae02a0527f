"""The trained models of the package: what they answer, without torch and with it, and what comes with them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import heedful
from heedful.errors import ArtifactError
from heedful.run.demonstration import QUESTIONS, packaged_answers
from heedful.storage.manifest import CARD, WEIGHTS
from heedful.storage.named_models import find_packaged, packaged_models
from heedful_en import vectors_folder

sys.path.insert(0, str(Path(__file__).parents[1] / "making"))

from make_models import MODELS, shipped, sums, wrong

HERE = Path(__file__).parents[1]
NAMES = [name for name in packaged_models() if name in MODELS]
ABSOLUTE_PATH = re.compile(r"(?<![\w:/.])/\w[\w.-]*/\w|\b[A-Za-z]:\\\\")
"""A path from the root of a file system, or from a drive's; the address of a page has a colon before it."""
WITHOUT_TORCH = """
import sys
class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError(name)
sys.meta_path.insert(0, Missing)
from heedful.cli.main import main
main(sys.argv[1:])
"""
ASKED: dict[str, list[tuple[Any, Any]]] = {
    "en-nli": [
        (("A woman is playing the violin on a stage.", "A woman is making music."), "entailment"),
        (("A woman is playing the violin on a stage.", "A woman is asleep in her bed."), "contradiction"),
        (("A woman is playing the violin on a stage.", "The woman is famous."), "neutral"),
    ],
    "en-upos": [
        ("A woman reads a good book .", ["DET", "NOUN", "VERB", "DET", "ADJ", "NOUN", "PUNCT"]),
        ("She quickly gave him two books .", ["PRON", "ADV", "VERB", "PRON", "NUM", "NOUN", "PUNCT"]),
    ],
}


loaded = cache(heedful.load)


def asked(name: str) -> list[Any]:
    return [request for request, _ in ASKED[name]]


@pytest.mark.parametrize("name", [name for name in ASKED if name in NAMES])
def test_the_answers_to_plain_sentences(name: str) -> None:
    found = loaded(name).predict(asked(name))
    assert [list(one) if isinstance(one, list) else one for one in found] == [gold for _, gold in ASKED[name]]


@pytest.mark.parametrize("name", [name for name in ASKED if name in NAMES])
def test_the_command_answers_without_torch_as_with_it(name: str) -> None:
    given = asked(name)[0]
    options = (
        ["--text", given] if isinstance(given, str) else ["--premise", given[0], "--hypothesis", given[1]]
    )
    command = [sys.executable, "-c", WITHOUT_TORCH, "predict", name, *options, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    (wanted,) = loaded(name).predictor_.answer([given])
    assert near(json.loads(done.stdout), json.loads(json.dumps({"row": 1, **wanted.as_dict()})))


def near(one: Any, other: Any) -> bool:
    """Compare plain values; real numbers may differ by their rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(near(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(near, one, other))
    return abs(one - other) < 1e-4 if isinstance(one, float) else one == other


@pytest.mark.parametrize("name", NAMES)
def test_the_card_has_figures_license_and_no_path_of_a_machine(name: str) -> None:
    card = (find_packaged(name) / CARD).read_text(encoding="utf-8")
    assert card.startswith('---\nlicense: "cc-by-sa-4.0"\n')
    assert f'heedful.load("{name}")' in card
    for said in ("| dev |", "| test |", "Seed 0", "## Sources and license", "CC BY-SA 4.0", "Numberbatch"):
        assert said in card
    for file in find_packaged(name).iterdir():
        if file.suffix in (".json", ".md"):
            assert not ABSOLUTE_PATH.findall(file.read_text(encoding="utf-8")), file.name


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_is_noticed(name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(find_packaged(name), tmp_path / "model"))
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / WEIGHTS).write_bytes(content)
    with pytest.raises(ArtifactError, match=WEIGHTS):
        heedful.from_pretrained(folder)


def test_the_roles_of_a_plain_sentence() -> None:
    (answer,) = loaded("en-roles").answer(["She quickly sold her old car."])
    (sold,) = answer.predicates
    assert answer.bracketed(sold) == "[ARG0 She] [ARGM-ADV quickly] [V sold] [ARG1 her old car] ."


def test_the_files_are_those_of_the_checksums() -> None:
    assert wrong(sums(None)) == []


def test_everything_fits_into_50_megabytes() -> None:
    packed = sum(len(zlib.compress(file.read_bytes(), 1)) for file in shipped())  # a wheel packs better still
    assert packed < 49_000_000


def test_the_notice_names_every_source() -> None:
    notice = (HERE / "NOTICE").read_text(encoding="utf-8")
    for source in ("ConceptNet Numberbatch", "UD English EWT", "PropBank", "SNLI", "CC BY-SA 4.0"):
        assert source in notice
    assert {file.parent for file in shipped()} >= {find_packaged(name) for name in NAMES} | {vectors_folder()}


def test_the_demo_asks_the_models() -> None:
    lines = list(packaged_answers())
    assert lines[0].startswith("The trained English models")
    assert sum(line.startswith("  heedful predict en-") for line in lines) == sum(
        map(len, QUESTIONS.values())
    )
    assert any("She" in line or "cook" in line for line in lines if "[V gave]" in line)
