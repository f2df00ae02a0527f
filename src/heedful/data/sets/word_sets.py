"""Data sets with an answer for each word: tags and roles."""

from __future__ import annotations

from heedful.data.readers.role_columns import read_role_columns
from heedful.data.readers.tag_files import read_tags
from heedful.data.sets.data_set import DataSet, Part


def _ewt_srl() -> DataSet:
    rows = {"train": 12_543, "dev": 1_974, "test": 2_062}
    return DataSet(
        "ewt-srl",
        "roles",
        (),
        {
            split: Part(f"ewt_srl/ewt.{split}.gold_conll", read_role_columns, count, {"genre": 2})
            for split, count in rows.items()
        },
        "CC BY-SA 4.0",
        "https://github.com/propbank/propbank-release",
        "Palmer, Gildea and Kingsbury (2005): The Proposition Bank; Silveira et al. (2014): A gold standard dependency "
        "corpus for English",
        "put the words of UD English-EWT r2.2 into the skeletons in data/google/ewt of the homepage's repository, one "
        "file ewt.SPLIT.gold_conll a split, and copy them into the folder ewt_srl",
    )


def _ewt_tags(name: str, column: str) -> DataSet:
    rows = {"train": 12_543, "dev": 2_002, "test": 2_077}
    return DataSet(
        name,
        "tags",
        (),
        {
            split: Part(f"ud_english_ewt/en_ewt-ud-{split}.conllu", read_tags, count, {"conllu": column})
            for split, count in rows.items()
        },
        "CC BY-SA 4.0",
        "https://github.com/UniversalDependencies/UD_English-EWT",
        "Silveira et al. (2014): A gold standard dependency corpus for English",
        "copy the three .conllu files of release 2.2 of the homepage's repository into the folder ud_english_ewt",
    )


def _wnut17() -> DataSet:
    files = {
        "train": ("wnut17train.conll", 3_394),
        "dev": ("emerging.dev.conll", 1_009),
        "test": ("emerging.test.annotated", 1_287),
    }
    return DataSet(
        "wnut17",
        "tags",
        (),
        {split: Part(f"wnut17/{file}", read_tags, rows) for split, (file, rows) in files.items()},
        "CC BY 4.0",
        "https://github.com/leondz/emerging_entities_17",
        "Derczynski et al. (2017): Results of the WNUT2017 shared task on novel and emerging entity recognition",
        "copy the three files of the homepage's repository into the folder wnut17",
    )


WORD_SETS = (
    _wnut17(),
    _ewt_srl(),
    _ewt_tags("ewt-upos", "upos"),
    _ewt_tags("ewt-xpos", "xpos"),
)
