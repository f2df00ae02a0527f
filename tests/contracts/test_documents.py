"""What the documents name is there: files, modules, functions, settings, commands with their options, links."""

from __future__ import annotations

import dataclasses
import importlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

from heedful.cli.main import group
from heedful.run.run_config import RunConfig
from heedful.tasks.class_costs import ClassOptions
from heedful_lab.repository import settings_page

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "heedful"
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "packages").glob("*/*.md"))
    if path.name not in ("CHANGELOG.md", "LICENSE.md")
    and "results" not in path.stem
    and path.parent.name != "results"
)
CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FILE = re.compile(r"[\w./-]+(?:/|\.(?:py|cpp|h|inc|toml|md|txt))")
DOTTED = re.compile(r"heedful(?:\.\w+)+")
CLASS = re.compile(r"(?:[A-Z][a-z0-9]+){2,}(?:\.\w+)*(?:\(\))?")
LABORATORY = ROOT / "packages" / "heedful-lab"
PLACES = (
    ROOT,
    SOURCE,
    ROOT / "docs",
    ROOT / "tests",
    ROOT / "src",
    LABORATORY,
    LABORATORY / "src" / "heedful_lab",
)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def spans(page: Path) -> list[str]:
    """Return what stands in backticks in the text, without the blocks of code."""
    return CODE.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [target for target in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_are_named_exist(page: Path) -> None:
    named = [span for span in spans(page) if FILE.fullmatch(span) and "/" in span.rstrip("/")]
    assert [file for file in named if not exists(file) and not is_made(file)] == []


def exists(file: str) -> bool:
    return any((place / file).exists() for place in PLACES)


def is_made(file: str) -> bool:
    """Return whether a path is one that a command writes or reads at the user's, not one of the project."""
    return file.split("/")[0] in (
        "runs",
        "data",
        "checkpoints",
        "model",
        "numberbatch",
        "OUT",
        "DIR",
        "..",
        "~",
        "",
    )


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_names_of_the_package_can_be_imported(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [dotted for dotted in sorted(set(DOTTED.findall(text))) if not resolves(dotted)] == []


def resolves(dotted: str) -> bool:
    """Import as much of a dotted name as is a module, and look the rest up in it."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return has(found, parts[cut:])
    return False


def has(found: Any, parts: list[str]) -> bool:
    for part in parts:
        if not hasattr(found, part) and part not in getattr(found, "__annotations__", {}):
            return False
        found = getattr(found, part, None)
    return True


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_classes_and_functions_that_are_named_are_in_the_code(page: Path) -> None:
    named = {span.removesuffix("()") for span in spans(page) if CLASS.fullmatch(span) or span.endswith("()")}
    assert [one for one in sorted(named) if not all(part in words() for part in one.split("."))] == []


@cache
def words() -> set[str]:
    """Return every word of the code."""
    files = (*ROOT.glob("src/**/*.py"), *ROOT.glob("packages/**/*.py"), *ROOT.glob("src/**/*.cpp"))
    return {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}


@cache
def settings() -> dict[str, Any]:
    """Return every setting of a recipe by its dotted name."""
    return dict(_settings(RunConfig))


def _settings(kind: type, path: str = "") -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        yield f"{path}{field.name}", hint
        if dataclasses.is_dataclass(hint):
            yield from _settings(hint, f"{path}{field.name}.")  # type: ignore[arg-type]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_settings_that_are_named_exist(page: Path) -> None:
    sections = {known.split(".")[0] for known in settings() if "." in known}
    setting = re.compile(rf"((?:{'|'.join(sections)})(?:\.[a-z_0-9]+)+)(?:\s*=.*)?")
    named = {match[1] for span in spans(page) if (match := setting.fullmatch(span))}
    free = (
        "model.encoder_options.",
        "model.task_options.",
        "data.options.",
    )  # an encoder's, a task's, a reader's
    known = {*settings(), *dict(_settings(ClassOptions, "model.task_options."))}
    unknown = [one for one in sorted(named - known) if not one.startswith(free)]
    files = (".py", ".json", ".toml", ".safetensors", ".de", ".en")
    assert [one for one in unknown if not one.endswith(files)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_have_the_options_that_are_shown(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = [body for kind, body in FENCE.findall(text) if kind in ("bash", "sh", "console", "")]
    lines = [*(line for body in blocks for line in joined(body)), *spans(page)]
    wrong = [f"{line}: {problem}" for line in lines if (problem := command_problem(line))]
    assert wrong == []


def joined(body: str) -> list[str]:
    return body.replace("\\\n", " ").splitlines()


def command_problem(line: str) -> str:
    """Return what is wrong with a line that calls the command line; empty where nothing is."""
    line = line.strip().removeprefix("$ ").split(" #")[0].split(" | ")[0]
    try:
        words = shlex.split(line)
    except ValueError:
        return ""
    if len(words) < 2 or words[0] != "heedful" or not re.fullmatch(r"[a-z]+", words[1]):
        return ""
    context = click.Context(group)
    if words[1] not in group.list_commands(context):
        return f"there is no command {words[1]}"
    command = group.get_command(context, words[1])
    assert command is not None
    if isinstance(command, click.Group) and len(words) > 2 and words[2] in command.commands:
        command = command.commands[words[2]]
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    asked = [word.split("=")[0] for word in words[2:] if re.fullmatch(r"--[a-z][a-z-]*(=.*)?", word)]
    return ", ".join(option for option in asked if option not in {*known, "--help", "--version"})


def test_the_pages_of_all_settings_are_up_to_date() -> None:
    pages = settings_page.pages()
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m heedful_lab.repository.settings_page"
    text = pages[settings_page.PAGE]
    missing = [
        name
        for name, hint in settings().items()
        if not dataclasses.is_dataclass(hint) and f"`{name}`" not in text
    ]
    assert missing == []


LONG = {
    "benchmarks.md": 159,
    "reference-code.md": 304,  # a program, which has answered label columns since
}
"""Pages for users that are too long; none may grow, and no other one may join them. Others are written by
programs, or are for contributors."""


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_for_users_is_short(page: Path) -> None:
    if page.name not in (
        "settings.md",
        "encoder-options.md",
        "baselines.md",
        "results.md",
        "ARCHITECTURE.md",
    ):
        assert page.read_text(encoding="utf-8").count("\n") <= LONG.get(page.name, 150)


def test_there_are_pages_and_they_name_things() -> None:
    assert len(PAGES) > 20
    assert len([file for page in PAGES for file in spans(page) if FILE.fullmatch(file) and "/" in file]) > 60
    assert len(settings()) > 80
