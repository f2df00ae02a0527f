"""Adam of the CPU: the numbers of torch's own to the bit, without the import of torch's compiler."""

from __future__ import annotations

import subprocess
import sys

import torch
from torch import nn

from heedful.training.adam import DenseAdam, RowAdam
from heedful.training.optim import build_optimizer
from heedful.training.train_settings import OptimizerSettings
from waiting import PATIENCE

GROUP = {"lr": 0.01, "betas": (0.9, 0.98), "eps": 1e-6}


def steps_of(weight: nn.Parameter, gradients: list[torch.Tensor], optimizer: object) -> nn.Parameter:
    for number, gradient in enumerate(gradients):
        weight.grad = gradient.clone()
        optimizer.param_groups[0]["lr"] = 0.01 / (1 + number)  # type: ignore[attr-defined]
        optimizer.step()  # type: ignore[attr-defined]
    return weight


def test_dense_weights_move_as_those_of_torch_to_the_bit() -> None:
    torch.manual_seed(0)
    start, gradients = torch.randn(30, 7), [torch.randn(30, 7) for _ in range(5)]
    for decay in (0.0, 0.1):
        ours, torchs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
        own = DenseAdam([{"params": [ours], "weight_decay": decay}], **GROUP)
        other = torch.optim.Adam([torchs], weight_decay=decay, fused=True, **GROUP)  # type: ignore[arg-type]
        assert torch.equal(steps_of(ours, gradients, own), steps_of(torchs, gradients, other))
        for name, value in other.state[torchs].items():
            assert torch.equal(own.state[ours][name], value)


def test_rows_move_as_those_of_torch_to_the_bit() -> None:
    torch.manual_seed(0)
    start = torch.randn(9, 40)
    places = [torch.tensor([each]) for each in ([1, 5, 5, 8], [8, 0], list[int](), [5, 1, 2])]
    gradients = [
        torch.sparse_coo_tensor(rows.long(), torch.randn(rows.shape[1], 40), (9, 40), check_invariants=False)
        for rows in places
    ]
    ours, torchs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    own = RowAdam([{"params": [ours]}], weight_decay=0.0, **GROUP)
    other = torch.optim.SparseAdam([torchs], **GROUP)  # type: ignore[arg-type]
    assert torch.equal(steps_of(ours, gradients, own), steps_of(torchs, gradients, other))
    assert torch.equal(ours[3], start[3])
    for name, value in other.state[torchs].items():
        assert own.state[ours][name] == value if name == "step" else torch.equal(own.state[ours][name], value)


def test_what_has_no_gradient_stays() -> None:
    network = nn.Sequential(nn.Linear(2, 2), nn.Embedding(3, 2, sparse=True))
    optimizers = build_optimizer(network, OptimizerSettings(name="adam"))
    assert [type(member) for member in optimizers.members] == [DenseAdam, RowAdam]
    before = [parameter.detach().clone() for parameter in network.parameters()]
    optimizers.step()
    assert all(torch.equal(x, y) for x, y in zip(before, network.parameters(), strict=True))
    assert not optimizers.state_of(network[0].weight)


def test_a_training_on_the_cpu_imports_neither_torchs_compiler_nor_fabric() -> None:
    program = (
        "import sys\n"
        "from heedful import TextClassifier\n"
        "texts, labels = ['a fine film', 'a dull film'] * 10, ['good', 'bad'] * 10\n"
        "model = TextClassifier(train__epochs=1, data__few_rows=0, train__device='cpu', text__vectors='')\n"
        "model.fit(texts, labels)\n"
        "print(*(name in sys.modules for name in ('torch', 'torch._dynamo', 'lightning_fabric')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split() == ["True", "False", "False"], done.stderr
