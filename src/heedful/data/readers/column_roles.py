"""Which columns of a table hold the texts and which one the gold, by their values and their names.

What the values leave open is asked for in one line that lists the choices; nothing is guessed silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from heedful.data.readers.column_kinds import WORDS_OF_TEXT, ColumnKind
from heedful.data.readers.written_labels import are_tags
from heedful.errors import UsageError, listed, nearest

Gold = Literal["label", "labels", "columns", "score"]
_TEXTS = {
    *("text", "sentence", "utterance", "body", "content", "document", "abstract", "description", "headline"),
    *("message", "post", "tweet", "email", "review", "comment", "feedback", "statement"),
    *("query", "question", "answer"),
}
_LABELS = {
    *("label", "labels", "gold", "gold_label", "target", "tag", "tags"),
    *("class", "classes", "category", "categories", "topic", "topics", "genre"),
    *("intent", "sentiment", "emotion", "mood", "polarity"),
}
_NUMBERS = {"score", "similarity", "relatedness", "number", "value", "price", "amount"}
_ROW_NUMBERS = {"id", "ids", "idx", "index", "row", "no", "nr", "number", "key", "uuid", "guid"}
_PAIRS = (
    ("premise", "hypothesis"),
    ("question", "answer"),
    ("query", "document"),
    ("query", "passage"),
    ("claim", "evidence"),
    ("anchor", "positive"),
    ("source", "target"),
    ("text", "text_pair"),
)
_HALVES = (("1", "2"), ("a", "b"), ("left", "right"), ("first", "second"), ("0", "1"))
_MOST_GRADES = 20
_SHOWN = 5


@dataclass(frozen=True)
class Roles:
    """Which column plays which part.

    Attributes:
        texts: one column, or two for pairs.
        gold: the column of the gold; of several columns, of zeros and ones or of classes, their names with commas
            between.
        kind: what the gold is.
        separator: what stands between several labels of a cell; empty for the usual comma, and for lists.
        unread: the other columns.
    """

    texts: tuple[str, ...]
    gold: str
    kind: Gold
    separator: str = ""
    unread: tuple[str, ...] = ()


def roles_of(
    kinds: Mapping[str, ColumnKind], named: Mapping[str, str], separator: str = "", wanted: str = ""
) -> Roles:
    """Choose the columns.

    Args:
        kinds: the columns; see `heedful.data.readers.column_kinds`.
        named: role ("text", "premise", "hypothesis", "label" or "score") to the column that the user names for it.
        separator: what the user says stands between the labels of a cell; empty where he says nothing.
        wanted: what the recipe that the user names learns, which settles what the values leave open: "classes",
            "labels", "columns", "number" or "grades"; empty or anything else where nothing is settled.

    Returns:
        The roles.

    Raises:
        UsageError: if a column is named that is not there, or if it is open which columns are meant; lists the choices.
    """
    for role, name in named.items():
        parts = [name] if name in kinds else [part.strip() for part in name.split(",")]
        for missing in [part for part in parts if part not in kinds][:1]:
            _refuse_commas(each for each in kinds if "," in each and each in name)
            hint = nearest(missing, list(kinds))
            said = f"there is no column {missing!r} for {role}; columns: {listed(list(kinds))}"
            raise UsageError(f"{said}; {hint}" if hint.startswith("did") else said)
    taken = set(named.values())
    texts = _texts(kinds, named)
    gold, kind = _gold(kinds, named, taken | set(texts or ()), wanted)
    if gold not in kinds and wanted == "columns":
        kind = "columns"
    elif kind != "score" and gold in kinds:
        kind = _several(kinds[gold], separator, wanted)
        if "label" not in named and wanted != "classes" and are_tags(kinds[gold].counts):
            raise UsageError(
                f"{gold} holds tags of words, such as {min(kinds[gold].counts)}, one word a row; to learn tags write "
                "words and tags in lines, with an empty line between sentences, in a file ending in .conll; --label "
                f"{_typed(gold)} learns each row as a text with a class"
            )
    if texts is None:
        texts = _chosen_texts(kinds, {*taken, *gold.split(","), gold})
    mark = separator
    if gold in kinds and not separator:
        mark = kinds[gold].possible_separator if wanted == "labels" else kinds[gold].separator
    unread = tuple(name for name in kinds if name not in {*texts, gold, *gold.split(",")})
    if kind in ("labels", "columns") and len(texts) == 2:
        raise UsageError(
            f"{gold} has several labels a row, which only single texts may have; name one text: --text NAME"
        )
    return Roles(texts, gold, kind, "" if mark in ("list", ",") else mark, unread)


def named_roles(kinds: Mapping[str, ColumnKind], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return which columns are a text or a label by their very names, such as "review" or "mood".

    Args:
        kinds: see `roles_of`.
        chosen: role to the column that the user names for it; see `roles_of`.

    Returns:
        The role, "text" or "label", to its column; nothing where it is open which columns are meant.
    """
    try:
        roles = roles_of(kinds, chosen)
    except UsageError:
        return {}
    found = {"text": (roles.texts[0], _TEXTS), "label": (roles.gold, _LABELS)}
    return {role: name for role, (name, names) in found.items() if _plain(name) in names}


def _texts(kinds: Mapping[str, ColumnKind], given: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the columns of texts that are certain before the gold is known."""
    if "text" in given:
        return (given["text"],)
    if "premise" in given or "hypothesis" in given:
        if {"premise", "hypothesis"} - given.keys():
            raise UsageError("--premise and --hypothesis go together: they name the two texts of a pair")
        return given["premise"], given["hypothesis"]
    free = [kind for name, kind in kinds.items() if name not in given.values() and kind.values]
    names = ("text", "premise", "hypothesis")
    free = [each for each in free if each.is_text or (_plain(each.name) in names and not each.is_number)]
    return _named_pair(kinds, given) or _as_texts(free)


def _named_pair(kinds: Mapping[str, ColumnKind], given: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return two columns of several words whose names say that they are a pair, also where their values repeat."""
    wordy = [
        kind
        for name, kind in kinds.items()
        if name not in given.values() and not kind.is_number and kind.words >= WORDS_OF_TEXT
    ]
    pairs = [
        (first.name, second.name)
        for place, first in enumerate(wordy)
        for second in wordy[place + 1 :]
        if _is_pair(first.name, second.name)
    ]
    if len(pairs) != 1:
        return None
    golds = {"label", "score"} & given.keys() or any(
        _can_be_gold(kind) for name, kind in kinds.items() if name not in pairs[0]
    )
    return pairs[0] if golds else None


def _as_texts(free: Sequence[ColumnKind]) -> tuple[str, ...] | None:
    if len(free) == 1:
        return (free[0].name,)
    pairs = [
        (first.name, second.name)
        for place, first in enumerate(free)
        for second in free[place + 1 :]
        if _is_pair(first.name, second.name)
    ]
    if len(pairs) == 1:
        return pairs[0]
    hinted = [kind for kind in free if _plain(kind.name) in _TEXTS]
    exact = [kind for kind in free if _plain(kind.name) == "text"]
    for found in (exact, hinted):
        if len(found) == 1:
            return (found[0].name,)
    return None


def _chosen_texts(kinds: Mapping[str, ColumnKind], taken: set[str]) -> tuple[str, ...]:
    """Choose the columns of texts once the gold is known."""
    left = [kind for name, kind in kinds.items() if name not in taken and not kind.is_number and kind.values]
    texts = [kind for kind in left if kind.is_text]
    if not texts:
        wordy = [kind for kind in left if kind.words >= 2] or [
            kind for kind in left if _plain(kind.name) not in _ROW_NUMBERS
        ]
        named = [kind for kind in left if _plain(kind.name) in _TEXTS]
        texts = wordy if len(wordy) == 1 else named or wordy
        if found := _as_texts(texts):
            return found
    if len(texts) == 1:
        return (texts[0].name,)
    if not texts:
        raise UsageError(f"no column holds texts; columns: {listed(list(kinds))}. Name it: --text NAME")
    names = [kind.name for kind in texts[:_SHOWN]]
    choices = ", ".join(f"--text {_typed(name)}" for name in names)
    pair = f", or as a pair --premise {_typed(names[0])} --hypothesis {_typed(names[1])}"
    raise UsageError(f"several columns hold texts: choose one of {choices}{pair}")


def _gold(
    kinds: Mapping[str, ColumnKind], given: Mapping[str, str], taken: set[str], wanted: str
) -> tuple[str, Gold]:
    if "label" in given and "score" in given:
        raise UsageError("--label names classes and --score numbers: give one of them")
    if "score" in given:
        return given["score"], "score"
    if "label" in given:
        return given["label"], _kind_of_named(kinds, given["label"])
    free = [kind for name, kind in kinds.items() if name not in taken]
    able = [kind for kind in free if _can_be_gold(kind)]
    named = [kind for kind in free if _plain(kind.name) in _LABELS | _NUMBERS and kind.values]
    exact = [kind for kind in named if _plain(kind.name) in ("label", "score")]
    for found in (exact, named, able):
        if len(found) == 1:
            return found[0].name, _kind_of(found[0], wanted)
    switches = [kind.name for kind in able if kind.is_switch]
    if not named and len(able) == len(switches) > 1:
        _refuse_commas(name for name in switches if "," in name)
        return ",".join(switches), "labels"
    if not able:
        raise UsageError(
            f"no column holds classes or numbers; columns: {listed(list(kinds))}. Name it: --label NAME or --score NAME"
        )
    choices = (
        f"--{'score' if _is_measured(kind) else 'label'} {_typed(kind.name)}"
        for kind in (named or able)[:_SHOWN]
    )
    raise UsageError(f"several columns can be what is learned: choose one of {', '.join(choices)}")


def _kind_of_named(kinds: Mapping[str, ColumnKind], name: str) -> Gold:
    """Return what the user's label is: one column, one for each label with zeros and ones, or several of classes."""
    if name in kinds:
        return "label"
    parts = [kinds[part.strip()] for part in name.split(",")]
    return "labels" if all(_holds_flags(part) for part in parts) else "columns"


def _holds_flags(kind: ColumnKind) -> bool:
    return kind.flags <= {"0", "1"}


def _several(kind: ColumnKind, separator: str, wanted: str) -> Gold:
    """Return whether a cell holds several labels; asks where the cells and the recipe leave that open."""
    if wanted == "labels" and kind.possible_separator:
        return "labels"
    if wanted == "classes" and not separator and kind.doubtful_separator:
        return "label"
    if mark := "" if separator else kind.doubtful_separator:
        cells = f"{kind.with_mark(mark):,} of {len(kind.values):,} cells"
        raise UsageError(
            f"{kind.name} has {mark!r} in {cells}, and some of the parts stand elsewhere too: --set "
            f"'data.options.label_separator=\"{mark}\"' learns several labels a text; heedful train my-texts --set "
            f"data.train=FILE --text NAME --label {_typed(kind.name)} learns each cell as one class"
        )
    return "labels" if separator or kind.separator else "label"


def _can_be_gold(kind: ColumnKind) -> bool:
    if _plain(kind.name) in _ROW_NUMBERS or kind.is_row_number or kind.is_constant:
        return False
    return kind.is_number or kind.is_classes or bool(kind.separator)


def _kind_of(kind: ColumnKind, wanted: str) -> Gold:
    """Return what a column of gold is; whole numbers may be classes as well as grades: the recipe says it, or asked."""
    name = _plain(kind.name)
    if kind.separator:
        return "labels"
    if not kind.is_number or (wanted == "classes" and kind.is_whole):
        return "label"
    if wanted in ("number", "grades"):
        return "score"
    if name in _NUMBERS or _is_measured(kind):
        return "score"
    if name in _LABELS or len(kind.counts) == 2:
        return "label"
    typed, low, high = _typed(kind.name), min(kind.numbers), max(kind.numbers)
    raise UsageError(
        f"{kind.name} has whole numbers from {low:g} to {high:g}: --label {typed} learns them as classes, --score "
        f"{typed} as numbers"
    )


def _is_measured(kind: ColumnKind) -> bool:
    return kind.is_number and (not kind.is_whole or len(kind.counts) > _MOST_GRADES)


def _is_pair(first: str, second: str) -> bool:
    names = _plain(first), _plain(second)
    if names in _PAIRS:
        return True
    for ends in _HALVES:
        if names[0].endswith(ends[0]) and names[1].endswith(ends[1]):
            stem = names[0].removesuffix(ends[0])
            if stem == names[1].removesuffix(ends[1]) and (stem or len(ends[0]) > 1):
                return True
        if names[0].startswith(ends[0] + "_") and names[1].startswith(ends[1] + "_"):
            return names[0].removeprefix(ends[0]) == names[1].removeprefix(ends[1])
    return False


def _refuse_commas(names: Iterable[str]) -> None:
    """Refuse a column whose name holds a comma, which stands between the names of several columns."""
    for name in names:
        raise UsageError(
            f"the column {name!r:.80} holds a comma in its name, which stands between the names of several columns of "
            "labels; rename it to choose it beside others"
        )


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _typed(name: str) -> str:
    """Return a name as it is typed in a shell."""
    return name if re.fullmatch(r"[\w.-]+", name) else f"'{name}'"
