"""The studies that `same.py` runs: their files, and the commands that are run on them."""
# ruff: noqa: E501 (inline tables of TOML cannot be broken)

from __future__ import annotations

import re

_FILES = """
== models.toml
name = "models"
title = "Learners on TAN models"
models = 12
keep_answers = true
family = { name = "tan", variables = [3, 5], values = [2, 3] }
learners = [{ name = "naive_bayes", label = "NB" }, { name = "tan", label = "TAN" }, { name = "c45", label = "C4.5" }]
data = { train_sizes = [30, 120, 1000], test_size = "both" }
measures.also = ["accuracy", "kl_divergence", "regret", "representation", "estimation"]

== suite.toml
name = "suite"
models = 3
data = { train_sizes = [60], test_size = 200 }
family = { name = "kdb", variables = [4, 5], values = [2, 3], classes = 2 }
learners = [
    { name = "truth" }, { name = "prior" }, { name = "naive_bayes" }, { name = "tan" },
    { name = "aode" }, { name = "kdb" }, { name = "camml" }, { name = "hnb" }, { name = "lbr" },
    { name = "c45" }, { name = "boosted_c45" }, { name = "mml_tree" }, { name = "mml_graph" },
    { name = "decision_stump" }, { name = "one_r" }, { name = "calibrated" }, { name = "select" },
    { name = "cost_sensitive", matrix = [[0, 1], [5, 0]] }, { name = "pgmpy:TreeSearch" },
    { name = "sklearn.linear_model:LogisticRegression" },
]
[measures]
prior = "test"
base = 2
also = [
    "information_reward_2002", "information_reward_2002_modal", "good_reward", "accuracy",
    "kononenko_bratko", "kononenko_bratko_total", "kononenko_bratko_relative", "log_loss",
    "brier_score", "mean_absolute_error", "rmse", "relative_absolute_error", "error_rate",
    "root_relative_squared_error", "class_complexity", "complexity_improvement", "kappa",
    "miscalibration", "precision", "recall", "false_positive_rate", "f_score", "matthews",
    "balanced_accuracy", "sensitivity_specificity", "average_cost", "auc", "scored_auc", "sar",
    "probabilistic_auc", "average_precision", "interpolated_precision", "lift", "h_measure",
    "calibration_loss", "refinement_loss", "expected_calibration_error", "overconfidence",
    "underconfidence", "kl_divergence", "regret", { name = "cost", matrix = [[0, 1], [5, 0]] },
    { name = "precision_at", k = 20 }, { name = "recall_at", k = 20 },
]

== faults.toml
name = "faults"
models = 9
plugins = ["faulty.py"]
family = { name = "random_dag", variables = [4, 5], values = [2, 3], classes = 2 }
data = { train_sizes = [40, 160], test_size = 200, training = "nested" }
preparation.missing = "value"
measures.also = ["auc", "support"]
learners = [{ name = "naive_bayes" }, { name = "aode" }, { name = "faulty" }]
changes = [
    { name = "irrelevant", number = 1 }, { name = "duplicate", rate = 0.1 },
    { name = "label_noise" }, { name = "shift", class_prior = "uniform" }, { name = "missing" },
]

== faulty.py
from dataclasses import dataclass
import numpy as np
from simstudy import Learner, register_learner, register_measure

@register_learner("faulty")
@dataclass(frozen=True)
class Faulty(Learner):
    "Gives all classes the same probability, and fails on some training sets."
    def fit(self, sample, rng=None):
        if rng.random() < 0.2:
            raise ValueError("the number drawn is below 0.2")
        return Even(sample.classes)

@dataclass(frozen=True)
class Even:
    classes: int
    def predict_proba(self, codes):
        return np.full((len(codes), self.classes), 1 / self.classes)

@register_measure("support", greater_is_better=True)
def support(proba, y, prior):
    "Probability of the true class relative to its prior."
    return proba[np.arange(len(y)), y] / prior[y]

== sets.toml
name = "sets"
keep_answers = true
datasets = [
    { path = "data/iris.csv.gz" }, { path = "data/labor-neg.csv.gz" }, { path = "data/bc.csv.gz" },
    { path = "data/echocardiogram.csv.gz" }, { path = "data/post-operative.csv.gz" },
    { path = "data/house-votes-84.csv.gz" },
]
resampling.scheme = "5x2cv"
preparation.missing = "mode"
measures.also = ["accuracy"]
learners = [{ name = "naive_bayes", label = "NB" }, { name = "c45", label = "C4.5" }, { name = "aode", label = "AODE" }]

== curves.toml
name = "curves"
datasets = [
    { path = "data/iris.csv.gz" }, { path = "data/echocardiogram.csv.gz", ignore = ["epss"] },
]
resampling = { scheme = "cv", folds = 3, repeats = 2, sizes = [0.25, 0.5, 1.0] }
preparation = { discretize = "equal_frequency", bins = 4, missing = "value" }
measures = { primary = "accuracy", also = ["log_loss"] }
learners = [{ name = "naive_bayes", label = "NB" }, { name = "c45", label = "C4.5" }, { name = "aode", label = "AODE" }]

== judges.toml
name = "judges"
compare = "measures"
models = 10
family = { name = "tan", variables = [3, 5], values = [2, 3] }
learners = [{ name = "naive_bayes", label = "NB" }, { name = "tan", label = "TAN" }, { name = "c45", label = "C4.5" }]
data = { train_sizes = [60], test_sizes = [20, 80], repeats = 6 }
measures.also = ["accuracy", "auc", "auc:accuracy", { name = "f_score", beta = 2.0 }]
measures.targets = ["kl_divergence", "accuracy"]

== estimators.toml
name = "estimators"
compare = "estimators"
models = 10
family = { name = "tan", variables = [3, 5], values = [2, 3] }
learners = [{ name = "naive_bayes", label = "NB" }, { name = "tan", label = "TAN" }, { name = "c45", label = "C4.5" }]
data = { train_sizes = [40, 80], training_sets = 10 }
measures = { primary = "accuracy", also = ["brier_score"] }
estimators = [
    { name = "resubstitution" }, { name = "holdout", repeats = 5, interval = "corrected" },
    { name = "cross_validation", folds = 5, stratify = true, interval = "folds" },
    { name = "five_by_two" }, { name = "bootstrap_632", repeats = 10, plus = true },
    { name = "nested_cross_validation", folds = 4, repeats = 3 },
]

== tests.toml
name = "tests"
compare = "tests"
models = 10
family = { name = "tan", variables = [3, 5], values = [2, 3] }
learners = [{ name = "naive_bayes", label = "NB" }, { name = "tan", label = "TAN" }, { name = "c45", label = "C4.5" }]
data = { train_sizes = [60, 120], repeats = 4 }
measures.primary = "accuracy"
tests = [
    { name = "cross_validated_t", folds = 5 }, { name = "five_by_two_t" }, { name = "mcnemar" },
    { name = "resampled_t", repeats = 6, corrected = false }, { name = "five_by_two_f" },
]

== inner.toml
name = "inner"
title = "Learners on TAN models"
citation = "Nobody (2004)"
studies = ["models.toml"]
override.keep_answers = false
statements = [
    { study = "models", text = "TAN beats NB", relation = "beats", learners = ["TAN"], against = ["NB"], sizes = [30, 1000] },
    { study = "models", text = "All are level", relation = "level", learners = ["TAN", "NB", "C4.5"], sizes = [120], margin = 0.2 },
]
claims = [{ study = "models", text = "NB earns something", relation = "above", learners = ["NB"], sizes = [1000], value = [0.0] }]

== list.toml
name = "list"
studies = ["inner.toml", "sets.toml"]
statements = [
    { study = "sets", text = "AODE beats C4.5", relation = "beats", learners = ["AODE"], against = ["C4.5"] },
    { study = "sets", text = "NB never beats AODE", relation = "never beats", learners = ["NB"], against = ["AODE"] },
    { study = "sets", text = "They correlate", relation = "correlation above", measure = "accuracy", other_measure = "information_reward", value = 0.2 },
]
published = [{ study = "sets", measure = "accuracy", file = "printed.csv", source = "Nobody (2004)", tolerance = 0.1 }]

== printed.csv
dataset,NB
iris,0.5
labor-neg,0.9

== readings.toml
name = "readings"
of = "inner.toml"
readings = [
    { id = "sum", label = "reward summed over classes", override = { measures = { reward = "sum" } }, margin_factor = 3 },
    { id = "seed_2", label = "seed 2", override = { seed = 2 } },
]

== wrong.toml
name = "wrong"
family.name = "tam"
learners = [{ name = "tan" }]
"""
# Study files and what they name: their text by their names.
FILES = dict(re.findall(r"^== (\S+)\n(.*?\n)\s*(?=^== |\Z)", _FILES, re.DOTALL | re.MULTILINE))
DATA_SETS = [
    *(f"{name}.csv.gz" for name in ("iris", "labor-neg", "bc", "echocardiogram", "post-operative")),
    "house-votes-84.csv.gz",
    "catalogue.json",
]
# The commands of each study, one a line.
COMMANDS = {
    "models": """
        run models.toml --out plain --jobs 2
        run models.toml --out plain
        tables plain --format latex --out tables
        tables plain --format markdown --out tables
        tables plain --format csv --out tables
        figures plain --format svg --out figures
        run models.toml --out refined --jobs 1 --refine --models 10
        run models.toml --out refined --jobs 1 --models 11
        score refined --measure auc --measure kappa
        compare plain refined --out compare.html
        plan models.toml --pilot 4 --mcse 0.01 --difference 0.02 --jobs 1
        cell models.toml --model 2 --size 30 --learner NB""",
    "sets": """
        run sets.toml --out sets --jobs 1
        score sets --measure auc --measure '{ name = "f_score", average = "macro" }'
        tables sets --format latex --out tables
        tables sets --format markdown --out tables
        tables sets --format csv --out tables
        figures sets --format png --style talk --out figures
        report sets
        run curves.toml --out curves --jobs 1 --without C4.5
        compare sets curves --out compare.html
        plan sets.toml --jobs 1""",
    "learners": "run suite.toml --out suite --jobs 1 --no-report",
    "measures": """
        run judges.toml --out judges --jobs 1
        tables judges --format markdown --out tables
        figures judges --format pdf --out figures""",
    "estimators": """
        run estimators.toml --out estimators --jobs 1
        tables estimators --format csv --out tables""",
    "tests": """
        run tests.toml --out tests --jobs 1
        tables tests --format latex --out tables""",
    "list": """
        run list.toml --out all --jobs 1
        run readings.toml --out all --jobs 1 --models 6""",
    "vary": """
        vary models.toml --key measures.prior=train,uniform --key learners.TAN.search=cmi,superparent \
            --models 6 --jobs 1""",
    "advise": """
        advise data/house-votes-84.csv.gz --target class --models 10 --rows 1000 --jobs 1 --out out""",
    "faults": """
        run faults.toml --shard 1/2 --jobs 1 --no-report
        run faults.toml --shard 2/2 --jobs 1 --no-report
        merge results/faults-shard-1-of-2 results/faults-shard-2-of-2 --out merged
        report merged
        failures merged""",
    "words": """
        --help
        run --help
        vary --help
        plan --help
        cell --help
        merge --help
        report --help
        figures --help
        tables --help
        compare --help
        failures --help
        score --help
        data --help
        advise --help
        studies
        list
        list information_reward
        list camml
        schema
        schema --list
        show models.toml
        show sets.toml
        show wrong.toml
        new new.toml
        data data/labor-neg.csv.gz
        run models.toml --sizes 5,x
        run models.toml --nothing
        report nothing""",
}
