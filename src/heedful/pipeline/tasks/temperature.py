"""The temperature of a classifier, fitted where it was selected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heedful.data.encode import EncodedDataset
from heedful.evaluation import fit_temperature
from heedful.pipeline.tasks.facts import gold_of
from heedful.predictor import Predictor


class TemperatureScaling:
    """Makes confidences shares of right answers by one number; no answer changes."""

    def fit(self, predictor: Predictor, dataset: EncodedDataset) -> None:
        """Give a classifier the temperature under which the gold of a data set is likeliest.

        Args:
            predictor: the model; its temperature is replaced.
            dataset: examples with gold that it was not trained on.
        """
        logits, _ = predictor.run(dataset)
        temperature = fit_temperature(logits, gold_of(dataset).astype(np.int64))
        predictor.about = replace(predictor.about, temperature=temperature)
