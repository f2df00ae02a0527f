"""The tables and figures of the five papers, and Heedful's own, each by one command."""

from heedful.workshop.reproduce.answering import answer_examples
from heedful.workshop.reproduce.listing import list_tables
from heedful.workshop.reproduce.making import Made, make, narrow
from heedful.workshop.reproduce.plan import find_table, tables
from heedful.workshop.reproduce.runner import Budget, Order
from heedful.workshop.reproduce.sentence_figures import draw_figure

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
