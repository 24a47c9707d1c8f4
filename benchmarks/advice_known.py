"""Advice on rows of known networks: do predictions converge to the truth, do intervals cover?

    python benchmarks/advice_known.py [--networks 100] [--out results/advice_known.jsonl]

Rows are drawn from random networks of 6 variables (half of them TANs, half 2-dependence networks).
From 100, 400 and 1,600 rows the scores of learners are predicted as in `advice.py`. The truth is
the mean score of 8 further training sets from the network itself, tested on 5,000 rows. Two
questions:

level     mean absolute error of scores with 4,000 rows only on simulated truths, without the
          table's own scores: networks drawn given more rows should be closer to the truth
interval  how often the 95% intervals of the forecast, for twice and ten times the rows, hold the
          truth, with its standard error (learners of a network share its luck)
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from advice import kept, present, scores

from simstudy.advice.forecast import Present, Simulated, forecast
from simstudy.data.preparation.prepare import Preparation
from simstudy.families import KDBFamily, TANFamily
from simstudy.sources.families.fitted import FITTERS, draw_model, informative

ROWS, FAR = (100, 400, 1600), 4000
MODELS, TRAINING_SETS, TEST_ROWS = 12, 8, 5000
PLAIN = Preparation("none")


def collect(network: int, rows: int) -> dict[str, Any]:
    """Draw a network and rows; return predicted and true scores."""
    rng = np.random.default_rng([network, rows])
    family = (TANFamily, KDBFamily)[network % 2](variables=(6, 6), values=(2, 4))
    truth = family.draw(np.random.default_rng(network))
    table = truth.sample(rows, rng)
    sizes, now = present(table, PLAIN, rng)
    future = sorted({*sizes[2:], rows, 2 * rows, 10 * rows, FAR})
    used = informative(table, 61)
    structures = FITTERS["camml"](used, rng)
    drawn = []
    for _ in range(MODELS):
        model = draw_model(used, structures(rng), rng)
        test, train = model.sample(1000, rng), model.sample(max(future), rng)
        drawn.append([scores(train.take(np.arange(n)), test, PLAIN) for n in future])
    test = truth.sample(TEST_ROWS, rng)
    real = [
        [scores(truth.sample(n, rng), test, PLAIN) for _ in range(TRAINING_SETS)] for n in future
    ]
    true = np.array(real).mean(axis=1)
    simulated, found = np.array(drawn), {}
    for measure, name in enumerate(("information reward", "accuracy")):
        predicted = forecast(
            Present(now[..., measure], tuple(sizes), 0.1),
            Simulated(simulated[..., measure], tuple(future), sizes[-1]),
            rng,
            most=1.0 if measure else np.inf,
        )
        low, high = predicted.intervals()
        inside = (low <= true[..., measure]) & (true[..., measure] <= high)
        at = [future.index(2 * rows), future.index(10 * rows)]
        level = simulated[:, future.index(FAR), :, measure].mean(axis=0)
        errors = np.abs(predicted.means - true[..., measure])
        found[name] = {
            "level": float(np.abs(level - true[future.index(FAR), :, measure]).mean()),
            "error": errors[at].mean(axis=1).tolist(),
            "inside": inside[at].mean(axis=1).tolist(),
        }
    return {"network": network, "rows": rows, **found}


def main() -> None:
    """Collect what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("results/advice_known.jsonl"))
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    done = {(one["network"], one["rows"]) for one in kept(options.out)}
    for network in range(options.networks):
        for rows in ROWS:
            if (network, rows) not in done:
                line = json.dumps(collect(network, rows))
                with options.out.open("a") as file:
                    file.write(line + "\n")
    records = list(kept(options.out))
    for name in ("information reward", "accuracy"):
        print(f"\n{name}\nrows  networks  level at {FAR:,}   error at 2×, 10×   inside at 2×, 10×")
        for rows in ROWS:
            own = [one[name] for one in records if one["rows"] == rows]
            level = np.mean([one["level"] for one in own])
            error, inside = (
                np.mean([one[key] for one in own], axis=0) for key in ("error", "inside")
            )
            deviation = np.std([one["inside"] for one in own], axis=0, ddof=1)
            spread = deviation / np.sqrt(len(own))
            shares = "  ".join(f"{s:.3f} ± {e:.3f}" for s, e in zip(inside, spread, strict=True))
            print(
                f"{rows:5}  {len(own):8}  {level:14.4f}   {error[0]:7.4f} {error[1]:7.4f}"
                f"   {shares}"
            )


if __name__ == "__main__":
    main()
