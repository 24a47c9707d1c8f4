"""The figures that the documents give of studies, each from the study that it names.

    python benchmarks/readme.py [--out results/readme] [PART ...]

Parts, all if none is named (about ten minutes on two cores): tan, refined, thresholds, suite,
average, tree, arithmetic, limits, paper. Results that are there already are used again. The figures
on speed are those of `study.py`, `scale.py`, `learners.py` and `camml.py`, those on coverage those
of `threshold_coverage.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

import simstudy
from simstudy.report.prose.crossings import course_sentences
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


def run(name: str, out: Path, **options: Any) -> simstudy.Results:
    """The results of a built-in study."""
    study = simstudy.load_study(STUDIES / f"{name}.toml")
    return simstudy.run_study(study, out / name, report=False, **options)


def pairs_at(results: simstudy.Results, size: int) -> pd.DataFrame:
    pairs = results.pairwise()
    columns = ["first", "second", "difference", "lower", "upper", "p_adjusted"]
    return pairs.loc[pairs["size"] == size, columns]


def tan(out: Path) -> None:
    print_summary(run("tan", out), Console(width=100))


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
    """What each learner makes of the population, seed 2007: its reward against CaMML's."""
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


PARTS = {
    part.__name__: part
    for part in (tan, refined, thresholds, suite, average, tree, arithmetic, limits, paper)
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
