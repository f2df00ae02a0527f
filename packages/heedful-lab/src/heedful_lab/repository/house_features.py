"""Which modules hold features that the package did not have when its figures were set, to count them apart.

The rule: a module is new if commit c7e2665 had no file of its name and it serves one of these features alone.
Everything else counts as today's house: also what grew in old modules for a new feature, what an old module was
divided into, and every new module that several features use.
"""

from __future__ import annotations

from fnmatch import fnmatch

SINCE = "c7e2665"
"""The commit whose features are today's."""
NEW_FEATURES = {
    "texts are labeled on a page while a model learns": ("labeling/*", "cli/label.py"),
    "a whole model at a glance": (
        "run/glance/*",
        "run/important_words.py",
        "explain/word_sums.py",
        "cli/whole_model.py",
        "cli/next_commands.py",
    ),
    "columns beside the text": (
        "features/*",
        "runtime/column_part.py",
        "data/column_features.py",
        "run/column_notes.py",
        "serving/request_columns.py",
        "tasks/sentences/column_rows.py",
        "estimators/table_columns.py",
        "estimators/reading_tables.py",
    ),
    "several label columns": (
        "model/decisions/label_columns.py",
        "evaluation/column_report.py",
        "tasks/columns_task.py",
        "tasks/sentences/linear_targets.py",
        "estimators/of_label_columns.py",
    ),
    "linear parts over frozen features of a text": (
        "runtime/sentence_part.py",
        "runtime/sentence_features.py",
        "runtime/pair_features.py",
        "runtime/encoder_states.py",
        "runtime/word_alignment.py",
        "runtime/row_cache.py",
        "tasks/sentences/row_blocks.py",
        "tasks/sentences/cross_validation.py",
        "tasks/sentences/previous_choice.py",
        "tasks/sentences/class_means.py",
        "tasks/sentences/contrast.py",
        "tasks/sentences/discriminant.py",
        "tasks/sentences/joint_fit.py",
        "tasks/sentences/principal_rows.py",
        "tasks/sentences/wide_rows.py",
        "tasks/words/lexicon.py",
    ),
    "sentence encoders, and answers by the names of labels": (
        "runtime/sentence_vectors.py",
        "tasks/vectors.py",
        "models/vector_network.py",
        "model/decisions/named_labels.py",
    ),
    "a model learns on, or starts from another": (
        "run/learning_on.py",
        "run/continued_network.py",
        "run/starting.py",
        "cli/train.py",
        "model/training_sums.py",
        "tasks/sentences/part_weights.py",
        "tasks/sentences/stored_sums.py",
        "tasks/sentences/previous_part.py",
        "tasks/sentences/learning_by_sums.py",
        "tasks/sentences/residual_gold.py",
        "tasks/sentences/previous_network.py",
        "tasks/words/starting.py",
    ),
    "the training examples that a text resembles": (
        "explain/neighbors*.py",
        "model/training_examples.py",
        "tasks/sentences/stored_examples.py",
        "cli/neighbor_answers.py",
    ),
    "sets with a promise, and none of these": (
        "model/decisions/conformal.py",
        "model/decisions/promise.py",
        "model/decisions/reject.py",
        "model/held_out_scores.py",
        "runtime/training_texts.py",
        "evaluation/rejection.py",
        "evaluation/sets.py",
        "explain/strangeness*.py",
        "tasks/sentences/fitting_reject.py",
        "tasks/sentences/limit_options.py",
        "serving/sets.py",
        "run/set_aside.py",
        "cli/answer_options.py",
    ),
    "classes whose names are paths": (
        "model/decisions/label_tree.py",
        "evaluation/tree_levels.py",
        "explain/parent_shares.py",
    ),
    "chains of tags, and a linear part for them": (
        "attention/crf.py",
        "runtime/tag_part.py",
        "model/decisions/tag_paths.py",
        "text/word_shapes.py",
        "tasks/words/fitting_chain.py",
        "tasks/words/tag_joining.py",
        "tasks/words/tag_rows.py",
        "tasks/words/tag_sequences.py",
        "export/onnx_paths.py",
        "export/onnx_tags.py",
    ),
    "explanations of whole models by their exact contributions": (
        "explain/methods/contributions.py",
        "explain/methods/word_game.py",
        "explain/explained_value.py",
        "explain/linear_parts.py",
        "explain/scene.py",
        "explain/running_text.py",
        "explain/word_pieces.py",
    ),
    "rivals for every task, and boards that are kept": (
        "baselines/saved_boards.py",
        "baselines/nearest_class.py",
        "baselines/shared_features.py",
        "baselines/tag_board.py",
        "baselines/tag_rival.py",
    ),
    "files are recognized, in more formats": (
        "data/hub_*.py",
        "data/readers/class_folders.py",
        "data/readers/column_kinds.py",
        "data/readers/column_roles.py",
        "data/readers/databases.py",
        "data/readers/doubtful_labels.py",
        "data/readers/intents.py",
        "data/readers/label_lines.py",
        "data/readers/spreadsheet*.py",
        "data/readers/tag_records.py",
        "data/readers/tool_formats.py",
        "data/readers/written_labels.py",
        "run/own_file.py",
        "run/own_file.py",
        "run/decided_by_data.py",
    ),
    "texts are normalized before they are read": (
        "text/emoji.py",
        "text/english.py",
        "text/normalization.py",
        "text/phrases.py",
    ),
    "products in 8 and 16 bits, and steps in one call": (
        "runtime/bfloat16_products.py",
        "runtime/int8_products.py",
        "runtime/step_chains.py",
        "runtime/word_values.py",
        "export/whole_layers.py",
    ),
    "whole models in ONNX": (
        "export/onnx_alignment.py",
        "export/onnx_inputs.py",
        "export/onnx_sentence.py",
        "export/onnx_wide.py",
        "export/onnx_vectors.py",
    ),
    "a model in JavaScript, and in few bytes": (
        "page/principal_axes.py",
        "page/characters.py",
        "page/vocabulary_pruning.py",
        "page/javascript.py",
        "page/model_file.py",
        "page/quantized_tables.py",
    ),
    "a training watches its network": ("training/breakage.py", "training/health.py", "training/stages.py"),
    "transformers, tags and texts without labels teach a model": (
        "run/distilling/fine_tuning.py",
        "run/distilling/transfer.py",
        "data/taught_tags.py",
        "data/transfer_set.py",
    ),
    "a server that hostile clients and stuck threads do not stop": (
        "serving/authorization.py",
        "serving/connection.py",
        "serving/guarded_app.py",
        "serving/listener.py",
        "serving/worker_slot.py",
        "serving/watchdog.py",
        "machine/heartbeat.py",
        "machine/serving_key.py",
    ),
    "estimators as plain values, with weights, in files and on the Hub": (
        "estimators/kept_state.py",
        "estimators/saved_estimator.py",
        "storage/hub.py",
    ),
    "packages plug in": ("cli/plugins.py", "storage/entry_points.py"),
}
"""Feature to patterns of the paths of its modules below the package."""


def is_new(place: str) -> bool:
    """Return whether a module belongs to a new feature.

    Args:
        place: its path below the package, with "/".

    Returns:
        Whether it does.
    """
    return any(fnmatch(place, pattern) for patterns in NEW_FEATURES.values() for pattern in patterns)
