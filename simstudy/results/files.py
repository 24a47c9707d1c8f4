"""Writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

UNFINISHED = ".part"  # how a file ends that is not finished


def write_files(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write files; each appears whole or not at all, and none before all are on disk.

    They are written under names that nobody can foresee and that nothing has, not even a link,
    and then renamed. Directories are made where there are none.

    Raises
    ------
    OSError
        If the system refuses.
    """
    written: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.parent / f".{secrets.token_hex(8)}{UNFINISHED}"
            with temporary.open("xb") as file:
                written[temporary] = path
                file.writelines([content] if isinstance(content, bytes) else content)
                file.flush()
                os.fsync(file.fileno())
        for temporary, path in written.items():
            temporary.replace(path)
    except ValueError as error:  # a path with a null character
        raise OSError(str(error)) from error
    finally:
        for temporary in written:
            temporary.unlink(missing_ok=True)
