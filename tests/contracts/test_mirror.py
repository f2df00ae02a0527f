"""Tests mirror the source: each module has a test file of its name, or the table below says which file tests it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import heedful

SOURCE = Path(heedful.__file__).parent
TESTS = Path(__file__).parents[1]
LONG = 40
"""Modules of fewer lines of code are tested with those that use them."""

TESTED_BY = {
    "attention/additive.py": "contracts/test_ops_additive.py",
    "attention/additive_reference.py": "contracts/test_ops_additive.py",
    "attention/derivatives.py": "contracts/test_derivatives.py",
    "attention/masks.py": "contracts/test_masks.py",
    "attention/tensorized_inputs.py": "unit/attention/test_tensorized.py",
    "attention/tensorized_kernel.py": "contracts/test_ops_tensorized.py",
    "attention/tensorized_matrix.py": "contracts/test_ops_tensorized.py",
    "attention/tensorized_reference.py": "contracts/test_ops_tensorized.py",
    "attention/tensorized_slab.py": "contracts/test_ops_tensorized.py",
    "baselines/measure.py": "unit/baselines/test_typos.py",
    "baselines/chart/cell_file.py": "integration/test_chart.py",
    "baselines/chart/chart.py": "integration/test_chart.py",
    "baselines/chart/chart_figure.py": "integration/test_chart.py",
    "baselines/chart/chart_table.py": "integration/test_chart.py",
    "baselines/chart/drawn_labels.py": "integration/test_chart.py",
    "baselines/chart/entrants.py": "integration/test_chart.py",
    "baselines/chart/installed_size.py": "integration/test_chart.py",
    "baselines/chart/measured_cell.py": "integration/test_chart.py",
    "baselines/chart/simple_entrants.py": "integration/test_chart.py",
    "baselines/chart/trained_entrants.py": "integration/test_chart.py",
    "baselines/": "integration/test_scoreboard.py",
    "bulk/": "integration/test_parts.py",
    "checked.py": "unit/models/test_encoder_options.py",
    "cli/set_options.py": "integration/test_sets_with_a_promise.py",
    "cli/from_run.py": "integration/test_learning_on.py",
    "cli/judging.py": "integration/test_label_errors.py",
    "serving/columns_asked.py": "integration/test_columns_at_every_door.py",
    "run/columns_said.py": "integration/test_columns_said.py",
    "run/learning_on.py": "integration/test_learning_on.py",
    "tasks/sentences/learned_before.py": "integration/test_learning_on.py",
    "cli/neighbor_answers.py": "unit/explain/test_neighbors.py",
    "cli/": "integration/test_cli.py",
    "cli/label.py": "integration/test_label_page.py",
    "machine/serving_key.py": "integration/test_serving.py",
    "labeling/forms.py": "unit/labeling/test_label_file.py",
    "labeling/label_index.py": "unit/labeling/test_session.py",
    "labeling/label_rows.py": "unit/labeling/test_label_file.py",
    "labeling/next_text.py": "unit/labeling/test_session.py",
    "labeling/people.py": "unit/labeling/test_session.py",
    "labeling/pool.py": "unit/labeling/test_session.py",
    "labeling/serve_page.py": "integration/test_label_page.py",
    "labeling/similar_texts.py": "unit/labeling/test_session.py",
    "labeling/teaching.py": "unit/labeling/test_learner.py",
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
    "baselines/suspects.py": "integration/test_label_errors.py",
    "evaluation/confident.py": "integration/test_label_errors.py",
    "run/glance/": "unit/run/glance/test_gathering.py",
    "run/important_words.py": "integration/test_own_data_commands.py",
    "data/word_tags.py": "unit/data/readers/test_tag_files.py",
    "data/tokens.py": "unit/data/test_encoding.py",
    "explain/neighbors_shown.py": "unit/explain/test_neighbors.py",
    "tasks/sentences/keeping.py": "unit/explain/test_neighbors.py",
    "drawing.py": "unit/evaluation/test_report_figure.py",
    "encoders/deep_att.py": "unit/encoders/test_deep_att_places.py",
    "estimators/file_settings.py": "integration/test_strange_targets.py",
    "estimators/": "integration/test_estimators.py",
    "evaluation/label_sets.py": "integration/test_label_sets.py",
    "evaluation/report_text.py": "unit/evaluation/test_report.py",
    "evaluation/rejection.py": "integration/test_rejected_texts.py",
    "explain/strangeness.py": "integration/test_rejected_texts.py",
    "explain/strangeness_shown.py": "integration/test_rejected_texts.py",
    "evaluation/sets.py": "integration/test_sets_with_a_promise.py",
    "evaluation/sequences.py": "integration/test_sequence_runs.py",
    "evaluation/statistics.py": "unit/evaluation/test_significance.py",
    "explain/measured_methods.py": "unit/explain/test_measures.py",
    "explain/": "unit/explain/test_explanation.py",
    "export/": "unit/runtime/test_equal_to_torch.py",
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
    "machine/": "unit/machine/test_threads.py",
    "nn/recurrent_steps.py": "unit/nn/test_recurrent.py",
    "model/engine.py": "integration/test_rejected_texts.py",
    "model/answers.py": "unit/model/decisions/test_decisions.py",
    "model/decisions/reject.py": "integration/test_rejected_texts.py",
    "model/decisions/promise.py": "integration/test_sets_with_a_promise.py",
    "model/decisions/": "unit/model/decisions/test_decisions.py",
    "models/config.py": "unit/models/test_build.py",
    "models/probing.py": "unit/tasks/test_hostile_model_folders.py",
    "models/expected.py": "unit/tasks/test_hostile_model_folders.py",
    "page/characters.py": "unit/page/test_page_words.py",
    "page/model_file.py": "unit/page/test_javascript.py",
    "page/": "unit/page/test_model_page.py",
    "run/prepare.py": "unit/run/test_batches.py",
    "runtime/familiar.py": "integration/test_rejected_texts.py",
    "tasks/sentences/fitting_reject.py": "integration/test_rejected_texts.py",
    "run/set_aside.py": "integration/test_sets_with_a_promise.py",
    "run/": "unit/run/test_run.py",
    "run/distilling/": "integration/test_distil.py",
    "run/tuning/": "unit/run/tuning/test_search.py",
    "runtime/": "unit/runtime/test_equal_to_torch.py",
    "serving/": "unit/serving/test_app.py",
    "serving/guarded_app.py": "unit/labeling/test_labeling_app.py",
    "storage/encoder_settings.py": "unit/storage/test_hugging_face.py",
    "storage/manifest.py": "unit/storage/test_model_folder.py",
    "tasks/": "unit/tasks/test_predictor.py",
    "tasks/roles/": "unit/tasks/test_role_predictor.py",
    "tasks/vectors.py": "unit/tasks/test_vector_task.py",
    "text/pipes.py": "unit/data/readers/test_table_forms.py",
    "text/windows.py": "unit/text/test_windows_of_words.py",
    "text/opening.py": "unit/text/test_limits.py",
    "text/token_rules.py": "unit/export/test_reference_code.py",
    "text/unknown_words.py": "unit/text/test_ngrams.py",
    "text/": "unit/text/test_tokenize.py",
    "text/vectors/": "unit/text/test_vector_formats.py",
    "training/believing.py": "unit/training/test_state.py",
    "training/keeper.py": "unit/training/test_loop.py",
    "training/step.py": "unit/training/test_distributed.py",
    "tasks/sentences/": "contracts/test_one_option.py",
    "tasks/sentences/turned_rows.py": "unit/tasks/test_turned_rows.py",
    "tasks/sentences/fitting_wide.py": "unit/text/test_wide_part.py",
    "text/english.py": "unit/run/test_decided.py",
}
"""A module, or a folder whose modules are tested together, and the file that does."""

LABORATORY = TESTS.parent / "packages" / "heedful-lab"
LABORATORY_TESTED_BY = {
    "bench/": "bench/test_bench.py",
    "commands/": "reproduce/test_make_tables.py",
    "reproduce/": "reproduce/test_make_tables.py",
    "repository/": "repository/test_results_page.py",
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


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_is_tested_by_a_file_of_its_name_or_a_listed_one(module: Path) -> None:
    if code_lines(SOURCE / module) <= LONG:
        return
    own = TESTS / "unit" / module.parent / f"test_{module.name}"
    folders = [f"{folder.as_posix()}/" for folder in module.parents]
    listed = [TESTED_BY[name] for name in (module.as_posix(), *folders) if name in TESTED_BY]
    assert own.is_file() or listed, (
        f"write tests/unit/{module.parent}/test_{module.name}, or list it in TESTED_BY"
    )


@pytest.mark.parametrize(("part", "file"), TESTED_BY.items())
def test_the_table_names_what_there_is(part: str, file: str) -> None:
    assert (SOURCE / part).exists()
    assert (TESTS / file).is_file()
    assert not (TESTS / "unit" / Path(part).parent / f"test_{Path(part).name}").is_file(), (
        "it has a file of its own"
    )


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
