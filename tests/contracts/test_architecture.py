"""The import order, public names, lightness, optional packages, settings and docstrings of the whole package."""

from __future__ import annotations

import ast
import dataclasses
import graphlib
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import heedful
from heedful.models import ENCODERS, ModelConfig
from waiting import PATIENCE

SOURCE = Path(heedful.__file__).parent
ROOT = SOURCE.parents[1]
LABORATORY = ROOT / "packages" / "heedful-lab" / "src"
FILES = sorted(path for folder in (SOURCE, LABORATORY) for path in folder.rglob("*.py"))
MODULES = ["heedful", *(module.name for module in pkgutil.walk_packages(heedful.__path__, "heedful."))]
KNOWN = frozenset(MODULES)
HEAVY = ("torch", "pandas", "matplotlib", "scipy", "sklearn", "pyarrow", "spacy", "transformers", "lightning")
OPTIONAL = ("pandas", "matplotlib", "scipy", "sklearn", "pyarrow", "spacy", "stanza", "transformers")
BUILT_ON_SKLEARN = ("heedful.estimators", "heedful.baselines")
LAZY = [name for name in MODULES if not name.startswith(BUILT_ON_SKLEARN)]


def name_of(path: Path) -> str:
    """Return the path of a module below its package."""
    return path.relative_to(SOURCE if path.is_relative_to(SOURCE) else LABORATORY).as_posix()


fresh = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").exists(), reason="needs a checkout, not an installed package"
)


def in_a_fresh_process(code: str) -> str:
    """Run code in a new interpreter; give what it printed."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=SOURCE.parent,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_package_is_whole() -> None:
    assert len(FILES) >= 40
    assert len(MODULES) >= 35


@fresh
def test_imports_go_one_way() -> None:
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path[:0] = {[str(SOURCE.parent), str(LABORATORY)]!r}; {code}",
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr
    assert "one-way layers KEPT" in result.stdout
    assert ", 0 broken" in result.stdout


@fresh
def imported(tree: ast.Module) -> set[str]:
    """Return what a module imports of the package, also inside functions; imports for types alone do not count."""
    typed = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in KNOWN and node not in typed:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in KNOWN else node.module)
    return found


def test_no_modules_import_one_another_in_a_circle() -> None:
    graph = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("heedful", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        graph[name] = imported(trees()[path]) - {name}
    assert len(graph["heedful.runtime.loading"]) > 5
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_every_layer_is_on_the_picture() -> None:
    picture = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    parts = {path.stem for path in SOURCE.glob("*.py")} | {
        path.parent.name for path in SOURCE.glob("*/__init__.py")
    }
    parts -= {"__init__", "__main__"}
    assert len(parts) >= 15
    assert sorted(part for part in parts if f"`{part}`" not in picture) == []


def test_public_names_exist_and_are_listed_once() -> None:
    public = {name: getattr(importlib.import_module(name), "__all__", []) for name in MODULES}
    assert [name for name, names in public.items() if len(set(names)) < len(names)] == []
    listed = [(name, each) for name, names in public.items() for each in names]
    assert [(name, each) for name, each in listed if not hasattr(importlib.import_module(name), each)] == []


@pytest.mark.parametrize("part", ["attention", "encoders", "models", "nn"])
def test_a_package_of_the_math_side_says_what_is_public(part: str) -> None:
    package = importlib.import_module(f"heedful.{part}")
    assert package.__all__ == sorted(
        package.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name)
    )


def test_importing_heedful_loads_nothing_heavy() -> None:
    code = f"import sys, heedful; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    assert in_a_fresh_process(code).strip() == ""


@pytest.mark.parametrize("module", ["heedful.text", "heedful.cli", "heedful.errors"])
def test_these_load_no_torch(module: str) -> None:
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    assert in_a_fresh_process(code).strip() == ""


@pytest.fixture(scope="module")
def imports_of_all() -> list[str]:
    """What a process says that imports the networks and then, without the optional packages, every module."""
    code = (
        "import importlib, sys, heedful.models\n"
        f"print(*(name for name in ('triton', *{OPTIONAL!r}) if name in sys.modules))\n"
        f"for name in {OPTIONAL!r}: sys.modules[name] = None\n"
        f"for name in {LAZY!r}: importlib.import_module(name)\nprint('done')"
    )
    return in_a_fresh_process(code).splitlines()


def test_networks_load_no_triton_and_no_optional_package(imports_of_all: list[str]) -> None:
    """Triton takes half a second, and what interprets its kernels is chosen when it is imported."""
    assert imports_of_all[0] == ""


def test_every_module_imports_without_the_optional_packages(imports_of_all: list[str]) -> None:
    assert imports_of_all[-1] == "done"


def documented_fields(record: type) -> set[str]:
    """Names under "Attributes:" in the docstrings of a dataclass and of its bases."""
    docstrings = (inspect.cleandoc(kind.__doc__ or "") for kind in record.__mro__)
    lines = [line for text in docstrings for line in text.partition("Attributes:")[2].splitlines()]
    return {line.strip().partition(":")[0] for line in lines if line.startswith("    ") and line[4] != " "}


SETTINGS = [ModelConfig, *(settings for settings, _ in ENCODERS.values())]


@pytest.mark.parametrize("settings", SETTINGS, ids=[s.__name__ for s in SETTINGS])
def test_settings_are_frozen_documented_and_have_defaults(settings: type) -> None:
    fields = dataclasses.fields(settings)  # type: ignore[arg-type]
    assert settings.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert documented_fields(settings) == {field.name for field in fields}
    missing = dataclasses.MISSING
    assert [f.name for f in fields if f.default is missing and f.default_factory is missing] == []


def test_an_encoder_takes_its_width_and_its_settings() -> None:
    for name, (settings, make) in ENCODERS.items():
        parameters = list(inspect.signature(make).parameters.values())
        assert [p.name for p in parameters] == ["width", "config"], name
        assert make.settings is settings, name  # type: ignore[attr-defined]


def public_definitions(tree: ast.Module) -> list[ast.AST]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]


@cache
def trees() -> dict[Path, ast.Module]:
    """Return every module of the package and of the laboratory; a test a file would cost more than what it looks at."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def test_every_module_and_public_name_is_described() -> None:
    wrong = [
        (name_of(path), getattr(node, "name", "the module itself"))
        for path, tree in trees().items()
        for node in (tree, *public_definitions(tree))
        if not re.search("[A-Za-z]{4}", ast.get_docstring(node) or "")  # type: ignore[arg-type]
    ]
    assert wrong == []


LONG = {
    "attention/masks.py": 417,
    "data/download.py": 400,
    "explain/html.py": 415,
    "labeling/session.py": 400,
}
"""Files that are too long and are to be divided; none of them may grow, and no other one may join them."""
PEERS = "heedful_lab/studies/peers.py"
"""It times the file that users of scikit-learn keep a pipeline in, which it wrote itself."""


def test_no_file_is_long() -> None:
    lines = {name_of(path): path.read_text(encoding="utf-8").count("\n") for path in FILES}
    assert {name: count for name, count in lines.items() if count > LONG.get(name, 399)} == {}


def test_no_pickle() -> None:
    for path, tree in trees().items():
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
        imported = {alias.name for node in nodes for alias in node.names}
        assert name_of(path) == PEERS or not imported & {"pickle", "dill", "joblib", "shelve"}, path
        text = path.read_text(encoding="utf-8")
        assert "allow_pickle=True" not in text, path
        assert "torch.load(" not in text, path
