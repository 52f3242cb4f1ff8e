"""Abilities of the 2PL with their standard errors, from other Python packages at their defaults.

    python benchmarks/peers/fit_two_pl.py ANSWERS.npz RESULTS.npz

Runs in an environment of those packages (see `ability_intervals.py`), without neartie. The first file
holds arrays (n_model, n_item) of 0 and 1 by name; the second gets, for each of these and each
program, abilities, standard errors where there are some, the program's item parameters, and
seconds.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np


def fit_mirt(answers: Any) -> dict[str, Any]:
    """EM of Python mirt, then its EAP scores."""
    import mirt

    found = mirt.fit_mirt(answers, model="2PL", compute_standard_errors=False)
    scores = mirt.fscores(found, answers, method="EAP")
    values = found.model.parameters
    slope = np.ravel(values["discrimination"])
    return {
        "ability": np.ravel(scores.theta),
        "se": np.ravel(scores.standard_error),
        "slope": slope,
        "difficulty": np.ravel(values["difficulty"]),
    }


def fit_theta(answers: Any) -> dict[str, Any]:
    """EM of theta-irt, then its EAP scores."""
    import theta

    found = theta.fit(answers, model="2PL")
    ability, se = found.score(answers)
    return {"ability": ability, "se": se, "slope": found.a, "difficulty": found.b}


def fit_girth(answers: Any) -> dict[str, Any]:
    """Joint maximum likelihood of girth, then its EAP scores, which have no standard errors."""
    import girth

    data = answers.T
    found = girth.twopl_jml(data)
    slope, difficulty = found["Discrimination"], found["Difficulty"]
    ability = girth.ability_eap(data, difficulty, slope)
    return {"ability": ability, "slope": slope, "difficulty": difficulty}


PROGRAMS = {"mirt": fit_mirt, "theta-irt": fit_theta, "girth": fit_girth}


def main() -> None:
    """Fit every data set with every program."""
    results: dict[str, Any] = {}
    with np.load(sys.argv[1]) as data:
        for name in data.files:
            for program, fit in PROGRAMS.items():
                started = time.perf_counter()
                found = fit(data[name].astype(int))
                found["seconds"] = time.perf_counter() - started
                print(f"{name} {program} {found['seconds']:.1f} s", flush=True)
                for key, value in found.items():
                    results[f"{name}|{program}|{key}"] = np.asarray(value, dtype=float)
    np.savez(sys.argv[2], **results)


if __name__ == "__main__":
    main()
