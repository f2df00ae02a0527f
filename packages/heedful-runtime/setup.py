"""Builds the wheel: the modules of heedful that answer and explain without torch, under the name ``heedful_runtime``.

In a checkout they are gathered anew for every build; a source distribution holds them.
"""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEEDFUL = HERE.parents[1] / "src" / "heedful"
NAME = "heedful_runtime"
_SERVING = ("authorization", "service", "server", "supervisor", "model_store", "request_limits")
SERVING = tuple(f"heedful.serving.{name}" for name in _SERVING)
ROOTS = ("heedful.runtime", "heedful.runtime.command", "heedful.explain.explainer", *SERVING)
"""What is needed; everything of heedful that these import comes along."""
WITH_TORCH = ("heedful.tasks", "heedful.models")
"""What is left out: it is asked for only after it was seen that torch is there."""
TRAINING = ("adadelta", "dropout", "padding", "pointwise", "source_to_token", "tensorized")
"""Kernels that only a training calls; they are not compiled here."""
ASSETS = (Path("serving", "playground"),)
"""Folders of files that come along."""
_IMPORT = re.compile(r"^(\s*(?:from|import)\s+)heedful(?=[.\s])", re.MULTILINE)

_VERSION = re.compile(r'^__version__ = "[^"]+"', re.MULTILINE)


def gather(heedful: Path, target: Path) -> list[str]:
    """Copy the modules that the runtime needs, with imports of ``heedful_runtime``, and the sources of the kernels.

    Args:
        heedful: the package ``heedful`` in a checkout.
        target: a folder; its former content is removed.

    Returns:
        The names of the modules, as heedful has them.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(HERE / "own", target / NAME)
    own = target / NAME / "__init__.py"
    (version,) = _VERSION.findall((heedful / "version.py").read_text(encoding="utf-8"))
    own.write_text(_VERSION.sub(version, own.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copytree(heedful / "csrc", target / "csrc")
    for folder in ASSETS:
        shutil.copytree(heedful / folder, target / NAME / folder)
    found = sorted(_needed(heedful))
    for module in found:
        source = _file(heedful, module)
        copy = target / NAME / source.relative_to(heedful)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(_IMPORT.sub(rf"\g<1>{NAME}", source.read_text(encoding="utf-8")), encoding="utf-8")
    return found


def _needed(heedful: Path) -> set[str]:
    needed: set[str] = set()
    waiting = list(ROOTS)
    while waiting:
        module = waiting.pop()
        if module in needed or module == "heedful":
            continue
        needed.add(module)
        package = module.rpartition(".")[0]
        waiting += [package, *_imports(heedful, module)]
    return needed


def _imports(heedful: Path, module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(_file(heedful, module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "heedful":
            if str(node.module).startswith(WITH_TORCH):
                continue
            yield str(node.module)
            # what is imported from a package may be a module of its own
            inner = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name for name in inner if _file(heedful, name).exists())


def _file(heedful: Path, module: str) -> Path:
    path = heedful.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


if __name__ == "__main__":
    from setuptools import Extension, setup

    if HEEDFUL.is_dir():
        gather(HEEDFUL, HERE / "selected")
    sources = Path("selected/csrc")
    setup(
        ext_modules=[
            Extension(
                f"{NAME}._kernels",
                sources=sorted(str(path) for path in sources.glob("*.cpp") if path.stem not in TRAINING),
                depends=sorted(str(path) for path in sources.iterdir()),
                # as in heedful's own setup.py: no contraction of a product and a sum
                extra_compile_args=["-std=c++17", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-g0"],
                extra_link_args=["-pthread", "-ldl"],
                py_limited_api=True,
                optional=True,
            )
        ],
        options={"bdist_wheel": {"py_limited_api": "cp311"}},
    )
