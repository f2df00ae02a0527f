"""Explanations without torch are those of torch, for every encoder and pooling that has a description."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from described import FROZEN, MODELS, ROWS, WIDTH, built
from heedful.errors import ArtifactError, UsageError
from heedful.explain.explainer import explain
from heedful.explain.method_ranking import KEY, Standing
from heedful.explain.methods import MethodChoice, Sampling
from heedful.models import ModelConfig
from heedful.runtime import kernels, load
from heedful.storage.manifest import CONFIG, MODEL_FILES, write_json, write_manifest
from heedful.tasks import TextSettings, task_named
from heedful.text.vocabulary import Vocabulary

TOLERANCE = 2e-6
WORDS = tuple(f"w{number}" for number in range(ROWS - 2))
EXTRA = tuple(f"x{number}" for number in range(FROZEN))
TEXTS = ("w1 w2 w3 x1 w9 unheard w2", "w5", "")


def saved(settings: dict[str, Any], path: Path) -> Any:
    config = ModelConfig(**{"width": WIDTH, "hidden": 20, "outputs": 3, **settings})
    task: Any = task_named(config.task)
    labels = ("a", "b", "c")[: task.named_outputs(config)]
    model = task.model_type(built(settings), config, Vocabulary(WORDS, EXTRA), labels, TextSettings())
    model.save(path)
    return model


def differences(mine: Any, theirs: Any, where: str = "") -> list[str]:
    """Name where two plain records differ by more than the tolerance.

    What words do together is a difference of four answers or more, each of which may be off by the tolerance.
    """
    if where.endswith(".together") or (where.endswith(".value") and "joint" in where):
        return (
            []
            if abs(mine - theirs) <= 4 * TOLERANCE * max(1, abs(theirs))
            else [f"{where}: {mine}, {theirs}"]
        )
    if isinstance(mine, dict) and isinstance(theirs, dict) and list(mine) == list(theirs):
        return [found for name in mine for found in differences(mine[name], theirs[name], f"{where}.{name}")]
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        pairs = zip(mine, theirs, strict=True)
        return [found for n, (a, b) in enumerate(pairs) for found in differences(a, b, f"{where}[{n}]")]
    if isinstance(mine, float) and isinstance(theirs, float):
        return [] if abs(mine - theirs) <= TOLERANCE * max(1, abs(theirs)) else [f"{where}: {mine}, {theirs}"]
    return [] if mine == theirs else [f"{where}: {mine!r:.200}, {theirs!r:.200}"]


@pytest.mark.parametrize(
    "name", [name for name, settings in MODELS.items() if settings.get("task") != "vector"]
)
def test_the_record_is_torchs(name: str, tmp_path: Path) -> None:
    wanted = saved(MODELS[name], tmp_path / "model")
    model = load(tmp_path / "model")
    for first, second in zip(TEXTS, TEXTS[1:] + TEXTS[:1], strict=True):
        request = (first, second) if model.is_pair else first
        found, theirs = explain(model, request), wanted.explain(request)
        assert differences(found.to_dict(), theirs.to_dict()) == []
    views = explain(model, ("w1 w2", "w3") if model.is_pair else "w1 w2").sides
    shown = {
        what for view in views for what in ("maps", "gates", "weights") if getattr(view, what) is not None
    }
    assert shown


@pytest.mark.parametrize("encoder", ["disan", "mtsa", "mssan", "mdman"])
def test_without_the_kernels(encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = saved({"encoder": encoder}, tmp_path / "model")
    monkeypatch.setattr(kernels, "LIBRARY", None)
    found = explain(load(tmp_path / "model"), TEXTS[0])
    assert differences(found.to_dict(), wanted.explain(TEXTS[0]).to_dict()) == []
    assert all(view.maps and view.gates and view.weights is not None for view in found.sides)


@pytest.mark.parametrize("name", ["text of disan", "pair", "aligned", "labels", "relatedness", "pair-number"])
@pytest.mark.parametrize("method", ["contributions", "occlusion", "shapley"])
def test_what_words_contribute_is_torchs(name: str, method: str, tmp_path: Path) -> None:
    wanted = saved(MODELS[name], tmp_path / "model")
    model = load(tmp_path / "model")
    texts = ("w1 w2 w3 x1 w9 unheard w2 w4 w5 w6", "w5 w7")
    request = texts if model.is_pair else texts[0]
    found = explain(model, request, MethodChoice(method, Sampling(6, 1)))
    theirs = wanted.explain(request, method=method, samples=6, seed=1)
    assert differences(found.to_dict(), theirs.to_dict()) == []
    assert found.attribution is not None
    assert found.attribution.largest > 0


def test_gradients_need_torch(tmp_path: Path) -> None:
    saved({}, tmp_path / "model")
    with pytest.raises(UsageError, match="needs torch; choose contributions, occlusion or shapley"):
        explain(load(tmp_path / "model"), "w1 w2", MethodChoice("integrated"))


def test_the_best_method_is_the_default_where_it_can_be_used(tmp_path: Path) -> None:
    model = saved({}, tmp_path / "model")
    standing = Standing(("integrated", "shapley", "attention"), "made texts", 30)
    model.about = replace(model.about, metrics={KEY: standing.as_dict()})
    model.save(tmp_path / "model")
    found, theirs = explain(load(tmp_path / "model"), "w1 w2 w3"), model.explain("w1 w2 w3")
    assert found.attribution is not None
    assert (found.attribution.method, theirs.attribution.method) == ("shapley", "integrated")
    assert theirs.standing == "Of 3 methods integrated came first on made texts (30 texts)."
    assert "shapley came second" in found.standing
    assert explain(load(tmp_path / "model"), "w1 w2", MethodChoice("attention")).attribution is None


def test_an_older_folder_says_so(tmp_path: Path) -> None:
    saved({}, tmp_path / "model")
    _alter(tmp_path / "model", lambda shown: None)
    model = load(tmp_path / "model")
    assert len(list(model.predict(["w1"]))) == 1
    with pytest.raises(UsageError):
        explain(model, "w1")


def _alter(path: Path, change: Any) -> None:
    config = json.loads((path / CONFIG).read_text())
    shown = change(config["network"].pop("shown"))
    if shown is not None:
        config["network"]["shown"] = shown
    write_json(path / CONFIG, config)
    write_manifest(path, MODEL_FILES)


@pytest.mark.parametrize(
    "shown",
    [
        7,
        {"prefix": "NULL"},
        {"prefix": [], "read": 3},
        {"prefix": [], "read": [{"what": "map"}]},
        {"prefix": [], "read": [{"what": "map", "of": 3}]},
        {"prefix": [], "read": [{"what": "map", "of": "v999"}]},
        {"prefix": [], "read": [{"what": "picture", "of": "v1"}]},
        {"prefix": [], "read": [{"what": "map", "of": "v1", "place": {"height": "x"}}]},
        {"prefix": [], "read": [{"what": "map", "of": "v1", "place": {"rule": []}}]},
        {"prefix": [], "read": [{"what": "map", "of": "v1", "number": -1}]},
        {"prefix": [], "read": [{"what": "weights", "of": []}]},
    ],
)
def test_what_is_shown_wrongly_is_refused(shown: Any, tmp_path: Path) -> None:
    saved({}, tmp_path / "model")
    _alter(tmp_path / "model", lambda _: shown)
    with pytest.raises(ArtifactError):
        load(tmp_path / "model")
