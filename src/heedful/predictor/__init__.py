"""Strings in, answers out: a network together with its vocabulary, tokenizer and labels."""

from heedful.predictor.base import TextModel
from heedful.predictor.folder import model_folder
from heedful.predictor.loading import AnyModel, load_model
from heedful.predictor.predictor import Predictor
from heedful.predictor.records import About, Answer, Requests, Text, TextSettings
from heedful.predictor.role_answers import PredicateAnswer, RoleAnswer, RoleSpan
from heedful.predictor.roles import RolePredictor
from heedful.predictor.translation import Translation
from heedful.predictor.translator import Translator

__all__ = [
    "About",
    "Answer",
    "AnyModel",
    "PredicateAnswer",
    "Predictor",
    "Requests",
    "RoleAnswer",
    "RolePredictor",
    "RoleSpan",
    "Text",
    "TextModel",
    "TextSettings",
    "Translation",
    "Translator",
    "load_model",
    "model_folder",
]
