"""Which systems are compared, and which are left out because a library of theirs is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from heedful.baselines.library_systems import FastTextBaseline, SpacyBaseline
from heedful.baselines.linear import NB_SVM, TFIDF_LOGISTIC
from heedful.baselines.rivals import WORDS_AND_CHARACTERS, frozen_encoder, mean_of_package
from heedful.baselines.system_choice import OPTIONAL
from heedful.text.english import ENGLISH, package_of
from heedful_lab.scoreboard.measured_cell import Entrant
from heedful_lab.scoreboard.simple_entrants import SimpleEntrant
from heedful_lab.scoreboard.trained_entrants import (
    contrast_entrant,
    default_entrant,
    fine_tuned_entrant,
    taught_entrant,
)

_LINEAR = ("scikit-learn",)
_FROZEN = ("scikit-learn", "torch", "transformers")
_PIP = {"transformers": "pip install 'heedful[transformers]'", **OPTIONAL}


def entrants(
    transformers: Sequence[Path], without: Sequence[str] = ()
) -> tuple[list[Entrant], dict[str, str]]:
    """List the systems.

    Args:
        transformers: folders of pretrained encoders: each is compared frozen, fine-tuned, in SetFit's way and as the
            teacher of a small model.
        without: parts of the names of systems to leave out.

    Returns:
        The systems, the cheapest to train first, and name to reason for those that are left out.

    Raises:
        DataError: if a folder holds no pretrained encoder.
    """
    found: list[tuple[str, Entrant]] = [
        ("", SimpleEntrant(TFIDF_LOGISTIC, "simple", _LINEAR)),
        ("", SimpleEntrant(NB_SVM, "simple", _LINEAR)),
        ("", SimpleEntrant(WORDS_AND_CHARACTERS, "simple", _LINEAR)),
        ("fasttext", SimpleEntrant(FastTextBaseline(), "library", ("fasttext",))),
        ("spacy", SimpleEntrant(SpacyBaseline("bag of words"), "library", ("spacy",))),
        ("spacy", SimpleEntrant(SpacyBaseline("ensemble"), "library", ("spacy",))),
    ]
    skipped: dict[str, str] = {}
    if package_of(ENGLISH):
        mean = SimpleEntrant(mean_of_package("text"), "simple", _LINEAR, ("heedful_en",))
        found.insert(3, ("", mean))
    else:
        skipped["mean of word vectors"] = "heedful-en is not installed: pip install heedful-en"
    found.append(("", default_entrant()))
    for folder in transformers:
        frozen = SimpleEntrant(frozen_encoder("text", folder), "transformer", _FROZEN)
        tuned = (fine_tuned_entrant(folder), contrast_entrant(folder), taught_entrant(folder))
        found += [("transformers", entrant) for entrant in (frozen, *tuned)]
    for package, entrant in found:
        if package and not find_spec(package):
            skipped[entrant.name] = f"{package} is not installed: {_PIP[package]}"
        if any(part in entrant.name for part in without):
            skipped[entrant.name] = "left out by --without"
    return [entrant for _, entrant in found if entrant.name not in skipped], skipped
