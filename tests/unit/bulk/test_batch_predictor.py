"""The callable for engines: every kind of batch, and the engines themselves where they are installed."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import heedful
import tiny
from heedful.bulk.batch_predictor import BatchPredictor
from heedful.errors import ArtifactError, DataError, UsageError
from heedful.runtime import load
from waiting import PATIENCE

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

TEXTS = [text for text, _ in tiny.texts()[:9]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("engines")
    data = tiny.write_tasks(root / "data")
    for name in ("text", "pair"):
        words = ("--data", data, "--out", root / name, "--quiet", "--no-baseline")
        settings = ("--set", "train.device=cpu", "--set", "train.epochs=2")
        assert tiny.run("train", data / f"{name}.toml", *words, *settings).code == 0
    return root


@pytest.fixture
def predictor(runs: Path) -> BatchPredictor:
    return BatchPredictor(runs / "text")


@pytest.fixture
def expected(runs: Path) -> list[str]:
    return [str(answer.label) for answer in load(runs / "text").predict(TEXTS)]


def test_every_kind_of_batch_comes_back_as_its_kind(predictor: BatchPredictor, expected: list[str]) -> None:
    names = ["id", "text", "prediction", "probability", "warnings"]
    ids = list(range(9))
    frame = predictor(pd.DataFrame({"id": ids, "text": TEXTS}, index=range(5, 14)))
    assert (list(frame.columns), list(frame.index)) == (names, list(range(5, 14)))
    assert (frame["prediction"].tolist(), frame["probability"].dtype) == (expected, np.float64)
    table = predictor(pa.table({"id": ids, "text": TEXTS}))
    assert (table.column_names, table["prediction"].to_pylist()) == (names, expected)
    arrays = predictor({"id": np.arange(9), "text": np.array(TEXTS, dtype=object)})
    assert (list(arrays), arrays["prediction"].tolist()) == (names, expected)
    lists = predictor({"id": ids, "text": TEXTS})
    assert (list(lists), lists["prediction"], lists["id"]) == (names, expected, ids)
    one = predictor({"id": 3, "text": TEXTS[3]})
    assert (one["id"], one["prediction"], type(one["probability"])) == (3, expected[3], float)


def test_an_iterator_of_frames_is_what_map_in_pandas_gives(
    predictor: BatchPredictor, expected: list[str]
) -> None:
    frames = (pd.DataFrame({"text": TEXTS[start : start + 4]}) for start in (0, 4, 8))
    answered = predictor(frames)
    assert isinstance(answered, Iterator)
    assert pd.concat(answered)["prediction"].tolist() == expected
    assert predictor.spark_schema == "prediction string, probability double, warnings string"


def test_empty_batches(predictor: BatchPredictor) -> None:
    assert list(predictor(pd.DataFrame({"text": pd.Series([], dtype=object)})).columns)[1] == "prediction"
    assert predictor(pa.table({"text": pa.array([], pa.string())})).num_rows == 0


def test_pairs_and_names_that_are_taken(runs: Path) -> None:
    predictor = BatchPredictor(runs / "pair", premise="a", hypothesis="b")
    first, second, _ = tiny.pairs()[0]
    found = predictor({"a": [first], "b": [second], "prediction": ["mine"]})
    assert list(found) == ["a", "b", "prediction", "prediction_2", "probability", "warnings"]
    assert found["prediction"] == ["mine"]


def test_bad_rows(runs: Path) -> None:
    texts = ["fine", None, "word " * 500, 7]
    with pytest.raises(DataError, match=r"^row 2 of the batch: text: the value is missing"):
        BatchPredictor(runs / "text")({"text": texts})
    frame = BatchPredictor(runs / "text", bad_rows="null")(pd.DataFrame({"text": texts}))
    assert frame["prediction"].isna().tolist() == [False, True, True, True]
    assert frame["probability"].isna().tolist() == [False, True, True, True]
    assert frame["warnings"][2].startswith("text: 500 tokens")


def test_what_is_refused(runs: Path, predictor: BatchPredictor, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected 'stop' or 'null'"):
        BatchPredictor(runs / "text", bad_rows="skip")  # type: ignore[arg-type]
    with pytest.raises(ArtifactError):
        BatchPredictor(tmp_path)
    with pytest.raises(UsageError, match="premise: this model reads text"):
        BatchPredictor(runs / "text", premise="a")({"text": ["x"]})
    with pytest.raises(
        DataError, match=r"no column 'text'; columns: texts; did you mean 'texts'\? Name yours: text=NAME"
    ):
        predictor({"texts": ["x"]})
    with pytest.raises(UsageError, match="got list"):
        predictor(["x"])


def test_a_copy_reads_the_model_itself_and_only_the_same_one(runs: Path, predictor: BatchPredictor) -> None:
    before = predictor({"text": TEXTS})
    second = copy.deepcopy(predictor)
    assert second._answers is None
    assert second({"text": TEXTS}) == before
    third = copy.deepcopy(predictor)
    third._asking = third._asking.__class__(str(runs / "pair"), checksum=third._asking.checksum)
    with pytest.raises(ArtifactError, match="is another model than the one that was asked for"):
        third({"text": TEXTS})


def test_neither_torch_nor_an_engine_is_loaded(runs: Path) -> None:
    code = (
        f"import sys, heedful; p = heedful.BatchPredictor({str(runs / 'text')!r}); p({{'text': ['x']}})\n"
        "print(*(n for n in ('torch', 'ray', 'pyspark', 'datasets', 'pyarrow') if n in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.strip() == ""
    assert heedful.BatchPredictor is BatchPredictor


def test_datasets_map(predictor: BatchPredictor, expected: list[str]) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"text": TEXTS})
    for options in ({"batched": True, "batch_size": 4}, {}):
        assert dataset.map(predictor, **options)["prediction"][:] == expected


def test_a_local_ray_loses_and_doubles_no_row(runs: Path, expected: list[str]) -> None:
    """The small form of heedful_lab.studies.ray_million, without a killed worker."""
    pytest.importorskip("ray")
    code = f"""
import ray, heedful
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80_000_000)
ray.data.DataContext.get_current().enable_progress_bars = False
rows = ray.data.from_items([{{"id": k, "text": {TEXTS!r}[k % 9]}} for k in range(200)])
answered = rows.map_batches(
    heedful.BatchPredictor, fn_constructor_args=({str(runs / "text")!r},), batch_size=40,
    compute=ray.data.ActorPoolStrategy(size=1),
)
found = sorted((row["id"], row["prediction"]) for row in answered.take_all())
assert found == [(k, {expected!r}[k % 9]) for k in range(200)], found
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
