from __future__ import annotations

import hashlib
import lzma
from pathlib import Path

import pytest

from heedful.data.catalog import available, data_folder, data_set, fingerprint, load, splits
from heedful.data.datasets import OWN_NAMES, data_sets, own_data_sets
from heedful.data.examples import Corpus, WordTags
from heedful.data.readers.corpus_builder import NO_TEXT
from heedful.data.sets.text_sets import TREC_FINE_LABELS
from heedful.errors import DataError, UsageError

OPEN = {"relatedness": float, "pair-number": float, "roles": tuple, "tags": WordTags, "translation": str}
"""Kinds of data whose answers are not among a few fixed classes, and what an answer is."""
COLLECTED = {"banking77": 77, "clinc150": 151}
"""Sets whose many classes are collected from their files, and how many there are, "oos" of CLINC150 among them."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "trec").mkdir()
    (tmp_path / "trec" / "TREC_10.label.xz").write_bytes(
        lzma.compress(b"NUM:dist How far ?\nLOC:city Where ?\n")
    )
    (tmp_path / "cr").mkdir()
    (tmp_path / "cr" / "custrev.all").write_bytes(b"0 too heavy\n1 \n")
    return tmp_path


def test_the_path_is_no_option() -> None:
    with pytest.raises(
        UsageError, match=r"option 'foo' of data set trec is unknown; valid: keep_empty, label$"
    ):
        load("trec", "test", "nowhere", foo=3)


def test_the_variable_is_named_where_the_folder_comes_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEEDFUL_DATA", "/nowhere")
    for option, origin in (("/nowhere", "HEEDFUL_DATA"), (None, "HEEDFUL_DATA"), ("/other", "--data")):
        with pytest.raises(UsageError, match=f"^{origin} names /.*, which is not a folder"):
            data_folder(option)


def test_names_and_splits() -> None:
    assert set(own_data_sets()) == OWN_NAMES
    assert {"snli", "multinli", "sick-r", "sick-e", "sst-5", "sst-2", "trec", "trec-fine"} < set(
        own_data_sets()
    )
    assert {"cr", "mpqa", "subj", "med", "monli", "rte", "scitail"} < set(own_data_sets())
    assert splits("trec") == ("train", "test")
    assert len(TREC_FINE_LABELS) == len(set(TREC_FINE_LABELS)) == 50
    with pytest.raises(UsageError, match="data set 'treck' is not known; did you mean 'trec'"):
        data_set("treck")


@pytest.mark.parametrize("name", own_data_sets())
def test_every_entry_is_complete(name: str) -> None:
    entry = own_data_sets()[name]
    assert all([entry.name == name, entry.parts, entry.license, entry.homepage, entry.citation, entry.obtain])
    assert (entry.task in OPEN or name in COLLECTED) == (entry.labels == ())
    assert all(part.rows > 0 and not Path(part.file).is_absolute() for part in entry.parts.values())


def test_load_finds_the_compressed_file(folder: Path) -> None:
    corpus = load("trec", "test", folder)
    assert [example.target for example in corpus.examples] == ["NUM", "LOC"]
    assert [example.target for example in load("trec-fine", "test", folder).examples] == [
        "NUM:dist",
        "LOC:city",
    ]


def test_options_reach_the_reader(folder: Path) -> None:
    assert load("cr", "all", folder).skipped == {"no text": 1}
    assert len(load("cr", "all", folder, keep_empty=True).examples) == 2
    with pytest.raises(
        UsageError, match="option 'keepempty' of data set cr is unknown; did you mean 'keep_empty'"
    ):
        load("cr", "all", folder, keepempty=True)


def test_absent_file_says_what_is_there_and_how_to_get_it(folder: Path) -> None:
    with pytest.raises(
        DataError, match=r"the train split of trec is not there \(splits present: test\); to get it"
    ):
        load("trec", "train", folder)
    with pytest.raises(UsageError, match="data set trec has no split 'dev'"):
        load("trec", "dev", folder)


def test_available_lists_every_split(folder: Path) -> None:
    lines = available(folder)
    assert len(lines) == sum(len(entry.parts) for entry in data_sets().values())
    present = [(line.name, line.split) for line in lines if line.present]
    assert present == [("trec", "test"), ("trec-fine", "test"), ("cr", "all")]


def test_fingerprint_does_not_depend_on_compression(folder: Path) -> None:
    content = b"NUM:dist How far ?\nLOC:city Where ?\n"
    expected = {"trec/TREC_10.label": hashlib.sha256(content).hexdigest()}
    assert fingerprint("trec", folder) == expected
    (folder / "trec" / "TREC_10.label.xz").unlink()
    (folder / "trec" / "TREC_10.label").write_bytes(content)
    assert fingerprint("trec", folder) == expected


def test_fingerprint_of_a_damaged_file(folder: Path) -> None:
    file = folder / "trec" / "TREC_10.label.xz"
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(DataError, match="cut short or damaged"):
        fingerprint("trec", folder)


def rows_of(corpus: Corpus) -> int:
    """Count the rows of the file of a part, also those without a text."""
    return len(corpus.examples) + corpus.skipped[NO_TEXT]


def test_rows_without_text_count(folder: Path) -> None:
    assert rows_of(load("cr", "all", folder)) == 2


def test_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    with pytest.raises(UsageError, match="Give --data FOLDER or set HEEDFUL_DATA"):
        data_folder()
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path / "absent"))
    with pytest.raises(UsageError, match=r"HEEDFUL_DATA names .*absent, which is not a folder"):
        data_folder()
    assert data_folder(tmp_path) == tmp_path
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    assert data_folder() == tmp_path


@pytest.mark.data
@pytest.mark.parametrize("name", own_data_sets())
def test_real_files_have_the_published_rows_and_labels(data_dir: Path, name: str) -> None:
    entry = own_data_sets()[name]
    here = [line.split for line in available(data_dir) if line.name == name and line.present]
    assert here, f"no file of {name} in the folder"
    found = set()
    for split in here:
        corpus = load(name, split, data_dir)
        assert rows_of(corpus) == entry.parts[split].rows
        found |= {example.target for example in corpus.examples}
    if name in COLLECTED:
        assert len(found) == COLLECTED[name]
    elif entry.task in OPEN:
        assert {type(target) for target in found} == {OPEN[entry.task]}
    else:
        assert found == set(entry.labels)
    read = {file for split in here for file in (entry.parts[split].file, *entry.parts[split].beside)}
    assert set(fingerprint(name, data_dir)) == read
