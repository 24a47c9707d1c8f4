"""The verbs show and list."""

from __future__ import annotations

from simstudy.cli.run import StudyFile
from simstudy.texts import echo


def show(study: StudyFile) -> None:
    """Print a study as it will be run, every default filled in."""
    from simstudy.results.recorded import recorded_toml
    from simstudy.study.study import load_study

    text = recorded_toml(study)  # a study in results is shown without executing plugins
    echo((load_study(study).to_toml() if text is None else text).removesuffix("\n"))


def list_() -> None:
    """List the available families, learners and measures."""
    from simstudy.results.manifest import first_line
    from simstudy.study.registry import REGISTRIES

    for registry in REGISTRIES:
        echo(f"{registry.plural}:")
        names = registry.names()
        width = max(map(len, names)) + 2
        for name in names:
            echo(f"  {name:<{width}}{first_line(registry, name)}")
        if registry.by_path_help:
            echo(f"  and {registry.by_path_help}")


VERBS = (show, list_)
