"""Tests mirror the source: each module has a test file of its name, or is imported by one, or is listed below."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import heedful

SOURCE = Path(heedful.__file__).parent
TESTS = Path(__file__).parents[1]
LONG = 40
"""Modules of fewer lines of code are tested with those that use them."""

TESTED_BY = {
    "attention/additive.py": "contracts/test_ops_additive.py",
    "attention/additive_reference.py": "contracts/test_ops_additive.py",
    "attention/derivatives.py": "contracts/test_derivatives.py",
    "attention/mask_expressions.py": "contracts/test_masks.py",
    "attention/masks.py": "contracts/test_masks.py",
    "attention/tensorized_inputs.py": "unit/attention/test_tensorized.py",
    "attention/tensorized_kernel.py": "contracts/test_ops_tensorized.py",
    "attention/tensorized_matrix.py": "contracts/test_ops_tensorized.py",
    "attention/tensorized_reference.py": "contracts/test_ops_tensorized.py",
    "attention/tensorized_slab.py": "contracts/test_ops_tensorized.py",
    "baselines/measure.py": "unit/baselines/test_typos.py",
    "settings.py": "unit/models/test_encoder_options.py",
    "cli/train.py": "integration/test_learning_on.py",
    "cli/label_judging.py": "integration/test_label_errors.py",
    "serving/request_columns.py": "integration/test_columns_at_every_door.py",
    "run/column_notes.py": "integration/test_column_notes.py",
    "run/learning_on.py": "integration/test_learning_on.py",
    "tasks/sentences/previous_part.py": "integration/test_learning_on.py",
    "cli/neighbor_answers.py": "unit/explain/test_neighbors.py",
    "cli/label.py": "integration/test_label_page.py",
    "machine/serving_key.py": "integration/test_serving.py",
    "baselines/saved_boards.py": "integration/test_scoreboard.py",
    "labeling/forms.py": "unit/labeling/test_label_file.py",
    "labeling/label_index.py": "unit/labeling/test_session.py",
    "labeling/label_rows.py": "unit/labeling/test_label_file.py",
    "labeling/next_text.py": "unit/labeling/test_session.py",
    "labeling/annotators.py": "unit/labeling/test_session.py",
    "labeling/serve_page.py": "integration/test_label_page.py",
    "labeling/similar_texts.py": "unit/labeling/test_session.py",
    "labeling/training_process.py": "unit/labeling/test_learner.py",
    "run/run_config.py": "unit/run/test_recipe_files.py",
    "data/cache_contents.py": "integration/test_habits.py",
    "data/sets/data_set.py": "unit/data/test_catalog.py",
    "data/sets/pair_sets.py": "unit/data/test_catalog.py",
    "data/sets/text_sets.py": "unit/data/test_catalog.py",
    "data/sets/word_sets.py": "unit/data/test_catalog.py",
    "data/download.py": "unit/data/test_fetch.py",
    "data/examples.py": "unit/data/test_encoding.py",
    "data/gold.py": "unit/data/test_encoding.py",
    "data/leaks.py": "unit/data/test_check.py",
    "data/readers/corpus_builder.py": "unit/data/readers/test_table_files.py",
    "data/readers/reading.py": "integration/test_habits.py",
    "data/readers/label_lines.py": "unit/data/readers/test_tool_formats.py",
    "data/readers/role_columns.py": "unit/data/readers/test_role_files.py",
    "data/readers/tag_columns.py": "unit/data/readers/test_tag_files.py",
    "data/readers/written_labels.py": "unit/data/readers/test_gold_cells.py",
    "data/readers/soft_labels.py": "integration/test_distil.py",
    "data/role_frames.py": "unit/data/readers/test_role_files.py",
    "data/scenes/pairings.py": "unit/data/scenes/test_generate.py",
    "baselines/label_errors.py": "integration/test_label_errors.py",
    "evaluation/confident_learning.py": "integration/test_label_errors.py",
    "run/important_words.py": "integration/test_own_data_commands.py",
    "data/word_tags.py": "unit/data/readers/test_tag_files.py",
    "data/tokens.py": "unit/data/test_encoding.py",
    "explain/neighbors_shown.py": "unit/explain/test_neighbors.py",
    "tasks/sentences/stored_examples.py": "unit/explain/test_neighbors.py",
    "figure_style.py": "unit/evaluation/test_report_figure.py",
    "encoders/deep_att.py": "unit/encoders/test_deep_att_places.py",
    "estimators/has_settings.py": "integration/test_strange_targets.py",
    "evaluation/label_sets.py": "integration/test_label_sets.py",
    "evaluation/report_text.py": "unit/evaluation/test_report.py",
    "evaluation/rejection.py": "integration/test_rejected_texts.py",
    "explain/novelty.py": "integration/test_rejected_texts.py",
    "evaluation/sets.py": "integration/test_sets_with_a_promise.py",
    "evaluation/sequences.py": "integration/test_sequence_runs.py",
    "evaluation/statistics.py": "unit/evaluation/test_significance.py",
    "explain/measured_methods.py": "unit/explain/test_measures.py",
    **{
        f"features/{name}.py": "unit/features/test_feature_columns.py"
        for name in (
            "cells",
            "feature_column",
            "feature_kinds",
            "number_column",
            "category_column",
            "date_column",
        )
    },
    "estimators/reading_tables.py": "integration/test_columns_beside_text.py",
    "estimators/table_columns.py": "integration/test_columns_beside_text.py",
    "data/column_features.py": "integration/test_columns_beside_text.py",
    "tasks/sentences/column_rows.py": "integration/test_columns_beside_text.py",
    "machine/torch_state.py": "contracts/test_process_state.py",
    "nn/recurrent_steps.py": "unit/nn/test_recurrent.py",
    "model/engine.py": "integration/test_rejected_texts.py",
    "model/decisions/reject.py": "integration/test_rejected_texts.py",
    "models/config.py": "unit/models/test_build.py",
    "models/finite_check.py": "unit/tasks/test_hostile_model_folders.py",
    "models/expected_tensors.py": "unit/tasks/test_hostile_model_folders.py",
    "page/characters.py": "unit/page/test_page_words.py",
    "page/model_file.py": "unit/page/test_javascript.py",
    "tasks/words/kept_parts.py": "unit/tasks/test_hostile_model_folders.py",
    "run/recipe_tables.py": "unit/run/test_own_file.py",
    "run/preparation.py": "unit/run/test_batches.py",
    "run/set_aside.py": "integration/test_sets_with_a_promise.py",
    "serving/guarded_app.py": "unit/labeling/test_labeling_app.py",
    "storage/encoder_settings.py": "unit/storage/test_hugging_face.py",
    "storage/manifest.py": "unit/storage/test_model_folder.py",
    "tasks/vectors.py": "unit/tasks/test_vector_task.py",
    "text/pipes.py": "unit/data/readers/test_table_forms.py",
    "text/windows.py": "unit/text/test_windows_of_words.py",
    "text/text_files.py": "unit/text/test_limits.py",
    "text/token_rules.py": "unit/export/test_reference_code.py",
    "text/unknown_words.py": "unit/text/test_ngrams.py",
    "training/checkpoint_checks.py": "unit/training/test_state.py",
    "training/checkpointing.py": "unit/training/test_loop.py",
    "training/step.py": "unit/training/test_distributed.py",
    "tasks/sentences/taught_task.py": "integration/test_taught_parts.py",
    "tasks/sentences/principal_rows.py": "unit/tasks/test_principal_rows.py",
    "tasks/sentences/fitting_wide.py": "unit/text/test_wide_part.py",
    "text/english.py": "unit/run/test_decided_by_data.py",
}
"""A module, and the file that tests it."""

TESTED_TOGETHER = {
    "contracts/test_one_option.py": ("tasks/classification.py", "tasks/sentences/score_task.py"),
    "integration/test_cli.py": (
        "cli/answer_options.py",
        "cli/evaluate.py",
        "cli/explain.py",
        "cli/explained_input.py",
        "cli/measuring_options.py",
        "cli/next_commands.py",
        "cli/option_groups.py",
        "cli/predict.py",
        "cli/reading_options.py",
        "cli/whole_model.py",
    ),
    "integration/test_cli_without_torch.py": ("cli/encode.py",),
    "integration/test_distil.py": (
        "cli/distil.py",
        "run/distilling/transfer.py",
    ),
    "integration/test_estimators.py": (
        "estimators/classifier.py",
        "estimators/has_settings.py",
        "estimators/of_tasks.py",
        "estimators/of_words.py",
        "estimators/saved_estimator.py",
    ),
    "integration/test_faithfulness_command.py": ("cli/faithfulness.py",),
    "integration/test_own_data_commands.py": ("cli/train.py",),
    "integration/test_parts.py": (
        "bulk/part_files.py",
        "bulk/part_task.py",
        "bulk/predict_parts.py",
    ),
    "integration/test_recipes.py": ("cli/demo.py",),
    "integration/test_scoreboard.py": (
        "baselines/board.py",
        "baselines/system_choice.py",
        "cli/baselines.py",
    ),
    "integration/test_serving.py": (
        "cli/serve.py",
        "serving/server.py",
    ),
    "unit/bulk/test_batch_predictor.py": ("bulk/batch_answers.py",),
    "unit/data/test_archive.py": ("cli/data.py",),
    "unit/explain/test_explanation.py": (
        "explain/explanation_parts.py",
        "explain/html_pictures.py",
        "explain/methods/deletion.py",
        "explain/page_sections.py",
        "explain/panels.py",
        "explain/running_text.py",
        "explain/text.py",
    ),
    "unit/export/test_export_folder.py": ("cli/export.py",),
    "unit/export/test_onnx_equal.py": (
        "export/onnx_alignment.py",
        "export/onnx_graph.py",
        "export/onnx_network.py",
        "export/onnx_pairwise.py",
        "export/onnx_paths.py",
        "export/onnx_recurrent.py",
        "export/onnx_sentence.py",
        "export/onnx_wide.py",
    ),
    "unit/model/decisions/test_decisions.py": (
        "model/decisions/classes.py",
        "model/decisions/decision.py",
        "model/decisions/kinds.py",
        "model/decisions/scores.py",
    ),
    "unit/run/glance/test_gathering.py": ("run/glance/slices.py",),
    "unit/run/glance/test_whole_report.py": (
        "run/glance/glance_page.py",
        "run/glance/glance_text.py",
        "run/glance/of_labels.py",
        "run/glance/of_numbers.py",
        "run/glance/of_tags.py",
        "run/glance/glance_page.py",
    ),
    "unit/run/test_comparison.py": ("cli/compare.py",),
    "unit/run/test_run.py": ("run/card.py",),
    "unit/run/test_studies.py": ("cli/study.py",),
    "unit/run/test_suggesting.py": ("cli/suggest.py",),
    "unit/run/tuning/test_search.py": ("cli/tune.py",),
    "unit/runtime/test_equal_to_torch.py": (
        "export/baseline_steps.py",
        "export/disan_steps.py",
        "export/mssan_steps.py",
        "export/mtsa_steps.py",
        "export/recording.py",
        "runtime/runtime_reading.py",
        "runtime/feature_attention.py",
        "runtime/operators.py",
        "runtime/pairwise_attention.py",
        "runtime/sequence_operators.py",
        "runtime/step_engine.py",
        "runtime/steps.py",
    ),
    "unit/serving/test_app.py": ("serving/batcher.py",),
    "unit/serving/test_supervisor.py": ("serving/worker_slot.py",),
    "unit/tasks/test_explained_tags.py": (
        "explain/tag_explanations.py",
        "tasks/words/tagging.py",
        "tasks/words/tags_model.py",
    ),
    "unit/tasks/test_predictor.py": (
        "tasks/corpus_reading.py",
        "tasks/number.py",
        "tasks/registry.py",
        "tasks/relatedness.py",
        "tasks/saved_model.py",
        "tasks/task.py",
        "tasks/torch_engine.py",
        "tasks/words/reading_settings.py",
        "tasks/words/text_model.py",
        "tasks/words/word_task.py",
    ),
    "unit/tasks/test_role_predictor.py": (
        "tasks/roles/role_model.py",
        "tasks/roles/role_predicates.py",
    ),
    "unit/text/test_vector_formats.py": (
        "text/vectors/binary.py",
        "text/vectors/model2vec.py",
        "text/vectors/plain.py",
        "text/vectors/vector_files.py",
    ),
}
"""A file, and the modules that it tests through others of their package; a command it runs by its name."""

TESTED_BY |= {module: file for file, modules in TESTED_TOGETHER.items() for module in modules}

LABORATORY = TESTS.parent / "packages" / "heedful-lab"
LABORATORY_TESTED_BY = {
    "bench/": "bench/test_bench.py",
    "commands/": "reproduce/test_make_tables.py",
    "reproduce/": "reproduce/test_make_tables.py",
    "repository/": "repository/test_results_page.py",
    "scoreboard/": "scoreboard/test_chart.py",
    "translation/": "translation/test_translator.py",
    "studies/": "studies/test_options_of_studies.py",
}
"""The same for the laboratory, whose tests lie beside it."""


def long_modules(source: Path) -> list[Path]:
    """Return the modules below a folder that are to be tested by a file of their own, or a listed one."""
    return sorted(
        path.relative_to(source)
        for path in source.rglob("*.py")
        if not path.name.startswith("__") and len(path.read_text(encoding="utf-8").splitlines()) > LONG
    )


MODULES = long_modules(SOURCE)


def code_lines(path: Path) -> int:
    """Lines on which a statement begins or goes on: no blank lines, comments and docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    lines = {
        line
        for node in ast.walk(tree)
        if hasattr(node, "lineno")
        and id(node) not in docstrings
        and isinstance(node, ast.expr | ast.alias | ast.arg)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    return len(lines)


_IMPORT = re.compile(
    r"^ *(?:from (heedful[.\w]*) import (\([^)]*\)|[^\n]*)|import (heedful[.\w]*))", re.MULTILINE
)


def imports_of(file: Path) -> set[str]:
    """Return the modules of Heedful that a file imports, as paths."""
    found: set[str] = set()
    text = re.sub(" *#.*", "", file.read_text(encoding="utf-8"))
    for source, names, whole in _IMPORT.findall(text):
        inner = [f"{source}.{name}" for name in re.findall(r"\w+", names)] if source else []
        found |= {name.partition(".")[2].replace(".", "/") for name in (source or whole, *inner)}
    places = [path for name in found for path in (f"{name}.py", f"{name}/__init__.py".lstrip("/"))]
    return {path for path in places if (SOURCE / path).is_file()}


@cache
def imports_below(folder: Path, pattern: str) -> dict[str, set[str]]:
    """Return what the files below a folder import."""
    return {path.relative_to(folder).as_posix(): imports_of(path) for path in folder.rglob(pattern)}


def reaches(file: str, module: str) -> bool:
    """Return whether a test comes to a module: it imports it, or others of its package through which it is imported.

    A command is imported by its name.
    """
    folder, imports = module.partition("/")[0], imports_below(SOURCE, "*.py")
    text = (TESTS / file).read_text(encoding="utf-8")
    commands = {f"cli/{name}.py" for name in re.findall(r'"([a-z]+)"', text)}
    seen, waiting = set[str](), imports_below(TESTS, "test_*.py")[file] | (commands & set(imports))
    while waiting:
        each = waiting.pop()
        seen.add(each)
        waiting |= {other for other in imports[each] - seen if other.partition("/")[0] == folder}
    return module in seen


def test_a_module_is_tested_by_a_file_of_its_name_or_by_one_that_imports_it() -> None:
    tested = {*TESTED_BY}.union(*imports_below(TESTS, "test_*.py").values())
    wrong = []
    for module in MODULES:
        own = TESTS / "unit" / module.parent / f"test_{module.name}"
        if not own.is_file() and module.as_posix() not in tested and code_lines(SOURCE / module) > LONG:
            wrong.append(
                f"write tests/unit/{module.parent}/test_{module.name}, or list it in TESTED_TOGETHER"
            )
    assert wrong == []


def test_the_table_names_what_there_is() -> None:
    assert [module for module in TESTED_BY if not (SOURCE / module).is_file()] == []
    assert [file for file in TESTED_BY.values() if not (TESTS / file).is_file()] == []
    own = {module: TESTS / "unit" / Path(module).parent / f"test_{Path(module).name}" for module in TESTED_BY}
    assert [module for module, file in own.items() if file.is_file()] == [], "it has a file of its own"


def test_modules_that_are_tested_together_are_reached_by_their_test() -> None:
    together = [(file, module) for file, modules in TESTED_TOGETHER.items() for module in modules]
    assert [(file, module) for file, module in together if not reaches(file, module)] == []


def test_a_test_does_not_reach_what_it_does_not_import() -> None:
    assert not reaches("unit/explain/test_explanation.py", "serving/batcher.py")
    assert not reaches("unit/text/test_bio.py", "text/tokenize.py")


def test_a_module_of_the_laboratory_is_tested_beside_it() -> None:
    source, tests = LABORATORY / "src" / "heedful_lab", LABORATORY / "tests"
    modules = long_modules(source)
    assert len(modules) > 20
    for module in modules:
        folders = [f"{folder.as_posix()}/" for folder in module.parents]
        listed = [LABORATORY_TESTED_BY[name] for name in folders if name in LABORATORY_TESTED_BY]
        files = [tests / module.parent / f"test_{module.name}", *(tests / file for file in listed)]
        assert any(file.is_file() for file in files), module


def test_no_folder_of_tests_lacks_a_package() -> None:
    folders = {path.parent.relative_to(TESTS / "unit") for path in (TESTS / "unit").rglob("test_*.py")}
    assert [str(folder) for folder in sorted(folders) if not (SOURCE / folder).is_dir()] == []


def test_no_two_test_files_have_one_name() -> None:
    packages = TESTS.parent / "packages"
    names = [path.name for folder in (TESTS, packages) for path in folder.rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
