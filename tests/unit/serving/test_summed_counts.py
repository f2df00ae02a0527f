"""The counts of several processes: sums, whoever is asked, that never fall."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.serving.counters import Counters, SummedCounts, keep_counts_of_ended

CONNECTIONS, WORKERS = ("heedful_connections", ""), ("heedful_workers", "")


def counted(requests: int, texts: int) -> Counters:
    found = Counters()
    for _ in range(requests):
        found.request("/v1/predict", 200, 0.25)
    found.batch("one", texts, 0.003)
    found.load("one", good=True)
    return found


def test_sums_are_those_of_one_process_that_did_it_all(tmp_path: Path) -> None:
    first, second, both = counted(2, 3), counted(1, 40), counted(2, 3)
    both.add(counted(1, 40).record())
    SummedCounts(tmp_path, 2).leave(second, {CONNECTIONS: 5, WORKERS: 1, ("heedful_waiting_texts", "one"): 7})
    gauges = {CONNECTIONS: 4, WORKERS: 1, ("heedful_waiting_texts", "one"): 0}
    counters, standing = SummedCounts(tmp_path, 1).sums(first, gauges)
    assert counters.text({}) == both.text({})
    assert standing == {CONNECTIONS: 9, WORKERS: 2, ("heedful_waiting_texts", "one"): 7}
    assert 'heedful_texts_total{model="one"} 43' in counters.text({})
    assert 'heedful_request_seconds_count{endpoint="/v1/predict"} 3' in counters.text({})
    assert first.text({}) == counted(2, 3).text({}), "the worker's own counts stay its own"


def test_what_a_dead_worker_counted_stays(tmp_path: Path) -> None:
    SummedCounts(tmp_path, 2).leave(counted(1, 40), {CONNECTIONS: 5, WORKERS: 1})
    keep_counts_of_ended(tmp_path, 2)
    counters, standing = SummedCounts(tmp_path, 1).sums(counted(2, 3), {CONNECTIONS: 4, WORKERS: 1})
    assert 'heedful_texts_total{model="one"} 43' in counters.text({})
    assert standing == {CONNECTIONS: 4, WORKERS: 1}
    after = Counters()
    SummedCounts(tmp_path, 2).go_on(after)
    assert after.text({}) == counted(1, 40).text({})
    SummedCounts(tmp_path, 2).leave(after, {WORKERS: 1})
    counters, standing = SummedCounts(tmp_path, 1).sums(counted(2, 3), {WORKERS: 1})
    assert 'heedful_texts_total{model="one"} 43' in counters.text({})
    assert standing[WORKERS] == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"counts": [[1]]}'])
def test_a_file_that_cannot_be_read_is_left_out(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "counts-2.json").write_bytes(content)
    keep_counts_of_ended(tmp_path, 2)
    keep_counts_of_ended(tmp_path, 3)
    SummedCounts(tmp_path, 2).go_on(Counters())
    counters, standing = SummedCounts(tmp_path, 1).sums(counted(2, 3), {WORKERS: 1})
    assert counters.text({}) == counted(2, 3).text({})
    assert standing == {WORKERS: 1}


def test_without_the_folder_nothing_fails(tmp_path: Path) -> None:
    gone = SummedCounts(tmp_path / "gone", 1)
    gone.leave(counted(1, 1), {})
    assert gone.sums(counted(1, 1), {})[0].text({}) == counted(1, 1).text({})
