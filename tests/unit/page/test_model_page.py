"""The command that writes pages, and what a reader of one meets."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny
from browsing import Opened
from heedful.models import ModelConfig
from heedful.page import javascript, model_page
from heedful.runtime import load
from heedful.runtime.model_parts import NO_PARTS
from heedful.tasks import TextSettings, build_network, load_model, task_named
from heedful.text.unknown_words import NgramRule
from heedful.text.vocabulary import Vocabulary
from heedful.text.wide_part import WIDE, PhraseRule, WidePart
from heedful_lab.repository import page_kernels
from waiting import until
from whole_models import whole

ROOT = Path(__file__).parents[3]
HOSTILE = '<img src=x onerror=alert(1)> </script><script>alert(2)</script> \u202e film & "dull"'
LINEAR = "A linear model of F features of words and characters"
LABELS = ("<b>bad</b>", "</script><script>alert(3)</script>", "good")


def saved(
    path: Path, ngrams: NgramRule | None = None, text: Any = None, lowercase: bool = True, **settings: Any
) -> Path:
    words = ("the", "film", "was", "dull", "</script>")
    vocabulary = Vocabulary(words, extra=("song",), lowercase=lowercase, ngrams=ngrams)
    config = ModelConfig(**{"width": 20, "hidden": 10, "outputs": 3, **settings})
    torch.manual_seed(2)
    rows = None if ngrams is None else torch.randn(ngrams.rows, 20)
    network = build_network(config, torch.randn(7, 20), torch.randn(1, 20), ngrams=rows)
    labels = () if config.task in ("relatedness", "vector") else LABELS
    made = task_named(config.task).model_type(network, config, vocabulary, labels, text or TextSettings())
    made.save(path)
    return path


def exported(tmp_path: Path, **settings: Any) -> Path:
    result = tiny.run("export", saved(tmp_path / "model", **settings), "--page", tmp_path / "model.html")
    assert result.code == 0, result.err
    return tmp_path / "model.html"


def test_the_policy_allows_its_own_script_and_style_alone(tmp_path: Path) -> None:
    content = exported(tmp_path).read_text(encoding="utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', content)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy
    for element in (r'<script type="module">(.*?)</script>', r"<style>(.*?)</style>"):
        (source,) = re.findall(element, content, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.search(r"(?:src|href)=", content.replace("default-src", ""))


@pytest.mark.parametrize(
    ("task", "parts", "why"),
    [("text", ("mean", "states"), True), ("pair", ("states",), True), ("text", ("wide", "mean"), False)],
)
def test_a_large_file_says_what_makes_it_large(
    task: str, parts: tuple[str, ...], why: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, page = whole(tmp_path / "model", task, parts=parts), tmp_path / "model.html"
    assert tiny.run("export", model, "--page", page).err == ""  # it is small
    monkeypatch.setattr(model_page, "LARGE", 1_000)
    for option, target in (("--page", page), ("--javascript", tmp_path / "model.heedful")):
        said = tiny.run("export", model, option, target)
        assert said.err.startswith("Most of it is the sentence encoder" if why else "")
        assert said.err.count("\n") == why


@pytest.mark.parametrize(
    ("encoder", "parts", "said"),
    [
        ("none", ("wide", "mean"), f"{LINEAR} and word vectors, without a network."),
        ("none", ("states",), "A linear model of a sentence encoder, without a network."),
        ("disan", ("wide",), f"DiSAN, 9 words, weights of 0.0 MB. {LINEAR} beside it."),
        ("disan", (), "DiSAN, 9 words, weights of 0.0 MB."),
    ],
)
def test_a_page_says_what_its_model_is(
    encoder: str, parts: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    model = whole(tmp_path / "model", "text", encoder, parts=parts)
    assert tiny.run("export", model, "--javascript", tmp_path / "model.heedful").code == 0
    content = gzip.decompress((tmp_path / "model.heedful").read_bytes())
    head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    facts = json.loads(head["__metadata__"]["model"])["facts"]
    assert re.sub(r"\b\d+ features", "F features", facts) == said


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    first = exported(tmp_path).read_bytes()
    assert exported(tmp_path).read_bytes() == first


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"encoder": "resan"}, "model.encoder"),
        ({"encoder": "disan", "encoder_options": {"masks": ["parent"]}}, "parent"),
    ],
)
def test_what_a_page_lacks_is_named(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    (tmp_path / "model.html").write_text("the old one")
    result = tiny.run("export", saved(tmp_path / "model", **settings), "--page", tmp_path / "model.html")
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert (tmp_path / "model.html").read_text() == "the old one"


@pytest.mark.parametrize("task", ["text", "pair"])
def test_a_wide_part_is_added(task: str, tmp_path: Path, opened: Opened) -> None:
    path = saved(tmp_path / "model", task=task, encoder="embedding")
    made = load_model(path)
    rule = PhraseRule(*WIDE)
    texts = [
        "The film was dull",
        "",
        "film \u00c4 stra\u00dfe \U0001f600\u0130 FILM film",
        "unseen w\u00f6rter " * 30,
        *(
            ["film" * 10_000] if task == "text" else []
        ),  # more runs of characters than a function takes arguments
    ]
    pairs = [(text, other) for text in texts for other in texts[::-1]]
    known = [rule.numbers(each.split(), side) for each in texts[:3] for side in (0, 1)]
    numbers = np.unique(np.concatenate(known))[::2]
    generator = np.random.default_rng(3)
    weights = generator.standard_normal((len(numbers), 3)).astype(np.float32)
    rarity = (1 + generator.random(len(numbers))).astype(np.float32)
    wide = WidePart(rule, numbers, rarity, weights, np.ones(3, np.float32), 0.7)
    made.about, made.text = replace(made.about, wide=wide), replace(made.text, phrases=rule)
    made.save(path)
    for target in (["--page", tmp_path / "model.html"], ["--int8", tmp_path / "small"]):
        assert tiny.run("export", path, *target).code == 0
    asked: list[Any] = [[text] for text in texts] if task == "text" else [list(pair) for pair in pairs]
    page = opened(tmp_path / "model.html")
    found = page.evaluate(
        "async (asked) => { const model = await heedful; return asked.map((each) => model.predict(each).logits); }",
        asked,
    )
    model = load(tmp_path / "small")
    wanted = model.logits(each if task == "pair" else each[0] for each in asked)
    assert np.abs(np.array(found) - wanted).max() <= 1e-4
    bare = type(model)(model.reading, model.program, model.decision, NO_PARTS, model.threads, model.metrics)
    alone = bare.logits(each if task == "pair" else each[0] for each in asked)
    assert np.abs(alone - wanted).max(axis=1).min() > 0.01


@pytest.mark.parametrize(
    "rule",
    [
        NgramRule(rows=50),
        NgramRule(300, 2, 6, hashes=2, cased=True),
        NgramRule(7, 9, 9),
        NgramRule(rows=50, unknown_alone=True),
    ],
)
@pytest.mark.parametrize("lowercase", [True, False])
def test_vectors_of_ngrams_are_added(
    rule: NgramRule, lowercase: bool, tmp_path: Path, opened: Opened
) -> None:
    text = TextSettings(tokenizer="whitespace")
    path = saved(tmp_path / "model", ngrams=rule, lowercase=lowercase, text=text, encoder="disan")
    for target in (["--page", tmp_path / "model.html"], ["--int8", tmp_path / "small"]):
        assert tiny.run("export", path, *target).code == 0
    texts = [
        "The film was dull",
        "",
        "a [MASK] [mask] film",
        "Dublin DUBLIN 3rd \u00b2 \u2167. \u01c5z \u0661\u0662 aXbXd \U0001f600\U0001f600 \U00010400\U00010428",
        "unseen w\u00f6rter stra\u00dfe \u0130stanbul \u039f\u0394\u039f\u03a3 \u0e2a\u0e27 " * 12,
    ]
    page = opened(tmp_path / "model.html")
    found = page.evaluate(
        "async (asked) => { const model = await heedful; return asked.map((each) => model.predict([each]).logits); }",
        texts,
    )
    model = load(tmp_path / "small")
    assert np.abs(np.array(found) - model.logits(texts)).max() <= 1e-4
    words = [*"".join(texts).split(), "aB\U0001f600" * 600]
    rows = page.evaluate(
        "async (words) => { const model = await heedful; return words.map((word) => model.words.ngrams(word)); }",
        words,
    )
    assert rows == [model.reading.vocabulary.rows_of_ngrams(word).tolist() for word in words]


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    inside = saved(tmp_path / "model") / "labels.json" / "x.html"
    assert tiny.run("export", tmp_path / "model", "--page", inside).code == 6


def test_operators_are_those_of_the_runtime() -> None:
    """One that only the runtime has is refused; see `test_page_answers`."""
    from heedful.runtime.step_execution import OPERATORS

    assert javascript.operators() <= set(OPERATORS)
    assert len(javascript.operators()) >= 33


KERNELS = """async (modules) => Promise.all(modules.map(async (module) => {
  const bytes = Uint8Array.from(atob(module), (letter) => letter.charCodeAt(0));
  const { exports } = (await WebAssembly.instantiate(bytes)).instance;
  exports._initialize();
  exports.memory.grow(16);
  const at = Array.from({ length: 8 }, (_, part) => exports.__heap_base.value + 65536 * (part + 1));
  const floats = new Float32Array(exports.memory.buffer, 0, exports.memory.buffer.byteLength >> 2);
  const whole = new Int8Array(exports.memory.buffer);
  for (let i = 0; i < 4000; i += 1) {
    for (const start of at.slice(0, 3)) floats[(start >> 2) + i] = Math.sin(i * 0.7 + start);
    whole[at[3] + i] = (i * 37) % 255 - 127;
    whole[at[4] + i] = i % 3 ? 1 : 0;
  }
  const read = (start, count) => Array.from(floats.subarray(start >> 2, (start >> 2) + count));
  exports.dense(at[0], at[3], at[1], at[2], at[5], 7, 30, 50, 1, at[6]);
  const dense = read(at[5], 350);
  exports.additive(at[0], at[1], at[2], at[4], 9, 21, 5, at[5], at[6], at[7]);
  return [exports.panel(), WebAssembly.Module.imports(await WebAssembly.compile(bytes)).length,
    ...dense, ...read(at[5], 189), ...read(at[6], 81)];
}))"""


def test_the_kernels_are_built_from_their_source(tmp_path: Path, browser: Any) -> None:
    """The module in the package computes what one that is built now computes; a compiler may order its code anew."""
    pytest.importorskip("ziglang", reason="ziglang is not installed")
    try:
        page_kernels.build(tmp_path / "kernels.wasm")
    except subprocess.CalledProcessError as error:
        pytest.fail(f"the kernels do not compile: {error}")
    files = (tmp_path / "kernels.wasm", ROOT / "src" / "heedful" / "page" / "kernels.wasm")
    page = browser.new_page()
    built, packaged = page.evaluate(KERNELS, [base64.b64encode(file.read_bytes()).decode() for file in files])
    page.close()
    assert built[:2] == [64, 0]
    assert len(built) == 622
    assert np.count_nonzero(built) > 500
    assert packaged == pytest.approx(built, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("task", ["text", "pair", "relatedness"])
def test_a_reader_types_and_sees_what_the_runtime_says(task: str, tmp_path: Path, opened: Opened) -> None:
    path = exported(tmp_path, task=task)
    page = opened(path)
    assert tiny.run("export", tmp_path / "model", "--int8", tmp_path / "small").code == 0
    texts = ["The film was dull", "a song xyzzy was the film"][: 1 if task == "text" else 2]
    for text in texts:  # the first field has the focus; the others are reached with the keyboard
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.wait_for_selector("figure", state="attached")
    (wanted,) = load(tmp_path / "small").predict([texts[0] if task == "text" else tuple(texts)])
    shown = {
        row.query_selector("td").text_content(): float(
            row.query_selector("td.r").text_content().strip("<> %")
        )
        / 100
        for row in page.query_selector_all("#probabilities tr")[1:]
    }
    assert shown == pytest.approx(wanted.probabilities, abs=0.0051)
    headline = page.text_content("#headline")
    assert headline.startswith(f"score {wanted.score:.2f}" if wanted.label is None else wanted.label)
    found = page.evaluate("async (texts) => (await heedful).predict(texts).probabilities", texts)
    assert [each["probability"] for each in found] == pytest.approx(
        list(wanted.probabilities.values()), abs=1e-4
    )
    page.wait_for_selector("#said:not(:empty)", state="attached")
    assert page.text_content("#said") == headline


def test_hostile_text_is_shown_as_text(tmp_path: Path, opened: Opened) -> None:
    page = opened(exported(tmp_path))
    page.fill("#text0", HOSTILE)
    page.wait_for_selector("figure", state="attached")
    assert (
        page.evaluate("document.querySelectorAll('img, b:not(bdi b), script:not([id]):not([type])').length")
        == 0
    )
    assert page.evaluate("document.querySelectorAll('main script').length") == 0
    shown = page.text_content("#reading p.read")
    assert shown == HOSTILE.replace("\u202e", "⟨U+202E⟩")
    assert {row.text_content() for row in page.query_selector_all("#probabilities tr td:first-child")} == set(
        LABELS
    )


def test_long_and_empty_texts(tmp_path: Path, opened: Opened) -> None:
    page = opened(exported(tmp_path, text=TextSettings(max_tokens=80)))
    page.fill("#text0", "film " * 81)
    page.wait_for_selector("#trouble:visible")
    assert "81" in page.text_content("#trouble")
    assert page.text_content("#probabilities") == ""
    page.fill("#text0", "film " * 80)
    page.wait_for_selector("figure", state="attached")
    assert page.is_hidden("#trouble")
    assert {len(each.query_selector_all("text.label")) for each in page.query_selector_all("figure svg")} == {
        40
    }
    page.fill("#text0", " \n ")
    page.wait_for_selector("figure", state="detached")


def test_a_text_that_is_cut_says_so(tmp_path: Path, opened: Opened) -> None:
    page = opened(exported(tmp_path, text=TextSettings(max_tokens=3, truncate="head")))
    page.fill("#text0", "the film was dull")
    page.wait_for_selector("#reading .unread")
    assert page.text_content("#reading .unread") == " dull"
    found = page.evaluate("async () => (await heedful).predict(['the film was dull', ]).logits")
    assert tiny.run("export", tmp_path / "model", "--int8", tmp_path / "small").code == 0
    assert np.abs(load(tmp_path / "small").logits(["the film was"])[0] - found).max() <= 1e-4


def test_nothing_sticks_out_of_a_narrow_screen(tmp_path: Path, opened: Opened) -> None:
    page = opened(exported(tmp_path))
    page.set_viewport_size({"width": 340, "height": 700})
    page.fill("#text0", "the film was a dull song " * 5 + "x" * 300)
    page.wait_for_selector("#contributions table")
    page.click("#pictures summary")
    page.wait_for_selector("figure")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_browser_without_simd_is_told(tmp_path: Path, launch: Callable[..., Any]) -> None:
    path = exported(tmp_path)
    browser = launch("--js-flags=--no-enable-sse4-1")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#trouble:visible")
    assert "SIMD" in page.text_content("#trouble")
    assert page.query_selector("textarea") is None
    browser.close()


def test_a_damaged_file_says_so(tmp_path: Path, browser: Any) -> None:
    path = exported(tmp_path)
    content = path.read_text(encoding="utf-8")
    start = content.index('id="model">') + 400
    path.write_text(content[:start] + content[start + 40 :], encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#trouble:visible")
    assert "damaged" in page.text_content("#trouble")
    page.close()


def test_a_page_of_vectors_compares_two_texts(tmp_path: Path, opened: Opened) -> None:
    path = saved(tmp_path / "model", task="vector", encoder="disan", outputs=6)
    for target in (["--page", tmp_path / "model.html"], ["--int8", tmp_path / "small"]):
        assert tiny.run("export", path, *target).code == 0
    pairs = [["the film was dull", "a dull song"], ["the film", "the film"], ["film", ""]]
    page = opened(tmp_path / "model.html")
    found = page.evaluate(
        "async (asked) => { const model = await heedful; return asked.map((each) => model.predict(each).score); }",
        pairs,
    )
    model = load(tmp_path / "small")
    wanted = [float(one @ other) for one, other in (model.encode(pair) for pair in pairs)]
    assert np.abs(np.array(found) - wanted).max() <= 1e-4
    assert found[1] == pytest.approx(1, abs=1e-5)
    page.fill("#text0", "the film")
    page.fill("#text1", "the film")
    until(lambda: (page.locator("#headline").text_content() or "").startswith("similarity 1.00"))
