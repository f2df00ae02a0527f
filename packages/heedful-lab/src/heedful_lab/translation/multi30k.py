"""Multi30k (Elliott, Frank, Sima'an and Specia, 2016): descriptions of images in English and German."""

from __future__ import annotations

from collections.abc import Iterable

from heedful.data.sets.data_set import NOT_STATED, DataSet, Part
from heedful_lab.translation.parallel_files import read_parallel


def data_sets() -> Iterable[DataSet]:
    """Return both directions, for the entry points of ``heedful.data_sets``."""
    return (_multi30k("en", "de"), _multi30k("de", "en"))


def _multi30k(source: str, target: str) -> DataSet:
    def part(stem: str, rows: int) -> Part:
        translations = f"{stem}.{target}"
        options = {"target": translations}
        return Part(
            f"multi30k/raw/{stem}.{source}", read_parallel, rows, options, (f"multi30k/raw/{translations}",)
        )

    return DataSet(
        f"multi30k-{source}-{target}",
        "translation",
        (),
        {
            "train": part("train", 29_000),
            "dev": part("val", 1_014),
            "test": part("test_2016_flickr", 1_000),
            "test-2017": part("test_2017_flickr", 1_000),
            "test-coco": part("test_2017_mscoco", 461),
            "test-2018": part("test_2018_flickr", 1_071),
        },
        NOT_STATED,
        "https://github.com/multi30k/dataset",
        "Elliott, Frank, Sima'an and Specia (2016): Multi30K: multilingual English-German image descriptions",
        "copy data/task1/raw of the homepage's repository into the folder multi30k",
    )
