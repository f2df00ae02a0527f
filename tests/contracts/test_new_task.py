"""A task is added by one module and one registration: here a task that counts the negations of a text, written below.

Nothing else of the package knows it. It goes through every door: it trains, saves, loads, answers, evaluates, explains,
is served and answers files; the doors that cannot take it, such as the runtime, say so in one line.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from torch import Tensor

import heedful
import heedful.runtime
import tiny
from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus
from heedful.data.gold import Targets, score_targets
from heedful.data.tokens import TokenizedCorpus
from heedful.errors import UsageError
from heedful.evaluation import Report, evaluate_scores
from heedful.model.answers import Read, ShownAnswer
from heedful.model.decisions import Decision
from heedful.models import ModelConfig, Network, SentenceEncoder, TextNetwork, classifier_head
from heedful.run import evaluate_corpus, prepare, train
from heedful.run.recipe_files import load_config
from heedful.structures import NetworkOutput
from heedful.tasks import TASKS, load_model, register
from heedful.tasks.sentences.linear_targets import NumberTargets
from heedful.tasks.sentences.report_inputs import example_weights, gold_of
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.sentences.sentence_task import SentenceTask
from heedful.tasks.sentences.used_settings import SENTENCES
from heedful.tasks.tables import TEXT, TableRoles
from served import in_process

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig
    from heedful.training.step import Objective


# The module of the new task -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """How many negations a text has."""

    negations: float
    unknown: int
    truncated: bool

    @property
    def remarks(self) -> str:
        return f"{self.unknown} unknown" if self.unknown else ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class NegationDecision(Decision[Count]):
    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.zeros((len(logits), 0))

    def answers(self, logits: NDArray[np.float32], read: Sequence[Read]) -> Iterator[Count]:
        for number, how in zip(logits[:, 0].tolist(), read, strict=True):
            yield Count(number, how.unknown, how.truncated)

    def shown(self, logits: NDArray[np.float32]) -> ShownAnswer:
        return ShownAnswer(score=float(logits[0]), score_range=(0.0, 4.0), deletable=False, kind="number")


class NegationModel(SentenceModel[Count]):
    decision = NegationDecision(())


class NegationTask(SentenceTask[NegationModel, Count]):
    name, noun = "negations", "negations"
    model_type, table = NegationModel, TableRoles(TEXT, "score")
    metrics = ("pearson", "spearman", "mse")
    uses = SENTENCES | table.settings
    options = table.options
    question, usage = "how many negations a text has", 'model.answer(["a text"])'
    header = ("negations", "remarks")

    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        return ()

    def targets(self, corpus: TokenizedCorpus, labels: tuple[str, ...]) -> Targets:
        return score_targets(corpus)

    def fitted(self, model: ModelConfig, labels: tuple[str, ...]) -> ModelConfig:
        return ModelConfig(**{**vars(model), "outputs": 1})

    def named_outputs(self, model: ModelConfig) -> int:
        return 0

    def head(self, config: ModelConfig, encoder: SentenceEncoder) -> Network:
        return TextNetwork(encoder, classifier_head(config, encoder.width_out))

    def objective(self, config: RunConfig, model: NegationModel) -> Objective:
        return _square_error

    def linear_targets(self, model: NegationModel, dataset: EncodedDataset) -> NumberTargets:
        return NumberTargets(example_weights(dataset), gold_of(dataset).astype(np.float64))

    def judged(
        self, model: NegationModel, rows: NDArray[np.float32], dev: EncodedDataset
    ) -> dict[str, float]:
        return self.report_of(model, dev, rows, 0.0).metrics

    def report_of(
        self, model: NegationModel, dataset: EncodedDataset, rows: NDArray[np.float32], seconds: float
    ) -> Report:
        gold, found = gold_of(dataset).astype(np.float64), rows[:, 0].astype(np.float64)
        return evaluate_scores(gold, found, seconds=seconds)

    def rows(self, answer: Count) -> Iterable[list[str]]:
        yield [f"{answer.negations:.2f}", answer.remarks]


def _square_error(output: NetworkOutput, targets: Tensor) -> Tensor:
    return (output.logits[:, 0] - targets).square()


# The registration, and the proof ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register(NegationTask())
    yield
    del TASKS["negations"]


RECIPE = """
[data]
train = "negations.jsonl"
test = "negations-test.jsonl"
text = "text"
score = "score"
[model]
task = "negations"
encoder = "embedding"
pooling = "max"
width = 16
hidden = 16
dropout = 0.0
[batches]
size = 16
[train]
metric = "pearson"
epochs = 12
[train.optimizer]
name = "adam"
lr = 0.02
"""
NEGATIONS = ("not", "never", "nobody", "nothing")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_data(tmp_path)


def write_data(folder: Path) -> Path:
    """Write the examples and the recipe into a folder."""
    rows = []
    for number in range(240):
        chosen = [word for place, word in enumerate(NEGATIONS) if number >> place & 1]
        filler = ["film", "story", "meal", "song", "garden"][: 1 + number % 5]
        rows.append({"text": " ".join([*filler, *chosen]), "score": len(chosen)})
    for name, part in (("negations", rows[:192]), ("negations-test", rows[192:])):
        lines = "".join(json.dumps(row) + "\n" for row in part)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "negations.toml").write_text(RECIPE, encoding="utf-8")
    return folder


def test_it_trains_saves_loads_answers_evaluates_and_explains(folder: Path) -> None:
    config = load_config(folder / "negations.toml", ["train.device=cpu"])
    result = train(config, prepare(config, folder, folder / "cache"), folder=folder / "run")
    assert result.test is not None
    assert result.test.metrics["pearson"] > 0.9
    requests = ["film not never", "song"]
    model = load_model(folder / "run")
    assert isinstance(model, NegationModel)
    assert heedful.from_pretrained(folder / "run").answer(requests) == model.answer(requests)
    two, none = (answer.negations for answer in model.answer(requests))
    assert two > none + 1
    again = evaluate_corpus(model, NegationTask().read_gold(model, folder / "negations-test.jsonl", {}))
    assert again.metrics == pytest.approx(result.test.metrics)
    assert model.explain("film not").score == pytest.approx(model.answer(["film not"])[0].negations)
    assert model.encode(requests).shape == (2, 16)
    assert "how many negations a text has" in (folder / "run/model/README.md").read_text(encoding="utf-8")


def test_the_commands_take_it(folder: Path) -> None:
    trained = tiny.run(
        "train",
        folder / "negations.toml",
        "--data",
        folder,
        "--out",
        folder / "run",
        "--set",
        "train.device=cpu",
    )
    assert trained.code == 0, trained.err
    answered = tiny.run("predict", folder / "run", "--text", "film not never", "--text", "song")
    assert [len(line.split("\t")) for line in answered.out.splitlines()] == [2, 2]
    plain = tiny.run("predict", folder / "run", "--text", "film not never", "--json").json()
    assert plain["negations"] > 1
    measured = tiny.run("evaluate", folder / "run", folder / "negations-test.jsonl", "--json")
    assert measured.json()["metrics"]["pearson"] > 0.9
    assert tiny.run("explain", folder / "run", "--text", "film not", "--json").json()["score"] > 0
    whole = tiny.run("explain", folder / "run", "--all", folder / "negations-test.jsonl")
    assert (whole.code, whole.out) == (2, "")
    assert "--all is for models of classes, labels, numbers, scores and tags" in whole.err
    refused = tiny.run("predict", folder / "run", "--text", "film", "--predicates", "film")
    assert refused.code == UsageError.exit_code


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a trained model in "run" and two texts in "new.csv"."""
    register(NegationTask())
    place = write_data(tmp_path_factory.mktemp("negations"))
    config = load_config(place / "negations.toml", ["train.device=cpu"])
    train(config, prepare(config, place, place / "cache"), folder=place / "run")
    (place / "new.csv").write_text("text\n" + "\n".join(TEXTS) + "\n", encoding="utf-8")
    del TASKS["negations"]
    return place


TEXTS = ["film not never", "song"]


def test_files_are_answered_as_texts_are(trained: Path, tmp_path: Path) -> None:
    numbers = [answer.negations for answer in load_model(trained / "run").answer(TEXTS)]
    words = ("predict", trained / "run", "--input", trained / "new.csv", "--output")
    for name in ("out.csv", "out.jsonl"):
        assert tiny.run(*words, tmp_path / name).code == 0
    with (tmp_path / "out.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["text"] for row in rows] == TEXTS
    assert [float(row["negations"]) for row in rows] == pytest.approx(numbers, abs=0.005)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["prediction"]["negations"] for line in lines] == pytest.approx(numbers)
    assert tiny.run("encode", trained / "run", "--text", "song", "--output", tmp_path / "v.npy").code == 0
    assert np.load(tmp_path / "v.npy").shape == (1, 16)


def test_blocks_of_a_cluster_engine_are_answered(trained: Path) -> None:
    numbers = [answer.negations for answer in load_model(trained / "run").answer(TEXTS)]
    found = heedful.BatchPredictor(str(trained / "run"))({"text": TEXTS})
    assert isinstance(found, dict)
    assert [json.loads(each)["negations"] for each in found["prediction"]] == pytest.approx(numbers)


def test_it_is_served(trained: Path) -> None:
    numbers = [answer.negations for answer in load_model(trained / "run").answer(TEXTS)]
    with in_process({"count": trained / "run"}) as app:
        reply = app.ask("/v1/predict", {"model": "count", "texts": TEXTS})
        assert reply.status == 200, reply.body
        assert [each["negations"] for each in reply.json()["answers"]] == pytest.approx(numbers)
        assert app.ask("/v1/encode", {"model": "count", "texts": TEXTS}).status == 200
        explained = app.ask("/v1/explain", {"model": "count", "text": "film not"})
        assert explained.status == 200, explained.body
        assert explained.json()["explanation"]["score"] > 0


def test_an_explanation_is_drawn(trained: Path, tmp_path: Path) -> None:
    page, figure = tmp_path / "why.html", tmp_path / "why.svg"
    words = ("explain", trained / "run", "--text", "film not", "--html", page, "--figure", figure)
    result = tiny.run(*words)
    assert result.code == 0, result.err
    assert ">not<" in page.read_text(encoding="utf-8")
    assert "not" in figure.read_text(encoding="utf-8")


def test_a_folder_in_eight_bits_answers_alike(trained: Path, tmp_path: Path) -> None:
    assert tiny.run("export", trained / "run", "--int8", tmp_path / "small").code == 0
    small, own = (load_model(path).answer(TEXTS) for path in (tmp_path / "small", trained / "run"))
    assert [each.negations for each in small] == pytest.approx([each.negations for each in own], abs=0.1)


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (("export", "--page", "x.html"), "a page answers text, pair"),
        (("export", "--onnx", "x.onnx"), "this is a 'negations' model; the runtime runs text, pair"),
        (("baselines",), "the baselines take classes or scores of texts and pairs, not 'negations'"),
    ],
)
def test_what_cannot_take_it_says_so_in_one_line(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, *rest = way
    place = (trained / "negations.toml", "--data", trained) if verb == "baselines" else (trained / "run",)
    refused = tiny.run(verb, *place, *rest)
    assert (refused.code, refused.err.count("\n")) == (UsageError.exit_code, 1)
    assert message in refused.err
    assert list(tmp_path.iterdir()) == []


def test_the_runtime_refuses_it_and_names_the_command_that_runs_it(trained: Path) -> None:
    with pytest.raises(UsageError, match=r"this is a 'negations' model; .*\. Use heedful predict\.$"):
        heedful.runtime.load(trained / "run")


def test_what_it_does_not_use_is_refused_for_it_by_name(folder: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_config(folder / "negations.toml", ["data.label=label", "model.matching=absolute"])
    for name in ("data.label", "model.matching"):
        assert f"{name} is not used by a task of negations" in str(caught.value)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(UsageError, match="'negations'"):
        register(NegationTask())
