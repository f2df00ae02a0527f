"""Distillation: a student learns what a teacher answers beside the gold labels."""

from heedful.run.distilling.teachers import Answering, FileTeacher, FunctionTeacher, Teacher, find_teacher
from heedful.run.distilling.transfer import PythonTeacher, Teaching, with_taught_dev

__all__ = [
    "Answering",
    "FileTeacher",
    "FunctionTeacher",
    "PythonTeacher",
    "Teacher",
    "Teaching",
    "find_teacher",
    "with_taught_dev",
]
