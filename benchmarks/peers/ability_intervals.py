"""Ability intervals of packages that integrate by quadrature, on the data of `recovery.py`.

    python benchmarks/peers/ability_intervals.py              # 8 data sets, a few minutes
    python benchmarks/peers/ability_intervals.py --write      # also docs/tables/peer_intervals.md

Makes an environment of its own in a temporary folder (needs `uv` and a network), with the
versions below, and runs `fit_two_pl.py` there; nothing is installed beside neartie. An interval is
the ability plus or minus 1.96 standard errors, at the defaults of each package. Scale and origin of
a package are free, so that its abilities are linked to the truth by the line of least squares first.
What neartie's engines cover on these data sets is in the table of `recovery.py`. `dense grid` keeps a package's own item parameters, and
scores abilities anew with 2,001 points between -6 and 6: what is left is not due to the grid.
`true items` does so with the true item parameters.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

type Floats = NDArray[np.float64]

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "docs" / "tables" / "peer_intervals.md"
PACKAGES = ("mirt==1.2.0", "theta-irt==0.1.1", "girth==0.8.0")
Z = 1.959963984540054


def make_environment(folder: Path) -> Path:
    """Return the interpreter of a new environment with the packages."""
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", python, *PACKAGES], check=True)
    return python


def dense_scores(answers: Floats, slope: Floats, difficulty: Floats) -> tuple[Floats, Floats]:
    """Return posterior means and standard deviations of abilities from 2,001 grid points."""
    grid = np.linspace(-6, 6, 2001)
    logit = slope * (grid[:, None] - difficulty)
    log_density = answers @ log_expit(logit).T + (1 - answers) @ log_expit(-logit).T - grid**2 / 2
    weight = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    mean = weight @ grid
    return mean, np.sqrt(weight @ grid**2 - mean**2)


def judged(ability: Floats, se: Floats | None, truth: Floats) -> tuple[float, float, int]:
    """Return coverage, root mean squared error, and abilities that differ to two decimals."""
    slope, origin = np.polyfit(ability, truth, 1)
    error = origin + slope * ability - truth
    covered = np.nan if se is None else float(np.mean(np.abs(error) <= Z * slope * se))
    return covered, float(np.sqrt(np.mean(error**2))), len(np.unique(ability.round(2)))


def study(n_sets: int) -> dict[str, list[tuple[float, float, int]]]:
    """Return what every way of scoring reaches on each data set."""
    sys.path.insert(0, str(HERE.parent))
    from recovery import simulate_two_pl

    data = [simulate_two_pl(np.random.default_rng([20261130, k])) for k in range(n_sets)]
    rows: dict[str, list[tuple[float, float, int]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given, made = folder / "answers.npz", folder / "results.npz"
        np.savez(given, **{str(k): one.values.T for k, (one, _) in enumerate(data)})
        python = make_environment(folder / "peers")
        subprocess.run([python, HERE / "fit_two_pl.py", given, made], check=True)
        found = dict(np.load(made))
    for k, (responses, truth) in enumerate(data):
        answers, ability = responses.values.T.astype(float), truth["ability"]
        for program in ("mirt", "theta-irt", "girth"):
            own = {key: found.get(f"{k}|{program}|{key}") for key in
                   ("ability", "se", "slope", "difficulty")}  # fmt: skip
            rows.setdefault(program, []).append(judged(own["ability"], own["se"], ability))
            again = dense_scores(answers, own["slope"], own["difficulty"])
            rows.setdefault(f"{program}, its items, dense grid", []).append(judged(*again, ability))
        again = dense_scores(answers, np.exp(truth["log_discrimination"]), truth["difficulty"])
        rows.setdefault("true items, dense grid", []).append(judged(*again, ability))
    return rows


def table(rows: dict[str, list[tuple[float, float, int]]]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| abilities by | covered, % | RMSE | distinct of 150 |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, found in rows.items():
        values = np.array(found, dtype=float)
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        covered = (
            "none given" if np.isnan(mean[0]) else f"{100 * mean[0]:.1f} ± {100 * error[0]:.1f}"
        )
        lines.append(f"| {name} | {covered} | {mean[1]:.3f} | {mean[2]:.0f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the study and print or write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=8, help="data sets")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    chosen = parser.parse_args()
    text = table(study(chosen.sets))
    print(text)
    if chosen.write:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()
