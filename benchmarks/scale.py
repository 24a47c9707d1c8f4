"""How a study of very many models goes: pace, memory of the parent, and analysis.

    python benchmarks/scale.py [--models 100000] [--processes-only]

Models of the TAN family, 2 training sizes, Naive Bayes, TAN and AODE: first on two processes of
this machine, then on a Dask cluster of a scheduler and two worker processes, which must give the
same bytes. A time is that of a whole command, from its start until the scores are on disk; the
report is then made by a command of its own. The parent's memory is the most that it ever held, by
the system's own account (Linux); the pace is that of the log, the last tenth of the models against
the first.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

JOBS = 2
STUDY = """
name = "scale"
models = {models}

[family]
name = "tan"

[data]
train_sizes = [50, 500]

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "tan"
label = "TAN"

[[learners]]
name = "aode"
label = "AODE"
"""


def run(*arguments: object) -> tuple[float, float]:
    """Seconds that a command takes, and the most memory in MB that its own process held."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "simstudy.run", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def pace(log: Path) -> float:
    """The time of the last tenth of the models to that of the first."""
    steps = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    times = [step["seconds"] for step in steps if step["event"] == "model"]
    tenth = len(times) // 10
    first = times[tenth + 10] - times[10]  # the first few wait for the workers to start
    return (times[-1] - times[-1 - tenth]) / first


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler with two worker processes."""
    with contextlib.ExitStack() as stack:

        def start(program: str, *options: str) -> subprocess.Popen[str]:
            command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *options]
            command += ["--no-dashboard"]
            process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
        assert scheduler.stderr is not None
        lines = iter(scheduler.stderr.readline, "")
        address = next(m[1] for line in lines if (m := re.search(r"(tcp://127\S+)", line)))
        for _ in range(JOBS):
            start("worker", address, "--nthreads", "1", "--no-nanny")
        yield address


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=100_000)
    parser.add_argument("--processes-only", action="store_true", help="leave Dask out")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        study = folder / "scale.toml"
        study.write_text(STUDY.format(models=given.models), encoding="utf-8")
        print(f"{given.models:,} models, {6 * given.models:,} cells, {JOBS} workers")
        print(f"{'':<10}  {'seconds':>8}  {'parent MB':>9}  {'last/first tenth':>16}")

        def timed(backend: str, *options: object) -> float:
            log = folder / f"{backend}.jsonl"
            place = ("--out", folder / backend, "--no-report", "--quiet", "--log", log)
            seconds, memory = run(study, *place, *options)
            print(f"{backend:<10}  {seconds:>8.1f}  {memory:>9.0f}  {pace(log):>16.3f}", flush=True)
            return seconds

        alone = timed("processes", "--jobs", JOBS)
        if find_spec("distributed") is None:
            print("the package distributed is missing: Dask is left out")
        elif not given.processes_only:
            with cluster(folder) as address:
                shared = timed("dask", "--backend", "dask", "--address", address)
            scores = [
                (folder / name / "scores.parquet").read_bytes() for name in ("processes", "dask")
            ]
            if scores[0] != scores[1]:
                raise SystemExit("the scores by processes and by Dask differ")
            print(f"dask takes {shared / alone:.2f} times the time of processes; the same bytes")
        seconds, memory = run(study, "--out", folder / "processes")
        print(f"{'report':<10}  {seconds:>8.1f}  {memory:>9.0f}")


if __name__ == "__main__":
    main()
