"""Pointwise log-likelihood of battles: one value a row of counts, that of the plain twin."""

import numpy as np
import pytest
import xarray as xr

from neartie.data.battles import Battles
from neartie.inference.log_likelihood import add_log_likelihood
from neartie.models.bradley_terry_density import row_log_likelihood
from neartie.models.bradley_terry_design import design_battles
from neartie.models.bradley_terry_model import build_bradley_terry


def test_log_likelihood_has_one_value_a_pair():
    battles = Battles.build(
        ["p", "q", "r"], ["q", "r", "p"], ["a", "tie", "a"], weight=[3.0, 2.0, 0.5]
    )
    model, design = build_bradley_terry(battles), design_battles(battles)
    strength = np.random.default_rng(1).normal(size=(1, 4, 3))
    strength -= strength.mean(axis=-1, keepdims=True)
    posterior = xr.Dataset(
        {"strength": (("chain", "draw", "model"), strength)},
        coords={"model": list(battles.models), "chain": [0], "draw": range(4)},
    )
    tree = add_log_likelihood(xr.DataTree.from_dict({"posterior": posterior}), model)
    found = tree["log_likelihood"]["outcome"]
    assert found.dims == ("chain", "draw", "pair")
    expected = [row_log_likelihood({"strength": draw}, design) for draw in strength[0]]
    assert found.to_numpy()[0] == pytest.approx(np.array(expected), abs=1e-10)
