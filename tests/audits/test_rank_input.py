"""Ranks at the borders of what can be ranked, and what is refused in a sentence."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.ranks import rank_models
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.inference.bradley_terry import fit_bradley_terry

IDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]


def draws_of(seed, *, n_draw=200, n_model=6, coarse=False):
    rng = np.random.default_rng(seed)
    draws = rng.normal(size=n_model) + rng.normal(size=(n_draw, n_model))
    # steps of 1/64 add up and subtract without rounding
    return np.round(draws * (1 if coarse else 64)) / (1 if coarse else 64)


def ranked(draws, **options):
    return rank_models(draws, models=IDS[: draws.shape[1]], **options)


def same(left, right, *, but=()):
    for name in ("ranks", "pairs", "rank_probability"):
        a, b = getattr(left, name), getattr(right, name)
        columns = [column for column in a if column not in but]
        pd.testing.assert_frame_equal(a[columns], b[columns], rtol=1e-9, atol=1e-9)


def test_one_model():
    found = ranked(np.zeros((50, 1)))
    assert found.ranks.loc[0, ["rank", "rank_set_low", "rank_set_high", "tier"]].tolist() == [1] * 4
    assert found.pairs.empty
    assert found.grid().shape == (1, 1)
    one = rank_models([2.0], models=["ant"], covariance=[[0.0]], rng=1)
    assert one.ranks.loc[0, "p_best"] == 1


def test_identical_draws_are_tied():
    draws = draws_of(1)
    draws[:, 1] = draws[:, 0]
    found = ranked(draws)
    pair = found.pair("ant", "bee")
    assert (pair["p_tied"], pair["p_above"], pair["resolved"]) == (1, 0, 0)
    table = found.ranks.set_index("model")
    assert table.loc["ant", "rank"] == table.loc["bee", "rank"]
    assert table.loc["ant", "rank_mean"] == table.loc["bee", "rank_mean"]
    assert any("without any uncertainty" in warning for warning in found.warnings)


def test_constant_scores_are_resolved_exactly():
    found = ranked(np.tile([3.0, 2.0, 2.0], (500, 1)))
    assert found.ranks["rank"].tolist() == [1, 2, 2]
    assert found.ranks["tier"].tolist() == [1, 2, 2]
    assert found.ranks["rank_set_low"].tolist() == [1, 2, 2]


def test_members_of_a_subset_are_ranked_among_themselves():
    draws = draws_of(4)
    part = rank_models(draws, models=IDS[:6], among=["dog", "ant"])
    alone = rank_models(draws[:, [0, 3]], models=["ant", "dog"])
    same(part, alone)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"models": ["a", "a"]}, "'a' is there more than once"),
        ({"models": ["a", " "]}, "the id of model 2 is blank"),
        ({"models": ["a"]}, "2 columns of numbers and 1 id"),
        ({"among": ["x"]}, "there is no model 'x' to rank"),
        ({"among": []}, "no model is named"),
        ({"component": [0]}, "component needs one label"),
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "gives a difference of scores the variance -1"),
        ({"covariance": [[1.0, 0.5], [0.2, 1.0]]}, "not symmetric: that of 'a' and 'b'"),
        ({"covariance": [[1.0, np.nan], [np.nan, 1.0]]}, "covariance of model 'a'"),
        ({"covariance": [[1.0]]}, r"has shape \(2, 2\)"),
    ],
)
def test_bad_input_is_a_sentence(options, words):
    values = np.zeros(2) if "covariance" in options else np.zeros((30, 2))
    with pytest.raises(DataError, match=words):
        rank_models(values, **{"models": ["a", "b"]} | options)


def test_a_draw_that_is_no_number_is_named():
    draws = np.zeros((30, 2))
    draws[4, 1] = np.nan
    with pytest.raises(DataError, match="draw 5 of model 'bee' is nan"):
        ranked(draws)
    with pytest.raises(DataError, match="the score of 'ant' is infinite"):
        rank_models([np.inf, 1.0], models=IDS[:2], covariance=np.eye(2))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 1.0}, r"level must lie in \(0, 1\), got 1.0"),
        ({"top": 0}, "top must be at least 1"),
        ({"sets": "all"}, "sets must be one of differences, ranks"),
        ({"n_draws": 5}, "n_draws must be at least 100"),
        ({"rng": -1}, "at least 0, got -1"),
        ({"models": None}, "needs the ids"),
    ],
)
def test_options_out_of_range(options, words):
    with pytest.raises(ValueError, match=words):
        rank_models(np.zeros((60, 2)), **{"models": ["a", "b"]} | options)


@pytest.mark.parametrize(("n_draw", "level"), [(3, 0.5), (39, 0.95), (199, 0.99)])
def test_too_few_draws_bound_nothing(n_draw, level):
    draws = draws_of(3, n_draw=n_draw + 1)
    assert ranked(draws, level=level).n_draws == n_draw + 1
    with pytest.raises(DataError, match=f"at least {n_draw + 1} are needed"):
        ranked(draws[:n_draw], level=level)


def test_infinite_strengths_are_refused():
    with pytest.warns(CaveatWarning, match="infinite"):
        fit = fit_bradley_terry(Battles.build(["a"] * 5, ["b"] * 5, ["a"] * 5), phantom_wins=0)
    with pytest.raises(DataError, match="the strength of 'a', 'b' is infinite"):
        rank_models(fit)
