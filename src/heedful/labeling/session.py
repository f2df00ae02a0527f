"""Labeling: which text comes next, what happens to a label, and what the page shows of it all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from heedful.errors import DataError
from heedful.labeling.accuracy_estimate import curve, order_helps, sample
from heedful.labeling.annotators import Change, People
from heedful.labeling.forms import LabelForm
from heedful.labeling.label_file import LabelFile, Record, key_of
from heedful.labeling.label_index import LabelIndex
from heedful.labeling.learner import Guess, Learner
from heedful.labeling.next_text import NextText
from heedful.labeling.pool import WatchedPool
from heedful.labeling.training_process import Doubt, Lesson, LessonResult, Texts

_SAMPLED = 1_500
"""Texts of the pool among which the most uncertain ones are looked for."""
_ALIKE, _MOST_ALIKE = 0.5, 12
"""The smallest cosine of texts that are offered to be labeled together, and how many."""
_LISTED = 100
Shown = dict[str, object]
"""What the page gets, as plain values."""


class Conflict(Exception):
    """What a page shows is no longer what the file holds; says what to do."""


class Session:
    """One file of labels, one pool, and all who label. Every method may be called from any thread.

    Args:
        form: what is asked of each text.
        file: the labels.
        pool: the texts.
        learner: the model; made by a function that gets what to call after each training.
        mixed: whether other texts than random ones are shown too.

    Attributes:
        form: as given.
    """

    def __init__(
        self,
        form: LabelForm,
        file: LabelFile,
        pool: WatchedPool,
        learner: Callable[[Callable[[Lesson, LessonResult], None]], Learner],
        *,
        mixed: bool = True,
    ) -> None:
        self.form, self._file, self._pool, self._mixed = form, file, pool, mixed
        self._lock = threading.RLock()
        self._people = People()
        self._doubts: dict[str, Doubt] = {}
        self._said: list[str] = []
        self._turn = -1
        self._next = NextText(pool.pool)
        self._learner = learner(self._learned)
        self._index = LabelIndex(form)
        self._index.follow(file.records)
        for record in file.records:
            self._next.saw(record.key)
        self._learn()

    def print_line(self, line: str) -> None:
        """Keep a line for the page."""
        with self._lock:
            self._said = [*self._said, line][-3:]

    def close(self) -> None:
        """End the training."""
        self._learner.close()

    def next(self, by: str) -> Shown:
        """Choose the next text of a person.

        Args:
            by: the person.

        Returns:
            The text; only "done" where none is left.
        """
        with self._lock:
            self._follow()
            person = self._people[by]

            def is_free(key: str) -> bool:
                return (
                    key not in self._index.by_key
                    and key not in person.skipped
                    and not self._people.holds_another(key, by)
                )

            mixed = self._mixed and self.order_helps() is not False
            self._turn += 1
            found = self._next.choose(self._turn, is_free, mixed=mixed)
            if found is None:
                self._people.let_go(by)
                return {"done": True, "skipped": len(person.skipped)}
            place, why = found
            pool = self._pool.pool
            person.why[pool.keys[place]] = why
            self._people.hold(pool.keys[place], by)
        return self._shown(by, pool.texts[place], why)

    def text(self, by: str, key: str) -> Shown:
        """Show a text of the pool or of the file that a person asks for.

        Args:
            by: the person.
            key: what stands for the text.

        Returns:
            The text.

        Raises:
            DataError: if there is none.
        """
        with self._lock:
            texts, doubt = self._texts_of(key), self._doubts.get(key)
            why = "doubtful" if doubt and self._is_doubtful(key) else "search"
            self._people[by].why[key] = why
            self._people.hold(key, by)
        return self._shown(by, texts, why)

    def label(
        self, by: str, texts: Texts, label: object, note: str, seen: object, why: str = "search"
    ) -> Shown:
        """Take a label; when this returns, it is on the disk.

        Args:
            by: the person.
            texts: what was labeled, as the page has it; the pool may have changed since.
            label: what was chosen.
            note: a remark.
            seen: the person's label that the page showed, None for none.
            why: what the page says that the text was shown for; it counts where this process has not shown it, which
                is after a restart.

        Returns:
            What the model would have said, and texts that are like this one.

        Raises:
            DataError: if the label is none of this form.
            Conflict: if the person has chosen another label elsewhere.
            OutputError: if it cannot be written.
        """
        chosen = self.form.checked(label, texts)
        key = key_of(texts)
        guess = self._learner.guess(texts) if key not in self._index.by_key else None
        with self._lock:
            person = self._people[by]
            new = Record(
                texts, chosen, by, note, person.why.get(key, why), None if guess is None else guess.label
            )
            change = self._changed(new, seen)
            if change is not None:
                person.changes.append([change])
            person.skipped.discard(key)
            self._people.let_go(by)
            self._learn()
            alike = self._alike(texts) if not self.form.is_spare(chosen) else []
        return {"guess": _plain(guess), "label": chosen, "id": key, "texts": texts, "similar": alike}

    def label_together(self, by: str, keys: Sequence[str], label: object) -> Shown:
        """Give one label to several texts; all of them are on the disk when this returns, or none.

        Args:
            by: the person.
            keys: what stands for the texts; those that anybody has labeled are left out.
            label: what was chosen.

        Returns:
            How many were labeled.

        Raises:
            DataError: if the label is none of this form, or there is no such text.
            OutputError: if they cannot be written.
        """
        with self._lock:
            texts = [self._texts_of(key) for key in dict.fromkeys(keys) if key not in self._index.by_key]
            new = [Record(each, self.form.checked(label, each), by, chosen="similar") for each in texts]
            if new:
                self._file.add(new)
                self._people[by].changes.append([(None, each) for each in new])
                self._index.follow(self._file.records)
                for each in new:
                    self._next.saw(each.key)
                self._learn()
        return {"labeled": len(new)}

    def skip(self, by: str, key: str) -> None:
        """Leave a text out for a person, until the command is started again."""
        with self._lock:
            self._people[by].skipped.add(key)
            self._people.let_go(by)

    def undo(self, by: str) -> Shown:
        """Take back what a person did last, the latest first.

        Args:
            by: the person.

        Returns:
            The text; only "nothing" where there is nothing to take back.

        Raises:
            OutputError: if it cannot be written.
        """
        with self._lock:
            changes = self._people[by].changes
            if changes:
                last = changes[-1]
            else:
                own = next((each for each in reversed(self._file.records) if each.by == by), None)
                last = [(None, own)] if own is not None else []
            if not last:
                return {"nothing": True}
            for old, new in reversed(last):
                if new is not None and new in self._file.records:
                    self._file.replace(new, old)
            if changes:
                changes.pop()
            self._index.follow(self._file.records, anew=True)
            shown = next(each for change in last for each in reversed(change) if each is not None)
            self._people.hold(shown.key, by)
        return {**self._shown(by, shown.texts, shown.chosen), "undone": len(last)}

    def state(self, by: str) -> Shown:
        """Return everything around the text: counts, the curve, what is doubtful, what people do not agree on.

        Args:
            by: the person.

        Returns:
            Plain values for the page.
        """
        with self._lock:
            self._follow()
            self._learn()
            records, pool = self._file.records, self._pool.pool
            points = curve(self.form, self._sample())
            labeled = sum(key in pool.place for key in self._index.by_key)
            return {
                "kind": self.form.kind,
                "pair": self.form.pair,
                "labels": self.form.labels,
                "bounds": self._bounds(),
                "file": str(self._file.path),
                "total": len(pool),
                "labeled": labeled,
                "rows": len(records),
                "own": sum(record.by == by for record in records),
                "people": sorted({record.by for record in records if record.by}),
                "counts": dict(self._index.counts),
                "curve": [point.plain() for point in points],
                "doubtful": [self._doubtful(key) for key in self._doubts if self._is_doubtful(key)],
                "disagreements": [
                    self._line(self._index.by_key[key][0].texts) for key in self._index.disagreements(_LISTED)
                ],
                "model": self._learner.status,
                "training": self._learner.is_training,
                "trained_on": self._learner.trained_on,
                "order_helps": self.order_helps(),
                "mixed": self._mixed,
                "said": self._said,
            }

    def search(self, query: str) -> Shown:
        """Return the texts of the pool that hold all words of a query, with their labels.

        Args:
            query: the words.

        Returns:
            How many texts there are, and a line for each of the first ones.
        """
        pool = self._pool.pool
        places, count = pool.search(query)
        with self._lock:
            return {"count": count, "found": [self._line(pool.texts[place]) for place in places]}

    def order_helps(self) -> bool | None:
        """Say whether uncertain texts are harder than random ones; None while that is not known."""
        with self._lock:
            return order_helps(self.form, self._file.records, self._sample())

    def _changed(self, new: Record, seen: object) -> Change | None:
        """Write a label; return what changed, None where the file holds it already."""
        own = self._index.own(new.key, new.by)
        if own is None:
            self._file.add([new])
            self._next.saw(new.key)
        elif own.label == new.label and own.note == new.note and new.chosen != "doubtful":
            return None
        elif own.label not in (new.label, None if seen is None else self.form.checked(seen, new.texts)):
            other = self.form.cell(own.label)
            raise Conflict(
                f"you have labeled this text {other} in another window; look at it and choose again"
            )
        else:
            new = replace(
                own, label=new.label, note=new.note, checked=own.checked or new.chosen == "doubtful"
            )
            self._file.replace(own, new)
        self._index.follow(self._file.records, anew=own is not None)
        return own, new

    def _follow(self) -> None:
        if self._pool.follow():
            uncertain = self._next.uncertain
            self._next = NextText(self._pool.pool)
            self._next.uncertain = uncertain
            for record in self._file.records:
                self._next.saw(record.key)

    def _learn(self) -> None:
        """Begin to train if there are enough new labels."""
        if self._learner.is_due(self._index.usable):
            usable = [each for each in self._file.records if not self.form.is_spare(each.label)]
            pool = self._pool.pool
            free = (pool.texts[k] for k in pool.order if pool.keys[k] not in self._index.by_key)
            sampled = [texts for texts, _ in zip(free, range(_SAMPLED), strict=False)]
            self._learner.train([each.texts for each in usable], [each.label for each in usable], sampled)

    def _learned(self, lesson: Lesson, taught: LessonResult) -> None:
        with self._lock:
            self._next.uncertain = [key_of(lesson.pool[place]) for place in taught.uncertain]
            self._doubts = {key_of(lesson.texts[each.place]): each for each in taught.doubts}

    def _sample(self) -> list[tuple[int, Record]]:
        return sample(self._pool.pool, self._index.first, self._people.skipped)

    def _texts_of(self, key: str) -> Texts:
        pool = self._pool.pool
        if key in pool.place:
            return pool.texts[pool.place[key]]
        if key in self._index.by_key:
            return self._index.by_key[key][0].texts
        raise DataError("this text is no longer in the pool; go on to the next one")

    def _shown(self, by: str, texts: Texts, why: str) -> Shown:
        """Return a text with what the page shows beside it; the guess of a random one only once it has a label."""
        guess = None if why == "random" else self._learner.guess(texts)
        key = key_of(texts)
        with self._lock:
            records, doubt = self._index.by_key.get(key, []), self._doubts.get(key)
            own = self._index.own(key, by)
            place = self._pool.pool.place.get(key)
            return {
                "id": key,
                "texts": texts,
                "row": None if place is None else self._pool.pool.rows[place],
                "why": why,
                "guess": _plain(guess),
                "label": None if own is None else own.label,
                "note": "" if own is None else own.note,
                "others": [{"by": each.by, "label": each.label} for each in records if each.by != by],
                "doubt": None
                if doubt is None or why != "doubtful"
                else {"suggestion": doubt.suggestion, "against": doubt.against},
            }

    def _line(self, texts: Texts) -> Shown:
        records = self._index.by_key.get(key_of(texts), [])
        return {
            "id": key_of(texts),
            "texts": [text[:300] for text in texts],
            "labels": [{"by": each.by, "label": each.label} for each in records],
        }

    def _alike(self, texts: Texts) -> list[Shown]:
        pool = self._pool.pool
        places = self._next.alike(texts, _ALIKE, 4 * _MOST_ALIKE)
        free = [place for place in places if pool.keys[place] not in self._index.by_key]
        return [self._line(pool.texts[place]) for place in free[:_MOST_ALIKE]]

    def _is_doubtful(self, key: str) -> bool:
        """Tell whether a label that looked wrong is still as it was, and nobody has kept it on purpose."""
        doubt, records = self._doubts[key], self._index.by_key.get(key, [])
        return bool(records) and not any(each.checked or each.label == doubt.suggestion for each in records)

    def _doubtful(self, key: str) -> Shown:
        return {**self._line(self._texts_of(key)), "suggestion": self._doubts[key].suggestion}

    def _bounds(self) -> list[float | None] | None:
        low, high = getattr(self.form, "low", None), getattr(self.form, "high", None)
        if low is None or high is None:
            return None
        return [None if abs(each) == float("inf") else each for each in (low, high)]


def _plain(guess: Guess | None) -> Shown | None:
    return None if guess is None else guess.plain()
