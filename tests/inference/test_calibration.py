"""The calibrator passes what is calibrated, finds what is not, and swaps data faithfully."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytest

from neartie.inference.calibration import calibrate, truth_positions
from neartie.inference.calibration_result import Calibration, PairRecords
from neartie.inference.flat_model import flatten_model

N_SCORE, N_REPLICATE = 4, 80
# Of any row of a table, if the model is calibrated.
FALSE_ALARM = 0.001


@pytest.fixture(scope="module")
def toy():
    """Return a normal mean a model, three models, prior N(0, 1) and unit noise."""
    with pm.Model(coords={"model": ["a", "b", "c"]}) as model:
        mean = pm.Normal("mean", 0.0, 1.0, dims="model")
        pm.Normal("score", mean, 1.0, observed=np.zeros((N_SCORE, 3)))
    return model


def simulator(prior_sd: float = 1.0, noise: float = 1.0, *, used: int = N_SCORE):
    """Return a simulator that agrees with the toy at its defaults."""

    def simulate(rng):
        mean = prior_sd * rng.normal(size=3)
        score = mean + noise * rng.normal(size=(N_SCORE, 3))
        score[used:] = rng.normal(size=(N_SCORE - used, 3))
        return {"mean": mean}, {"score": score}

    return simulate


def calibrated(model, simulate, **settings) -> Calibration:
    return calibrate(
        model,
        simulate,
        ranking="mean",
        n_replicates=N_REPLICATE,
        draws=60,
        thin=2,
        tune=100,
        rng=11,
        **settings,
    )


def test_a_calibrated_model_passes(toy):
    found = calibrated(toy, simulator())
    table = found.table().set_index("quantity")
    assert list(table.index) == ["mean", "rank", "P(i above j)"]
    assert (table["p_adjusted"] > FALSE_ALARM).all()
    assert abs(table.loc["mean", "autocorrelation"]) < 0.2
    assert found.n_divergent == 0
    assert table.loc["mean", "covered_95"] == pytest.approx(0.95, abs=0.05)
    brier, expected = found.pairs.brier()
    assert brier == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize(
    ("simulate", "row"),
    [
        (simulator(prior_sd=3.0), "mean"),
        (simulator(noise=2.5), "mean"),
        (simulator(noise=2.5), "P(i above j)"),
        (simulator(used=0), "P(i above j)"),
    ],
    ids=["prior", "noise", "noise, orders", "other data"],
)
def test_what_is_wrong_is_found(toy, simulate, row):
    table = calibrated(toy, simulate, engine="laplace").table().set_index("quantity")
    assert table.loc[row, "p_adjusted"] < FALSE_ALARM


def test_quantities_may_depend_on_the_data(toy):
    def gap(values, data):
        return {"gap": values["mean"] - data["score"].mean(axis=0)}

    found = calibrate(
        toy, simulator(), quantities=gap, n_replicates=40, engine="laplace", draws=40, rng=1
    )
    assert found.positions["gap"].shape == (40, 3)
    assert found.pairs is None
    assert (found.table()["p_adjusted"] > FALSE_ALARM).all()


def test_the_same_seed_gives_the_same_positions(toy):
    first, second = (
        calibrate(toy, simulator(), n_replicates=3, draws=10, thin=1, tune=50, rng=4)
        for _ in range(2)
    )
    assert np.array_equal(first.positions["mean"], second.positions["mean"])


def test_a_limit_of_time_leaves_whole_data_sets(toy):
    found = calibrate(
        toy, simulator(), n_replicates=50, engine="laplace", draws=10, seconds=0.0, rng=4
    )
    whole = calibrate(toy, simulator(), n_replicates=2, engine="laplace", draws=10, rng=4)
    assert found.n_replicates == 2
    assert np.array_equal(found.positions["mean"], whole.positions["mean"])


def test_replaced_data_give_the_density_of_a_model_built_with_them(toy):
    score = np.random.default_rng(2).normal(size=(N_SCORE, 3))
    point = np.array([0.3, -1.0, 2.0])
    swapped = flatten_model(toy, replaceable=True).with_observed({"score": score})
    log_density, gradient = swapped.evaluate(point)
    exact = -0.5 * ((point**2).sum() + ((score - point) ** 2).sum())
    exact -= 0.5 * np.log(2 * np.pi) * (3 + score.size)
    assert log_density == pytest.approx(exact, abs=1e-10)
    assert gradient == pytest.approx((score - point).sum(axis=0) - point, abs=1e-10)


def test_data_of_another_shape_or_name_are_refused(toy):
    flat = flatten_model(toy, replaceable=True)
    with pytest.raises(ValueError, match=r"score has shape \(4, 3\), the new data \(2, 3\)"):
        flat.with_observed({"score": np.zeros((2, 3))})
    with pytest.raises(ValueError, match="'other' cannot be replaced"):
        flat.with_observed({"other": np.zeros(3)})


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"engine": "advi"}, "engine must be one of"), ({"draws": 7}, "draws even")],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        calibrate(None, simulator(), **settings)


def test_positions_are_uniform_where_truth_and_draws_tie():
    rng = np.random.default_rng(8)
    values = rng.integers(3, size=(5, 40_000)).astype(float)
    positions = truth_positions(values[:-1], values[-1], rng=rng)
    counts = np.histogram(positions, bins=10, range=(0, 1))[0]
    # Chi-square of ten cells; its .999 quantile with 9 degrees of freedom.
    assert ((counts - 4000) ** 2 / 4000).sum() < 27.9


def test_slope_is_one_for_few_draws_of_a_calibrated_posterior_and_below_for_a_bold_one():
    rng = np.random.default_rng(9)
    chance = rng.beta(0.7, 0.7, size=(400, 12))
    truth = (rng.random(chance.shape) < chance).astype(float)
    even, odd = (rng.binomial(5, chance) / 5 for _ in range(2))
    slope, error, p = PairRecords(truth, even, odd).slope()
    assert abs(slope - 1) < 3.3 * error
    assert p > FALSE_ALARM
    found, expected = PairRecords(truth, even, odd).brier()
    assert found == pytest.approx(expected, abs=0.01)
    bold = chance**3 / (chance**3 + (1 - chance) ** 3)
    even, odd = (rng.binomial(5, bold) / 5 for _ in range(2))
    slope, error, p = PairRecords(truth, even, odd).slope()
    assert slope < 1 - 3 * error
    assert p < FALSE_ALARM
