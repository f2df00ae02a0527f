"""How the numbers of a network become the answer of each task."""

from heedful.model.decisions.classes import ClassDecision, cheapest
from heedful.model.decisions.decision import Decision, softmax
from heedful.model.decisions.kinds import ELSEWHERE, KINDS, WITH_TORCH, Kind, kind_of
from heedful.model.decisions.label_columns import LabelColumnsDecision
from heedful.model.decisions.labels import LabelsDecision
from heedful.model.decisions.named_labels import NamedLabels
from heedful.model.decisions.promise import Promise, Wish, promise_of
from heedful.model.decisions.scores import GradeDecision, NumberDecision, ScoreDecision
from heedful.model.decisions.tags import TagsDecision

__all__ = [
    "ELSEWHERE",
    "KINDS",
    "WITH_TORCH",
    "ClassDecision",
    "Decision",
    "GradeDecision",
    "Kind",
    "LabelColumnsDecision",
    "LabelsDecision",
    "NamedLabels",
    "NumberDecision",
    "Promise",
    "ScoreDecision",
    "TagsDecision",
    "Wish",
    "cheapest",
    "kind_of",
    "promise_of",
    "softmax",
]
