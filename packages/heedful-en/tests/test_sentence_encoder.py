"""en-sentences as it is shipped: its vectors, without torch and spaCy too, and what its makers promise of it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import heedful
from heedful.runtime import SentenceVectors, load
from heedful.storage.named_models import find_packaged, packaged_models
from heedful.tasks import VectorModel

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE / "making"))

if "en-sentences" not in packaged_models() or not find_packaged("en-sentences").is_dir():
    pytest.skip("the installed heedful-en has no en-sentences; install it again", allow_module_level=True)
ALIKE = [
    ("A man plays the guitar.", "Someone makes music."),
    ("How do I get my money back?", "I would like a refund."),
    ("The film was superb.", "It is a wonderful movie."),
]
NAMES = [
    "Vornhagen met Okwaraji in Tel-Brukk.",
    "Okwaraji was met by Vornhagen.",
    "Shares rose 3.57 percent to 12,408.",
    "xqzzt",
]
"""Texts with names and numbers that no vocabulary has, and one of them alone."""
WITHOUT = """
import sys
class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "spacy", "scipy", "sklearn", "click"):
            raise ImportError(name)
sys.meta_path.insert(0, Missing)
import json
from heedful.runtime import load
print(json.dumps(load("en-sentences").encode(sys.argv[1:]).tolist()))
"""


@pytest.fixture(scope="module")
def model() -> SentenceVectors:
    found = load("en-sentences")
    assert isinstance(found, SentenceVectors)
    return found


def test_sentences_of_like_meaning_are_nearest(model: SentenceVectors) -> None:
    table = model.similarity([one for one, _ in ALIKE], [other for _, other in ALIKE])
    assert table.argmax(axis=1).tolist() == [0, 1, 2]
    assert table.argmax(axis=0).tolist() == [0, 1, 2]
    assert model.similarity("A dog runs.", "The stock market fell sharply.") < 0.2


def test_vectors_and_states(model: SentenceVectors) -> None:
    assert (model.width, model.states_width) == (384, 900)
    found = model.encode(["A man plays the guitar.", ""])
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 0], abs=1e-5)
    states = model.states([["A", "man", "plays", "."]])
    assert np.linalg.norm(states[0, :600]) == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(states[0, 600:]) == pytest.approx(1, abs=1e-5)


def test_torch_gives_the_same(model: SentenceVectors) -> None:
    texts = [*(text for pair in ALIKE for text in pair), *NAMES]
    other = heedful.load("en-sentences")
    assert isinstance(other, VectorModel)
    assert np.abs(model.encode(texts) - other.encode(texts)).max() < 1e-4
    assert other.with_labels(["refund", "praise"]).answer(["I want my money back."])[0].label == "refund"


def test_neither_torch_nor_spacy_is_needed(model: SentenceVectors) -> None:
    texts = [*(text for text, _ in ALIKE), *NAMES]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *texts], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert np.abs(np.array(json.loads(done.stdout)) - model.encode(texts)).max() < 1e-6
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"] == []
    assert any(each.startswith("spacy") for each in project["optional-dependencies"]["parser"])


def test_unknown_names_are_read_by_their_spelling(model: SentenceVectors) -> None:
    words = model.reading.words(NAMES[0], 1, 1, 1)
    assert words.unknown >= 2
    assert np.linalg.norm(model.encode(NAMES), axis=1) == pytest.approx(np.ones(len(NAMES)), abs=1e-5)
    same, other = (model.similarity(NAMES[0], text) for text in (NAMES[1], "Petrescu was met by Lindqvist."))
    assert same > other + 0.1


def test_long_texts_and_none(model: SentenceVectors) -> None:
    assert model.encode([]).shape == (0, 384)
    assert model.similarity([], ["a text"]).shape == (0, 1)
    long = "A man plays the guitar and sings. " * 700
    cut = " ".join(long.split()[:300])
    assert np.array_equal(model.encode([long]), model.encode([cut])), "the first 256 words are read"


def test_it_is_small() -> None:
    assert sum(file.stat().st_size for file in find_packaged("en-sentences").iterdir()) <= 20_000_000


def test_the_card_names_every_source_with_its_license_and_count() -> None:
    from sentence_sources import LICENSES

    card = (find_packaged("en-sentences") / "README.md").read_text(encoding="utf-8")
    rows = [line for line in card.splitlines() if line.startswith("| ")]
    for license in LICENSES.values():
        assert any(f"| {license} |" in row for row in rows)
    for said in ("all-MiniLM-L6-v2", "Apache-2.0", "STS-B", "CC BY-SA 4.0", "were embedded and learned from"):
        assert said in card
