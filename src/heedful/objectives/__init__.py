"""Losses."""

from heedful.objectives.classification import cross_entropy
from heedful.objectives.l2 import l2_penalty
from heedful.objectives.policy import POLICY_FIGURES, policy_figures, policy_rewards, with_policy
from heedful.objectives.relatedness import expected_grade, grade_distribution, relatedness_loss
from heedful.objectives.roles import role_loss
from heedful.objectives.sequence import sequence_cross_entropy

__all__ = [
    "POLICY_FIGURES",
    "cross_entropy",
    "expected_grade",
    "grade_distribution",
    "l2_penalty",
    "policy_figures",
    "policy_rewards",
    "relatedness_loss",
    "role_loss",
    "sequence_cross_entropy",
    "with_policy",
]
