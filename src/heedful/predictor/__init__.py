"""Strings in, answers out: a network together with its vocabulary, tokenizer and labels."""

from heedful.predictor.folder import model_folder
from heedful.predictor.predictor import Predictor
from heedful.predictor.records import About, Answer, Requests, Text, TextSettings

__all__ = ["About", "Answer", "Predictor", "Requests", "Text", "TextSettings", "model_folder"]
