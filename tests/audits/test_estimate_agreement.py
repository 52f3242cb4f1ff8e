"""Estimates beside draws, value by value: laws, a plain twin, cases by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from neartie.audits.estimate_agreement import (
    centred,
    compare_values,
    mass_of_differences,
    stretch,
    summarise_values,
)
from neartie.audits.estimate_pairs import CAUSES, CHANGES, causes, changes
from neartie.audits.estimates_result import rule_of, verdict_of
from neartie.audits.rank_pairs import compare_normal

# other work on the machine is no failure
QUICK = settings(deadline=None, max_examples=50)
whole = st.integers(-50, 50).map(float)
draw_arrays = arrays(float, (7, 3), elements=whole).filter(lambda d: (d.std(axis=0) > 0).all())
RATIOS = ["se_ratio", "overlap", "mass", "bias_sd"]


@QUICK
@given(draw_arrays, whole, st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_origin_and_unit_change_no_ratio(draws, shift, unit):
    estimate, se = np.array([1.0, -3.0, 0.5]), np.array([0.5, 4.0, 20.0])
    plain = compare_values(estimate, se, draws, level=0.9)
    moved = compare_values(unit * (estimate + shift), unit * se, unit * (draws + shift), level=0.9)
    # limits are sums that round: a draw on one may fall to either side
    pd.testing.assert_frame_equal(plain[RATIOS[:2]], moved[RATIOS[:2]], atol=1e-9)
    assert plain["overlap"].between(0, 1).all()
    assert plain["mass"].between(0, 1).all()


@QUICK
@given(draw_arrays, st.permutations(range(7)))
def test_the_order_of_draws_changes_nothing(draws, order):
    estimate, se = np.zeros(3), np.ones(3)
    plain = compare_values(estimate, se, draws, level=0.9)
    turned = compare_values(estimate, se, draws[list(order)], level=0.9)
    pd.testing.assert_frame_equal(plain, turned, atol=1e-9)


@QUICK
@given(arrays(float, (5, 6), elements=whole))
def test_centring_leaves_differences_within_a_set(draws):
    component = np.array([0, 1, 0, 1, 1, 2])
    found = centred(draws, component)
    assert found[:, 5] == pytest.approx(0, abs=1e-12)
    for code in (0, 1):
        inside = component == code
        assert found[:, inside].sum(axis=1) == pytest.approx(0, abs=1e-9)
        assert np.diff(found[:, inside]) == pytest.approx(np.diff(draws[:, inside]), abs=1e-9)


@QUICK
@given(arrays(float, (9, 4), elements=whole), arrays(bool, (4, 4)))
def test_mass_of_differences_is_that_of_a_plain_loop(draws, flags):
    comparable = flags | flags.T
    low, high = np.full((4, 4), -7.0), np.full((4, 4), 12.0)
    held = [
        (low[i, j] <= row[i] - row[j] <= high[i, j])
        for i in range(4)
        for j in range(i + 1, 4)
        if comparable[i, j]
        for row in draws
    ]
    found = mass_of_differences(draws, low, high, comparable)
    assert found == pytest.approx(np.mean(held)) if held else np.isnan(found)


def test_very_many_pairs_are_judged_by_some_of_the_draws(monkeypatch):
    rng = np.random.default_rng(3)
    draws = rng.normal(size=(4000, 12))
    limits = np.full((12, 12), np.sqrt(2) * 1.96)
    every = mass_of_differences(draws, -limits, limits, np.ones((12, 12), bool))
    monkeypatch.setattr("neartie.audits.estimate_agreement._MOST_CHECKS", 66 * 400)
    some = mass_of_differences(draws, -limits, limits, np.ones((12, 12), bool))
    assert some != every
    assert some == pytest.approx(every, abs=0.01)
    assert every == pytest.approx(0.95, abs=0.005)


def test_overlap_by_hand():
    # the printed interval is (-1, 1); the posterior's runs from 0 to 3
    draws = np.linspace(0, 3, 1001)[:, None]
    z = stats.norm.ppf(0.975)
    found = compare_values(np.zeros(1), np.full(1, 1 / z), draws, level=0.95).iloc[0]
    below, above = np.quantile(draws, [0.025, 0.975])
    assert found["overlap"] == pytest.approx((1 - below) / (above + 1))
    assert found["mass"] == pytest.approx(334 / 1001)
    apart = compare_values(np.full(1, 9.0), np.full(1, 0.1), draws, level=0.95).iloc[0]
    assert (apart["overlap"], apart["mass"]) == (0.0, 0.0)


def test_a_stretch_is_taken_out():
    mean = np.array([-1.0, 0.25, 0.75])
    draws = mean + np.array([-0.1, 0.0, 0.1])[:, None]
    found = summarise_values(
        compare_values(0.8 * mean, np.full(3, 0.1), draws, level=0.95), has_unit=True
    )
    assert found["stretch"] == pytest.approx(0.8)
    assert found["bias_rms_unit"] == pytest.approx(0, abs=1e-12)
    assert found["bias_rms"] == pytest.approx(0.2 * np.sqrt(np.mean(mean**2)))
    assert np.isnan(stretch(np.ones(2), np.zeros(2)))


def comparison(difference, se):
    """Two models so far apart, with so large an error of the difference."""
    estimate = np.array([difference, 0.0])
    return compare_normal(estimate, np.eye(2) * se**2 / 2, estimate[None], level=0.95)


@pytest.mark.parametrize(
    ("printed", "posterior", "change"),
    [
        ((3.0, 1.0), (3.0, 1.0), None),
        ((3.0, 1.0), (-3.0, 1.0), "opposite"),
        ((2.1, 1.0), (2.1, 1.2), "estimate_alone"),
        ((1.0, 1.0), (2.1, 1.0), "posterior_alone"),
        ((0.2, 1.0), (-0.2, 1.0), "reversed"),
        ((0.2, 1.0), (0.0, 1.0), None),
    ],
)
def test_how_verdicts_differ(printed, posterior, change):
    found = changes(comparison(*printed), comparison(*posterior))[0, 1]
    assert found == (-1 if change is None else CHANGES.index(change))


@pytest.mark.parametrize(
    ("change", "mine", "theirs", "verdict", "cause"),
    [
        # the error is too small: with the posterior's, nothing would be resolved
        ("estimate_alone", (3.0, 1.0), (3.0, 2.0), 0, "se"),
        ("estimate_alone", (3.0, 1.0), (1.0, 1.0), 0, "estimate"),
        ("estimate_alone", (2.0, 1.0), (1.9, 1.1), 0, "either"),
        ("posterior_alone", (1.0, 2.0), (3.0, 1.0), 1, "both"),
        # a normal distribution with its mean and spread would be resolved, the posterior is not
        ("estimate_alone", (3.0, 1.0), (3.0, 1.0), 0, "shape"),
        ("reversed", (0.2, 1.0), (-0.2, 1.0), 0, "estimate"),
        ("opposite", (3.0, 1.0), (-3.0, 1.0), -1, "estimate"),
    ],
)
def test_what_accounts_for_it(change, mine, theirs, verdict, cause):
    found = causes(
        np.array([CHANGES.index(change)]),
        mine=tuple(np.array([value]) for value in mine),
        theirs=tuple(np.array([value]) for value in theirs),
        verdict=np.array([verdict], dtype=np.int8),
        level=0.95,
    )
    assert CAUSES[found[0]] == cause


@pytest.mark.parametrize(
    ("mass", "verdict"),
    [(0.929, "hold less"), (0.93, "hold"), (0.97, "hold"), (0.971, "hold more")],
)
def test_the_rule(mass, verdict):
    assert verdict_of(mass, level=0.95, known=True) == verdict
    assert verdict_of(mass, level=0.95, known=False) == "cannot say"
    assert "93 to 97%" in rule_of(0.95)
