"""Columns beside the text in the server and in predictions of many files: answered as by the model, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedful
import heedful.runtime
from heedful.bulk.batch_predictor import BatchPredictor
from heedful.errors import DataError
from served import InProcess, in_process, save_model
from shop_rows import command, table

pd = pytest.importorskip("pandas")

NAMES = ("price", "shop")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("doors")
    frame = pd.DataFrame(table(200))
    model = heedful.TextClassifier(
        text="text", features=list(NAMES), text__vectors="", model__sentence="none"
    ).fit(frame, frame["label"], baseline=False)
    model.save_pretrained(place / "model")
    pair = frame.assign(premise=frame["text"], hypothesis=frame["text"].str[::-1])
    pairs = heedful.PairClassifier(
        features=["price"], data__few_rows=1000, text__vectors="", model__sentence="overlap"
    )
    pairs.fit(pair, pair["label"], baseline=False).save_pretrained(place / "pairs")
    save_model(place / "plain")
    return place


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[InProcess]:
    pytest.importorskip("starlette")
    with in_process({name: folder / name for name in ("model", "pairs", "plain")}) as found:
        yield found


def beside(row: dict[str, Any], names: tuple[str, ...] = NAMES) -> dict[str, Any]:
    """Return the columns of a row."""
    return {name: row[name] for name in names}


def test_the_server_answers_and_explains_with_columns_as_the_model_does(app: InProcess, folder: Path) -> None:
    rows, model = table(40, 1), heedful.runtime.load(folder / "model")
    body = {
        "model": "model",
        "texts": [row["text"] for row in rows],
        "features": [beside(row) for row in rows],
    }
    reply = app.ask("/v1/predict", body)
    assert reply.status == 200, reply.body
    found = [answer["probabilities"]["yes"] for answer in reply.json()["answers"]]
    expected = [answer.probabilities["yes"] for answer in model.predict(rows)]  # type: ignore[union-attr]
    assert found == expected
    one = {"model": "model", "text": rows[0]["text"], "features": {"price": 15, "shop": None}}
    shown = app.ask("/v1/explain", one).json()["explanation"]
    assert [(each["name"], each["value"]) for each in shown["attribution"]["columns"]][:1] == [
        ("price", "15")
    ] or (shown["attribution"]["columns"][0]["name"] == "price")
    pair = {"model": "pairs", "pairs": [["a film", "a film"]], "features": [{"price": 12}]}
    assert app.ask("/v1/predict", pair).status == 200
    assert app.ask("/v1/encode", {"model": "plain", "texts": ["a film"]}).status == 200
    said = {each["id"]: each["columns"] for each in app.ask("/v1/models").json()["data"]}
    assert said["model"] == [{"name": "price", "kind": "number"}, {"name": "shop", "kind": "category"}]
    assert said["plain"] == []


READ: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": pd.read_csv,
    ".jsonl": lambda path: pd.read_json(path, lines=True),
    ".parquet": pd.read_parquet,
}
GOOD = {"price": 3, "shop": "north"}


@pytest.mark.parametrize(
    ("features", "field", "message"),
    [
        (None, "features", "missing: this model also reads columns beside the text (price, shop)"),
        ({"price": 3}, "features", "expected a list with one object for each text, got an object"),
        ([GOOD, GOOD], "features", "expected one object for each of 1 texts, got 2"),
        ([3], "features[0]", "expected an object such as"),
        ([{"price": 3}], "features[0]", "also reads the column 'shop', which is not there"),
        ([{**GOOD, "prize": 3}], "features[0]", "there is no such column; did you mean 'price'?"),
        ([{**GOOD, "price": "cheap"}], "features[0]", "column 'price': expected a finite number"),
        (
            [{**GOOD, "price": [3]}],
            "features[0]",
            "column 'price': expected a number, a string or null, got a list",
        ),
        ([{**GOOD, "shop": "\ud800"}], "features[0]", "half a surrogate pair"),
    ],
)
def test_what_is_wrong_with_the_columns_is_said_in_one_line(
    app: InProcess, features: Any, field: str, message: str
) -> None:
    body = {"model": "model", "texts": ["a film"], **({} if features is None else {"features": features})}
    reply = app.ask("/v1/predict", body)
    assert (reply.status, reply.field) == (422, field)
    said = reply.json()["error"]["message"]
    assert message in said
    assert "\n" not in said
    if isinstance(features, list) and len(features) == 1:
        reply = app.ask("/v1/explain", {"model": "model", "text": "a film", "features": features[0]})
        assert reply.status == 422
        assert message in reply.json()["error"]["message"]


def test_a_model_of_texts_alone_refuses_columns(app: InProcess) -> None:
    for path, body in (
        ("predict", {"texts": ["a film"], "features": [GOOD]}),
        ("explain", {"text": "a", "features": {}}),
    ):
        reply = app.ask(f"/v1/{path}", {"model": "plain", **body})
        assert (reply.status, reply.field) == (422, "features")
        assert "reads texts alone" in reply.json()["error"]["message"]


def test_columns_are_typed_in_the_description(app: InProcess) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    described = app.ask("/openapi.json").json()

    def holds(path: str, body: Any) -> bool:
        content = described["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        return bool(jsonschema.Draft202012Validator(content).is_valid(body))

    assert holds("/v1/predict", {"texts": ["a"], "features": [GOOD]})
    assert not holds("/v1/predict", {"texts": ["a"], "features": GOOD})
    assert holds("/v1/explain", {"text": "a", "features": {"price": None}})
    assert not holds("/v1/explain", {"text": "a", "features": {"price": [3]}})


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_predictions_of_many_files_take_the_columns_of_the_files(
    folder: Path, tmp_path: Path, ending: str
) -> None:
    frame = pd.DataFrame(table(60, 1))
    write = {
        ".csv": lambda part, path: part.to_csv(path, index=False),
        ".jsonl": lambda part, path: part.to_json(path, orient="records", lines=True),
        ".parquet": lambda part, path: part.to_parquet(path),
    }[ending]
    for number in range(2):
        write(frame[30 * number : 30 * number + 30], tmp_path / f"part-{number}{ending}")
    model, pattern = str(folder / "model"), str(tmp_path / f"part-*{ending}")
    many = ["--jobs", "1"]
    code, output = command("predict", model, "--input", pattern, *many, "--output", str(tmp_path / "out"))
    assert code == 0, output
    files = sorted(path for path in (tmp_path / "out").iterdir() if path.suffix == ending)
    read = pd.concat(map(READ[ending], files))
    expected = [
        answer.label for answer in heedful.runtime.load(folder / "model").predict(frame.to_dict("records"))
    ]  # type: ignore[union-attr]
    found = [each["label"] if isinstance(each, dict) else each for each in read["prediction"]]
    assert found == expected
    write(frame.rename(columns={"price": "prize"}), tmp_path / f"wrong{ending}")
    arguments = ["--input", str(tmp_path / f"wrong{ending}"), "--jobs", "1", "--output", str(tmp_path / "no")]
    code, output = command("predict", model, *arguments)
    assert code == 3
    assert (
        "also reads the column 'price', which is not there; did you mean 'prize'" in output.splitlines()[-1]
    )


def test_a_row_of_another_kind_is_skipped_with_its_reason(folder: Path, tmp_path: Path) -> None:
    frame = pd.DataFrame(table(10, 1)).astype({"price": object})
    frame.loc[3, "price"] = "cheap"
    frame.to_csv(tmp_path / "rows.csv", index=False)
    many = ["--input", str(tmp_path / "rows.csv"), "--jobs", "1", "--output", str(tmp_path / "out")]
    code, output = command("predict", str(folder / "model"), *many)
    assert code == 3
    assert "rows.csv: row 5: column 'price': expected a finite number such as 12.5, got 'cheap'" in output
    many[-1] = str(tmp_path / "again")
    code, output = command("predict", str(folder / "model"), *many, "--bad-rows", "skip")
    side = [json.loads(line) for line in (tmp_path / "again/_bad/rows.jsonl").read_text().splitlines()]
    assert [each["row"] for each in side] == [5]
    (tmp_path / "lines.txt").write_text("a film\n")
    many = ["--input", str(tmp_path / "lines.txt"), "--jobs", "1", "--output", str(tmp_path / "lines")]
    code, output = command("predict", str(folder / "model"), *many)
    assert code == 3
    assert "has texts alone, and the model also reads the column 'price'; bring a table" in output


def test_batches_of_engines_have_the_columns(folder: Path) -> None:
    frame, predictor = pd.DataFrame(table(30, 1)), BatchPredictor(folder / "model")
    expected = [
        answer.label for answer in heedful.runtime.load(folder / "model").predict(frame.to_dict("records"))
    ]  # type: ignore[union-attr]
    assert predictor(frame)["prediction"].tolist() == expected  # type: ignore[index]
    arrays = {name: np.array(frame[name].tolist(), dtype=object) for name in frame}
    assert predictor(arrays)["prediction"].tolist() == expected  # type: ignore[index]
    assert predictor(frame.iloc[0].to_dict())["prediction"] == expected[0]  # type: ignore[index]
    with pytest.raises(DataError, match="the batch: the model also reads the column 'shop'"):
        predictor(frame.drop(columns="shop"))
