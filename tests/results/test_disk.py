"""A disk that is full or read-only: a sentence, and nothing is lost."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from simstudy import SimstudyError, load_study, run_study
from simstudy.results.store import journal
from simstudy.results.store.journal import Journal

STUDY = {"models = 4": "models = 60"}


@pytest.fixture
def whole(write_study, tmp_path):
    study = load_study(write_study(STUDY, name="whole.toml"))
    directory = run_study(study, tmp_path / "whole", jobs=1, report=False).directory
    return (directory / "scores.parquet").read_bytes()


@pytest.fixture
def small_disk(tmp_path):
    """A file system that holds 32 kB, where this process may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", place]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems cannot be mounted here; a failing file stands for one")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_loses_nothing(small_disk, write_study, simstudy, whole):
    study = write_study(STUDY)
    arguments = ["run", study, "--out", small_disk / "out", "--jobs", 1, "--no-report", "--quiet"]
    done = simstudy(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("simstudy: the output directory")
    assert "No space left on device; finished cells are saved" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    kept = len(list(Journal(small_disk / "out").cells()))
    assert 0 < kept < 240
    subprocess.run(["mount", "-o", "remount,size=10m", small_disk], check=True)
    assert simstudy(*arguments).returncode == 0
    assert (small_disk / "out" / "scores.parquet").read_bytes() == whole


def test_a_file_that_fails_loses_nothing(write_study, tmp_path, monkeypatch, whole):
    study = load_study(write_study(STUDY))
    fsync, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 20:
            os.ftruncate(descriptor, max(os.fstat(descriptor).st_size - 30, 0))  # half a line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr(journal, "_SYNC_EVERY", 0)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SimstudyError, match="No space left on device; finished cells are saved"):
        run_study(study, tmp_path / "out", jobs=1, report=False)
    monkeypatch.setattr(os, "fsync", fsync)
    assert 0 < len(list(Journal(tmp_path / "out").cells())) < 240
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    assert (results.directory / "scores.parquet").read_bytes() == whole


def test_a_place_that_may_not_be_written_is_one_sentence(write_study, simstudy, tmp_path):
    study = write_study()
    locked = Path("/proc/simstudy") if os.geteuid() == 0 else tmp_path / "locked" / "out"
    if os.geteuid() != 0:
        locked.parent.mkdir(mode=0o500)
    done = simstudy("run", study, "--out", locked, "--jobs", 1)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert f"the output directory {locked} cannot be used" in done.stderr


def test_a_read_only_disk_is_one_sentence(small_disk, write_study, simstudy):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = simstudy("run", write_study(), "--out", small_disk / "out", "--jobs", 1)
    assert done.returncode == 2
    assert "cannot be used: Read-only file system" in done.stderr
    assert len(done.stderr.splitlines()) == 1
