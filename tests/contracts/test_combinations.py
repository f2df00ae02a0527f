"""What a model knows of its limits, at every door: each combination answers as the model does, or is refused in a line.

`docs/combinations.md` shows the same table; a cell that works says "yes" there.
"""

from __future__ import annotations

import base64
import csv
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import heedful
import tiny
from heedful.model.decisions import Wish
from heedful_lab.repository import javascript_package
from heedful_lab.repository.javascript_equality import in_node
from served import InProcess, in_process

pytest.importorskip("starlette")
ROOT = Path(__file__).parents[2]

WORDS = ("goal", "rook", "soup", "film")
ROWS = [
    (how, word, when, k)
    for word in WORDS
    for how in ("grim", "fine")
    for when in ("now", "then")
    for k in "abc"
]
TEXTS = [" ".join(row) for row in ROWS]
PRICES = [float(2 * (k % 3) + (word in WORDS[:2]) * 5) for k, (_, word, *_) in enumerate(ROWS)]
ASKED = [3, 20, 31, 40]
"""Places of the rows that are asked again."""
SMALL: dict[str, Any] = {"text__vectors": "", "model__sentence": "none"}
CLASSES = [word for _, word, *_ in ROWS]
PATHS = {"goal": "sport/ball", "rook": "sport/chess", "soup": "food", "film": "art"}


def classifier(**settings: Any) -> Any:
    return heedful.TextClassifier(**SMALL, **settings)


def learned_on() -> Any:
    model = classifier()
    for places in (slice(0, None, 2), slice(1, None, 2)):
        model.partial_fit(TEXTS[places], CLASSES[places])
    return model


def with_columns() -> Any:
    table = [{"text": text, "price": price} for text, price in zip(TEXTS, PRICES, strict=True)]
    return classifier(text="text", features=["price"]).fit(table, CLASSES, baseline=False)


def several(label_columns: bool) -> Any:
    if label_columns:
        gold: Any = [{"mood": how, "what": word} for how, word, *_ in ROWS]
        return heedful.LabelColumnsClassifier(**SMALL).fit(TEXTS, gold, baseline=False)
    gold = [[word, *(["late"] if when == "then" else [])] for _, word, when, _ in ROWS]
    return heedful.MultiLabelClassifier(**SMALL).fit(TEXTS, gold, baseline=False)


def plain() -> Any:
    return classifier().fit(TEXTS, CLASSES, baseline=False)


@dataclass(frozen=True)
class Kind:
    """A model that knows one of its limits, and how that is asked for.

    Attributes:
        make: trains the estimator.
        options: of the commands that answer.
        body: fields of a request to the server that say the same.
        exported: options of the page and the file for JavaScript that say the same.
        gold: the cells of a row that say what is right.
    """

    make: Callable[[], Any]
    options: tuple[str, ...] = ()
    body: tuple[tuple[str, Any], ...] = ()
    exported: tuple[str, ...] = ()
    gold: Callable[[int], Mapping[str, Any]] = lambda place: {"label": CLASSES[place]}


COVERED: dict[str, Any] = {
    "options": ("--coverage", "0.8"),
    "body": (("coverage", 0.8),),
    "exported": ("--coverage", "0.8"),
}
KINDS = {
    "none of these": Kind(
        lambda: classifier(model__task_options={"reject": 0.8}).fit(TEXTS, CLASSES, baseline=False)
    ),
    "sets": Kind(plain, **COVERED),
    "sets by class": Kind(
        plain,
        ("--coverage", "0.8", "--by-class"),
        (("coverage", 0.8), ("by_class", True)),
    ),
    "intervals": Kind(
        lambda: heedful.TextScorer(**SMALL).fit(TEXTS, PRICES, baseline=False),
        **COVERED,
        gold=lambda place: {"score": PRICES[place]},
    ),
    "sets of several labels": Kind(
        lambda: several(False),
        **COVERED,
        gold=lambda place: {"label": ROWS[place][1]},
    ),
    "several label columns": Kind(
        lambda: several(True),
        **COVERED,
        gold=lambda place: {"mood": ROWS[place][0], "what": ROWS[place][1]},
    ),
    "kept examples": Kind(
        lambda: classifier(keep_examples="texts").fit(TEXTS, CLASSES, baseline=False), ("--neighbors", "1")
    ),
    "feature columns": Kind(with_columns),
    "trees": Kind(
        lambda: classifier().fit(TEXTS, [PATHS[word] for word in CLASSES], baseline=False),
        ("--tree", "/", "--at-least", "0.7"),
        (("tree", "/"), ("at_least", 0.7)),
        ("--tree", "/", "--at-least", "0.7"),
        gold=lambda place: {"label": PATHS[CLASSES[place]]},
    ),
    "learning on": Kind(learned_on),
    "costs": Kind(
        lambda: classifier(model__task_options={"costs": {"goal": 9}}).fit(TEXTS, CLASSES, baseline=False)
    ),
    "class weights": Kind(
        lambda: classifier(train__class_weight="balanced").fit(TEXTS, CLASSES, baseline=False)
    ),
    "teacher": Kind(lambda: classifier().fit(TEXTS, CLASSES, teacher=plain().predict_proba, baseline=False)),
}
DOORS = (
    "evaluate",
    "predict",
    "explain",
    "encode",
    "serve",
    "bulk",
    "page",
    "JavaScript",
    "ONNX",
    "estimator",
    "card",
)
REFUSED = {
    "*": {"encode": "has linear parts alone and no vector of a text"},
    "sets": {"explain": "No such option '--coverage'", "ONNX": "--coverage is for the page and the file"},
    "sets by class": {
        "explain": "No such option '--coverage'",
        "page": "No such option '--by-class'",
        "JavaScript": "No such option '--by-class'",
        "ONNX": "No such option '--by-class'",
    },
    "kept examples": {
        "evaluate": "No such option '--neighbors'",
        "serve": "neighbors: there is no such field",
        "bulk": "--neighbors: is not for many files",
        "page": "No such option '--neighbors'",
        "JavaScript": "No such option '--neighbors'",
        "ONNX": "No such option '--neighbors'",
    },
    "feature columns": {
        "page": "a page reads texts alone",
        "JavaScript": "a page reads texts alone",
        "ONNX": "columns beside the text have no input in an ONNX file",
    },
}
for _name in ("intervals", "sets of several labels", "several label columns"):
    REFUSED[_name] = REFUSED["sets"]
"""What each door says of what it does not have; the models answer there where that is not asked for."""


RUNS = ("study", "tune", "distil")
NOT_IN_RUNS = {
    "several label columns": {"distil": "distil.teacher is not used by a task of label columns"},
    "feature columns": {"distil": "data.features cannot be used with distil.teacher"},
    "learning on": {
        **dict.fromkeys(RUNS, "No such option '--from'"),
        "distil": "data.learn_from cannot be used with distil.teacher",
    },
}
"""What the commands that train several models say of what they do not have."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind, with the model and a table of rows that are asked again."""
    root, made = tmp_path_factory.mktemp("kinds"), dict[Callable[[], Any], Path]()
    found = {}
    for name, kind in KINDS.items():
        folder = root / name.replace(" ", "-")
        folder.mkdir()
        if kind.make in made:
            shutil.copytree(made[kind.make], folder / "model")
        else:
            kind.make().save_pretrained(folder / "model")
            made[kind.make] = folder / "model"
        rows = [{"text": TEXTS[k], **kind.gold(k)} for k in ASKED]
        if name == "feature columns":
            rows = [{**row, "price": PRICES[k]} for row, k in zip(rows, ASKED, strict=True)]
        with (folder / "new.csv").open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        found[name] = folder
    return found


@pytest.fixture(scope="module")
def app(folders: dict[str, Path]) -> Iterator[InProcess]:
    with in_process({name: folder / "model" for name, folder in folders.items()}) as found:
        yield found


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules") / "heedful"
    javascript_package.write(folder)
    return folder


def requests(name: str) -> list[Any]:
    if name == "feature columns":
        return [{"text": TEXTS[k], "price": PRICES[k]} for k in ASKED]
    return [TEXTS[k] for k in ASKED]


def wanted(name: str, folder: Path) -> list[dict[str, Any]]:
    """Return what the runtime answers, which every door must answer."""
    model, body = heedful.runtime.load(folder / "model"), dict(KINDS[name].body)
    if "coverage" in body:
        model = model.promising(Wish(body["coverage"], by_class=body.get("by_class", False)))
    if "tree" in body:
        model = model.in_tree(body["tree"], body["at_least"])
    found: list[dict[str, Any]] = json.loads(
        json.dumps([each.as_dict() for each in model.predict(requests(name))])
    )
    return found


def close(mine: Any, theirs: Any, most: float) -> None:
    """Compare an answer field by field, numbers to within a difference."""
    for key, value in theirs.items():
        if key not in ("tokens", "unknown", "truncated", "empty", "unlike", "unlike_share"):
            plain = value is None or isinstance(value, str)
            assert mine[key] == (value if plain else pytest.approx(value, abs=most)), key


@cache
def options(name: str) -> tuple[str, ...]:
    return KINDS[name].options


def command(*words: object) -> str:
    """Run a command; return what it prints, or raise its last line, which must be its only one."""
    made = tiny.run(*words)
    if made.code:
        lines = [line for line in made.err.strip().splitlines() if line.startswith("heedful: ")]
        assert len(lines) == 1
        assert "Traceback" not in made.err
        raise LookupError(lines[0])
    return made.out


def evaluates(name: str, folder: Path) -> None:
    more = ["--column", "label=mood", "--column", "label=what"] if name == "several label columns" else []
    found = json.loads(
        command("evaluate", folder / "model", folder / "new.csv", *more, *options(name), "--json")
    )
    text = json.dumps(found)
    asked = dict(KINDS[name].body)
    for key, said in (("coverage", '"sets"'), ("tree", '"levels"')):
        assert key not in asked or said in text
    if name == "none of these":
        assert '"none_of_these"' in text


def predicts(name: str, folder: Path) -> None:
    out = command("predict", folder / "model", folder / "new.csv", *options(name), "--json")
    for line, theirs in zip(out.splitlines(), wanted(name, folder), strict=True):
        mine = json.loads(line)
        close(mine, theirs, 1e-12)
        assert name != "kept examples" or mine["neighbors"]


def explains(name: str, folder: Path) -> None:
    beside = ["--feature", f"price={PRICES[ASKED[0]]}"] if name == "feature columns" else []
    found = json.loads(
        command("explain", folder / "model", TEXTS[ASKED[0]], *beside, *options(name), "--json")
    )
    theirs = wanted(name, folder)[0]
    assert found["probabilities"] == pytest.approx(list(theirs["probabilities"].values()))
    assert name != "kept examples" or found["neighbors"]
    assert name != "none of these" or found["none_of_these"]
    assert name != "feature columns" or found["attribution"]["columns"]
    assert name != "trees" or found["attribution"]["label"] == theirs["label"]


def encodes(name: str, folder: Path) -> None:
    command("encode", folder / "model", TEXTS[0])


def serves(name: str, folder: Path, app: InProcess) -> None:
    body: dict[str, Any] = {"model": name, "texts": [TEXTS[k] for k in ASKED], **dict(KINDS[name].body)}
    if name == "feature columns":
        body["features"] = [{"price": PRICES[k]} for k in ASKED]
    if name == "kept examples":
        body["neighbors"] = 1
    reply = app.ask("/v1/predict", body).json()
    if "error" in reply:
        raise LookupError(f"{reply['error']['field']}: {reply['error']['message']}")
    for mine, theirs in zip(reply["answers"], wanted(name, folder), strict=True):
        close(mine, theirs, 1e-12)


def answers_many(name: str, folder: Path) -> None:
    command(
        "predict",
        folder / "model",
        "--input",
        folder / "new.csv",
        "--output",
        folder / "many",
        "--jobs",
        1,
        "--format",
        "jsonl",
        *options(name),
    )
    lines = [json.loads(line) for line in next((folder / "many").glob("*.jsonl")).read_text().splitlines()]
    for mine, theirs in zip(lines, wanted(name, folder), strict=True):
        close(mine["prediction"], theirs, 1e-12)


def exports_a_page(name: str, folder: Path) -> None:
    more = KINDS[name].exported or options(name)
    command(
        "export",
        folder / "model",
        "--page",
        folder / "page.html",
        "--javascript",
        folder / "m.heedful",
        *more,
    )
    held = re.search(r'id="model"[^>]*>([^<]+)<', (folder / "page.html").read_text())
    assert held
    assert (
        base64.b64decode(held[1]) == (folder / "m.heedful").read_bytes()
    )  # which the next door answers with


def answers_in_javascript(name: str, folder: Path, package: Path) -> None:
    more = KINDS[name].exported or options(name)
    command("export", folder / "model", "--javascript", folder / "m.heedful", *more)
    for mine, theirs in zip(
        in_node(package, folder / "m.heedful", [[each] for each in requests(name)]),
        wanted(name, folder),
        strict=True,
    ):
        close(mine, theirs, 0.02)


def exports_onnx(name: str, folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    command("export", folder / "model", "--onnx", folder / "m.onnx", "--check", *options(name))


def is_an_estimator(name: str, folder: Path) -> None:
    model, asked, body = heedful.from_pretrained(folder / "model"), requests(name), dict(KINDS[name].body)
    theirs = wanted(name, folder)
    if "coverage" in body:
        by_class = bool(body.get("by_class", False))
        found = [each.as_dict() for each in model.promised(asked, body["coverage"], by_class=by_class)]
    elif "tree" in body:
        found = [answer.as_dict() for answer in model.in_tree(asked, body["tree"], at_least=body["at_least"])]
    else:
        assert list(model.predict(asked)) == [each["label"] for each in theirs]
        return
    for mine, other in zip(found, theirs, strict=True):
        close(json.loads(json.dumps(mine)), other, 1e-6)


SAID = {
    "none of these": "none of these",
    "kept examples": "texts",
    "feature columns": "price",
    "learning on": "It began with",
    "costs": "costs",
}
"""What the card says, of what changes a model and not only how it is asked."""


def has_a_card(name: str, folder: Path) -> None:
    card = (folder / "model" / "README.md").read_text()
    assert SAID.get(name, "heedful") in card


def cell(name: str, door: str, folder: Path, app: InProcess, package: Path) -> None:
    doors: dict[str, Callable[[], None]] = {
        "evaluate": lambda: evaluates(name, folder),
        "predict": lambda: predicts(name, folder),
        "explain": lambda: explains(name, folder),
        "encode": lambda: encodes(name, folder),
        "serve": lambda: serves(name, folder, app),
        "bulk": lambda: answers_many(name, folder),
        "page": lambda: exports_a_page(name, folder),
        "JavaScript": lambda: answers_in_javascript(name, folder, package),
        "ONNX": lambda: exports_onnx(name, folder),
        "estimator": lambda: is_an_estimator(name, folder),
        "card": lambda: has_a_card(name, folder),
    }
    doors[door]()


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_a_door_answers_as_the_model_does_or_refuses_in_a_line(
    name: str, door: str, folders: dict[str, Path], app: InProcess, package: Path
) -> None:
    refusal = {**REFUSED["*"], **REFUSED.get(name, {})}.get(door, "")
    if door == "JavaScript" and shutil.which("node") is None and not refusal:
        pytest.skip("there is no Node here")
    if refusal:
        with pytest.raises(LookupError, match=re.escape(refusal)):
            cell(name, door, folders[name], app, package)
    else:
        cell(name, door, folders[name], app, package)


def test_the_page_shows_this_table() -> None:
    """Each cell of `docs/combinations.md` is "yes", or names the door that has it instead."""
    lines = (ROOT / "docs" / "combinations.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert rows[0][1:] == [*DOORS, *RUNS]
    shown = {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}
    assert list(shown) == list(KINDS)
    for name in KINDS:
        for door in DOORS:
            refusal = {**REFUSED["*"], **REFUSED.get(name, {})}.get(door, "")
            assert (shown[name][door] == "yes") == (not refusal), (name, door)
        for command, refusal in NOT_IN_RUNS.get(name, {}).items():
            assert shown[name][command] != "yes", (name, command, refusal)


@pytest.mark.parametrize("name", NOT_IN_RUNS)
def test_runs_refuse_in_a_line_what_they_do_not_have(
    name: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    table, first = folders[name] / "new.csv", folders["sets"] / "model"
    given = {
        "learning on": ("--from", str(first)),
        "several label columns": ("--column", "label=mood", "--column", "label=what"),
        "feature columns": ("--set=data.features=['price']",),
    }[name]
    for run, refusal in NOT_IN_RUNS[name].items():
        more: tuple[object, ...] = ("--teacher", first) if run == "distil" else ()
        if name == "learning on" and run == "distil":
            given = (f"--set=data.learn_from={json.dumps(str(first))}",)
        made = tiny.run(run, table, *given, *more, "--out", tmp_path / "out", "--quiet")
        assert made.code == 2
        assert refusal in made.err.strip().splitlines()[-1]
        assert not (tmp_path / "out").exists()
