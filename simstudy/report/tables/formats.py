"""Tables as HTML, LaTeX and Markdown."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from simstudy.report.charts.svg import element
from simstudy.report.tables.table import Table, TableCell
from simstudy.results.read.model_analyses import ModelResults
from simstudy.texts import on_one_line

_MANY = 8  # columns; tables on pages with more are set closer
_LONG = 40  # rows; a table with more goes over several pages
_WIDE = 40  # letters; longer texts are broken
_ACROSS = 6  # columns of numbers that fit beside each other where a table may be cut
_LINE = 95  # letters of a row that fit side by side in small type

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


def notebook_summary(results: ModelResults) -> str:
    """Write a study's design and means, for notebooks."""
    study, page = results.study, results.study.page
    text, each = Markup("<strong>{}</strong><p>{}.</p>{}"), Markup("<p>{}</p>{}<p>{}</p>")
    tables = [each.format(t.title, as_html(t), t.caption) for t in page.means(results)]
    return str(text.format(study.heading, page.design(study), Markup("").join(tables)))


def latex_text(text: str) -> str:
    """Write text for LaTeX: signs escaped, Greek and mathematical letters in math."""
    return re.sub(r"(?<!\\)\$\$", "", on_one_line(text).translate(_LATEX))


def as_latex(table: Table, note: str, label: str) -> str:
    """Write a table for a paper, with a note below; it needs booktabs, and longtable if long."""
    parts = []
    long = len(table.rows) > _LONG
    below = rf"\par\smallskip{{\footnotesize\raggedright {latex_text(note)}\par}}"
    pieces = [*table.pieces(_ACROSS)]
    for number, piece in enumerate(pieces):
        notes = [below] * (piece is pieces[-1])
        text = "(continued)" if number else latex_text(f"{table.title}.")
        named = f"\\caption{{{text}}}" + f"\\label{{{label}}}" * (number == 0)
        head, shape, rows = _latex_row(piece.heads), _shape(piece), enumerate(piece.rows)
        lines = [r"\midrule " * (place in table.rules) + _latex_row(row) for place, row in rows]
        # A continuation has the number of the table that it continues.
        again = [r"\addtocounter{table}{-1}"] * (number > 0)
        size = r"\small" if _letters(piece) <= _LINE else r"\scriptsize\setlength{\tabcolsep}{3pt}"
        if long:
            top = [rf"\begin{{longtable}}{{{shape}}}", rf"{named} \\"]
            top += [r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"]
            parts += [*again, rf"{{{size}", *top, *lines, r"\end{longtable}}", *notes]
        else:
            top = [r"\begin{table}[tbp]", *again, r"\centering", named, size]
            top += [rf"\begin{{tabular}}{{{shape}}}", r"\toprule", head, r"\midrule"]
            parts += [*top, *lines, r"\bottomrule", r"\end{tabular}", *notes, r"\end{table}"]
    packages = "booktabs" + ", longtable" * long
    start = [f"% needs \\usepackage{{{packages}}}"]
    # pdfLaTeX knows only the letters of European languages.
    if letters := sorted({letter for letter in "".join(parts) if ord(letter) > 0x17F}):
        start.append(f"% has letters that only XeLaTeX and LuaLaTeX know: {' '.join(letters)}")
    return "\n".join([*start, *parts]) + "\n"


def _letters(table: Table) -> int:
    """The width of a table in letters, with two between columns; long texts are broken."""
    texts = (
        [len(f"{c.text} {c.more}".strip()) for c in column]
        for column in zip(table.heads, *table.rows, strict=True)
    )
    return sum(min(max(lengths, default=0), _WIDE) + 2 for lengths in texts)


def _shape(table: Table) -> str:
    """The kinds of columns: numbers to the right, texts to the left, long ones on several lines."""
    shape = ""
    for column in zip(*table.rows, strict=True):
        wide = max(len(cell.text) for cell in column) > _WIDE
        words = all(cell.kind == "t" for cell in column)
        across = 0.7 if len(table.heads) == 2 else 0.3
        shape += "r" if not words else rf"p{{{across}\linewidth}}" if wide else "l"
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
