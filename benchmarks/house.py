"""Counts over the source of the package: length, loose types and filler names.

    python benchmarks/house.py [--rooms] [--base REV]

Lines of code are those without blanks, comments and docstrings; pages are the templates, styles
and scripts in report/templates; a function's lines run from its `def` to its end. Each name `Any`
in an annotation or a type alias counts. A binding is an assigned name, an argument, a variable of a
loop or comprehension, the target of a `with`, the alias of an import, or the name of a function or
class; the last column is the share of fillers among them. With --base, each count at that revision
stands before that of the working tree.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
import tempfile
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
COUNTS = ("code", "pages", "lines", "Any", "getattr", "files>400", "functions>50")
FILLERS = "one ones found given known own other others there said told thing things what some"
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
SILENT |= {tokenize.ENDMARKER}


def span(node: ast.stmt) -> range:
    """The lines of a statement."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def lines_of_code(text: str, tree: ast.Module) -> int:
    """The number of lines without blanks, comments and docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines.difference_update(span(node))
    return len(lines - {n for n, line in enumerate(text.splitlines(), 1) if not line.strip()})


def annotation(node: ast.AST) -> ast.expr | None:
    """The annotation of a variable, argument or returned value, or a type alias."""
    match node:
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias"), value=expression):
            return expression
        case ast.AnnAssign(annotation=expression) | ast.arg(annotation=expression):
            return expression
        case ast.FunctionDef(returns=expression) | ast.AsyncFunctionDef(returns=expression):
            return expression
    return None


def count(path: Path) -> Counter[str]:
    """The counts of a file."""
    text = path.read_text(encoding="utf-8")
    totals = Counter(lines=len(text.splitlines()))
    if path.suffix != ".py":
        return totals + Counter(pages=totals["lines"] * (path.parent.name == "templates"))
    tree = ast.parse(text)
    totals.update({"code": lines_of_code(text, tree), "files>400": totals["lines"] > 400})
    names: list[str] = []
    for node in ast.walk(tree):
        if expression := annotation(node):
            totals["Any"] += [getattr(n, "id", "") for n in ast.walk(expression)].count("Any")
        match node:
            case ast.Call(func=ast.Name(id="getattr")):
                totals["getattr"] += 1
            case ast.FunctionDef(name=n) | ast.AsyncFunctionDef(name=n):
                totals["functions>50"] += len(span(node)) > 50
                names.append(n)
            case ast.ClassDef(name=n) | ast.arg(arg=n) | ast.alias(asname=str(n)):
                names.append(n)
            case ast.Name(id=n, ctx=ast.Store()):
                names.append(n)
    fillers = sum(name.strip("_") in FILLERS.split() for name in names)
    return totals + Counter(bindings=len(names), fillers=fillers)


def survey(root: Path, by_room: bool) -> defaultdict[str, Counter[str]]:
    """The counts of the package, and of each of its rooms."""
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in (root / "simstudy").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            room, *inner = path.relative_to(root / "simstudy").parts
            for row in ("total", room if inner else "(files)") if by_room else ("total",):
                rooms[row].update(count(path))
    return rooms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rooms", action="store_true", help="a row for each subpackage")
    parser.add_argument("--base", metavar="REV", help="a revision to compare with")
    options = parser.parse_args()
    surveys = [survey(ROOT, options.rooms)]
    if options.base:
        command = ["git", "-C", str(ROOT), "archive", options.base, "simstudy"]
        archive = io.BytesIO(subprocess.run(command, check=True, capture_output=True).stdout)
        with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=archive) as files:
            files.extractall(folder, filter="data")
            surveys.insert(0, survey(Path(folder), options.rooms))
    print(f"{'':<12}" + "".join(f"{name:>16}" for name in (*COUNTS, "fillers")))
    for room in sorted(set().union(*surveys), key=lambda room: (room == "total", room)):
        rows = [rooms[room] for rooms in surveys]
        shares = [f"{row['fillers'] / max(1, row['bindings']):.1%}" for row in rows]
        texts = [*([str(row[name]) for row in rows] for name in COUNTS), shares]
        print(f"{room:<12}" + "".join(f"{' -> '.join(t):>16}" for t in texts))


if __name__ == "__main__":
    main()
