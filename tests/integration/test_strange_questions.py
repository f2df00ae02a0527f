"""What is explained of strange texts, and what is refused: the same on every door, in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import tiny
from heedful.errors import UsageError
from heedful.estimators import TextClassifier
from heedful.explain import Explanation, render_html
from heedful.explain.explainer import explain as explain_without_torch
from heedful.explain.methods import MethodChoice
from heedful.runtime import load
from heedful.serving.served_model import open_served

Door = Callable[[str, MethodChoice], Explanation]
LONG = " ".join(["I found this film superb and not dull"] * 625)


@pytest.fixture(scope="module", params=["network and parts", "parts alone"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = tiny.texts()[:120]
    small = {
        "model__width": 16, "model__hidden": 16, "train__epochs": 2, "text__vectors": "", "model__sentence": "none",
    }  # fmt: skip
    settings = {} if request.param == "parts alone" else {**small, "data__few_rows": 0}
    folder = tmp_path_factory.mktemp("strange") / request.param.partition(" ")[0]
    made = TextClassifier(**settings).fit(
        [text for text, _ in rows], [label for _, label in rows], baseline=False
    )
    made.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def doors(model: Path) -> dict[str, Door]:
    estimator, engine, runtime = TextClassifier.from_pretrained(model), open_served(model), load(model)
    return {
        "python": lambda text, choice: estimator.explain(text, method=choice.method, why=choice.why),
        "server": engine.explain,
        "runtime": lambda text, choice: explain_without_torch(runtime, text, choice),
    }


def test_a_text_without_words_has_a_base_and_no_word(doors: dict[str, Door]) -> None:
    for door in doors.values():
        for text in ("", " \n "):
            made = door(text, MethodChoice("contributions"))
            said = made.attribution
            assert said is not None
            assert [len(side) for side in said.values] == [0]
            assert said.start == pytest.approx(said.whole)
            assert "There are no words; the base is what the log-odds of" in made.to_text()
            assert "There are no words" in render_html(made)


def test_unknown_words_are_called_so_and_long_texts_cut(doors: dict[str, Door], model: Path) -> None:
    for door in doors.values():
        unknown = door("xqzv wwqk", MethodChoice("contributions"))
        assert "unknown to the model: xqzv, wwqk" in unknown.to_text()
        assert unknown.attribution is not None
        assert abs(unknown.attribution.gap) < 1e-6
        long = door(LONG, MethodChoice("contributions"))
        cut = "cut: only the first 400 words were read" in long.to_text()
        assert cut == (model.name == "network")  # linear parts read all 5,000
        assert long.attribution is not None
        assert abs(long.attribution.gap) < 1e-6


def test_what_the_model_does_not_have_is_refused(doors: dict[str, Door], model: Path) -> None:
    for name, door in doors.items():
        with pytest.raises(UsageError, match="there is no class 'nonsense'; valid: neg, pos"):
            door("a film", MethodChoice("contributions", why="nonsense"))
        refusal = (
            "needs torch"
            if name == "runtime"
            else "no explanation by gradient; choose contributions, occlusion or shapley"
        )
        if name == "runtime" or model.name == "parts":
            with pytest.raises(UsageError, match=refusal):
                door("a film", MethodChoice("gradient"))
        else:
            made = door("a film", MethodChoice("gradient"))
            assert "base, zero vectors" in made.to_text()


def test_the_command_line_says_it_in_one_line(model: Path) -> None:
    for arguments, said in (
        (["--why", "nonsense"], "there is no class 'nonsense'"),
        (["--method", "gradent"], "'gradient'"),
        *([(["--method", "gradient"], "no explanation by gradient")] if model.name == "parts" else []),
    ):
        result = tiny.run("explain", model, "a film", *arguments)
        assert result.code == 2
        assert said in result.err
        assert len(re.findall(r"^heedful: ", result.err, re.MULTILINE)) == 1
        assert result.out == ""
