"""C4.5 beside Weka's J48: fit, then answer 1000 rows, on TAN models of 8 variables.

    python benchmarks/c45.py [--weka /usr/share/java/weka.jar]

Both see the same data sets, each in one process that goes through all of them several times; the
first passes warm up. They take turns, so that a slow spell of the machine meets both. A data set's
time is its best pass, a figure the mean over data sets. Weka and Java must be installed (Debian:
apt install weka).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from simstudy.families.tan import TANFamily
from simstudy.learners.c45.learner import C45
from simstudy.sample import Sample

MODELS, TURNS, PASSES, WARM_UP = 40, 3, 14, 8


def write_arff(sample: Sample, path: Path) -> None:
    lines = ["@relation sample"]
    for variable, card in enumerate(sample.cards):
        lines.append(f"@attribute v{variable} {{{','.join(map(str, range(card)))}}}")
    lines.append("@data")
    lines += [",".join(map(str, row)) for row in sample.codes.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(rows: int) -> list[tuple[Sample, Sample]]:
    """Training and test sets of random models."""
    pairs = []
    for index in range(MODELS):
        rng = np.random.default_rng(index)
        model = TANFamily(attributes=(8, 8)).draw(rng)
        pairs.append((model.sample(rows, rng), model.sample(1000, rng)))
    return pairs


def time_ours(pairs: list[tuple[Sample, Sample]]) -> np.ndarray:
    times = np.empty((len(pairs), PASSES))
    for turn in range(PASSES):
        for index, (train, test) in enumerate(pairs):
            fresh = Sample(train.codes, train.cards)  # nothing counted yet
            start = time.perf_counter()
            C45().fit(fresh).predict_proba(test.attributes)
            times[index, turn] = 1e3 * (time.perf_counter() - start)
    return times


def time_weka(pairs: list[tuple[Sample, Sample]], jar: Path) -> np.ndarray:
    driver = Path(__file__).parent / "weka" / "TimeJ48.java"
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for index, (train, test) in enumerate(pairs):
            for name, sample in (("train", train), ("test", test)):
                files.append(Path(folder) / f"{name}_{index}.arff")
                write_arff(sample, files[-1])
        command = ["java", "-cp", str(jar), str(driver), str(PASSES), *map(str, files)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return np.array([[float(number) for number in line.split()] for line in output.splitlines()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--weka", type=Path, default=Path("/usr/share/java/weka.jar"))
    jar = parser.parse_args().weka
    if shutil.which("java") is None or not jar.exists():
        raise SystemExit(f"Java or {jar} is missing: nothing to compare with")
    print(f"{'rows':>5}  {'simstudy ms':>11}  {'Weka ms':>8}  {'ratio':>5}")
    for rows in (50, 500, 5000):
        pairs = draw(rows)
        turns = [(time_ours(pairs), time_weka(pairs, jar)) for _ in range(TURNS)]
        ours, weka = (
            np.concatenate([each[:, WARM_UP:] for each in times], axis=1).min(axis=1).mean()
            for times in zip(*turns, strict=True)
        )
        print(f"{rows:>5}  {ours:>11.2f}  {weka:>8.2f}  {ours / weka:>5.2f}", flush=True)


if __name__ == "__main__":
    main()
