"""Networks on a pretrained encoder: every system, sizes, and what the optimizer does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from heedful.errors import UsageError
from heedful.models import ENCODERS, ModelConfig, PretrainedConfig
from heedful.storage.hugging_face import read_encoder
from heedful.structures import Batch, Sentences
from heedful.tasks import task_named
from heedful.training.optim import build_optimizer
from heedful.training.train_settings import OptimizerSettings
from tiny_encoder import ID, ids, write_encoder

pytest.importorskip("transformers")

WIDTH = 12
CONFIG = ModelConfig(task="pair", encoder="mssan", hidden=5, outputs=3, activation="relu", width=300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("models") / "encoder", width=WIDTH)


def build(folder: Path, config: ModelConfig = CONFIG):
    return task_named(config.task).on_encoder(
        config, read_encoder(folder), start=ID["[CLS]"], end=ID["[SEP]"]
    )


def side(*texts: tuple[int, ...]) -> Sentences:
    longest = max(map(len, texts))
    valid = torch.arange(longest) < torch.tensor([[len(text)] for text in texts])
    padded = torch.tensor([[*text, *[0] * (longest - len(text))] for text in texts])
    places = torch.cumsum(torch.ones_like(padded), 1) - 1
    return Sentences(padded, valid, words=places * valid)


def row_of(column: Sentences, row: int) -> Sentences:
    """Return one sentence without its padding."""
    length = int(column.valid[row].sum())
    tokens, valid, words = (each[row : row + 1, :length] for each in (column.ids, column.valid, column.words))
    return Sentences(tokens, valid, words=words)


SIDES = (side(ids("the", "dog", "sleep"), ids("good")), side(ids("a", "cat"), ids("un", "##known")))


def smallest(name: str) -> dict[str, object]:
    """Return options with which an encoder takes the tiny width."""
    known = ENCODERS[name][0].__dataclass_fields__
    return {"heads": 2} if "heads" in known and isinstance(known["heads"].default, int) else {}


@pytest.mark.parametrize("name", [*ENCODERS, "decomposable"])
def test_every_system_stands_on_an_encoder(folder: Path, name: str) -> None:
    torch.manual_seed(0)
    options = {} if name == "decomposable" else smallest(name)
    network = build(folder, replace(CONFIG, encoder=name, encoder_options=options)).eval()
    with torch.no_grad():
        together = network(Batch(SIDES)).logits
        alone = [network(Batch(tuple(row_of(column, row) for column in SIDES))).logits for row in range(2)]
    assert together.shape == (2, 3)
    assert together.isfinite().all()
    torch.testing.assert_close(torch.cat(alone), together, atol=1e-5, rtol=0)


def test_the_vector_is_the_pooling_and_then_the_summary(folder: Path) -> None:
    network = build(folder).eval()
    with torch.no_grad():
        vector = network(Batch(SIDES)).vectors[0]
        summary = network.sentence_encoder.embedding.embed(SIDES[0]).summary
    assert vector.shape == (2, 2 * WIDTH)
    assert torch.equal(vector[:, WIDTH:], summary)
    without = build(folder, replace(CONFIG, pretrained=PretrainedConfig(cls=False)))
    assert without.sentence_encoder.width_out == WIDTH


def test_the_size_of_the_papers_model_on_bert_base() -> None:
    from transformers import BertConfig, BertModel

    config = replace(CONFIG, hidden=768)
    with torch.device("meta"):
        network = task_named(config.task).on_encoder(
            config, BertModel(BertConfig(), add_pooling_layer=False), start=1, end=2
        )
    bert = sum(p.numel() for p in network.sentence_encoder.embedding.parameters())
    total = sum(p.numel() for p in network.parameters())
    assert (bert, total - bert, total) == (108_891_648, 11_804_931, 120_696_579)


@pytest.mark.parametrize("lr_factor", [0.0, 0.1, 1.0])
def test_the_encoder_has_its_share_of_the_learning_rate(folder: Path, lr_factor: float) -> None:
    torch.manual_seed(0)
    network = build(folder, replace(CONFIG, pretrained=PretrainedConfig(lr_factor=lr_factor)))
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    optimizer = build_optimizer(network, OptimizerSettings("adam", lr=0.01, weight_decay=0.0))
    network(Batch(SIDES)).logits.square().sum().backward()
    optimizer.step()
    moved = {name: (p.detach() - before[name]).abs().max().item() for name, p in network.named_parameters()}
    encoder = [most for name, most in moved.items() if ".embedding." in name]
    rest = [most for name, most in moved.items() if ".embedding." not in name]
    # Adam's first step moves a weight with a gradient by the learning rate.
    assert max(encoder) == pytest.approx(0.01 * lr_factor, rel=0.01)
    assert max(rest) == pytest.approx(0.01, rel=0.01)


def test_schedules_scale_both_rates(folder: Path) -> None:
    network = build(folder, replace(CONFIG, pretrained=PretrainedConfig(lr_factor=0.1)))
    optimizer = build_optimizer(network, OptimizerSettings("adam", lr=0.01))
    optimizer.scale_lr(0.5)
    rates = {group["lr"] for member in optimizer.members for group in member.param_groups}
    assert sorted(rates) == pytest.approx([0.0005, 0.005])


def test_each_layer_learns_more_slowly_than_the_one_above(folder: Path) -> None:
    network = build(folder, replace(CONFIG, pretrained=PretrainedConfig(lr_factor=0.1, layer_decay=0.5)))
    rates = {
        id(p): group["lr"]
        for member in build_optimizer(network, OptimizerSettings("adam", lr=1.0)).members
        for group in member.param_groups
        for p in group["params"]
    }
    encoder = network.sentence_encoder.embedding.encoder
    found = {name: rates[id(p)] for name, p in encoder.named_parameters()}
    assert {lr for name, lr in found.items() if "layer.1." in name} == {0.1}
    assert {lr for name, lr in found.items() if "layer.0." in name} == {0.05}
    assert {lr for name, lr in found.items() if "embeddings" in name} == {0.025}
    assert {lr for name, lr in found.items() if "pooler" in name} <= {0.1}


def test_tagging_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="tags words, not word pieces"):
        build(folder, replace(CONFIG, task="roles"))


@pytest.mark.parametrize("wrong", [{"layers": -1}, {"lr_factor": -0.1}])
def test_settings_out_of_range_are_named(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(wrong))} must be 0 or more; got -"):
        PretrainedConfig(**wrong)  # type: ignore[arg-type]
