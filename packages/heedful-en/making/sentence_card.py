"""The card of en-sentences: what it is, what it learned from, and its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Any

from sentence_sources import LICENSES

TEXT = Path(__file__).with_name("en-sentences-card.md")
SOURCES = {
    "snli": "Stanford Natural Language Inference corpus (Bowman et al., 2015), training split",
    "multinli": "MultiNLI (Williams et al., 2018), training split",
    "ewt": "Universal Dependencies English EWT, release 2.2, training split",
    "banking77": "Banking77 (Casanueva et al., 2020), training split",
    "clinc150": "CLINC150 (Larson et al., 2019), training split with its out-of-scope texts",
    "snips": "SNIPS (Coucke et al., 2018), training split",
}
COLUMNS = ("trec", "cr", "mpqa", "subj", "sst-2", "mean")


def card_of(collection: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """Write the card.

    Args:
        collection: what `collect_sentences.py` counted, with what `refine_sentences.py` adds of the trainings.
        figures: what `measure_sentences.py` wrote; may be empty.

    Returns:
        Markdown.
    """
    return Template(TEXT.read_text(encoding="utf-8")).substitute(
        figures="\n".join(_figures(figures)),
        sources="\n".join(_sources(collection)),
        collected=f"{collection['sentences']:,}",
        questions=f"{collection['questions']:,}",
        learned=f"{collection['learned from']:,}",
        steps=f"{collection['steps']:,}",
        further=f"{collection['further steps']:,}",
        hidden=collection["hidden units"],
        words=f"{collection['words']:,}",
        remark=collection["remark"],
        held_out=f"{collection['texts of dev and test splits']:,}",
    )


def _sources(collection: Mapping[str, Any]) -> Iterator[str]:
    left = collection["left out, because a dev or test split has the text"]
    for name, count in collection["of the data sets"].items():
        yield f"| {SOURCES[name]} | {LICENSES[name]} | {count:,} | {left.get(name, 0):,} |"
    for kind, count in collection["changed copies"].items():
        yield f"| changed copies: {kind} | as their sources | {count:,} | {left.get(kind, 0):,} |"


def _figures(figures: Mapping[str, Any]) -> Iterator[str]:
    systems = {name: figures[name] for name in ("en-sentences", "teacher") if name in figures}
    if not systems:
        return
    yield "## Figures\n"
    yield "Of the model in 8 bits, in the runtime without torch. Spearman's correlation of the cosine with the scores"
    yield "of STS-B, whose training scores were not used:\n"
    yield "| | dev | test |\n| --- | ---: | ---: |"
    for name, found in systems.items():
        yield f"| {name} | {found['stsb']['dev']:.3f} | {found['stsb']['test']:.3f} |"
    yield "\nAccuracy of logistic regression on the frozen features (en-sentences: `states`; the teacher: its vectors),"
    yield "C by three folds of the training rows. Of CR, MPQA and SUBJ a fifth, drawn with seed 0, is the test part.\n"
    yield "| | " + " | ".join(COLUMNS) + " |\n| --- |" + " ---: |" * len(COLUMNS)
    for kind, what in (("100", "100 labels, mean of five draws"), ("all", "all labels")):
        for name, found in systems.items():
            if kind not in found.get("classification", {}).get("mean", {}):
                continue
            row = " | ".join(f"{found['classification'][column][kind]:.1f}" for column in COLUMNS)
            yield f"| {name}, {what} | {row} |"
    speed = figures.get("sentences a second, one thread")
    if speed:
        said = ", ".join(f"{name} {each['clock']:,.0f}" for name, each in speed.items())
        yield "\nSentences a second, one thread, medians of five turns, each with another 1,000 texts of STS-B's"
        yield f"training part, in one run ({figures['processor']}; the teacher in torch): {said}."
    yield ""
