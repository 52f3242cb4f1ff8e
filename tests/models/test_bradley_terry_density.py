"""Densities of paired comparisons: laws, and derivatives by finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.models.bradley_terry import TIE_MODELS, log_likelihood, outcome_log_probabilities

logits = st.floats(-30, 30)
tie_parameters = st.floats(0.05, 4)


@given(logits, tie_parameters, st.sampled_from(("davidson", "rao-kupper")))
def test_outcomes_sum_to_one(delta, tie, ties):
    chances = np.exp(outcome_log_probabilities(delta, tie, ties=ties))
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)


@given(logits)
def test_without_ties_two_outcomes_sum_to_one(delta):
    first, second, tied = outcome_log_probabilities(delta)
    assert np.exp(first) + np.exp(second) == pytest.approx(1.0, abs=1e-12)
    assert tied == pytest.approx(0.5 * (first + second))


@given(logits, tie_parameters, st.sampled_from(TIE_MODELS))
def test_changing_sides_changes_names_only(delta, tie, ties):
    first, second, tied = outcome_log_probabilities(delta, tie, ties=ties)
    other = outcome_log_probabilities(-delta, tie, ties=ties)
    assert other == pytest.approx((second, first, tied), abs=1e-12)


@pytest.mark.parametrize(("ties", "tie"), [("davidson", -40.0), ("rao-kupper", 1e-12)])
def test_without_a_chance_of_ties_the_models_agree(ties, tie):
    delta = np.linspace(-3, 3, 7)
    plain = outcome_log_probabilities(delta)
    assert outcome_log_probabilities(delta, tie, ties=ties)[:2] == pytest.approx(
        np.array(plain[:2]), abs=1e-10
    )


def test_the_papers_forms():
    strong, weak, nu, theta = 2.0, 0.5, 0.7, 1.6
    first, _, tied = outcome_log_probabilities(np.log(strong / weak), np.log(nu), ties="davidson")
    total = strong + weak + nu * np.sqrt(strong * weak)
    assert np.exp(first) == pytest.approx(strong / total)
    assert np.exp(tied) == pytest.approx(nu * np.sqrt(strong * weak) / total)
    first, _, tied = outcome_log_probabilities(
        np.log(strong / weak), np.log(theta), ties="rao-kupper"
    )
    assert np.exp(first) == pytest.approx(strong / (strong + theta * weak))
    product = (strong + theta * weak) * (weak + theta * strong)
    assert np.exp(tied) == pytest.approx((theta**2 - 1) * strong * weak / product)


@given(logits, tie_parameters, st.sampled_from(TIE_MODELS))
def test_likelihood_is_the_weighted_sum_of_outcomes(delta, tie, ties):
    terms = log_likelihood(
        np.array([delta]), np.array([2.0]), np.array([1.5]), np.array([3.0]), ties=ties, tie=tie
    )
    first, second, tied = outcome_log_probabilities(delta, tie, ties=ties)
    assert terms.value[0] == pytest.approx(2 * first + 1.5 * second + 3 * tied, abs=1e-10)


@given(st.floats(-6, 6), st.floats(0.1, 3), st.sampled_from(TIE_MODELS))
def test_derivatives_by_finite_differences(delta, tie, ties):
    counts = np.array([2.0]), np.array([1.5]), np.array([3.0])
    h = 1e-5

    def at(d, t):
        return log_likelihood(np.array([d]), *counts, ties=ties, tie=t)

    # central differences of step 1e-5 are exact to about 1e-9 here
    here = at(delta, tie)
    up, down = at(delta + h, tie), at(delta - h, tie)
    assert here.by_logit[0] == pytest.approx((up.value[0] - down.value[0]) / (2 * h), abs=1e-6)
    assert -here.info_logit[0] == pytest.approx(
        (up.by_logit[0] - down.by_logit[0]) / (2 * h), abs=1e-6
    )
    if ties == "half":
        return
    more, less = at(delta, tie + h), at(delta, tie - h)
    assert here.by_tie[0] == pytest.approx((more.value[0] - less.value[0]) / (2 * h), abs=1e-5)
    assert -here.info_tie[0] == pytest.approx(
        (more.by_tie[0] - less.by_tie[0]) / (2 * h), rel=1e-5, abs=1e-5
    )
    assert -here.info_cross[0] == pytest.approx((up.by_tie[0] - down.by_tie[0]) / (2 * h), abs=1e-6)


@pytest.mark.parametrize("ties", TIE_MODELS)
@pytest.mark.parametrize("delta", [-800.0, 800.0])
def test_extreme_logits_stay_finite(ties, delta):
    terms = log_likelihood(
        np.array([delta]), np.ones(1), np.ones(1), np.ones(1), ties=ties, tie=0.5
    )
    assert np.isfinite(np.array(terms)).all()
    # every loss against these odds costs about as many nats as they measure
    assert terms.value[0] < -799
