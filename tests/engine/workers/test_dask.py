"""Studies on a real Dask scheduler with worker processes on this machine."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import simstudy
from simstudy import SimstudyError, load_study, run_study
from simstudy.engine.plan import make_plan
from simstudy.engine.workers import dask as cluster
from simstudy.engine.workers import environment
from simstudy.engine.workers.child import Child
from simstudy.results.store.journal import JOURNAL

pytest.importorskip("distributed")

GONE = """
import os
from dataclasses import dataclass
from simstudy import register_learner
from simstudy.learners.baselines import Prior

@register_learner("gone")
@dataclass(frozen=True)
class Gone(Prior):
    "Ends its process."

    def fit(self, sample, rng=None):
        if len(sample) == 60:
            os._exit(1)
        return super().fit(sample, rng)
"""
STUDY = {"models = 4": "models = 30"}


def scores(directory: Path) -> bytes:
    return (directory / "scores.parquet").read_bytes()


def start(
    stack: contextlib.ExitStack, place: Path, *arguments: str, path: Path | None = None
) -> subprocess.Popen[str]:
    """Start a program of Dask, with a path where its Python looks first."""
    first = [str(path)] if path else []
    found = os.pathsep.join([*first, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=place,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": found},
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def start_scheduler(stack: contextlib.ExitStack, place: Path) -> tuple[subprocess.Popen[str], str]:
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    process = start(stack, place, "distributed.cli.dask_scheduler", *options)
    lines = iter(process.stderr.readline, "")
    return process, next(m[1] for line in lines if (m := re.search(r"(tcp://127\S+)", line)))


def start_worker(
    stack: contextlib.ExitStack, place: Path, address: str, path: Path | None = None
) -> subprocess.Popen[str]:
    options = [address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    return start(stack, place, "distributed.cli.dask_worker", *options, path=path)


def address_of(worker: subprocess.Popen[str]) -> str:
    """The address of a worker, when it has registered."""
    lines = iter(worker.stderr.readline, "")
    address = next(m[1] for line in lines if (m := re.search(r"Start worker at: +(tcp\S+)", line)))
    next(line for line in lines if "Registered to" in line)
    return address


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A scheduler and two workers, each a process of its own: address and workers."""
    place = tmp_path_factory.mktemp("dask")
    with contextlib.ExitStack() as stack:
        _, address = start_scheduler(stack, place)
        yield address, [start_worker(stack, place, address) for _ in range(2)]


@pytest.fixture
def here(write_study, tmp_path):
    """The scores of the same study without a cluster."""
    study = load_study(write_study(STUDY, name="here.toml"))
    return scores(run_study(study, tmp_path / "here", jobs=1, report=False).directory)


def test_a_cluster_gives_the_same_bytes(write_study, tmp_path, scheduler, here):
    address, _ = scheduler
    study = load_study(write_study(STUDY))
    out = run_study(study, tmp_path / "out", cluster=address, report=False).directory
    assert scores(out) == here


def test_a_plugin_goes_to_the_workers_with_its_content(write_study, tmp_path, scheduler):
    # with a module and a file from its directory
    text = GONE.replace("import os\n", "import os\nfrom gone_size import size\n")
    text = text.replace('"gone"', '"gone_at_size"')
    (tmp_path / "gone.py").write_text(text.replace("== 60", "== size()"))
    (tmp_path / "gone_size.py").write_text(
        'from pathlib import Path\nDATA_FILES = ["gone.txt"]\n'
        "def size():\n    return int((Path(__file__).parent / DATA_FILES[0]).read_text())\n"
    )
    (tmp_path / "gone.txt").write_text("60")
    changes = {"seed = 7": 'seed = 7\nplugins = ["gone.py"]', '"naive_bayes"': '"gone_at_size"'}
    study = load_study(write_study(changes))
    for path in tmp_path.glob("gone*"):  # as on another machine
        path.unlink()
    results = run_study(study, tmp_path / "out", cluster=scheduler[0], report=False)
    assert {*results.failures["status"]} == {"crashed"}
    assert len(results.failures) == 4
    assert all(worker.poll() is None for worker in scheduler[1])


@pytest.mark.slow
def test_a_cluster_whose_workers_all_differ_is_refused(
    write_study, tmp_path, scheduler, monkeypatch
):
    study = load_study(write_study())
    needed = {**environment.environment(make_plan(study)), "numpy": "9.9", "no-such": "1.0"}
    monkeypatch.setattr(cluster, "environment", lambda plan: needed)
    monkeypatch.setattr(cluster, "_REFUSED_PATIENCE", 0.5)
    with pytest.raises(SimstudyError, match=r"tcp\S+ has numpy \S+, where 9.9 is needed"):
        run_study(study, tmp_path / "out", cluster=scheduler[0], report=False)
    del needed["numpy"]  # what is not needed to read the plan is found by the child process
    with pytest.raises(SimstudyError, match=r"tcp\S+ has no no-such, where 1.0 is needed"):
        run_study(study, tmp_path / "out", cluster=scheduler[0], report=False)
    monkeypatch.setattr(cluster.simstudy, "__version__", "9.9")
    with pytest.raises(SimstudyError, match=r"scheduler at \S+ has simstudy \S+, .* 9\.9"):
        run_study(study, tmp_path / "other", cluster=scheduler[0], report=False)


@pytest.mark.slow
def test_a_wrong_address_is_one_sentence(simstudy, write_study):
    done = simstudy("run", write_study(), "--backend", "dask", "--address", "tcp://127.0.0.1:9")
    assert done.returncode == 2
    assert done.stderr.startswith("simstudy: no Dask scheduler answers at tcp://127.0.0.1:9;")
    assert len(done.stderr.splitlines()) == 1
    refused = simstudy("run", write_study(), "--address", "tcp://127.0.0.1:9")
    assert "--address needs --backend dask" in refused.stderr
    refused = simstudy("run", write_study(), "--backend", "slurm")
    assert "--backend: 'slurm' is unknown; choose processes or dask" in refused.stderr


def test_a_cluster_started_here_gives_the_same_bytes(simstudy, write_study, tmp_path, here):
    study = write_study(STUDY)
    options = ["--backend", "dask", "--jobs", 2, "--out", "out", "--no-report", "--quiet"]
    done = simstudy("run", study, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert scores(tmp_path / "out") == here


@pytest.mark.slow
def test_a_worker_that_is_lost_costs_nothing(write_study, tmp_path, scheduler, here):
    """The last test: it kills one of the workers."""
    address, workers = scheduler
    study = load_study(write_study(STUDY))

    def kill(step):
        if step.models == 3:
            workers[0].send_signal(signal.SIGKILL)

    out = tmp_path / "out"
    run_study(study, out, cluster=address, report=False, progress=kill)
    assert workers[0].wait(10) == -signal.SIGKILL
    assert workers[1].poll() is None
    assert scores(out) == here
    assert (out / JOURNAL).exists()


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_said(write_study, tmp_path):
    place = tmp_path / "dask"
    place.mkdir()
    with contextlib.ExitStack() as stack:
        scheduler, address = start_scheduler(stack, place)
        start_worker(stack, place, address)
        study = load_study(write_study({"models = 4": "models = 400"}))

        def kill(step):
            if step.models == 3:
                scheduler.kill()

        with pytest.raises(SimstudyError, match=r"scheduler at tcp\S+ is gone; "):
            run_study(study, tmp_path / "out", cluster=address, report=False, progress=kill)


@pytest.mark.slow
def test_a_worker_that_joins_late_is_told_of_the_plan(write_study, tmp_path):
    place = tmp_path / "dask"
    place.mkdir()
    with contextlib.ExitStack() as stack:
        _, address = start_scheduler(stack, place)
        first = start_worker(stack, place, address)
        study = load_study(write_study({"models = 4": "models = 300"}))
        late: list[subprocess.Popen[str]] = []

        def change(step):
            if step.models == 3:
                late.append(start_worker(stack, place, address))
                next(line for line in iter(late[0].stderr.readline, "") if "Registered to" in line)
                first.send_signal(signal.SIGKILL)

        out = tmp_path / "out"
        results = run_study(study, out, cluster=address, report=False, progress=change)
        assert first.wait(10) == -signal.SIGKILL
    assert {*results.scores["status"]} == {"ok"}
    assert len(results.scores) == 300 * 2 * 2


def other_source(place: Path) -> None:
    """The same version of simstudy, and another naive Bayes."""
    shutil.copytree(Path(simstudy.__file__).parent, place / "simstudy")
    change(place)


def change(place: Path) -> None:
    changed = place / "simstudy" / "learners" / "bayes" / "naive_bayes.py"
    text = changed.read_text()
    assert "alpha: float = 1.0" in text
    changed.write_text(text.replace("alpha: float = 1.0", "alpha: float = 3.0"))


def older_version(place: Path) -> None:
    """A simstudy that has never heard of being asked to join."""
    shutil.copytree(Path(simstudy.__file__).parent, place / "simstudy")
    (place / "simstudy" / "engine" / "workers" / "dask.py").write_text(
        "def run_on_worker(run, batch):\n    return [], 0.0\n"
    )


def other_numpy(place: Path) -> None:
    """A numpy that says it is another one."""
    (place / "sitecustomize.py").write_text("import numpy\nnumpy.__version__ = '1.0'\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("difference", "named"),
    [
        (other_source, r"has simstudy (\S+) \(source \w+\), where \1 \(source \w+\) is needed"),
        pytest.param(older_version, r"cannot read the study \(.*join", marks=pytest.mark.slow),
        pytest.param(other_numpy, r"has numpy 1.0, where \S+ is needed", marks=pytest.mark.slow),
    ],
)
def test_a_worker_that_differs_and_joins_during_a_run_computes_nothing(
    write_study, tmp_path, difference, named
):
    """Every cell is as in a run without it, and the manifest names it."""
    place, elsewhere = tmp_path / "dask", tmp_path / "elsewhere"
    place.mkdir()
    elsewhere.mkdir()
    difference(elsewhere)
    study = load_study(write_study({"models = 4": "models = 400"}))
    alone = scores(run_study(study, tmp_path / "alone", jobs=1, report=False).directory)
    came: list[str] = []
    with contextlib.ExitStack() as stack:
        _, address = start_scheduler(stack, place)
        start_worker(stack, place, address)

        def come(step):
            if step.models == 3:
                came.append(address_of(start_worker(stack, place, address, elsewhere)))
            elif step.models < 300:
                time.sleep(0.01)  # there is time for it to be seen

        out = tmp_path / "out"
        results = run_study(study, out, cluster=address, report=False, progress=come)
    assert scores(out) == alone
    refused = results.manifest["refused_workers"]
    assert [*refused] == came
    assert re.search(named, refused[came[0]])
    assert f"the worker {came[0]} was refused: it " in results.note


@pytest.mark.slow
def test_a_worker_whose_simstudy_changes_during_a_run_is_refused_from_then_on(
    write_study, tmp_path
):
    """Each child process compares: those of this study end themselves, and others follow."""
    place, elsewhere = tmp_path / "dask", tmp_path / "elsewhere"
    place.mkdir()
    shutil.copytree(Path(simstudy.__file__).parent, elsewhere / "simstudy")
    (tmp_path / "gone.py").write_text(GONE)
    study = load_study(
        write_study(
            {"seed = 7": 'seed = 7\nplugins = ["gone.py"]', '"tan"\nlabel': '"gone"\nlabel'}
        )
    )
    alone = scores(run_study(study, tmp_path / "alone", jobs=1, report=False).directory)
    with contextlib.ExitStack() as stack:
        _, address = start_scheduler(stack, place)
        upgraded = address_of(start_worker(stack, place, address, elsewhere))

        def upgrade(step):
            if step.models == 1:
                change(elsewhere)
                address_of(start_worker(stack, place, address))

        out = tmp_path / "out"
        results = run_study(study, out, cluster=address, report=False, progress=upgrade)
    assert scores(out) == alone
    assert [*results.manifest["refused_workers"]] == [upgraded]


@pytest.mark.slow
def test_a_run_goes_on_with_a_good_worker_when_a_bad_one_came_first(write_study, tmp_path):
    place, elsewhere = tmp_path / "dask", tmp_path / "elsewhere"
    place.mkdir()
    elsewhere.mkdir()
    other_source(elsewhere)
    study = load_study(write_study())
    alone = scores(run_study(study, tmp_path / "alone", jobs=1, report=False).directory)
    with contextlib.ExitStack() as stack:
        _, address = start_scheduler(stack, place)
        bad = address_of(start_worker(stack, place, address, elsewhere))
        start_worker(stack, place, address)
        results = run_study(study, tmp_path / "out", cluster=address, report=False)
    assert scores(results.directory) == alone
    assert [*results.manifest["refused_workers"]] == [bad]


@pytest.mark.slow
def test_a_cluster_started_here_listens_on_the_loopback_alone(write_study, tmp_path):
    if not Path("/proc/net/tcp").exists():
        pytest.skip("this system does not list its sockets")
    found: list[str] = []

    def look(step):
        mine = {os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}
        for table in ("tcp", "tcp6"):
            for line in Path("/proc/net", table).read_text().splitlines()[1:]:
                _, local, _, state, *rest = line.split()
                if state == "0A" and f"socket:[{rest[5]}]" in mine:  # it listens
                    found.append(local.partition(":")[0])

    study = load_study(write_study())
    run_study(study, tmp_path / "out", jobs=2, cluster="local", report=False, progress=look)
    assert {*found} == {"0100007F"}  # 127.0.0.1


@pytest.mark.slow
def test_a_lost_scheduler_is_one_sentence(write_study, tmp_path):
    place = tmp_path / "dask"
    place.mkdir()
    study = write_study({"models = 4": "models = 20000"})
    with contextlib.ExitStack() as stack:
        scheduler, address = start_scheduler(stack, place)
        start_worker(stack, place, address)
        options = [str(study), "--quiet", "--out", str(tmp_path / "out"), "--backend", "dask"]
        command = ["simstudy.run", *options, "--address", address]
        run = start(stack, tmp_path, *command)
        journal = tmp_path / "out" / JOURNAL
        until = time.monotonic() + 60
        while not (journal.exists() and journal.stat().st_size > 10_000):
            assert time.monotonic() < until
            time.sleep(0.05)
        scheduler.kill()
        said = run.stderr.read()
        assert run.wait(30) == 2
    assert re.fullmatch(r"simstudy: the scheduler at tcp\S+ is gone; [^\n]+\n", said)


@pytest.mark.slow
@pytest.mark.parametrize("where", [None, "local"])
def test_children_killed_while_they_start_are_replaced(write_study, tmp_path, monkeypatch, where):
    """Without a cluster, and with one: the first two children die before they are ready."""
    killed: list[int] = []
    send = Child.send

    def killing(child, content):
        if not child.used and len(killed) < 2:
            killed.append(child.pid)
            os.kill(child.pid, signal.SIGKILL)
        send(child, content)

    study = load_study(write_study(STUDY))
    alone = scores(run_study(study, tmp_path / "alone", jobs=1, report=False).directory)
    monkeypatch.setattr(Child, "send", killing)
    results = run_study(study, tmp_path / "out", jobs=2, cluster=where, report=False)
    assert len(killed) == 2
    assert scores(results.directory) == alone
    assert results.manifest["failures"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "packages"),
    [
        ("aode", set()),
        ("camml", {"numba"}),
        ("sklearn.tree:DecisionTreeClassifier", {"scikit-learn"}),
        ("pgmpy:HillClimbSearch", {"pgmpy"}),
        ("planted", {"scikit-learn"}),
    ],
)
def test_what_a_study_uses_is_compared_and_nothing_else(write_study, tmp_path, learner, packages):
    plugin = "from sklearn.tree import DecisionTreeClassifier\n" + GONE.replace(
        '"gone"', '"planted"'
    )
    (tmp_path / "planted.py").write_text(plugin)
    named = 'seed = 7\nplugins = ["planted.py"]' if learner == "planted" else "seed = 7"
    study = load_study(write_study({"seed = 7": named, '"naive_bayes"': f'"{learner}"'}))
    compared = environment.environment(make_plan(study))
    assert {*compared} == {"Python", "simstudy", "numpy", "scipy", *packages}
    assert environment.differences(compared) == ""


def test_a_connection_that_closes_too_slowly_is_not_logged():
    with cluster._silence():
        pass
    slow, lost = (
        logging.makeLogRecord({"exc_info": (type(error), error, None)})
        for error in (TimeoutError("Timeout"), ValueError("lost"))
    )
    logger = logging.getLogger("asyncio")
    assert not logger.filter(slow)
    assert logger.filter(lost)
    assert logger.filter(logging.makeLogRecord({}))
