"""Whatever has become of the scores that a model keeps: sets stand on them, or are refused in one line."""

from __future__ import annotations

import base64
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedful.runtime
from heedful import LabelColumnsClassifier, MultiLabelClassifier, TextClassifier, TextScorer
from heedful.errors import ArtifactError, HeedfulError
from heedful.model.answers import Answer
from heedful.model.decisions import Promise, Wish, promise_of

TEXTS = [f"{how} {word} {k}" for word in ("goal", "rook", "soup") for how in ("grim", "fine") for k in "abc"]
GOLD: dict[str, Any] = {
    "classes": [text.split()[1] for text in TEXTS],
    "numbers": [float(len(text)) + "abc".index(text[-1]) for text in TEXTS],
    "labels": [[text.split()[1]] for text in TEXTS],
    "columns": [dict(zip(("mood", "what"), text.split(), strict=False)) for text in TEXTS],
}
KINDS: dict[str, Any] = dict(
    zip(GOLD, (TextClassifier, TextScorer, MultiLabelClassifier, LabelColumnsClassifier), strict=True)
)


@pytest.fixture(scope="module", params=GOLD)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp(request.param) / "model"
    made = KINDS[request.param](text__vectors="", model__sentence="none")
    made.fit(TEXTS, GOLD[request.param], baseline=False).save_pretrained(folder)
    return heedful.runtime.load(folder)


def promised(model: Any, change: dict[str, Any]) -> Promise:
    kept = model.metrics["out_of_fold"]
    metrics = {**model.metrics, "out_of_fold": {**kept, **change}}
    return promise_of(metrics, model.decision, model.kind, Wish(0.7))


def packed(values: Any) -> str:
    return base64.b64encode(np.asarray(values, "<f2").tobytes()).decode()


def test_scores_of_another_model_are_refused(model: Any) -> None:
    assert promised(model, {}).rows == len(TEXTS)
    kept = model.metrics["out_of_fold"]
    count, outputs = kept["shape"]
    logits = np.frombuffer(base64.b64decode(kept["logits"]), "<f2").copy()
    logits[1] = np.nan
    wrong: list[dict[str, Any]] = [
        {"logits": packed(logits)},
        {"gold": [[[0]]] * count},
        {"gold": [[0] * (outputs + 1)] * count},
        {"gold": [float("inf")] * count},
        {"rows": [1]},
        {"rows": [-5] * count},
        {"shape": [-1, outputs]},
    ]
    if isinstance(kept["gold"][0], list):
        wrong += [{"gold": [[2] * outputs] * count}, {"gold": [0] * count}]
    elif outputs > 1:
        wrong += [{"gold": [each] * count} for each in (outputs, -1, 0.5)]
        wrong.append({"shape": [count, 1], "logits": packed(np.zeros(count))})
    for change in wrong:
        with pytest.raises(ArtifactError, match="the figures of the model") as refused:
            promised(model, change)
        assert "\n" not in str(refused.value)


def test_random_damage_never_ends_in_another_error(model: Any) -> None:
    draw, kept = random.Random(3), model.metrics["out_of_fold"]
    odd: list[Any] = [
        None,
        True,
        "",
        "ß",
        -1,
        0,
        2**70,
        1e300,
        float("nan"),
        [],
        [[]],
        [[1], [2, 3]],
        {},
        "AAA=",
    ]
    answer = Answer(None, {}, 1.0, (1,), 0, truncated=False, empty=False)
    refused = tried = 0
    for _ in range(300):
        change: dict[str, Any] = {}
        for name in draw.sample([*kept, "weights", "kind"], draw.randint(1, 2)):
            value = kept.get(name, [1.0] * len(TEXTS))
            change[name] = draw.choice(odd)
            if isinstance(value, list) and draw.random() < 0.5:  # one of its items, or another number of them
                change[name] = [*value]
                change[name][draw.randrange(len(value))] = draw.choice(odd)
            elif isinstance(value, list) and draw.random() < 0.3:
                change[name] = value[: draw.randrange(len(value))]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = promised(model, change)
        except HeedfulError as error:
            refused += "\n" not in str(error)
            tried += 1
        else:
            assert not np.isnan(found.limits).any()
            if model.kind.is_score:
                assert np.isfinite(found.add(answer).interval).all()
    assert refused == tried > 100  # each in one line
