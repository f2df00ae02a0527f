"""The labels by text: who gave which one, which came first, and where people do not agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from heedful.labeling.forms import LabelForm
from heedful.labeling.label_file import Record


class LabelIndex:
    """Looks up the labels of a file, and follows it as it grows.

    Args:
        form: what a label is.

    Attributes:
        by_key: key of a text to its labels.
        first: key of a text to its first label, and how many labels there were before it.
        counts: how often each name is used.
        usable: how many labels a model can learn from.
    """

    def __init__(self, form: LabelForm) -> None:
        self._form = form
        self._seen: Sequence[Record] = ()
        self.by_key: dict[str, list[Record]] = {}
        self.first: dict[str, tuple[int, Record]] = {}
        self.counts: Counter[str] = Counter()
        self.usable = self._known = 0

    def follow(self, records: Sequence[Record], *, anew: bool = False) -> None:
        """Take note of labels.

        Args:
            records: all of them; where they are the list of the last call, only new ones at its end are looked at.
            anew: whether others have changed too.
        """
        if anew or records is not self._seen or len(records) < self._known:
            self._start()
            self._seen = records
        for number in range(self._known, len(records)):
            record = records[number]
            key = record.key
            self.by_key.setdefault(key, []).append(record)
            self.first.setdefault(key, (number, record))
            self.counts.update(self._form.named(record.label))
            self.usable += not self._form.is_spare(record.label)
        self._known = len(records)

    def own(self, key: str, by: str) -> Record | None:
        """Return the latest label that a person gave a text; None for none."""
        return next((each for each in reversed(self.by_key.get(key, [])) if each.by == by), None)

    def disagreements(self, most: int) -> list[str]:
        """Return keys of texts to which people gave different labels.

        Args:
            most: how many are returned.

        Returns:
            The keys, those that were labeled first in front.
        """
        found = []
        for key, records in self.by_key.items():
            latest = list({each.by: each.label for each in records}.values())
            if any(label != latest[0] for label in latest):
                found.append(key)
                if len(found) == most:
                    break
        return found

    def _start(self) -> None:
        self.by_key.clear()
        self.first.clear()
        self.counts.clear()
        self.usable = self._known = 0
