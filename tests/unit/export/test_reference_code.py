"""The code of docs/reference-code.md reads texts as the models do: it is run from the page."""

from __future__ import annotations

import random
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from heedful import TextClassifier
from heedful.export import described
from heedful.export.folder import Numbers, export_folder
from heedful.export.onnx_file import export_onnx
from heedful.runtime import load
from heedful.runtime.tag_model import Tagger
from heedful.storage.model_folder import load_model_folder
from heedful.tasks import load_model
from heedful.text.token_rules import token_rules
from heedful.text.tokenize import tokenizer
from onnx_sessions import open_session
from whole_models import TEXTS, tagger, whole

pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
PAGE = Path(__file__).parents[3] / "docs" / "reference-code.md"
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


@cache
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
    about = {"rules": token_rules(), "tokenizer": name, "normalize": normalize}
    for text in texts(500):
        assert page["words"](text, about) == cut.words(text), ascii(text)


def exported(folder: Path) -> Any:
    target, content = folder.with_suffix(".onnx"), load_model_folder(folder)
    export_onnx(content, described(load_model(folder).network), folder, target, check=False)
    return open_session(target)


def answered(model: Any, requests: list[Any]) -> list[Any]:
    """Return what the runtime says, as the page's program says it."""
    found: list[Any] = []
    for answer in model.predict(requests):
        if hasattr(answer, "tags"):
            found.append(list(answer.tags))
        elif hasattr(answer, "labels"):
            found.append(list(answer.labels))
        else:
            found.append(answer.label if answer.score is None else pytest.approx(answer.score, abs=1e-5))
    return found


def compared(folder: Path, asked: list[str]) -> None:
    """The program of the page says what the runtime says, and the logits are equal."""
    session, page = exported(folder), read_page()
    model: Any = load(folder)
    assert session.get_outputs()[0].name == "logits"
    pair = model.is_pair
    requests = [(one, other) for one in asked[:6] for other in asked[:6]] if pair else asked
    examples = requests if pair else [(text,) for text in asked]
    assert page["predict"](session, examples) == answered(model, requests)
    assert page["predict"](session, examples[:1]) == answered(model, requests[:1])
    assert page["predict"](session, []) == []
    found, wanted = logits_of(page, session, examples), model.logits(requests)
    if isinstance(model, Tagger):
        lengths = [len(model.reading.cutter.placed(text).words) for text in asked]
        found = np.concatenate([row[:length] for row, length in zip(found, lengths, strict=True)])
    assert np.abs(found - wanted).max() <= 1e-5 * max(1, np.abs(wanted).max())


def logits_of(page: dict[str, Any], session: Any, examples: list[Any]) -> np.ndarray:
    """Return the logits behind what the program says."""
    kept: list[Any] = []

    class Recorded:
        def __getattr__(self, name: str) -> Any:
            return getattr(session, name)

        def run(self, names: list[str], inputs: dict[str, Any]) -> list[Any]:
            kept.append(session.run(names, inputs))
            return list(kept[-1])

    page["predict"](Recorded(), examples)
    found: np.ndarray = kept[0][0]
    return found


ASKED = [*TEXTS, "dull " * 50, "filn wsa", *texts(10)]


@pytest.mark.parametrize(
    "task", ["text", "labels", "label-columns", "number", "pair", "relatedness", "pair-number"]
)
@pytest.mark.parametrize("encoder", ["embedding", "none"])
def test_models_of_all_parts(task: str, encoder: str, tmp_path: Path) -> None:
    temperature = 1.7 if task in ("text", "pair") else 1.0
    compared(whole(tmp_path / "model", task, encoder, temperature=temperature), ASKED)


@pytest.mark.parametrize(
    ("task", "encoder", "parts"),
    [
        ("text", "disan", []),
        ("text", "none", []),
        ("relatedness", "none", []),
        ("text", "none", ["wide"]),
        ("text", "none", ["mean"]),
        ("text", "none", ["states"]),
        ("pair", "none", ["states"]),
        ("pair", "embedding", ["nothing"]),
    ],
)
def test_models_of_some_parts(task: str, encoder: str, parts: list[str], tmp_path: Path) -> None:
    compared(whole(tmp_path / "model", task, encoder, parts=parts), ASKED)


def test_wrong_answers_with_costs_and_a_vocabulary_without_words(tmp_path: Path) -> None:
    costs = ((0.0, 30.0, 2.0), (1.0, 0.0, 1.0), (0.5, 9.0, 0.0))
    path = whole(tmp_path / "model", "pair", words=(), subwords=True, costs=costs)
    shares = load(path).probabilities(load(path).logits([(a, b) for a in TEXTS for b in TEXTS]))
    assert ((shares @ np.array(costs)).argmin(axis=1) != shares.argmax(axis=1)).any()
    compared(path, ASKED)


def test_a_text_of_thousands_of_words_and_sixty_four_texts(tmp_path: Path) -> None:
    path = whole(tmp_path / "model", "text", "none")
    long = " ".join(["the film was dull , not good"] * 350)
    compared(path, [long, *texts(32)[1:]])
    compared(tagger(tmp_path / "tagger", "none"), [long, *texts(8)])


ODD = (
    *("", " ", "\0 a\0b", "\udc80 x\ud800", "x" * 3000, "a\u0301" * 200, "\u202edull\u202c film", "\r\n\r\n"),
    *(
        "=HYPERLINK(1)",
        "%00 &#0; &amp;lt;",
        "\x1b[31mred\x07",
        "\u2028\u2029\x85",
        "Ǆ ǅ ﷺ",
        "\U000e0001\U000e0041",
    ),
    *(
        "\ufffe\uffff\U0010ffff",
        "null",
        "NaN",
        "-inf",
        "1e309",
        "\ufeffdull",
        "…" * 50,
        "a\tdull\nfilm",
        "ｄｕｌｌ",
    ),
    *(
        "😀" * 60,
        "<!-- dull",
        "\u200b",
        "ﬁlm ﬁlm",
        "it''s ``dull``",
        "2024-01-01",
        "1,000.50",
        "#N/A",
        "שלום dull",
    ),
)
"""Texts that break programs, for every kind of answer."""


@pytest.mark.parametrize("task", ["text", "labels", "number", "pair", "relatedness", "tags"])
def test_odd_texts(task: str, tmp_path: Path) -> None:
    path = tagger(tmp_path / "model") if task == "tags" else whole(tmp_path / "model", task, "none")
    sides = [ODD[start : start + 6] for start in range(0, len(ODD), 6)]  # of pairs six texts with one another
    compared(path, list(ODD) if task not in ("pair", "relatedness") else list(random.Random(5).choice(sides)))


@pytest.mark.parametrize("numbers", ["int8", "float16"])
@pytest.mark.parametrize("task", ["pair", "tags"])
def test_folders_of_small_numbers(task: str, numbers: Numbers, tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole(path, task, "disan") if task == "pair" else tagger(path, "disan")
    small = tmp_path / "small"
    export_folder(load_model_folder(path), described(load_model(path).network), small, numbers)
    compared(small, ASKED)
    assert small.with_suffix(".onnx").stat().st_size < 5 * (small / "weights.safetensors").stat().st_size


@pytest.mark.parametrize(
    ("encoder", "settings"),
    [
        ("embedding", {}),
        ("none", {"vectors": False}),
        ("none", {"tags": ("O", "B-x", "I-x", "E-x", "S-x")}),
        ("embedding", {"linear": False}),
        ("none", {"tags": ("NOUN", "VERB")}),
        ("embedding", {"tags": ("NOUN", "VERB"), "linear": False}),
    ],
)
def test_taggers(encoder: str, settings: dict[str, Any], tmp_path: Path) -> None:
    path = tagger(tmp_path / "model", encoder, **settings)
    compared(path, ASKED)
    session, page = exported(path), read_page()
    ready = [["ﬁlm", "I s", "\u00ad", "Film"], ["dull"]]
    assert page["predict"](session, [(words,) for words in ready]) == answered(load(path), ready)


def test_a_text_that_a_network_of_tags_does_not_read_at_once_is_refused(tmp_path: Path) -> None:
    session, page = exported(tagger(tmp_path / "model")), read_page()
    with pytest.raises(ValueError, match="401 words, and at most 400"):
        page["predict"](session, [("a " * 401,)])


@pytest.mark.parametrize("rules", [{"tokenizer": "unicode"}, {"tokenizer": "treebank", "markup": "drop"}])
def test_rules_of_which_the_program_knows_nothing_are_refused(rules: dict[str, str]) -> None:
    class Other:
        custom_metadata_map: ClassVar = {"markup": "keep", **rules}

        def get_modelmeta(self) -> Other:
            return self

    with pytest.raises(ValueError, match=f"not written for {rules['tokenizer']}"):
        read_page()["predict"](Other(), [("a text",)])


@pytest.mark.english
def test_the_default_classifier_of_few_english_rows(tmp_path: Path) -> None:
    """A meaning that no training word tells, so that the part over the vectors of words is chosen."""
    animals, places = (
        "cat dog horse cow pig sheep goat lion",
        "france spain italy poland china japan india canada",
    )
    given = [(f"the story of the {a} and of my {a}", "animal") for a in animals.split()]
    given += [(f"the story of the {a} and of my {a}", "place") for a in places.split()]
    model = TextClassifier()
    model.fit([text for text, _ in given], [label for _, label in given], baseline=False)
    path = tmp_path / "model"
    model.save_pretrained(path)
    assert load(path).parts.sentence is not None, "this data needs a sentence part"
    compared(path, ["the story of the Tigers and of my tiger", "kenya, brazil", *ASKED[:3]])
