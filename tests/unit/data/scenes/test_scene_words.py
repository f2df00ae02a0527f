from __future__ import annotations

from heedful.data.scenes.clauses import ACTIONS, ACTIVITIES, CREATURES, RELATIONS


def test_inflections_follow_the_rules_of_english() -> None:
    for singular, (plural, _) in CREATURES.items():
        assert plural == singular + "s"
    for base, participle in ACTIVITIES.items():
        assert participle in (f"{base}ing", f"{base}{base[-1]}ing")
    for third, participle in ACTIONS.items():
        assert third.endswith("s")
        assert participle.endswith("ed")
    assert all(RELATIONS[converse] == relation for relation, converse in RELATIONS.items())
