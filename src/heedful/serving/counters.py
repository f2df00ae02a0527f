"""What the server counts, in the text form that Prometheus reads. No text of a request is kept.

Where one server has several processes, each leaves its counts in a file, and the one that is asked adds them up.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.errors import ArtifactError
from heedful.serving.private_folder import restore
from heedful.storage.fields import read_json

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4"
"""How the two forms are declared."""
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
TEXTS = (1, 2, 4, 8, 16, 32, 64)
_HELP = {
    "heedful_requests_total": "Requests by endpoint and status.",
    "heedful_texts_total": "Texts and pairs that were answered.",
    "heedful_tokens_total": "Words that were read.",
    "heedful_unknown_words_total": "Words that the model does not know: a rise tells of another kind of text.",
    "heedful_truncated_total": "Requests of which a text was cut.",
    "heedful_empty_total": "Requests with a text without words.",
    "heedful_loads_total": "Versions of a model folder that were taken up, or refused.",
    "heedful_internal_errors_total": "Requests that failed by a mistake of the server.",
    "heedful_request_seconds": "Time from the head of a request to its answer.",
    "heedful_batch_texts": "Texts that were answered together.",
    "heedful_batch_seconds": "Time in which a batch was computed.",
    "heedful_waiting_texts": "Texts that wait for a model.",
    "heedful_words_asked_total": "Words whose own values the runtime was asked for.",
    "heedful_words_computed_total": "Words whose own values were computed; those of the others were kept from before.",
    "heedful_words_kept": "Words whose own values are kept.",
    "heedful_connections": "Open connections.",
    "heedful_workers": "Processes that answer.",
    "heedful_resident_bytes": "Memory of the processes that answer.",
}

_READ = {
    "tokens": "heedful_tokens_total",
    "unknown": "heedful_unknown_words_total",
    "truncated": "heedful_truncated_total",
    "empty": "heedful_empty_total",
}
"""What an answer says of how its text was read, and the count that it adds to."""

Labels = tuple[tuple[str, str], ...]
Gauges = Mapping[tuple[str, str], float]
"""What stands now, by name and model ("" for the whole server)."""
Record = dict[str, Any]
"""All counts as JSON can hold them."""


class _Histogram:
    """Counts by upper bound."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds, self.counts, self.sum = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def add_all(self, counts: Sequence[int], total: float) -> None:
        self.counts = [one + other for one, other in zip(self.counts, counts, strict=True)]
        self.sum += total


class Counters:
    """Counts of requests and texts; safe for several threads.

    Attributes:
        arriving: requests of which the body is being read; only the thread that reads them changes it.
    """

    def __init__(self) -> None:
        self.arriving = 0
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._histograms: dict[tuple[str, Labels], _Histogram] = {}

    def request(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request.

        Args:
            endpoint: which one, of a fixed list.
            status: of the answer.
            seconds: that it took.
        """
        with self._lock:
            self._counts["heedful_requests_total", (("endpoint", endpoint), ("status", str(status)))] += 1
            self._observe("heedful_request_seconds", (("endpoint", endpoint),), SECONDS, seconds)

    def batch(self, model: str, texts: int, seconds: float) -> None:
        """Count texts that were answered together.

        Args:
            model: by which one.
            texts: how many.
            seconds: that it took.
        """
        with self._lock:
            self._counts["heedful_texts_total", _of(model)] += texts
            self._observe("heedful_batch_texts", _of(model), TEXTS, texts)
            self._observe("heedful_batch_seconds", _of(model), SECONDS, seconds)

    def read(self, model: str, answers: Sequence[object]) -> None:
        """Count what answers say of how their texts were read.

        Args:
            model: which one answered.
            answers: those that have no counts, such as vectors, are left out.
        """
        sums = dict.fromkeys(_READ, 0)
        for answer in answers:
            for name in _READ:
                count = getattr(answer, name, 0)
                sums[name] += sum(count) if isinstance(count, tuple) else count
        with self._lock:
            for name, count in sums.items():
                self._counts[_READ[name], _of(model)] += count

    def load(self, model: str, *, good: bool) -> None:
        """Count a version of a model folder.

        Args:
            model: name of the model.
            good: whether it is served from now on.
        """
        with self._lock:
            self._counts[
                "heedful_loads_total", (*_of(model), ("result", "served" if good else "refused"))
            ] += 1

    def internal_error(self) -> None:
        """Count a mistake of the server."""
        with self._lock:
            self._counts["heedful_internal_errors_total", ()] += 1

    def record(self) -> Record:
        """Return all counts as they are now, for `add`."""
        with self._lock:
            return {
                "counts": [[name, labels, count] for (name, labels), count in self._counts.items()],
                "histograms": [
                    [name, labels, list(each.bounds), list(each.counts), each.sum]
                    for (name, labels), each in self._histograms.items()
                ],
            }

    def add(self, record: Record) -> None:
        """Add the counts of another process, or of an earlier one.

        Args:
            record: what `record` returned there, also after a way through JSON.
        """
        with self._lock:
            for name, labels, count in record["counts"]:
                self._counts[name, _labels(labels)] += count
            for name, labels, bounds, counts, total in record["histograms"]:
                key = name, _labels(labels)
                self._histograms.setdefault(key, _Histogram(bounds)).add_all(counts, total)

    def text(self, gauges: Gauges, *, openmetrics: bool = False) -> str:
        """Write everything in the form that Prometheus reads.

        Args:
            gauges: what stands now.
            openmetrics: whether in the form of OpenMetrics 1.0, which names counters without their ending, writes
                bounds as decimal fractions and says where it ends.

        Returns:
            Lines.
        """
        with self._lock:
            lines = list(self._lines(gauges, openmetrics))
        return "\n".join([*lines, *(["# EOF"] if openmetrics else [])]) + "\n"

    def _observe(self, name: str, labels: Labels, bounds: Sequence[float], value: float) -> None:
        self._histograms.setdefault((name, labels), _Histogram(bounds)).add(value)

    def _lines(self, gauges: Gauges, openmetrics: bool) -> Iterator[str]:
        now = {(name, _of(model) if model else ()): value for (name, model), value in gauges.items()}
        for name, said in _HELP.items():
            counts = {key: value for key, value in self._counts.items() if key[0] == name}
            histograms = {key: value for key, value in self._histograms.items() if key[0] == name}
            standing = {key: value for key, value in now.items() if key[0] == name}
            kind = "counter" if name.endswith("_total") else "gauge" if standing else "histogram"
            family = name.removesuffix("_total") if openmetrics else name
            yield f"# HELP {family} {said}"
            yield f"# TYPE {family} {kind}"
            for (_, labels), value in sorted((counts | standing).items()):
                yield (
                    f"{name}{_braced(labels)} {value:.15g}"
                    if kind == "gauge"
                    else f"{name}{_braced(labels)} {value}"
                )
            for (_, labels), histogram in sorted(histograms.items()):
                yield from _histogram_lines(name, labels, histogram, openmetrics)


def _histogram_lines(name: str, labels: Labels, histogram: _Histogram, openmetrics: bool) -> Iterator[str]:
    total = 0
    for bound, count in zip((*histogram.bounds, "+Inf"), histogram.counts, strict=True):
        total += count
        upper = f"{bound}.0" if openmetrics and isinstance(bound, int) else f"{bound}"
        yield f"{name}_bucket{_braced((*labels, ('le', upper)))} {total}"
    yield f"{name}_sum{_braced(labels)} {histogram.sum:.6f}"
    yield f"{name}_count{_braced(labels)} {total}"


def _of(model: str) -> Labels:
    return (("model", model),)


def _labels(listed: Sequence[Sequence[str]]) -> Labels:
    return tuple((name, value) for name, value in listed)


def _braced(labels: Labels) -> str:
    inside = ",".join(f'{name}="{value}"' for name, value in labels)  # names of models need no escapes
    return f"{{{inside}}}" if inside else ""


def asks_for_openmetrics(accept: str) -> bool:
    """Return whether a client gets the form of OpenMetrics: it asks for it, or for nothing in particular.

    Args:
        accept: the header of this name; empty where there was none.

    Returns:
        False for the older text form of Prometheus.
    """
    return "application/openmetrics-text" in accept or accept.strip() in ("", "*/*")


def resident_bytes() -> float:
    """Return the memory of this process; 0 where the system does not tell it."""
    try:
        with open("/proc/self/statm", "rb") as stream:
            return float(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        return 0.0


_UNREADABLE = (OSError, ArtifactError, ValueError, KeyError, TypeError)


class SummedCounts:
    """The counts of the workers of a server.

    Args:
        folder: private to the server; holds one file a worker, which is replaced whole.
        number: of the worker that uses this object.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._own = folder, _file(folder, number)

    def go_on(self, counters: Counters) -> None:
        """Begin with the counts of the former worker of this number, so that no sum ever falls.

        Args:
            counters: of this worker.
        """
        with contextlib.suppress(*_UNREADABLE):  # there was none, or its disk was full
            counters.add(_read(self._own))

    def leave(self, counters: Counters, gauges: Gauges) -> None:
        """Write down what this worker has counted; if the disk is full, the former counts stay.

        Args:
            counters: of this worker.
            gauges: what stands now.
        """
        listed = [[name, model, value] for (name, model), value in gauges.items()]
        whole = {**counters.record(), "gauges": listed}
        with contextlib.suppress(OSError):
            try:
                _write(self._own, whole)
            except FileNotFoundError:  # a program that sweeps old files has removed the folder
                restore(self._folder)
                _write(self._own, whole)

    def sums(self, counters: Counters, gauges: Gauges) -> tuple[Counters, Gauges]:
        """Add what the other workers have left to what this one counts.

        Args:
            counters: of this worker.
            gauges: of this worker.

        Returns:
            The sums of both.
        """
        total, standing = Counters(), Counter(gauges)
        total.add(counters.record())
        for file in self._folder.glob(_file(self._folder, "*").name):
            if file == self._own:
                continue
            with contextlib.suppress(*_UNREADABLE):
                left = _read(file)
                total.add(left)
                for name, model, value in left["gauges"]:
                    standing[name, model] += value
        return total, standing


def keep_counts_of_ended(folder: Path, number: int) -> None:
    """Take what stood at a worker that has ended out of the sums; what it has counted stays in them.

    Args:
        folder: see `SummedCounts`.
        number: of the worker.
    """
    file = _file(folder, number)
    with contextlib.suppress(*_UNREADABLE):
        _write(file, {**_read(file), "gauges": []})


def _file(folder: Path, number: int | str) -> Path:
    return folder / f"counts-{number}.json"


def _read(file: Path) -> Record:
    return read_json(file, dict)


def _write(file: Path, value: dict[str, object]) -> None:
    whole = file.with_suffix(".new")
    whole.write_text(json.dumps(value), encoding="ascii")
    os.replace(whole, file)
