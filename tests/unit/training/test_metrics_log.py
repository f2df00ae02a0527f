from __future__ import annotations

import json
import math
import platform
from pathlib import Path

import pytest

from heedful.errors import ArtifactError, OutputError
from heedful.training.progress import MetricsLog, environment


def test_lines_after_a_step_are_dropped_and_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    log = MetricsLog(path)
    for step in range(1, 6):
        log.write({"step": step, "loss": 1 / step})
    with path.open("a") as stream:
        stream.write('{"step": 6, "lo')  # what a kill may leave
    resumed = MetricsLog(path)
    resumed.restore(3)
    resumed.write({"step": 4, "loss": 0.5})
    steps = [json.loads(line)["step"] for line in path.read_text().splitlines()]
    assert steps == [1, 2, 3, 4]
    assert resumed.records == [json.loads(line) for line in path.read_text().splitlines()]


def test_a_number_that_is_not_finite_is_null(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.write({"step": 1, "pearson": math.nan})
    assert (tmp_path / "metrics.jsonl").read_text() == '{"step": 1, "pearson": null}\n'


@pytest.mark.parametrize(
    "line",
    [b"[]", b'{"step": tr', b'{"st\xff": 2}', b'{"step": true}', b'{"loss": 1}', b"[" * 100_000, b"\x00" * 9],
)
def test_damage_is_named_where_a_line_is_needed(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "metrics.jsonl"
    content = b'{"step": 1}\n' + line + b'\n{"step": 3}\n'
    path.write_bytes(content)
    for known in (None, 2, 3):
        with pytest.raises(ArtifactError, match=r"metrics.jsonl, line 2: expected a JSON record with a step"):
            MetricsLog(path).restore(9, known=known)
        assert path.read_bytes() == content
    MetricsLog(path).restore(9, known=1)
    assert path.read_bytes() == b'{"step": 1}\n'


def test_a_folder_in_the_place_of_the_log_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="expected a file with one JSON record a line; Is a directory"):
        MetricsLog(tmp_path).restore(9)


def test_without_a_path_records_stay_in_memory() -> None:
    log = MetricsLog(None)
    log.restore(3)
    log.write({"step": 4})
    assert log.records == [{"step": 4}]


def test_a_log_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        MetricsLog(tmp_path).write({"step": 1})


def test_the_environment_names_versions_and_no_machine() -> None:
    record = environment()
    assert record["python"] == platform.python_version()
    assert record["threads"] >= 1
    assert record["packages"]["torch"]
    text = json.dumps(record)
    assert str(Path.home()) not in text
    assert platform.node() not in text
