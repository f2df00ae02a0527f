"""Columns beside the text: learned, answered alike with torch and without, explained, and refused in one line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import heedful
import heedful.runtime
from heedful.errors import DataError, UsageError
from heedful.explain.explainer import explain
from heedful.explain.explanation import Explanation
from heedful.runtime.command import run as run_without_torch
from heedful.tasks import load_model
from shop_rows import PLAIN, command, table

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of few rows with columns, trained by the command."""
    place = tmp_path_factory.mktemp("columns")
    pd.DataFrame(table(300)).to_csv(place / "rows.csv", index=False)
    pd.DataFrame(table(200, 1)).to_csv(place / "new.csv", index=False)
    features = ["--feature", "price", "--feature", "shop:category", "--feature", "noise"]
    settings = [option for each in PLAIN for option in ("--set", each)]
    code, output = command(
        "train",
        str(place / "rows.csv"),
        *features,
        *settings,
        "--no-baseline",
        "--out",
        str(place / "run"),
    )
    assert code == 0, output
    assert "beside the text “price”, “shop”, “noise”" in output
    assert "“price” (number, " in output
    assert "“shop” (category, 3 values)" in output
    return place


def test_both_engines_answer_alike_from_mappings_and_files(folder: Path) -> None:
    rows = table(40, 1)
    without, torch = heedful.runtime.load(folder / "run"), load_model(folder / "run" / "model")
    assert (without.logits(rows) == torch.logits(rows)).all()
    cheap, dear = ({**rows[0], "price": price} for price in (5, 15))
    answers = list(without.predict([cheap, dear]))
    assert answers[1].probabilities["yes"] > answers[0].probabilities["yes"] + 0.2  # type: ignore[union-attr]
    _, output = command("predict", str(folder / "run"), str(folder / "new.csv"), "--json")
    read = [json.loads(line)["probabilities"]["yes"] for line in output.splitlines()[:40]]
    np.testing.assert_allclose(read, [each.probabilities["yes"] for each in without.predict(rows)], atol=1e-6)  # type: ignore[union-attr]


def test_columns_that_tell_something_are_worth_more_than_the_text_alone(folder: Path) -> None:
    rows, model = table(400, 2), heedful.runtime.load(folder / "run")
    found = [each.label for each in model.predict(rows)]  # type: ignore[union-attr]
    right = np.mean([a == row["label"] for a, row in zip(found, rows, strict=True)])
    average = [{**row, "price": 10, "shop": "east"} for row in rows]
    alone = np.mean([a.label == row["label"] for a, row in zip(model.predict(average), rows, strict=True)])  # type: ignore[union-attr]
    assert right > alone + 0.02


def test_contributions_of_columns_stand_beside_the_words_and_everything_adds_up(folder: Path) -> None:
    request = {"text": "it was a great film", "price": 14, "shop": "north", "noise": None}
    for model in (heedful.runtime.load(folder / "run"), load_model(folder / "run" / "model")):
        explanation = explain(model, request)
        said = explanation.attribution
        assert said is not None
        assert [column.name for column in said.columns] == ["price", "shop", "noise"]
        assert said.columns[0].value > 0.5
        assert abs(said.gap) < 1e-6
        assert said.whole == pytest.approx(said.start + said.total + said.beside, abs=1e-6)
        assert "price = 14" in explanation.to_text(80, False, False)
        assert "price = 14" in explanation.to_html(folder / "why.html").read_text(encoding="utf-8")
        again = Explanation.from_dict(json.loads(json.dumps(explanation.to_dict())))
        assert again.attribution is not None
        assert again.attribution.columns == said.columns
        occlusion = explain(model, request, heedful.explain.methods.MethodChoice("occlusion"))  # type: ignore[attr-defined]
        assert occlusion.attribution is not None
        assert occlusion.attribution.whole == pytest.approx(said.whole)


def test_the_command_line_takes_values_beside_a_text(folder: Path) -> None:
    run, text = str(folder / "run"), "it was a fine film"
    given = ["--feature", "price=12", "--feature", "shop=", "--feature", "noise=0"]
    code, output = command("explain", run, text, *given)
    assert code == 0, output
    assert "price = 12" in output
    assert "shop = missing" in output
    for wrong, message in (
        ([], "also reads the column 'price'"),
        (["--feature", "price"], "write NAME=VALUE"),
        (["--feature", "prize=3"], "did you mean 'price'"),
        ([*given, "--feature", "price=13"], "gives price twice"),
        (["--feature", "price=cheap", *given[2:]], "expected a finite number such as 12.5, got 'cheap'"),
    ):
        code, output = command("predict", run, text, *wrong)
        assert code, message
        assert message in output
        assert len(output.splitlines()) == 1


def test_a_file_without_a_column_is_refused_before_the_first_answer(folder: Path) -> None:
    pd.DataFrame(table(5)).rename(columns={"price": "prices"}).to_csv(folder / "other.csv", index=False)
    code, output = command("predict", str(folder / "run"), str(folder / "other.csv"))
    assert code == 3
    assert "other.csv: row 2: the model also reads the column 'price'" in output
    assert "did you mean 'prices'" in output


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["prise"], "there is no such column; did you mean 'price'"),
        (["label"], "is the column of the label"),
        (["text"], "is the column of the text"),
        (["shop:number"], "row 2, column 'shop': expected a finite number"),
        (["price", "price"], "names the column 'price' twice"),
    ],
)
def test_training_refuses_what_is_no_column_in_one_line(
    folder: Path, features: list[str], message: str
) -> None:
    options = [option for each in features for option in ("--feature", each)]
    settings = [option for each in PLAIN for option in ("--set", each)]
    arguments = [
        "train",
        str(folder / "rows.csv"),
        *options,
        *settings,
        "--no-baseline",
        "--out",
        str(folder / "-".join(features).replace(":", "-")),
    ]
    code, output = command(*arguments)
    assert code in (2, 3)
    assert message in output.splitlines()[-1]


def test_a_column_that_tells_the_label_is_said(tmp_path: Path) -> None:
    rows = [{**row, "outcome": {"yes": "A", "no": "B"}[row["label"]]} for row in table(60)]
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    settings = [option for each in PLAIN for option in ("--set", each)]
    names = ["--label", "label", "--feature", "outcome", "--feature", "shop"]
    arguments = [
        "train",
        str(tmp_path / "rows.csv"),
        *names,
        *settings,
        "--no-baseline",
        "--out",
        str(tmp_path / "run"),
    ]
    code, output = command(*arguments)
    assert code == 0, output
    assert "the column “outcome” tells the gold of every training row by itself" in output
    assert "“shop” tells" not in output


def test_estimators_read_a_data_frame_and_keep_its_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame(table(200))
    model = heedful.TextClassifier(
        text="text", features=["price", "shop"], text__vectors="", model__sentence="none"
    ).fit(frame, frame["label"], baseline=False)
    assert list(model.feature_names_in_) == ["text", "price", "shop"]
    assert model.n_features_in_ == 3
    new = pd.DataFrame(table(50, 5))
    model.save_pretrained(tmp_path / "model")
    again = heedful.TextClassifier.from_pretrained(tmp_path / "model")
    assert (again.predict_proba(new) == model.predict_proba(new)).all()
    records = new.to_dict("records")
    assert (again.predict_proba(records) == model.predict_proba(new)).all()
    assert again.explain(records[0]).attribution.columns[0].name == "price"  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="no column 'price'; did you mean 'prize'"):
        model.predict(new.rename(columns={"price": "prize"}))
    with pytest.raises(UsageError, match="expected a table"):
        model.predict(["a text"])
    with pytest.raises(DataError, match="row 1, column 'price': expected a finite number"):
        model.predict(new.assign(price="cheap"))


def test_numbers_and_pairs_have_columns_too() -> None:
    frame = pd.DataFrame(table(120))
    gold = frame["price"].fillna(10) * 3 + (frame["shop"] == "north")
    number = heedful.TextScorer(
        features=["price", "shop"], text="text", text__vectors="", model__sentence="none"
    )
    number.fit(frame, gold, baseline=False)
    assert number.score(frame, gold) > 0.8
    pair = frame.assign(premise=frame["text"], hypothesis=frame["text"].str[::-1])
    pairs = heedful.PairClassifier(
        features=["price"], data__few_rows=1000, text__vectors="", model__sentence="overlap"
    )
    pairs.fit(pair, pair["label"], baseline=False)
    assert list(pairs.feature_names_in_) == ["premise", "hypothesis", "price"]
    assert pairs.predictor.about.columns is not None


def test_exports_answer_alike_or_refuse_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, rows = str(folder / "run"), table(20, 3)
    code, output = command("export", run, "--int8", str(folder / "small"))
    assert code == 0, output
    small, whole = (heedful.runtime.load(place) for place in (folder / "small", folder / "run"))
    np.testing.assert_allclose(small.logits(rows), whole.logits(rows), atol=1e-5)
    capsys.readouterr()
    assert run_without_torch(["predict", run, "--text", "a film"])
    assert "heedful-runtime reads texts alone, and this model reads columns" in capsys.readouterr().err
    for option, name in (("--page", "page.html"), ("--onnx", "model.onnx")):
        code, output = command("export", run, option, str(folder / name))
        assert code
        assert "columns beside" in output
        assert len(output.splitlines()) == 1
        assert not (folder / name).exists()


def test_a_network_with_columns_answers_encodes_and_is_explained(tmp_path: Path) -> None:
    frame, other = pd.DataFrame(table(200)), pd.DataFrame(table(150, 4))
    model = heedful.TextClassifier(
        text="text",
        features=["price", "shop"],
        data__few_rows=0,
        train__epochs=1,
        train__least_steps=0,
        model__hidden=8,
        model__sentence="none",
        text__vectors="",
    ).fit(frame, frame["label"], dev=(other, other["label"]), baseline=False)
    assert model.predictor.about.columns is not None
    model.save_pretrained(tmp_path / "model")
    rows, without = table(10, 8), heedful.runtime.load(tmp_path / "model")
    np.testing.assert_allclose(without.logits(rows), model.predictor.logits(rows), atol=1e-4)
    vectors = without.encode([row["text"] for row in rows])
    np.testing.assert_allclose(vectors, model.transform(pd.DataFrame(rows)), atol=1e-4)
    for each in (without, model.predictor):
        said = explain(each, rows[0]).attribution
        assert said is not None
        assert abs(said.gap) < 1e-5
        assert [column.name for column in said.columns] == ["price", "shop"]
