"""Data sets of pairs of texts: inference, and how alike two texts are."""

from __future__ import annotations

from collections.abc import Mapping

from heedful.data.readers.nli import NLI_LABELS, read_multinli, read_sick, read_snli
from heedful.data.readers.table_files import read_table
from heedful.data.sets.data_set import FETCH, NOT_STATED, DataSet, Part

_ENTAILED_OR_NEUTRAL = ("entailment", "neutral")
_ENTAILED_OR_NOT = ("entailment", "not_entailment")
_SENTENCES: dict[str, object] = {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}
_PREMISES: dict[str, object] = {"premise": "premise", "hypothesis": "hypothesis", "label": "label"}


def _snli() -> DataSet:
    return DataSet(
        "snli",
        "pair",
        NLI_LABELS,
        {
            "train": Part("snli/snli_1.0_train.jsonl", read_snli, 549_367),
            "train-part": Part("snli/snli_1.0_train_part.jsonl", read_snli, 102_511),
            "train-first": Part("snli/snli_1.0_train_first9999.txt", read_snli, 9_987),
            "dev": Part("snli/snli_1.0_dev.jsonl", read_snli, 9_842),
            "test": Part("snli/snli_1.0_test.jsonl", read_snli, 9_824),
        },
        "CC BY-SA 4.0",
        "https://nlp.stanford.edu/projects/snli/",
        "Bowman, Angeli, Potts and Manning (2015): A large annotated corpus for learning natural language inference",
        FETCH.format("snli"),
    )


def _multinli() -> DataSet:
    one_annotator = "multinli/multinli_1.0_dev_mismatched_one_annotator.jsonl"
    return DataSet(
        "multinli",
        "pair",
        NLI_LABELS,
        {
            "train": Part("multinli/multinli_1.0_train.jsonl", read_multinli, 392_702),
            "train-part": Part("multinli/multinli_1.0_train_part.jsonl", read_multinli, 71_354),
            "dev-matched": Part("multinli/multinli_1.0_dev_matched.jsonl", read_multinli, 9_815),
            "dev-mismatched": Part("multinli/multinli_1.0_dev_mismatched.jsonl", read_multinli, 9_832),
            "dev-mismatched-one-annotator": Part(one_annotator, read_multinli, 9_832),
        },
        "OANC license and others, by genre",
        "https://cims.nyu.edu/~sbowman/multinli/",
        "Williams, Nangia and Bowman (2018): A broad-coverage challenge corpus for sentence understanding through "
        "inference",
        FETCH.format("multinli"),
    )


def _sick(name: str, task: str, labels: tuple[str, ...], column: str) -> DataSet:
    def part(split: str, rows: int) -> Part:
        return Part("sick/SICK.txt", read_sick, rows, {"task": column, "split": split})

    return DataSet(
        name,
        task,
        labels,
        {"train": part("TRAIN", 4_439), "dev": part("TRIAL", 495), "test": part("TEST", 4_906)},
        "CC BY-NC-SA 3.0",
        "https://zenodo.org/record/2787612",
        "Marelli et al. (2014): A SICK cure for the evaluation of compositional distributional semantic models",
        "download SICK.zip from the homepage and put SICK.txt into the folder sick",
    )


def _cad(name: str, folder: str, rows: tuple[int, int, int]) -> DataSet:
    splits = ("train", "dev", "test")
    options = {**_SENTENCES, "labels": NLI_LABELS}
    return DataSet(
        name,
        "pair",
        NLI_LABELS,
        {
            split: Part(f"nli_extra/cad_nli/{folder}/{split}.tsv", read_table, count, options)
            for split, count in zip(splits, rows, strict=True)
        },
        "Apache 2.0",
        "https://github.com/acmi-lab/counterfactually-augmented-data",
        "Kaushik, Hovy and Lipton (2020): Learning the difference that makes a difference with counterfactually-"
        "augmented data",
        f"copy NLI/{folder} of the homepage's repository into the folder nli_extra/cad_nli",
    )


def _med() -> DataSet:
    options = {**_SENTENCES, "group": "genre", "labels": _ENTAILED_OR_NEUTRAL}
    return DataSet(
        "med",
        "pair",
        _ENTAILED_OR_NEUTRAL,
        {"test": Part("nli_extra/med/MED.tsv", read_table, 5_382, options)},
        "CC BY-SA 4.0",
        "https://github.com/verypluming/MED",
        "Yanaka et al. (2019): Can neural networks understand monotonicity reasoning?",
        "copy MED.tsv of the homepage's repository into the folder nli_extra/med",
    )


def _monli() -> DataSet:
    options = {**_SENTENCES, "labels": _ENTAILED_OR_NEUTRAL}
    return DataSet(
        "monli",
        "pair",
        _ENTAILED_OR_NEUTRAL,
        {
            "train": Part("nli_extra/monli/nmonli_train.jsonl", read_table, 1_002, options),
            "test": Part("nli_extra/monli/nmonli_test.jsonl", read_table, 200, options),
            "positive": Part("nli_extra/monli/pmonli.jsonl", read_table, 1_476, options),
        },
        NOT_STATED,
        "https://github.com/atticusg/MoNLI",
        "Geiger, Richardson and Potts (2020): Neural natural language inference models partially embed theories of "
        "lexical entailment and negation",
        "copy the three files of the homepage's repository into the folder nli_extra/monli",
    )


def _two_way(name: str, parts: Mapping[str, int], homepage: str, citation: str) -> DataSet:
    options = {**_PREMISES, "labels": _ENTAILED_OR_NOT}
    return DataSet(
        name,
        "pair",
        _ENTAILED_OR_NOT,
        {
            split: Part(f"nli_extra/{name}/{split}.csv", read_table, rows, options)
            for split, rows in parts.items()
        },
        NOT_STATED,
        homepage,
        citation,
        f"write {' and '.join(f'{split}.csv' for split in parts)} with the columns premise, hypothesis and label into "
        f"the folder nli_extra/{name}",
    )


def _stsb() -> DataSet:
    options = {"premise": "1", "hypothesis": "2", "score": "3", "header": False}
    rows = {"train": 5_749, "dev": 1_500, "test": 1_379}
    return DataSet(
        "stsb",
        "pair-number",
        (),
        {
            split: Part(f"stsb/stsb-en-{split}.csv", read_table, count, options)
            for split, count in rows.items()
        },
        "scores CC BY-SA 4.0; texts of several licenses",
        "https://github.com/PhilipMay/stsb-multi-mt",
        "Cer et al. (2017): SemEval-2017 task 1: semantic textual similarity, multilingual and crosslingual focused "
        "evaluation",
        "copy data/stsb-en-*.csv of the homepage's repository into the folder stsb",
    )


PAIR_SETS = (
    _snli(),
    _multinli(),
    _sick("sick-r", "relatedness", (), "relatedness"),
    _sick("sick-e", "pair", NLI_LABELS, "entailment"),
    _cad("cad-original", "original", (1_666, 200, 400)),
    _cad("cad-premise", "revised_premise", (3_332, 400, 800)),
    _cad("cad-hypothesis", "revised_hypothesis", (3_332, 400, 800)),
    _med(),
    _monli(),
    _two_way(
        "rte",
        {"train": 2_490, "dev": 277},
        "https://gluebenchmark.com/tasks",
        "Wang et al. (2018): GLUE: a multi-task benchmark and analysis platform for natural language understanding",
    ),
    _two_way(
        "scitail",
        {"test": 2_126},
        "https://allenai.org/data/scitail",
        "Khot, Sabharwal and Clark (2018): SciTail: a textual entailment dataset from science question answering",
    ),
    _stsb(),
)
