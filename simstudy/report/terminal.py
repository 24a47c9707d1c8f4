"""A study's findings for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from simstudy.report import overtaking, words
from simstudy.report.numbers import p_value, share
from simstudy.texts import printable

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results


_CELL_WIDTH = 21
_WIDEST_LABEL = 30
_NAMED = 5


class _Console(Console):
    """A console that prints names as they are: no control characters, no pictures for words."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)


def make_console() -> Console:
    """A console for what others have named."""
    return _Console(emoji=False)


def print_summary(results: Results, console: Console) -> None:
    """Print means, ANOVA and verdicts of the primary measure."""
    settings, info = results.settings, results.info()
    intervals, pairs = results.intervals(), results.pairwise()
    console.print(settings["title"] or settings["name"], style="bold", markup=False)
    console.print(f"{words.design(results)}.", markup=False)
    console.print(f"{words.conventions(results)}.\n", markup=False)
    _print_means(intervals, words.axis_label(info), console)
    console.print(
        f"means {words.models_words(results, intervals)}; ± half-width of "
        f"{words.interval_words(results, intervals)}.\n",
        style="dim",
    )
    _print_anova(results, console)
    _print_verdicts(results, pairs, intervals, console)
    _print_thresholds(results, console)
    _print_failures(results, console)


def _print_means(intervals: pd.DataFrame, label: str, console: Console) -> None:
    """The table of means, in as many pieces as the width of the terminal makes it."""
    sizes = list(dict.fromkeys(intervals["size"]))
    learners = list(dict.fromkeys(intervals["learner"]))
    label_width = min(max(map(len, learners)), _WIDEST_LABEL)
    across = max((console.width - label_width - 2) // _CELL_WIDTH, 1)
    for start in range(0, len(sizes), across):
        shown = sizes[start : start + across]
        table = _table(f"Mean {label} by training rows", "learner")
        for size in shown:
            table.add_column(f"{size:,}", justify="right", no_wrap=True)
        for learner in learners:
            rows = intervals[(intervals["learner"] == learner) & intervals["size"].isin(shown)]
            table.add_row(escape(str(learner)), *map(_mean, rows.to_dict("records")))
        console.print(table)


def _mean(row: dict[Any, Any]) -> str:
    if row["infinite"]:
        return f"{row['mean']:+.0f}"
    if row["n"] == 0:
        return "–"
    half_width = (row["upper"] - row["lower"]) / 2
    return f"{round(row['mean'], 4) + 0.0:.4f} ± {half_width:.4f}"


def _print_anova(results: Results, console: Console) -> None:
    try:
        anova = results.anova()
    except ValueError as error:
        console.print(f"No ANOVA: {error}.\n", markup=False)
        if results.scores[results.measures[0]].isna().any():
            _print_mixed_model(results, console)
        return
    if anova.empty:
        console.print("No ANOVA: one learner at one size leaves nothing to compare.\n")
        return
    rows: list[dict[Any, Any]] = anova.to_dict("records")
    for row in rows:
        row["effect"] = row["effect"].replace(":", " × ")
    tests = _table("Repeated-measures ANOVA, models as subjects", "effect")
    for heading in ("df", "F", "p", "p (G–G)", "p (H–F)", "η²G", "η²p"):
        tests.add_column(heading, justify="right")
    sphericity = _table("Sphericity", "effect")
    for heading in ("Mauchly's W", "p (W)", "ε G–G", "ε H–F"):
        sphericity.add_column(heading, justify="right")
    for row in rows:
        p_values = [p_value(row[key]) for key in ("p", "p_gg", "p_hf")]
        etas = [_number(row[key]) for key in ("eta2_generalized", "eta2_partial")]
        degrees = f"{row['df1']}, {row['df2']}"
        tests.add_row(row["effect"], degrees, f"{row['F']:.2f}", *p_values, *etas)
        epsilons = [_number(row[key]) for key in ("eps_gg", "eps_hf")]
        mauchly = (share(row["mauchly_w"]), p_value(row["mauchly_p"]))
        sphericity.add_row(row["effect"], *mauchly, *epsilons)
    console.print(tests)
    console.print(sphericity)
    console.print(
        f"{anova.attrs['subjects']} models. G–G, H–F: Greenhouse–Geisser's and Huynh–Feldt's "
        "corrections; η²G, η²p: generalized and partial eta squared.\n",
        style="dim",
    )
    left_out = words.left_out_words(anova.attrs["left_out"])
    for sentence in left_out[:_NAMED]:
        console.print(f"left out of the ANOVA: {sentence}", style="yellow", markup=False)
    if len(left_out) > _NAMED:
        more = len(left_out) - _NAMED
        console.print(f"and {more} more models: see left_out.csv", style="yellow", markup=False)
    if results.scores[results.measures[0]].isna().any():
        _print_mixed_model(results, console)


def _print_mixed_model(results: Results, console: Console) -> None:
    """The same effects from all cells there are, for when the ANOVA leaves models out."""
    try:
        mixed = results.mixed()
    except ValueError as error:
        console.print(f"No mixed model: {error}.\n", markup=False)
        return
    tests = _table("Mixed model, models at random, from all cells there are", "effect")
    for heading in ("df", "F", "p"):
        tests.add_column(heading, justify="right")
    for row in mixed.to_dict("records"):
        degrees = f"{row['df1']}, {row['df2']:.1f}"
        effect = row["effect"].replace(":", " × ")
        tests.add_row(effect, degrees, f"{row['F']:.2f}", p_value(row["p"]))
    console.print(tests)
    note = f"; {mixed.attrs['note']}" if mixed.attrs["note"] else ""
    console.print(
        f"REML, Satterthwaite's degrees of freedom; like the uncorrected ANOVA it supposes "
        f"sphericity; {mixed.attrs['values']} cells of "
        f"{mixed.attrs['subjects']} models, {mixed.attrs['missing']} missing{note}.\n",
        style="dim",
        markup=False,
    )


def _print_verdicts(
    results: Results, pairs: pd.DataFrame, intervals: pd.DataFrame, console: Console
) -> None:
    if pairs.empty:
        return
    analysis = results.settings["analysis"]
    holm = analysis["adjustment"] == "holm"
    info, models = results.info(), results.settings["models"]
    found = words.verdicts(pairs, intervals, info, analysis["confidence"], holm, models)
    console.print("[bold]Who beats whom[/bold]")
    for size, sentences in found.items():
        for index, sentence in enumerate(sentences):
            lead = f"{size:>8,} rows: " if index == 0 else " " * 15
            console.print(f"{lead}{sentence}", highlight=False, markup=False, soft_wrap=True)
    console.print(
        f"{words.pair_words(results, pairs)}; numbers are in favour of the learner named first.\n",
        style="dim",
    )


def _print_thresholds(results: Results, console: Console) -> None:
    found = results.thresholds()
    if found.empty:
        return
    console.print("[bold]Who overtakes whom[/bold]")
    if len(results.learners) > words.MANY_LEARNERS:
        changes = int(found["before"].notna().sum())
        console.print(
            f"  {changes} changes of who is ahead between {len(results.learners)} learners: see "
            "thresholds.csv.\n",
            highlight=False,
        )
        return
    for sentence in overtaking.threshold_sentences(found, results.settings["models"]):
        console.print(f"  {sentence}", highlight=False, markup=False, soft_wrap=True)
    notes = overtaking.method_words(found, words.confidence_level(results))
    notes = " ".join(part for part in (notes, overtaking.refined_words(results)) if part)
    console.print(f"{notes}\n", style="dim", highlight=False)


def _print_failures(results: Results, console: Console) -> None:
    manifest = results.manifest
    if manifest["failures"]:
        console.print(
            f"{manifest['failures']} of {manifest['cells']} cells failed; see "
            f"{results.directory / 'failures.csv'}.",
            style="yellow",
            markup=False,
        )
    for warning, count in list(manifest["warnings"].items())[:_NAMED]:
        text = f"warned in {count} cells, {warning}"
        console.print(text, style="yellow", markup=False)
    for measure in results.measures[1:]:
        lost = len(results.left_out(measure))
        if lost:
            text = f"{lost} models lack a finite {measure} in some cell; see left_out.csv"
            console.print(text, style="yellow", markup=False)


def _table(title: str, first_column: str) -> Table:
    table = Table(
        title=escape(title),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column(first_column, overflow="fold", max_width=_WIDEST_LABEL)
    return table


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.3f}"
