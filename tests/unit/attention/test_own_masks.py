"""Masks and encoders of your own: by name, as objects, trained, explained, saved and loaded; and their page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from forked_commands import run_program
from heedful import TextClassifier, from_pretrained, settings
from heedful.attention import masks as known
from heedful.attention.masks import Mask, forward, parse_mask, register_mask
from heedful.attention.visibility import Band
from heedful.encoders import ContextEncoder, DisanConfig, DisanEncoder, MssanConfig, MssanEncoder, MtsaConfig
from heedful.encoders.priors import Prior, parse_prior
from heedful.errors import UsageError
from heedful.models import ENCODERS, POOLINGS, build, register_encoder, register_pooling
from heedful.nn.pooling import Pooling
from heedful.settings import Settings
from heedful.structures import ContextStates, Pooled, Sentences

PAGE = Path(__file__).parents[3] / "docs" / "own-masks.md"
SMALL: dict[str, Any] = {"model__width": 16, "model__hidden": 16, "train__max_steps": 3}
TEXTS = ["the film was superb", "the long film was dull", "a superb cast", "a dull plot"] * 10
LABELS = ["good", "bad", "good", "bad"] * 10


@dataclass(frozen=True)
class EvenMask(Mask):
    """Show the words at an even distance."""

    def visible(self, sentences: Sentences) -> Tensor:
        place = torch.arange(sentences.valid.shape[1])
        return (place[:, None] - place[None, :]) % 2 == 0


@dataclass(frozen=True)
class BehindMask(Mask):
    """Show the word that stands so many places before."""

    width: int

    def visible(self, sentences: Sentences) -> Band:
        return Band(-self.width, -self.width)


@dataclass(frozen=True)
class MineConfig(Settings):
    """No options."""


class MineEncoder(ContextEncoder):
    """Double the word vectors."""

    def __init__(self, width: int, config: MineConfig) -> None:
        super().__init__()
        self.width_in = self.width_out = width
        self.config = config

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        return ContextStates(2 * x.masked_fill(~sentences.valid[..., None], 0))


class LastPooling(Pooling):
    """Take the state of the last word."""

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        last = (valid & (valid.sum(1, keepdim=True) == valid.cumsum(1))).to(states.dtype)[..., None]
        weights = last.expand_as(states) if need_weights else None
        return Pooled((last * states).sum(1), weights)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register_mask("even", EvenMask)
    register_mask("behind", BehindMask)
    register_encoder("mine", MineConfig, MineEncoder)
    register_pooling("last", LastPooling)
    yield
    for name in ("even", "behind"):
        known._OF_CLASS.pop(name)
        known._WITHOUT_NUMBER.pop(name, None)
        known._WITH_NUMBER.pop(name, None)
    ENCODERS.pop("mine")
    POOLINGS.pop("last")
    build._OWN_POOLINGS.clear()
    settings._FURTHER.clear()


def test_a_registered_mask_reads_back_from_its_text() -> None:
    assert parse_mask("even") == EvenMask()
    assert parse_mask("behind(3)") == BehindMask(3)
    assert str(parse_mask("behind(2) | even & forward")) == "behind(2) | even & forward"
    register_mask("even", EvenMask)  # again, as a module that is loaded twice does


@dataclass(frozen=True)
class GivenMask(Mask):
    """Show what a test says, of whatever kind."""

    shown: Any

    def visible(self, sentences: Sentences) -> Any:
        return self.shown


NO_MASKS = (None, "forward", torch.ones(4, 4), torch.ones(4, dtype=torch.bool), Band(-0.5, 1), Band(1 << 70))  # type: ignore[arg-type]


@pytest.mark.parametrize("shown", NO_MASKS)
def test_what_a_mask_of_your_own_gives_is_checked(shown: object) -> None:
    encoder = DisanEncoder(8, DisanConfig(masks=("forward",)))
    valid = torch.ones(2, 4, dtype=torch.bool)
    for mask in (GivenMask(shown), GivenMask(shown) & forward(), parse_mask("window(1)") | GivenMask(shown)):
        encoder.blocks[0].mask = mask
        with pytest.raises(UsageError, match=r"must be a Band or booleans .* = \[2, 4, 4\]; got"):
            encoder(torch.randn(2, 4, 8), Sentences(valid.long(), valid))


def test_objects_are_settings() -> None:
    both = (EvenMask(), forward() & BehindMask(1))
    for kind in (DisanConfig, MtsaConfig):
        assert kind(masks=both) == kind(masks=("even", "forward & behind(1)"))  # type: ignore[arg-type]
    encoder = DisanEncoder(8, DisanConfig(masks=both)).eval()  # type: ignore[arg-type]
    valid = torch.ones(1, 4, dtype=torch.bool)
    found = encoder(torch.randn(1, 4, 8), Sentences(valid.long(), valid), need_weights=True).maps
    assert [place.rule for place in found] == ["even", "forward & behind(1)"]


def test_heads_of_ms_san_take_masks_beside_distances() -> None:
    heads = (EvenMask(), "behind(1) & even & word", "forward & word", Prior("backward"))
    config = MssanConfig(heads=heads)  # type: ignore[arg-type]
    assert config.heads == ("even", "behind(1) & even & word", "forward & word", "backward")
    assert str(parse_prior("even & word & forward")) == "forward & even & word"
    encoder = MssanEncoder(8, config).eval()
    valid = torch.tensor([[True] * 4, [True] * 3 + [False]])
    found = encoder(torch.randn(2, 4, 8), Sentences(valid.long(), valid), need_weights=True)
    even, nothing, *_ = (weights.detach() for weights in found.maps.values())
    assert (even[0] > 0).tolist() == [[True, False] * 2, [False, True] * 2] * 2
    torch.testing.assert_close(nothing[0], torch.eye(4))  # a word that sees no other sees itself
    assert even[1, 3].sum() == even[1, :, 3].sum() == 0
    with pytest.raises(UsageError, match="'evn' is unknown"):
        MssanConfig(heads=("evn & word",))


def test_what_cannot_be_registered_is_refused() -> None:
    @dataclass(frozen=True)
    class Nameless(EvenMask):
        pass

    with pytest.raises(UsageError, match=r"Nameless.*register_mask"):
        DisanConfig(masks=(Nameless(),))  # type: ignore[arg-type]
    for name, mask, message in (
        ("forward", EvenMask, "taken"),
        ("Even!", EvenMask, "small letters"),
        ("even", BehindMask, "taken"),
        ("other", dict, "derives from Mask"),
    ):
        with pytest.raises(UsageError, match=message):
            register_mask(name, mask)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="taken"):
        register_encoder("disan", MineConfig, MineEncoder)
    with pytest.raises(UsageError, match="taken"):
        register_pooling("mean", LastPooling)
    register_pooling("last", LastPooling)  # again


@pytest.mark.parametrize("name", [None, "", " ", 3])
def test_encoders_and_poolings_have_names_that_settings_can_write(name: Any) -> None:
    with pytest.raises(UsageError, match="register_encoder: a name is a text"):
        register_encoder(name, MineConfig, MineEncoder)
    with pytest.raises(UsageError, match="register_pooling: a name is a text"):
        register_pooling(name, LastPooling)


def test_what_is_no_class_is_no_encoder_and_no_pooling() -> None:
    for own, encoder in ((MineConfig, None), (None, MineEncoder), (dict, MineEncoder)):
        with pytest.raises(UsageError, match=r"register_encoder\('other'\): expected a"):
            register_encoder("other", own, encoder)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"register_pooling\('other'\): expected a class"):
        register_pooling("other", None)  # type: ignore[arg-type]
    assert "other" not in ENCODERS
    assert "other" not in POOLINGS


@pytest.mark.parametrize(
    "settings",
    [
        {"model__encoder_options": {"masks": ["even", "behind(1)"]}},
        {"model__encoder": "mine"},
        {"model__encoder": "mssan", "model__encoder_options": {"heads": ["even & word", "behind(1)"]}},
        {"model__pooling": "last"},
    ],
)
def test_a_model_is_trained_saved_and_loaded(settings: dict[str, Any], tmp_path: Path) -> None:
    model = TextClassifier(**SMALL, **settings).fit(TEXTS, LABELS, baseline=False)
    model.save_pretrained(tmp_path / "model")
    again = from_pretrained(tmp_path / "model")
    assert (again.predict_proba(TEXTS[:4]) == model.predict_proba(TEXTS[:4])).all()
    assert "superb" in model.explain("a superb film").to_text()


@pytest.mark.english
def test_the_page_runs(tmp_path: Path) -> None:
    """And the model that it saves is refused, with the mask's name, by a process that does not know the mask."""
    pytest.importorskip("spacy", reason="the parser needs spaCy")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    run_program("\n".join(blocks), tmp_path)
    with pytest.raises(Exception, match="clause"):
        from_pretrained(tmp_path / "clause-model").predict(["a film"])
