"""Tables as LaTeX, Markdown and CSV."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simstudy.texts import on_one_line

if TYPE_CHECKING:
    import pandas as pd

_LONG = 40  # rows; a LaTeX table with more goes over several pages
_WIDE = 40  # letters; longer words are broken
_ACROSS = 5  # columns of numbers that fit beside each other where a table can be cut

_ASCII = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_SIGNS = {
    "±": r"\pm", "−": "-", "×": r"\times", "·": r"\cdot", "∞": r"\infty", "≤": r"\leq",
    "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "→": r"\to", "√": r"\surd", "∑": r"\sum",
    "∈": r"\in", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "°": r"^{\circ}",
    "†": r"^{\dagger}", "χ": r"\chi", "α": r"\alpha", "β": r"\beta", "γ": r"\gamma",
    "δ": r"\delta", "ε": r"\varepsilon", "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta",
    "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "µ": r"\mu", "ν": r"\nu",
    "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "ς": r"\varsigma", "τ": r"\tau",
    "υ": r"\upsilon", "φ": r"\varphi", "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma",
    "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi", "Σ": r"\Sigma",
    "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega",
}  # fmt: skip
_RAISED = {"⁰¹²³⁴⁵⁶⁷⁸⁹⁻"[place]: f"^{{{sign}}}" for place, sign in enumerate("0123456789-")}
_LOWERED = {chr(0x2080 + digit): f"_{{{digit}}}" for digit in range(10)}
_MATH = {**_SIGNS, **_RAISED, **_LOWERED}
_TEXT = {
    **_ASCII,
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
}
_TEXT |= {"\u00a0": "~", "\u200b": ""}
_MARKDOWN = re.compile(r"([\\|*_`\[\]<>#~$])")


@dataclass(frozen=True)
class Cell:
    """What stands in a cell: plain text, perhaps bold, perhaps with a dagger."""

    text: str
    bold: bool = False
    dagger: bool = False


@dataclass
class Table:
    """A table to be printed.

    Attributes
    ----------
    name : str
        The file's, without its ending.
    caption : str
        What it shows, over what, and which family its intervals belong to.
    columns : list of str
        The headings.
    rows : list of list of Cell
        What stands below them.
    data : DataFrame
        The same with all digits, for CSV.
    texts : int
        How many columns, from the left, hold words.
    cut : bool
        Whether a table too wide for a page may be cut into several with the same first columns.
    rules : set of int
        The rows above which there is a line.
    """

    name: str
    caption: str
    columns: list[str]
    rows: list[list[Cell]]
    data: pd.DataFrame
    texts: int = 1
    cut: bool = False
    rules: set[int] = field(default_factory=set)

    def pieces(self) -> Iterator[tuple[list[str], list[list[Cell]]]]:
        """Headings and rows, in as many pieces as the width of a page makes of them."""
        step = _ACROSS if self.cut else max(len(self.columns), 1)
        for start in range(self.texts, len(self.columns), step):
            kept = [*range(self.texts), *range(start, min(start + step, len(self.columns)))]
            yield (
                [self.columns[place] for place in kept],
                [[row[place] for place in kept] for row in self.rows],
            )


def latex_text(text: str) -> str:
    """Text as LaTeX shows it: signs escaped, Greek and mathematical letters in math."""
    words = []
    for is_math, letters in itertools.groupby(on_one_line(text), _MATH.__contains__):
        if is_math:
            words.append(f"${''.join(_MATH[letter] for letter in letters)}$")
        else:
            words += [_TEXT.get(letter, letter) for letter in letters]
    return "".join(words)


def markdown_text(text: str) -> str:
    """Text as Markdown shows it."""
    return _MARKDOWN.sub(r"\\\1", on_one_line(text)).replace("&", "&amp;")


def as_latex(table: Table, label: str) -> str:
    """The table for a paper, with its caption; it needs booktabs, and longtable if it is long."""
    parts = []
    long = len(table.rows) > _LONG
    for number, (columns, rows) in enumerate(table.pieces()):
        caption = latex_text(table.caption) if number == 0 else "(continued)"
        named = f"\\caption{{{caption}}}" + f"\\label{{{label}}}" * (number == 0)
        head = _latex_row([Cell(column) for column in columns])
        lines = [
            r"\midrule " * (place in table.rules) + _latex_row(row)
            for place, row in enumerate(rows)
        ]
        shape = _shape(rows, table.texts)
        # A continuation has the number of the table that it continues.
        again = [r"\addtocounter{table}{-1}"] * (number > 0)
        if long:
            top = [rf"\begin{{longtable}}{{{shape}}}", rf"{named} \\"]
            top += [r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"]
            parts += [*again, r"{\small", *top, *lines, r"\end{longtable}}"]
        else:
            top = [r"\begin{table}[tbp]", *again, r"\centering", named, r"\small"]
            top += [rf"\begin{{tabular}}{{{shape}}}", r"\toprule", head, r"\midrule"]
            parts += [*top, *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    packages = "booktabs" + ", longtable" * long
    start = [f"% needs \\usepackage{{{packages}}}"]
    if strange := _strange("\n".join(parts)):
        start.append(f"% has letters that only XeLaTeX and LuaLaTeX know: {strange}")
    return "\n".join([*start, *parts]) + "\n"


def _shape(rows: list[list[Cell]], texts: int) -> str:
    """The kinds of columns: numbers to the right, words to the left, long ones on several lines."""
    shape = ""
    for place in range(len(rows[0])):
        wide = max(len(row[place].text) for row in rows) > _WIDE
        shape += "r" if place >= texts else r"p{0.3\linewidth}" if wide else "l"
    return shape


def _latex_row(row: list[Cell]) -> str:
    cells = []
    for cell in row:
        text = latex_text(cell.text)
        text = rf"\textbf{{{text}}}" if cell.bold else text
        cells.append(text + r"$^{\dagger}$" * cell.dagger)
    # After the end of a row LaTeX takes a bracket or a star as an option of that end.
    start = "{}" if cells[0].startswith(("[", "*")) else ""
    return start + " & ".join(cells) + r" \\"


def _strange(text: str) -> str:
    """The letters beyond those of European languages, which pdfLaTeX knows."""
    return " ".join(sorted({letter for letter in text if ord(letter) > 0x17F}))


def as_markdown(table: Table) -> str:
    """The table with its caption above it."""
    parts = [f"**Table.** {markdown_text(table.caption)}"]
    for columns, rows in table.pieces():
        numbers = len(columns) - table.texts
        lines = [[markdown_text(column) for column in columns]]
        lines.append([":---"] * table.texts + ["---:"] * numbers)
        lines += [[_markdown_cell(cell) for cell in row] for row in rows]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text)
    return (f"**{text}**" if cell.bold else text) + "†" * cell.dagger
