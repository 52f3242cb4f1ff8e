"""Ranks of a posterior's draws, and what a fit says of itself."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from neartie.audits.ranks import rank_models
from neartie.data.battles import Battles
from neartie.data.errors import DataError
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


def tree(draws, name="ability", **attrs):
    data = xr.Dataset(
        {name: (("chain", "draw", "model"), draws.reshape(2, -1, draws.shape[1]))},
        coords={"model": IDS[: draws.shape[1]]},
    )
    made = xr.DataTree.from_dict({"posterior": data})
    made.attrs.update(attrs)
    return made


def test_a_posterior_is_ranked_by_its_draws():
    draws = draws_of(5, n_draw=1000)
    found = rank_models(tree(draws, kind="two-pl", converged="yes", ranking_variable="ability"))
    same(found, ranked(draws))
    assert (found.label, found.kind, found.converged) == ("ability", "two-pl", "yes")
    assert found.warnings == ()
    same(rank_models(tree(draws, name="other"), variable="other"), ranked(draws))


def test_a_posterior_that_did_not_converge_says_so_first():
    found = rank_models(tree(draws_of(5), converged="no", verdict="R-hat is 1.8."))
    assert found.warnings[0].startswith("the fit behind these ranks did not converge")
    assert "R-hat is 1.8." in found.warnings[0]
    assert "did not converge" in str(found)


def test_an_expected_score_is_computed_where_it_is_wanted():
    rng = np.random.default_rng(1)
    data = xr.Dataset(
        {
            "ability": (("chain", "draw", "model"), rng.normal(size=(1, 200, 4))),
            "discrimination": (("chain", "draw", "item"), np.ones((1, 200, 5))),
            "difficulty": (("chain", "draw", "item"), np.zeros((1, 200, 5))),
        },
        coords={"model": IDS[:4], "item": list("vwxyz")},
    )
    made = xr.DataTree.from_dict({"posterior": data})
    score = rank_models(made, variable="expected_score")
    ability = rank_models(made)
    assert score.label == "expected_score"
    assert score.pairs["p_above"].to_numpy() == pytest.approx(ability.pairs["p_above"].to_numpy())
    assert score.ranks["estimate"].between(0, 1).all()


@pytest.mark.parametrize(
    ("made", "options", "words"),
    [
        (xr.DataTree(), {}, "no group 'posterior'"),
        (tree(draws_of(1)), {"variable": "skill"}, "no variable 'skill'; it has 'ability'"),
        (tree(draws_of(1), name="skill"), {}, "does not say which one to rank by"),
    ],
)
def test_other_trees_are_refused(made, options, words):
    with pytest.raises(DataError, match=words):
        rank_models(made, **options)


def test_what_a_fit_says_of_itself_is_said_of_its_ranks():
    fit = fit_bradley_terry(Battles.build(["a"] * 5, ["b"] * 5, ["a"] * 5))
    said = rank_models(fit, rng=1).warnings
    assert "of the fit: 1 model never loses: 'a'" in said
    made = tree(draws_of(5), notices=json.dumps(["1 model rests on the prior, no answer: 'ant'"]))
    assert "of the fit: 1 model rests on the prior, no answer: 'ant'" in rank_models(made).warnings
    assert rank_models(tree(draws_of(5), notices="not JSON")).warnings != ()


def test_scores_over_a_fixed_offset_are_said_to_be_too_sure():
    said = rank_models(tree(draws_of(5), kind="residual-dif")).warnings
    assert any("too narrow" in text for text in said)
    assert not any("too narrow" in text for text in rank_models(tree(draws_of(5))).warnings)
