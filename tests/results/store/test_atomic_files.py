"""Files appear whole or not at all, and nowhere else."""

from __future__ import annotations

import os
import shutil

import pytest

from simstudy import SimstudyError, load_study, run_study
from simstudy.report.files import write_figures, write_tables
from simstudy.results.store import atomic_files
from simstudy.results.store.atomic_files import write_files, write_text


def test_a_link_under_the_temporary_name_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_bytes(b"dear")
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setattr(atomic_files.secrets, "token_hex", lambda _: "foreseen")
    (place / ".foreseen.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_files({place / "a.txt": b"new"})
    assert victim.read_bytes() == b"dear"
    assert os.listdir(place) == [".foreseen.part"]


def test_a_link_in_place_of_a_file_is_replaced(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"dear")
    (tmp_path / "a.txt").symlink_to(victim)
    write_files({tmp_path / "a.txt": b"new"})
    assert victim.read_bytes() == b"dear"
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_temporary_names_are_never_the_same(tmp_path, monkeypatch):
    seen = []
    replace = atomic_files.Path.replace
    monkeypatch.setattr(
        atomic_files.Path, "replace", lambda old, new: (seen.append(old.name), replace(old, new))
    )
    for _ in range(5):
        write_files({tmp_path / "a.txt": b"x", tmp_path / "new" / "b.txt": [b"y", b"z"]})
    assert len({*seen}) == 10
    assert (tmp_path / "new" / "b.txt").read_bytes() == b"yz"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_who_may_read_a_file_is_as_usual(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_files({tmp_path / "a.txt": b"x"})
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_full_disk_leaves_what_was_there(write_study, tmp_path, monkeypatch):
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    for write, options in ((write_tables, ("csv",)), (write_figures, ("png",))):
        place = tmp_path / write.__name__
        written = write(results, place, *options)
        paths = written[0] if isinstance(written, tuple) else written
        before = {path.name: path.read_bytes() for path in place.iterdir()}
        assert {path.name for path in paths} == {*before}
        synced = 0

        def full(handle):
            nonlocal synced
            synced += 1
            if synced == 3:
                raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(SimstudyError, match=r"cannot be written to: No space left"):
                write(results, place, *options)
        assert {path.name: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["report", "figures", "tables", "failures"])
def test_a_typing_error_makes_no_directory(simstudy, tmp_path, verb):
    done = simstudy(verb, "typo")
    assert done.returncode == 2
    assert "typo holds no" in done.stderr
    assert not (tmp_path / "typo").exists()


@pytest.mark.slow
def test_a_page_without_a_name_is_refused(simstudy, write_study, tmp_path):
    study = write_study()
    assert simstudy("run", study, "--jobs", 1, "--no-report", "--out", "r").returncode == 0
    shutil.copytree(tmp_path / "r", tmp_path / "other")
    before = sorted(os.listdir(tmp_path))
    for out in ("", "r", "/proc/x.html", "s" * 300):
        done = simstudy("compare", "r", "other", "--out", out)
        assert done.returncode == 2
        assert "cannot be written" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == before


def test_a_text_is_written_whole(tmp_path):
    write_text(tmp_path / "new" / "page.html", "<p>é</p>")
    assert (tmp_path / "new" / "page.html").read_bytes() == "<p>é</p>".encode()
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["page.html"]
    (tmp_path / "file").write_text("")
    with pytest.raises(SimstudyError, match="cannot be written"):
        write_text(tmp_path / "file" / "page.html", "")
