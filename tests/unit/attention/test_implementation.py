from __future__ import annotations

import pytest
import torch

from heedful.attention import native
from heedful.attention.additive import choose_additive
from heedful.attention.visibility import Band
from heedful.errors import UsageError

FORWARD, WINDOW = Band(high=-1), Band(-2, 2)
QUERY = torch.zeros(1, 3, 4)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "MISSING", "")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("visible", "options", "impl"),
    [
        (FORWARD, {}, "kernel"),
        (WINDOW, {}, "kernel"),
        (torch.ones(3, 3, dtype=torch.bool), {}, "kernel"),
        (FORWARD, {"need_weights": True}, "reference"),
        (FORWARD, {"need_weights": True, "impl": "kernel"}, "reference"),
        (FORWARD, {"scale": 100.0}, "torch"),
        (FORWARD, {"impl": "kernel"}, "kernel"),
        (FORWARD, {"impl": "torch"}, "torch"),
    ],
)
def test_choice(visible: Band, options: dict, impl: str) -> None:
    choice = choose_additive(QUERY, visible, **{"scale": 5.0, **options})
    assert choice.impl == impl
    assert str(choice).startswith(f"{impl}: ")
    assert len(str(choice)) > len(impl) + 4


@pytest.mark.usefixtures("built")
def test_float64_goes_to_plain_torch() -> None:
    assert choose_additive(QUERY.double(), FORWARD, scale=5.0).impl == "torch"


def test_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "MISSING", "nobody built it")
    assert str(choose_additive(QUERY, FORWARD, scale=5.0)) == "torch: nobody built it"
    with pytest.raises(UsageError, match="nobody built it"):
        choose_additive(QUERY, FORWARD, scale=5.0, impl="kernel")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("query", "visible", "options", "message"),
    [
        (QUERY, FORWARD, {"impl": "fast"}, "impl='fast' is unknown"),
        (QUERY, FORWARD, {"impl": "kernal"}, "did you mean 'kernel'"),
        (QUERY.double(), FORWARD, {"impl": "kernel"}, "the inputs are torch.float64"),
        (QUERY, FORWARD, {"impl": "kernel", "scale": 100.0}, "scale=100.0 is outside"),
        (QUERY, FORWARD, {"impl": "kernel", "scale": 10.1}, "scale=10.1 is outside"),
        (QUERY, FORWARD, {"impl": "kernel", "scale": 0.09}, "scale=0.09 is outside"),
        (QUERY.to("meta"), FORWARD, {"impl": "kernel"}, "no kernel for device 'meta'"),
    ],
)
def test_an_explicit_choice_is_served_or_refused(
    query: torch.Tensor, visible: Band, options: dict, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        choose_additive(query, visible, **{"scale": 5.0, **options})


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("visible", "form"),
    [(FORWARD, "whole directions"), (WINDOW, "window"), (torch.ones(3, 3, dtype=torch.bool), "dense tensor")],
)
def test_the_reason_tells_the_linear_form_from_the_pairwise_one(visible: Band, form: str) -> None:
    assert form in choose_additive(QUERY, visible).reason
