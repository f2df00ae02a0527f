"""Count the figures that the package is held to: files, lines, import circles, layers.

python scripts/house_figures.py
"""

from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "heedful"
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


def imports(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return what each module imports of the package, also inside functions; imports for types alone do not count."""
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
            if isinstance(node, ast.ImportFrom) and node.module and id(node) not in typing:
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


def main() -> None:
    """Print one figure a line."""
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
        "lines of Python": sum(len(text.splitlines()) for text in texts.values()),
    }
    for name, value in rows.items():
        sys.stdout.write(f"{value:>8}  {name}\n")


if __name__ == "__main__":
    main()
