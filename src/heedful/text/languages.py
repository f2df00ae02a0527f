"""The subwords of both sides of a translation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heedful.errors import ArtefactError
from heedful.text.subwords import Subwords

FORMAT = 1
_KIND = "subwords"


@dataclass(frozen=True)
class Languages:
    """The subwords of both sides of a translation.

    Attributes:
        source: of what is translated.
        target: of the translation; the same object where both sides share one vocabulary.
    """

    source: Subwords
    target: Subwords

    @property
    def shared(self) -> bool:
        """Whether both sides have one vocabulary."""
        return self.source is self.target

    def to_json(self) -> dict[str, Any]:
        """Return plain values, which `from_json` reads; a shared vocabulary is written once."""
        sides = {"source": self.source.to_json()}
        if not self.shared:
            sides["target"] = self.target.to_json()
        return {"format": FORMAT, "kind": _KIND, **sides}

    @classmethod
    def from_json(cls, content: dict[str, Any], where: str) -> Languages:
        """Read what `to_json` returned.

        Args:
            content: the plain values.
            where: the file, for messages.

        Returns:
            The subwords.

        Raises:
            ArtefactError: if it is not such a record.
            MissingExtraError: without the package tokenizers.
        """
        if content.get("format") != FORMAT or content.get("kind") != _KIND:
            raise ArtefactError(f"{where}: expected subwords of format {FORMAT}. Train the model again.")
        source = Subwords.from_json(content.get("source"), where)
        if "target" not in content:
            return cls(source, source)
        return cls(source, Subwords.from_json(content["target"], where))
