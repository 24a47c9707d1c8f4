"""How a study of thousands of models goes: memory of the parent, pace, and analysis.

    python benchmarks/scale.py [--models 10000] [--jobs 2]

Models of the TAN family, 2 training sizes, 3 learners. The parent's memory is the most it ever
held, by the system's own account (Linux); the pace is that of the log, the first thousand models
against the last; the report is then made once more, by a process that finds the scores there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study, log = Path(folder) / "scale.toml", Path(folder) / "run.jsonl"
        study.write_text(STUDY.format(models=options.models), encoding="utf-8")
        place = ["--out", Path(folder) / "out"]
        seconds, memory = run(study, *place, "--jobs", options.jobs, "--log", log, "--quiet")
        steps = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        times = [step["seconds"] for step in steps if step["event"] == "model"]
        tenth = len(times) // 10
        # The first few wait for the workers to start.
        first = times[tenth + 10] - times[10]
        last = times[-1] - times[-1 - tenth]
        print(f"{options.models:,} models, {6 * options.models:,} cells, {options.jobs} jobs")
        print(f"run and report      {seconds:8.1f} s, parent held {memory:.0f} MB")
        print(f"last/first tenth    {last / first:8.3f} of the time")
        (Path(folder) / "out" / "anova.csv").unlink()
        seconds, memory = run(study, *place)
        print(f"analysis and report {seconds:8.1f} s, held {memory:.0f} MB")


if __name__ == "__main__":
    main()
