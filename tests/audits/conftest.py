"""Scored targets without structure, for controls and resampling."""

import numpy as np
import pytest

from neartie.audits.anchors import build_cells, select_anchors
from neartie.audits.ranking import cross_family_pairs


@pytest.fixture
def example():
    return build_example


def build_example(seed=0, n_item=80, n_model=14, alpha="0.5", primes=False):
    rng = np.random.default_rng(seed)
    if primes:
        # cells keep many different numbers of items: the common denominator leaves doubles behind
        source = np.repeat([f"s{i:02d}" for i in range(14)], [58 + 4 * i for i in range(14)])
    else:
        source = rng.choice(["a", "b"], size=n_item)
    n_item = len(source)
    cells = build_cells(source, rng.normal(size=n_item), strata=1 if primes else 4)
    subtest = select_anchors(cells, rng.normal(size=n_item), alpha=alpha)
    values = (rng.random((n_item, n_model)) < 0.5).astype(np.int8)
    values[:, 1] = values[:, 0][rng.permutation(n_item)]
    pairs = cross_family_pairs(
        values.sum(axis=0),
        owner=[f"o{m}" for m in range(n_model)],
        family=["xyz"[m % 3] for m in range(n_model)],
        n_items=n_item,
    )
    return values, subtest, pairs
