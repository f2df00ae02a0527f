"""Count the figures that the package is held to: files, lines, import circles, and the files of one run of a command.

python -m heedful_lab.repository.house_figures
python -m heedful_lab.repository.house_figures --list

The first table has what was asked for beside each figure; features that the package did not have when it was asked are
counted apart (`heedful_lab.repository.house_features`). For it, a model of 40 short texts is trained and predicts, each
in a process of its own. "Modules loaded" are the modules of the package that this process imports. "Files of which a
function ran" are those that a reader of the command has to open: some function of theirs was called, be it while the
modules were imported. Methods that `dataclass` generates do not count, because no file holds them. With `--list`, these
files and their numbers of lines are printed first.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from pathlib import Path
from types import FrameType

from heedful.tables import aligned_table
from heedful_lab.repository import ROOT
from heedful_lab.repository.house_features import SINCE, is_new

SOURCE = ROOT / "src" / "heedful"
LABORATORY = ROOT / "packages" / "heedful-lab" / "src"
FOLLOW = "--follow"
LIST = "--list"
PARSERS = ("json.load", "tomllib.load", "plain_json(", "parsed(", "read_json(", "read_toml(")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLANK = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def code_lines(text: str) -> int:
    """Count the lines that hold code: no blank lines, comments or docstrings."""
    strings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            strings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in BLANK:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - strings)


def imports(modules: dict[str, ast.Module], types_too: bool = False) -> dict[str, set[str]]:
    """Return what each module imports of the package, also inside functions, and for types alone if `types_too`."""
    edges: dict[str, set[str]] = {name: set() for name in modules}
    for name, tree in modules.items():
        typing = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import) and (types_too or id(node) not in typing):
                edges[name].update(alias.name for alias in node.names)
            if isinstance(node, ast.ImportFrom) and node.module and (types_too or id(node) not in typing):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    edges[name].add(whole if whole in modules else node.module)
    return {
        name: {other for other in found if other in modules and other != name}
        for name, found in edges.items()
    }


def circles(edges: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that reach one another."""
    reached: dict[str, set[str]] = {}
    for name in edges:
        seen, waiting = set[str](), [name]
        while waiting:
            for other in edges[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        reached[name] = seen
    found: list[set[str]] = []
    for name, seen in reached.items():
        circle = {other for other in seen if name in reached[other]}
        if name in seen and circle not in found:
            found.append(circle)
    return found


def reads_by_hand(tree: ast.Module) -> bool:
    """Return whether a module parses JSON or TOML, be it by the common functions, and looks at the types by itself."""
    calls = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(call.startswith(PARSERS) for call in calls) and any(
        call.startswith("isinstance(") and call.endswith(("dict)", "list)", "Mapping)")) for call in calls
    )


def writes_tables(tree: ast.Module) -> bool:
    """Return whether a module has a table of HTML or of Markdown among its strings."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and ("<table" in text or "| ---" in text) for text in texts)


def tables_of_tasks(tree: ast.Module, names: set[str]) -> int:
    """Count the tables of a module with two or more keys, all of which are names of tasks or of their outputs."""
    tables = (node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    return sum(
        len(table.keys) > 1
        and all(isinstance(key, ast.Constant) and key.value in names for key in table.keys)
        for table in tables
    )


def untyped(tree: ast.Module) -> set[int]:
    """Return the lines of a module on which an annotation holds `Any`: of an argument, a return or a value."""
    annotations: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)):
            annotations.append(node.annotation)
        elif isinstance(node, DEFINITIONS):
            annotations.append(node.returns)
    return {
        inner.lineno
        for annotation in annotations
        if annotation is not None
        for inner in ast.walk(annotation)
        if isinstance(inner, ast.Name) and inner.id == "Any"
    }


def follow(record: Path, arguments: list[str]) -> None:
    """Run one command of heedful in this process; write the modules it loaded and the files of which a function ran."""
    ran: set[str] = set()

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if (
            event == "call" and code.co_flags & inspect.CO_OPTIMIZED
        ):  # the bodies of modules and classes are not
            ran.add(code.co_filename)

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        from heedful.cli import main as command

        command(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "heedful")
        files = sorted(name for name in ran if Path(name).is_relative_to(SOURCE))
        record.write_text(json.dumps({"loaded": loaded, "ran": files}), encoding="utf-8")


def followed(folder: Path, *arguments: str) -> dict[str, list[str]]:
    """Return the modules that a command loads in a fresh process, and the files of which a function ran."""
    record = folder / "followed.json"
    subprocess.run(
        [sys.executable, "-m", "heedful_lab.repository.house_figures", FOLLOW, str(record), *arguments],
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{SOURCE.parent}{os.pathsep}{LABORATORY}", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found: dict[str, list[str]] = json.loads(record.read_text(encoding="utf-8"))
    return found


def commands(listed: bool) -> dict[str, int]:
    """Count what one training of `my-texts` and one prediction with its model load and run; list the files if asked."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = ("bad and dull", "good and fine")
        rows = [f"a film that is {words[row % 2]} number {row},{row % 2}\n" for row in range(40)]
        (folder / "texts.csv").write_text("text,label\n" + "".join(rows), encoding="utf-8")
        settings = ("--set", "data.train=texts.csv", "--set", "train.epochs=2")
        trained = followed(folder, "train", "my-texts", *settings, "--out", "run")
        predicted = followed(folder, "predict", "run", "--text", "a good film")
    if listed:
        for name, command in (("prediction", predicted), ("training", trained)):
            for file in map(Path, command["ran"]):
                lines = len(file.read_text(encoding="utf-8").splitlines())
                sys.stdout.write(f"{name} {lines:>5}  {file.relative_to(SOURCE)}\n")
    return {
        "modules loaded by one prediction": len(predicted["loaded"]),
        "files of which a function ran in one prediction": len(predicted["ran"]),
        "modules loaded by one training": len(trained["loaded"]),
        "files of which a function ran in one training": len(trained["ran"]),
    }


def asked(trees: dict[str, ast.Module], texts: dict[Path, str], ran: dict[str, int]) -> list[list[str]]:
    """Return the rows of the table of what was asked for."""
    sys.path.insert(0, str(ROOT / "tests" / "contracts"))
    ratchets = importlib.import_module("test_ratchets")
    counted: dict[str, int] = ratchets.figures()
    new = {path for path in texts if is_new(path.relative_to(SOURCE).as_posix())}
    lines = {path: text.count("\n") for path, text in texts.items()}
    away = [tree for path, tree in zip(texts, trees.values(), strict=True) if ratchets.outside(path)]
    here = [path for path in texts if path not in new]
    readers = [
        name
        for name, tree in trees.items()
        if name not in ("heedful.settings", "heedful.storage.fields") and reads_by_hand(tree)
    ]
    writers = [name for name, tree in trees.items() if name != "heedful.tables" and writes_tables(tree)]
    sizes = f"{len(here):,} / {sum(lines[path] for path in here):,}"
    ran_files = [
        str(ran[f"files of which a function ran in one {what}"]) for what in ("prediction", "training")
    ]
    names = {*ratchets.KINDS, *ratchets.WITH_TORCH, *ratchets.ELSEWHERE}
    names |= {kind.outputs for kind in ratchets.KINDS.values()}
    return [
        ["figure", "now", "asked"],
        [f"files / lines, features of {SINCE}", sizes, "320 / 58,000"],
        ["files / lines, newer features", f"{len(new):,} / {sum(lines[path] for path in new):,}", ""],
        ["circles by import, for types too", str(len(circles(imports(trees, types_too=True)))), "1"],
        ["files run, prediction / training", " / ".join(ran_files), "28 / 85"],
        [
            "comparisons with names of tasks; tables by them",
            f"{counted['comparisons with task names']}; {sum(tables_of_tasks(tree, names) for tree in away)}",
            "0; 0",
        ],
        ["isinstance of model classes", str(counted["isinstance of model classes"]), "0"],
        [
            "readers of records / writers of tables / crews",
            f"{len(readers) + 1} / {len(writers) + 1} / {counted['crews of processes']}",
            "1 / 1 / 2",
        ],
        ["wildcards of the mirror", str(counted["wildcards of the mirror"]), "40"],
    ]


def main(listed: bool = False) -> None:
    """Print the tables, after the files that one prediction and one training open if these are `listed`."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    trees = {}
    for path, text in texts.items():
        parts = ("heedful", *path.relative_to(SOURCE).with_suffix("").parts)
        trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(text)
    sizes = [code_lines(text) for text in texts.values()]
    names = Counter(
        path.stem
        for path in texts
        if path.stem not in ("__init__", "__main__") and "attention" not in path.parts
    )
    functions = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, DEFINITIONS)]
    wide = [f for f in functions if len(f.args.posonlyargs + f.args.args + f.args.kwonlyargs) > 7]
    found = circles(imports(trees))
    ran = commands(listed)
    sys.stdout.write("\n".join(aligned_table(asked(trees, texts, ran), right=(1, 2))) + "\n\n")
    rows = {
        "Python files": len(texts),
        "files under 25 lines of code": sum(size < 25 for size in sizes),
        "of these, the fronts of packages": sum(
            code_lines(text) < 25 for path, text in texts.items() if path.stem == "__init__"
        ),
        "median lines of code a file": statistics.median(sizes),
        "import circles": len(found),
        "repeated module names outside attention": sum(count > 1 for count in names.values()),
        "functions with more than 7 arguments": len(wide),
        "lines with Any in an annotation": sum(len(untyped(tree)) for tree in trees.values()),
        "lines of Python": sum(len(text.splitlines()) for text in texts.values()),
        **ran,
    }
    for name, value in rows.items():
        sys.stdout.write(f"{value:>8}  {name}\n")


if __name__ == "__main__":
    if FOLLOW in sys.argv[1:2]:
        follow(Path(sys.argv[2]), sys.argv[3:])
    else:
        main(listed=LIST in sys.argv[1:2])
