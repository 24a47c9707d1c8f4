"""A study's findings for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from simstudy.report import words

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results import Results


def print_summary(results: Results, console: Console) -> None:
    """Print means, ANOVA and verdicts of the primary measure."""
    settings, info = results.settings, results.info()
    intervals, pairs = results.intervals(), results.pairwise()
    console.print(settings["title"] or settings["name"], style="bold", markup=False)
    console.print(f"{words.design(results)}.", markup=False)
    console.print(f"{words.conventions(results)}.\n", markup=False)
    console.print(_means_table(intervals, words.axis_label(info)))
    console.print(f"± half-width of {words.interval_words(results, intervals)}.\n", style="dim")
    _print_anova(results, console)
    _print_verdicts(results, pairs, console)
    _print_failures(results, console)


def _means_table(intervals: pd.DataFrame, label: str) -> Table:
    table = _table(f"Mean {label} by training rows", "learner")
    sizes = list(dict.fromkeys(intervals["size"]))
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    for learner, rows in intervals.groupby("learner", sort=False):
        half_width = (rows["upper"] - rows["lower"]) / 2
        cells = [
            f"{mean:.4f} ± {half:.4f}" for mean, half in zip(rows["mean"], half_width, strict=True)
        ]
        table.add_row(escape(str(learner)), *cells)
    return table


def _print_anova(results: Results, console: Console) -> None:
    try:
        anova = results.anova()
    except ValueError as error:
        console.print(f"No ANOVA: {error}.\n")
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
        p_values = [_p(row[key]) for key in ("p", "p_gg", "p_hf")]
        etas = [_number(row[key]) for key in ("eta2_generalized", "eta2_partial")]
        degrees = f"{row['df1']}, {row['df2']}"
        tests.add_row(row["effect"], degrees, f"{row['F']:.2f}", *p_values, *etas)
        epsilons = [_number(row[key]) for key in ("eps_gg", "eps_hf")]
        mauchly = (_number(row["mauchly_w"]), _p(row["mauchly_p"]))
        sphericity.add_row(row["effect"], *mauchly, *epsilons)
    console.print(tests)
    console.print(sphericity)
    console.print(
        f"{anova.attrs['subjects']} models. G–G, H–F: Greenhouse–Geisser's and Huynh–Feldt's "
        "corrections; η²G, η²p: generalized and partial eta squared.\n",
        style="dim",
    )
    for sentence in words.left_out_words(anova.attrs["left_out"]):
        console.print(f"left out of the ANOVA: {sentence}", style="yellow")


def _print_verdicts(results: Results, pairs: pd.DataFrame, console: Console) -> None:
    if pairs.empty:
        return
    found = words.verdicts(pairs, results.info(), results.settings["analysis"]["confidence"])
    console.print("[bold]Who beats whom[/bold]")
    for size, sentences in found.items():
        for index, sentence in enumerate(sentences):
            lead = f"{size:>8,} rows: " if index == 0 else " " * 15
            console.print(f"{lead}{escape(sentence)}", highlight=False, soft_wrap=True)
    console.print(f"{words.pair_words(results, pairs)}.\n", style="dim")


def _print_failures(results: Results, console: Console) -> None:
    count = results.manifest["failures"]
    if count:
        console.print(
            f"{count} of {results.manifest['cells']} cells failed; see "
            f"{results.directory / 'failures.csv'}.",
            style="yellow",
        )


def _table(title: str, first_column: str) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    table.add_column(first_column, no_wrap=True)
    return table


def _p(value: float) -> str:
    if value != value:
        return "–"
    return "< .0001" if value < 1e-4 else f"{value:.4f}"


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.3f}"
