"""What is written of columns beside the text: the example of the page, the model card, and that they were left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedful
from heedful.errors import UsageError
from shop_rows import PLAIN, command, table

pd = pytest.importorskip("pandas")

PAGE = Path(__file__).parents[2] / "docs" / "columns.md"


def test_the_example_of_the_page_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    model, reviews = names["model"], names["reviews"]
    assert (model.predict(reviews) == names["moods"]).all()
    assert [each.name for each in model.predictor.about.columns.columns.columns] == ["price", "shop"]


def test_the_card_lists_the_columns_with_their_kinds(tmp_path: Path) -> None:
    days = [f"2024-0{1 + number % 9}-11" for number in range(200)]
    frame = pd.DataFrame(table(200)).assign(day=days)
    model = heedful.TextClassifier(
        text="text", features=["price", "shop", "day"], text__vectors="", model__sentence="none"
    ).fit(frame, frame["label"], baseline=False)
    model.save_pretrained(tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "| column | kind | in the training rows |" in card
    assert re.search(r"^\| price \| number \| [0-9.]+ to [0-9.]+ \|$", card, re.MULTILINE)
    assert "| shop | category | 3 values |" in card
    assert "| day | date | 2024-01-11 to 2024-09-11 |" in card
    assert "left out" not in card.partition("## Settings")[0].partition("columns beside")[2]


def test_training_says_in_one_sentence_that_the_columns_were_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "text": f"{'fine great' if good else 'poor bad'} film",
            "noise": float(rng.normal()),
            "label": "np"[good],
        }
        for good in [0, 1] * 40
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    settings = [option for each in PLAIN for option in ("--set", each)]
    run = str(tmp_path / "run")
    code, output = command(
        "train", str(tmp_path / "rows.csv"), "--feature", "noise", *settings, "--no-baseline", "--out", run
    )
    assert code == 0, output
    said = "The column “noise” beside the text was left out"
    (line,) = [each for each in output.splitlines() if said in each]
    assert line.endswith("so the model reads the text alone.")
    assert said in (tmp_path / "run" / "model" / "README.md").read_text(encoding="utf-8")
    code, printed = command("predict", run, "a fine film")
    assert code == 0, printed
    assert "--feature" not in output.partition("Next:")[2]  # which these commands would refuse


def test_what_a_column_was_perhaps_meant_to_be_is_said_on_every_door(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Numbers with decimal commas are categories, which nobody means."""
    rows = [
        {"text": f"lamp {k % 7}", "price": ("3,50", "12,00")[k % 2], "label": "np"[k % 2]} for k in range(40)
    ]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    settings = [option for each in PLAIN for option in ("--set", each)]
    asked = ("train", str(tmp_path / "rows.csv"), *settings, "--no-baseline", "--out", str(tmp_path / "run"))
    code, output = command(*asked, "--feature", "price")
    assert code == 0, output
    said = "'3,50' is no number as it is written; write numbers as 12.5, or price:category if that is meant"
    assert said in output
    code, output = command(*asked, "--overwrite", "--feature", "price:category")
    assert code == 0, output
    assert said not in output
    code, output = command(*asked, "--overwrite", "--feature", "price:numeric")
    assert code == 2
    assert "'numeric' is no kind of a column" in output
    model = heedful.TextClassifier(text="text", features=["price"], model__sentence="none", text__vectors="")
    model.fit(frame[["text", "price"]], frame["label"], baseline=False)
    assert said in caplog.text


def test_columns_with_numbers_as_names_and_two_of_one_name() -> None:
    frame = pd.DataFrame([[f"lamp {k % 7}", float(k % 2)] for k in range(40)])
    moods = ["np"[k % 2] for k in range(40)]
    plain = {"model__sentence": "none", "text__vectors": ""}
    model = heedful.TextClassifier(text="0", features=["1"], **plain).fit(frame, moods, baseline=False)
    assert model.predict(frame[:2]).tolist() == ["n", "p"]
    twice = pd.concat([frame, frame[[1]]], axis=1)
    with pytest.raises(UsageError, match="2 columns are called '1'"):
        heedful.TextClassifier(text="0", features=["1"], **plain).fit(twice, moods, baseline=False)


def test_a_column_beside_the_text_is_not_asked_for_as_what_is_learned(tmp_path: Path) -> None:
    from heedful.run.own_file import own_file

    file = tmp_path / "rows.csv"
    rows = [{"review": f"film {k} was fine", "price": 12.5 + k / 7, "mood": "np"[k % 2]} for k in range(60)]
    pd.DataFrame(rows).to_csv(file, index=False)
    with pytest.raises(UsageError, match="several columns can be what is learned"):
        own_file(str(file), (), None)
    found = own_file(str(file), ('data.features=["price"]',), None)
    assert (found.recipe, 'data.label="mood"' in found.overrides) == ("my-texts", True)
    assert "beside the text “price”" in found.note
    both = own_file(str(file), ('data.features=["mood"]',), None)
    assert both.recipe == "my-numbers"
