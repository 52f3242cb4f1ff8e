"""Time and memory of the item screen, side by side with a plain scikit-learn loop (Linux).

Run `python benchmarks/screen.py` for all sizes; `--quick` leaves out the large one. Each size runs
in a process of its own, three times: `first` is the call of a fresh process after its imports
(`import`), with compiled code loaded from the cache where the size needs any; `wall`, `cpu` the best
of the other two.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np
from sklearn.isotonic import IsotonicRegression

from neartie.inference.pairwise_binary import binary_pair_sums

CHILD = """
import json, sys, time
began = time.perf_counter()
import numpy as np
from neartie.inference.isotonic_pairs import graded_pair_sums
from neartie.inference.pairwise_binary import binary_pair_sums
imports = time.perf_counter() - began
n_item, n_model, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(1)
logit = 1.5 * rng.normal(size=n_model) + 1.2 * rng.normal(size=(n_item, 1))
right = rng.random((n_item, n_model)) < 1 / (1 + np.exp(-logit))
seen = np.ones_like(right)
if kind == "missing":
    seen = rng.random(right.shape) < 0.9
    right &= seen
graded = right + rng.integers(0, 4, right.shape) / 1.0 if kind == "graded" else None
del logit
times = []
for _ in range(3):
    before, before_cpu = time.perf_counter(), time.process_time()
    if kind == "graded":
        graded_pair_sums(graded)
    else:
        binary_pair_sums(right, seen, full=kind != "coefficient")
    times.append((time.perf_counter() - before, time.process_time() - before_cpu))
# Not ru_maxrss, which still counts what the parent held before the fork.
status = dict(line.split(":") for line in open("/proc/self/status") if line.count(":") == 1)
print(json.dumps([imports, times, int(status["VmHWM"].split()[0]) / 1024]))
"""

SIZES = (
    (1000, 200, "coefficient", "0.2 s"),
    (1000, 200, "table", ""),
    (1000, 200, "missing", ""),
    (200, 200, "graded", ""),
    (14042, 5000, "coefficient", "20 s, 3 GB"),
    (14042, 5000, "table", ""),
)


def measure(n_item: int, n_model: int, kind: str) -> tuple[float, list[list[float]], float]:
    """Seconds of importing, seconds (wall, processor) of each call, peak memory in MiB."""
    command = [sys.executable, "-c", CHILD, str(n_item), str(n_model), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imports, times, peak = json.loads(done.stdout)
    return imports, times, peak


def naive_pair(x: np.ndarray, y: np.ndarray) -> float:
    """The signed isotonic R² of y on x by two regressions."""
    errors = [
        ((y - IsotonicRegression(increasing=rising).fit_transform(x, y)) ** 2).sum()
        for rising in (True, False)
    ]
    share = 1 - min(errors) / ((y - y.mean()) ** 2).sum()
    return share if errors[0] <= errors[1] else -share


def compare(n_item: int = 40, n_model: int = 200) -> None:
    """All pairs of a small test by both ways, in this process; the large loop by proportion."""
    rng = np.random.default_rng(1)
    logit = 1.5 * rng.normal(size=n_model) + 1.2 * rng.normal(size=(n_item, 1))
    right = rng.random(logit.shape) < 1 / (1 + np.exp(-logit))
    right[:, 0], right[:, 1] = True, False
    before = time.perf_counter()
    answers = right.astype(float)
    naive = np.array(
        [
            sum(naive_pair(answers[i], answers[j]) for j in range(n_item) if j != i)
            for i in range(n_item)
        ]
    )
    seconds = time.perf_counter() - before
    binary_pair_sums(right, np.ones_like(right), full=False)
    before = time.perf_counter()
    ours = binary_pair_sums(right, np.ones_like(right), full=False)
    own_seconds = time.perf_counter() - before
    difference = float(np.abs(naive - ours.sums[:, 0]).max())
    n_pairs = n_item * (n_item - 1)
    print(
        f"\nscikit-learn loop, {n_item} items x {n_model} models, {n_pairs} fits: {seconds:.2f} s"
    )
    print(f"neartie, the same: {own_seconds:.4f} s, {seconds / own_seconds:.0f} times faster")
    print(f"largest difference of an item's sum: {difference:.1e}")
    print(f"the loop at 1,000 x 200, in proportion: {seconds * 999000 / n_pairs:.0f} s")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the large size")
    quick = parser.parse_args().quick
    print(
        f"{'items':>6} {'models':>6}  {'what':<12} {'import':>8} {'first':>8} {'wall':>8} {'cpu':>8} {'peak':>9}  target"
    )
    for n_item, n_model, kind, target in SIZES:
        if quick and n_item > 5000:
            continue
        imports, ((first, _), *later), peak = measure(n_item, n_model, kind)
        wall, cpu = min(later)
        print(
            f"{n_item:>6} {n_model:>6}  {kind:<12} {imports:7.2f}s {first:7.3f}s {wall:7.3f}s {cpu:7.3f}s "
            f"{peak:6.0f}MiB  {target}"
        )
    compare()


if __name__ == "__main__":
    main()
