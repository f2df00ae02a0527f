"""The package as its wheel holds it: it answers where there is neither torch nor heedful, and says the same."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
import torch
from setuptools import find_namespace_packages

import heedful
from heedful.models import ModelConfig
from heedful.tasks import Predictor, TextSettings, build_network
from heedful.text.vocabulary import Vocabulary

HERE = Path(__file__).resolve().parents[1]
TEXTS = ("The film was superb .", "dull \u2028 \x1b[31mred", "")
BARE = """
import sys
for name in ("torch", "heedful", "scipy", "sklearn", "click", "rich", "tokenizers", "transformers"):
    sys.modules[name] = None
from heedful_runtime.entry import main
main(sys.argv[1:])
"""


def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("runtime_setup", HERE / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel is made of, with the kernels of heedful, which have the same sources."""
    source, target = Path(heedful.__file__).parent, tmp_path_factory.mktemp("gathered") / "selected"
    builder().gather(source, target)
    for library in source.glob("_kernels*"):
        (target / "heedful_runtime" / library.name).write_bytes(library.read_bytes())
    return target


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Predictor, Path]:
    torch.manual_seed(1)
    config = ModelConfig(width=20, hidden=12, outputs=2)
    network = build_network(config, torch.randn(6, 20))
    vocabulary = Vocabulary(("the", "film", "superb", "dull"))
    made = Predictor(network, config, vocabulary, ("bad", "good"), TextSettings())
    path = tmp_path_factory.mktemp("saved") / "model"
    made.save(path)
    return made, path


def run(gathered: Path, *arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", BARE, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(gathered), "PYTHONIOENCODING": "utf-8"},
        input=stdin,
        capture_output=True,
        timeout=600,
        check=False,
    )


def test_the_wheel_installs_its_own_package_alone(gathered: Path) -> None:
    settings = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))
    packages = settings["tool"]["setuptools"]["packages"]["find"]["include"]
    found = find_namespace_packages(str(gathered), include=packages)
    assert {name.partition(".")[0] for name in found} == {"heedful_runtime"}
    assert {"heedful_runtime.runtime", "heedful_runtime.explain.methods"} <= set(found)


def test_no_module_of_heedful_is_named_any_more(gathered: Path) -> None:
    modules = list((gathered / "heedful_runtime").rglob("*.py"))
    assert len(modules) > 15
    for module in modules:
        for line in module.read_text(encoding="utf-8").splitlines():
            assert not line.strip().startswith(("import heedful.", "from heedful.", "from heedful "))
            assert not line.startswith(("import torch", "from torch"))  # for the types alone it is indented


def test_predictions_without_torch(gathered: Path, model: tuple[Predictor, Path]) -> None:
    made, path = model
    asked = [argument for text in TEXTS for argument in ("--text", text)]
    result = run(gathered, "predict", path, "--json", *asked)
    assert result.returncode == 0, result.stderr.decode()
    rows = [json.loads(line) for line in result.stdout.decode().split("\n") if line]
    for row, wanted in zip(rows, made.answer(TEXTS), strict=True):
        assert row["label"] == wanted.label
        assert row["probabilities"] == pytest.approx(wanted.probabilities, abs=2e-6)
    plain = run(gathered, "predict", path, *asked).stdout.decode()
    assert [line.split("\t")[0] for line in plain.rstrip("\n").split("\n")] == [row["label"] for row in rows]


def test_an_explanation_without_torch(gathered: Path, model: tuple[Predictor, Path], tmp_path: Path) -> None:
    made, path = model
    code = BARE.partition("from heedful_runtime")[0] + (
        "import heedful_runtime\n"
        "found = heedful_runtime.explanation_of(heedful_runtime.load(sys.argv[1]), sys.argv[2])\n"
        "found.to_html(sys.argv[3])\n"
        "print(found.to_text())\n"
    )
    page = tmp_path / "page.html"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), TEXTS[0], str(page)],
        env={**os.environ, "PYTHONPATH": str(gathered), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().rstrip("\n") == made.explain(TEXTS[0]).to_text().rstrip("\n")
    assert "<svg" in page.read_text(encoding="utf-8")


def test_vectors_of_standard_input(gathered: Path, model: tuple[Predictor, Path]) -> None:
    made, path = model
    result = run(gathered, "encode", path, "--input", "-", stdin=b"the film\n\nsuperb\n")
    vectors = [json.loads(line) for line in result.stdout.decode().splitlines()]
    assert vectors == [
        pytest.approx(row, abs=2e-6) for row in made.encode(["the film", "", "superb"]).tolist()
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("predict", "MODEL"), 2),
        (("predict", "MODEL", "--text", "a", "--input", "-"), 2),
        (("predict", "MODEL", "--premise", "a"), 2),
        (("predict", "MODEL", "--premise", "a", "--hypothesis", "b"), 2),
        (("predict", "MODEL", "--txt", "a"), 2),
        (("guess", "MODEL"), 2),
        (("predict", "MODEL", "--max-tokens", "0", "--text", "a"), 2),
        (("predict", "MODEL", "--max-tokens", "1", "--text", "the film"), 3),
        (("predict", "MODEL", "--input", "no such file"), 3),
        (("predict", "no such folder", "--text", "a"), 5),
    ],
)
def test_every_mistake_is_one_line_and_a_code(
    gathered: Path, model: tuple[Predictor, Path], arguments: tuple[str, ...], code: int
) -> None:
    result = run(gathered, *(str(model[1]) if each == "MODEL" else each for each in arguments))
    assert result.returncode == code
    assert result.stdout == b""
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("heedful-runtime: ")


def started(gathered: Path, *arguments: object, without: str = "nothing") -> subprocess.Popen[str]:
    """Start the server, whose library brings click."""
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            BARE.replace('"click"', f'"{without}"'),
            "serve",
            *map(str, arguments),
        ],
        env={**os.environ, "PYTHONPATH": str(gathered), "PYTHONIOENCODING": "utf-8"},
        stderr=subprocess.PIPE,
        text=True,
    )


PATIENCE = 600.0
"""Seconds after which a test gives up; a machine with much other work needs a hundred times its usual time."""
SERVES = pytest.mark.skipif(find_spec("starlette") is None, reason="the server needs starlette")


@SERVES
def test_it_serves_without_torch(gathered: Path, model: tuple[Predictor, Path]) -> None:
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    made, path = model
    server = started(gathered, f"film={path}", "--port", 0)
    assert server.stderr is not None
    try:
        said = server.stderr.readline()
        assert said.startswith("heedful-runtime serve: serving film at http://127.0.0.1:"), said
        address = said.split(" at ")[1].split(" ")[0]
        body = json.dumps({"texts": [TEXTS[0]]}).encode()
        request = urllib.request.Request(f"{address}v1/predict", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            found = json.loads(answer.read())
        with urllib.request.urlopen(address, timeout=PATIENCE) as page:
            assert b"playground.js" in page.read()
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    (wanted,) = made.predict([TEXTS[0]])
    assert wanted.label in json.dumps(found)


@SERVES
@pytest.mark.parametrize(
    ("arguments", "without", "says"),
    [
        (
            ["model"],
            "uvicorn",
            "the server needs uvicorn, which is not installed: pip install 'heedful-runtime[serve]'",
        ),
        ([], "nothing", "the following arguments are required: MODEL"),
        (["nowhere"], "nothing", "nowhere"),
        (["model", "--port", "70000"], "nothing", "--port"),
    ],
)
def test_what_keeps_it_from_serving_is_a_line(
    arguments: list[str], without: str, says: str, gathered: Path, tmp_path: Path
) -> None:
    server = started(gathered, *arguments, without=without)
    _, said = server.communicate(timeout=60)
    assert server.returncode not in (0, 1)
    assert says in said
    assert len(said.strip().splitlines()) == 1
