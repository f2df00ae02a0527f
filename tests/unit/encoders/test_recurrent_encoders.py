"""The recurrent encoders: layers on each other, and one layer under the names of saved models."""

from __future__ import annotations

import pytest
import torch

from heedful.encoders import BiGruEncoder, BiLstmEncoder, RecurrentConfig
from heedful.errors import UsageError
from heedful.structures import Sentences

VALID = torch.tensor([[True] * 4, [True, True, False, False]])
WORDS = Sentences(VALID.long(), VALID)


@pytest.mark.parametrize("encoder", [BiLstmEncoder, BiGruEncoder])
def test_deeper_layers_add_to_the_states_below(encoder: type[BiLstmEncoder | BiGruEncoder]) -> None:
    torch.manual_seed(0)
    stack = encoder(3, RecurrentConfig(hidden=2, layers=3)).eval()
    x = torch.randn(2, 4, 3)
    first = stack.layers(x, VALID)
    second = first + stack.deeper[0](first, VALID)
    states = stack(x, WORDS).states
    assert torch.equal(states, second + stack.deeper[1](second, VALID))
    assert not states[~VALID].any()
    with pytest.raises(UsageError, match="layers must be 1 or more; got 0"):
        encoder(3, RecurrentConfig(layers=0))


def test_one_layer_has_the_names_and_the_start_that_it_always_had() -> None:
    torch.manual_seed(0)
    one = BiLstmEncoder(3, RecurrentConfig(hidden=2)).state_dict()
    cell = ("bias_ih_l0", "weight_hh_l0", "weight_ih_l0")
    sides = ("from_left", "from_right")
    assert sorted(one) == [f"layers.{side}.cell.{name}" for side in sides for name in cell]
    torch.manual_seed(0)
    three = BiLstmEncoder(3, RecurrentConfig(hidden=2, layers=3)).state_dict()
    assert all(torch.equal(three[name], tensor) for name, tensor in one.items())
