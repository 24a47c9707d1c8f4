"""Tables as LaTeX."""

from __future__ import annotations

import itertools

from simstudy.report.tables.table import Table, TableCell
from simstudy.texts import on_one_line

_LONG = 40  # rows; a table with more goes over several pages
_WIDE = 40  # letters; longer texts are broken
_ACROSS = 5  # columns of numbers that fit beside each other where a table may be cut

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


def latex_text(text: str) -> str:
    """Write text for LaTeX: signs escaped, Greek and mathematical letters in math."""
    parts = []
    for is_math, letters in itertools.groupby(on_one_line(text), _MATH.__contains__):
        if is_math:
            parts.append(f"${''.join(_MATH[letter] for letter in letters)}$")
        else:
            parts += [_TEXT.get(letter, letter) for letter in letters]
    return "".join(parts)


def as_latex(table: Table, caption: str, label: str) -> str:
    """Write a table for a paper; it needs booktabs, and longtable if it is long."""
    parts = []
    long = len(table.rows) > _LONG
    for place, piece in enumerate(table.pieces(_ACROSS)):
        text = latex_text(caption) if place == 0 else "(continued)"
        named = f"\\caption{{{text}}}" + f"\\label{{{label}}}" * (place == 0)
        head = _row(piece.heads)
        lines = [
            r"\midrule " * (number in table.rules) + _row(row)
            for number, row in enumerate(piece.rows)
        ]
        shape = _shape(piece)
        # A continuation has the number of the table that it continues.
        again = [r"\addtocounter{table}{-1}"] * (place > 0)
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
    # pdfLaTeX knows the letters of European languages only.
    if others := sorted({letter for letter in "".join(parts) if ord(letter) > 0x17F}):
        start.append(f"% has letters that only XeLaTeX and LuaLaTeX know: {' '.join(others)}")
    return "\n".join([*start, *parts]) + "\n"


def _shape(table: Table) -> str:
    """The kinds of columns: numbers to the right, texts to the left, long ones on several lines."""
    shape = ""
    for column in zip(*table.rows, strict=True):
        wide = max(len(cell.text) for cell in column) > _WIDE
        words = all(cell.kind == "t" for cell in column)
        shape += "r" if not words else r"p{0.3\linewidth}" if wide else "l"
    return shape


def _row(row: list[TableCell]) -> str:
    cells = []
    for cell in row:
        text = latex_text(f"{cell.text} {cell.more}")
        text = rf"\textbf{{{text}}}" if cell.bold else text
        cells.append(text + r"$^{\dagger}$" * cell.dagger)
    # After the end of a row LaTeX takes a bracket or a star as an option of that end.
    start = "{}" if cells[0].startswith(("[", "*")) else ""
    return start + " & ".join(cells) + r" \\"
