"""Record which estimators the study `estimators` finds nearest to the exact values.

    python benchmarks/known_estimators.py

Pages of estimates on data sets quote it: simstudy/experiments/estimators/known.json.
"""

from __future__ import annotations

import json
import tempfile

from simstudy import load_study, run_study
from simstudy.experiments.estimators.known import FILE, known


def main() -> None:
    """Run the study and write the file."""
    with tempfile.TemporaryDirectory() as place:
        content = known(run_study(load_study("estimators"), place + "/out", report=False))
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in content.pop("rows"))
    head = json.dumps(content, ensure_ascii=False, indent=1).removesuffix("\n}")
    FILE.write_text(f'{head},\n "rows": [\n{rows}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
