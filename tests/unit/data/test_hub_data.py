"""A data set of the Hub by its name, from a server on loopback: the code that downloads is the real one."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heedful.data.hub_data import fetch_hub_data
from heedful.errors import DataError, MissingExtraError, UsageError
from heedful.run.own_file import own_file
from loopback_hub import LoopbackHub, serving
from tiny import run

pytest.importorskip("huggingface_hub")
pyarrow = pytest.importorskip("pyarrow")
CSV = b"text,label\n" + b"".join(
    f"a {'good' if k % 2 else 'bad'} film {k},{'pos' if k % 2 else 'neg'}\n".encode() for k in range(40)
)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "made"))
    for name in ("HEEDFUL_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    with serving() as (served, address):
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield served


def add(hub: LoopbackHub, name: str, files: dict[str, bytes]) -> str:
    hub.commits.setdefault(f"datasets/{name}", [])
    return hub.commit(f"datasets/{name}", files)


def parquet(texts: list[str], labels: list[int], names: list[str] | None = None) -> bytes:
    import pyarrow.parquet

    table = pyarrow.table({"text": texts, "label": labels})
    if names is not None:
        features: dict[str, Any] = {
            "text": {"_type": "Value"},
            "label": {"names": names, "_type": "ClassLabel"},
        }
        about = json.dumps({"info": {"features": features}})
        table = table.replace_schema_metadata({"huggingface": about})
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()


def test_a_csv_file_is_trained_on_by_the_name_of_its_data_set(hub: LoopbackHub, tmp_path: Path) -> None:
    add(
        hub,
        "someone/films",
        {"films.csv": CSV, "films.py": b"raise SystemExit('never')", "README.md": b"films"},
    )
    trained = run("train", "hub:someone/films", "--out", tmp_path / "run", "--no-baseline")
    assert trained.code == 0, trained.err
    assert "hub:someone/films at " in trained.err
    assert "(train): texts in “text”, classes in “label” (neg, pos); trained as my-texts" in trained.err
    assert not any(".py" in asked for asked in hub.asked)
    assert run("predict", tmp_path / "run", "a good film").code == 0


def test_shards_are_joined_and_classes_have_their_names(hub: LoopbackHub) -> None:
    train = [
        parquet(["one text", "two texts"], [0, 1], ["bad", "good"]),
        parquet(["a third"], [1], ["bad", "good"]),
    ]
    commit = add(hub, "x/y", {
        "data/train-00000-of-00002.parquet": train[0],
        "data/train-00001-of-00002.parquet": train[1],
        "data/validation-00000-of-00001.parquet": parquet(["one more"], [0], ["bad", "good"]),
        "data/test-00000-of-00001.parquet": parquet(["no gold here"], [-1], ["bad", "good"]),
    })  # fmt: skip
    found = fetch_hub_data("hub:x/y")
    assert found.commit == commit
    assert [*found.files] == ["train", "dev"]  # the test split has no gold
    read = pyarrow.parquet.read_table(found.files["train"]).to_pylist()
    assert [row["label"] for row in read] == ["bad", "good", "good"]
    own = own_file("hub:x/y", ["data.text=text", "data.label=label"], None)
    assert own.recipe == "my-texts"
    assert any(setting.startswith("data.dev=") for setting in own.overrides)


def test_a_data_set_that_is_a_program_is_read_from_the_hubs_tables(hub: LoopbackHub) -> None:
    add(hub, "old/program", {"program.py": b"raise SystemExit('never')"})
    with pytest.raises(DataError, match=r"has no tables .*; its program program\.py is not run"):
        fetch_hub_data("hub:old/program")
    add(hub, "old/program@refs/convert/parquet", {"default/train/0000.parquet": parquet(["a", "b"], [0, 1])})
    assert [*fetch_hub_data("hub:old/program").files] == ["train"]


def test_a_part_and_a_commit_may_be_named(hub: LoopbackHub) -> None:
    first = add(hub, "many/tasks", {"one/train.csv": CSV, "two/train.csv": CSV + b"a late film,pos\n"})
    add(hub, "many/tasks", {"two/train.csv": CSV})
    with pytest.raises(UsageError, match="choose one of hub:many/tasks/one, hub:many/tasks/two"):
        fetch_hub_data("hub:many/tasks")
    assert b"late" not in fetch_hub_data("hub:many/tasks/two").files["train"].read_bytes()
    assert b"late" in fetch_hub_data(f"hub:many/tasks/two@{first}").files["train"].read_bytes()


def test_what_cannot_be_fetched_is_said_in_a_line(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="expected hub:owner/name"):
        fetch_hub_data("hub:imdb")
    with pytest.raises(DataError, match=r"hub:no/where: the Hub does not give this data set: .*404"):
        fetch_hub_data("hub:no/where")
    add(hub, "too/large", {"train.csv": CSV})
    monkeypatch.setattr("heedful.data.download.MOST_BYTES", 10)
    with pytest.raises(DataError, match="bytes are more than the 10 that are fetched"):
        fetch_hub_data("hub:too/large")
    monkeypatch.setenv("HEEDFUL_OFFLINE", "1")
    with pytest.raises(DataError, match="HEEDFUL_OFFLINE or HF_HUB_OFFLINE forbids the network"):
        fetch_hub_data("hub:too/large")


def test_a_server_cannot_write_elsewhere_or_fill_the_memory(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(
        hub, "evil/data", {"../train.parquet": parquet(["a"], [0]), "/tmp/train.parquet": parquet(["a"], [0])}
    )
    with pytest.raises(DataError, match="has no tables"):
        fetch_hub_data("hub:evil/data")
    add(hub, "large/inside", {"train.parquet": parquet(["a" * 9_000], [0], ["x"])})
    monkeypatch.setenv("HEEDFUL_MAX_UNPACKED", "1000")
    with pytest.raises(DataError, match="the tables unpack to more than"):
        fetch_hub_data("hub:large/inside")
    hub.commits["datasets/large/inside"] = [("../../elsewhere", {"train.csv": CSV})]
    with pytest.raises(DataError, match="the server names no commit"):
        fetch_hub_data("hub:large/inside")


def test_without_the_package_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEEDFUL_OFFLINE", raising=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heedful\[hub\]'"):
        fetch_hub_data("hub:some/data")
