"""The report of a study as one page of HTML that needs nothing else."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from simstudy.report import words
from simstudy.report.headline import findings, question
from simstudy.report.html import panels, tables
from simstudy.report.html.charts import swatch
from simstudy.report.html.networks import network
from simstudy.report.html.panels import MOST_DOTS, Panel
from simstudy.report.html.tables import Table
from simstudy.report.html.templating import render
from simstudy.report.html.views import view
from simstudy.results.store import ROWS_BESIDE_EXACT

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results

_EXAMPLES = 3  # models that are drawn
_FIRST = 10  # failures and warnings that are listed


def report_page(results: Results) -> str:
    """The report page of a study: one HTML file, the same bytes each time.

    Parameters
    ----------
    results : Results
        Of a complete study.
    """
    views = [view(results, index) for index in range(len(results.measures))]
    return render(
        "page.html",
        results=results,
        title=results.settings["title"] or results.settings["name"],
        question=question(results),
        findings=findings(results),
        learners=[(index, label, swatch(index)) for index, label in enumerate(results.learners)],
        views=views,
        design=_design(results),
        methods=_methods(results),
        measures=_measures(results),
        conventions=words.conventions(results),
        examples=_examples(results),
        regret=_regret(results),
        costs=_costs(results),
        failures=_failures(results),
        reproduce=_reproduce(results),
        dots=min(results.settings["models"], MOST_DOTS),
    )


def _design(results: Results) -> dict[str, str]:
    """How models and data were drawn, by subject."""
    settings = results.settings
    family, data = settings["family"], settings["data"]
    about = results.about("family", family["name"])
    drawn = f"{settings['models']} models, drawn at random from the family {family['name']}."
    sizes = ", ".join(f"{size:,}" for size in data["train_sizes"])
    nested = data["training"] == "nested" and len(data["train_sizes"]) > 1
    how = "each the first rows of the next larger one" if nested else "drawn independently"
    return {
        "Models": f"{drawn} {about}".strip(),
        "Parameters": "; ".join(_parameters(family)) or "none",
        "Training data": f"From every model a set of each size ({sizes} rows), {how}. All learners "
        "of a model get the same sets.",
        "Test data": _test(data["test_size"]),
        "Random numbers": f"Seed {settings['seed']}. Every random stream is a function of the "
        "seed, the family, the number of the model and what the stream is for.",
    }


def _test(size: int | str) -> str:
    """What learners were judged on."""
    if isinstance(size, int):
        return f"From every model one set of {size:,} rows, the same for all learners and sizes."
    exact = (
        "None: a measure is its expectation over all configurations of the variables, weighted by "
        "their true probabilities."
    )
    beside = f" Measures called sampled are on one set of {ROWS_BESIDE_EXACT:,} rows per model."
    return exact + (beside if size == "both" else "")


def _parameters(family: dict[str, Any]) -> Iterator[str]:
    """A family's parameters in words, as far as they are common ones."""
    for key, value in family.items():
        match key, value:
            case "name", _:
                continue
            case "attributes", [low, high]:
                yield f"{_range(low, high)} variables, the target included"
            case "values", [low, high]:
                yield f"{_range(low, high)} values of each variable"
            case "cpts", "normalized_uniform":
                yield (
                    "every row of every conditional probability table uniform random numbers "
                    "divided by their sum"
                )
            case "cpts", _:
                continue
            case "concentration", int() | float() if family.get("cpts") != "normalized_uniform":
                yield (
                    "every row of every conditional probability table from a symmetric Dirichlet "
                    f"distribution with parameter {value:g}"
                )
            case "concentration", int() | float():
                continue
            case _:
                yield f"{key} = {value}"


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _methods(results: Results) -> Table:
    """The learners with their parameters."""
    lines = []
    for learner in results.settings["learners"]:
        given = {key: value for key, value in learner.items() if key not in ("name", "label")}
        said = ", ".join(f"{key} = {value}" for key, value in given.items())
        lines.append(
            [learner["label"], learner["name"], said, results.about("learner", learner["name"])]
        )
    columns = ["label", "learner", "parameters", "what it is"]
    table = tables.plain("learners", "Learners and their parameters", columns, lines)
    rows = [(str(index), cells) for index, (_, cells) in enumerate(table.rows)]
    return Table(table.name, table.title, table.heads, rows)


def _measures(results: Results) -> Table:
    """The measures: what they are, their units, and which way is better."""
    exact = not isinstance(results.settings["data"]["test_size"], int)
    lines = []
    for index, name in enumerate(results.measures):
        info = results.info(name)
        sampled = name.endswith("_sampled") and exact
        lines.append(
            [
                info.label + (" (primary)" if index == 0 else ""),
                results.about("measure", name.removesuffix("_sampled") if sampled else name),
                info.unit or "–",
                "more" if info.greater_is_better else "less",
                info.zero or "–",
                "exact" if exact and not sampled else "test set",
            ]
        )
    columns = ["measure", "what it is", "unit", "better", "0 is", "judged on"]
    return tables.plain("measures", "What is measured", columns, lines)


def _examples(results: Results) -> tuple[list[Panel], str]:
    """The first models as pictures, and what is to be known of them."""
    made: list[Panel] = []
    mixture = False
    for index, model in sorted(results.manifest["networks"].items())[:_EXAMPLES]:
        values = _range(min(model["cards"]), max(model["cards"]))
        size = math.prod(model["cards"])
        said = f"{len(model['cards'])} variables of {values} values; {size:,} configurations"
        if model["components"] > 1:
            mixture = True
            said += f"; component 1 of {model['components']}, weight {model['weight']:.3g}"
        names = model["names"]
        picture = network(model["parents"], names, f"network{len(made)}", f"Model {index}")
        made.append(Panel(f"Model {index}", picture, "", said))
    if not made:
        return made, "None is shown: the manifest of these results has no models."
    note = (
        f"The first {len(made)} of {results.settings['models']} models, not chosen by their "
        "looks. The target is on top, filled; its arcs are drawn lighter."
    )
    if mixture:
        note += " Each model is a mixture of networks with weights; its first component is shown."
    return made, note


def _regret(results: Results) -> dict[str, Any] | None:
    """What regret is made of, if the study measured it."""
    split = results.regret()
    if split.empty:
        return None
    known = f"{words.design(results)}; {words.conventions(results)}."  # said above
    return {
        "panels": panels.regret(split, results.sizes, results.learners),
        "table": tables.regret(results, split, results.info("regret").unit),
        "caption": words.regret_caption(results).replace(known, "").strip(),
    }


def _costs(results: Results) -> dict[str, Any]:
    """Median seconds to fit and to predict."""
    columns = ["fit_seconds", "predict_seconds"]
    timings = results.timings
    medians: pd.DataFrame = timings.groupby(["learner", "size"], sort=False)[columns].median()
    known = [value for value in medians.to_numpy().ravel().tolist() if value > 0]
    ends = (min(known) / 1.5, max(known) * 1.5) if known else (1e-4, 1e-2)
    pictures = []
    for key, what in zip(columns, ("fit", "predict"), strict=True):
        each = [
            (index, label, medians[key].loc[label].loc[results.sizes].tolist())
            for index, label in enumerate(results.learners)
        ]
        picture = panels.seconds(each, results.sizes, what, ends, f"seconds-{what}")
        pictures.append(Panel(f"Median time to {what}", picture, ""))
    test = results.settings["data"]["test_size"]
    judged = f"{test:,} test rows" if isinstance(test, int) else "all configurations of a model"
    return {
        "panels": pictures,
        "table": tables.costs(results, medians.reset_index()),
        "caption": f"Medians over the models, on {results.manifest['platform']}; to predict means "
        f"the probabilities of {judged}. A table of counts that several learners share is counted "
        "by the first that asks for it, and its time is that learner’s.",
    }


def _failures(results: Results) -> dict[str, Any]:
    """How many cells failed, the first of them, and warnings."""
    manifest = results.manifest
    failed = results.failures
    found: dict[str, Any] = {"count": manifest["failures"], "cells": manifest["cells"]}
    found["command"] = f"simstudy failures {_place(results)}"
    found["warnings"] = list(manifest["warnings"].items())[:_FIRST]
    found["tables"] = []
    if len(failed):
        counts = failed.groupby(["learner", "status"], sort=False).size().reset_index(name="n")
        lines = [
            [str(row["learner"]), str(row["status"]), f"{row['n']:,}"]
            for row in counts.to_dict("records")
        ]
        first = [
            [
                str(row["model"]),
                f"{row['size']:,}",
                str(row["learner"]),
                str(row["status"]),
                " ".join(str(row["error"]).split()),
            ]
            for row in failed.head(_FIRST).to_dict("records")
        ]
        columns = ["model", "rows", "learner", "status", "error"]
        title = "The first of them" if len(failed) > _FIRST else "All of them"
        found["tables"] = [
            tables.plain("failure_counts", "Failed cells", ["learner", "status", "cells"], lines),
            tables.plain("failures", title, columns, first),
        ]
    return found


def _place(results: Results) -> str:
    """The directory as a command names it; of an absolute one the last part alone."""
    place = results.directory
    return shlex.quote(place.name if place.is_absolute() else place.as_posix())


def _reproduce(results: Results) -> dict[str, Any]:
    """All that is needed to run the study again."""
    manifest, place = results.manifest, _place(results)
    facts = [["simstudy", manifest["conditions"]["simstudy"]], ["Python", manifest["python"]]]
    facts += [
        [name, version] for name, version in manifest["packages"].items() if name != "simstudy"
    ]
    facts += [["platform", manifest["platform"]], ["processor", manifest["processor"]]]
    facts += [["seed", str(results.settings["seed"])], ["fingerprint", manifest["fingerprint"]]]
    if isinstance(seconds := manifest.get("seconds"), int | float):
        facts.append(["time to compute the cells", f"{seconds:,.0f} s"])
    label = results.learners[0]
    cell = ["--model", "0", "--size", str(results.sizes[0]), "--learner", label]
    return {
        "toml": (results.directory / "study.toml").read_text(encoding="utf-8"),
        "facts": tables.plain("versions", "What made these results", ["", ""], facts),
        "run": f"simstudy run study.toml --out {place}",
        "cell": f"simstudy cell study.toml {shlex.join(cell)}",
        "plugins": manifest["plugins"],
    }
