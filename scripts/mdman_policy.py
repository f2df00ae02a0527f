"""Measure whether MDMAN's policy learns, on the generated corpus: python scripts/mdman_policy.py --out runs/policy.

Variants, each with the same number of steps of the encoder: the recipe as it is; its masks frozen as they start at
random; and the paper's two ablations, directional masks alone and self-attention alone. Each trained model is measured
with its own choices, thresholded and sampled, and with other choices put in their place. A run that was interrupted
goes on when the command is repeated; finished ones are not repeated. Writes results.json, table.md and curves.png.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from training_options import options_of

from heedful.data.batching import collate
from heedful.data.encoding import EncodedDataset
from heedful.encoders.resan import MaskPolicy
from heedful.nn import Selection, sampled_decisions
from heedful.nn.losses import cross_entropy
from heedful.nn.policy import policy_figures
from heedful.run import prepare, train
from heedful.run.environment import describe
from heedful.run.recipe_files import load_config
from heedful.storage import write_text
from heedful.tasks import Predictor
from heedful.training.progress import choose_reporter

RECIPE = "mdman-scenes"
DRAWS = 5
OPTION = "model.encoder_options"


def variants(encoder_steps: int, policy_steps: int, max_steps: int) -> dict[str, list[str]]:
    """Return the settings of each variant; without a policy to learn there is no phase for it alone."""
    shorter = [f"{OPTION}.policy_steps=0", f"train.max_steps={max_steps - policy_steps}"]
    return {
        "learned": [],
        "frozen": [f"{OPTION}.policy_learns=false", *shorter],
        "directional": [f"{OPTION}.dynamic=false", *shorter],
        "self only": [f'{OPTION}.attentions=["self"]'],
    }


Choice = Callable[[Tensor, Selection], Selection]
"""From which tokens are real, [B, L], and what a policy selected to what is put in its place."""


def none_chosen(valid: Tensor, made: Selection) -> Selection:
    """Close every mask: the plain directions."""
    nothing = torch.zeros_like(valid)
    return Selection(nothing, nothing, made.log_prob)


def as_many_others(valid: Tensor, made: Selection) -> Selection:
    """Select as many tokens of each sentence, at random."""

    def shuffled(chosen: Tensor) -> Tensor:
        places = torch.rand(valid.shape).masked_fill(~valid, 2).argsort(dim=1).argsort(dim=1)
        return places < chosen.sum(dim=1, keepdim=True)

    return Selection(shuffled(made.query), shuffled(made.key), made.log_prob)


def all_chosen(valid: Tensor, made: Selection) -> Selection:
    """Open every mask: no direction is left."""
    return Selection(valid, valid, made.log_prob)


@contextmanager
def chosen_instead(network: nn.Module, choice: Choice) -> Iterator[None]:
    """Put other choices in place of a policy's, within a ``with`` block."""
    policy = next(part for part in network.modules() if isinstance(part, MaskPolicy))
    hook = policy.register_forward_hook(lambda _, given, made: choice(given[1], made))
    try:
        yield
    finally:
        hook.remove()


@torch.inference_mode()
def measure(predictor: Predictor, dataset: EncodedDataset) -> dict[str, float]:
    """Return accuracy, reward and share of a model with whatever masks it has now, over a data set."""
    hits, figures = [], []
    for rows in np.array_split(np.arange(len(dataset)), -(-len(dataset) // 128)):
        batch = collate(dataset, rows)
        output = predictor.network(batch)
        assert batch.targets is not None  # the corpus is generated with labels
        losses = cross_entropy(output.logits, batch.targets)
        hits.append(output.logits.argmax(dim=1) == batch.targets)
        found = policy_figures(losses, output.policies)
        figures.append(found if output.policies else torch.stack([-losses, *found[:, 1:].T], dim=1))
    reward, share, _ = torch.cat(figures).mean(dim=0).tolist()
    return {"accuracy": torch.cat(hits).float().mean().item(), "reward": reward, "share": share}


def measure_all(predictor: Predictor, dataset: EncodedDataset) -> dict[str, dict[str, float]]:
    """Measure a model with each kind of choices; what is drawn at random, as the mean of some draws."""
    network = predictor.network
    if not any(isinstance(part, MaskPolicy) for part in network.modules()):
        return {"none": measure(predictor, dataset)}
    found = {"threshold": measure(predictor, dataset)}
    with sampled_decisions(network):
        found["sampled"] = _mean_of_draws(predictor, dataset)
        with chosen_instead(network, as_many_others):
            found["as many at random"] = _mean_of_draws(predictor, dataset)
    for name, choice in (("closed", none_chosen), ("open", all_chosen)):
        with chosen_instead(network, choice):
            found[name] = measure(predictor, dataset)
    return found


def _mean_of_draws(predictor: Predictor, dataset: EncodedDataset) -> dict[str, float]:
    found = []
    for draw in range(DRAWS):
        torch.manual_seed(draw)
        found.append(measure(predictor, dataset))
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


@torch.inference_mode()
def selected_words(predictor: Predictor, dataset: EncodedDataset) -> dict[str, list[tuple[str, float]]]:
    """Return the words that a policy selects most often when it draws, as queries and as keys, with how often."""
    policy = next((part for part in predictor.network.modules() if isinstance(part, MaskPolicy)), None)
    if policy is None:
        return {}
    counts = {role: np.zeros((len(predictor.vocabulary), 2)) for role in ("query", "key")}
    with sampled_decisions(predictor.network):
        torch.manual_seed(0)
        for side in collate(dataset, np.arange(len(dataset))).sides:
            chosen = policy(predictor.network.sentence_encoder.embedding(side.ids), side.valid)
            for role, count in counts.items():
                mask = getattr(chosen, role)[side.valid].numpy()
                np.add.at(count, side.ids[side.valid].numpy(), np.stack([mask, np.ones_like(mask)], axis=1))
    return {role: _most_often(predictor, count) for role, count in counts.items()}


def _most_often(predictor: Predictor, count: Any) -> list[tuple[str, float]]:
    often = count[:, 0] / np.maximum(count[:, 1], 1)
    return [(predictor.vocabulary.word(int(i)), round(float(often[i]), 3)) for i in (-often).argsort()[:12]]


def run(name: str, seed: int, overrides: Sequence[str], out: Path) -> dict[str, Any]:
    """Train one variant with one seed and measure it, unless that was done before."""
    file = out / f"{name.replace(' ', '-')}-{seed}.json"
    if file.exists():
        return dict(json.loads(file.read_text(encoding="utf-8")))
    config = load_config(RECIPE, [*overrides, f"train.seed={seed}"])
    prepared = prepare(config, None)
    folder = file.with_suffix("")
    result = train(config, prepared, folder=folder, resume=True, reporter=choose_reporter())
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    record = {
        "variant": name,
        "seed": seed,
        "settings": list(overrides),
        "seconds": result.seconds,
        "best_step": result.fit.best_step,
        "machine": describe(),
        "log": [json.loads(line) for line in lines],
        "words": selected_words(result.predictor, prepared.datasets["dev"]),
        **{part: measure_all(result.predictor, prepared.datasets[part]) for part in ("dev", "test")},
    }
    write_text(file, json.dumps(record) + "\n")
    return record


def table(runs: Sequence[Mapping[str, Any]], part: str) -> str:
    """Return mean and standard deviation over the seeds as a Markdown table."""
    lines = ["| variant | choices | accuracy % | reward | share % |", "| --- | --- | --- | --- | --- |"]
    for variant in dict.fromkeys(run["variant"] for run in runs):
        own = [run[part] for run in runs if run["variant"] == variant]
        for choices in own[0]:
            cells = [
                _spread([100 * one[choices]["accuracy"] for one in own], 1),
                _spread([one[choices]["reward"] for one in own], 3),
                _spread([100 * one[choices]["share"] for one in own], 2),
            ]
            lines.append(f"| {variant} | {choices} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _spread(values: Sequence[float], digits: int) -> str:
    spread = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f} ± {spread:.{digits}f}"


def draw(runs: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw reward and share over the steps, one line a run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    names = list(dict.fromkeys(run["variant"] for run in runs))
    for run_ in runs:
        log = run_["log"]
        steps = [record["step"] for record in log]
        color = f"C{names.index(run_['variant'])}"
        reward = [record.get("reward", -record["train_loss"]) for record in log]
        above.plot(steps, _smooth(reward), color=color, linewidth=0.9)
        below.plot(steps, [100 * record.get("share", 0.0) for record in log], color=color, linewidth=0.9)
        begins = [r["step"] for r in log if r.get("phase") == "policy"]
        for axes in (above, below) if begins else ():
            axes.axvspan(begins[0], begins[-1], color="#eeeeee", zorder=0)
    for k, name in enumerate(names):
        above.plot([], [], color=f"C{k}", label=name)
    above.set_ylabel("reward in training")
    below.set_ylabel("selected positions, %")
    below.set_xlabel("step (gray: the policy learns alone)")
    above.legend(frameon=False)
    figure.savefig(path, dpi=150)


def _smooth(values: Sequence[float], over: int = 5) -> Any:
    padded = np.pad(np.asarray(values, dtype=float), over // 2, mode="edge")
    return np.convolve(padded, np.ones(over) / over, mode="valid")


def main() -> None:
    """Run what is missing, then write the table, the figure and all figures as JSON."""
    parser = options_of(__doc__, out="the runs")
    parser.add_argument("--variants", default="learned,frozen,directional,self only")
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    config = load_config(RECIPE, given.overrides)
    options = config.model.encoder_options
    known = variants(options["encoder_steps"], options["policy_steps"], config.train.max_steps)
    runs = [
        run(name, int(seed), [*given.overrides, *known[name]], given.out)
        for seed in given.seeds.split(",")
        for name in given.variants.split(",")
    ]
    write_text(given.out / "results.json", json.dumps(runs) + "\n")
    write_text(
        given.out / "table.md", "".join(f"{part}\n\n{table(runs, part)}\n" for part in ("dev", "test"))
    )
    draw(runs, given.out / "curves.png")
    print(table(runs, "test"))


if __name__ == "__main__":
    main()
