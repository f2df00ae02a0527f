"""Where data can be downloaded: mirrors, checksum, size, and which member of an archive becomes which file.

A checksum is written here only when it is published by others who downloaded the same file (dataset loaders of several
projects name these). Without one, the user has to accept the checksum that was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Download:
    """One file to download.

    Attributes:
        mirrors: addresses, tried in order.
        sha256: its checksum in hexadecimal; None where none is published.
        size: its size in bytes; None where it is not known.
        members: for a zip archive, which member becomes which file of the data folder.
        file: for a plain file, where it goes in the data folder.
    """

    mirrors: tuple[str, ...]
    sha256: str | None
    size: int | None = None
    members: Mapping[str, str] | None = None
    file: str = ""

    @property
    def name(self) -> str:
        """Name of the file that is downloaded."""
        return self.mirrors[0].rpartition("/")[2]


_SNLI = Download(
    ("https://nlp.stanford.edu/projects/snli/snli_1.0.zip",),
    "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
    94_550_081,
    {
        f"snli_1.0/snli_1.0_{split}.jsonl": f"snli/snli_1.0_{split}.jsonl"
        for split in ("train", "dev", "test")
    },
)
_MULTINLI = Download(
    ("https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",),
    "049f507b9e36b1fcb756cfd5aeb3b7a0cfcb84bf023793652987f7e7e0957822",
    226_850_426,
    {
        f"multinli_1.0/multinli_1.0_{split}.jsonl": f"multinli/multinli_1.0_{split}.jsonl"
        for split in ("train", "dev_matched", "dev_mismatched")
    },
)
_SST = Download(
    ("https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",),
    "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
    789_539,
    {f"trees/{split}.txt": f"sst/trees/{split}.txt" for split in ("train", "dev", "test")},
)
_SST_RELEASE = Download(
    ("https://nlp.stanford.edu/~socherr/stanfordSentimentTreebank.zip",),
    "3f5209483b46bbf129cacbbbe6ae02fe780407034f61cf6342b7833257c3f1db",
    6_372_817,
    {
        f"stanfordSentimentTreebank/{file}.txt": f"sst/stanfordSentimentTreebank/{file}.txt"
        for file in ("SOStr", "STree", "dictionary", "sentiment_labels", "datasetSplit")
    },
)
_TREC_ROOTS = ("https://cogcomp.seas.upenn.edu/Data/QA/QC", "http://cogcomp.org/Data/QA/QC")
_TREC_TRAIN = Download(
    tuple(f"{root}/train_5500.label" for root in _TREC_ROOTS),
    "9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3",
    335_858,
    file="trec/train_5500.label",
)
_TREC_TEST = Download(
    tuple(f"{root}/TREC_10.label" for root in _TREC_ROOTS),
    "033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e",
    23_354,
    file="trec/TREC_10.label",
)
_GLOVE_6B = Download(
    ("https://nlp.stanford.edu/data/glove.6B.zip",),
    "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
    862_182_613,
    {f"glove.6B.{width}d.txt": f"glove/glove.6B.{width}d.txt" for width in (50, 100, 200, 300)},
)
_GLOVE_840B = Download(
    ("https://nlp.stanford.edu/data/glove.840B.300d.zip",),
    "c06db255e65095393609f19a4cfca20bf3a71e20cc53e892aafa490347e3849f",
    None,
    {"glove.840B.300d.txt": "glove/glove.840B.300d.txt"},
)
SOURCES: dict[str, tuple[Download, ...]] = {
    "snli": (_SNLI,),
    "multinli": (_MULTINLI,),
    "sst": (_SST,),
    "sst-release": (_SST_RELEASE,),
    "trec": (_TREC_TRAIN, _TREC_TEST),
    "glove-6b": (_GLOVE_6B,),
    "glove-840b": (_GLOVE_840B,),
}
