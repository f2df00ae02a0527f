from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from heedful.data.cache import PreparedData, cache_folder, cache_key, load_or_prepare, load_or_read_vectors
from heedful.data.encoding import EncodedDataset, encode
from heedful.data.examples import Example
from heedful.data.gold import class_targets
from heedful.data.tokens import tokenize_corpus
from heedful.storage.growing_arrays import released
from heedful.storage.writing import token
from heedful.text.vocabulary import Vocabulary

EXAMPLES = [
    Example(("A dog runs.", "caf\u00e9 \ud800"), "no", row=2, group="x"),
    Example(("It does", ""), "yes", row=3, group="y"),
]


def prepare() -> PreparedData:
    corpus = tokenize_corpus(EXAMPLES)
    vocabulary = Vocabulary.build(corpus.counts(), pretrained=["horse"], baseforms={"horses": "horse"})
    train = encode(corpus, vocabulary, class_targets(corpus, ("no", "yes")), labels=("no", "yes"))
    return PreparedData(vocabulary, {"train": train, "no/gold": encode(corpus, vocabulary)}, ("1 row",))


def never() -> PreparedData:
    raise AssertionError("the cache should have held it")


def same(a: EncodedDataset, b: EncodedDataset) -> bool:
    def arrays(dataset: EncodedDataset) -> list[np.ndarray]:
        sides = [part for side in dataset.sides for part in (side.values, side.offsets)]
        return [*sides, dataset.rows, dataset.groups, *([] if dataset.targets is None else [dataset.targets])]

    facts = ("group_names", "labels", "report")
    return (
        all(getattr(a, name) == getattr(b, name) for name in facts)
        and len(arrays(a)) == len(arrays(b))
        and all(
            x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(arrays(a), arrays(b), strict=True)
        )
    )


def test_what_is_read_equals_what_was_built(tmp_path: Path) -> None:
    built = load_or_prepare("k", prepare, tmp_path, dataset=EncodedDataset)
    read = load_or_prepare("k", never, tmp_path, dataset=EncodedDataset)
    assert read.vocabulary == built.vocabulary
    assert read.notes == ("1 row",)
    assert list(read.datasets) == ["train", "no/gold"]
    assert all(same(read.datasets[name], built.datasets[name]) for name in built.datasets)
    assert read.datasets["no/gold"].targets is None


def test_large_arrays_are_mapped_and_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = load_or_prepare("k", prepare, tmp_path, dataset=EncodedDataset)
    monkeypatch.setattr("heedful.data.cache.MOST_BYTES", 0)
    read = load_or_prepare("k", never, tmp_path, dataset=EncodedDataset)
    assert all(same(read.datasets[name], built.datasets[name]) for name in built.datasets)
    values = read.datasets["train"].sides[0].values
    assert not values.flags.writeable
    released(values)
    assert same(read.datasets["train"], built.datasets["train"])


def test_key_follows_content_and_settings_not_names(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a")
    other.write_text("a")
    key = cache_key([one], {"tokenizer": "treebank", "max": 3})
    assert key == cache_key([other], {"max": 3, "tokenizer": "treebank"})
    assert len(key) == 64
    assert key != cache_key([one], {"tokenizer": "whitespace", "max": 3})
    assert key != cache_key([one, one], {"tokenizer": "treebank", "max": 3})
    other.write_text("b")
    assert key != cache_key([other], {"tokenizer": "treebank", "max": 3})


def test_every_file_is_guarded_against_alteration(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    load_or_prepare("k", prepare, tmp_path, dataset=EncodedDataset)
    files = sorted((tmp_path / "encoded" / "k").iterdir())
    assert len(files) >= 10
    for name in [file.name for file in files]:
        for damage in ("flip", "cut", "remove"):
            file = tmp_path / "encoded" / "k" / name
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 4
            if damage == "remove":
                file.unlink()
            else:
                file.write_bytes(content if damage == "flip" else content[:-2])
            caplog.clear()
            again = load_or_prepare("k", prepare, tmp_path, dataset=EncodedDataset)
            assert same(again.datasets["train"], prepare().datasets["train"])
            assert "made again" in caplog.text
            assert name in caplog.text or "manifest" in caplog.text
            load_or_prepare("k", never, tmp_path, dataset=EncodedDataset)


def test_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with caplog.at_level(logging.WARNING):
        built = load_or_prepare("k", prepare, blocked, dataset=EncodedDataset)
    assert len(built.datasets["train"]) == 2
    assert "not kept" in caplog.text


def test_a_quicker_process_wins_and_nothing_is_left_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def overtaken() -> PreparedData:
        load_or_prepare("k", prepare, tmp_path, dataset=EncodedDataset)
        return prepare()

    load_or_prepare("k", overtaken, tmp_path, dataset=EncodedDataset)
    load_or_prepare("k", never, tmp_path, dataset=EncodedDataset)
    assert [entry.name for entry in (tmp_path / "encoded").iterdir()] == ["k"]
    assert caplog.text == ""


def test_what_a_dead_process_left_is_swept_when_something_is_kept(tmp_path: Path) -> None:
    machine, _, start = token().split(".")
    left = tmp_path / "encoded" / f".tmp-new-{machine}.{2**40}.{start}-abcdefgh"
    living = tmp_path / "encoded" / f".tmp-new-{token()}-abcdefgh"
    for folder in (left, living):
        folder.mkdir(parents=True)
    load_or_prepare("k", prepare, tmp_path, dataset=EncodedDataset)
    assert sorted(entry.name for entry in (tmp_path / "encoded").iterdir()) == sorted([living.name, "k"])
    left.mkdir()
    load_or_prepare("k", never, tmp_path, dataset=EncodedDataset)
    assert left.exists(), "a reader sweeps nothing"


def test_folder_is_the_argument_then_the_environment_then_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "env"))
    assert cache_folder(tmp_path) == tmp_path
    assert cache_folder() == tmp_path / "env"
    monkeypatch.setenv("HEEDFUL_CACHE", "none")
    assert cache_folder() is None
    monkeypatch.delenv("HEEDFUL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "heedful"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "heedful"


def test_vectors_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "v.txt"
    file.write_text("Dog 1 2\ncat 3 4\n")
    first = load_or_read_vectors(file, tmp_path / "cache", lowercase=True)
    monkeypatch.setattr("heedful.data.cache.read_vectors", never)
    again = load_or_read_vectors(file, tmp_path / "cache", lowercase=True)
    assert again.words == first.words == ("dog", "cat")
    assert np.array_equal(again.matrix, first.matrix)
    assert again.matrix.dtype == np.float32
