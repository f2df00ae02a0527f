"""Everything that is particular to a task: one module or folder each, and the table of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.lazy_imports import imported_on_use

if TYPE_CHECKING:
    from heedful.data.readers.reading import RequestFiles
    from heedful.model.answers import Answer, LabelsAnswer, TagsAnswer
    from heedful.model.role_spans import RoleSpan
    from heedful.tasks.classification import Predictor
    from heedful.tasks.columns_task import LabelColumnsModel
    from heedful.tasks.labels import LabelsModel
    from heedful.tasks.number import NumberModel
    from heedful.tasks.prepared import AnyPrepared, Corpora, DataFolders, Files, Prepared, SharedTexts, Source
    from heedful.tasks.registry import (
        AnyModel,
        AnyTask,
        build_network,
        load_model,
        refuse_options,
        task_problems,
    )
    from heedful.tasks.relatedness import RelatednessModel
    from heedful.tasks.roles.role_model import RolePredictor
    from heedful.tasks.roles.role_predicates import PredicateAnswer, RoleAnswer
    from heedful.tasks.saved_model import SavedModel, model_folder
    from heedful.tasks.schema import About, Requests, Text, TextSettings
    from heedful.tasks.sentences.sentence_model import ScoreModel, SentenceModel
    from heedful.tasks.task import Task
    from heedful.tasks.task_table import (
        TASKS,
        all_tasks,
        find_task,
        register,
        task_named,
        task_names,
        task_of,
    )
    from heedful.tasks.vectors import VectorModel
    from heedful.tasks.words.tags_model import TagsModel
    from heedful.tasks.words.text_model import TextModel

__all__ = [
    "TASKS",
    "About",
    "Answer",
    "AnyModel",
    "AnyPrepared",
    "AnyTask",
    "Corpora",
    "DataFolders",
    "Files",
    "LabelColumnsModel",
    "LabelsAnswer",
    "LabelsModel",
    "NumberModel",
    "PredicateAnswer",
    "Predictor",
    "Prepared",
    "RelatednessModel",
    "RequestFiles",
    "Requests",
    "RoleAnswer",
    "RolePredictor",
    "RoleSpan",
    "SavedModel",
    "ScoreModel",
    "SentenceModel",
    "SharedTexts",
    "Source",
    "TagsAnswer",
    "TagsModel",
    "Task",
    "Text",
    "TextModel",
    "TextSettings",
    "VectorModel",
    "all_tasks",
    "build_network",
    "find_task",
    "load_model",
    "model_folder",
    "refuse_options",
    "register",
    "task_named",
    "task_names",
    "task_of",
    "task_problems",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__ = imported_on_use(
        __name__,
        {
            "heedful.data.readers.reading": ("RequestFiles",),
            "heedful.model.answers": ("Answer", "LabelsAnswer", "TagsAnswer"),
            "heedful.model.role_spans": ("RoleSpan",),
            "heedful.tasks.classification": ("Predictor",),
            "heedful.tasks.columns_task": ("LabelColumnsModel",),
            "heedful.tasks.labels": ("LabelsModel",),
            "heedful.tasks.number": ("NumberModel",),
            "heedful.tasks.prepared": (
                "AnyPrepared",
                "Corpora",
                "Files",
                "DataFolders",
                "Prepared",
                "SharedTexts",
                "Source",
            ),
            "heedful.tasks.registry": (
                "AnyModel",
                "AnyTask",
                "build_network",
                "load_model",
                "refuse_options",
                "task_problems",
                # the table itself, which the registry fills
                "TASKS",
                "all_tasks",
                "find_task",
                "register",
                "task_named",
                "task_names",
                "task_of",
            ),
            "heedful.tasks.relatedness": ("RelatednessModel",),
            "heedful.tasks.roles.role_model": ("RolePredictor",),
            "heedful.tasks.roles.role_predicates": ("PredicateAnswer", "RoleAnswer"),
            "heedful.tasks.saved_model": ("SavedModel", "model_folder"),
            "heedful.tasks.schema": ("About", "Requests", "Text", "TextSettings"),
            "heedful.tasks.sentences.sentence_model": ("ScoreModel", "SentenceModel"),
            "heedful.tasks.task": ("Task",),
            "heedful.tasks.vectors": ("VectorModel",),
            "heedful.tasks.words.tags_model": ("TagsModel",),
            "heedful.tasks.words.text_model": ("TextModel",),
        },
    )
