"""No command writes over a file that it reads, by any name of that file."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

import tiny
from heedful.cli.guards import WrittenPath
from heedful.cli.main import group
from heedful.errors import ExitCode
from whole_models import whole

POOL = "text\nwho\nwhere\n"
CALLS = {
    "suggest": ("suggest", "{model}", "{file}", "-n", "1", "--output", "{other}"),
    "predict": ("predict", "{model}", "--input", "{file}", "--output", "{other}"),
    "encode": ("encode", "{model}", "--input", "{file}", "--output", "{other}"),
    "parse": ("parse", "--parser", "builtin", "--input", "{file}", "--output", "{other}"),
    "evaluate": ("evaluate", "{model}", "{file}", "--figure", "{other}"),
    "explain": ("explain", "{model}", "--input", "{file}", "--html", "{other}"),
    "faithfulness": ("faithfulness", "{model}", "{file}", "--figure", "{other}"),
    "train": ("train", "my-texts", "--set", "data.train={file}", "--out", "{other}"),
    "tune": ("tune", "{folder}/best.toml", "--out", "{folder}"),
    "bench": ("bench", "--join", "{folder}/bench.json", "--out", "{folder}"),
}
NAMES = (
    "same",
    "relative",
    "symbolic link",
    "hard link",
    "through a linked folder",
    "through a missing folder",
)


def other_name(file: Path, how: str) -> Path:
    """Return another name of a file."""
    match how:
        case "relative":
            return Path(os.path.relpath(file))
        case "symbolic link":
            (link := file.with_name(f"link{file.suffix}")).symlink_to(file)
            return link
        case "hard link":
            os.link(file, link := file.with_name(f"hard{file.suffix}"))
            return link
        case "through a linked folder":
            (folder := file.parent / "again").symlink_to(file.parent)
            return folder / file.name
        case "through a missing folder":
            return file.parent / "new" / ".." / file.name
    return file


@pytest.mark.parametrize("how", NAMES)
@pytest.mark.parametrize("command", sorted(CALLS))
def test_what_is_read_is_not_written_over(tmp_path: Path, command: str, how: str) -> None:
    file = tmp_path / "pool.csv"
    file.write_text(POOL)
    for name in ("best.toml", "bench.json"):
        (tmp_path / name).write_text(POOL)
    other = other_name(file, how)
    said = tiny.run(
        *(
            each.format(model=tmp_path / "m", file=file, other=other, folder=tmp_path)
            for each in CALLS[command]
        )
    )
    assert said.code == 2
    assert "name another one" in said.err
    assert len(said.err.splitlines()) == 1
    assert {path.read_text() for path in tmp_path.rglob("*.*") if path.is_file()} == {POOL}


@pytest.mark.parametrize("how", ["same", "relative", "symbolic link"])
@pytest.mark.parametrize("part", ["", "model"])
@pytest.mark.parametrize(
    "given",
    [
        ("--teacher", "{}"),
        ("--from", "{}"),
        ("--set", 'distil.teacher=["{}"]'),
        ("--set", "data.learn_from={}"),
    ],
)
def test_a_model_that_is_read_is_not_replaced(
    tmp_path: Path, given: tuple[str, str], part: str, how: str
) -> None:
    """A teacher would be the first thing that its student replaces."""
    (run := tmp_path / "run").mkdir()
    (run / "model").mkdir()
    for name in ("config.toml", "model/manifest.json"):
        (run / name).write_text("{}")
    (tmp_path / "pool.csv").write_text("text,label\nwho,a\nwhere,b\n")
    source, other = run / part, other_name(run, how)
    named = [each.format(source) for each in given]
    said = tiny.run("train", tmp_path / "pool.csv", *named, "--out", other, "--overwrite", "--quiet")
    assert said.code == 2
    assert "name another one" in said.err
    assert (run / "model" / "manifest.json").read_text() == "{}"


@pytest.mark.parametrize("option", ["--texts", "--none-of-these"])
def test_files_that_options_name_by_a_text_are_not_written_over(tmp_path: Path, option: str) -> None:
    (file := tmp_path / "pool.csv").write_text(POOL)
    said = tiny.run("train", "my-texts", option, file, "--out", file)
    assert (said.code, f"is the file of {option}; name another one" in said.err) == (2, True)
    assert file.read_text() == POOL


def test_two_outputs_of_one_call_are_two_files(tmp_path: Path) -> None:
    said = tiny.run("export", tmp_path, "--onnx", tmp_path / "a", "--page", tmp_path / "a")
    assert (said.code, "would be written there too" in said.err) == (2, True)


def test_no_file_of_a_model_is_written_over(tmp_path: Path) -> None:
    for name in ("manifest.json", "config.json"):
        (tmp_path / name).write_text("{}")
    said = tiny.run("explain", tmp_path, "--text", "who", "--html", tmp_path / "config.json")
    assert (said.code, "is a file of the model" in said.err) == (2, True)
    assert (tmp_path / "config.json").read_text() == "{}"


def test_every_option_that_names_an_output_is_known_to_the_guard() -> None:
    read = {
        "--data",
        "--input",
        "--references",
        "--compare",
        "--all",
        "--key-file",
        "--from",
        "--space",
        "--convert",
        "--join",
        "--examples",
        "--frozen",
        "--transformer",
    }

    def paths(command: click.Command) -> set[str]:
        if isinstance(command, click.Group):
            return set().union(*(paths(each) for each in command.commands.values()))
        return {
            each.opts[0]
            for each in command.params
            if isinstance(each, click.Option)
            and isinstance(each.type, click.Path)
            and not isinstance(each.type, WrittenPath)
        }

    context = click.Context(group)
    found = set().union(*(paths(group.get_command(context, name)) for name in group.list_commands(context)))
    assert found <= read


@pytest.mark.parametrize(
    "call",
    [
        ("explain", "{model}", "who", "--html"),
        ("export", "{model}", "--onnx"),
        ("export", "{model}", "--page"),
        ("export", "{model}", "--javascript"),
        ("parse", "--parser", "builtin", "--text", "who", "--output"),
    ],
)
def test_a_file_of_another_kind_is_not_replaced(tmp_path: Path, call: tuple[str, ...]) -> None:
    """A table of the user's is no page; a new file may have any name."""
    (file := tmp_path / "reviews.csv").write_text(POOL)
    said = tiny.run(*(each.format(model=tmp_path / "m") for each in call), file)
    assert (said.code, "is a file that ends in .csv" in said.err) == (2, True)
    assert file.read_text() == POOL


@pytest.mark.parametrize(
    "words",
    [
        ("train", "a.csv", "--out", ""),
        ("train", "a.csv", "--from", " "),
        ("predict", "", "--text", "a"),
        ("predict", "m", "--input", ""),
        ("evaluate", "m", ""),
        ("export", "m", "--page", ""),
        ("serve", "", "--port", "0"),
        ("serve", "name=", "--port", "0"),
    ],
)
def test_an_empty_path_is_not_the_folder_where_the_command_runs(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "m").mkdir()
    refused = tiny.run(*words)
    assert (refused.code, refused.err.count("\n")) == (2, 1), refused.err
    assert "empty" in refused.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "m"]


def test_a_name_that_is_too_long_is_no_internal_error(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\na,x\nb,y\n" * 9)
    refused = tiny.run("train", tmp_path / "a.csv", "--out", tmp_path / ("z" * 300))
    assert refused.code == 2
    assert "File name too long; give another path" in refused.err


def test_links_in_a_circle_are_no_folder_for_anything(tmp_path: Path) -> None:
    (folder := tmp_path / "circle").symlink_to(folder)
    (tmp_path / "pool.csv").write_text(POOL)
    whole(tmp_path / "model", "text", parts=["wide"])
    for given in (
        ("export", tmp_path / "model", "--int8", folder),
        ("export", tmp_path / "model", "--int8", folder / "in"),
        ("predict", tmp_path / "model", "--input", tmp_path / "pool.csv", "--jobs", "1", "--output", folder),
        ("serve", folder),
    ):
        said = tiny.run(*given)
        assert said.code in (ExitCode.BAD_ARTIFACT, ExitCode.CANNOT_WRITE), said.err
        assert len(said.err.splitlines()) == 1
        assert " link" in said.err or given[0] == "serve"
