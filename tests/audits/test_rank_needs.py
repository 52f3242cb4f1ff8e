"""What would it take: closed forms against simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from neartie.audits.rank_needs import (
    chance_to_resolve,
    expected_probability,
    unit_information,
    units_to_resolve,
    what_would_it_take,
)
from neartie.audits.ranks import rank_models
from neartie.data.battles import Battles
from neartie.inference.bradley_terry import fit_bradley_terry

gaps = st.floats(-3, 3).filter(lambda d: abs(d) > 1e-3)
variances = st.floats(1e-3, 10)
informations = st.floats(1e-3, 1)


def one(*values):
    return [np.array([value]) for value in values]


@given(gaps, variances, informations, st.floats(1, 4))
def test_the_needed_number_is_the_smallest(d, v, information, z):
    need = units_to_resolve(*one(d, v, information), z=z)[0]

    def resolved(n):
        return abs(d) * np.sqrt(1 / v + n * information) >= z * (1 - 1e-6)

    assert resolved(need)
    assert need == 0 or not resolved(need - 1 - 1e-3 * need)


@given(gaps, variances, informations, st.integers(0, 1000))
def test_nothing_more_changes_nothing_and_much_more_decides(d, v, information, n):
    now = stats.norm.cdf(d / np.sqrt(v))
    arguments = one(d, v, information)
    assert expected_probability(*arguments, n=0)[0] == pytest.approx(now)
    later = expected_probability(*arguments, n=n)[0]
    assert abs(later - 0.5) >= abs(now - 0.5) - 1e-9
    assert expected_probability(*arguments, n=1e12)[0] == pytest.approx(float(d > 0), abs=1e-6)
    assert chance_to_resolve(*arguments, n=1e12, z=1.96)[0] == pytest.approx(1, abs=0.01)


def test_both_probabilities_are_those_of_simulation():
    rng = np.random.default_rng(1)
    d, v, information, n, z = 0.4, 0.09, 0.05, 120, 1.96
    future = 1 / (1 / v + n * information)

    def future_estimate(truth):
        data = rng.normal(truth, np.sqrt(1 / (n * information)))
        return future * (d / v + n * information * data)

    size = 200_000
    fixed = future_estimate(np.full(size, d))
    # the means of 200,000 repeats: four standard errors
    expected = stats.norm.cdf(fixed / np.sqrt(future))
    found = expected_probability(*one(d, v, information), n=n)[0]
    assert found == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(size))
    predicted = np.abs(future_estimate(rng.normal(d, np.sqrt(v), size=size))) > z * np.sqrt(future)
    found = chance_to_resolve(*one(d, v, information), n=n, z=z)[0]
    assert found == pytest.approx(predicted.mean(), abs=4 * 0.5 / np.sqrt(size))


def test_a_battle_has_the_information_of_a_coin():
    assert unit_information([0.0, 1.5], [1, 1], unit="battles") == pytest.approx(
        [0.25, special.expit(1.5) * special.expit(-1.5)]
    )
    # twice as many items: half the variance
    information = unit_information([0.3], [0.02], unit="items", n_items=50)
    assert 1 / (1 / 0.02 + 50 * information[0]) == pytest.approx(0.01)


def test_the_battles_that_it_takes_do_resolve():
    def record(times):
        battles = Battles.build(
            ["moss"] * 13 * times, ["fern"] * 13 * times, (["a"] * 9 + ["b"] * 4) * times
        )
        return rank_models(fit_bradley_terry(battles, phantom_wins=0), rng=1)

    needed = what_would_it_take(record(1), unit="battles", more=[0])["n_resolves"][0]
    # at the same record, 13 more battles do not suffice and 26 do
    assert 13 < needed <= 26
    assert record(2).pairs["resolved"][0] == 0
    assert record(3).pairs["resolved"][0] == 1


def test_rows_go_pair_by_pair():
    estimate = np.array([0.0, 0.5, 0.5, 2.0])
    ranking = rank_models(estimate, models=list("abcd"), covariance=np.eye(4) / 100, rng=1)
    table = what_would_it_take(ranking, unit="items", n_items=100, more=[10, 100])
    assert table["model_a"].tolist() == ["d", "d", "b", "b", "c", "c"]
    assert table["n"].tolist() == [10, 100] * 3
    assert np.isinf(table["n_resolves"][2])
    assert table["p_expected"][2] == 0.5
    every = what_would_it_take(ranking, unit="items", n_items=100, more=[10], pairs="all")
    assert len(every) == 6
    joint = what_would_it_take(ranking, unit="items", n_items=100, more=[10], jointly=True)
    assert (joint["n_resolves"] >= table["n_resolves"][::2].to_numpy()).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "votes"}, "unit must be one of items, battles"),
        ({"unit": "items"}, "n_items must be"),
        ({"unit": "battles"}, "ranked by 'score'"),
        ({"unit": "items", "n_items": 5, "pairs": "some"}, "neighbours or all"),
        ({"unit": "items", "n_items": 5, "more": []}, "more must hold"),
    ],
)
def test_options_out_of_range(options, words):
    ranking = rank_models([0.0, 1.0], models=["a", "b"], covariance=np.eye(2), rng=1)
    with pytest.raises(ValueError, match=words):
        what_would_it_take(ranking, **options)
