"""Whether small studies of every kind give the same files at two commits.

    python benchmarks/same.py --base REV [--only NAME ...] [--keep DIR] [--pages-may-differ]

Runs the studies of `same_studies.py` with the code of the commit REV and with that of the working
tree, by the same interpreter, and compares every file. Data (Parquet, CSV, journals of cells) must
be the same bytes; pages (all other files, and what commands print) are compared after durations,
versions and paths have been replaced. With `--keep`, the outputs of REV are computed once, and
those of the working tree stay in DIR, too. The exit code is 1 if anything differs.

Not compared, since they differ from run to run or with the lines of the code: seconds in
`timings.parquet`, `cells.jsonl` and pages, with their charts; tracebacks in `failures.csv` and
`cells.jsonl`; the order, the checksums and the version in the lines of `cells.jsonl`; seconds,
versions, platform and the checksums of timings and failures in `manifest.json`.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from pathlib import Path

import pandas as pd
from same_studies import COMMANDS, DATA_SETS, FILES

ROOT = Path(__file__).resolve().parents[1]
WRONG_TREE = 99
EXPECTED = dict.fromkeys(COMMANDS, (0,)) | {"faults": (0, 3), "words": (0, 2)}  # exit codes
# Ends with WRONG_TREE unless simstudy is of the tree that comes first among the arguments.
COMMAND = f"""
import pathlib, runpy, sys, simstudy
if pathlib.Path(sys.argv.pop(1)) not in pathlib.Path(simstudy.__file__).resolve().parents:
    print("simstudy is imported from", simstudy.__file__)
    sys.exit({WRONG_TREE})
runpy.run_module("simstudy", run_name="__main__", alter_sys=True)
"""
DATA = (".parquet", ".csv", ".jsonl")
PLAIN = (".png", ".pdf")
VOLATILE = [
    (r'<svg[^>]*aria-labelledby="(?:seconds|time)-.*?</svg>', "<svg/>"),
    (r'("seconds\.csv": )"(\\.|[^"\\])*"', r"\1"),
    (r"(_seconds = )\S+", r"\1TIME"),
    (r"\d[\d.,]*(e-\d+)?[ \u00a0]?(ns|µs|ms|s|min|h|seconds?|minutes?|hours?)\b", "TIME"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z-]*", "DATE"),
    (r'("simstudy": |simstudy )"?\d+\.\d+\.\d+\w*"?', r"\1VERSION"),
]
MANIFEST = ("seconds", "packages", "python", "platform", "processor")


def run_study(name: str, tree: Path, folder: Path, is_base: bool) -> None:
    """Run the commands of a study with the code of a tree; what they print is kept in files."""
    (folder / "data").mkdir(parents=True)
    (folder / "printed").mkdir()
    for data in DATA_SETS:
        shutil.copy(ROOT / "studies" / "data" / "uci" / data, folder / "data")
    for file, text in FILES.items():
        (folder / file).write_text(text, encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "160", "PYTHONUTF8": "1"}
    for number, command in enumerate(COMMANDS[name].strip().splitlines()):
        line = [sys.executable, "-P", "-c", COMMAND, str(tree), *shlex.split(command)]
        done = subprocess.run(line, cwd=folder, env=variables, capture_output=True, text=True)
        text = f"$ simstudy {command.strip()}\n{done.stdout}\n{done.stderr}\n"
        text += f"exit code {done.returncode}\n"
        if done.returncode == WRONG_TREE or (is_base and done.returncode not in EXPECTED[name]):
            raise SystemExit(text)
        file = f"{number:02}-{command.split()[0].strip('-')}.txt"
        (folder / "printed" / file).write_text(text, encoding="utf-8")


def base_study(name: str, tree: Path, kept: Path) -> Path:
    """The folder of a study at the base: run, unless it was with the same study and packages."""
    packages = sorted({f"{one.name} {one.version}" for one in distributions()})
    state = repr((FILES, COMMANDS[name], DATA_SETS, COMMAND, sys.version, packages))
    folder = kept / f"{name}-{hashlib.sha256(state.encode()).hexdigest()[:12]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=kept) as place:
            run_study(name, tree, Path(place) / name, True)
            if not folder.exists():  # another process may have been faster
                (Path(place) / name).rename(folder)
    return folder


def check_out(revision: str, tree: Path) -> None:
    """Put the files of a commit into a directory, unless they are there."""
    if not tree.exists():
        with tempfile.TemporaryDirectory(dir=tree.parent) as place:
            archive = Path(place) / "tree.tar"
            subprocess.run(["git", "archive", "-o", archive, revision], cwd=ROOT, check=True)
            with tarfile.open(archive) as packed:
                packed.extractall(Path(place) / "tree", filter="data")
            (Path(place) / "tree").rename(tree)


def comparable(path: Path, paths: list[Path]) -> bytes | str:
    """What is compared of a file."""
    if path.stem == "scores_against_time":
        return ""
    if path.name == "timings.parquet":
        frame = pd.read_parquet(path)
        seconds = [column for column in frame if column.endswith("seconds")]
        return frame.drop(columns=seconds).to_csv() + f"{seconds}"
    if path.name == "failures.csv":
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        return frame.drop(columns="traceback", errors="ignore").to_csv()
    if path.name == "cells.jsonl":
        lines = path.read_text(encoding="utf-8").splitlines()
        cells = [json.loads(line.partition(" ")[2]) for line in lines]
        return "\n".join(sorted(json.dumps(_without_times(cell), indent=0) for cell in cells))
    if path.suffix in (*DATA, *PLAIN, ".gz"):
        return path.read_bytes()
    text = path.read_text(encoding="utf-8")
    if path.name == "manifest.json":
        manifest = json.loads(text)
        for file in ("timings.parquet", "failures.csv"):
            manifest.get("checksums", {}).pop(file, None)
        text = json.dumps({k: v for k, v in manifest.items() if k not in MANIFEST}, indent=1)
    for place in paths:
        text = text.replace(str(place), "PATH")
    for pattern, replacement in VOLATILE:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    if path.suffix == ".html":  # space beside tags is not shown
        text = re.sub(r"\s*(</?[^>]*>)\s*", r"\1\n", text)
    return text


def _without_times(entry: object) -> object:
    """An entry of the journal without seconds, tracebacks (lines of code) and the version."""
    if isinstance(entry, dict):
        left_out = ("fit_seconds", "predict_seconds", "traceback", "simstudy")
        return {key: _without_times(entry[key]) for key in entry if key not in left_out}
    return [_without_times(part) for part in entry] if isinstance(entry, list) else entry


def difference(name: str, before: bytes | str, after: bytes | str, limit: int) -> list[str]:
    """The first lines of a difference, to be read; of a page its text, or else its markup."""
    if isinstance(before, bytes) or isinstance(after, bytes):
        if not name.endswith(".csv"):
            return ["the bytes differ"]
        before, after = bytes(before).decode(), bytes(after).decode()  # type: ignore[arg-type]
    if name.endswith(".html"):
        texts = [html.unescape(re.sub(r"<[^>]*>", "\n", text)) for text in (before, after)]
        texts = [text.replace(r"\n", "\n") for text in texts]  # tables in scripts
        texts = [re.sub(r"\s*\n\s*", "\n", text) for text in texts]
        if texts[0] == texts[1]:
            texts = [text.replace(">", ">\n") for text in (before, after)]
        before, after = texts
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "base", "here", "", "", 0, ""
    )
    return [line[:200] for line in list(lines)[2:]][:limit]


def columns_that_differ(before: Path, after: Path) -> list[str]:
    """What differs between two Parquet files."""
    frames = pd.read_parquet(before), pd.read_parquet(after)
    if list(frames[0]) != list(frames[1]) or len(frames[0]) != len(frames[1]):
        return [f"{len(frame)} rows, columns {', '.join(frame)}" for frame in frames]
    lines = []
    for column in frames[0]:
        old, new = (frame[column].map(repr) for frame in frames)
        rows = (old != new).to_numpy().nonzero()[0]
        if len(rows):
            first = f"{old.iloc[rows[0]]} -> {new.iloc[rows[0]]}"
            lines.append(f"{column}: {len(rows)} of {len(old)} rows, first row {rows[0]}: {first}")
    return [line[:200] for line in lines] or ["the values are the same; the bytes differ"]


def compare(name: str, folders: tuple[Path, Path], paths: list[Path], limit: int) -> list[object]:
    """Print the differences of a study; its row of the table."""
    files = [
        {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        - {*FILES, *(f"data/{data}" for data in DATA_SETS)}
        for folder in folders
    ]
    same, differing = {True: 0, False: 0}, {True: 0, False: 0}  # by whether a file is data
    for file in sorted(files[0] | files[1]):
        is_data = file.endswith(DATA)
        before, after = (folder / file for folder in folders)
        if file not in files[0] & files[1]:
            lines = [f"only {'at the base' if before.exists() else 'in the working tree'}"]
        else:
            old, new = (
                comparable(path, [folder, *paths])
                for path, folder in zip((before, after), folders, strict=True)
            )
            if old == new:
                same[is_data] += 1
                continue
            parquet = file.endswith(".parquet")
            lines = (
                columns_that_differ(before, after) if parquet else difference(file, old, new, limit)
            )
        differing[is_data] += 1
        print(f"{name}/{file} differs ({'data' if is_data else 'page'})")
        print("".join(f"    {line}\n" for line in lines), flush=True, end="")
    counts = [count[kind] for kind in (True, False) for count in (same, differing)]
    return [name, sum(counts), *counts]


def run_both(names: list[str], revision: str, place: Path, limit: int) -> list[list[object]]:
    """Run studies at a commit and in the working tree, and compare them: the rows of the table."""
    kept, here = place / revision[:12], place / f"here-{ROOT.name}"
    kept.mkdir(parents=True, exist_ok=True)
    tree = kept / "tree"
    check_out(revision, tree)
    rows = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        bases, ours = [], []
        for name in names:
            shutil.rmtree(here / name, ignore_errors=True)
            bases.append(pool.submit(base_study, name, tree, kept))
            ours.append(pool.submit(run_study, name, ROOT, here / name, False))
        try:
            for name, base, our in zip(names, bases, ours, strict=True):
                our.result()
                rows.append(compare(name, (base.result(), here / name), [tree, ROOT], limit))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    option = parser.add_argument
    option("--base", required=True, metavar="REV", help="the commit to compare with")
    option("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), metavar="NAME")
    option("--keep", type=Path, metavar="DIR", help="where outputs are kept")
    option("--pages-may-differ", action="store_true", help="do not count them in the exit code")
    option("--lines", type=int, default=12, help="the most lines shown of a difference")
    options = parser.parse_args()
    started = time.perf_counter()
    asked = ["git", "rev-parse", f"{options.base}^{{commit}}"]
    revision = subprocess.check_output(asked, cwd=ROOT, text=True).strip()
    with tempfile.TemporaryDirectory() as place:
        folder = (options.keep or Path(place)).resolve()
        rows = run_both(options.only, revision, folder, options.lines)
    heads = ["study", "files", "data same", "data differ", "pages same", "pages differ"]
    table = pd.DataFrame(rows, columns=heads)
    print(table.to_string(index=False))
    print(f"{time.perf_counter() - started:.0f} s")
    pages = 0 if options.pages_may_differ else table["pages differ"].sum()
    sys.exit(int(table["data differ"].sum() + pages > 0))


if __name__ == "__main__":
    main()
