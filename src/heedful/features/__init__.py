"""Columns beside the text: their cells, kinds, and the numbers that a linear part reads. Needs NumPy alone."""
