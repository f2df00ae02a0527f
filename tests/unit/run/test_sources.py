"""Settings to parts: who trains, who selects, who is read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tiny
from heedful.data.examples import Corpus, Example
from heedful.errors import DataError, UsageError
from heedful.models import ModelConfig
from heedful.run import prepare
from heedful.run.recipe_files import load_config
from heedful.run.run_config import DataConfig, RunConfig
from heedful.run.sources import data_root, find_source, from_examples, own_fold
from heedful.tasks import tables
from heedful.tasks.prepared import Protocol
from heedful.tasks.tables import find_named


def config(task: str = "text", **data: object) -> RunConfig:
    return RunConfig(data=DataConfig(**data), model=ModelConfig(task=task))  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.write_tasks(tmp_path / "data")


NAMED = {"train": "text.csv", "test": "text-test.csv", "text": "text", "label": "label"}


def texts(examples: Sequence[Example]) -> list[str]:
    return [example.texts[0] for example in examples]


def test_a_dev_part_is_cut_from_training_and_test_is_left_alone(folder: Path) -> None:
    source = find_source(config(**NAMED), folder)
    parts = source.load()
    assert {name: len(corpus.examples) for name, corpus in parts.items()} == {
        "train": 108,
        "dev": 12,
        "test": 40,
    }
    assert source.task == "text"
    protocol = source.protocol
    assert (protocol.selects, protocol.dev_fraction, protocol.cut_seed) == ("cut", 0.1, 0)
    assert list(source.fingerprint) == ["text.csv", "text-test.csv"]
    other = find_source(replace(config(**NAMED), train=replace(RunConfig().train, seed=1)), folder).load()
    assert texts(other["dev"].examples) != texts(parts["dev"].examples)


SAME = {"train": "train/data.csv", "test": "test/data.csv", "text": "text", "label": "label"}


def in_folders_of_their_own(folder: Path) -> Path:
    """Give both files of the text task one base name; return that of the training part."""
    for part, name in (("train", "text.csv"), ("test", "text-test.csv")):
        (folder / part).mkdir()
        (folder / name).rename(folder / part / "data.csv")
    return folder / "train" / "data.csv"


def test_files_of_one_base_name_are_told_apart(folder: Path) -> None:
    in_folders_of_their_own(folder)
    fingerprint = find_source(config(**SAME), folder).fingerprint
    assert list(fingerprint) == ["train/data.csv", "test/data.csv"]
    assert len(set(fingerprint.values())) == 2


def test_an_absolute_name_is_published_without_its_folder(folder: Path) -> None:
    in_folders_of_their_own(folder)
    absolute = {part: str(folder / SAME[part]) for part in ("train", "test")}
    fingerprint = find_source(config(**{**SAME, **absolute}), None).fingerprint
    assert list(fingerprint) == ["train: data.csv", "test: data.csv"]
    assert len(set(fingerprint.values())) == 2


def test_a_changed_file_is_read_again_although_another_shares_its_base_name(
    folder: Path, tmp_path: Path
) -> None:
    file = in_folders_of_their_own(folder)
    settings = config(**SAME)

    def rows() -> int:
        datasets = prepare(settings, folder, tmp_path / "cache").datasets
        return len(datasets["train"]) + len(datasets["dev"])

    assert (rows(), rows()) == (120, 120)
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:61]))
    assert rows() == 60


def test_a_file_that_changes_while_it_is_read_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, summed = folder / "text.csv", tables.sum_of

    def changing(path: Path) -> str:
        found = summed(path)
        if path == file:
            file.write_text("".join(file.read_text().splitlines(keepends=True)[:61]))
        return found

    monkeypatch.setattr(tables, "sum_of", changing)
    with pytest.raises(DataError, match=r"text\.csv: was changed while it was read"):
        prepare(config(**NAMED), folder, tmp_path / "cache")
    monkeypatch.undo()
    assert len(prepare(config(**NAMED), folder, tmp_path / "cache").datasets["train"]) == 54


def test_parallel_files_of_one_base_name_are_told_apart(folder: Path) -> None:
    for part, rows in (("train", 5), ("test", 3)):
        (folder / part).mkdir()
        for language in ("en", "de"):
            (folder / part / f"text.{language}").write_text("a word\n" * rows, encoding="utf-8")
    named = {"train": "train/text", "test": "test/text", "languages": ("en", "de")}
    fingerprint = find_source(config("translation", **named), folder).fingerprint
    names = [f"{part}/text.{language}" for part in ("train", "test") for language in ("en", "de")]
    assert sorted(fingerprint) == sorted(names)
    absolute = {part: str(folder / part / "text") for part in ("train", "test")}
    fingerprint = find_source(config("translation", **{**named, **absolute}), None).fingerprint
    assert sorted(fingerprint) == sorted(name.replace("/", ": ") for name in names)


def test_a_named_dev_part_selects(folder: Path) -> None:
    source = find_source(config(**{**NAMED, "dev": "text-test.csv", "test": ""}), folder)
    parts = source.load()
    assert {name: len(corpus.examples) for name, corpus in parts.items()} == {"train": 120, "dev": 40}
    assert source.protocol == Protocol("files", "dev", dev="text-test.csv", test="")


PARALLEL = {"train": "train", "test": "test", "languages": ("en", "de")}
SCENES = {"set": "scenes", "options": {"train": 30, "dev": 15, "test": 15}}


@pytest.mark.parametrize(
    ("named", "size"),
    [(NAMED, 40), ({**NAMED, "dev": "text.csv"}, 40), ({**PARALLEL, "dev": "dev"}, 3), (SCENES, 15)],
)
def test_the_papers_protocol_selects_on_the_test_part(folder: Path, named: dict[str, Any], size: int) -> None:
    for part, rows in (("train", 5), ("dev", 4), ("test", 3)):
        for language in ("en", "de"):
            (folder / f"{part}.{language}").write_text("a word\n" * rows, encoding="utf-8")
    task = "translation" if "languages" in named else "text"
    honest = find_source(config(task, **named), folder).load()
    assert honest["dev"] is not honest["test"]
    source = find_source(config(task, **named, protocol="paper"), folder)
    parts = source.load()
    assert parts["dev"] is parts["test"]
    assert len(parts["test"].examples) == size
    assert source.protocol.selects == "test"
    assert "dev.en" not in source.fingerprint


def test_the_papers_protocol_needs_a_test_part(folder: Path) -> None:
    with pytest.raises(
        UsageError, match=r"test split selects the best checkpoint: name its file as data\.test"
    ):
        find_source(config(**{**NAMED, "test": "", "dev": "text-test.csv"}, protocol="paper"), folder)


def test_each_example_is_tested_in_one_fold_and_trains_or_selects_in_the_others(tmp_path: Path) -> None:
    count, n = 31, 3
    folder, every_row = tiny.write_polarity(tmp_path, count), list(range(1, count + 1))
    tested: list[int] = []
    for fold in range(1, n + 1):
        source = find_source(config(set="cr", folds=n, fold=fold), folder)
        assert (source.protocol.fold, source.protocol.folds, source.protocol.fold_seed) == (fold, n, 0)
        rows = {name: [example.row for example in part.examples] for name, part in source.load().items()}
        assert sorted(rows["train"] + rows["dev"] + rows["test"]) == every_row
        tested += rows["test"]
    assert sorted(tested) == every_row


@pytest.mark.parametrize("fold", [1, 9])
def test_more_folds_than_texts_are_refused_by_the_first_fold(fold: int) -> None:
    whole = Corpus([Example((f"text {k}",), "ab"[k % 2]) for k in range(8)])
    with pytest.raises(DataError, match="has too few different texts for 9 folds"):
        own_fold(whole, DataConfig(train="a.csv", folds=9, fold=fold, hold_out_fold=True))
    found = own_fold(whole, DataConfig(train="a.csv", folds=8, fold=8, hold_out_fold=True))
    assert [len(found[part].examples) for part in ("train", "test")] == [7, 1]


def test_files_are_looked_for_in_the_folder_then_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    (folder.parent / "here.csv").write_text("a")
    (folder.parent / "text.csv").write_text("another one")
    assert find_named("text.csv", folder) == folder / "text.csv"
    assert find_named("here.csv", folder) == Path("here.csv")
    assert find_named("text.csv", None) == Path("text.csv")
    missing = rf"^\w+: no such file \(.*\)\. It is not in the folder of data sets, {folder}, either$"
    with pytest.raises(DataError, match=missing):
        find_named("zzzzzzzz", folder)


def test_a_close_name_is_offered_from_both_places(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    (folder.parent / "reviews.csv").write_text("a")
    with pytest.raises(DataError, match=r"^reveiws\.csv: no such file; did you mean 'reviews\.csv'\?$"):
        find_named("reveiws.csv", folder)
    (folder / "questions.csv").write_text("a")
    with pytest.raises(
        DataError, match=rf"\? {folder}/qestions\.csv: no such file; did you mean 'questions\.csv'\?$"
    ):
        find_named("qestions.csv", folder)
    with pytest.raises(DataError, match=r"/none/a\.csv: no such file, and no such folder [^ ]*/none$"):
        find_named(str(folder / "none" / "a.csv"), folder)  # said once


def test_a_folder_is_asked_for_only_where_one_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    assert data_root(config(set="scenes"), None) is None
    assert (
        data_root(load_config("my-texts"), None) is None
    )  # and there is nothing to train on, which is said later
    assert data_root(config(**NAMED), None) is None
    assert data_root(config(**NAMED), tmp_path) == tmp_path
    with pytest.raises(UsageError, match="HEEDFUL_DATA"):
        data_root(config(set="trec"), None)


def test_nothing_to_train_on_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"there is nothing to train on"):
        find_source(config(), None)


GENERATED_PAIRS = "5506f6b48c9da3ab1355f87fbf33aa81702bbe6838a900005cb9c2b07c3e7229"
"""If this changes, the kept runs of the generated corpus are of other data and must be made again."""


def test_the_generated_corpus_is_keyed_by_its_generator() -> None:
    source = find_source(config(set="scenes", options={"train": 30, "dev": 15, "test": 15}), None)
    assert source.task == "pair"
    assert source.labels == ("entailment", "neutral", "contradiction")
    assert source.fingerprint["generator"] == GENERATED_PAIRS
    assert set(source.load()) == {"train", "dev", "test"}


def test_examples_from_python() -> None:
    examples = [Example((text,), label) for text, label in tiny.texts()[:40]]
    source = from_examples(examples, None, "text", 0.25, seed=0)
    assert source.labels == ("neg", "pos")
    assert len(source.load()["dev"].examples) == 10
    given = from_examples(examples[:30], examples[30:], "text", 0.25, seed=0)
    assert texts(given.load()["dev"].examples) == texts(examples[30:])
    with pytest.raises(DataError, match="2 usable rows are too few to hold out a dev split of 25%"):
        from_examples([examples[0], Example(("a",), "other")], None, "text", 0.25, seed=0).load()


def test_splits_of_a_known_set_are_named_and_limited(tmp_path: Path) -> None:
    (tmp_path / "multinli").mkdir()
    row = '{"gold_label": "neutral", "sentence1": "a cat %d", "sentence2": "it sleeps"}\n'
    for name, rows in (("train_part", 40), ("dev_matched", 7)):
        text = "".join(row % k for k in range(rows))
        (tmp_path / "multinli" / f"multinli_1.0_{name}.jsonl").write_text(text, encoding="utf-8")
    named = {"set": "multinli", "train": "train-part", "test": "dev-matched", "train_limit": 30}
    source = find_source(config(**named), tmp_path)
    parts = source.load()
    assert list(parts) == ["train", "dev", "test"]
    assert {name: len(corpus.examples) for name, corpus in parts.items()} == {
        "train": 27,
        "dev": 3,
        "test": 7,
    }
    kept = sorted(texts([*parts["train"].examples, *parts["dev"].examples]), key=lambda text: int(text[6:]))
    assert kept == [f"a cat {k}" for k in range(30)]
    protocol = source.protocol
    assert (protocol.train, protocol.test, protocol.train_limit) == ("train-part", "dev-matched", 30)
    with pytest.raises(UsageError, match=r"train_limit must be 0 or more; got -1"):
        config(train_limit=-1)


def test_a_named_split_of_a_known_set_selects(tmp_path: Path) -> None:
    (tmp_path / "multinli").mkdir()
    row = '{"gold_label": "neutral", "sentence1": "a cat", "sentence2": "it sleeps"}\n'
    for name, rows in (("train_part", 9), ("dev_matched", 5), ("dev_mismatched_one_annotator", 3)):
        (tmp_path / "multinli" / f"multinli_1.0_{name}.jsonl").write_text(row * rows, encoding="utf-8")
    named = {"set": "multinli", "train": "train-part", "dev": "dev-matched"}
    named["test"] = "dev-mismatched-one-annotator"
    source = find_source(config(**named), tmp_path)
    sizes = {name: len(corpus.examples) for name, corpus in source.load().items()}
    assert sizes == {"train": 9, "dev": 5, "test": 3}
    assert (source.protocol.selects, source.protocol.dev) == ("dev", "dev-matched")
    selected = find_source(config(**named, protocol="paper"), tmp_path).load()
    assert len(selected["dev"].examples) == 3
    with pytest.raises(
        UsageError, match=r"data\.dev='dev-machted' is not a split of multinli; did you mean 'dev-m"
    ):
        find_source(config(**{**named, "dev": "dev-machted"}), tmp_path)
    with pytest.raises(UsageError, match=r"data\.dev and data\.test are both 'dev-matched'"):
        find_source(config(**{**named, "test": "dev-matched"}), tmp_path)
    with pytest.raises(
        UsageError, match=r"data\.dev='dev': cr has no official splits and is divided into folds"
    ):
        find_source(config(set="cr", dev="dev"), tmp_path)


def test_phrases_of_trees_train_while_whole_sentences_select_and_test(tmp_path: Path) -> None:
    trees = tmp_path / "sst" / "trees"
    trees.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (trees / f"{split}.txt").write_text("(3 (2 It) (4 shines))\n(1 (2 It) (0 drags))\n")
    options = {"phrases": True, "rebalance": True}
    source = find_source(config(set="sst-5", options=options), tmp_path)
    sizes = {name: len(corpus.examples) for name, corpus in source.load().items()}
    assert sizes == {"train": 2 * (4 + 4 + 1), "dev": 2, "test": 2}  # two nodes of a tree count four times
    selected = find_source(config(set="sst-5", options=options, protocol="paper"), tmp_path).load()
    assert {name: len(corpus.examples) for name, corpus in selected.items()} == sizes
