"""Studies on a real Dask scheduler with worker processes on this machine."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simstudy import SimstudyError, load_study, run_study
from simstudy.engine.workers import dask as cluster
from simstudy.results.journal import JOURNAL

pytest.importorskip("distributed")

STUDY = {"models = 4": "models = 30"}


def scores(directory: Path) -> bytes:
    return (directory / "scores.parquet").read_bytes()


def start(stack: contextlib.ExitStack, place: Path, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments], cwd=place, stderr=subprocess.PIPE, text=True
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def start_scheduler(stack: contextlib.ExitStack, place: Path) -> tuple[subprocess.Popen[str], str]:
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    process = start(stack, place, "distributed.cli.dask_scheduler", *options)
    lines = iter(process.stderr.readline, "")
    return process, next(m[1] for line in lines if (m := re.search(r"(tcp://127\S+)", line)))


def start_worker(stack: contextlib.ExitStack, place: Path, address: str) -> subprocess.Popen[str]:
    options = [address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    return start(stack, place, "distributed.cli.dask_worker", *options)


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
    (tmp_path / "gone.py").write_text(
        "import os\nfrom dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.prior import Prior\n"
        "@register_learner('gone')\n@dataclass(frozen=True)\nclass Gone(Prior):\n    'Ends.'\n"
        "    def fit(self, sample, rng=None):\n"
        "        if len(sample) == 60:\n            os._exit(1)\n"
        "        return super().fit(sample, rng)\n"
    )
    changes = {"seed = 7": 'seed = 7\nplugins = ["gone.py"]', '"naive_bayes"': '"gone"'}
    study = load_study(write_study(changes))
    (tmp_path / "gone.py").unlink()  # as on another machine
    results = run_study(study, tmp_path / "out", cluster=scheduler[0], report=False)
    assert {*results.failures["status"]} == {"crashed"}
    assert len(results.failures) == 4
    assert all(worker.poll() is None for worker in scheduler[1])


def test_a_scheduler_or_worker_with_another_version_is_refused(
    write_study, tmp_path, scheduler, monkeypatch
):
    study = load_study(write_study())
    version = cluster.importlib.metadata.version

    def other(name):
        return "9.9" if name == "numpy" else version(name)

    monkeypatch.setattr(cluster, "_version_here", other)
    with pytest.raises(SimstudyError, match=r"worker tcp\S+ has numpy \S+, and here it is 9.9"):
        run_study(study, tmp_path / "out", cluster=scheduler[0], report=False)
    monkeypatch.setattr(cluster, "_SAME_EVERYWHERE", ("simstudy", "no-such-package"))
    monkeypatch.setattr(cluster, "_version_here", lambda name: "0.2.0")
    with pytest.raises(SimstudyError, match="has no no-such-package; install no-such-package"):
        run_study(study, tmp_path / "out", cluster=scheduler[0], report=False)


def test_a_wrong_address_is_one_sentence(simstudy, write_study):
    started = time.monotonic()
    done = simstudy("run", write_study(), "--backend", "dask", "--address", "tcp://127.0.0.1:9")
    assert time.monotonic() - started < 10
    assert done.returncode == 2
    assert done.stderr.startswith("simstudy: no Dask scheduler answers at tcp://127.0.0.1:9;")
    assert len(done.stderr.splitlines()) == 1
    refused = simstudy("run", write_study(), "--address", "tcp://127.0.0.1:9")
    assert "--address names a Dask scheduler; it goes with --backend dask" in refused.stderr
    refused = simstudy("run", write_study(), "--backend", "slurm")
    assert "--backend: 'slurm' is not known; it must be processes or dask" in refused.stderr


def test_a_cluster_started_here_gives_the_same_bytes(simstudy, write_study, tmp_path, here):
    study = write_study(STUDY)
    options = ["--backend", "dask", "--jobs", 2, "--out", "out", "--no-report", "--quiet"]
    done = simstudy("run", study, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert scores(tmp_path / "out") == here


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

        with pytest.raises(SimstudyError, match=r"scheduler at tcp\S+ is gone; what is finished"):
            run_study(study, tmp_path / "out", cluster=address, report=False, progress=kill)


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
