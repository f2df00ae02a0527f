"""The settings of an estimator as typed keyword arguments, for editors and type checkers.

Made by ``heedful_lab.repository.setting_types`` from `heedful.run.RunConfig`; do not edit it by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class EstimatorSettings(TypedDict, total=False):
    """Every setting by its dotted name with ``__`` in place of the dot; docs/settings.md explains each."""

    name: str
    data__set: str
    data__train: str
    data__dev: str
    data__test: str
    data__train_limit: int
    data__text: str
    data__premise: str
    data__hypothesis: str
    data__label: str
    data__score: str
    data__features: Sequence[str]
    data__label_type: Literal["str", "int", "float", "bool"]
    data__languages: Sequence[str]
    data__options: Mapping[str, Any]
    data__dev_fraction: float
    data__few_rows: int
    data__protocol: Literal["honest", "paper"]
    data__folds: int
    data__fold: int
    data__hold_out_fold: bool
    data__max_tokens: int
    data__truncate: Literal["error", "head", "drop", "window"]
    data__length_share: float
    data__keep_examples: Literal["none", "texts", "rows"]
    data__keep_share: float
    data__keep_sums: bool
    data__choose_again: float
    data__learn_from: str
    text__tokenizer: str
    text__markup: Literal["keep", "drop", "token"]
    text__normalize: bool
    text__lowercase: bool
    text__min_count: int
    text__vectors: str
    text__baseforms: str
    text__extra_words: bool
    text__random: Literal["uniform", "normal"]
    text__vector_norm: float
    text__unit_norm: bool
    text__oov: Literal["unknown", "hash", "nearest"]
    text__subwords: int
    text__subword_case: bool
    text__parser: str
    batches__size: int
    batches__tokens: int
    batches__bucketing: bool
    batches__group: bool
    batches__eval_size: int
    model__task: str
    model__encoder: str
    model__encoder_options: Mapping[str, Any]
    model__pooling: Literal[
        "source2token",
        "additive",
        "dot-product",
        "multi-dimensional",
        "attentive-max",
        "attentive-max-norm",
        "mean",
        "max",
    ]
    model__width: int
    model__train_embedding: bool
    model__row_dropout: float
    model__hidden: int
    model__activation: Literal["elu", "relu", "linear"]
    model__dropout: float
    model__final_bias: bool
    model__matching: Literal["signed", "absolute", "symmetric"]
    model__highway: bool
    model__outputs: int
    model__start: str
    model__pretrained__name: str
    model__pretrained__layers: int
    model__pretrained__lr_factor: float
    model__pretrained__layer_decay: float
    model__pretrained__cls: bool
    model__pretrained__download: bool
    model__tagger__flag_width: int
    model__tagger__projected: int
    model__tagger__finder_hidden: int
    model__tagger__label_smoothing: float
    model__window: int
    model__wide: Literal["none", "linear"]
    model__sentence: Literal["none", "auto", "overlap", "mean", "en-sentences"]
    model__task_options: Mapping[str, Any]
    train__optimizer__name: Literal["adadelta", "adam", "adagrad"]
    train__optimizer__lr: float
    train__optimizer__weight_decay: float
    train__optimizer__rho: float
    train__optimizer__eps: float
    train__optimizer__beta2: float
    train__seed: int
    train__epochs: int
    train__least_steps: int
    train__max_steps: int
    train__evaluate_every: int
    train__evaluate_from: int
    train__metric: str
    train__direction: Literal["max", "min"]
    train__patience: int
    train__clip_norm: float
    train__schedule: Literal["constant", "linear", "noam", "stepwise", "exponential"]
    train__warmup_steps: int
    train__milestones: Sequence[int]
    train__decay_rate: float
    train__decay_steps: int
    train__relatedness_loss: Literal["kl", "mse"]
    train__class_weight: Literal["none", "balanced"]
    train__class_weights: Mapping[str, Any]
    train__label_smoothing: float
    train__contrast: bool
    train__word_mask: float
    train__weight_average: float
    train__evaluate_train: bool
    train__shards: int
    train__device: Literal["auto", "cpu", "cuda"]
    train__precision: Literal["32-true", "bf16-mixed", "auto"]
    train__save_seconds: float
    train__save_steps: int
    train__log_every: int
    distil__teacher: Sequence[str]
    distil__texts: str
    distil__dev_fraction: float
    distil__weight: float
    distil__temperature: float
    distil__vectors: float
    distil__augment: int
    distil__mask: float
    distil__swap: float
    distil__ngram: float
    distil__phrases: float
    distil__kind: Literal["auto", "relation", "frequency"]
    distil__seed: int
