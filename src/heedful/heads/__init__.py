"""Sentence vectors to logits."""

from heedful.heads.classify import ClassifierHead
from heedful.heads.matching import match_features
from heedful.heads.relatedness import RelatednessHead

__all__ = ["ClassifierHead", "RelatednessHead", "match_features"]
