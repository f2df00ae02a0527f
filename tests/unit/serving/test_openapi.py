"""The description of the interface: valid, complete, and true of what is answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heedful.serving import Bounds
from served import InProcess, in_process, save_model

pytest.importorskip("starlette")
pytest.importorskip("httptools")
validator = pytest.importorskip("openapi_spec_validator")
jsonschema = pytest.importorskip("jsonschema")
PAIR = ["the film was dull", "a superb story"]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    root = tmp_path_factory.mktemp("described")
    folders = {
        "texts": save_model(root / "texts", max_tokens=20),
        "pairs": save_model(root / "pairs", task="pair", seed=1),
        "grades": save_model(root / "grades", task="relatedness", seed=2),
        "labels": save_model(root / "labels", task="labels", seed=3),
        "tags": save_model(root / "tags", task="tags", seed=4),
    }
    with in_process(folders) as found:
        yield found


@pytest.fixture(scope="module")
def described(app: InProcess) -> Any:
    return app.ask("/openapi.json").json()


def refused(described: Any, path: str, way: str, status: int, value: Any, kind: str = "json") -> str:
    """Return why a value is not what an answer of a status is described as; empty where it is."""
    content = described["paths"][path][way]["responses"][str(status)]["content"]
    schema = {**content[f"application/{kind}"]["schema"], "components": described["components"]}
    errors = jsonschema.Draft202012Validator(schema).iter_errors(value)
    return "; ".join(f"{list(error.absolute_path)}: {error.message[:200]}" for error in errors)


def test_it_is_valid_with_and_without_a_key() -> None:
    from heedful.serving.openapi import document

    for key in (False, True):
        found = json.loads(json.dumps(document(["one"], Bounds(), key=key)))
        validator.validate(found)
        assert found["security"] == ([{"key": []}] if key else [])
        assert found["paths"]["/health/live"]["get"]["security"] == []
        assert ("401" in found["paths"]["/metrics"]["get"]["responses"]) == key


def test_every_operation_has_a_name_of_its_own_and_a_server(described: Any) -> None:
    names = [each["operationId"] for ways in described["paths"].values() for each in ways.values()]
    assert len(set(names)) == len(names) == 10
    assert described["servers"][0]["url"] == "/"


@pytest.mark.parametrize("model", ["texts", "pairs", "grades", "labels", "tags"])
def test_answers_are_as_they_are_described(app: InProcess, described: Any, model: str) -> None:
    pair = model in ("pairs", "grades")
    asked = {"model": model, **({"pairs": [PAIR]} if pair else {"texts": ["the film was dull", ""]})}
    reply = app.ask("/v1/predict", asked)
    assert reply.status == 200, reply.body
    assert not refused(described, "/v1/predict", "post", 200, reply.json())
    lines = app.ask("/v1/predict", asked, {"accept": "application/x-ndjson"}).body.splitlines()
    assert not any(
        refused(described, "/v1/predict", "post", 200, json.loads(line), "x-ndjson") for line in lines
    )
    broken = reply.json()
    del broken["answers"][0]["truncated"]
    assert refused(described, "/v1/predict", "post", 200, broken), "a missing field is seen"


def test_everything_else_is_as_it_is_described(app: InProcess, described: Any) -> None:
    bodies = {
        "/v1/encode": {"model": "texts", "texts": ["a film"]},
        "/v1/embeddings": {"model": "texts", "input": "a film"},
        "/v1/explain": {"model": "pairs", "pair": PAIR},
    }
    for path, ways in described["paths"].items():
        for way, operation in ways.items():
            if "application/json" in operation["responses"]["200"]["content"]:
                reply = app.ask(path, bodies.get(path) or ({"texts": ["a"]} if way == "post" else None))
                status = (
                    422 if path == "/v1/predict" else 200
                )  # several models are served, and none was named
                assert reply.status == status, path
                assert not refused(described, path, way, status, reply.json()), path
    packed = {"model": "texts", "input": "a film", "encoding_format": "base64"}
    reply = app.ask("/v1/embeddings", packed)
    assert not refused(described, "/v1/embeddings", "post", 200, reply.json())


def test_bodies_that_are_described_are_taken_and_others_are_not(app: InProcess, described: Any) -> None:
    body = described["paths"]["/v1/explain"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    check = jsonschema.Draft202012Validator(body)
    for value in ({"model": "texts", "text": "film", "page": True}, {"model": "pairs", "pair": PAIR}):
        check.validate(value)
        assert app.ask("/v1/explain", value).status == 200
    for wrong in (
        {"model": "texts"},
        {"model": "x", "text": "a"},
        {"model": "texts", "text": "a", "pages": True},
    ):
        assert not check.is_valid(wrong)
        assert app.ask("/v1/explain", wrong).status in (404, 422)


def test_a_wrong_method_is_told_the_right_ones(app: InProcess) -> None:
    assert app.ask("/v1/predict", None, None, "GET").headers["allow"] == "POST"
    assert app.ask("/metrics", None, None, "DELETE").headers["allow"] == "GET, HEAD"


def test_counts_are_read_by_parsers(app: InProcess) -> None:
    prometheus = pytest.importorskip("prometheus_client.openmetrics.parser")
    older = pytest.importorskip("prometheus_client.parser")
    app.ask("/v1/predict", {"model": "texts", "texts": ["a film"]})
    for accept in ("", "*/*", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"):
        reply = app.ask("/metrics", None, {"accept": accept} if accept else None)
        assert reply.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        found = {each.name: each for each in prometheus.text_string_to_metric_families(reply.body.decode())}
        assert found["heedful_requests"].type == "counter"
        assert found["heedful_batch_texts"].type == "histogram"
        assert found["heedful_resident_bytes"].samples[0].value > 1e6
    reply = app.ask("/metrics", None, {"accept": "text/plain"})
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = {each.name: each for each in older.text_string_to_metric_families(reply.body.decode())}
    assert found["heedful_requests"].type == "counter"


def test_hosts(app: InProcess) -> None:
    """HTTP/1.1 needs one."""
    assert app.ask_bare([(b"host", b"a"), (b"host", b"a")]).field == "host"
    assert app.ask_bare([]).status == 400
    assert app.ask_bare([], version="1.0").status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json; charset=utf-16"}, 415),
        ({"content-type": 'application/json; charset="UTF-8"'}, 200),
        ({"content-encoding": "gzip"}, 415),
    ],
)
def test_other_media_are_refused(app: InProcess, headers: dict[str, str], status: int) -> None:
    assert app.ask("/v1/predict", {"model": "texts", "texts": ["a"]}, headers).status == status


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_bodies_in_other_encodings_are_refused(app: InProcess, encoding: str) -> None:
    body = json.dumps({"model": "texts", "texts": ["a"]}).encode(encoding)
    assert app.ask("/v1/predict", body).status == 422


def test_pages_of_other_sites_may_ask_if_they_are_named(tmp_path: Path) -> None:
    from heedful.serving.app import Access

    site, other = {"origin": "https://example.org"}, {"origin": "https://evil.example"}
    asks = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    access = Access(b"a-key-of-24-characters..", origins=("https://example.org",))
    folder = save_model(tmp_path / "model")
    with in_process({"one": folder}, access=access) as app:
        before = app.ask("/v1/predict", None, {**site, **asks}, "OPTIONS")
        assert before.status == 200
        assert before.headers["access-control-allow-origin"] == "https://example.org"
        assert "authorization" in before.headers["access-control-allow-headers"].lower()
        key = {"authorization": "Bearer a-key-of-24-characters.."}
        reply = app.ask("/v1/predict", {"texts": ["film"]}, {**site, **key})
        assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, "https://example.org")
        refusal = app.ask("/v1/predict", {"texts": ["film"]}, site)
        assert (refusal.status, refusal.headers["access-control-allow-origin"]) == (
            401,
            "https://example.org",
        )
        assert app.ask("/v1/predict", None, {**other, **asks}, "OPTIONS").status == 400
        reply = app.ask("/v1/predict", {"texts": ["film"]}, {**other, **key})
        assert "access-control-allow-origin" not in reply.headers
    with in_process({"one": folder}) as app:
        assert app.ask("/v1/predict", None, {**site, **asks}, "OPTIONS").status == 405
        assert "access-control-allow-origin" not in app.ask("/health/live", None, site).headers
