"""None of these: a text that fits no class is answered so, from training to the answer, with torch and without."""

import json

import numpy as np
import pytest

import heedful
from heedful import TextClassifier
from heedful.errors import UsageError
from heedful.estimators.classifier import _of_type
from heedful.runtime import load
from tiny import run, texts, write_csv

FEW = {"text__vectors": "", "model__sentence": "none", "threads": 1}
REJECTS = {**FEW, "model__task_options": {"reject": 0.9}}
NONE = "none of these"
STRANGE = [
    "quantum chromodynamics of heavy ions",
    "my bus pass expired last tuesday",
    "please reset wifi password",
    "boil eggs seven minutes",
    "which port blocks ssh",
    "tax forms need signing",
]


@pytest.fixture(scope="module")
def rows() -> tuple[list[str], list[str]]:
    """Three classes of polarity and topic, so that one can be looked at as if it did not exist."""
    found = texts()[:150]
    return [t for t, _ in found], [f"{c} film" if "film" in t else c for t, c in found]


@pytest.fixture(scope="module")
def fitted(rows) -> TextClassifier:
    return TextClassifier(**REJECTS).fit(*rows, baseline=False)


@pytest.fixture(scope="module")
def folder(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("none") / "model"
    fitted.save_pretrained(path)
    return path


def test_strange_texts_are_rejected_and_known_ones_keep_their_class(fitted, rows) -> None:
    assert (fitted.predict(STRANGE) == NONE).all()
    new = [t for t, _ in texts()[150:250]]
    assert (fitted.predict(new) != NONE).mean() >= 0.8
    answer = fitted.answer(STRANGE[:1])[0]
    assert answer.unlike_share == 1.0
    assert answer.confidence == 1.0
    assert NONE not in answer.probabilities


def test_the_threshold_keeps_the_share_that_was_asked_for(fitted) -> None:
    reject = fitted.predictor.about.reject
    assert reject.keep == 0.9
    assert reject.share(reject.threshold) == pytest.approx(0.9, abs=0.03)


def test_answers_without_torch_are_alike(fitted, folder) -> None:
    some = [*STRANGE, "a lovely film", "", "word " * 3000]
    own = fitted.answer(some)
    for other in (
        list(load(folder).limited(truncate="head").predict(some)),
        heedful.from_pretrained(folder).answer(some),
    ):
        assert [each.label for each in own] == [each.label for each in other]
        assert np.allclose([each.unlike for each in own], [each.unlike for each in other])


def test_commands_answer_and_print_the_share(folder, tmp_path) -> None:
    found = run("predict", folder, STRANGE[0], "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["label"] == NONE
    table = run("predict", folder, STRANGE[0])
    assert table.out.split("\t")[:2] == [NONE, "0.999999"]
    file = write_csv(tmp_path / "in.csv", [[STRANGE[0]], ["a lovely film"]], ["text"])
    out = tmp_path / "many"
    assert run("predict", folder, "--input", file, "--jobs", "1", "--output", out).code == 0
    assert NONE in next(out.rglob("*.csv")).read_text()


def test_texts_of_no_class_weigh_the_signs(rows) -> None:
    model = TextClassifier(**FEW).fit(*rows, baseline=False, none_of_these=STRANGE[:4])
    assert "4 texts of no class" in model.predictor.about.reject.fitted
    assert model.predictor.about.reject.keep == 0.95
    assert (model.predict(STRANGE[4:]) == NONE).all()
    assert "reject" not in str(model.get_params())  # the constructor's arguments stay


def test_a_file_of_texts_of_no_class_on_the_command_line(rows, tmp_path) -> None:
    data = write_csv(tmp_path / "known.csv", list(zip(*rows, strict=True)), ["text", "label"])
    others = tmp_path / "others.txt"
    others.write_text("".join(f"{line}\n" for line in STRANGE))
    common = ("train", data, "--no-baseline", "--set=text.vectors=", "--set=model.sentence=none")
    found = run(*common, "--out", tmp_path / "run", "--none-of-these", others)
    assert found.code == 0, found.err
    assert (
        "6 texts of no class"
        in json.loads((tmp_path / "run/model/config.json").read_text())["reject"]["fitted"]
    )
    others.write_text(others.read_text() + rows[0][3] + "\n")
    refused = run(*common, "--out", tmp_path / "other", "--none-of-these", others)
    assert refused.code != 0
    assert "is a training text of a class too" in refused.err
    assert len(refused.err.strip().splitlines()[-1:]) == 1
    assert not (tmp_path / "other" / "model").exists()


def test_two_classes_and_no_vectors_reject_too() -> None:
    some = texts()[:100]
    model = TextClassifier(**REJECTS).fit([t for t, _ in some], [c for _, c in some], baseline=False)
    assert (model.predict(STRANGE) == NONE).all()


def test_a_network_sets_rows_aside_by_itself(rows) -> None:
    small = {"model__width": 8, "model__hidden": 8, "train__epochs": 1, "train__least_steps": 1}
    model = TextClassifier(**REJECTS, **small, data__few_rows=0, model__wide="none")
    model.fit(rows[0][:100], rows[1][:100], baseline=False)
    assert model.predictor.held_scores.source == "held_out"
    assert model.predictor.about.reject is not None
    assert (model.predict(STRANGE) == NONE).any()


@pytest.mark.parametrize("reject", [1, -0.1, "much"])
def test_a_share_out_of_range_is_refused(rows, reject) -> None:
    with pytest.raises(UsageError, match=r"task_options\.reject"):
        TextClassifier(**FEW, model__task_options={"reject": reject}).fit(*rows)


def test_a_class_of_this_name_and_too_few_rows_are_refused(rows) -> None:
    with pytest.raises(UsageError, match="is a class of the training rows"):
        TextClassifier(**FEW, model__task_options={"reject": 0.9, "reject_label": "pos"}).fit(*rows)
    with pytest.raises(UsageError, match="takes at least 999"):
        TextClassifier(**FEW, model__task_options={"reject": 0.999}).fit(*rows, baseline=False)


@pytest.mark.parametrize(
    "change", [{"weights": [1]}, {"threshold": "x"}, {"known": [2, 1]}, {"label": "pos"}]
)
def test_a_damaged_rule_is_refused_with_torch_and_without(folder, change) -> None:
    from heedful.model.decisions.reject import read_reject

    table = json.loads((folder / "config.json").read_text())["reject"]
    assert read_reject(table, ["pos", "neg"]) is not None
    with pytest.raises(UsageError, match="reject"):
        read_reject({**table, **change}, ["pos", "neg"])


def test_a_label_of_no_class_leaves_the_classes_alone(fitted) -> None:
    assert NONE not in fitted.classes_
    assert "is answered with 'none of these'" in fitted.predictor.about.card
    assert "`--coverage`" in fitted.predictor.about.card
    assert fitted.predict_proba(STRANGE).shape == (len(STRANGE), len(fitted.classes_))


def test_evaluate_prints_auroc_kept_accuracy_and_the_curve(folder, rows, tmp_path) -> None:
    known = [(t, label) for t, label in zip(*rows, strict=True)][:40]
    file = write_csv(tmp_path / "mixed.csv", [*known, *((t, NONE) for t in STRANGE)], ["text", "label"])
    common = ("evaluate", folder, file, "--column", "text=text", "--column", "label=label")
    found = run(*common, "--figure", tmp_path / "risk.svg")
    assert found.code == 0, found.err
    assert "AUROC" in found.out
    assert "of what is kept" in found.out
    assert (
        "risk and coverage" in (tmp_path / "risk.svg").read_text() or (tmp_path / "risk.svg").stat().st_size
    )
    figures = run(*common, "--json").json()["none_of_these"]
    assert figures["known"] == 40
    assert figures["strangers"] == len(STRANGE)
    assert figures["recall"] == 1.0
    assert figures["auroc"] >= 0.95
    assert figures["curve"][-1][0] == 1.0
    risks = [risk for _, risk in figures["curve"]]
    assert risks[-1] == pytest.approx((len(STRANGE) + 40 * (1 - figures["accuracy"])) / (40 + len(STRANGE)))


def test_auroc_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import roc_auc_score

    from heedful.evaluation.rejection import auroc

    generator = np.random.default_rng(0)
    known, strange = generator.integers(0, 9, 50) / 1.0, generator.integers(3, 12, 20) / 1.0
    gold = np.repeat([0, 1], [50, 20])
    assert auroc(known, strange) == pytest.approx(roc_auc_score(gold, np.concatenate([known, strange])))


def test_explain_says_why(folder) -> None:
    found = run("explain", folder, STRANGE[3])
    assert found.code == 0, found.err
    assert "unlike all training texts" in found.out
    assert "these words are new: boil, eggs, seven, minutes" in found.out
    known = run("explain", folder, "The film was lovely .", "--json").json()["none_of_these"]
    assert not known["rejected"]
    assert known["new_words"] == []
    assert sum(known["parts"].values()) == pytest.approx(known["score"])


def test_the_server_describes_what_only_some_answers_have(fitted) -> None:
    from heedful.model.answers import Answer
    from heedful.serving.schemas import schema_of

    schema = schema_of(Answer)
    plain = fitted.answer(STRANGE[:1])[0].as_dict()
    assert set(schema["required"]) <= set(plain) <= set(schema["properties"])
    assert "prediction_set" not in plain
    assert "unlike" in set(plain) - set(schema["required"])


def test_every_door_says_why(fitted, folder) -> None:
    from heedful.explain import Explanation, render_html
    from heedful.explain.explainer import explain
    from heedful.serving.served_model import open_served

    strange, known = "<b>boil</b> eggs seven minutes", "The film was lovely ."
    served = open_served(folder)
    doors = [fitted.explain, lambda text: explain(load(folder), text), served.explain]
    for asked, nothing in ((strange, True), (known, False)):
        said = [door(asked).none_of_these for door in doors]
        assert [each.rejected for each in said] == [nothing] * 3
        assert [each.score for each in said] == pytest.approx([said[0].score] * 3)
    found = Explanation.from_dict(json.loads(json.dumps(served.explain(strange).to_dict())))
    assert (found.predicted, found.certainty) == (NONE, 1.0)
    assert found.nearest in fitted.classes_
    assert found.none_of_these == served.explain(strange).none_of_these
    assert repr(found).startswith(f"Explanation({NONE} more unlike than all known texts")
    page = render_html(found)
    assert f"<h1>{NONE}<small>more unlike than all known texts</small></h1>" in page
    assert f"Why “{NONE}”: unlike all training texts" in page
    assert "boil" in page
    assert "<b>boil" not in page
    numbers = page.partition('<tr><th>sign</th><th class="r">adds</th></tr>')[2].partition("</table>")[0]
    *parts, total = (float(each.partition("<")[0]) for each in numbers.split('<td class="r">')[1:])
    assert sum(parts) == pytest.approx(total, abs=0.03)
    assert f"{NONE}, more unlike than all known texts   (nearest: " in found.to_text(width=120)
    like = render_html(served.explain(known))
    assert f"<summary>Why not “{NONE}”? It is like training texts</summary>" in like


def test_a_whole_model_counts_what_fits_no_class(folder, rows, tmp_path) -> None:
    held = [[text, label] for text, label in zip(*(part[:40] for part in rows), strict=True)]
    file = write_csv(
        tmp_path / "new.csv",
        [
            *held,
            *([text, label] for text, label in zip(STRANGE, [NONE, "cooking", "buses"] * 2, strict=True)),
            ["ssh port boils", "pos"],
        ],
        ["text", "label"],
    )
    done = run("explain", folder, "--all", file, "--json", "--html", tmp_path / "all.html")
    assert done.code == 0, done.err
    found = done.json()
    own = {each["name"]: each for each in found["classes"]}
    assert (own[NONE]["count"], own[NONE]["recall"]) == (len(STRANGE), 1.0)
    assert not {"cooking", "buses"} & set(own)
    missed = [each for each in found["confusions"] if (each["label"], each["answer"]) == ("pos", NONE)]
    assert found["calibration"]["bins"]
    assert not [each for each in found["mistakes"] if each["label"] == NONE]
    assert missed[0]["texts"][0]["probability"] > 0.9
    assert NONE in (tmp_path / "all.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("answer", "classes", "given"),
    [
        ("-1", [0, 1], -1),
        ("-1", ["a", "b"], "-1"),
        ("none of these", [0, 1], "none of these"),
        ("²", [0, 1], "²"),
    ],
)
def test_the_name_of_no_class_is_a_number_beside_numbers(answer, classes, given) -> None:
    assert _of_type(answer, np.array(classes)) == given
