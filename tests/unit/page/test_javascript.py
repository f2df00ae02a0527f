"""The engine as a module: in Node, in Chromium and in a worker it answers and explains as the runtime."""

from __future__ import annotations

import contextlib
import gzip
import http.server
import json
import re
import shutil
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedful
import tiny
from heedful.explain.explainer import explain
from heedful.models import ModelConfig
from heedful.page.javascript import EXPORTED, engine, module
from heedful.runtime import load
from heedful.runtime.int8_products import GROUP, plain_sums
from heedful.tasks import TextSettings, build_network, task_named
from heedful.text.vocabulary import Vocabulary
from heedful_lab.repository import javascript_package
from heedful_lab.repository.javascript_equality import MOST, compare, difference, in_chromium, in_node

WORDS = ("the", "film", "was", "dull", "fine", "not", "ärger", "plot")
TEXTS = [
    *(
        "The film was not dull",
        "",
        "x",
        "the the the",
        "Ärger, ärger; the plot isn't “fine”!",
        "\U0001f600 film",
    ),
    *("the film was fine " * 60, "a\u0301 \u202e <b>film</b>", "10 - 4 = 6", "film\u00a0film\tfilm\nfilm"),
]
LABELS = {
    "text": ("a", "__proto__", "7"),
    "pair": ("a", "b", "c"),
    "labels": ("x", "y", "z"),
    "tags": ("O", "B-X", "I-X"),
}
KERNELS = Path(heedful.__file__).parent / "page" / "kernels.wasm"
PANEL = 64
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")


def saved(path: Path, task: str, width: int = 12, hidden: int = 6) -> Path:
    outputs = 1 if task in ("number", "pair-number") else 3
    encoder = "embedding" if task in ("number", "labels") else "disan"
    config = ModelConfig(task=task, width=width, hidden=hidden, outputs=outputs, encoder=encoder)
    torch.manual_seed(4)
    network = build_network(config, torch.randn(9, width), torch.randn(1, width))
    made = task_named(task).model_type(
        network, config, Vocabulary(WORDS[:-1], WORDS[-1:]), LABELS.get(task, ()), TextSettings()
    )
    made.save(path)
    return path


def asked(task: str) -> list[list[str]]:
    if task in ("pair", "relatedness"):
        return [[text, other] for text, other in zip(TEXTS, TEXTS[::-1], strict=True)]
    return [[text] for text in TEXTS]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules") / "node_modules" / "heedful"
    assert javascript_package.write(folder) < 100_000
    return folder


@pytest.fixture
def exported(tmp_path: Path) -> Callable[[str], tuple[Path, Any]]:
    def export(task: str) -> tuple[Path, Any]:
        model = saved(tmp_path / "model", task)
        targets = ("--javascript", tmp_path / "model.heedful", "--int8", tmp_path / "small")
        assert tiny.run("export", model, *targets).code == 0
        return tmp_path / "model.heedful", load(tmp_path / "small")

    return export


@needs_node
@pytest.mark.parametrize("task", ["text", "pair", "labels", "number", "relatedness", "tags"])
def test_node_answers_as_the_runtime(task: str, package: Path, exported: Any) -> None:
    file, model = exported(task)
    requests = asked(task)
    wanted = [each.as_dict() for each in model.predict([r[0] if len(r) == 1 else tuple(r) for r in requests])]
    found = in_node(package, file, requests)
    assert len(found) == len(wanted)
    assert max(map(difference, found, wanted)) <= MOST
    assert set(wanted[0]) == set(found[0])


def test_differences_are_seen() -> None:
    answer = {"probabilities": {"a": 0.7, "b": 0.3}, "label": "a", "tokens": (2,), "score": None}
    assert difference({**answer, "tokens": [2]}, answer) == 0
    assert difference({**answer, "probabilities": {"a": 0.5, "b": 0.5}}, answer) == pytest.approx(0.2)
    for other in ({"label": "b"}, {"tokens": [3]}, {"probabilities": {"a": 0.7}}):
        assert difference({**answer, **other}, answer) == float("inf")
    assert difference(
        {"probabilities": {}, "score": 12.0}, {"probabilities": {}, "score": 10.0}
    ) == pytest.approx(0.2)


@needs_node
def test_node_explains_as_the_runtime(package: Path, exported: Any) -> None:
    file, model = exported("text")
    text = "The film was not dull"
    (found,) = in_node(package, file, [[text]], "explain")
    wanted = explain(model, text).attribution
    assert wanted is not None
    why = found["contributions"][0]
    assert why["label"] == found["prediction"]["label"] == next(iter(model.predict([text]))).label
    assert np.abs(np.array(why["words"][0]) - np.array(wanted.values[0])).max() <= 1e-4
    assert why["base"] + sum(why["words"][0]) == pytest.approx(why["sum"], abs=1e-6)
    (seen,) = found["texts"]
    assert seen["words"] == ["The", "film", "was", "not", "dull"]
    assert seen["offsets"][1] == [4, 8]
    assert len(seen["maps"]) == 2
    assert np.array(seen["maps"][0]["weights"]).shape == (5, 5)


@needs_node
def test_the_vector_of_a_text(package: Path, exported: Any) -> None:
    file, model = exported("vector")
    (found,) = in_node(package, file, [["the film"]], "encode")
    numbers = np.array([found[str(place)] for place in range(len(found))])
    assert np.abs(numbers - model.encode(["the film"])[0]).max() <= MOST
    (same,) = in_node(package, file, [["the film", "the film"]])
    assert same["score"] == pytest.approx(1, abs=MOST)


def test_chromium_and_a_worker_answer_as_the_runtime(browser: Any, tmp_path: Path, exported: Any) -> None:
    file, model = exported("text")
    package = tmp_path / "package"
    javascript_package.write(package)
    page, wanted = browser.new_page(), [each.as_dict() for each in model.predict(TEXTS)]
    found = in_chromium(page, package, file, asked("text"))
    assert max(map(difference, found, wanted)) <= MOST
    shutil.copyfile(file, package / "model.heedful")
    (package / "index.html").write_text("<!DOCTYPE html><title>served</title>")
    (package / "worker.js").write_text(
        'import { load } from "./index.js";\nonmessage = async ({ data }) => {\n'
        'const model = await load("model.heedful");\npostMessage(data.map((text) => model.predict(text))); };\n'
    )
    with served(package) as address:
        page.goto(address)
        said = page.evaluate(
            """(texts) => new Promise((resolve, reject) => {
              const worker = new Worker("worker.js", { type: "module" });
              worker.onmessage = ({ data }) => resolve(JSON.stringify(data));
              worker.onerror = reject;
              worker.postMessage(texts);
            })""",
            TEXTS,
        )
        page.close()
    assert max(map(difference, json.loads(said), wanted)) <= MOST


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given, directory=str(folder))

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
        server.shutdown()
        thread.join()


@needs_node
def test_all_are_compared_by_one_command(tmp_path: Path) -> None:
    found = compare(saved(tmp_path / "model", "text"), asked("text"), ["Node"])
    assert "Node" in found
    assert max(found.values()) <= MOST


def test_a_page_has_the_very_same_engine(tmp_path: Path) -> None:
    assert module() == engine() + EXPORTED
    assert tiny.run("export", saved(tmp_path / "model", "text"), "--page", tmp_path / "page.html").code == 0
    content = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert content.count(engine()) == 1
    strings = r'"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\\n])*`'
    assert "`" not in re.sub(strings, "", engine())  # no template goes over several lines


def test_the_same_model_gives_the_same_file(tmp_path: Path, exported: Any) -> None:
    file, _ = exported("text")
    assert tiny.run("export", tmp_path / "model", "--javascript", tmp_path / "again").code == 0
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


REFUSE = """
import { writeFileSync } from "node:fs";
import { load, ModelError } from "INDEX";
const said = async (act) => { try { await act(); return "nothing"; } catch (error) {
  return `${error instanceof ModelError ? "ModelError" : error.name}: ${error.message}`; } };
const model = await load("MODEL"), found = [];
for (const act of [() => load("/nowhere/model.heedful"), () => load(3), () => load(new Uint8Array([1, 2])),
  () => model.predict(), () => model.predict("a", "b"), () => model.predict(3), () => model.predict(null),
  () => model.predict("film ".repeat(500)), () => model.encode("a")]) found.push(await said(act));
for (const file of FILES) found.push(await said(() => load(file)));
process.stdout.write(JSON.stringify(found));
"""


def damaged(file: Path) -> list[bytes]:
    packed, plain = file.read_bytes(), gzip.decompress(file.read_bytes())
    (size,) = struct.unpack("<Q", plain[:8])
    header = json.loads(plain[8 : 8 + size])

    def headed(change: Callable[[dict[str, Any]], None]) -> bytes:
        changed = json.loads(json.dumps(header))
        change(changed)
        written = json.dumps(changed).encode()
        return gzip.compress(struct.pack("<Q", len(written)) + written + plain[8 + size :])

    def about(**changes: Any) -> bytes:
        own = {**json.loads(header["__metadata__"]["model"]), **changes}
        return headed(lambda each: each["__metadata__"].update(model=json.dumps(own)))

    name = next(each for each in header if each != "__metadata__")
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 4
    return [
        *(packed[:-20], bytes(flipped), packed + b"more", gzip.compress(b""), gzip.compress(plain[:100])),
        gzip.compress(struct.pack("<Q", 2**63) + plain[8:]),
        gzip.compress(plain[:8] + b"[" + plain[9:]),
        headed(lambda each: each[name].update(data_offsets=[0, 2**40])),
        headed(lambda each: each[name].update(shape=[-1, -1])),
        headed(lambda each: each[name].update(dtype="constructor")),
        headed(lambda each: each.pop(name)),
        about(format=99),
        about(
            network={
                **json.loads(header["__metadata__"]["model"])["network"],
                "read": [{"do": "constructor"}],
            }
        ),
    ]


@needs_node
def test_what_is_wrong_is_said_in_a_line(tmp_path: Path, package: Path, exported: Any) -> None:
    file, _ = exported("text")
    files = []
    for number, content in enumerate(damaged(file)):
        files.append(str(tmp_path / f"{number}.heedful"))
        Path(files[-1]).write_bytes(content)
    script = REFUSE.replace("INDEX", (package / "index.js").as_uri()).replace("MODEL", str(file))
    command = ["node", "--input-type=module", "--eval", script.replace("FILES", json.dumps(files))]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    wanted = [
        *("ModelError: load: /nowhere/model.heedful cannot be read", "TypeError: load: expected the address"),
        *("ModelError: This is no model file", "TypeError: predict: expected a text, got 0"),
        *("TypeError: predict: expected a text, got 2", "TypeError: predict: expected a text, got a value"),
        *("TypeError: predict: expected a text, got a value", "ModelError: The text has 500 words"),
        "ModelError: encode: this model answers the task text",
        *["ModelError: This file is damaged: "] * 11,
        "ModelError: This model file has the format 99",
        "ModelError: This file is damaged: ",
    ]
    assert len(found) == len(wanted)
    assert [said for said, begins in zip(found, wanted, strict=True) if not said.startswith(begins)] == []
    assert not any("\n" in said for said in found)


@needs_node
def test_the_package_is_imported_by_its_name(package: Path, exported: Any) -> None:
    file, _ = exported("text")
    script = package.parents[1] / "main.mjs"
    script.write_text(
        'import { load } from "heedful";\nimport { pathToFileURL } from "node:url";\n'
        f"const model = await load(pathToFileURL({json.dumps(str(file))}));\n"
        "console.log(JSON.stringify([model.task, model.labels, model.texts]));\n"
    )
    done = subprocess.run(["node", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["text", ["a", "__proto__", "7"], ["text"]]


def test_the_types_name_what_the_module_has(package: Path) -> None:
    about = json.loads((package / "package.json").read_text(encoding="utf-8"))
    assert about["version"] == heedful.__version__
    assert {path.name for path in package.iterdir()} == {*about["files"], "package.json"}
    types = (package / "index.d.ts").read_text(encoding="utf-8")
    exported = set(re.findall(r"export (?:class|function) (\w+)", types))
    assert exported == set(re.findall(r"\w+", EXPORTED)) - {"export"}
    declared = types.partition("export class HeedfulModel {")[2].partition("\n}")[0]
    source = engine().partition("class HeedfulModel{")[2].partition("\nconst explains")[0]
    members = set(re.findall(r"^(?:get )?(\w+)\(", source, re.MULTILINE)) - {"constructor", "if", "for"}
    assert set(re.findall(r"^  (?:readonly )?(\w+)(?:\(|:)", declared, re.MULTILINE)) == members


def test_typescript_takes_the_types(package: Path, tmp_path: Path) -> None:
    if shutil.which("tsc") is None:
        pytest.skip("there is no TypeScript here")
    program = package.parents[1] / "use.mts"
    program.write_text(
        'import { load, HeedfulModel, ModelError, type Answer } from "heedful";\n'
        'const model: HeedfulModel = await load(new URL("http://localhost/model.heedful"));\n'
        'const answer = model.predict("a") as Answer;\n'
        "const share: number | undefined = answer.probabilities[answer.label ?? model.labels[0]];\n"
        'const sums: number[] = model.explain("a", "b").contributions.map((each) => each.base);\n'
        "// @ts-expect-error: a number is no text\nmodel.predict(3);\nexport { share, sums, ModelError };\n"
    )
    options = ("--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom")
    done = subprocess.run(["tsc", *options, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


WHOLE = """
import { readFileSync } from "node:fs";
const [kernels, ...files] = process.argv.slice(1);
const { exports } = (await WebAssembly.instantiate(readFileSync(kernels))).instance;
exports._initialize();
const { rows, terms, outputs, activation } = JSON.parse(files.pop());
const parts = files.map((file) => readFileSync(file)), panel = exports.panel();
let end = exports.__heap_base.value;
const place = (size) => { const start = Math.ceil(end / 64) * 64; end = start + size; return start; };
const addresses = [...parts, { length: 4 * rows * outputs }, { length: exports.whole_room(rows, terms) }]
  .map((part) => place(part.length));
exports.memory.grow(Math.ceil(end / 65536));
parts.forEach((part, k) => new Uint8Array(exports.memory.buffer).set(part, addresses[k]));
const [input, packed, sums, scales, bias, output, room] = addresses;
exports.whole(input, packed, sums, scales, bias, output, rows, terms, outputs, activation, room);
process.stdout.write(new Uint8Array(exports.memory.buffer, output, 4 * rows * outputs));
"""


@needs_node
@pytest.mark.parametrize(("rows", "terms", "outputs"), [(1, 1, 1), (13, 257, 65), (7, 61, 130)])
def test_whole_numbers_in_webassembly_are_those_of_the_runtime(
    rows: int, terms: int, outputs: int, tmp_path: Path
) -> None:
    """To the last bit: numbers of both ends of the range, zeros, and rows that are not finite."""
    generator = np.random.default_rng(terms)
    x = generator.standard_normal((rows, terms)).astype(np.float32)
    if rows > 6:
        x[1], x[3, 0] = 0, np.inf
        x[2] *= np.float32(1e-40)
        x[4] *= np.float32(1e37)
    matrix = generator.integers(-128, 128, (outputs, terms), np.int8)
    scales, bias = generator.uniform(0.001, 0.01, outputs), generator.standard_normal(outputs)
    packed = np.zeros((-(-outputs // PANEL) * PANEL, -(-terms // GROUP) * GROUP), np.int8)
    packed[:outputs, :terms] = matrix
    laid_out = packed.reshape(-1, PANEL, packed.shape[1] // GROUP, GROUP).transpose(0, 2, 1, 3)
    files: list[Path] = []
    for part in (x, laid_out, matrix.sum(axis=1, dtype=np.int32), scales.astype("f4"), bias.astype("f4")):
        files.append(tmp_path / str(len(files)))
        files[-1].write_bytes(np.ascontiguousarray(part).tobytes())
    with np.errstate(all="ignore"):
        wanted = plain_sums(x, matrix, scales.astype("f4")) + bias.astype("f4")
    for activation, expected in ((0, wanted), (2, np.maximum(wanted, 0))):
        shape = json.dumps({"rows": rows, "terms": terms, "outputs": outputs, "activation": activation})
        command = ["node", "--input-type=module", "--eval", WHOLE, "--", str(KERNELS)]
        made = subprocess.run([*command, *map(str, files), shape], capture_output=True, check=True).stdout
        found = np.frombuffer(made, np.float32).reshape(rows, outputs)
        finite = np.isfinite(x).all(axis=1)
        assert np.array_equal(found[finite], expected[finite])
        assert not np.isfinite(found[~finite]).any()


@needs_node
def test_layers_that_are_marked_are_computed_in_whole_numbers(package: Path, tmp_path: Path) -> None:
    """A file from a folder in 8 bits answers as that folder, and not as one whose products are of floats."""
    model = saved(tmp_path / "model", "text", width=130, hidden=130)
    small, file, plain = tmp_path / "small", tmp_path / "whole.heedful", tmp_path / "plain.heedful"
    assert tiny.run("export", model, "--int8", small, "--javascript", plain).code == 0
    assert tiny.run("export", small, "--javascript", file).code == 0
    wanted, apart = [each.as_dict() for each in load(small).predict(TEXTS)], []
    for each in (file, plain):
        found = in_node(package, each, asked("text"))
        apart.append(np.median([*map(difference, found, wanted)]))
    assert apart[0] < 0.1 * apart[1]
