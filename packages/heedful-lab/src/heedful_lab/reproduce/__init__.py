"""The tables and figures of the five papers, and Heedful's own, each by one command."""

from heedful_lab.reproduce.answering import answer_examples
from heedful_lab.reproduce.listing import list_tables
from heedful_lab.reproduce.making import Made, make, narrow
from heedful_lab.reproduce.plan import find_table, tables
from heedful_lab.reproduce.runner import Budget, Order
from heedful_lab.reproduce.sentence_figures import draw_figure

__all__ = [
    "Budget",
    "Made",
    "Order",
    "answer_examples",
    "draw_figure",
    "find_table",
    "list_tables",
    "make",
    "narrow",
    "tables",
]
