"""Signs that a training breaks its network, each in one sentence with the remedy that helps.

`heedful.training.health` measures; here is what counts as broken. Each sign is reported once a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from heedful.nn.policy import LearningPhase
from heedful.structures import Batch
from heedful.training.health import Examination, attention_peaks, examine, real_words
from heedful.training.train_settings import TrainSettings

EARLY = (10, 30, 100)
"""Steps after which the network is looked at, beside the evaluations."""
EVALUATIONS = frozenset(math.ceil(1.5**power) for power in range(40))
"""Numbers of the evaluations at which it is looked at."""
FEW_TEXTS, MOST_WEIGHTS = 16, 100_000
"""Texts in which attention is looked at, and most weights for each feature; longer texts are left out."""
MOST_TEXTS, MOST_TOKENS = 128, 16_384
"""What it reads then, at most."""
JOINED = 1024
"""Padded words up to which small batches are read as one."""
DEAD, CONSTANT, LONG_STEP, LONG_WORDS = 0.4, 0.9, 1.0, 2.5
"""Shares of dead and of constant units, the length of a step, and the ratio of word lengths that are reported."""
FLAT = 0.03
"""How far the heaviest weight of attention is above the mean on average where attention counts as constant."""
UNLIKE = 30.0
"""How many times as large, or as small, as those of the other layers the values of a layer are that is reported."""
_ALIKE = 1e6
"""How many times as small they are when they are alike but for rounding."""
FALL = 0.15
"""Share of the best dev figure by which a later one may be worse."""
HEAD = "head."
"""How the names of the parameters of a head begin."""
RISE = 1000
"""Steps over which the rate should rise."""


@dataclass(frozen=True)
class Sign:
    """One sign.

    Attributes:
        name: what it is a sign of, with the layer; each is reported once.
        sentence: what was seen, and what to do.
    """

    name: str
    sentence: str


class BreakageWatch:
    """Looks for signs in the first hundred steps and at evaluations.

    Args:
        network: that is trained.
        settings: of the training.
        reported: names of the signs that an interrupted run reported before.
    """

    def __init__(self, network: nn.Module, settings: TrainSettings, reported: Sequence[str] = ()) -> None:
        self.network, self.settings = network, settings
        self.reported = set(reported)
        self.dead: dict[str, float] = {}

    def due(self, step: int, evaluation: int) -> bool:
        """Whether to look after a step; the same for an interrupted run and a whole one.

        Args:
            step: the steps that were taken.
            evaluation: the number of the evaluation after this step, from 1; 0 where there was none.

        Returns:
            True after `EARLY`, and at evaluations 1, 2, 3, 4, 6, 8, 12 and so on, each half as many again.
        """
        return step in EARLY or evaluation in EVALUATIONS

    def look(
        self, step: int, batches: Sequence[Batch], few: Batch | None = None, last: Batch | None = None
    ) -> list[Sign]:
        """Look inside the network.

        Args:
            step: the steps that were taken.
            batches: training examples with their gradients just computed; see `sample`.
            few: some of them, whose attention is looked at; None for none.
            last: the batch of the last step, whose gradients are judged; None for one that reaches every layer.

        Returns:
            The signs that were not reported before.
        """
        seen = examine(self.network, batches)
        self.dead = {name: units.dead for name, units in seen.units.items() if units.kind != "sigmoid"}
        found = [
            *of_units(seen, step, self.settings),
            *of_steps(seen, step, self.settings),
            *of_words(seen),
            *of_sizes(seen),
        ]
        if step >= EARLY[-1]:
            later = (HEAD,) if self.settings.contrast else ()  # fitted when the training has ended
            if reaches_all(self.network, last):
                found += of_gradients(self.network, self.settings, later)
            if few is not None and step > EARLY[-1] and _weights_of(few) <= MOST_WEIGHTS:
                found += of_attention(attention_peaks(self.network, few), step)
        return self._new(found)

    def judge(self, step: int, metrics: Mapping[str, float], best: Mapping[str, float]) -> list[Sign]:
        """Compare an evaluation with the best one.

        Args:
            step: the steps that were taken.
            metrics: what was measured.
            best: what was measured at the best evaluation; empty before the first.

        Returns:
            The sign that the dev figure fell far, unless it was reported before.
        """
        name = self.settings.metric
        if name not in best or name not in metrics:
            return []
        now, then = metrics[name], best[name]
        worse = then - now if self.settings.direction == "max" else now - then
        if worse <= FALL * max(abs(then), 0.2):
            return []
        sentence = (
            f"{name} on dev fell from {then:.4f} to {now:.4f} at step {step:,}. The best weights are kept; lower "
            "train.optimizer.lr, let it fall (train.schedule=linear), or stop earlier (train.patience)"
        )
        return self._new([Sign("the dev figure", sentence)])

    def _new(self, found: Sequence[Sign]) -> list[Sign]:
        new = [sign for sign in found if sign.name not in self.reported]
        self.reported.update(sign.name for sign in new)
        return new


def of_units(seen: Examination, step: int, settings: TrainSettings) -> Iterator[Sign]:
    """Yield a sign for each layer with many units that never fire, and for each gate that is constant."""
    for name, units in seen.units.items():
        width = units.fired.numel()
        if units.kind == "sigmoid":
            if step >= EARLY[-1] and units.constant >= CONSTANT:
                yield Sign(
                    f"gate {name}",
                    f"{units.constant:.0%} of the {width} features of the gate {name} are the same for every word "
                    f"after {step:,} steps, so it does not choose. Lower train.optimizer.lr or train for longer",
                )
        elif units.dead >= DEAD:
            yield Sign(
                f"units {name}",
                f"{units.dead:.0%} of the {width} {units.kind} units of {name} fire for none of {units.count:,} texts "
                f"or words after {step:,} steps. {_slower(settings)}",
            )


def of_steps(seen: Examination, step: int, settings: TrainSettings) -> Iterator[Sign]:
    """Yield a sign for each layer that one early step of Adam moves by more than the spread of its units.

    Adam's first steps move every weight by about the learning rate, and so a unit by up to ``lr * sum_i |x_i|``.
    """
    if settings.optimizer.name != "adam" or step > EARLY[0] or settings.warmup_steps > step:
        return
    for name, layer in seen.inputs.items():
        length = settings.optimizer.lr * layer.reach / max(layer.spread, 1e-12)
        if length > LONG_STEP:
            yield Sign(
                f"step {name}",
                f"One step of Adam at {settings.optimizer.lr:g} can move a unit of {name} by {length:.1f} times the "
                f"spread of its values. {_slower(settings)}",
            )


def of_words(seen: Examination) -> Iterator[Sign]:
    """Yield a sign if some word vectors are much longer than most."""
    if seen.lengths is None:
        return
    median, high = seen.lengths
    if median > 0 and high > LONG_WORDS * median:
        yield Sign(
            "word vectors",
            f"One word in twenty has a vector {high / median:.1f} times as long as most ({high:.1f} and {median:.1f}). "
            "If these are words without a pretrained vector, set text.random=uniform",
        )


def of_sizes(seen: Examination) -> Iterator[Sign]:
    """Yield a sign for each layer whose values are far larger or smaller than those of the others."""
    spreads = {name: layer.spread for name, layer in seen.inputs.items()}
    if len(spreads) < 3:
        return
    usual = float(np.median([*spreads.values()]))
    for name, spread in spreads.items():
        times = spread / max(usual, 1e-12)
        if not 1 / UNLIKE <= times <= UNLIKE:
            many, size = (times, "large") if times > 1 else (1 / max(times, 1e-12), "small")
            found = (
                f"The values of {name} are {many:,.0f} times as {size} as those of the other layers (standard "
                f"deviation {spread:.2g}, usual {usual:.2g})"
                if times * _ALIKE > 1
                else f"The values of {name} are the same for all examples, as if no word were known"
            )
            yield Sign(
                f"size {name}",
                f"{found}. Lower train.optimizer.lr, or give word vectors one length (text.vector_norm=5)",
            )


def of_attention(peaks: Mapping[str, float], step: int) -> Iterator[Sign]:
    """Yield one sign for all attentions that give every word the same weight."""
    flat = [name for name, peak in peaks.items() if peak < FLAT]
    if flat:
        shown = ", ".join(flat[:3]) + (f" and {len(flat) - 3} more" if len(flat) > 3 else "")
        yield Sign(
            "attention",
            f"Attention gives every word the same weight ({shown}) after {step:,} steps, so it does not choose. Train "
            "for longer, raise train.optimizer.lr, or take the mean, which is faster (model.pooling=mean)",
        )


def of_gradients(network: nn.Module, settings: TrainSettings, later: tuple[str, ...] = ()) -> Iterator[Sign]:
    """Yield a sign for the matrices that the last step gave no gradient, or one of zeros; not for those fitted later.

    Args:
        network: that is trained.
        settings: of the training, for the remedy.
        later: how the names of parameters begin that no step is to change.

    Yields:
        One sign at most.
    """
    silent = [
        name
        for name, parameter in network.named_parameters()
        if parameter.requires_grad
        and parameter.dim() > 1
        and not name.startswith(later)
        and not _has_gradient(parameter.grad)
    ]
    if silent:
        shown = ", ".join(silent[:3]) + (f" and {len(silent) - 3} more" if len(silent) > 3 else "")
        sentence = (
            f"The loss does not reach {shown}: the gradient of the last step is 0 there. {_slower(settings)}"
        )
        yield Sign("gradients", sentence)


def reaches_all(network: nn.Module, last: Batch | None) -> bool:
    """Return whether a step on a batch should reach every layer.

    Texts of one or two words have nothing to attend to under a direction, and in the first phases of a policy either
    the encoder or the policy is left alone.
    """
    phases = [part for part in network.modules() if isinstance(part, LearningPhase)]
    if any(not (phase.encoder_learns and phase.policy_acts) for phase in phases):
        return False
    found = [] if last is None else real_words(last)
    lengths = [int(valid.sum(dim=1).max()) for valid in found if len(valid)]
    return not lengths or max(lengths) > 2


def _slower(settings: TrainSettings) -> str:
    rise = "" if settings.warmup_steps >= RISE else f", or let it rise slowly (train.warmup_steps={RISE})"
    return f'Lower train.optimizer.lr to a third{rise}; model.activation="elu" cannot lose units in this way'


def _has_gradient(grad: Tensor | None) -> bool:
    if grad is None:
        return False
    values = grad.coalesce().values() if grad.is_sparse else grad
    return bool((values != 0).any())


def sample(
    batches: Sequence[Sequence[int]], collate: Callable[[Sequence[int]], Batch], texts: int = MOST_TEXTS
) -> list[Batch]:
    """Choose training examples to look at: the first batches of the first epoch, small ones joined.

    Args:
        batches: rows of each batch.
        collate: makes a batch of rows.
        texts: how many at most.

    Returns:
        Batches of at most `MOST_TEXTS` examples and, but for the first one, about `MOST_TOKENS` padded words in all.
    """
    chosen: list[tuple[Sequence[int], Batch]] = []
    count = tokens = 0
    for rows in batches:
        kept = rows[: texts - count]
        if not len(kept):
            break
        batch = collate(kept)
        size = _words_of(batch)
        if chosen and tokens + size > MOST_TOKENS:
            continue
        chosen.append((kept, batch))
        count, tokens = count + len(kept), tokens + size
        if count >= texts or len(chosen) >= 16:
            break
    return [
        group[0][1] if len(group) == 1 else collate(np.concatenate([rows for rows, _ in group]).tolist())
        for group in _joined(chosen)
    ]


def _joined(chosen: Sequence[tuple[Sequence[int], Batch]]) -> list[list[tuple[Sequence[int], Batch]]]:
    """Put batches together as long as they have `JOINED` padded words at most: many small ones take long to read."""
    groups: list[list[tuple[Sequence[int], Batch]]] = []
    rows = width = 0
    for each in chosen:
        own, wide = len(each[0]), math.ceil(_words_of(each[1]) / len(each[0]))
        if groups and (rows + own) * max(width, wide) <= JOINED:
            groups[-1].append(each)
            rows, width = rows + own, max(width, wide)
        else:
            groups.append([each])
            rows, width = own, wide
    return groups


def _weights_of(batch: Batch) -> int:
    """Return how many weights an attention for single features builds for a batch, per feature."""
    return sum(side.valid.numel() * side.valid.shape[1] for side in batch.sides)


def _words_of(batch: Batch) -> int:
    return sum(side.valid.numel() for side in batch.sides)
