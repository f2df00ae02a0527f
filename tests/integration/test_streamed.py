"""``predict`` and ``encode`` answer in blocks: the same bytes, in order, in the memory of one block."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.cli.request_files import LINE_SUFFIXES
from heedful.data.readers import corpus_builder
from heedful.errors import ExitCode

TEXTS = [text for text, _ in tiny.texts()[:60]]


@pytest.fixture
def blocks_of_seven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_builder, "BLOCK_ROWS", 7)


def lines(folder: Path, texts: list[str] = TEXTS, name: str = "t.txt") -> Path:
    path = folder / name
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("where", ["t.txt", "t.csv", "t.json", "-"])
def test_blocks_print_what_one_piece_prints(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, form: tuple[str, ...]
) -> None:
    path = lines(tmp_path)
    if where == "t.csv":
        path = tiny.write_csv(tmp_path / where, [(text,) for text in TEXTS], ["text"])
    if where == "t.json":
        path = tmp_path / where
        path.write_text(json.dumps([{"text": text} for text in TEXTS]))
    found = []
    for size in (8_192, 7):
        monkeypatch.setattr(corpus_builder, "BLOCK_ROWS", size)
        if where == "-":
            piped(monkeypatch, path.read_bytes())
        result = tiny.run("predict", trained.runs / "text", "--input", "-" if where == "-" else path, *form)
        assert (result.code, result.err) == (0, "")
        found.append(result.out.splitlines())
    assert len(found[1]) == len(TEXTS)
    if not form:
        assert found[0] == found[1]
        return
    for whole, block in zip(*(map(json.loads, lines) for lines in found), strict=True):
        assert (whole["row"], whole["label"], whole["tokens"]) == (
            block["row"],
            block["label"],
            block["tokens"],
        )
        for name, probability in whole["probabilities"].items():
            assert block["probabilities"][name] == pytest.approx(probability, abs=1e-6)  # other neighbors


@pytest.mark.usefixtures("blocks_of_seven")
def test_vectors_in_blocks_are_the_file_that_numpy_saves(trained, tmp_path: Path) -> None:
    path, output = lines(tmp_path), tmp_path / "v.npy"
    result = tiny.run("encode", trained.runs / "text", "--input", path, "--output", output)
    assert result.err == f"{output}: 60 vectors of {np.load(output).shape[1]} features\n"
    saved = io.BytesIO()
    np.save(saved, np.load(output))
    assert output.read_bytes() == saved.getvalue()
    printed = tiny.run("encode", trained.runs / "text", "--input", path).out.splitlines()
    np.testing.assert_allclose([json.loads(line) for line in printed], np.load(output), atol=1e-6)


MISTAKES = {
    "encoding": (b"\xff", "row 60: byte 0xff"),
    "length": (b"word " * 500, "row 60, text: 500 tokens"),
}


@pytest.mark.usefixtures("blocks_of_seven")
@pytest.mark.parametrize("verb", ["predict", "encode"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_file_is_told_before_anything_is_printed(
    trained, tmp_path: Path, verb: str, mistake: str
) -> None:
    content, said = MISTAKES[mistake]
    path = lines(tmp_path, TEXTS[:-1])
    path.write_bytes(path.read_bytes() + content)
    result = tiny.run(verb, trained.runs / "text", "--input", path)
    assert (result.code, result.out, result.err.count("\n")) == (ExitCode.BAD_DATA, "", 1)
    assert said in result.err


@pytest.mark.usefixtures("blocks_of_seven")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_pipe_leaves_the_blocks_before_it(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    content, said = MISTAKES[mistake]
    whole = tiny.run("predict", trained.runs / "text", "--input", lines(tmp_path)).out.splitlines()
    piped(monkeypatch, lines(tmp_path, TEXTS[:-1]).read_bytes() + content)
    result = tiny.run("predict", trained.runs / "text", "--input", "-")
    assert (result.code, result.err.count("\n")) == (ExitCode.BAD_DATA, 1)
    assert said in result.err
    assert result.out.splitlines() == whole[:56]


@pytest.mark.usefixtures("blocks_of_seven")
def test_a_failed_file_of_vectors_leaves_the_old_one(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "v.npy"
    output.write_bytes(b"old")
    piped(monkeypatch, lines(tmp_path).read_bytes() + b"\xff")
    result = tiny.run("encode", trained.runs / "text", "--input", "-", "--output", output)
    assert result.code == ExitCode.BAD_DATA
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.txt", "v.npy"]
    assert output.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["t.odt", "t.pdf", "t.csv.7z", "t.conllu", "t.en", "t.npy.gz", "t.label"])
def test_a_name_that_says_nothing_is_refused_with_those_that_do(trained, tmp_path: Path, name: str) -> None:
    path = lines(tmp_path, name=name)
    for verb in ("predict", "encode"):
        result = tiny.run(verb, trained.runs / "text", "--input", path)
        assert (result.code, result.out, result.err.count("\n")) == (ExitCode.USAGE, "", 1), result
        for part in (*LINE_SUFFIXES, ".csv", ".jsonl", ".json", ".parquet", ".zst", "--input - < FILE"):
            assert part in result.err


def test_a_line_end_in_the_name_of_a_file_makes_no_second_line(trained, tmp_path: Path) -> None:
    output = tmp_path / "two\nlines.csv"
    result = tiny.run(
        "predict", trained.runs / "text", "--input", lines(tmp_path, TEXTS[:2]), "--output", output
    )
    assert (result.code, result.err.count("\n")) == (0, 1), result.err
    assert output.exists()


@pytest.mark.parametrize("name", ["texts", *(f"t{suffix}" for suffix in LINE_SUFFIXES), "T.TXT"])
def test_names_of_a_text_a_line(trained, tmp_path: Path, name: str) -> None:
    assert tiny.run("predict", trained.runs / "text", "--input", lines(tmp_path, TEXTS[:2], name)).code == 0
