"""What the server answers, whatever it is asked: results, limits and refusals, without a socket."""

from __future__ import annotations

import base64
import errno
import itertools
import json
import random
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heedful.runtime
import tiny
from described import NOT_YET
from heedful.errors import OutputError, UsageError
from heedful.explain.methods import MethodChoice
from heedful.machine.canceling import in_steps
from heedful.serving import Bounds, ServedModel, open_served
from heedful.serving.bodies import model_name
from heedful.serving.request_limits import Refused
from heedful.text.characters import json_line
from served import WORDS, InProcess, in_process, save_model
from waiting import PATIENCE, until

pytest.importorskip("starlette")
pytest.importorskip("httptools")
TEXTS = ["the film was superb .", "", "dull", "not a story , é and 🙂", "the the the"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("served")
    return {
        "texts": save_model(root / "texts", max_tokens=20),
        "pairs": save_model(root / "pairs", task="pair", seed=1),
        "grades": save_model(root / "grades", task="relatedness", seed=2),
    }


@pytest.fixture(scope="module")
def app(folders: dict[str, Path]) -> Iterator[InProcess]:
    with in_process(folders) as found:
        yield found


def lines_of(folder: Path, requests: list[Any]) -> list[str]:
    """Return the lines that the model prints for requests, each in a file of its own."""
    model = heedful.runtime.load(folder)
    return [json_line({"row": 1, **next(model.predict([each])).as_dict()}) for each in requests]


def test_a_model_of_no_name_is_told_what_a_name_is() -> None:
    assert model_name({}, ["one"]) == "one"
    with pytest.raises(Refused, match="expected a string, got null; the models are one"):
        model_name({"model": None}, ["one"])
    with pytest.raises(Refused, match="several models are served"):
        model_name({}, ["one", "two"])


def test_answers_are_the_lines_of_the_model(app: InProcess, folders: dict[str, Path]) -> None:
    reply = app.ask("/v1/predict", {"model": "texts", "texts": TEXTS})
    expected = [
        line.replace('"row": 1,', f'"row": {row},') for row, line in numbered(folders["texts"], TEXTS)
    ]
    assert reply.body.decode() == f'{{"model": "texts", "answers": [{", ".join(expected)}]}}'
    bare = app.ask("/v1/predict", {"model": "texts", "texts": TEXTS}, {"accept": "application/x-ndjson"})
    assert bare.body.decode() == "".join(f"{line}\n" for line in expected)


def numbered(folder: Path, requests: list[Any]) -> Iterator[tuple[int, str]]:
    return enumerate(lines_of(folder, requests), start=1)


@pytest.mark.parametrize("name", ["pairs", "grades"])
def test_pairs(app: InProcess, folders: dict[str, Path], name: str) -> None:
    pairs = [("the film was dull", "a superb story"), ("", "not")]
    reply = app.ask("/v1/predict", {"model": name, "pairs": pairs})
    found = [{**answer, "row": 1} for answer in reply.json()["answers"]]
    assert found == [json.loads(line) for line in lines_of(folders[name], pairs)]


def test_company_changes_no_byte(app: InProcess, folders: dict[str, Path]) -> None:
    draw = random.Random(3)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 15))) for _ in range(300)]
    lines = {"accept": "application/x-ndjson"}
    asked = [("/v1/predict", {"model": "texts", "texts": [text]}, lines, "") for text in texts]
    long = ("/v1/predict", {"model": "texts", "texts": texts}, lines, "")
    first, *replies = app.ask_all([long, *asked])
    assert [reply.body.decode() for reply in replies] == [
        f"{each}\n" for each in lines_of(folders["texts"], texts)
    ]
    assert len(first.body.splitlines()) == len(texts)


def test_vectors(app: InProcess, folders: dict[str, Path], tmp_path: Path) -> None:
    vectors = heedful.runtime.load(folders["pairs"]).encode(TEXTS)
    expected = [[round(float(x), 6) for x in vector] for vector in vectors]
    assert app.ask("/v1/encode", {"model": "pairs", "texts": TEXTS}).json()["vectors"] == expected
    plain = app.ask("/v1/embeddings", {"model": "pairs", "input": TEXTS}).json()
    assert [item["embedding"] for item in plain["data"]] == expected
    assert [item["index"] for item in plain["data"]] == list(range(len(TEXTS)))
    tokens = sum(sum(answer.tokens) for answer in heedful.runtime.load(folders["texts"]).predict(TEXTS))
    assert plain["usage"] == {"prompt_tokens": tokens, "total_tokens": tokens}
    packed = app.ask(
        "/v1/embeddings", {"model": "pairs", "input": TEXTS[0], "encoding_format": "base64"}
    ).json()
    numbers = np.frombuffer(base64.b64decode(packed["data"][0]["embedding"]), "<f4")
    np.testing.assert_array_equal(numbers, np.array(expected[0], np.float32))


def test_explanations_are_those_of_the_command(app: InProcess, folders: dict[str, Path]) -> None:
    body = app.ask("/v1/explain", {"model": "texts", "text": TEXTS[0], "page": True}).json()
    told = tiny.run("explain", folders["texts"], "--text", TEXTS[0], "--json")
    assert json_line(body["explanation"]) + "\n" == told.out
    assert body["page"].startswith("<!DOCTYPE html>")
    pair = app.ask("/v1/explain", {"model": "pairs", "pair": ["a film", "the story"]}).json()
    assert "page" not in pair
    assert [side["name"] for side in pair["explanation"]["sides"]] == ["premise", "hypothesis"]


def test_single_features_of_a_word(app: InProcess) -> None:
    asked = {"model": "texts", "text": "the film was superb", "page": True}
    body = app.ask("/v1/explain", {**asked, "features_of": "film"}).json()
    features = body["explanation"]["features"]
    assert (features["word"], features["places"]) == ("film", [1])
    assert "“film”, feature by feature" in body["page"]
    pair = {"model": "pairs", "pair": ["a film was dull", "the film"], "features_of": "film"}
    assert app.ask("/v1/explain", pair).json()["explanation"]["features"]["places"] == [1, 1]
    plain = app.ask("/v1/explain", asked).json()
    assert plain["explanation"]["features"] is None
    assert app.ask("/v1/explain", {**asked, "policy": True}).field == "policy", "DiSAN has none"
    assert app.ask("/v1/explain", {**asked, "policy": "yes"}).field == "policy"
    for wrong in ("story", 3):
        reply = app.ask("/v1/explain", {**asked, "features_of": wrong})
        assert (reply.status, reply.field) == (422, "features_of")


LONG = " ".join(["film"] * 21)
WRONG: list[tuple[str, Any, int, str]] = [
    ("/v1/predict", {"model": "texts", "texts": []}, 422, "texts"),
    ("/v1/predict", {"model": "texts", "texts": "one"}, 422, "texts"),
    ("/v1/predict", {"model": "texts", "texts": ["a", None]}, 422, "texts[1]"),
    ("/v1/predict", {"model": "texts", "texts": ["\ud800"]}, 422, "texts[0]"),
    ("/v1/predict", {"model": "texts", "texts": ["a"] * 1_025}, 422, "texts"),
    ("/v1/predict", {"model": "texts", "texts": ["film", LONG, "film"]}, 422, "texts[1]"),
    ("/v1/predict", {"model": "texts", "text": "one"}, 422, "text"),
    ("/v1/predict", {"model": "texts"}, 422, "texts"),
    ("/v1/predict", {"texts": ["a"]}, 422, "model"),
    ("/v1/predict", {"model": 3, "texts": ["a"]}, 422, "model"),
    ("/v1/predict", {"model": "../texts", "texts": ["a"]}, 404, "model"),
    ("/v1/predict", {"model": "pairs", "texts": ["a"]}, 422, "texts"),
    ("/v1/predict", {"model": "pairs", "pairs": [["a", "b"], ["a"]]}, 422, "pairs[1]"),
    ("/v1/predict", {"model": "pairs", "pairs": [["a", 2]]}, 422, "pairs[0][1]"),
    ("/v1/predict", [], 422, "body"),
    ("/v1/predict", b"", 422, "body"),
    ("/v1/predict", b"{", 422, "body"),
    ("/v1/predict", b"\xff\xfe", 422, "body"),
    ("/v1/predict", b"[" * 100_000, 422, "body"),
    ("/v1/predict", b'{"texts": [' + b"9" * 5_000 + b"]}", 422, "body"),
    ("/v1/predict", b'{"texts": ["a"], "texts": ["b"]}', 422, "body"),
    ("/v1/predict", b'{"texts": [NaN]}', 422, "body"),
    ("/v1/predict", b" " * (1 << 20) + b"{}", 413, "body"),
    ("/v1/encode", {"model": "texts", "texts": [LONG]}, 422, "texts[0]"),
    ("/v1/explain", {"model": "texts", "text": LONG}, 422, "text"),
    ("/v1/explain", {"model": "texts", "text": "a", "page": 1}, 422, "page"),
    ("/v1/explain", {"model": "pairs", "pair": "ab"}, 422, "pair"),
    ("/v1/embeddings", {"model": "texts", "input": [[1, 2]]}, 422, "input[0]"),
    ("/v1/embeddings", {"model": "texts"}, 422, "input"),
    ("/v1/embeddings", {"model": "texts", "input": "a", "encoding_format": "int8"}, 422, "encoding_format"),
    ("/v1/embeddings", {"model": "texts", "input": "a", "dimensions": 3}, 422, "dimensions"),
    ("/v2/predict", {"texts": ["a"]}, 404, "path"),
]


@pytest.mark.parametrize(("path", "body", "status", "field"), WRONG)
def test_a_mistake_gets_its_status_and_its_field(
    app: InProcess, path: str, body: Any, status: int, field: str
) -> None:
    reply = app.ask(path, body)
    assert (reply.status, reply.field) == (status, field)
    assert reply.json()["error"]["status"] == status


@pytest.mark.parametrize(
    ("headers", "method", "status", "field"),
    [
        ({"content-type": "text/plain"}, "POST", 415, "content-type"),
        ({}, "GET", 405, "method"),
        ({}, "BREW", 405, "method"),
    ],
)
def test_a_mistake_in_the_head(
    app: InProcess, headers: dict[str, str], method: str, status: int, field: str
) -> None:
    reply = app.ask("/v1/predict", {"texts": ["a"]}, headers, method)
    assert (reply.status, reply.field) == (status, field)


def test_a_refused_text_is_not_in_the_message_of_another(app: InProcess) -> None:
    asked = [
        ("/v1/predict", {"model": "texts", "texts": [text]}, None, "") for text in ("film", LONG, "dull")
    ]
    assert [reply.status for reply in app.ask_all(asked)] == [200, 422, 200]


JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "model",
        "texts",
        "pairs",
        "text",
        "pair",
        "input",
        "page",
        "features_of",
        "policy",
        "encoding_format",
        "user",
    ]
)
PATHS = st.sampled_from(["/v1/predict", "/v1/encode", "/v1/explain", "/v1/embeddings"])


@settings(max_examples=300, deadline=None)
@given(path=PATHS, value=st.dictionaries(FIELDS, JUNK | st.sampled_from(["texts", "pairs"]), max_size=4))
def test_no_body_makes_the_server_fail(app: InProcess, path: str, value: dict[str, Any]) -> None:
    reply = app.ask(path, value)
    assert reply.status < 500
    assert reply.status == 200 or reply.field


def test_the_key(folders: dict[str, Path]) -> None:
    from heedful.serving.app import Access

    with in_process({"one": folders["texts"]}, access=Access(b"a-key-of-24-characters..")) as app:
        body = {"texts": ["film"]}
        right = {"authorization": "Bearer a-key-of-24-characters.."}
        assert app.ask("/v1/predict", body).status == 401
        for wrong in ("Bearer a-key-of-24-characters.", "Basic a-key-of-24-characters..", "Bearer é", ""):
            assert app.ask("/v1/predict", body, {"authorization": wrong}).field == "authorization"
        assert app.ask("/v1/predict", body, right).status == 200
        assert app.ask("/metrics").status == 401
        assert app.ask("/health/ready").status == 200
        assert "security" in app.ask("/openapi.json", None, right).json()


def test_other_names_of_the_server(folders: dict[str, Path]) -> None:
    from heedful.serving.app import Access

    with in_process({"one": folders["texts"]}, access=Access(hosts=frozenset({"localhost", "::1"}))) as app:
        for name, status in (
            ("localhost:8000", 200),
            ("[::1]:80", 200),
            ("LOCALHOST", 200),
            ("evil.example", 421),
            ("localhost:port", 400),
            ("local host", 400),
            ("user@localhost", 400),
            ("[::1", 400),
        ):
            assert app.ask("/health/live", None, {"host": name}).status == status, name


def test_health_metrics_and_description(app: InProcess) -> None:
    assert app.ask("/health/live").json() == {"status": "live"}
    assert app.ask("/health/ready").json()["models"] == ["texts", "pairs", "grades"]
    models = app.ask("/v1/models").json()["data"]
    assert [(model["id"], model["pair"], model["computed_by"]) for model in models] == [
        ("texts", False, "runtime"),
        ("pairs", True, "runtime"),
        ("grades", True, "runtime"),
    ]
    before = counted(app, 'heedful_unknown_words_total{model="texts"}')
    app.ask("/v1/predict", {"model": "texts", "texts": ["quux film"]})
    assert counted(app, 'heedful_unknown_words_total{model="texts"}') == before + 1
    asked, computed = (
        counted(app, f'heedful_words_{each}_total{{model="texts"}}') for each in ("asked", "computed")
    )
    app.ask("/v1/predict", {"model": "texts", "texts": ["quux film"]})
    assert counted(app, 'heedful_words_asked_total{model="texts"}') == asked + 2
    assert counted(app, 'heedful_words_computed_total{model="texts"}') == computed
    assert counted(app, 'heedful_words_kept{model="texts"}') == computed
    described = app.ask("/openapi.json").json()["paths"]
    for path, ways in described.items():
        for way in ways:
            assert app.ask(path, {} if way == "post" else None).status in (200, 422), path


def counted(app: InProcess, name: str) -> float:
    found = [line for line in app.ask("/metrics").body.decode().splitlines() if line.startswith(name)]
    return float(found[0].rpartition(" ")[2]) if found else 0.0


def test_every_answer_forbids_scripts_of_others(app: InProcess) -> None:
    for path in ("/", "/playground.js", "/playground.css", "/health/live", "/nothing"):
        policy = app.ask(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    page = app.ask("/").body.decode()
    assert "<script>" not in page
    assert "style=" not in page
    assert "//" not in page.replace("<!DOCTYPE", "")


class Slow:
    """An engine that waits until it is let go."""

    task, is_pair, max_tokens, kind, together = "text", False, 9, "runtime", 64
    word_counts = columns = None
    with_policy = with_features = None

    def __init__(self) -> None:
        self.go, self.begun = threading.Event(), threading.Event()
        self.each: Callable[[list[str]], object] = len
        self.explained, self.answers_of_words = 0, iter(())

    def answers(self, requests: list[str]) -> list[Any]:
        self.begun.set()
        assert self.go.wait(PATIENCE)
        self.each(requests)
        if "bad" in requests:
            raise ValueError("a secret of the text")
        return [Said(text) for text in requests]

    def explain(self, request: str, choice: object = None, tree: object = None) -> Said:
        self.explained += 1
        self.begun.set()
        for _ in self.answers_of_words:
            pass
        assert self.go.wait(PATIENCE)
        return Said(request)


class Said:
    def __init__(self, text: str) -> None:
        self.text = text

    def as_dict(self) -> dict[str, str]:
        return {"text": self.text}

    def to_dict(self) -> dict[str, str]:
        return {"text": self.text}


def ask_in_thread(app: InProcess, asked: list[Any], found: list[Any]) -> threading.Thread:
    thread = threading.Thread(target=lambda: found.extend(app.ask_all(asked)))
    thread.start()
    return thread


def test_too_many_texts_wait_and_too_long(tmp_path: Path) -> None:
    engine = Slow()
    with in_process({"one": tmp_path}, bounds=Bounds(queue=3), open_folder=lambda _: engine) as app:
        app.app.bounds = Bounds(queue=3, seconds=PATIENCE)
        first, waiting = list[Any](), list[Any]()
        threads = [ask_in_thread(app, [("/v1/predict", {"texts": ["a"]}, None, "")], first)]
        assert engine.begun.wait(PATIENCE)
        threads.append(ask_in_thread(app, [("/v1/predict", {"texts": ["b", "c", "d"]}, None, "")], waiting))
        until(lambda: counted(app, 'heedful_waiting_texts{model="one"}') == 3)
        full = app.ask("/v1/predict", {"texts": ["e"]})
        assert (full.status, full.headers["retry-after"]) == (429, "1")
        engine.go.set()
        for thread in threads:
            thread.join()
        assert [reply.status for reply in (*first, *waiting)] == [200, 200]
        engine.go.clear()
        app.app.bounds = Bounds(seconds=0.2)
        assert app.ask("/v1/predict", {"texts": ["f"]}).status == 504
        engine.go.set()
        app.app.bounds = Bounds(seconds=PATIENCE)
        assert app.ask("/v1/predict", {"texts": ["f"]}).status == 200


def test_a_long_request_holds_up_no_short_one(tmp_path: Path) -> None:
    engine = Slow()
    with in_process({"one": tmp_path}, open_folder=lambda _: engine) as app:
        long, short, ended = list[Any](), list[Any](), list[str]()
        first = ask_in_thread(app, [("/v1/predict", {"texts": ["a"] * 1_000}, None, "")], long)
        assert engine.begun.wait(PATIENCE)
        engine.each = lambda texts: ended.append("short" if "b" in texts else "long")
        second = ask_in_thread(app, [("/v1/predict", {"texts": ["b"]}, None, "")], short)
        until(
            lambda: counted(app, 'heedful_waiting_texts{model="one"}') == 985
        )  # all but the 16 of the first turn
        engine.go.set()
        first.join()
        second.join()
    assert ended.index("short") <= 1
    assert [reply.status for reply in (*long, *short)] == [200, 200]


def test_an_explanation_that_nobody_waits_for_is_not_begun(tmp_path: Path) -> None:
    engine = Slow()
    with in_process({"one": tmp_path}, open_folder=lambda _: engine) as app:
        asked, found = ("/v1/explain", {"text": "film"}, None, ""), list[Any]()
        first = ask_in_thread(app, [asked], found)
        assert engine.begun.wait(PATIENCE)
        app.leaves = True
        app.ask_all([asked] * 5)
        app.leaves = False
        engine.go.set()
        first.join()
        assert [reply.status for reply in found] == [200]
        app.ask("/v1/explain", {"text": "film"})
        assert engine.explained == 2
        assert counted(app, 'heedful_requests_total{endpoint="/v1/explain",status="499"}') == 5


def test_an_explanation_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    """The first one would go on for ever; nobody waits for it after the time of a request."""
    engine = Slow()
    engine.go.set()
    with in_process({"one": tmp_path}, bounds=Bounds(seconds=0.5), open_folder=lambda _: engine) as app:
        engine.answers_of_words = in_steps(itertools.repeat(0.5))
        assert app.ask("/v1/explain", {"text": "film"}).status == 504
        until(lambda: not app.app.is_explaining)
        engine.answers_of_words = iter(())
        assert until(lambda: app.ask("/v1/explain", {"text": "film"}).status == 200)


def fails_once(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is short of memory at its first call."""
    calls = iter([1])

    def fails(*given: Any) -> Any:
        if next(calls, None):
            raise MemoryError
        return real(*given)

    return fails


def test_an_error_that_no_request_has_caused_ends_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short of memory, the thread that answers fails at any place; the requests get 503, and it goes on."""
    engine = Slow()
    engine.go.set()
    with in_process({"one": tmp_path}, open_folder=lambda _: engine) as app:
        batcher = app.app._shelf.models["one"].batcher
        for place in ("_take", "_answer", "_hand_over"):
            with monkeypatch.context() as patch:
                patch.setattr(batcher, place, fails_once(getattr(batcher, place)))
                assert app.ask("/v1/predict", {"texts": ["a"]}).status == 503, place
            assert app.ask("/v1/predict", {"texts": ["a"]}).status == 200, place
        until(
            lambda: (batcher.waiting, batcher.turn, len(batcher._asked)) == (0, None, 0)
        )  # it answers, then rests


def test_a_thread_that_has_ended_or_hangs_makes_the_server_unready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from heedful.serving import watchdog

    engine, ended = Slow(), list[int]()
    monkeypatch.setattr(watchdog.os, "_exit", ended.append)
    with in_process({"one": tmp_path}, open_folder=lambda _: engine) as app:
        shelf, found = app.app._shelf, list[Any]()
        alone, worker = (
            watchdog.Watchdog(app.app, shelf, app.log.append, worker=each) for each in (False, True)
        )
        alone._patience = worker._patience = 0.0
        alone.look()
        assert app.ask("/health/ready").status == 200
        thread = ask_in_thread(app, [("/v1/predict", {"texts": ["a"]}, None, "")], found)
        assert engine.begun.wait(PATIENCE)
        alone.look()
        alone.look()
        assert (app.ask("/health/ready").status, ended) == (503, [])
        assert "the thread that answers for the model 'one' hangs" in app.log
        worker.look()
        worker.look()
        assert ended == [70]
        engine.go.set()
        thread.join()
        until(lambda: shelf.models["one"].batcher.turn is None)
        alone.look()
        assert app.ask("/health/ready").status == 200
        shelf.models["one"].batcher.close()
        alone.look()
        assert app.ask("/health/ready").status == 503
        app.app.ticks = 1
        alone.look()
        alone.look()
        assert ended == [70, 70], "the loop that speaks with clients does not move"


def test_what_takes_torch_is_refused_without_it_and_names_no_folder_of_the_server(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = open_served(folders["texts"])
    monkeypatch.setitem(sys.modules, "torch", None)
    shown = served.explain("film")
    for ask in (
        lambda: served.explain("film", MethodChoice("gradient")),
        lambda: served.with_features(shown, "film"),
        lambda: served.with_policy(shown),
    ):
        with pytest.raises(UsageError, match=r"^this needs torch, which this server does not have$"):
            ask()


def test_a_copy_that_was_swept_is_made_again(folders: dict[str, Path], tmp_path: Path) -> None:
    place = tmp_path / "model"
    shutil.copytree(folders["texts"], place)
    engine = open_served(place)
    shutil.rmtree(engine._copy)
    assert engine.by_torch.answer(["film"])
    engine = open_served(place)
    shutil.rmtree(engine._copy)
    shutil.rmtree(place)
    shutil.copytree(folders["pairs"], place)
    with pytest.raises(OutputError, match="holds another model by now"):
        engine.by_torch.answer(["film"])


def test_a_new_folder_that_cannot_be_read_for_now_is_tried_again(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "model"
    save_model(place, seed=8)
    with in_process({"one": place}) as app:
        shelf, real = app.app._shelf, app.app._shelf._open_folder
        old = app.ask("/v1/predict", {"texts": TEXTS}).body
        save_model(place, seed=9)

        def full(folder: Path) -> ServedModel:
            try:
                raise OSError(errno.ENOSPC, "No space left on device")
            except OSError as error:
                raise OutputError(f"{folder}: cannot be copied") from error

        monkeypatch.setattr("heedful.serving.model_store.LOOK", 0.0)
        shelf._open_folder = full
        for _ in range(4):
            shelf.look()
        assert app.ask("/v1/predict", {"texts": TEXTS}).body == old
        assert sum("cannot be read now, next try in" in line for line in app.log) == 3
        shelf._open_folder = real
        shelf.look()
        assert app.ask("/v1/predict", {"texts": TEXTS}).body != old


def test_too_many_connections(folders: dict[str, Path]) -> None:
    with in_process({"one": folders["texts"]}) as app:
        app.app.connections = lambda: 4_097
        reply = app.ask("/v1/predict", {"texts": ["film"]})
        assert (reply.status, reply.field) == (503, "server")
        app.app.connections, app.app.draining = lambda: 1, True
        assert app.ask("/health/ready").status == 503
        assert app.ask("/v1/predict", {"texts": ["film"]}).status == 200


def test_a_mistake_of_the_server_tells_no_text(tmp_path: Path) -> None:
    engine = Slow()
    engine.go.set()
    with in_process({"one": tmp_path}, open_folder=lambda _: engine) as app:
        replies = app.ask_all(
            [("/v1/predict", {"texts": [text]}, None, "") for text in ("good", "bad", "fine")]
        )
        assert [reply.status for reply in replies] == [200, 500, 200]
        assert app.log
        assert not any("secret" in line or "bad" in line for line in app.log)
        assert b"secret" not in replies[1].body


def test_a_new_folder_is_taken_up_and_a_damaged_one_is_not(folders: dict[str, Path], tmp_path: Path) -> None:
    place, other = tmp_path / "model", folders["texts"]
    save_model(place, seed=8)
    with in_process({"one": place}) as app:
        shelf = app.app._shelf
        old = app.ask("/v1/predict", {"texts": TEXTS}).body
        shelf.look()
        save_model(place, seed=9)
        shelf.look()  # changed: looked at once more before it is read
        assert app.ask("/v1/predict", {"texts": TEXTS}).body == old
        shelf.look()
        new = app.ask("/v1/predict", {"texts": TEXTS}).body
        assert new != old
        (place / "weights.safetensors").write_bytes(b"x" * 10_000)
        for _ in range(3):
            shelf.look()
        assert app.ask("/v1/predict", {"texts": TEXTS}).body == new
        assert app.ask("/v1/explain", {"text": "film"}).status == 200  # of the copy that is served
        save_model(place, task="pair")
        for _ in range(3):
            shelf.look()
        assert app.ask("/v1/predict", {"texts": TEXTS}).body == new
        shutil.rmtree(place)
        for _ in range(3):
            shelf.look()
        assert app.ask("/v1/predict", {"texts": TEXTS}).body == new
        shutil.copytree(other, place)
        for _ in range(3):
            shelf.look()
        assert app.ask("/v1/predict", {"texts": TEXTS}).body not in (new, old)
        assert counted(app, 'heedful_loads_total{model="one",result="refused"}') == 3
        assert counted(app, 'heedful_loads_total{model="one",result="served"}') == 2


def test_what_the_runtime_cannot_run_is_answered_by_torch(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "model", encoder=min(NOT_YET), max_tokens=20)
    with in_process({"one": folder}) as app:
        assert app.ask("/v1/models").json()["data"][0]["computed_by"] == "torch"
        texts = [text for text in TEXTS if text]
        alone = [app.ask("/v1/predict", {"texts": [text]}).json()["answers"][0] for text in texts]
        told = [tiny.run("predict", folder, "--text", text, "--json").json() for text in texts]
        assert alone == told
        together = app.ask("/v1/predict", {"texts": texts}).json()["answers"]
        assert [{**answer, "row": 1} for answer in together] == alone
        assert app.ask("/v1/predict", {"texts": ["film", LONG]}).field == "texts[1]"
        assert len(app.ask("/v1/encode", {"texts": texts}).json()["vectors"]) == len(texts)


def test_the_copy_of_a_folder_goes_with_its_engine(folders: dict[str, Path]) -> None:
    engine: ServedModel | None = open_served(folders["texts"])
    assert engine is not None
    copy = engine._copy
    assert copy.is_dir()
    engine = None
    assert not copy.exists()


def test_a_misspelled_field_gets_the_nearest_name_and_one_mark_at_the_end(app: InProcess) -> None:
    reply = app.ask("/v1/predict", {"model": "texts", "text": "one"})
    assert reply.json()["error"]["message"] == "text: there is no such field; did you mean 'texts'?"


def test_a_misspelled_method_is_named_with_the_nearest(app: InProcess) -> None:
    reply = app.ask("/v1/explain", {"model": "texts", "text": "one", "method": "shaply"})
    said = "method: there is no explanation method 'shaply'; did you mean 'shapley'?"
    assert reply.json()["error"]["message"] == said
