"""Sentence vectors to logits."""

from heedful.heads.classify import ClassifierHead
from heedful.heads.matching import Matching, match_features
from heedful.heads.relatedness import RelatednessHead

__all__ = ["ClassifierHead", "Matching", "RelatednessHead", "match_features"]
