"""The tables and figures of the five papers, and Heedful's own, each by one command."""

from heedful.reproduce.answering import answer_examples
from heedful.reproduce.listing import list_tables
from heedful.reproduce.making import Made, make, narrow
from heedful.reproduce.plan import find_table, tables
from heedful.reproduce.runner import Budget

__all__ = ["Budget", "Made", "answer_examples", "find_table", "list_tables", "make", "narrow", "tables"]
