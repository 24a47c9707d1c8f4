"""The figures that the documents give of studies, each from the study that it names.

    python benchmarks/readme.py [--out results/readme] [PART ...]

Parts, all if none is named: tan, refined, thresholds, suite, average, tree, arithmetic, limits,
paper (together about ten minutes on two cores), measures, tests and estimators (twenty minutes of
processor time). Results that are there already are used again. The figures on speed are those of
`study.py`, `scale.py`, `learners.py` and `camml.py`, those on coverage of thresholds those of
`threshold_coverage.py`, those on advice those of `advice.py` and `advice_known.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from scipy import stats

import simstudy
from simstudy.analysis.tests.intervals import share_interval
from simstudy.report.prose.pairwise import course_sentences
from simstudy.report.terminal import print_summary
from simstudy.study.lists import load_collection
from simstudy.workflow.lists import run_collection

STUDIES = Path(__file__).parents[1] / "studies"
FAMILIES = ("naive_bayes", "tan", "aode")
# Those whose limits are compared with CaMML's.
LIMITED = {
    "NB": {"name": "naive_bayes"},
    "TAN": {"name": "tan"},
    "TAN (SuperParent)": {"name": "tan", "search": "superparent"},
    "AODE": {"name": "aode"},
    "KDB": {"name": "kdb"},
    "HNB": {"name": "hnb"},
    "C4.5": {"name": "c45"},
    "MML tree": {"name": "mml_tree"},
    "CaMML": {"name": "camml"},
}
# Where the answer of `measures` is asked again: other training rows, other learners.
MEASURE_STUDIES = ("measures_naive_bayes", "measures", "measures_aode")
OTHER_LEARNERS = [
    {"name": "hnb", "label": "HNB"},
    {"name": "camml", "label": "CaMML"},
    {"name": "mml_tree", "label": "MML tree"},
    {"name": "boosted_c45", "label": "boosted C4.5"},
    {"name": "sklearn.linear_model:LogisticRegression", "label": "logistic", "max_iter": 1000},
]
SHOWN = ("information_reward", "log_loss", "brier_score", "auc", "accuracy")


def run(name: str, out: Path, **options: Any) -> simstudy.Results:
    """The results of a built-in study."""
    study = simstudy.load_study(STUDIES / f"{name}.toml")
    return simstudy.run_study(study, out / name, report=False, **options)


def pairs_at(results: simstudy.Results, size: int) -> pd.DataFrame:
    pairs = results.pairwise()
    columns = ["first", "second", "difference", "lower", "upper", "p_adjusted"]
    return pairs.loc[pairs["size"] == size, columns]


def tan(out: Path) -> None:
    print_summary(run("tan", out), Console(width=100), details=True)


def refined(out: Path) -> None:
    results = run("tan", out / "refined", refine=True)
    print("\n".join(course_sentences(results.findings())))
    print("sizes added:", sorted(set(results.refined["size"])), f"{len(results.refined)} cells")


def thresholds(out: Path) -> None:
    for family in FAMILIES:
        results = run(f"thresholds_{family}", out)
        print(family, f"{results.manifest['seconds']} s")
        print("\n".join(course_sentences(results.findings())))


def suite(out: Path) -> None:
    results = run("suite", out)
    print(f"{results.manifest['seconds']} s")
    means = results.intervals().pivot_table("mean", "learner", "size", sort=False)
    print(means.round(4).to_string())
    largest = results.sizes[-1]
    best = means[largest].idxmax()
    pairs = pairs_at(results, largest)
    print(pairs[(pairs["first"] == best) | (pairs["second"] == best)].round(5).to_string())


def average(out: Path) -> None:
    results = run("camml_average", out)
    for size in results.sizes:
        print(size)
        print(pairs_at(results, size).round(5).to_string())


def tree(out: Path) -> None:
    results = run("true_tree", out)
    for size in results.sizes:
        print(size)
        print(pairs_at(results, size).round(4).to_string())


def arithmetic(out: Path) -> None:
    """CaMML's stable arithmetic beside that of the public program, in the studies of 2004."""
    whole = []
    for family in FAMILIES:
        content = simstudy.load_study(STUDIES / f"{family}.toml").as_dict()
        content["measures"]["also"] = []
        content["name"] = f"{family}_arithmetic"
        content["learners"] = [
            {"name": "camml", "label": label, "arithmetic": label}
            for label in ("stable", "program")
        ]
        study = simstudy.make_study(content)
        results = simstudy.run_study(study, out / study.name, report=False)
        wide = results.scores.pivot_table("information_reward", "model", ["learner", "size"])
        gap = wide["program"] - wide["stable"]
        whole.append(gap.mean(axis=1))
        for size in gap:
            mean, se = gap[size].mean(), gap[size].sem()
            print(f"{family:<12} {size:>5}  {mean:+.5f} ± {se:.5f}  {(gap[size] != 0).sum()} cells")
    every = pd.concat(whole)
    print(f"all {len(every)} models: {every.mean():+.5f} ± {every.sem():.5f}")


def limits(out: Path) -> None:
    """Each learner's score when fitted to the whole population, seed 2007, against CaMML's."""
    for family in FAMILIES:
        content = simstudy.load_study(STUDIES / f"thresholds_{family}.toml").as_dict()
        content |= {"name": f"limits_{family}"}
        content["data"] = {"train_sizes": [50], "test_size": "exact"}
        # Neither the prior nor the cutoff may depend on a training set.
        content["measures"] = {"also": ["representation"], "prior": "true", "cutoff": "none"}
        content["learners"] = [{**one, "label": label} for label, one in LIMITED.items()]
        study = simstudy.make_study(content)
        results = simstudy.run_study(study, out / study.name, report=False)
        floor = results.scores.pivot_table("representation", "model", "learner")
        ahead = floor.rsub(floor["CaMML"], axis=0).drop(columns="CaMML")
        print(f"{family}: mean representation regret", floor.mean().round(5).to_dict())
        for name, column in ahead.items():
            better = column[column > 1e-9]
            if len(better):
                where = {int(model): round(value, 4) for model, value in better.items()}
                print(f"  the limit of {name} is above CaMML's in model: {where}")
        short = floor["TAN (SuperParent)"]
        count, most = int((short > 1e-6).sum()), short.max()
        print(f"  SuperParent's limit is short of the truth in {count} models, by {most:.4f}")


def paper(out: Path) -> None:
    collection = load_collection(STUDIES / "paper2004.toml")
    run_collection(collection, out, report=True)
    print(f"see {out / collection.name / 'compare.html'}")


def mean_interval(values: pd.Series) -> str:
    """The mean over models with its 95 % t interval, in percent."""
    values = values.dropna()
    half = stats.t.ppf(0.975, len(values) - 1) * values.sem()
    low, high = values.mean() - half, values.mean() + half
    return f"{100 * values.mean():.1f} ({100 * low:.1f} to {100 * high:.1f})"


def in_percent(shares: pd.Series) -> str:
    """A share of data sets with its binomial 95 % interval, in percent; the model is the unit."""
    values = shares.dropna().to_numpy()[:, None]
    mean, low, high = (100 * limit[0] for limit in share_interval(values, 0.95))
    return f"{mean:.1f} ({low:.1f}–{high:.1f})"


def print_rows_needed(results: simstudy.Results, target: str) -> None:
    needed = results.rows_needed(f"right_{target}").set_index("learner").loc[[*SHOWN]]
    print(needed[["rows", "lower", "upper", "note"]].round(0).to_string())


def measures(out: Path) -> None:
    """Which measure finds the better learner: shares, rows needed, and what they depend on."""
    gaps = []
    for name in MEASURE_STUDIES:
        results = run(name, out)
        classes = [results.model(model).cards[-1] for model in range(results.study.models)]
        right, table = (
            results.scores.pivot_table(f"right_{target}", ["learner", "size"], "model")
            for target in ("kl_divergence", "accuracy")
        )
        print(f"\n{name}: right choices by KL divergence, percent; rows needed")
        for measure in SHOWN:
            print(f"  {measure:<20} 100 rows: {in_percent(right.loc[measure, 100])}")
        several = np.array(classes) > 2
        gap = (right.loc["information_reward"] - right.loc["log_loss"]).loc[:, several]
        gaps.append(gap.set_axis([f"{name} {model}" for model in gap], axis=1))
        print(f"  more than two classes: {several.sum()} of {len(several)} models")
        print_rows_needed(results, "kl_divergence")
        print("right choices by accuracy, percent")
        for size in results.sizes:
            texts = [f"{measure} {in_percent(table.loc[measure, size])}" for measure in SHOWN]
            gap = table.loc["accuracy", size] - table.loc["brier_score", size]
            texts.append(f"accuracy minus Brier score {mean_interval(gap)}")
            print(f"  {size:>5} rows: " + ", ".join(texts))
    print("\nreward minus log loss, KL divergence, models with more than two classes, points")
    for size, row in pd.concat(gaps, axis=1).iterrows():
        print(f"  {size:>5} rows: {mean_interval(row)}, {len(row)} models")
    for label, change in (
        ("trained on 1,000 rows", {"data": {"train_sizes": [1000]}}),
        ("other learners", {"learners": OTHER_LEARNERS}),
    ):
        content = simstudy.load_study(STUDIES / "measures.toml").as_dict()
        content["data"] |= change.get("data", {})
        content["learners"] = change.get("learners", content["learners"])
        content["name"] = f"measures, {label}".replace(", ", "_").replace(" ", "_").replace(",", "")
        study = simstudy.make_study(content)
        results = simstudy.run_study(study, out / study.name, report=False)
        print(f"\nmeasures, {label}")
        at_100 = results.scores[results.scores["size"] == 100].groupby("learner")
        for measure in SHOWN:
            right = at_100.get_group(measure)["right_kl_divergence"]
            print(f"  {measure:<20} 100 rows: {in_percent(right)}")
        print_rows_needed(results, "kl_divergence")


def tests(out: Path) -> None:
    """How often tests reject, under the two nulls of `tests` and with a difference."""
    results = run("tests", out)
    columns = [f"type_1_{null}{name}" for name in ("NB", "C4.5") for null in ("", "mirrored_")]
    columns += ["power_NB_C4.5", "wrong_NB_C4.5"]
    for size in results.sizes:
        rows = results.scores[results.scores["size"] == size]
        print(f"\n| {size} rows | " + " | ".join(columns) + " |\n" + "| --- " * 7 + "|")
        for name, shares in rows.groupby("learner", sort=False):
            texts = [in_percent(shares[column]) for column in columns]
            print(f"| {name} | " + " | ".join(texts) + " |")


def estimators(out: Path) -> None:
    """How often intervals of C4.5's accuracy cover its exact value, with exact intervals."""
    results = run("estimators", out)
    for name in ("10-fold stratified", "5×2cv", "nested 10-fold"):
        for size in results.sizes:
            rows = results.scores.query("learner == @name and size == @size")
            covered = int(rows["covered_accuracy_C4.5"].sum())
            low, high = stats.binomtest(covered, len(rows)).proportion_ci()
            print(f"{name}, {size} rows: {covered / len(rows):.0%} ({low:.0%} to {high:.0%})")


PARTS = {
    part.__name__: part
    for part in (
        *(tan, refined, thresholds, suite, average, tree, arithmetic, limits, paper),
        *(measures, tests, estimators),
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", default=[])
    parser.add_argument("--out", type=Path, default=Path("results/readme"))
    given = parser.parse_args()
    if unknown := {*given.parts} - {*PARTS}:
        parser.error(f"unknown {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    np.set_printoptions(suppress=True)
    for name in given.parts or PARTS:
        print(f"\n== {name}", flush=True)
        PARTS[name](given.out)


if __name__ == "__main__":
    main()
