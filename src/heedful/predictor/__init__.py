"""Strings in, answers out: a network together with its vocabulary, tokenizer and labels."""

from heedful.predictor.base import TextModel
from heedful.predictor.folder import model_folder
from heedful.predictor.loading import load_model
from heedful.predictor.predictor import Predictor
from heedful.predictor.records import About, Answer, Requests, Text, TextSettings

__all__ = [
    "About",
    "Answer",
    "Predictor",
    "Requests",
    "Text",
    "TextModel",
    "TextSettings",
    "load_model",
    "model_folder",
]
