"""Encoding a corpus of the size of SNLI stays within its bounds."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from heedful_lab.studies import encoding_time

RUN = [sys.executable, "-m", "heedful_lab.studies.encoding_time"]


@pytest.mark.study
def test_corpus_of_the_size_of_snli_encodes_within_a_minute_and_two_gigabytes() -> None:
    output = subprocess.run(RUN, capture_output=True, text=True, check=True).stdout
    seconds = re.search(r"together\s+([\d.]+) s", output)
    megabytes = re.search(r"peak memory ([\d,]+) MB", output)
    assert seconds
    assert megabytes
    assert float(seconds[1]) < 60
    assert int(megabytes[1].replace(",", "")) < 2000


def test_a_small_corpus_goes_through_every_stage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["encoding_time", "--pairs", "50"])
    encoding_time.main()
    stages = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert stages == ["50", "tokenize", "encode", "together", "again", "batches", "padding", "peak"]
