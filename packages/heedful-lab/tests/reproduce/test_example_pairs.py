"""A table of example pairs: found by hash, answered by models that are trained once or given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tiny
from heedful.data.examples import Corpus, Example
from heedful.errors import DataError, UsageError
from heedful.storage.fields import Fields
from heedful_lab.reproduce import Order, answer_examples, answering, find_table, make
from heedful_lab.reproduce.example_pairs import Examples, Pair, read_examples
from heedful_lab.reproduce.listing import list_tables
from heedful_lab.reproduce.plan import Effort, Experiment, System, Table
from heedful_lab.reproduce.runner import Budget

TEXTS = ("A dog runs .", "The dog runs .")


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Table:
    """Declare a table of two pairs, one of them in the data, on the tiny task of pairs."""
    import hashlib

    folder = tiny.write_tasks(tmp_path / "data")
    experiment = Experiment(
        "pairs",
        "tiny pairs",
        str(folder / "pair.toml"),
        ("train.max_steps=2",),
        {"standard": Effort((), 1.0)},
        (3,),
        0,
        (),
    )
    monkeypatch.setattr(answering, "experiments", lambda: {"pairs": experiment})
    monkeypatch.setattr(answering, "systems", lambda: {"small": System("small", ("model.hidden=8",), {})})
    corpus = Corpus([Example(("An owl .", "A bird .")), Example(TEXTS, "same")])
    monkeypatch.setattr(answering.catalog, "load", lambda *_: corpus)
    digest = hashlib.sha256("\t".join(TEXTS).encode()).hexdigest()
    paper = {"ours": "same", "theirs": "other"}
    pairs = (Pair("A", "1#a", digest, "same", paper), Pair("B", "2#b", "0" * 64, "other", paper))
    examples = Examples("known:dev", "pairs", {"ours": "small"}, pairs)
    return Table("tiny-table3", "Tiny, Table 3", (), (), "", ("a note",), "", "", examples)


def run(table: Table, tmp_path: Path, *changes: str, **options: object) -> answering.ExampleTable:
    data = tmp_path / "data"
    order = Order(data, tmp_path / "out", Budget(overrides=changes), **options)  # type: ignore[arg-type]
    return answer_examples(table, order)


def test_the_table_of_the_paper_names_nine_pairs() -> None:
    table = find_table("decomposable-table3")
    assert table.examples is not None
    assert "".join(pair.name for pair in table.examples.pairs) == "ABCDEFGHI"
    right = {
        model: sum(pair.paper[model] == pair.gold for pair in table.examples.pairs)
        for model in ("vanilla", "intra", "SPINN-PI", "mLSTM")
    }
    assert right == {"vanilla": 3, "intra": 5, "SPINN-PI": 3, "mLSTM": 3}
    assert len({pair.sha256 for pair in table.examples.pairs}) == 9


def test_models_are_trained_once_and_answer(table: Table, tmp_path: Path) -> None:
    said: list[str] = []
    made = run(table, tmp_path, print_line=said.append)
    assert len(said) == 1
    (answer,) = made.answers
    assert (answer.pair, answer.model, answer.right) == ("A", "ours", answer.answer == "same")
    text = made.render()
    assert TEXTS[1] in text
    assert "not in the data" in text
    assert f"ours: {int(answer.right)} of 1 right; the paper's 1; disan" in text
    files = {
        suffix: (tmp_path / "out" / f"tiny-table3{suffix}").read_text() for suffix in (".md", ".csv", ".json")
    }
    assert not any(TEXTS[0] in content for content in files.values())  # the sentences are the data set's
    assert json.loads(files[".json"]) == made.as_records()
    assert f"| A `1#a` | same | same | other | **{answer.answer}** {answer.probability:.2f} |" in files[".md"]
    assert run(table, tmp_path, print_line=said.append, run=False).answers == made.answers
    assert len(said) == 1
    with pytest.raises(UsageError, match="made with other settings"):
        run(table, tmp_path, "model.dropout=0.3")


def test_given_models_answer_beside_or_instead(table: Table, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no model is there; leave --no-run out"):
        run(table, tmp_path, run=False)
    words = ("--data", tmp_path / "data", "--set", "train.max_steps=1", "-q")
    for task in ("pair", "text"):
        assert (
            tiny.run("train", tmp_path / "data" / f"{task}.toml", "--out", tmp_path / task, *words).code == 0
        )
    made = run(
        table, tmp_path, models={"ours": tmp_path / "pair", "mine": tmp_path / "pair"}, print_line=pytest.fail
    )
    assert [answer.model for answer in made.answers] == ["ours", "mine"]
    with pytest.raises(
        UsageError, match=r"--model ours: expected a model that answers pairs with other, same"
    ):
        run(table, tmp_path, models={"ours": tmp_path / "text", "mine": tmp_path / "text"})


def test_data_without_any_pair_is_told(table: Table, tmp_path: Path) -> None:
    assert table.examples is not None
    other = replace(table, examples=replace(table.examples, pairs=table.examples.pairs[1:]))
    with pytest.raises(DataError, match="known:dev holds none of the 1 pairs"):
        run(other, tmp_path)
    with pytest.raises(UsageError, match="--budget 'tiny'"):
        answer_examples(table, Order(None, tmp_path, Budget("tiny")))


def test_the_list_counts_models_and_make_sends_elsewhere(tmp_path: Path) -> None:
    line = next(line for line in list_tables(None, tmp_path, Budget()) if line.table.examples)
    assert (line.done, line.runs) == (0, 2)
    with pytest.raises(UsageError, match="holds example pairs"):
        make(line.table, Order(None, tmp_path))


def test_a_pair_with_too_few_answers_is_refused() -> None:
    pair = {"name": "A", "id": "1", "sha256": "0", "gold": "same", "paper": ["same"]}
    with pytest.raises(ValueError, match="zip"):
        read_examples(
            Fields(
                {"part": "a:b", "experiment": "e", "models": {}, "columns": ["x", "y"], "pairs": [pair]}, ""
            )
        )


def test_the_command_line_names_models() -> None:
    for words, said in (
        (("decomposable-table3", "--model", "folder"), "write NAME=FOLDER"),
        (("mtsa-table5", "--model", "a=b"), "neither a table of example pairs"),
    ):
        result = tiny.run("reproduce", *words)
        assert (result.code, said in result.err) == (2, True), result.err
