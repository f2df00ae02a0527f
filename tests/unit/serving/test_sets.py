"""Sets and intervals with a promise over HTTP: those of the command, typed, and refused in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heedful import TextClassifier, TextScorer
from heedful.model.decisions import Wish
from heedful.runtime import load
from served import InProcess, in_process, save_model
from tiny import texts

pytest.importorskip("starlette")
pytest.importorskip("httptools")
FEW = {"text__vectors": "", "model__sentence": "none", "threads": 1}
NEW = ["a lovely film", "the awful song is fine", "nothing known", ""]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root, rows = tmp_path_factory.mktemp("sets"), texts()[:120]
    wrong = {"pos": "neg", "neg": "pos"}  # every seventh label, so that sets of two are needed
    labels = [wrong[label] if k % 7 == 0 else label for k, (_, label) in enumerate(rows)]
    written = [text for text, _ in rows]
    TextClassifier(**FEW).fit(written, labels, baseline=False).save_pretrained(root / "classes")
    TextScorer(**FEW).fit(written, [float(len(text)) for text in written], baseline=False).save_pretrained(
        root / "numbers"
    )
    save_model(root / "bare")
    save_model(root / "tags", task="tags", seed=4)
    return {name: root / name for name in ("classes", "numbers", "bare", "tags")}


@pytest.fixture(scope="module")
def app(folders: dict[str, Path]) -> Iterator[InProcess]:
    with in_process(folders) as found:
        yield found


@pytest.mark.parametrize(
    ("asked", "wish"),
    [
        ({"coverage": 0.9}, Wish(0.9)),
        ({"coverage": 0.95, "sets": "lac", "by_class": False}, Wish(0.95)),
        ({"coverage": 0.9, "sets": "raps", "by_class": True}, Wish(0.9, "raps", by_class=True)),
        ({"coverage": 0.6, "sets": "aps"}, Wish(0.6, "aps")),
    ],
)
def test_sets_are_those_of_the_model(
    app: InProcess, folders: dict[str, Path], asked: dict[str, Any], wish: Wish
) -> None:
    model = load(folders["classes"]).promising(wish)
    body = app.ask("/v1/predict", {"model": "classes", "texts": NEW, **asked}).json()
    expected = [json.loads(json.dumps(answer.as_dict())) for answer in model.predict(NEW)]
    assert [{k: v for k, v in answer.items() if k != "row"} for answer in body["answers"]] == expected
    assert all(answer["prediction_set"] for answer in body["answers"])
    assert model.promise is not None
    assert body["promise"] == model.promise.sentence()
    assert "exchangeable rows" in body["promise"]


def test_numbers_have_intervals(app: InProcess, folders: dict[str, Path]) -> None:
    body = app.ask("/v1/predict", {"model": "numbers", "texts": NEW, "coverage": 0.8}).json()
    expected = [list(each.interval) for each in load(folders["numbers"]).promising(Wish(0.8)).predict(NEW)]
    assert [answer["interval"] for answer in body["answers"]] == expected


def test_requests_of_other_coverage_are_answered_together(app: InProcess) -> None:
    """Each gets its own sets, and one that asked for none has none."""
    shares = [0.3, 0.97, None] * 10
    bodies = [
        {"model": "classes", "texts": NEW, **({"coverage": share} if share else {})} for share in shares
    ]
    replies = app.ask_all([("/v1/predict", body, None, "") for body in bodies])
    sizes: dict[float | None, set[int]] = {}
    for share, reply in zip(shares, replies, strict=True):
        sets = [answer.get("prediction_set", ()) for answer in reply.json()["answers"]]
        sizes.setdefault(share, set()).add(sum(map(len, sets)))
        assert ("promise" in reply.json()) == (share is not None)
    assert sizes[None] == {0}
    assert len(sizes[0.3]) == len(sizes[0.97]) == 1
    assert min(sizes[0.3]) < min(sizes[0.97])


def test_lines_have_the_promise_in_a_header(app: InProcess) -> None:
    asked = {"model": "classes", "texts": NEW}
    accept = {"accept": "application/x-ndjson"}
    reply = app.ask("/v1/predict", {**asked, "coverage": 0.9}, accept)
    assert all(json.loads(line)["prediction_set"] for line in reply.body.splitlines())
    assert "a share of about 0.9 of new texts" in reply.headers["heedful-promise"]
    assert "heedful-promise" not in app.ask("/v1/predict", asked, accept).headers


@pytest.mark.parametrize(
    ("asked", "field", "said"),
    [
        ({"coverage": 0}, "coverage", "above 0 and below 1"),
        ({"coverage": 1}, "coverage", "above 0 and below 1"),
        ({"coverage": 1.0}, "coverage", "above 0 and below 1"),
        ({"coverage": -1e300}, "coverage", "above 0 and below 1"),
        ({"coverage": 10**400}, "coverage", "above 0 and below 1"),
        ({"coverage": True}, "coverage", "got true or false"),
        ({"coverage": "0.9"}, "coverage", "got a string"),
        ({"coverage": None}, "coverage", "got null"),
        ({"coverage": 0.9999}, "coverage", "takes at least 9,999 rows"),
        ({"coverage": 0.9, "sets": "lax"}, "sets", "did you mean 'lac'"),
        ({"coverage": 0.9, "sets": 3}, "sets", "expected lac, aps, raps; got a number"),
        ({"coverage": 0.9, "sets": ["lac"]}, "sets", "got a list"),
        ({"coverage": 0.9, "by_class": 1}, "by_class", "expected true or false"),
        ({"sets": "aps"}, "sets", 'add "coverage"'),
        ({"by_class": True}, "by_class", 'add "coverage"'),
        ({"coverag": 0.9}, "coverag", "did you mean 'coverage'"),
        ({"model": "numbers", "coverage": 0.9, "by_class": True}, "coverage", "are for classes"),
        ({"model": "bare", "coverage": 0.9}, "coverage", "keeps no scores"),
        ({"model": "tags", "coverage": 0.9}, "coverage", "have no sets with a promise"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(
    app: InProcess, asked: dict[str, Any], field: str, said: str
) -> None:
    reply = app.ask("/v1/predict", {"model": "classes", "texts": NEW, **asked})
    assert (reply.status, reply.field) == (422, field)
    message = reply.json()["error"]["message"]
    assert said in message
    assert "\n" not in message
    assert not message.endswith("..")


def test_coverage_is_for_answers_alone(app: InProcess) -> None:
    assert app.ask("/v1/encode", {"model": "classes", "texts": NEW, "coverage": 0.9}).field == "coverage"


def test_it_is_as_it_is_described(app: InProcess) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    described = app.ask("/openapi.json").json()
    operation = described["paths"]["/v1/predict"]["post"]
    body = jsonschema.Draft202012Validator(operation["requestBody"]["content"]["application/json"]["schema"])
    taken = {"model": "classes", "texts": NEW, "coverage": 0.9, "sets": "aps", "by_class": True}
    body.validate(taken)
    for wrong in ({"coverage": 1}, {"coverage": 0}, {"sets": "all"}, {"by_class": "yes"}, {"cover": 0.9}):
        assert not body.is_valid({**taken, **wrong})
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    answers = jsonschema.Draft202012Validator({**schema, "components": described["components"]})
    given = app.ask("/v1/predict", taken).json()
    answers.validate(given)
    assert not answers.is_valid({**given, "promise": 1})
