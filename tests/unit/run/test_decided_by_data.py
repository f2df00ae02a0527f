"""What the data decides: whether there is a network, and whether English word vectors are used."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from heedful.run import decided_by_data, prepare, train
from heedful.run.recipe_files import load_config, override
from heedful.tasks import load_model
from heedful.text.english import is_english

ENGLISH = ["what is the capital of France", "how do I return it", "the film was dull and they left"]
GERMAN = [
    "wie ist die Hauptstadt von Frankreich",
    "wie gebe ich es zurück",
    "der Film war langweilig und lang",
]
FRENCH = ["le film est très long et je ne suis pas content", "où est la gare", "il y a des gens dans la rue"]
DUTCH = ["de film was saai en te lang", "waar is het station", "ik wil het niet op mijn rekening"]


@pytest.mark.english
def test_names_of_products_are_english_and_codes_are_not() -> None:
    assert is_english(["Garden Chair Oak", "Kitchen Lamp XL"])
    assert not is_english([f"AX{number}M" for number in range(958_590, 958_600)])


def test_english_is_told_from_other_languages() -> None:
    assert is_english(ENGLISH)
    assert is_english([text.upper() for text in ENGLISH])
    for texts in (GERMAN, FRENCH, DUTCH, ["это хороший фильм"], ["這部電影很好"], ["123 456"], []):
        assert not is_english(texts), texts


def write(folder: Path, count: int, texts: list[str]) -> Path:
    path = folder / "train.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        rows.writerows((f"{texts[n % 3]} {n % 7}", "abc"[n % 3]) for n in range(count))
    return path


@pytest.mark.parametrize(
    ("settings", "encoder"),
    [
        ([], "none"),
        (["train.seed=3", "train.class_weight=balanced"], "none"),
        (["model.dropout=0.1", "train.max_steps=1"], "disan"),
        (["data.few_rows=0", "train.max_steps=1"], "disan"),
        (["data.few_rows=40", "train.max_steps=1", "model.width=8"], "disan"),
        (["data.few_rows=55"], "none"),  # 60 rows less a tenth
        (["model.wide=none", "model.sentence=none", "train.max_steps=1"], "disan"),
        (["model.encoder=none"], "none"),
    ],
)
def test_few_rows_make_no_network_unless_one_is_asked_for(
    tmp_path: Path, settings: list[str], encoder: str
) -> None:
    config = load_config(
        "my-texts", [f"data.train={write(tmp_path, 60, ENGLISH)}", "text.vectors=", *settings]
    )
    prepared = prepare(config, None, tmp_path / "cache")
    assert ("dev" in prepared.datasets) == (encoder == "disan" or config.data.few_rows == 0)
    result = train(config, prepared, folder=tmp_path / "run")
    assert result.predictor.model.encoder == encoder
    assert result.predictor.about.run["model"]["encoder"] == config.model.encoder
    if encoder == "none":
        assert result.predictor.joined_note
        assert result.dev.metrics["accuracy"] == 1.0
        assert result.dev.count == (60 if "dev" not in prepared.datasets else 6)
    if "dev" not in prepared.datasets:
        assert "cross-validation" in prepared.protocol.sentence()


def test_without_a_network_a_long_text_is_read_to_its_end(tmp_path: Path) -> None:
    """Its linear parts take each word alike; what a text says may stand behind a long notice."""
    path = write(tmp_path, 60, [f"{'the notice that is in front of all . ' * 60}{text}" for text in ENGLISH])
    asked = [f"data.train={path}", "text.vectors=", "model.sentence=none"]
    result = train(load_config("my-texts", asked), prepare(load_config("my-texts", asked), None))
    assert result.predictor.text.max_tokens == decided_by_data.WHOLE
    assert result.dev.metrics["accuracy"] == 1.0
    for settings in (
        ["data.max_tokens=300"],
        ["data.few_rows=0"],
        ["data.truncate=error", "data.max_tokens=700"],
    ):
        prepared = prepare(load_config("my-texts", [*asked, *settings]), None)
        assert "data.max_tokens" not in prepared.decided


@pytest.mark.parametrize(("low", "high"), [(0, 5), (0, 1), (10, 100)])
def test_scores_of_any_range_need_no_remedy(tmp_path: Path, low: float, high: float) -> None:
    path = tmp_path / "scores.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["premise", "hypothesis", "score"])
        for n in range(60):
            same = n % 2
            other = ENGLISH[n % 3] if same else ENGLISH[(n + 1) % 3]
            rows.writerow([f"{ENGLISH[n % 3]} {n % 7}", f"{other} {n % 5}", high if same else low])
    config = load_config("my-scores", [f"data.train={path}"])
    prepared = prepare(config, None, tmp_path / "cache")
    assert any("learned as numbers" in note for note in prepared.notes)
    assert prepared.decided["train.metric"] == "r2"  # what chooses the checkpoint is that of numbers too
    result = train(config, prepared, folder=tmp_path / "run")
    assert result.dev.metrics["pearson"] > 0.9
    model = load_model(tmp_path / "run" / "model")
    one, other = model.scores(model.logits([(ENGLISH[0], ENGLISH[0]), (ENGLISH[0], ENGLISH[1])]))
    assert one > other


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        pytest.param([], {"inner": decided_by_data.INNER}, marks=pytest.mark.english),
        (["model.encoder_options.scale=4"], {"scale": 4}),
        (["model.encoder=bi-gru"], {}),
        (["text.vectors="], {}),
        (["model.width=50"], {}),
    ],
)
def test_blocks_of_few_rows_are_narrower_than_english_vectors(
    tmp_path: Path, settings: list[str], options: dict[str, object]
) -> None:
    given = [f"data.train={write(tmp_path, 60, ENGLISH)}", "data.few_rows=0", *settings]
    found = override(
        load_config("my-texts", given), prepare(load_config("my-texts", given), None, tmp_path).decided
    )
    assert found.model.encoder_options == options


def test_blocks_are_as_wide_as_the_vectors_with_many_rows_and_in_other_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [f"data.train={write(tmp_path, 60, ENGLISH)}", "data.few_rows=0"]
    labels = [f"data.train={write(tmp_path, 60, ENGLISH)}", "data.few_rows=0", "data.label=label"]
    assert "model.encoder_options" not in prepare(load_config("my-labels", labels), None, tmp_path).decided
    monkeypatch.setattr(decided_by_data, "MOST_INNER", 50)
    assert "model.encoder_options" not in prepare(load_config("my-texts", files), None, tmp_path).decided
