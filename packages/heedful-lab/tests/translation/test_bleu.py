"""BLEU and chrF are sacreBLEU's own numbers, with their signatures; the paired bootstrap."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sacrebleu

from heedful.errors import UsageError
from heedful.evaluation import paired_bootstrap
from heedful.evaluation.report_text import render_lengths
from heedful_lab.translation.bleu import bleu_of_copies, pack_translations, translation_metrics
from heedful_lab.translation.translation_report import evaluate_translations

REFERENCES = [
    f"Der Hund {verb} im {place} , und die Katze schläft ."
    for verb in ("rennt", "spielt", "liegt", "bellt")
    for place in ("Park", "Garten", "Haus", "Schnee", "Gras")
]
GOOD = [text if i % 5 else text.replace("Katze", "Kuh") for i, text in enumerate(REFERENCES)]
POOR = [text if i % 2 else text.replace("schläft", "isst gern") for i, text in enumerate(GOOD)]


def test_figures_are_those_of_sacrebleu() -> None:
    metrics, signatures = translation_metrics(REFERENCES, POOR)
    assert metrics["bleu"] == sacrebleu.corpus_bleu(POOR, [REFERENCES]).score
    assert metrics["chrf"] == sacrebleu.corpus_chrf(POOR, [REFERENCES]).score
    assert 0 < metrics["bleu"] < 100
    version = sacrebleu.__version__
    assert signatures["bleu"] == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    assert translation_metrics(REFERENCES, REFERENCES)[0] == {
        "bleu": pytest.approx(100),
        "chrf": pytest.approx(100),
    }


def test_case_counts_and_marks_are_cut_off() -> None:
    lower, _ = translation_metrics(["Ein Hund rennt im Park."], ["ein Hund rennt im Park."])
    apart, _ = translation_metrics(["Ein Hund rennt im Park."], ["Ein Hund rennt im Park ."])
    assert lower["bleu"] < 100
    assert apart["bleu"] == pytest.approx(100)


def test_the_report_says_how_it_was_counted() -> None:
    report = evaluate_translations(REFERENCES, POOR, perplexity=7.5, seconds=1.0, notes={"texts cut": 2})
    assert list(report.metrics) == ["bleu", "chrf", "perplexity"]
    assert report.count == 20
    shown = report.render()
    assert "tok:13a" in shown
    assert "2 texts cut" in shown
    interval = report.intervals["bleu"]
    assert interval.low < report.metrics["bleu"] < interval.high
    assert report.as_dict()["signatures"] == report.signatures


def test_bleu_by_length_is_that_of_the_sentences_of_each_bin() -> None:
    lengths = np.array([[3], [30]] * 10)
    report = evaluate_translations(REFERENCES, POOR, perplexity=1.0, lengths=lengths)
    for name, rows in (("0-5", slice(0, 20, 2)), ("26-30", slice(1, 20, 2))):
        wanted = sacrebleu.corpus_bleu(POOR[rows], [REFERENCES[rows]]).score
        assert report.by_length[name] == {"bleu": pytest.approx(wanted), "count": 10}
    assert list(report.by_length) == ["0-5", "26-30"]
    assert render_lengths(report).splitlines()[0].split() == ["tokens", "bleu", "count"]


def test_weighted_copies_are_copies() -> None:
    weights = np.zeros((2, len(REFERENCES)))
    weights[0, :] = 1
    weights[1, [0, 3, 4]] = [2, 1, 3]
    found = bleu_of_copies(*pack_translations(REFERENCES, POOR), weights)
    rows = [0, 0, 3, 4, 4, 4]
    copied = sacrebleu.corpus_bleu([POOR[i] for i in rows], [[REFERENCES[i] for i in rows]]).score
    assert found == pytest.approx([sacrebleu.corpus_bleu(POOR, [REFERENCES]).score, copied], abs=1e-9)


def test_the_paired_bootstrap_tells_a_difference_from_chance() -> None:
    lengths, poor = pack_translations(REFERENCES, POOR)
    good = pack_translations(REFERENCES, GOOD)[1]
    found = paired_bootstrap("bleu", lengths, poor, good, resamples=500)
    assert found.difference == pytest.approx(
        sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score - sacrebleu.corpus_bleu(POOR, [REFERENCES]).score
    )
    assert found.p < 0.01
    other = [text if i % 5 != 1 else text.replace("Katze", "Kuh") for i, text in enumerate(REFERENCES)]
    equal = pack_translations(REFERENCES, other)[1]
    assert paired_bootstrap("bleu", lengths, good, equal, resamples=500).p > 0.2


def test_packed_sentences_have_the_bleu_of_the_texts_however_short() -> None:
    references = ["Ein Hund.", "Hund", "Ein Kind malt ein Bild.", "Ein Mann läuft im Park herum.", "Ja"]
    translations = ["", "Hund", "Ein Kater malt ein Haus.", "Ein Mann läuft im Park.", "Nein doch"]
    for count in (1, 2, 3, 5):  # right in a row: nothing, one word, two words, four
        some = references[:count], translations[:count]
        found = bleu_of_copies(*pack_translations(*some), np.ones((1, count)))
        assert found == pytest.approx([sacrebleu.corpus_bleu(some[1], [some[0]]).score], abs=1e-9)


def test_the_kept_answers_hold_numbers_alone() -> None:
    report = evaluate_translations(REFERENCES, POOR, perplexity=1.0)
    assert (report.gold.dtype.kind, report.predicted.dtype.kind) == ("i", "i")


def test_a_sentence_is_kept_up_to_twelve_bits_of_words() -> None:
    words = np.ones((1, 1))
    longest = "a " * 4095
    assert bleu_of_copies(*pack_translations([longest], [longest]), words) == pytest.approx([100])
    with pytest.raises(UsageError, match=r"4,096 words, more than BLEU is kept of \(4,095\)"):
        pack_translations(["a"], [longest + "a"])


def test_the_bootstrap_agrees_with_that_of_sacrebleu() -> None:
    """Its interval is the half width around the mean of its resamples, 95 % of them inside."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    named = [("first", POOR), ("second", GOOD)]
    _, scores = PairedTest(
        named, {"BLEU": BLEU(references=[REFERENCES])}, None, test_type="bs", n_samples=1000
    )()
    theirs = scores["BLEU"][0]
    ours = evaluate_translations(REFERENCES, POOR, perplexity=1.0).intervals["bleu"]
    assert (ours.high - ours.low) / 2 == pytest.approx(theirs.ci, rel=0.1)


def test_refusals() -> None:
    with pytest.raises(UsageError, match="one reference a translation"):
        translation_metrics(REFERENCES, GOOD[1:])
    with pytest.raises(UsageError, match="at least one"):
        translation_metrics([], [])


def test_without_the_package_the_message_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['sacrebleu'] = None\n"
        "from heedful_lab.translation.bleu import translation_metrics\n"
        "try: translation_metrics(['a'], ['a'])\nexcept Exception as error: print(error)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'heedful[translation]'" in shown
