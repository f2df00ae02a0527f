"""The options of an encoder: their types, which its settings class states, and the range of every value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_type_hints

from heedful.encoders import MssanConfig, MultiHeadConfig, RecurrentConfig
from heedful.encoders.priors import parse_prior
from heedful.errors import UsageError
from heedful.masks import parse_mask
from heedful.models.fitting import fit

Check = Callable[[Any], str]
"""What is wrong with a value of the right type, as a sentence; empty where nothing is."""


def read_options(settings: type[Any], options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Fit options to the fields of an encoder's settings.

    Args:
        settings: the settings class.
        options: plain values by name of a field; every name must be one of the class.

    Returns:
        The values for the class, and every mistake, each with the full name of its setting.
    """
    hints, values, problems = get_type_hints(settings), dict[str, Any](), list[str]()
    for name, value in options.items():
        values[name], problem = fit(value, hints[name])
        problem = problem or _check_of(settings, name)(values[name])
        if problem:
            problems.append(f"model.encoder_options.{name}: {problem}; got {_plain(value)!r}")
    return values, problems


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _check_of(settings: type[Any], name: str) -> Check:
    return _OF_ONE.get((settings, name)) or _OF_ALL.get(name, _anything)


def _anything(value: Any) -> str:
    return ""


def _at_least(least: float) -> Check:
    return lambda value: "" if math.isfinite(value) and value >= least else f"must be {least} or more"


def _positive(value: float) -> str:
    return "" if math.isfinite(value) and value > 0 else "must be above 0"


def _finite(value: float) -> str:
    return "" if math.isfinite(value) else "must be a finite number"


def _share(value: float) -> str:
    return "" if 0 <= value < 1 else "must be at least 0 and below 1"


def _odd(value: int) -> str:
    return "" if value > 0 and value % 2 else "must be odd, 1 or more, so that a window has a middle"


def _sizes(values: Sequence[int]) -> str:
    return "" if values and min(values) >= 1 else "must name at least one size, each 1 or more"


def _each_once(values: Sequence[str]) -> str:
    return "" if values and len(set(values)) == len(values) else "must name at least one kind, and each once"


def _readable(parse: Callable[[str], object]) -> Check:
    """Return a check that every text of a list can be read, and that there is one."""

    def check(texts: Sequence[str]) -> str:
        return "; ".join(_unreadable(parse, texts)) if texts else "must hold at least one name"

    return check


def _unreadable(parse: Callable[[str], object], texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        try:
            parse(text)
        except UsageError as error:
            yield str(error)


_OF_ALL: dict[str, Check] = {
    **dict.fromkeys(
        ("block_length", "encoders", "filters", "heads", "layers", "projected", "reach"), _at_least(1)
    ),
    **dict.fromkeys(("distance", "encoder_steps", "head_width", "hidden", "policy_steps"), _at_least(0)),
    **dict.fromkeys(("alpha", "l2", "penalty"), _at_least(0)),
    **dict.fromkeys(("attention_dropout", "baseline_decay", "dropout", "residual_dropout"), _share),
    **dict.fromkeys(("deviation", "gain", "scale"), _positive),
    **dict.fromkeys(("score_start", "signal"), _finite),
    **dict.fromkeys(("directions", "masks"), _readable(parse_mask)),
    "attentions": _each_once,
    "size": _odd,
    "sizes": _sizes,
}
"""Name of an option to the check of its value; names mean the same in every encoder but for those of `_OF_ONE`."""

_OF_ONE: dict[tuple[type[Any], str], Check] = {
    (MssanConfig, "heads"): _readable(parse_prior),
    (MultiHeadConfig, "head_width"): _at_least(1),
    (RecurrentConfig, "hidden"): _at_least(1),
}
