"""Labels that change in 8 bits are counted, of each set and of all together."""

from __future__ import annotations

from heedful.run.recipe_files import load_config
from heedful_lab.studies.changed_labels import SETS, Changed, counted, table


def test_changes_and_right_labels_are_counted() -> None:
    assert counted(["a", "b", "b", "a"], ["a", "b", "a", "b"], ["a", "a", "b", "b"]) == Changed(4, 2, 2, 2)


def test_together_counts_texts_and_takes_the_mean_of_accuracies() -> None:
    found = table([("x", Changed(100, 1, 80, 79)), ("y", Changed(300, 2, 300, 297))])
    assert "| y | 300 | 100.00 | 99.00 | 2 |" in found
    assert "| together | 400 | 90.00 | 89.00 | 3 (7.5 in 1,000) |" in found


def test_every_set_has_a_recipe_that_takes_its_settings() -> None:
    assert len(SETS) == 6
    assert {load_config(recipe, own).data.set for recipe, own in SETS.values()} == {
        *("trec", "cr", "mpqa", "subj", "sst-2", "sst-5")
    }
