"""The estimator that gives every word a tag."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus, Example, WordTags
from heedful.data.readers.tag_files import repaired_tags
from heedful.errors import DataError, UsageError
from heedful.estimators.columns import rows_of
from heedful.estimators.estimator import Estimator, Method
from heedful.estimators.targets import AnyTargets, check_names
from heedful.model.answers import TagsAnswer
from heedful.run.run_config import RunConfig
from heedful.tasks import TagsModel
from heedful.text.bio import scheme_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from heedful.explain import Explanation

_LOG = logging.getLogger(__name__)
LOCAL = ("forward & window(1)", "backward & window(1)", "forward", "backward")
"""What the encoder of a tagger sees by default: each neighbor by itself, and everything on each side."""


class TokenTagger(Estimator[TagsModel]):
    """Give every word a tag: parts of speech, named entities, chunks; see `Estimator` for the arguments.

    ``X`` is a list of lists of words, and ``y`` is a list of lists of tags, one tag for each word. Tags in BIO, BIOES
    or BILOU are recognized and checked, and the predicted tags then form valid spans. By default words have character
    n-grams in addition to their own vectors, and the encoder of 100 features attends separately to the left neighbor,
    the right neighbor, and each side of the sentence. Beside it stands a linear model over words, their shapes and
    their neighbors, with a chain of tags on top; of fewer than 300 sentences it is the whole model.
    ``data__options={"repair": True}`` repairs broken spans.

    For scikit-learn it is not a classifier, because classifiers have single classes as targets. Its searches and
    cross-validation therefore use folds without stratification.

    Attributes:
        classes_: the tags. Set by `fit` and `from_pretrained`.
    """

    task, tasks, metric = "tags", ("tags",), "f1"
    data_options = frozenset({"repair"})
    model_type = TagsModel

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = super()._defaults()
        model = replace(
            config.model, width=100, encoder_options={"masks": list(LOCAL)}, wide="linear", sentence="auto"
        )
        data = replace(config.data, few_rows=300)
        return replace(
            config, data=data, model=model, text=replace(config.text, subwords=20_000, subword_case=True)
        )

    def _set_fitted(self, predictor: TagsModel, targets: AnyTargets) -> None:
        super()._set_fitted(predictor, targets)
        self.classes_ = np.array(predictor.labels)

    def answer(self, X: object) -> list[TagsAnswer]:
        """Return the full prediction for each text, with probabilities and spans."""
        return self.predictor.answer(_requests(X))

    def predict(self, X: object) -> NDArray[np.generic]:
        """Return the tags of each text.

        Args:
            X: lists of words; or strings, which the model splits into words itself.

        Returns:
            One list of tags for each text, as an array of objects, [N].
        """
        found = [list(answer.tags) for answer in self.answer(X)]
        return np.fromiter(found, object, len(found))

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the accuracy of plain tags, or the F1 of spans in BIO or BIOES.

        Args:
            X: lists of words.
            y: their tags.
            sample_weight: not supported; None.

        Returns:
            The score.

        Raises:
            UsageError: if weights are given.
        """
        if sample_weight is not None:
            raise UsageError("sample_weight: the tags of all texts count alike here; leave it out")
        metrics = self.evaluate(X, y).metrics
        return metrics["accuracy" if scheme_of(self.predictor.labels) == "plain" else "f1"]

    def explain(  # type: ignore[override]
        self,
        request: object,
        *,
        method: Method | None = None,
        samples: int = 50,
        seed: int = 0,
        word: int | str | None = None,
    ) -> Explanation:
        """Show what each word attended to, and what each word contributes to the tag of one of them.

        Args:
            request: a list of words, or a string.
            method: see `heedful.tasks.TagsModel.explain`.
            samples: likewise.
            seed: likewise.
            word: likewise.

        Returns:
            The explanation.
        """
        one = _requests([request])
        return self.predictor.explain(one, method=method, samples=samples, seed=seed, word=word)

    def _examples(self, X: object, y: object, targets: AnyTargets) -> Corpus:
        examples, tags = _requests(X).examples, rows_of(y, name="y")
        if len(examples) != len(tags):
            raise UsageError(
                f"texts and targets must have the same length; got {len(examples)} and {len(tags)}"
            )
        found: list[tuple[Example, tuple[str, ...]]] = []
        for row, (example, own) in enumerate(zip(examples, tags, strict=True), start=1):
            if not example.words:
                raise UsageError(
                    f"X: text {row} is a string; give it as the list of words that its tags belong to"
                )
            given = list(own) if isinstance(own, list | tuple) else None
            if given and all(isinstance(tag, int | np.integer) for tag in given):
                raise DataError(
                    f"target {row}: the tags are numbers, {own!r:.60}; give their names, such as B-PER, for numbers "
                    "say nothing of spans"
                )
            if given is None or not all(isinstance(tag, str) and tag for tag in given):
                raise DataError(f"target {row}: expected a list of tags, one a word, got {own!r:.80}")
            words = example.words[0] or ()
            if len(given) != len(words):
                raise DataError(
                    f"target {row}: {len(given)} tags for {len(words)} words; give one tag a word"
                )
            found.append((example, tuple(map(str, given))))
        every = {tag for _, own in found for tag in own}
        check_names(sorted(every), of_words=True)
        scheme = scheme_of(every)
        if self.config.data.options.get("repair"):
            whole = [(example, repaired_tags(own, scheme)) for example, own in found]
            if count := sum(old != new for (_, old), (_, new) in zip(found, whole, strict=True)):
                _LOG.warning("y: the tags of %d texts were repaired", count)
            found = whole
        return Corpus([replace(example, target=WordTags(own)) for example, own in found])

    def __sklearn_tags__(self) -> Tags:
        """Declare to scikit-learn that a target is a list."""
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels = False
        return tags


def _requests(X: object) -> Corpus:
    """Return texts as examples, lists of words as ready-made words."""
    examples = []
    rows = list(X) if isinstance(X, np.ndarray) and X.ndim == 2 else rows_of(X)
    for row, given in enumerate(rows, start=1):
        if isinstance(given, str):
            examples.append(Example((given,), row=row))
            continue
        words = list(given) if isinstance(given, list | tuple | np.ndarray) else None
        if words is None or not all(isinstance(word, str) and word.strip() for word in words):
            raise DataError(f"text {row}: expected a list of words, none of them empty, got {given!r:.80}")
        examples.append(Example((" ".join(words),), words=(tuple(map(str, words)),), row=row))
    return Corpus(examples)
