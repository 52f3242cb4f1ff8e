"""Comparison by leave-one-out: exact cases, and what is no comparison."""

import warnings

import numpy as np
import pytest
import xarray as xr
from scipy.special import logsumexp

from neartie.data.errors import DataError
from neartie.inference.compare_loo import compare_models

N_DRAW, N_CELL = 500, 30
# Independent draws, from which ArviZ reads how many of them are effective.
ABILITY = np.random.default_rng(0).normal(size=(2, N_DRAW, 1))


def tree(values, *, score=None, items=("q1", "q2"), cells=None):
    answers = np.zeros(N_CELL, dtype=int) if score is None else score
    place = np.arange(N_CELL) if cells is None else cells
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {"ability": (("chain", "draw", "model"), ABILITY)},
                coords={"item": list(items), "model": ["a"]},
            ),
            "observed_data": xr.Dataset({"score": ("cell", answers)}),
            "constant_data": xr.Dataset({"cell_item": ("cell", place)}),
            "log_likelihood": xr.Dataset({"score": (("chain", "draw", "cell"), values)}),
        }
    )


@pytest.fixture(scope="module")
def close():
    """Log-likelihoods that hardly vary: importance sampling is then all but exact."""
    rng = np.random.default_rng(1)
    level = rng.uniform(-2, -0.1, N_CELL)
    return level + 0.05 * rng.normal(size=(2, N_DRAW, N_CELL))


def test_elpd_is_the_harmonic_mean_where_weights_are_even(close):
    """Without heavy tails, leave-one-out is 1 / mean(1 / likelihood), cell by cell."""
    table = compare_models({"x": tree(close), "y": tree(close - 0.5)})
    flat = close.reshape(-1, N_CELL)
    expected = -(logsumexp(-flat, axis=0) - np.log(len(flat))).sum()
    assert table["model"].tolist() == ["x", "y"]
    assert table["elpd"][0] == pytest.approx(expected, abs=0.01)
    # A constant off every cell is a difference without any error.
    assert table["elpd_diff"].abs()[1] == pytest.approx(0.5 * N_CELL)
    assert table["diff_se"][1] == pytest.approx(0, abs=1e-6)
    assert table["share_high_k"].tolist() == [0, 0]


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, size: 1.2 * rng.exponential(size=size),
        # So heavy that ArviZ finds no k at all.
        lambda rng, size: rng.pareto(0.7, size),
    ],
    ids=["heavy", "wild"],
)
def test_answers_with_heavy_ratios_are_counted(close, draw):
    heavy = close.copy()
    heavy[:, :, :3] = -draw(np.random.default_rng(2), (2, N_DRAW, 3)) - 0.1
    with pytest.warns(UserWarning, match="leave-one-out estimate of heavy leans on single answers"):
        table = compare_models({"light": tree(close), "heavy": tree(heavy)})
    row = table.set_index("model").loc["heavy"]
    assert row["share_high_k"] == pytest.approx(3 / N_CELL)
    assert row["max_pareto_k"] > row["k_limit"]


def test_the_limit_of_k_is_that_of_arviz_for_as_many_draws(close):
    """A k between 1 - 1/log10(S) and 0.7 is high for S = 100 draws, and not for many."""
    from arviz_stats import loo

    rng = np.random.default_rng(8)
    few = close[:, :50].copy()
    few[:, :, 0] = -0.65 * rng.exponential(size=(2, 50)) - 0.1
    short = tree(close[:, :50])
    short["posterior"] = xr.DataTree(short["posterior"].to_dataset().isel(draw=slice(50)))
    fits = {"x": short, "y": short.copy()}
    fits["y"]["log_likelihood"] = xr.DataTree(
        xr.Dataset({"score": (("chain", "draw", "cell"), few)})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limit = loo(fits["y"], pointwise=True).good_k
        table = compare_models(fits).set_index("model")
    assert limit == pytest.approx(0.5)
    assert table["k_limit"].tolist() == [limit, limit]
    assert limit < table.loc["y", "max_pareto_k"] < 0.7
    assert table.loc["y", "share_high_k"] == pytest.approx(1 / N_CELL)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-0.3, "'y' is the same in all draws for row 3, so that"),
        (np.nan, "'y' is not finite in some draw for row 3"),
        (-np.inf, "'y' is not finite in some draw for row 3"),
    ],
)
def test_answers_that_say_nothing_of_the_draws_are_named(close, value, words):
    still = close.copy()
    still[:, :, 2] = value
    with pytest.raises(DataError, match=words):
        compare_models({"x": tree(close), "y": tree(still)})
    still[:, :, 5] = value
    named = [tree(values, items=[f"q{i}" for i in range(N_CELL)]) for values in (close, still)]
    for one in named:
        known = one["constant_data"].to_dataset()
        known = known.assign(cell_model=("cell", np.zeros(N_CELL, dtype=int)))
        one["constant_data"] = xr.DataTree(known)
    with pytest.raises(DataError, match="the answer of model 'a' to item 'q2' and of 1 other"):
        compare_models({"x": named[0], "y": named[1]})


def test_tails_without_any_spread_are_a_sentence(close):
    """What ArviZ says of them names no model."""
    flat = close.copy()
    flat[:, :, 0] = -0.3
    flat[0, 0, 0] = -0.2
    with pytest.raises(DataError, match="no estimate for 'y': all tail values are the same"):
        compare_models({"x": tree(close), "y": tree(flat)})


@pytest.mark.parametrize(
    "change",
    [
        {"score": np.ones(N_CELL, dtype=int)},
        {"cells": np.arange(N_CELL)[::-1]},
        {"items": ("q1", "q3")},
    ],
    ids=["answers", "cells", "items"],
)
def test_fits_of_different_data_are_not_compared(close, change):
    with pytest.raises(DataError, match="'x' and 'y' are not fits of the same answers"):
        compare_models({"x": tree(close), "y": tree(close, **change)})


def test_order_of_the_fits_changes_nothing(close):
    fits = {"x": tree(close), "y": tree(close - 0.5)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, two = compare_models(fits), compare_models(dict(reversed(fits.items())))
    assert one["model"].tolist() == two["model"].tolist()
    np.testing.assert_allclose(one["elpd"], two["elpd"])
