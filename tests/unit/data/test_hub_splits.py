"""Which files of a repository are which split, by their names."""

from __future__ import annotations

import pytest

from heedful.data.hub_splits import splits_of, tables_of
from heedful.errors import UsageError


def test_tables_are_told_from_programs_and_descriptions() -> None:
    files = [
        "README.md",
        "imdb.py",
        "dataset_infos.json",
        ".cache/train.csv",
        "data/train.csv",
        "b/test.parquet",
    ]
    files += ["../../outside/train.csv", "/outside/train.csv", "a//train.csv"]
    assert tables_of(files) == ["b/test.parquet", "data/train.csv"]
    assert tables_of(files, "data") == ["data/train.csv"]
    assert tables_of(files, "b/test.parquet") == ["b/test.parquet"]


def test_splits_stand_in_the_name_of_the_file_or_its_folder() -> None:
    shards = [f"data/train-0000{k}-of-00002.parquet" for k in range(2)]
    found = splits_of(
        [*shards, "data/validation-00000-of-00001.parquet", "data/unsupervised.parquet"], "hub:a/b"
    )
    assert found == {"train": tuple(shards), "dev": ("data/validation-00000-of-00001.parquet",)}
    assert splits_of(["default/test/0000.parquet", "default/train/0000.parquet"], "hub:a/b") == {
        "train": ("default/train/0000.parquet",),
        "test": ("default/test/0000.parquet",),
    }
    assert splits_of(["train.csv", "train.parquet"], "hub:a/b") == {"train": ("train.parquet",)}
    assert splits_of(["reviews.csv"], "hub:a/b") == {"train": ("reviews.csv",)}


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            ["cola/train.csv", "sst2/train.csv"],
            r"several data sets; choose one of hub:a/b/cola, hub:a/b/sst2$",
        ),
        (
            ["first.csv", "second.csv"],
            r"no table is called train; choose one of hub:a/b/first.csv, hub:a/b/second.csv",
        ),
        (
            ["train-1.csv", "train-2.csv"],
            r"in 2 files that cannot be joined; choose one of hub:a/b/train-1.csv",
        ),
    ],
)
def test_what_is_open_is_asked(tables: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        splits_of(tables, "hub:a/b")
