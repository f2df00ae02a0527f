"""The table of known data sets.

To add one: write or reuse a reader, add an entry to the module of `heedful.data.sets` of its kind and its name to
`OWN_NAMES`, and its counts to the tests that read the real files. A package of your own names a function that returns
its data sets by an entry point of the group ``heedful.data_sets``.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from heedful.storage.installed import installed

if TYPE_CHECKING:
    from heedful.data.sets.data_set import DataSet

GROUP = "heedful.data_sets"
OWN_NAMES = frozenset(
    {
        "banking77",
        "cad-hypothesis",
        "cad-original",
        "cad-premise",
        "clinc150",
        "cr",
        "ewt-srl",
        "ewt-upos",
        "ewt-xpos",
        "med",
        "monli",
        "mpqa",
        "multinli",
        "rte",
        "scitail",
        "sick-e",
        "sick-r",
        "sms-spam",
        "snips",
        "snips-slots",
        "snli",
        "sst-2",
        "sst-5",
        "stsb",
        "subj",
        "trec",
        "trec-fine",
        "tweets-emotion",
        "tweets-irony",
        "wnut17",
    }
)
"""The names of `own_data_sets`: whoever asks whether a word is one needs none of the sets themselves."""


@cache
def own_data_sets() -> dict[str, DataSet]:
    """Return the data sets of this package by name; nobody who trains on a file of their own needs them."""
    from heedful.data.sets.pair_sets import PAIR_SETS
    from heedful.data.sets.text_sets import TEXT_SETS
    from heedful.data.sets.word_sets import WORD_SETS

    return {data_set.name: data_set for data_set in (*PAIR_SETS, *TEXT_SETS, *WORD_SETS)}


def data_sets() -> dict[str, DataSet]:
    """Return the data sets of this package and of all that are installed, by name."""
    others = (made for entry in installed(GROUP).values() for made in entry.load()())
    return {each.name: each for each in others} | own_data_sets()
