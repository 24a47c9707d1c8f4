"""The design of Hope & Korb (2004) from a cold start, by simstudy, by Weka and by pgmpy.

    python benchmarks/study.py [--quick] [--weka /usr/share/java/weka.jar] [PART ...]

The parts, all if none is named:

design  3 families x 40 models x 3 training sizes x 4 learners (Naive Bayes, TAN by likelihood,
        AODE, C4.5), 1000 test rows. A time is that of whole processes, from their start until the
        information rewards are on disk. simstudy's is one command that runs a list of three
        studies, and drawing models and data is part of it. Weka is one process with one thread for
        all of the design, as its Experimenter runs one; its driver is compiled beforehand, and gets
        the data that simstudy drew: in the one case as bare bytes, which is more than Weka offers,
        in the other as ARFF files; making them is not timed, reading them is. Both must do the same
        work or the run stops: equal rewards in every cell, TAN's once ours has Weka's arcs, whose
        directions differ by a quirk of Weka's; the trees must be the same but for that.
warm    fit and answer 1000 rows in a process that is warm, TAN models of 8 variables, milliseconds.
        The two take turns, so that a slow spell of the machine meets both; a data set's time is its
        best pass after some that warm up, a figure the mean over data sets.
pgmpy   Naive Bayes and TAN (by mutual information) on every tenth model of each family, all sizes,
        from a cold start. A cell takes pgmpy the better part of a second, so its time for all
        models is not measured but reckoned: the start, once, and the mean cell times their number.
        simstudy runs all models. The Naive Bayes of both must have equal rewards.
report  studies/tan.toml as the README's first command runs it, with and without its report, and
        importing only matplotlib, pandas and scipy.stats: seconds that pass, and seconds of
        computing by all processes together. The report is the difference of the first two.
jobs    studies/tan.toml with 200 models by two processes and by one, whole commands, no report.
start   importing simstudy, and --help.

Where it is not said otherwise a time is the best of several, taken in turns. Without Java and Weka
(Debian: apt install weka) the parts that need them are skipped.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import simstudy
from simstudy.data.sample import Sample
from simstudy.engine.plan import make_plan
from simstudy.engine.scoring import clip
from simstudy.engine.seeds import stream
from simstudy.learners.base import Learner
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.learners.trees.c45.learner import C45
from simstudy.measures.scores.rewards import information_reward
from simstudy.sources.families.tan import TANFamily

HERE = Path(__file__).parent
SIZES = (50, 500, 5000)
TEST_ROWS = 1000
DESIGN = ("naive_bayes", "tan", "aode")
LIST = "design"
LEARNERS: dict[str, Learner] = {
    "NB": NaiveBayes(),
    "TAN": TAN(search="likelihood"),
    "AODE": AODE(),
    "C4.5": C45(),
}
IN_TOML = {
    "NB": 'name = "naive_bayes"',
    "TAN": 'name = "tan"\nsearch = "likelihood"',
    "TAN (information)": 'name = "tan"',
    "AODE": 'name = "aode"',
    "C4.5": 'name = "c45"',
}
PASSES, WARM_UP = 14, 8
EQUAL = 1e-6
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
SCORE = "information_reward"

Sets = list[Sample]  # of one model: the test set, then the training sets


def write_studies(folder: Path, models: int, learners: Iterable[str]) -> Path:
    """A study for each family, and the list of them."""
    folder.mkdir()
    named = [f'[[learners]]\nlabel = "{label}"\n{IN_TOML[label]}\n' for label in learners]
    for family in DESIGN:
        text = (
            f'name = "{family}"\nseed = 2004\nmodels = {models}\n\n[family]\nname = "{family}"\n\n'
        )
        text += f"[data]\ntrain_sizes = {list(SIZES)}\ntest_size = {TEST_ROWS}\n\n"
        (folder / f"{family}.toml").write_text(text + "\n".join(named), encoding="utf-8")
    path = folder / f"{LIST}.toml"
    files = [f"{family}.toml" for family in DESIGN]
    path.write_text(f'name = "{LIST}"\nstudies = {files}\n', encoding="utf-8")
    return path


def drawn(studies: Path, every: int = 1) -> list[Sets]:
    """The data that the studies of a list draw, of every so manieth model of each."""
    families = [studies.with_name(f"{family}.toml") for family in DESIGN]
    return [sets for study in families for sets in drawn_by(study)[::every]]


def drawn_by(study: Path) -> list[Sets]:
    """The data that a study draws, model by model."""
    plan = make_plan(simstudy.load_study(study))
    sets = []
    for index in range(plan.problems):

        def rng(role: str, model: int = index) -> np.random.Generator:
            return stream(plan.seed, plan.source.identity, model, role)

        model = plan.source.model(plan, index)
        assert model is not None
        trains = [model.sample(size, rng(f"train/{size}")) for size in plan.train_sizes]
        sets.append([model.sample(TEST_ROWS, rng("test")), *trains])
    return sets


def write_bytes(models: Sequence[Sets], path: Path) -> Path:
    """The data as `weka/RunWeka.java` describes them."""
    with path.open("wb") as file:

        def write(*numbers: int) -> None:
            file.write(np.array(numbers, dtype=">i4").tobytes())

        write(len(models))
        for sets in models:
            cards = sets[0].cards
            write(len(cards), *cards, len(sets))
            for sample in sets:
                write(len(sample))
                file.write(sample.codes.astype(np.int8).tobytes(order="C"))
    return path


def write_arff(models: Sequence[Sets], folder: Path) -> Path:
    folder.mkdir()
    for index, sets in enumerate(models):
        for number, sample in enumerate(sets):
            lines = ["@relation rows"]
            for variable, card in enumerate(sample.cards):
                lines.append(f"@attribute v{variable} {{{','.join(map(str, range(card)))}}}")
            lines += ["@data", *(",".join(map(str, row)) for row in sample.codes.tolist())]
            text = "\n".join(lines) + "\n"
            (folder / f"{index}_{number}.arff").write_text(text, encoding="utf-8")
    return folder


def seconds(command: Sequence[object]) -> float:
    """How long a whole process takes."""
    return both_seconds(command)[0]


def both_seconds(command: Sequence[object]) -> tuple[float, float]:
    """How long a whole process takes, and how long it and its children compute."""
    # Modules are compiled once, as they are for users, whatever this shell says.
    environment = {key: value for key, value in os.environ.items() if key != NO_BYTECODE}
    start, before = time.perf_counter(), os.times()
    words = [str(part) for part in command]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=environment)
    passed, after = time.perf_counter() - start, os.times()
    user = after.children_user - before.children_user
    return passed, user + after.children_system - before.children_system


def simstudy_seconds(study: Path, out: Path, *options: object) -> float:
    """How long the command of a study, or of a list of studies, takes in a new folder."""
    return seconds(run_command(study, out, *options))


def run_command(study: Path, out: Path, *options: object) -> list[object]:
    """The command of a study, or of a list of studies, in a new folder."""
    shutil.rmtree(out, ignore_errors=True)
    return [sys.executable, "-m", "simstudy.run", study, "--quiet", "--out", out, *options]


def best(runs: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The best time of each of several contestants who take turns."""
    times = [[run() for run in runs.values()] for _ in range(rounds)]
    return dict(zip(runs, np.min(times, axis=0).tolist(), strict=True))


def scores_in(out: Path) -> pd.DataFrame:
    """The scores of all families, their models numbered as in the data."""
    tables = [simstudy.open_results(out / LIST / family).scores for family in DESIGN]
    for index, table in enumerate(tables):
        table["model"] += index * (tables[0]["model"].max() + 1)
    return pd.concat(tables, ignore_index=True)


class Weka:
    """Weka's archive, and the driver compiled for it."""

    def __init__(self, jar: Path, folder: Path) -> None:
        self._java = ["java", "-cp", f"{jar}{os.pathsep}{folder}", "RunWeka"]
        driver = HERE / "weka" / "RunWeka.java"
        if shutil.which("javac"):
            compiler = ["javac", "-nowarn", "-cp", str(jar), "-d", str(folder), str(driver)]
            subprocess.run(compiler, check=True, capture_output=True)
        else:
            print(
                "javac is missing: Java compiles the driver each time, which Weka's times include"
            )
            self._java[-1:] = [str(driver)]

    def study(self, data: Path, scores: Path) -> list[object]:
        """The command that runs the design."""
        return [*self._java, "study", data, scores]

    def time(self, data: Path) -> dict[str, np.ndarray]:
        """Milliseconds of every learner, shape (data sets, passes)."""
        command = [*self._java, "time", str(data), str(PASSES)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        times: dict[str, list[list[float]]] = {}
        for learner, *numbers in map(str.split, output.splitlines()):
            times.setdefault(learner, []).append([float(number) for number in numbers])
        return {learner: np.array(table) for learner, table in times.items()}


def design(folder: Path, weka: Weka | None, models: int, rounds: int) -> None:
    print(f"\nThe design: {len(DESIGN)} x {models} models, sizes {SIZES}, {len(LEARNERS)} learners")
    studies = write_studies(folder / "design", models, LEARNERS)
    out = folder / "out"
    runs = {
        "simstudy": lambda: simstudy_seconds(studies, out, "--no-report"),
        "simstudy --jobs 1": lambda: simstudy_seconds(studies, out, "--no-report", "--jobs", 1),
        "simstudy with reports": lambda: simstudy_seconds(studies, folder / "reports"),
    }
    if weka is not None:
        data = drawn(studies)
        binary = write_bytes(data, folder / "design.bin")
        arff = write_arff(data, folder / "arff")
        scores = folder / "weka.csv"
        runs["Weka"] = lambda: seconds(weka.study(binary, scores))
        runs["Weka from ARFF"] = lambda: seconds(weka.study(arff, scores))
    times = best(runs, rounds)
    if weka is not None:
        print(agreement(data, scores_in(out), pd.read_csv(scores)))
    print(f"{'':<22}  {'seconds':>7}  {'to Weka':>9}  {'from ARFF':>9}")
    for name, value in times.items():
        ratios = [f"{value / times[other]:.2f}" for other in ("Weka", "Weka from ARFF") if weka]
        print(f"{name:<22}  {value:>7.2f}" + "".join(f"  {ratio:>9}" for ratio in ratios))


def agreement(data: Sequence[Sets], ours: pd.DataFrame, wekas: pd.DataFrame) -> str:
    """How near the rewards are to each other; stops the run where they should be equal."""
    key = ["model", "size", "learner"]
    both = ours.merge(wekas, on=key, suffixes=("", "_weka"))
    if not len(both) == len(ours) == len(wekas):
        raise SystemExit("simstudy and Weka have not run the same cells")
    gap = np.abs(both[SCORE].to_numpy() - both[f"{SCORE}_weka"].to_numpy())
    tan = np.flatnonzero(both["learner"] == "TAN")
    for index in tan:
        cell = both.iloc[index]
        sets = data[cell["model"]]
        test, train = sets[0], sets[1 + SIZES.index(cell["size"])]
        tree = tuple(int(parent) for parent in cell["tree"].split())
        if arcs(tree) != arcs(LEARNERS["TAN"].fit(train).tree):  # type: ignore[attr-defined]
            raise SystemExit(f"simstudy and Weka find different trees in {cell[key].to_dict()}")
        proba = TAN(tree=tree).fit(train).predict_proba(test.attributes)
        prior = train.class_frequencies(0.5)
        value = information_reward(clip(proba, "mml", len(train)), test.target, prior).mean()
        gap[index] = abs(value - cell[f"{SCORE}_weka"])
    different = both["learner"][gap > EQUAL].value_counts().to_dict()
    if not different.keys() <= {"C4.5"} or sum(different.values()) > len(both) / 100:
        raise SystemExit(f"simstudy and Weka differ by up to {gap.max():.2g}: {different} cells")
    return (
        f"rewards of simstudy and Weka: {len(gap) - sum(different.values())} of {len(gap)} cells "
        f"equal, the largest difference among them {gap[gap <= EQUAL].max():.1g}; trees of TAN: "
        f"{len(tan)} of {len(tan)} the same"
    )


def arcs(tree: Sequence[int | None]) -> set[frozenset[int]]:
    """The arcs of a tree without their direction."""
    return {frozenset((i, p)) for i, p in enumerate(tree) if p is not None and p >= 0}


def warm(folder: Path, weka: Weka | None, models: int, turns: int) -> None:
    if weka is None:
        return
    print("\nWarm: fit and answer 1000 rows, TAN models of 8 variables")
    print(f"{'learner':<7}  {'rows':>5}  {'simstudy ms':>11}  {'Weka ms':>8}  {'ratio':>5}")
    for rows in SIZES:
        data = []
        for index in range(models):
            rng = np.random.default_rng(index)
            model = TANFamily(variables=(8, 8)).draw(rng)
            train = model.sample(rows, rng)
            data.append([model.sample(TEST_ROWS, rng), train])
        binary = write_bytes(data, folder / "warm.bin")
        pairs = [(time_ours(data), weka.time(binary)) for _ in range(turns)]
        for learner in LEARNERS:
            ours, wekas = (
                np.concatenate([times[learner][:, WARM_UP:] for times in side], axis=1)
                .min(axis=1)
                .mean()
                for side in zip(*pairs, strict=True)
            )
            row = f"{learner:<7}  {rows:>5}  {ours:>11.3f}  {wekas:>8.3f}  {ours / wekas:>5.2f}"
            print(row, flush=True)


def time_ours(data: Sequence[Sets]) -> dict[str, np.ndarray]:
    """Milliseconds of every learner, shape (data sets, passes), by one thread as in a study."""
    tables = {}
    with threadpool_limits(1):
        for label, learner in LEARNERS.items():
            tables[label] = times = np.empty((len(data), PASSES))
            for turn in range(PASSES):
                for index, (test, train) in enumerate(data):
                    fresh = Sample(train.codes, train.cards)  # nothing counted yet
                    start = time.perf_counter()
                    learner.fit(fresh).predict_proba(test.attributes)
                    times[index, turn] = 1e3 * (time.perf_counter() - start)
    return tables


def pgmpy(folder: Path, models: int, rounds: int) -> None:
    studies = write_studies(folder / "two", models, ("NB", "TAN (information)"))
    out, data, scores = folder / "two_out", folder / "pgmpy.bin", folder / "pgmpy.csv"
    step = 10 if models >= 10 else models
    write_bytes(drawn(studies, step), data)
    command = [sys.executable, HERE / "pgmpy_study.py", data, scores]
    start = time.perf_counter()
    run = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    whole, cells = time.perf_counter() - start, float(run.stdout)
    theirs = pd.read_csv(scores)
    theirs["model"] *= step
    ours = best({"": lambda: simstudy_seconds(studies, out, "--no-report")}, rounds)[""]
    both = scores_in(out).merge(theirs, on=["model", "size", "learner"], suffixes=("", "_pgmpy"))
    gap = (both[SCORE] - both[f"{SCORE}_pgmpy"]).abs().max()
    if not (len(both) == len(theirs) / 2 and gap < EQUAL):
        raise SystemExit(f"the Naive Bayes of simstudy and pgmpy differ by {gap:.2g}")
    every = 2 * len(SIZES) * len(DESIGN) * models
    reckoned = whole - cells + every * cells / len(theirs)
    print(f"\npgmpy: Naive Bayes and TAN, rewards of Naive Bayes equal to {gap:.1g}")
    print(f"pgmpy     {whole:>7.1f} s for {len(theirs)} cells, {cells / len(theirs):.2f} s each")
    print(f"pgmpy     {reckoned:>7.1f} s for all {every} cells, reckoned from these")
    print(f"simstudy  {ours:>7.2f} s for all {every} cells: {reckoned / ours:,.0f} times as fast")


def report(folder: Path, rounds: int) -> None:
    study, out = HERE.parent / "studies" / "tan.toml", folder / "report"
    imports = [sys.executable, "-c", "import matplotlib.pyplot, pandas, scipy.stats"]
    runs: dict[str, Callable[[], tuple[float, float]]] = {
        "with its report": lambda: both_seconds(run_command(study, out)),
        "without": lambda: both_seconds(run_command(study, out, "--no-report")),
        "imports": lambda: both_seconds(imports),
    }
    for run in runs.values():  # modules are compiled, files are in memory
        run()
    times = np.median([[run() for run in runs.values()] for _ in range(rounds)], axis=0)
    times = np.vstack([times, times[0] - times[1]])
    print(f"\nstudies/tan.toml, medians of {rounds} turns")
    print(f"{'':<22}  {'seconds':>7}  {'computing':>9}  {'to imports':>10}")
    names = ("run with its report", "run without", "importing three", "the report")
    for name, (passed, computing) in zip(names, times, strict=True):
        print(f"{name:<22}  {passed:>7.2f}  {computing:>9.2f}  {computing / times[2, 1]:>10.2f}")


def jobs(folder: Path, models: int, rounds: int) -> None:
    study = HERE.parent / "studies" / "tan.toml"

    def by(number: int) -> Callable[[], float]:
        options = ("--no-report", "--models", models, "--jobs", number)
        return lambda: simstudy_seconds(study, folder / "jobs", *options)

    times = best({"1": by(1), "2": by(2)}, rounds)
    print(f"\nstudies/tan.toml, {models} models: 1 process {times['1']:.2f} s, ", end="")
    print(f"2 processes {times['2']:.2f} s, {times['1'] / times['2']:.2f} times as fast")


def start(rounds: int) -> None:
    def importing(module: str) -> Callable[[], float]:
        return lambda: seconds([sys.executable, "-c", f"import {module}"])

    times = best(
        {
            "numpy": importing("numpy"),
            "simstudy": importing("numpy, simstudy"),
            "all": importing("numpy, simstudy.results.read.open, simstudy.study.study"),
            "help": lambda: seconds([sys.executable, "-m", "simstudy.run", "--help"]),
        },
        rounds,
    )
    print(f"\npython -c 'import simstudy': {times['simstudy'] - times['numpy']:+.3f} s", end="")
    print(f" beyond numpy; with what runs a study: {times['all'] - times['numpy']:+.3f} s")
    print(f"python -m simstudy.run --help: {times['help']:.2f} s")


def machine() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    packages = ", ".join(f"{name} {version(name)}" for name in ("simstudy", "numpy", "pgmpy"))
    processor = names[0] if names else platform.processor()
    return f"{os.cpu_count()} x {processor}; Python {platform.python_version()}, {packages}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", default=[], help="what to run")
    parser.add_argument(
        "--quick", action="store_true", help="fewer models, each time once or twice"
    )
    parser.add_argument("--weka", type=Path, default=Path("/usr/share/java/weka.jar"))
    given = parser.parse_args()
    names = ("design", "report", "warm", "pgmpy", "jobs", "start")
    if not {*given.parts} <= {*names}:
        parser.error(f"the parts are {', '.join(names)}")
    parts, quick, jar = given.parts or names, given.quick, given.weka
    print(machine())
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        weka = None
        if shutil.which("java") is None or not jar.exists():
            print(f"Java or {jar} is missing: Weka is left out")
        else:
            print(f"{jar.resolve().stem}, {java_version()}")
            weka = Weka(jar, folder)
        if "design" in parts:
            design(folder, weka, models=5 if quick else 40, rounds=2 if quick else 5)
        if "report" in parts:
            report(folder, rounds=1 if quick else 7)
        if "warm" in parts:
            warm(folder, weka, models=10 if quick else 40, turns=1 if quick else 3)
        if "pgmpy" in parts:
            pgmpy(folder, models=3 if quick else 40, rounds=1 if quick else 3)
        if "jobs" in parts:
            jobs(folder, models=20 if quick else 200, rounds=1 if quick else 3)
        if "start" in parts:
            start(rounds=3 if quick else 10)


def java_version() -> str:
    output = subprocess.run(["java", "-version"], check=True, capture_output=True, text=True).stderr
    return output.splitlines()[0]


if __name__ == "__main__":
    main()
