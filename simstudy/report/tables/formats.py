"""Tables as HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from simstudy.report.charts.svg import element
from simstudy.report.tables.table import Table, TableCell
from simstudy.texts import on_one_line

if TYPE_CHECKING:
    from simstudy.results.read.base import Results

_MANY = 8  # columns; tables on pages with more are set closer
_LONG = 40  # rows; a table with more goes over several pages
_WIDE = 30  # letters; longer texts are broken
_ACROSS = 6  # columns of numbers beside each other in Markdown where a table may be cut
_LINE = 125  # letters of a row in LaTeX where a table may be cut
_SMALL, _SCRIPT = 72, 98  # letters of a row that fit side by side in small and in script type
# What is still wider than its column is made smaller.
SHRUNK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{"

_MATH = {
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
_MATH |= {raised: f"^{{{sign}}}" for raised, sign in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)}
_MATH |= {chr(0x2080 + digit): f"_{{{digit}}}" for digit in range(10)}
_TEXT = {letter: f"\\{letter}" for letter in "{}$&%#_"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "–": "--", "—": "---",
    "…": r"\ldots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "\u00a0": "~", "\u200b": "",
    "\u2060": "{}",
}  # fmt: skip
_LATEX = str.maketrans(_TEXT | {letter: f"${sign}$" for letter, sign in _MATH.items()})
_MARKDOWN = re.compile(r"([\\|*_`\[\]<>#~$&])")


def as_html(table: Table) -> Markup:
    """Write the element of a table, without title and caption."""
    heads = [_head(head) for head in table.heads]
    rows = [_row(row, place in table.rules) for place, row in enumerate(table.rows)]
    lines = [element("thead", element("tr", *heads)), "<tbody>", *rows, "</tbody>"]
    body = Markup("\n").join(["", *map(Markup, lines), ""])
    return element("table", body, class_="many" if len(table.heads) > _MANY else None)


def _of(cell: TableCell) -> str | None:
    """The numbers of its learners, by which a page hides it."""
    return " ".join(map(str, cell.learners)) or None


def _head(head: TableCell) -> Markup:
    text = element("span", head.text, class_="w")
    made = element("th", text, scope="col", class_=head.kind, data_l=_of(head))
    return made if head.text else element("td")


def _row(row: list[TableCell], ruled: bool) -> Markup:
    first, *rest = row
    name = element("span", first.text, class_="w"), _more(first)
    cells = [element("th", *name, scope="row", class_=first.kind)]
    cells += [element("td", _text(c), _more(c), class_=c.kind, data_l=_of(c)) for c in rest]
    return element("tr", *cells, class_="ruled" if ruled else None, data_l=_of(first))


def _text(cell: TableCell) -> Markup:
    if cell.kind == "win" or "t" in cell.kind.split():
        return element("strong" if cell.kind == "win" else "span", cell.text, class_="w")
    text = element("strong", cell.text) if cell.bold else escape(cell.text)
    return text + "†" * cell.dagger


def _more(cell: TableCell) -> Markup:
    return " " + element("span", cell.more, class_="more") if cell.more else Markup()


def notebook_summary(results: Results) -> str:
    """Write a study's design, what it found, and means, for notebooks."""
    study, page = results.study, results.study.page
    text, each = Markup("<strong>{}</strong><p>{}.</p><p>{}</p>{}"), Markup("<p>{}</p>{}<p>{}</p>")
    tables = [each.format(t.title, as_html(t), t.caption) for t in page.means(results)]
    finding = page.finding(results, results.findings())
    return str(text.format(study.heading, page.design(study), finding, Markup("").join(tables)))


def latex_text(text: str) -> str:
    """Write text for LaTeX: signs escaped, Greek and mathematical letters in math."""
    parted = re.sub("-(?=-)", "-\u2060", on_one_line(text))  # two hyphens are no dash
    return re.sub(r"(?<!\\)\$\$", "", parted.translate(_LATEX))


def as_latex(table: Table, note: str, label: str) -> str:
    """Write a table for a paper, with a note below.

    It needs booktabs, and graphicx or, if it is long, longtable.
    """
    parts, name = [], re.sub(r"[^\w:.-]+", "-", label, flags=re.ASCII)
    long = len(table.rows) > _LONG
    below = rf"\par\smallskip{{\footnotesize\raggedright {latex_text(note)}\par}}"
    first, *others = (max(map(_letters, each)) for each in table.columns)
    number = -(-len(others) * (max(others) + 2) // (_LINE - first))
    pieces = [*table.pieces(-(-len(others) // number))]
    for number, piece in enumerate(pieces):
        notes = [below] * (piece is pieces[-1])
        text = "(continued)" if number else latex_text(f"{table.title}.")
        named = f"\\caption{{{text}}}" + f"\\label{{{name}}}" * (number == 0)
        (head, width), shape, rows = _latex_heads(piece), _shape(piece), enumerate(piece.rows)
        lines = [r"\midrule " * (place in table.rules) + _latex_row(row) for place, row in rows]
        # A continuation has the number of the table that it continues.
        again = [r"\addtocounter{table}{-1}"] * (number > 0)
        size = r"\tiny" if long and width > _SCRIPT else r"\scriptsize"
        small = width <= _SMALL and "p" not in shape
        size = r"\small" if small else size + r"\setlength{\tabcolsep}{3pt}"
        top = [r"\toprule", head, r"\midrule"]
        if long:
            parts += [*again, rf"{{{size}", rf"\begin{{longtable}}{{{shape}}}", rf"{named} \\"]
            parts += [*top, r"\endfirsthead", *top, r"\endhead", r"\bottomrule", r"\endfoot"]
            parts += [*lines, r"\end{longtable}}", *notes]
        else:
            parts += [r"\begin{table}[tbp]", *again, r"\centering", rf"{named}\par\smallskip", size]
            parts += [rf"{SHRUNK}\begin{{tabular}}{{{shape}}}", *top, *lines, r"\bottomrule"]
            parts += [r"\end{tabular}}", *notes, r"\end{table}"]
    start = [f"% needs \\usepackage{{booktabs, {'longtable' if long else 'graphicx'}}}"]
    # pdfLaTeX knows only the letters of European languages.
    if letters := sorted({letter for letter in "".join(parts) if ord(letter) > 0x17F}):
        start.append(f"% has letters that only XeLaTeX and LuaLaTeX know: {' '.join(letters)}")
    return "\n".join([*start, *parts]) + "\n"


def _latex_heads(table: Table) -> tuple[str, int]:
    """The row of heads, and the width of the table in letters, with two between columns.

    In a wide table, heads that are longer than all cells below are broken.
    """
    wide = sum(max(map(_letters, column)) + 2 for column in table.columns) > _SMALL
    width, texts = 0, list[str]()
    for head, *cells in table.columns:
        below = [*map(_letters, cells)]
        most = max(1, *below, *map(len, head.text.split())) if wide else len(head.text) + 1
        lines = wrap(head.text, most) or [""]
        width += max(*map(len, lines), *below) + 2
        text = r"\\{}".join(map(latex_text, lines))
        side = "l" if head.kind == "t" else "r"
        texts.append(rf"\shortstack[{side}]{{{text}}}" if len(lines) > 1 else text)
    return " & ".join(texts) + r" \\", width


def _letters(cell: TableCell) -> int:
    """The width of a cell in letters; long texts are broken."""
    return min(len(f"{cell.text} {cell.more}".strip()), _WIDE)


def _shape(table: Table) -> str:
    """The kinds of columns: numbers to the right, texts to the left, long ones on several lines."""
    shape = ""
    wide = [max(len(cell.text) for cell in column) > _WIDE for column in table.columns]
    across = 0.7 if len(wide) == 2 else 0.2 if len(table.rows) > _LONG else 0.3
    for column, broken in zip(table.columns, wide, strict=True):
        words = all(cell.kind == "t" for cell in column)
        shape += "r" if not words else rf"p{{{across}\linewidth}}" if broken else "l"
    return shape


def _latex_row(row: list[TableCell]) -> str:
    cells = []
    for cell in row:
        text = latex_text(f"{cell.text} {cell.more}")
        text = rf"\textbf{{{text}}}" if cell.bold else text
        cells.append(text + r"$^{\dagger}$" * cell.dagger)
    # After the end of a row LaTeX takes a bracket or a star as an option of that end.
    start = "{}" if cells[0].startswith(("[", "*")) else ""
    return start + " & ".join(cells) + r" \\"


def markdown_text(text: str) -> str:
    """Write text for Markdown, on one line."""
    return _MARKDOWN.sub(r"\\\1", on_one_line(text))


def as_markdown(table: Table, note: str) -> str:
    """Write a table with its title above and a note below it."""
    parts = [f"**Table.** {markdown_text(table.title)}."]
    for piece in table.pieces(_ACROSS):
        lines = [[_cell(head) for head in piece.heads]]
        lines.append([":---" if head.kind == "t" else "---:" for head in piece.heads])
        lines += [[_cell(cell) for cell in row] for row in piece.rows]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join([*parts, markdown_text(note)]) + "\n"


def _cell(cell: TableCell) -> str:
    text = markdown_text(f"{cell.text} {cell.more}")
    return (f"**{text}**" if cell.bold else text) + "†" * cell.dagger
