"""Scored targets without structure for controls and resampling; answers to be screened."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.anchors import build_cells, select_anchors
from neartie.audits.ranking import cross_family_pairs
from neartie.data.responses import Responses


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


@pytest.fixture
def simulate():
    return simulate_answers


def simulate_answers(n_item=40, n_model=60, *, n_flipped=3, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    logit = 1.5 * rng.normal(size=n_model) + rng.normal(size=(n_item, 1))
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    values[:n_flipped] = 1 - values[:n_flipped]
    values[rng.random(values.shape) < missing] = -1
    items = pd.DataFrame(
        {
            "item": [f"q{i}" for i in range(n_item)],
            "source": [("s1", "s2")[i % 2] for i in range(n_item)],
            "is_bad": [str(int(i < n_flipped)) for i in range(n_item)],
        }
    )
    return Responses.build(values, items=items, models=[f"m{m}" for m in range(n_model)])
