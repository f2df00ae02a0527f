"""Measure the explanations of a model on data, and make the best one its default."""
