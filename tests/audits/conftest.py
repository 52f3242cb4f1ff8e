"""Small data of a known origin: scored targets, answers, battles; draws made into posteriors."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from neartie.audits.anchors import build_cells, select_anchors
from neartie.audits.ranking import cross_family_pairs
from neartie.data.battles import Battles
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


@pytest.fixture(scope="session")
def answer_two_pl():
    return answers_of_two_pl


def answers_of_two_pl(n_item, n_model, *, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=n_model), rng.normal(scale=spread, size=n_item)
    slope = np.exp(rng.normal(scale=0.4, size=n_item))
    logit = slope[:, None] * (ability[None, :] - difficulty[:, None])
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    return Responses.build(
        values,
        items=[f"q{i:03d}" for i in range(n_item)],
        models=[f"m{m:02d}" for m in range(n_model)],
    )


@pytest.fixture(scope="session")
def few_answers():
    return answers_of_two_pl(60, 12, seed=5)


@pytest.fixture(scope="session")
def round_robin():
    """Twelve battles of each pair of six models."""
    rng = np.random.default_rng(4)
    strength = np.linspace(1.0, -1.0, 6)
    rows = []
    for i in range(6):
        for j in range(i + 1, 6):
            p = 1 / (1 + np.exp(strength[j] - strength[i]))
            rows += [(f"m{i}", f"m{j}", "a" if rng.random() < p else "b") for _ in range(12)]
    return Battles.build(*map(list, zip(*rows, strict=True)))


@pytest.fixture(scope="session")
def few_draws():
    """Settings of a posterior that takes a second."""
    return {"draws": 500, "tune": 200, "chains": 2, "rng": 1}


@pytest.fixture(scope="session")
def posterior_tree():
    return tree_of_draws


def tree_of_draws(variables, *, model, item=None, **attrs):
    """A posterior of given draws, in four chains."""
    dims = {"ability": "model", "strength": "model"}
    data = xr.Dataset(
        {
            name: (
                ("chain", "draw", dims.get(name, "item")),
                values.reshape(4, -1, values.shape[-1]),
            )
            for name, values in variables.items()
        },
        coords={"model": list(model)} | ({} if item is None else {"item": list(item)}),
    )
    found = xr.DataTree.from_dict({"posterior": data})
    found.attrs.update(attrs)
    return found
