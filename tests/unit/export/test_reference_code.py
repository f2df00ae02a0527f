"""The code of docs/tokens.md reads texts as the models do: it is run from the page."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful import TextClassifier, TokenTagger
from heedful.estimators.estimator import Estimator
from heedful.export import described
from heedful.export.onnx_file import export_onnx, padded_ngrams
from heedful.runtime import load
from heedful.storage.model_folder import load_model_folder
from heedful.text.token_rules import token_rules
from heedful.text.tokenize import tokenizer

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
PAGE = Path(__file__).parents[3] / "docs" / "tokens.md"
PIECES = (
    *(
        "word",
        "Film",
        "fllm",
        "isn't",
        "isn’t",
        "CANNOT",
        "'tis",
        "Mr.",
        "U.S.",
        "e.g.",
        "end.'",
        "3,4",
        "a,b",
        "--",
    ),
    *(
        "…",
        "``",
        "“so”",
        "(x)",
        "!?",
        "$5",
        " ",
        " ",
        " ",
        "\u00a0",
        "\u200b",
        "\u00ad",
        "ﬁ",
        "ｆ",
        "e\u0301",
        "\u0327",
    ),
    *("👩\u200d👩", "👍🏽", "❤\ufe0f", "🇩🇪🇫", "1\ufe0f\u20e3", "中文", "ｶﾞ", "½", "´", "¨", "™", "ŉ"),
    *("\u1112\u1161\u11ab", "\ud800", "_", "-", "–", "°", "\u0301" * 40),
)


def read_page() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(block, names)
    return names


def texts(count: int) -> list[str]:
    draw = random.Random(3)
    made = ["".join(draw.choices(PIECES, k=draw.randint(0, 14))) for _ in range(count)]
    assigned = [n for n in range(0x20000) if unicodedata.category(chr(n)) not in ("Cn", "Cs")]
    return made + ["".join(map(chr, draw.choices(assigned, k=draw.randint(1, 10)))) for _ in range(count)]


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(
    "name", ["treebank", "whitespace", "treebank_split_hyphens", "whitespace_split_hyphens"]
)
def test_words(name: str, normalize: bool) -> None:
    page, cut = read_page(), tokenizer(name, normalize=normalize)
    about = {"rules": json.dumps(token_rules()), "tokenizer": name, "normalize": json.dumps(normalize)}
    for text in texts(500):
        assert page["words"](text, about) == cut.words(text), ascii(text)


def exported(model: Estimator[Any], folder: Path) -> Any:
    model.save_pretrained(folder)
    target = folder.with_suffix(".onnx")
    content = load_model_folder(folder)
    worst = export_onnx(content, described(model.predictor.network), folder, target, check=True)
    assert worst is not None
    assert worst < 1e-5
    return onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])


def padded(column: list[list[int]], padding: int) -> np.ndarray:
    found = np.full((len(column), max([1, *map(len, column)])), padding, np.int64)
    for row, each in enumerate(column):
        found[row, : len(each)] = each
    return found


def test_the_default_classifier(tmp_path: Path) -> None:
    kind = {"p": "good film, isn’t it {} 😀!", "n": "dull storie {} ﬁrst 😡…"}
    given = [(text.format(word), label) for label, text in kind.items() for word in range(100)]
    model = TextClassifier(
        data__few_rows=0,
        train__epochs=1,
        model__width=12,
        text__vectors="",
        model__sentence="none",
        train__optimizer__lr=1e-6,
    )
    model.fit([text for text, _ in given], [label for _, label in given], baseline=False)
    session, page = exported(model, tmp_path / "model"), read_page()
    assert session.get_outputs()[0].name == "logits"
    about = session.get_modelmeta().custom_metadata_map
    vocabulary, runtime = json.loads(about["vocabulary"]), load(tmp_path / "model")
    asked = [*kind.values(), *texts(150)]
    assert about["tokenizer"] == "treebank"
    read = [page["words"](text, about)[: int(about["max_tokens"])] for text in asked]
    inputs = {"ids": padded([[page["id_of"](word, vocabulary) for word in each] for each in read], 0)}
    assert "wide" in about, "this data needs a wide part"
    inputs["features"] = padded([page["features_of"]([each], json.loads(about["wide"])) for each in read], -1)
    (logits,) = session.run(["logits"], inputs)
    wanted = runtime.logits(asked)
    assert np.abs(logits - wanted).max() <= 1e-5 * max(1, np.abs(wanted).max())


def test_a_tagger_of_a_network_alone(tmp_path: Path) -> None:
    model = TokenTagger(train__epochs=1, model__width=12, model__wide="none")
    model.fit(
        [["Ada", "writes", "3rd", "😀"], ["ﬁn", "b"]] * 20, [["O", "B-x", "I-x", "O"], ["O", "B-x"]] * 20
    )
    session, page = exported(model, tmp_path / "model"), read_page()
    assert session.get_outputs()[0].name == "logits"
    about = session.get_modelmeta().custom_metadata_map
    vocabulary, runtime = json.loads(about["vocabulary"]), load(tmp_path / "model")
    cut = about | {"tokenizer": "treebank"} if about["tokenizer"] == "unicode" else about
    read = [each for text in texts(60) if (each := page["words"](text, cut))]
    inputs = {"ids": padded([[page["id_of"](word, vocabulary) for word in each] for each in read], 0)}
    rows = [[np.array(page["ngrams_of"](word, vocabulary), np.int32) for word in each] for each in read]
    (logits,) = session.run(["logits"], inputs | {"ngrams": padded_ngrams(rows)})
    for found, each in zip(logits, read, strict=True):
        assert np.abs(found[: len(each)] - runtime.logits([each])).max() <= 1e-5 * max(1, np.abs(found).max())
