"""Convert the run records of Heedful 0.1 to the present format."""

from __future__ import annotations

from dataclasses import asdict

from heedful.checked import read_table
from heedful.run.kept_answers import kind_of_answers
from heedful.run.kept_settings import completed
from heedful.run.protocol import protocol_of
from heedful.run.run_config import DataConfig
from heedful.storage.fields import Fields

VERSION = 2
"""Of the format of records. The first, of Heedful 0.1, bore no number."""


def of_first_version(first: Fields) -> dict[str, object]:
    """Turn the plain values of a record of Heedful 0.1 into those of today.

    The protocol is read off the settings; the first format told it as a sentence only.

    Args:
        first: what the file holds.

    Returns:
        Plain values of version 2.

    Raises:
        ValueError: if the settings of its data are none that this version knows, or something is missing.
    """
    summary, settings = first.part("summary"), first.part("settings")
    problems: list[str] = []
    full = Fields(completed(settings.record), "", "settings.", ValueError)
    data = read_table(DataConfig, full.table("data"), "settings.data.", problems)
    if data is None or problems:
        raise ValueError("; ".join(problems))
    return {
        "version": VERSION,
        "varied": summary.value("varied"),
        "protocol": asdict(protocol_of(data, full.part("train").whole("seed"))),
        "figures": {name: value for name, value in summary.record.items() if name != "varied"},
        "data": first.value("data"),
        "machine": first.value("machine"),
        "peak_megabytes": first.record.get("peak_megabytes"),
        "peak_gpu_megabytes": first.record.get("peak_gpu_megabytes"),
        "settings": settings.record,
        "answers": _answers(settings.part("model").text("task"), first),
    }


def _answers(task: str, first: Fields) -> dict[str, object] | None:
    """Say what kind of answers these are; kept runs of classes said which are right, as gold 1 everywhere."""
    kept = first.part("answers") if "answers" in first else Fields({}, "")
    gold = kept.items("gold") if "gold" in kept else ()
    if not gold:
        return None
    predicted, kind = kept.items("predicted"), kind_of_answers(task)
    if kind == "classes" and set(gold) == {1} and set(predicted) <= {0, 1}:
        return {"kind": "right", "predicted": predicted}
    return {"kind": kind, "gold": gold, "predicted": predicted}
