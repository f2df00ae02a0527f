"""Every verb of the command line, end to end on tiny files."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful import __version__
from heedful.cli.main import COMMANDS, group
from heedful.errors import ExitCode
from waiting import PATIENCE


def fresh(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run ``python`` in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path), **settings}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_help_imports_no_torch_and_no_numpy() -> None:
    code = (
        "import sys; from heedful.cli.main import run; code = run(['--help']);"
        "print(sorted({'torch', 'numpy', 'scipy', 'sklearn', 'matplotlib', 'rich'} & set(sys.modules)), code)"
    )
    done = fresh("-c", code)
    assert done.stdout.splitlines()[-1] == "[] 0", done.stdout + done.stderr


def test_the_training_file_is_no_test_file(trained) -> None:
    own, other = (
        tiny.run("evaluate", trained.runs / "text", trained.data / name)
        for name in ("text.csv", "text-test.csv")
    )
    assert (own.code, other.code) == (0, 0)
    assert "text.csv: is the file that the model was trained on" in own.err
    assert "trained on" not in other.err


def test_help_of_every_verb_imports_no_torch() -> None:
    assert len(COMMANDS) >= 11
    code = (
        "import sys; from heedful.cli.main import COMMANDS, run;"
        "codes = [run([name, '--help']) for name in COMMANDS]; print('torch' in sys.modules, set(codes))"
    )
    done = fresh("-c", code)
    assert done.stdout.splitlines()[-1] == "False {0}", done.stdout[-500:] + done.stderr


def test_listing_recipes_and_data_imports_no_torch() -> None:
    code = (
        "import sys; from heedful.cli.main import run; codes = [run(['recipes']), run(['data', 'list'])];"
        "print('torch' in sys.modules, sum(codes))"
    )
    done = fresh("-c", code, HEEDFUL_DATA="")
    assert done.stdout.splitlines()[-1] == "False 0", done.stderr


def test_help_documents_every_exit_code() -> None:
    lines = [line.strip() for line in tiny.run("--help").out.splitlines()]
    assert 'heedful predict runs/reviews "some text"' in lines, "the first commands have lines of their own"
    text = " ".join(tiny.run("--help").out.split())
    codes = [code for code in ExitCode if code != ExitCode.OK]
    assert len(codes) == 10
    for code in (0, *codes):
        assert f"{int(code)} " in text.split("Exit codes:")[1]


def test_every_listed_command_exists() -> None:
    for name in COMMANDS:
        assert group.get_command(None, name).help  # type: ignore[arg-type]


def test_no_arguments_show_the_help() -> None:
    result = tiny.run()
    assert (result.code, result.out) == (2, "")
    assert "Commands:" in result.err


def test_version() -> None:
    assert tiny.run("--version").out == f"heedful {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "there is no command 'trian'; did you mean 'train'?"),
        (["predict"], "Missing argument 'MODEL'; see heedful predict --help"),
        (
            ["predict", "x", "--max-token", "3"],
            "No such option '--max-token'. Did you mean '--max-tokens'?; see heedful predict --help",
        ),
        (["distil", "x"], "Missing option '--out'; see heedful distil --help"),
        (
            ["train", "my-texts", "--epochs", "3"],
            "No such option '--epochs'; for the setting train.epochs pass --set train.epochs=VALUE; see heedful train "
            "--help",
        ),
        (
            ["train", "my-texts", "--tree", "/"],
            "No such option '--tree'; it is one of heedful predict, explain, evaluate, export; see heedful train "
            "--help",
        ),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], message: str) -> None:
    result = tiny.run(*arguments)
    assert (result.code, result.out, result.err) == (2, "", f"heedful: {message}\n")


def test_training_prints_figures_on_stdout_and_progress_on_stderr(trained) -> None:
    result = trained.results["text"]
    assert "dev   accuracy " in result.out
    assert "test  accuracy " in result.out
    assert "step " not in result.out
    assert "protocol" not in result.err
    assert len([line for line in result.err.splitlines() if line.startswith("step ")]) == 6
    assert sorted(path.name for path in (trained.runs / "text").iterdir()) == [
        "checkpoints",
        "config.json",
        "config.toml",
        "data.json",
        "env.json",
        "metrics.jsonl",
        "model",
    ]


def test_the_tiny_tasks_are_learned(trained) -> None:
    """So that the other tests look at a model that means something."""
    found = {}
    for name, file, metric in (
        ("text", "text-test.csv", "accuracy"),
        ("pair", "pair-test.tsv", "accuracy"),
        ("score", "score-test.jsonl", "pearson"),
    ):
        report = tiny.run("evaluate", trained.runs / name, trained.data / file, "--json").json()
        found[name] = report["metrics"][metric]
    assert min(found.values()) > 0.85, found


def test_train_json(trained, tmp_path: Path) -> None:
    data = trained.data
    arguments = ("--set", "train.epochs=1", "--seed", "5", "--json", "-q")
    result = tiny.run("train", data / "text.toml", "--data", data, "--out", tmp_path / "run", *arguments)
    record = result.json()
    assert result.err == ""
    assert record["model"] == str(tmp_path / "run" / "model")
    assert record["test"]["count"] == 40
    assert "seed 5" in record["protocol"]


def test_files_are_found_without_data_folder(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trained.data)
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    result = tiny.run("train", "text.toml", "--out", tmp_path / "run", "--set", "train.max_steps=1", "-q")
    assert result.code == 0, result.err


def test_two_mistakes_in_the_settings_are_both_named(trained, tmp_path: Path) -> None:
    wrong = ("--set", "train.epoch=3", "--set", "model.widht=8")
    result = tiny.run("train", trained.data / "text.toml", "--out", tmp_path / "run", *wrong)
    assert result.code == 2
    assert result.err.splitlines()[0].endswith(": 2")
    assert "train.epoch: unknown setting; did you mean 'epochs'?" in result.err
    assert "model.widht: unknown setting; did you mean 'width'?" in result.err
    assert not (tmp_path / "run").exists()


def test_a_run_is_neither_mixed_up_nor_lost(trained, tmp_path: Path) -> None:
    def train(*more: str) -> tiny.Result:
        data = trained.data
        first = ("train", data / "text.toml", "--data", data, "--out", tmp_path / "run")
        return tiny.run(*first, "--set", "train.epochs=1", "-q", *more)

    assert train().code == 0
    again = train()
    assert again.code == 2
    assert "--resume continues it, --overwrite replaces it" in again.err
    assert train("--resume").code == 0
    assert train("--overwrite").code == 0
    assert train("--overwrite", "--resume").code == 2


def test_overwrite_spares_what_is_no_run(trained, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("Dear")
    data = trained.data
    result = tiny.run(
        "train", data / "text.toml", "--data", data, "--out", tmp_path / "letters", "--overwrite"
    )
    assert result.code == 6
    assert (tmp_path / "letters" / "dear.txt").read_text() == "Dear"


def test_predict_rows_are_tab_separated(trained) -> None:
    texts = ("--text", "This superb film .", "--text", "", "--text", "zzz qqq film")
    result = tiny.run("predict", trained.runs / "text", *texts)
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert [len(row) for row in rows] == [3, 3, 3]
    assert rows[0][0] == "pos"
    assert [row[2] for row in rows[1:]] == ["text without words", "2 of 3 words unknown"]
    assert all(0 < float(row[1]) <= 1 for row in rows)


def test_predict_names_the_rows_of_a_file(trained, tmp_path: Path) -> None:
    path = tiny.write_csv(tmp_path / "in.csv", [("a\tsuperb film",), ("two\nlines",), ("",)], ["sentence"])
    result = tiny.run("predict", trained.runs / "text", "--input", path, "--column", "text=sentence")
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert [row[0] for row in rows] == ["2", "3", "4"], "rows are those of a spreadsheet"
    assert rows[2][3] == "text without words"


def test_predict_json_holds_every_probability(trained) -> None:
    pair = ("--premise", "A dog runs .", "--hypothesis", "The dog runs .")
    answer = tiny.run("predict", trained.runs / "pair", *pair, "--json").json()
    assert answer["row"] == 1
    assert answer["label"] == max(answer["probabilities"], key=answer["probabilities"].get)
    assert set(answer["probabilities"]) == {"same", "other"}
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    score = tiny.run("predict", trained.runs / "score", *pair, "--json").json()
    assert score["label"] is None
    assert list(score["probabilities"]) == ["1", "2", "3", "4", "5"]
    assert score["score"] == pytest.approx(sum(int(k) * p for k, p in score["probabilities"].items()))


def test_predict_reads_parquet(trained, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    parquet.write_table(pyarrow.table({"text": ["superb film", "dull film"]}), tmp_path / "in.parquet")
    result = tiny.run("predict", trained.runs / "text", "--input", tmp_path / "in.parquet")
    assert [line.split("\t")[1] for line in result.out.splitlines()] == ["pos", "neg"]


def test_predict_reads_lines_and_standard_input(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\ufeffsuperb film\n\ndull film\n".encode()
    (tmp_path / "in.txt").write_bytes(lines)
    from_file = tiny.run("predict", trained.runs / "text", "--input", tmp_path / "in.txt")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    from_stdin = tiny.run("predict", trained.runs / "text", "--input", "-")
    assert from_file.out == from_stdin.out
    assert [line.split("\t")[1] for line in from_file.out.splitlines()][::2] == ["pos", "neg"]
    assert len(from_file.out.splitlines()) == 3


def test_predict_reads_pairs_from_standard_input(trained, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b"A dog runs .\tThe dog runs .\nA dog runs .\tThe dog sings .\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    rows = tiny.run("predict", trained.runs / "pair", "--input", "-").out.splitlines()
    assert [row.split("\t")[0] for row in rows] == ["1", "2"]


def test_cutting_is_asked_for_flagged_and_counted(trained) -> None:
    text = ("--text", "one two three four", "--text", "one")
    limited = ("predict", trained.runs / "text", *text, "--max-tokens", "3")
    refused = tiny.run(*limited)
    assert refused.code == 3
    assert "row 1, text: 4 tokens, at most max_tokens = 3 allowed" in refused.err
    cut = tiny.run(*limited, "--truncate", "head")
    assert [line.split("\t")[2] for line in cut.out.splitlines()] == [
        "3 of 3 words unknown, cut to 3 words",
        "1 of 1 words unknown",
    ]
    assert cut.err == "texts truncated to 3 tokens: 1\n"


def test_encode_prints_json_or_writes_an_array(trained, tmp_path: Path) -> None:
    printed = tiny.run("encode", trained.runs / "text", "--text", "superb film", "--text", "")
    vectors = [json.loads(line) for line in printed.out.splitlines()]
    assert len(vectors) == 2
    assert any(vectors[0])
    assert not any(vectors[1]), "a text without words is the zero vector"
    path = tmp_path / "new" / "vectors.npy"
    written = tiny.run(
        "encode", trained.runs / "text", "--text", "superb film", "--text", "", "--output", path
    )
    assert written.out == ""
    array = np.load(path, allow_pickle=False)
    assert array.dtype == np.float32
    np.testing.assert_allclose(array, np.array(vectors), atol=1e-6)


def test_a_model_of_pairs_encodes_single_texts(trained) -> None:
    assert len(json.loads(tiny.run("encode", trained.runs / "pair", "--text", "A dog runs .").out)) == 32


@pytest.mark.parametrize("kind", ["text", "pair", "score"])
def test_explain_prints_and_draws(trained, tmp_path: Path, kind: str) -> None:
    request = ("--text", "This superb film .")
    if kind != "text":
        request = ("--premise", "A dog runs .", "--hypothesis", "The dog sings .")
    files = ("--html", tmp_path / "e.html", "--figure", tmp_path / "e.png", "--figure", tmp_path / "e.svg")
    result = tiny.run("explain", trained.runs / kind, *request, *files)
    assert result.code == 0, result.err
    assert "base, without words" in result.out
    assert "strongest links" not in result.out
    assert "strongest links" in tiny.run("explain", trained.runs / kind, *request, "--attention").out
    assert result.err.count("wrote ") == 3
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert "DiSAN" in page
    assert "://" not in page.replace("http://www.w3.org", ""), "a page loads nothing"
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(tmp_path / "e.svg").getroot().tag.endswith("svg")


def test_explain_json_holds_the_grades_of_a_score(trained) -> None:
    request = ("--premise", "A dog runs .", "--hypothesis", "The dog sings .")
    record = tiny.run("explain", trained.runs / "score", *request, "--json").json()
    assert record["labels"] == ["1", "2", "3", "4", "5"]
    assert sum(record["probabilities"]) == pytest.approx(1)
    assert record["method"] == "DiSAN"


def test_explain_shows_single_features_of_a_word(trained, tmp_path: Path) -> None:
    request = ("explain", trained.runs / "text", "--text", "This superb film .")
    asked = ("--features-of", "film", "--beside", "A film .", "--features", "3")
    result = tiny.run(*request, *asked, "--html", tmp_path / "e.html")
    assert result.code == 0, result.err
    assert "features of film" in result.out
    assert "“film”, feature by feature" in (tmp_path / "e.html").read_text(encoding="utf-8")
    record = tiny.run(*request, *asked, "--json").json()
    assert record["features"]["sentences"] == [["This", "superb", "film", "."], ["A", "film", "."]]
    assert len(record["features"]["maps"][0]["features"]) == 3
    for wrong, said in (
        (("--beside", "A film ."), "--beside needs --features-of WORD"),
        (("--features", "3"), "--features needs --features-of WORD"),
        (("--features-of", "ship"), "no text has the word 'ship'"),
        (("--features-of", "film", "--beside", "A story ."), "no text has the word 'film'"),
    ):
        result = tiny.run(*request, *wrong)
        assert (result.code, said in result.err) == (2, True), result.err


def test_explain_compares_two_models(trained, tmp_path: Path) -> None:
    request = ("--text", "This superb film .")
    other = tmp_path / "other"
    shutil.copytree(trained.runs / "text", other)
    two = (trained.runs / "text", "--compare", other, *request)
    result = tiny.run("explain", *two, "--html", tmp_path / "two.html")
    assert result.code == 0, result.err
    assert result.out.count("base, without words") == 2
    page = (tmp_path / "two.html").read_text(encoding="utf-8")
    assert "The models agree" in page
    assert "gate B forward" in page
    both = tiny.run("explain", *two, "--json").json()
    assert [each["model"] for each in both] == [str(trained.runs / "text"), str(other)]
    assert both[0]["explanation"] == both[1]["explanation"]
    for wrong, said in (
        (("--compare", trained.runs / "text"), "--compare: expected another model"),
        (("--compare", trained.runs / "pair"), "reads pairs of texts"),
        (("--compare", other, "--figure", tmp_path / "f.svg"), "--figure draws one model"),
    ):
        result = tiny.run("explain", trained.runs / "text", *request, *wrong)
        assert (result.code, said in result.err) == (2, True), result.err


def test_explain_shows_no_policy_where_there_is_none(trained) -> None:
    result = tiny.run("explain", trained.runs / "text", "--text", "This superb film .", "--policy")
    assert (result.code, "model.encoder=mdman" in result.err) == (2, True), result.err


def test_explain_takes_one_request(trained) -> None:
    result = tiny.run("explain", trained.runs / "text", "--text", "a", "--text", "b")
    assert (result.code, result.err) == (
        2,
        "heedful: explain takes one input at a time; got 2. Pass one of them\n",
    )


def test_output_falls_back_to_what_the_terminal_can_show(trained) -> None:
    request = ("explain", str(trained.runs / "text"), "--text", "This superb 電影 .")
    done = fresh("-m", "heedful", *request, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    assert "++" in done.stdout
    assert "\\u96fb\\u5f71" in done.stdout


def test_evaluate_breaks_down_and_gates(trained) -> None:
    arguments = (
        "evaluate",
        trained.runs / "pair",
        trained.data / "pair-test.tsv",
        "--column",
        "group=animal",
    )
    passed = tiny.run(*arguments, "--fail-under", "accuracy=0.5")
    assert passed.code == 0
    assert "group" in passed.out
    assert "horse" in passed.out
    failed = tiny.run(*arguments, "--fail-under", "accuracy=1.01")
    assert failed.code == 1
    assert failed.out.splitlines()[1:] == passed.out.splitlines()[1:]
    assert "worse than 1.01" in failed.err
    score = ("evaluate", trained.runs / "score", trained.data / "score-test.jsonl", "--fail-under")
    assert tiny.run(*score, "mse=100").code == 0
    assert tiny.run(*score, "mse=-1").code == 1


def test_evaluate_prints_and_draws_what_is_asked_for(trained, tmp_path: Path) -> None:
    arguments = ("evaluate", trained.runs / "text", trained.data / "text-test.csv")
    report, plain = tiny.run(*arguments, "--json").json(), tiny.run(*arguments).out
    tables = {}
    for option in ("--by-length", "--calibration", "--confusion"):
        shown = tiny.run(*arguments, option)
        assert shown.code == 0, shown.err
        head, tables[option] = shown.out.rsplit("\n\n", maxsplit=1)
        assert head.splitlines()[1:] == plain.splitlines()[1:], "the rest stays, but for the seconds"
    lengths = [line.split() for line in tables["--by-length"].splitlines()]
    assert lengths[0][:3] == ["tokens", "accuracy", "count"]
    assert {name: int(count) for name, _, count, *_ in lengths[1:]} == {
        name: row["count"] for name, row in report["by_length"].items()
    }
    bins = [line.split() for line in tables["--calibration"].splitlines()[2:]]
    assert sum(int(line[-1]) for line in bins) == 40
    assert f"{report['calibration']['after']['ece']:.4f} with it" in tables["--calibration"]
    rows = [line.split()[-2:] for line in tables["--confusion"].splitlines()[1:]]
    assert [[int(cell) for cell in row] for row in rows] == [
        list(row.values()) for row in report["confusion"].values()
    ]
    files = (tmp_path / "drawn.svg", tmp_path / "drawn.png")
    drawn = tiny.run(*arguments, "--figure", files[0], "--figure", files[1])
    assert drawn.err == "".join(f"wrote {file}\n" for file in files)
    panels = [line for line in files[0].read_text(encoding="utf-8").splitlines() if '<g id="axes_' in line]
    assert len(panels) == 3, "reliability, lengths, and the bars behind them"
    assert files[1].read_bytes().startswith(b"\x89PNG")


def test_evaluate_says_which_tables_a_score_lacks(trained) -> None:
    arguments = ("evaluate", trained.runs / "score", trained.data / "score-test.jsonl")
    shown = tiny.run(*arguments, "--by-length", "--calibration", "--confusion").out
    assert "tokens    pearson" in shown
    assert "calibration: the answers have no confidences" in shown
    assert "confusion: the answers are no classes" in shown


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("accuracy", "write METRIC=VALUE"),
        ("acuracy=1", "did you mean 'accuracy'?"),
        ("accuracy=nan", "write METRIC=VALUE"),
        ("accuracy=inf", "write METRIC=VALUE"),
    ],
)
def test_a_wrong_gate_is_refused(trained, gate: str, message: str) -> None:
    file = trained.data / "text-test.csv"
    result = tiny.run("evaluate", trained.runs / "text", file, "--fail-under", gate)
    assert result.code == 2
    assert message in result.err


def test_a_gate_of_another_task_is_refused_before_the_file_is_read(trained) -> None:
    result = tiny.run("evaluate", trained.runs / "text", "nosuch.csv", "--fail-under", "mse=1")
    assert (result.code, result.out) == (2, "")
    assert "this task has no metric 'mse'; valid: accuracy, ece, macro_f1" in result.err


def test_help_says_what_input_a_command_takes() -> None:
    for verb, pairs in (("predict", True), ("explain", True), ("encode", False), ("parse", False)):
        told = " ".join(tiny.run(verb, "--help").out.split())
        assert "standard input" in told
        assert ("premise TAB hypothesis" in told, ".conllu files" in told) == (pairs, pairs), verb


def test_a_file_in_the_place_of_a_known_data_set_is_said(trained, tmp_path: Path) -> None:
    path = tiny.write_csv(tmp_path / "gold.csv", [("superb film", "pos")], ["text", "label"])
    done = tiny.run("evaluate", trained.runs / "text", "--on", path)
    assert done.code == 2
    assert done.err == f"heedful: --on {path}: is a file, not a known data set; leave out --on\n"


def test_evaluate_counts_what_it_leaves_out_and_what_is_empty(trained, tmp_path: Path) -> None:
    rows = [("superb film", "pos"), ("", "neg"), ("zzz qqq film zzz", "neg")]
    path = tiny.write_csv(tmp_path / "gold.csv", rows, ["text", "label"])
    arguments = ("evaluate", trained.runs / "text", path, "--max-tokens", "3", "--truncate", "head")
    report = tiny.run(*arguments, "--json").json()
    assert report["count"] == 3
    assert report["notes"] == {"texts without words": 1, "unknown words": 2, "texts cut": 1}
    assert report["left_out"] == {}
    assert tiny.run(*arguments).out.splitlines()[-3:] == [
        "1 texts without words",
        "2 unknown words",
        "1 texts cut",
    ]


def test_data_list_needs_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    result = tiny.run("data", "list")
    assert result.code == 0
    assert "trec " in result.out
    assert "HEEDFUL_DATA" in result.err
    rows = tiny.run("data", "list", "--data", tmp_path, "--json").json()
    assert len(rows) > 30
    assert not any(row["present"] for row in rows)


def test_data_check_reports_and_gates(trained, tmp_path: Path) -> None:
    clean = tiny.run("data", "check", trained.data / "text.toml", "--data", trained.data)
    assert clean.code == 0, clean.out
    assert "pos" in clean.out
    rows = [(text, label) for text, label in tiny.texts()[:20]]
    tiny.write_csv(tmp_path / "text.csv", rows, ["text", "label"])
    tiny.write_csv(tmp_path / "text-test.csv", rows[:4], ["text", "label"])
    leaky = tiny.run("data", "check", trained.data / "text.toml", "--data", tmp_path, "--json")
    assert leaky.code == 1
    assert leaky.json()


def test_recipes_are_listed_and_printed(tmp_path: Path) -> None:
    listed = tiny.run("recipes").out
    assert "disan-trec" in listed
    printed = tiny.run("recipes", "disan-trec").out
    assert '[data]\nset = "trec"' in printed
    wrong = tiny.run("recipes", "disan-trek")
    assert (wrong.code, wrong.err) == (
        2,
        "heedful: there is no packaged recipe 'disan-trek'; did you mean 'disan-trec'?\n",
    )


def test_info_names_versions_and_nothing_private() -> None:
    facts = tiny.run("info", "--json").json()
    assert facts["heedful"] == __version__
    assert str(Path.home()) not in json.dumps(facts)
    assert "torch" in tiny.run("info").out


def test_study_over_seeds_is_resumable(trained, tmp_path: Path) -> None:
    data = trained.data
    arguments = (
        "study",
        data / "text.toml",
        "--data",
        data,
        "--out",
        tmp_path / "study",
        "--set",
        "train.epochs=1",
    )
    first = tiny.run(*arguments, "--seeds", "1,2")
    assert first.code == 0, first.err
    assert "mean of 2" in first.out
    assert "±" in first.out
    second = tiny.run(*arguments, "--seeds", "1,2", "--json")
    assert "already done" in second.err
    runs = second.json()["runs"]
    assert len(runs) == 2
    assert [list(run["dev_by_epoch"]) for run in runs] == [["1"], ["1"]]
    assert runs[0]["dev_by_epoch"]["1"] == runs[0]["dev"]["metrics"]["accuracy"]


def test_study_refuses_what_it_cannot_do(trained, tmp_path: Path) -> None:
    arguments = ("study", trained.data / "text.toml", "--data", trained.data, "--out", tmp_path)
    assert "give either --seeds or --folds" in tiny.run(*arguments).err
    assert "whole numbers" in tiny.run(*arguments, "--seeds", "1,x").err


def test_a_reader_that_goes_away_is_no_error(trained, tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("superb film\n" * 20_000, encoding="utf-8")
    command = f"{sys.executable} -m heedful predict {trained.runs / 'text'} --input {path} | head -n 1"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1\tpos\t")
