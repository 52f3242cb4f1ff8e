"""Records and tables of a validation: right posteriors pass, wrong ones are found, sums are right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from neartie.audits.few_data_sets import ENOUGH, share_limits, share_p_value
from neartie.audits.validation_points import PointFit
from neartie.audits.validation_record import (
    MOST_PAIRS,
    record_draws,
    record_estimates,
    tracked_pairs,
)
from neartie.audits.validation_tables import (
    coverage_table,
    data_set_table,
    order_table,
    position_table,
    quantity_table,
    rank_table,
)
from neartie.audits.validation_words import claim, held, notices, verdict

N_MODEL, N_DRAW, N_SET = 5, 400, 80
# Of any row, for a right engine.
FALSE_ALARM = 0.001


def records(*, scale: float = 1.0, shift: float = 0.0, n_set: int = N_SET, seed: int = 1):
    """Return records of posteriors that are known: a normal mean a model, prior and noise of 1.

    `scale` narrows the draws, `shift` moves them.
    """
    found = []
    for number in range(n_set):
        rng = np.random.default_rng([seed, number])
        truth = rng.normal(size=(1, N_MODEL))
        data = truth + rng.normal(size=truth.shape)
        draws = 0.5 * data + shift + scale * np.sqrt(0.5) * rng.normal(size=(N_DRAW, N_MODEL))
        record = record_draws(
            {"ability": draws},
            {"ability": truth},
            ranking="ability",
            n_chain=2,
            component=np.zeros(N_MODEL, dtype=np.intp),
            sampled=True,
            rng=rng,
        )
        found.append({"data_set": number, "failed": "", "n_divergent": 0, **record})
    return found


@pytest.fixture(scope="module")
def right():
    return records()


def test_a_right_posterior_passes(right):
    quantities, coverage = quantity_table(right), coverage_table(right, ranking="ability")
    assert quantities["quantity"].tolist() == ["ability", "rank", "P(i above j)"]
    assert (quantities["p_adjusted"] > FALSE_ALARM).all()
    assert (coverage["p"] > FALSE_ALARM / len(coverage)).all()
    assert coverage["quantity"].unique().tolist() == ["ability", "ability difference"]
    # a posterior of known width: the standard deviation of a mean is the root of a half
    width = coverage.query("quantity == 'ability' and level == .95")["width"].item()
    assert width == pytest.approx(2 * 1.96 * np.sqrt(0.5), rel=0.02)
    rmse = quantities.set_index("quantity").loc["ability", "rmse"]
    assert rmse == pytest.approx(np.sqrt(0.5), rel=0.1)
    said = verdict(quantities, coverage, "ability", n_data_sets=N_SET, matched=True, alpha=0.01)
    assert said.startswith("Nothing tested departs from calibration (3 rows")
    assert "for abilities, one below 9" in said
    ranks = rank_table(right).set_index("statistic")
    assert ranks.loc["all_in_sets", "high"] > 0.95
    assert ranks.loc["in_sets", "value"] >= ranks.loc["all_in_sets", "value"]
    assert ranks.loc["in_intervals", "value"] > 0.93
    # of two models 0 apart on average, with what is known of them: less than that of a coin
    assert 0.05 < ranks.loc["brier", "value"] < 0.25


def test_intervals_that_are_too_narrow_are_found():
    narrow = records(scale=0.7, n_set=40)
    quantities, coverage = quantity_table(narrow), coverage_table(narrow, ranking="ability")
    rows = quantities.set_index("quantity")
    assert rows.loc["ability", "p_adjusted"] < FALSE_ALARM
    assert rows.loc["ability", "spread"] > 1.1
    assert rows.loc["P(i above j)", "slope"] < 1
    covered = coverage.query("quantity == 'ability' and level == .95").iloc[0]
    exact = 2 * stats.norm.cdf(0.7 * 1.96) - 1
    assert covered["covered"] == pytest.approx(exact, abs=4 * covered["se"])
    assert covered["high"] < 0.95
    said = verdict(quantities, coverage, "ability", n_data_sets=N_SET, matched=True, alpha=0.01)
    assert "Not calibrated" in said
    assert "abilities too narrow (spread" in said
    assert "95% intervals that do not hold 95%: abilities" in said


def test_draws_that_lie_too_high_are_found():
    high = records(shift=0.5, n_set=40)
    rows = quantity_table(high).set_index("quantity")
    assert rows.loc["ability", "mean_position"] < 0.45
    assert rows.loc["ability", "bias"] == pytest.approx(0.5, abs=0.15)
    coverage = coverage_table(high, ranking="ability")
    said = verdict(
        rows.reset_index(), coverage, "ability", n_data_sets=40, matched=False, alpha=0.01
    )
    assert "abilities too high (mean position" in said
    assert "Truths came from other priors" in said


def test_errors_are_over_data_sets():
    """All components of a data set share their fate: the error is that of the data sets."""
    part = {"n": 50, "missing": 0, "bias": 0.0, "square": 1.0, "width": [1.0, 2.0, 3.0]}
    shared = [
        {"quantities": {"a": {**part, "covered": [held_, held_, held_]}}, "differences": {}}
        for held_ in [1.0] * 15 + [0.0] * 5
    ]
    row = coverage_table(shared, ranking="a").query("level == .5").iloc[0]
    assert row["covered"] == 0.75
    assert row["se"] == pytest.approx(np.std([1] * 15 + [0] * 5, ddof=1) / np.sqrt(20))
    exact = stats.binomtest(15, 20).proportion_ci(method="exact")
    assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high))


def all_held(n_set, share=1.0):
    """Return the coverage of data sets that hold the same share of their truths."""
    part = {"n": 5, "missing": 0, "bias": 0.0, "square": 1.0, "width": [1.0, 2.0, 3.0]}
    part |= {"covered": [share] * 3}
    sets = [{"quantities": {"a": part}, "differences": {}} for _ in range(n_set)]
    return coverage_table(sets, ranking="a").query("level == .95").iloc[0]


@pytest.mark.parametrize("n_set", [2, 40])
def test_data_sets_that_are_all_alike_have_no_error_of_zero(n_set):
    row = all_held(n_set)
    exact = stats.binomtest(n_set, n_set).proportion_ci(method="exact")
    assert np.isnan(row["se"])
    assert np.isnan(row["width_se"])
    assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high))
    # that all hold is what a coverage of 95 % does, so that it is no proof against it
    assert row["p"] == pytest.approx(min(1.0, 2 * 0.95**n_set))
    assert all_held(n_set, share=0.0)["p"] == pytest.approx(2 * 0.05**n_set)


@pytest.mark.parametrize("shares", [[1.0, 0.9], [0.95] * 30, [1.0] * 25, [0.7, 0.8, 0.9] * 8])
def test_the_p_value_of_a_share_and_its_limits_agree(shares):
    low, high = share_limits(shares)
    for limit in (low, high):
        if 0 < limit < 1:
            assert share_p_value(shares, expected=limit) == pytest.approx(0.05)


@pytest.mark.parametrize("n_set", [2, ENOUGH - 1])
def test_few_data_sets_have_no_verdict_whatever_they_show(n_set):
    """Intervals that hold far too little, in too few data sets to be believed."""
    narrow = records(scale=0.1, n_set=n_set)
    quantities, coverage = quantity_table(narrow), coverage_table(narrow, ranking="ability")
    said = verdict(quantities, coverage, "ability", n_data_sets=n_set, matched=False, alpha=0.01)
    assert said.startswith(f"{n_set} data sets are too few to judge by: with {ENOUGH}")
    assert "alibrat" not in said.split("Truths came")[0]
    claimed = claim(coverage, "ability", n_data_sets=n_set)
    assert claimed.endswith("which are too few to judge by.")
    assert "±" not in claimed
    enough = verdict(quantities, coverage, "ability", n_data_sets=ENOUGH, matched=True, alpha=0.01)
    assert enough.startswith("Not calibrated") or "95% intervals" in enough


def test_limits_of_shares_are_never_of_no_width():
    assert share_limits(np.ones(10))[0] == pytest.approx(0.025 ** (1 / 10))
    low, high = share_limits(np.full(10, 0.9))
    assert low < 0.9 < high
    assert held({"covered": 0.0, "se": np.nan, "low": 0.0, "high": 0.1}) == "0.0% (at most 10.0%)"


def test_positions_ranks_and_orders_are_counted(right):
    positions = position_table(right)
    assert len(positions) == N_SET * 2 * N_MODEL
    assert positions["position"].between(0, 1).all()
    orders = order_table(right)
    assert orders["n"].sum() == N_SET * N_MODEL * (N_MODEL - 1) / 2
    assert (orders["said"].dropna().between(0.5, 1)).all()
    sets = data_set_table(right)
    assert (sets["failed"] == "").all()
    assert sets["min_ess"].between(50, 600).all()


def test_ranks_are_judged_within_connected_sets():
    truth = np.array([[3.0, 1.0, 9.0, 7.0]])
    rng = np.random.default_rng(2)
    draws = truth + 0.01 * rng.normal(size=(200, 4))
    record = record_draws(
        {"strength": draws},
        {"strength": truth},
        ranking="strength",
        n_chain=1,
        component=np.array([0, 0, 1, 1]),
        sampled=False,
        rng=rng,
    )
    ranks = record["ranks"]
    assert ranks["all_in_sets"]
    assert (ranks["n_pair"], ranks["resolved_jointly"], ranks["resolved_jointly_wrong"]) == (
        2,
        2,
        0,
    )
    assert record["mixing"] == {}
    upside_down = record_draws(
        {"strength": -draws},
        {"strength": truth},
        ranking="strength",
        n_chain=1,
        component=np.array([0, 0, 1, 1]),
        sampled=False,
        rng=rng,
    )
    assert not upside_down["ranks"]["all_in_sets"]
    assert upside_down["ranks"]["resolved_wrong"] == 2


def estimated(estimate, error, truth):
    fit = PointFit(
        estimates={"strength": (np.array(estimate), np.array(error))},
        ranking="strength",
        covariance=np.diag(np.square(error)),
        component=np.zeros(len(estimate), dtype=np.int64),
        converged=True,
        seconds=0.0,
    )
    return record_estimates(fit, {"strength": np.array(truth)})


def test_estimates_without_a_finite_interval_are_counted_apart():
    record = estimated([0.5, -0.5, np.nan], [0.1, 0.1, np.nan], [1.5, 0.5, -2.0])
    part = record["quantities"]["strength"]
    assert (part["n"], part["missing"]) == (2, 1)
    assert record["ranks"] == {}
    whole = estimated([1.0, 0.0, -1.0], [0.1, 0.1, 0.1], [3.0, 2.0, 1.0])
    # truths are centred as the estimates are
    assert whole["quantities"]["strength"]["bias"] == pytest.approx(0.0)
    assert whole["quantities"]["strength"]["covered"] == [1.0, 1.0, 1.0]
    assert whole["ranks"]["all_in_sets"]


def test_of_equal_estimates_without_error_neither_is_above():
    """Two models with the same answers can have a difference of 0 with an error of 0."""
    fit = PointFit(
        estimates={"expected_score": (np.array([0.5, 0.5, 0.2]), np.full(3, 0.1))},
        ranking="expected_score",
        covariance=0.01 * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        component=np.zeros(3, dtype=np.int64),
        converged=True,
        seconds=0.0,
    )
    orders = record_estimates(fit, {"expected_score": np.array([0.6, 0.4, 0.1])})["orders"]
    sure = stats.norm.cdf(0.3 / np.sqrt(0.02))
    assert orders["brier"] == pytest.approx((0.25 + 2 * (1 - sure) ** 2) / 3)
    assert orders["bins"][0][0] == 1


def test_difficulties_move_with_abilities():
    fit = PointFit(
        estimates={
            "ability": (np.array([0.5, -0.5]), np.full(2, 0.1)),
            "difficulty": (np.array([0.0]), np.array([0.1])),
        },
        ranking="ability",
        covariance=0.01 * np.eye(2),
        component=np.zeros(2, dtype=np.int64),
        converged=True,
        seconds=0.0,
    )
    record = record_estimates(fit, {"ability": np.array([3.5, 2.5]), "difficulty": np.array([3.0])})
    assert [part["bias"] for part in record["quantities"].values()] == pytest.approx([0.0, 0.0])


def test_pairs_are_all_or_evenly_spaced():
    first, second = tracked_pairs(np.zeros(80, dtype=np.intp))
    assert len(first) == MOST_PAIRS
    assert (first < second).all()
    assert {0, 78} <= set(first.tolist())


def test_caveats_say_what_went_wrong(right):
    quantities = quantity_table(right).assign(autocorrelation=[0.4, np.nan, np.nan])
    sets = data_set_table(right)
    sets.loc[0, "failed"] = "no mode"
    sets.loc[1, ["n_divergent", "max_rhat", "min_ess"]] = [3, 1.4, 12]
    said = notices(quantities, sets, kind="residual-dif")
    assert "1 of 80 data sets have no fit" in said[0]
    assert "no mode" in said[0]
    for part in ("diverged in 1 data set", "R-hat above 1.05", "below 100 in 1 data set",
                 "autocorrelation 0.40 of ability", "offset is taken as known"):  # fmt: skip
        assert any(part in text for text in said), part


def test_the_claim_names_what_ranks_models(right):
    coverage = coverage_table(right, ranking="ability")
    said = claim(coverage, "ability", n_data_sets=N_SET)
    assert said.startswith("95% intervals of abilities held 9")
    assert said.endswith("of truths in 80 simulated data sets of this design.")
