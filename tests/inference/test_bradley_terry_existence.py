"""Whether common parameters have finite estimates: a plain twin by brute force, and refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.inference.bradley_terry import build_problem, fit_bradley_terry
from neartie.inference.bradley_terry_existence import refuse_infinite
from neartie.inference.bradley_terry_kernel import evaluate, gauge_of, newton

rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from("abt")), min_size=2, max_size=12
).filter(lambda found: any(a != b for a, b, _ in found))
LABEL = {"a": "model_a", "b": "model_b", "t": "tie"}


def problem_of(found, ties, first_shown):
    a, b, winner = zip(*found, strict=True)
    battles = Battles.build([f"m{x}" for x in a], [f"m{x}" for x in b], [LABEL[w] for w in winner])
    return build_problem(
        battles.counts(by_position=first_shown),
        group=battles.separation().group,
        ties=ties,
        first_shown=first_shown,
        prior_sd=np.inf,
    )


@given(rows, st.sampled_from(("half", "davidson", "rao-kupper")), st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_is_accepted_converges_and_what_is_refused_does_not(found, ties, first_shown):
    problem = problem_of(found, ties, first_shown)
    try:
        refuse_infinite(problem)
    except DataError:
        # Some parameter runs away, or nothing tells it from strengths.
        optimum = newton(problem, max_iterations=60)
        information = evaluate(problem, optimum.point).information
        n = problem.n_model
        information[:n, :n] += gauge_of(problem.group)
        is_flat = np.linalg.eigvalsh(information)[0] < 1e-9
        assert is_flat or not optimum.converged or np.abs(optimum.point).max() > 8
        return
    if problem.n_parameter:
        optimum = newton(problem)
        assert optimum.converged
        assert np.abs(optimum.point).max() < 20


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_wins_in_a_chain_leave_ties_unbounded(ties):
    battles = Battles.build(["p", "q", "p"], ["q", "r", "q"], ["a", "a", "tie"])
    with pytest.raises(DataError, match="no chain of wins leads back"):
        fit_bradley_terry(battles, ties=ties)


def test_a_first_shown_that_always_wins_is_refused():
    battles = Battles.build(["p", "q"] * 3, ["q", "p"] * 3, ["a"] * 6)
    with pytest.raises(DataError, match="first-shown effect has no finite estimate"):
        fit_bradley_terry(battles, first_shown=True)


def test_one_order_only_does_not_tell_position_from_strength():
    battles = Battles.build(["p"] * 4, ["q"] * 4, ["a", "b", "a", "tie"])
    with pytest.raises(DataError, match="or it cannot be told from strength"):
        fit_bradley_terry(battles, first_shown=True)
    # a prior on strengths tells them apart
    assert fit_bradley_terry(battles, first_shown=True, prior_sd=1.0).converged


def test_unknown_positions_are_refused():
    battles = Battles.build(["p"] * 2, ["q"] * 2, ["a", "b"], first_shown=["", ""])
    with pytest.raises(DataError, match="who was shown first is not known for any battle"):
        fit_bradley_terry(battles, first_shown=True)
