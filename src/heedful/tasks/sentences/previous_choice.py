"""Settings of linear parts that an earlier choice stands for.

To choose them takes nearly all the time of a training: every form of every part is fitted in every setting for each
fold. A model that keeps all of its rows learns on in the settings that were chosen last, and chooses again when there
are several times as many rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from heedful.tasks.sentences.cross_validation import OutOfFold, PartRows
from heedful.tasks.sentences.fitting_wide import FitSetting

CHOSEN = "chosen_settings"
"""Where the figures of a model say in which settings its linear parts were fitted."""
_WEAKEST, _STRONGEST = 1e-3, 1e4
"""Strengths that are believed: those that are tried lie well between them."""
_MANY_MORE = 2
"""Times as many classes, from which on everything is chosen again."""
_KINDS = {"strength": float, "scaled": bool, "share": float, "even": bool}


@dataclass(frozen=True)
class ChosenSettings:
    """In which form and setting each linear part was fitted, and from how many rows that was chosen.

    Attributes:
        rows: training rows of the choice.
        outputs: classes that there were, Y.
        parts: names of the parts in the form that was taken, each with its setting.
    """

    rows: int
    outputs: int
    parts: tuple[tuple[str, FitSetting], ...]

    @classmethod
    def of(cls, found: OutOfFold, before: ChosenSettings | None = None) -> ChosenSettings:
        """Return what cross-validation chose.

        Args:
            found: what it tried.
            before: the choice that it was held to; None for a free one.

        Returns:
            The settings, by as many rows as the first choice of a part had, if one of them was held to.
        """
        parts = tuple((best.part.name, best.setting) for best in found.best())
        held = before is not None and any(name in before.names for name, _ in parts)
        rows = before.rows if before is not None and held else len(found.training)
        return cls(rows, found.training.outputs, parts)

    @classmethod
    def read(cls, metrics: Mapping[str, object]) -> ChosenSettings | None:
        """Return what the figures of a model say; None where they say nothing, or what cannot be understood."""
        table = metrics.get(CHOSEN)
        if not isinstance(table, Mapping):
            return None
        rows, outputs, listed = (table.get(name) for name in ("rows", "outputs", "parts"))
        if type(rows) is not int or type(outputs) is not int or not isinstance(listed, list):
            return None
        parts = []
        for each in listed:
            if not isinstance(each, Mapping) or each.keys() != {"name", *_KINDS}:
                return None
            if type(each["name"]) is not str or any(
                type(each[name]) is not kind for name, kind in _KINDS.items()
            ):
                return None
            setting = FitSetting(each["strength"], each["scaled"], each["share"], each["even"])
            if not (_WEAKEST <= setting.strength <= _STRONGEST and 0 < setting.share <= 1):
                return None
            parts.append((each["name"], setting))
        return cls(rows, outputs, tuple(parts))

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        parts = [{"name": name, **asdict(setting)} for name, setting in self.parts]
        return {"rows": self.rows, "outputs": self.outputs, "parts": parts}

    @property
    def names(self) -> frozenset[str]:
        """Names of the forms that were taken."""
        return frozenset(name for name, _ in self.parts)

    def stands(self, rows: int, outputs: int, times: float) -> bool:
        """Return whether the choice stands for more rows: not so many times as many, nor twice as many classes."""
        few = self.outputs <= outputs < _MANY_MORE * self.outputs
        return few and self.rows <= rows < times * self.rows

    def held(self, parts: Sequence[Sequence[PartRows]]) -> list[list[PartRows]]:
        """Return each part in the form and setting that it had; one that there was none of keeps all of its own."""
        settings = dict(self.parts)
        found = []
        for forms in parts:
            own = [form for form in forms if _fits(form, settings.get(form.name))]
            found.append([replace(form, settings=(settings[form.name],)) for form in own] or list(forms))
        return found


def _fits(form: PartRows, setting: FitSetting | None) -> bool:
    """Return whether a form may be fitted in a setting: how strongly it is regularized is free."""
    kinds = {(each.scaled, each.even) for each in form.settings}
    return setting is not None and (setting.scaled, setting.even) in kinds
