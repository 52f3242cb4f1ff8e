"""Time of the 2PL's joint mode with standard errors, and of scoring with known items.

    python benchmarks/two_pl.py                     # three sizes
    python benchmarks/two_pl.py --size 500 1000     # one: models, items

The target of the design is 2 s at 500 x 1,000, standard errors and covariance included. Seconds are
the best of three after compilation, whose time, or that of its cache, is printed first. CPU seconds,
over all threads, tell more where other work shares the machine. Peak memory is that of the whole
process, and only grows from row to row.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable

import numpy as np
from two_pl_coverage import linked, simulate

from neartie.inference.score_models import score_models
from neartie.inference.two_pl_map import fit_two_pl_map
from neartie.inference.two_pl_result import TwoPLFit

SIZES = ((150, 500), (500, 1000), (2000, 200))


def best_time[T](work: Callable[[], T]) -> tuple[T, str]:
    """Return what the work gives, and its best seconds of three, on the wall and of the CPU."""
    wall, processor = [], []
    for _ in range(3):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        found = work()
        wall.append(time.perf_counter() - begin)
        processor.append(time.process_time() - begin_cpu)
    return found, f"{min(wall):.2f} | {min(processor):.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs=2, metavar=("MODELS", "ITEMS"))
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, numpy {np.__version__}")
    begin = time.perf_counter()
    small, _, _ = simulate(9, 12, np.random.default_rng(1))
    score_models(small, fit_two_pl_map(small))
    print(f"first small fit, compilation or its cache: {time.perf_counter() - begin:.1f} s\n")
    print(
        "| models x items | what | seconds | CPU seconds | iterations | RMSE after a link | peak MB |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for n_model, n_item in [tuple(options.size)] if options.size else SIZES:
        data, _, ability = simulate(n_model, n_item, np.random.default_rng(20261130))
        truth = ability - ability.mean()

        def fitted() -> TwoPLFit:
            return fit_two_pl_map(data)  # noqa: B023

        fit, seconds = best_time(fitted)
        adam, of_adam = best_time(lambda: fit_two_pl_map(data, optimiser="adam"))  # noqa: B023
        _, scoring = best_time(lambda: score_models(data, fit))  # noqa: B023
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        size = f"{n_model} x {n_item:,}"
        for name, found, spent in (("newton, with errors", fit, seconds), ("adam", adam, of_adam)):
            unit = linked(found.ability, truth)
            rmse = np.sqrt(np.mean(np.square(unit * found.ability - truth)))
            print(f"| {size} | {name} | {spent} | {found.n_iterations} | {rmse:.4f} | {peak:.0f} |")
        print(f"| {size} | scoring with known items | {scoring} | | | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
