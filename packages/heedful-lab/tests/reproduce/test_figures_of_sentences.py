"""Figures of single sentences: read off trained models as the papers define them, drawn, and kept as numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from heedful.attention_names import MapPlace
from heedful.errors import UsageError
from heedful.tasks import load_model
from heedful.tasks.sentences.network_records import trace_sentence
from heedful_lab.reproduce import Order, draw_figure, find_table, make, tables
from heedful_lab.reproduce.listing import list_tables
from heedful_lab.reproduce.plan import systems
from heedful_lab.reproduce.runner import Budget
from heedful_lab.reproduce.sentence_panels import read_panels

FIGURES = [name for name, table in tables().items() if table.picture is not None]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Train one tiny model of pairs a system; name of the system to its folder."""
    root = tmp_path_factory.mktemp("models")
    data = tiny.write_tasks(root / "data")
    found = {}
    for system in ("disan", "mtsa", "mssan", "mdman"):
        own = ("text.parser=", "model.width=12") if system == "mssan" else ()
        names = {one.partition("=")[0] for one in own}
        settings = [one for one in systems()[system].settings if one.partition("=")[0] not in names]
        words = [word for one in (*settings, *own) for word in ("--set", one)]
        out = ("--set", "train.max_steps=2", "--set", "train.device=cpu", "--out", root / system, "-q")
        result = tiny.run("train", data / "pair.toml", "--data", data, *words, *out)
        assert result.code == 0, result.err
        found[system] = root / system
    return found


def given(name: str, models: dict[str, Path]) -> dict[str, Path]:
    picture = find_table(name).picture
    assert picture is not None
    return {model: models[system] for model, system in picture.models.items()}


def test_the_figures_are_those_of_the_papers() -> None:
    named = {"disan-figure6", "disan-figure7", "disan-figure8", "mtsa-figure3", "mssan-figure4"}
    assert set(FIGURES) == named | {"mdman-figure2", "mdman-figure4", "mdman-figure5"}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_and_its_numbers_are_kept(
    name: str, models: dict[str, Path], tmp_path: Path
) -> None:
    table = find_table(name)
    picture = table.picture
    assert picture is not None
    files = draw_figure(table, Order(None, tmp_path, models=given(name, models)))
    assert [file.suffix for file in files] == [".png", ".svg", ".json", ".md"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    records = json.loads(files[2].read_text(encoding="utf-8"))
    assert records
    for record in records:
        values = np.array(record["values"])
        assert values.shape[0] == len(record["rows"])
        assert not record["columns"] or values.shape[1] == len(record["columns"])
        assert ((values >= 0) & (values <= 1)).all()
    text = files[3].read_text(encoding="utf-8")
    assert all(f"{model}: " in text for model in picture.models)
    assert all(sentence.text in text for sentence in picture.sentences)


def test_attention_and_gates_are_means_over_features(models: dict[str, Path]) -> None:
    predictor = load_model(models["disan"])
    for name, part in (("disan-figure6", "maps"), ("disan-figure7", "gates")):
        picture = find_table(name).picture
        assert picture is not None
        panels = read_panels(picture, {"DiSAN": predictor})
        _, trace = trace_sentence(predictor, picture.sentences[1].text)
        forward = getattr(trace.context, part)[MapPlace("forward")][0].double().mean(-1).numpy()
        panel = panels[2] if part == "maps" else panels[1]
        np.testing.assert_allclose(panel.values if part == "maps" else panel.values[0], forward, rtol=1e-12)


def test_features_of_a_word_are_not_averaged(models: dict[str, Path]) -> None:
    predictor = load_model(models["disan"])
    picture = find_table("disan-figure8").picture
    assert picture is not None
    first, second = read_panels(picture, {"DiSAN": predictor})
    assert (first.sentence, second.sentence) == ("glass", "close")
    assert first.values.shape == second.values.shape == (2, 32)
    words, trace = trace_sentence(predictor, "A biker is close to the fountain")
    assert trace.pooled.weights is not None
    np.testing.assert_allclose(second.values[1], trace.pooled.weights[0, words.index("close")].numpy())


def test_the_two_scores_of_mtsa_make_up_its_attention(models: dict[str, Path]) -> None:
    """Eq. 10 to 12: a weight is the product of both factors, normalized over the words that are seen."""
    predictor = load_model(models["mtsa"])
    _, trace = trace_sentence(predictor, "Families have some dogs in front of a carousel")
    factors = trace.context.factors
    assert set(factors.token2token) == set(factors.source2token) == set(trace.context.maps)
    for way, weights in trace.context.maps.items():
        both = (factors.token2token[way], factors.source2token[way])
        pairs, alone = (value[0].double().numpy() for value in both)
        product = pairs[:, :, None] * alone[None]
        total = product.sum(axis=1, keepdims=True)
        expected = np.divide(product, total, out=np.zeros_like(product), where=total > 0)
        np.testing.assert_allclose(weights[0].double().numpy(), expected, atol=1e-6)
        np.testing.assert_allclose(alone.sum(axis=0), 1.0, rtol=1e-6)
        assert set(pairs.sum(axis=1).round(6)) == {0.0, 1.0}


def test_the_masks_of_a_policy_are_the_first_masks_and_what_it_chose(
    models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    predictor = load_model(models["mdman"])
    picture = find_table("mdman-figure2").picture
    assert picture is not None
    words, trace = trace_sentence(predictor, picture.sentences[0].text)
    assert trace.context.policy is not None
    chosen = torch.zeros(1, len(words), len(words)).bool()
    chosen[0, 1, 4] = chosen[0, 4, 1] = True
    policy = replace(trace.context.policy, chosen=chosen)
    opened = replace(trace, context=replace(trace.context, policy=policy))
    monkeypatch.setattr("heedful_lab.reproduce.sentence_panels.trace_sentence", lambda *_: (words, opened))
    first, added, forward, backward = read_panels(picture, {"MDMAN": predictor})
    assert first.values.sum() == 11 * 10 / 2
    assert np.argwhere(added.values).tolist() == [[1, 4], [4, 1]]
    assert np.argwhere(forward.values - first.values).tolist() == [[1, 4]]
    assert np.argwhere(backward.values - first.values.T).tolist() == [[4, 1]]
    maps = find_table("mdman-figure4").picture
    assert maps is not None
    one, other = read_panels(maps, {"MDMAN": predictor})
    assert one.opened is not None
    assert other.opened is not None
    assert (np.argwhere(one.opened).tolist(), np.argwhere(other.opened).tolist()) == ([[1, 4]], [[4, 1]])


@pytest.mark.parametrize(
    ("name", "system", "model"),
    [
        ("mtsa-figure3", "disan", "MTSA"),
        ("mdman-figure2", "disan", "MDMAN"),
        ("mdman-figure4", "disan", "MDMAN"),
    ],
)
def test_a_model_without_what_a_figure_shows_is_refused(
    name: str, system: str, model: str, models: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(
        UsageError, match=f"--model {model}: expected a model with|--model {model}: expected an MTSA"
    ):
        draw_figure(find_table(name), Order(None, tmp_path, models={model: models[system]}))


def test_models_are_named_as_the_figure_names_them(models: dict[str, Path], tmp_path: Path) -> None:
    table = find_table("mdman-figure5")
    with pytest.raises(UsageError, match="mdman-figure5 has no model 'MTSA'"):
        draw_figure(table, Order(None, tmp_path, models={"MTSA": models["mtsa"]}))
    with pytest.raises(UsageError, match="mdman-figure5: MDMAN: not trained yet"):
        draw_figure(table, Order(None, tmp_path, models={"DiSAN": models["disan"]}, run=False))
    with pytest.raises(UsageError, match="draw_figure makes it"):
        make(table, Order(None, tmp_path))


def test_the_list_and_the_command_know_figures(models: dict[str, Path], tmp_path: Path) -> None:
    listed = {line.table.name: line for line in list_tables(None, tmp_path, Budget())}
    assert {name: listed[name].runs for name in FIGURES} == {
        name: len(find_table(name).picture.models)
        for name in FIGURES  # type: ignore[union-attr]
    }
    words = ("reproduce", "disan-figure7", "--model", f"DiSAN={models['disan']}", "--out", tmp_path)
    result = tiny.run(*words, "--json")
    assert result.code == 0, result.err
    assert [record["title"] for record in result.json()] == ["fusion gate"] * 2
    assert tiny.run(*words, "--jobs", "2").code == 2
