"""Scoring with known items: the cases' numbers, infinite estimates, nodes that fit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import neartie
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference.ability_grid import WIDEST, nodes_resolve, posterior_grid
from neartie.inference.known_items import KnownItems, ends, maximum
from neartie.inference.score_models import score_models
from neartie.inference.two_pl_map import fit_two_pl_map


def known(slope, intercept, answers, observed=None):
    right = np.asarray(answers, dtype=bool)
    seen = np.ones_like(right) if observed is None else observed
    return KnownItems(
        slope=np.asarray(slope, dtype=float),
        intercept=np.asarray(intercept, dtype=float),
        right=right,
        observed=seen,
    )


def many(n_item, n_model, seed):
    rng = np.random.default_rng(seed)
    slope, place = np.exp(0.4 * rng.normal(size=n_item)), 1.5 * rng.normal(size=n_item)
    ability = rng.normal(size=n_model)
    chance = 1 / (1 + np.exp(-slope[:, None] * (ability - place[:, None])))
    return known(slope, -slope * place, rng.random(chance.shape) < chance), ability


def plain_posterior(items, m, mean=0.0, sd=1.0):
    """Mean, sd and two quantiles of one model's posterior by adaptive integration."""
    sign = np.where(items.right[:, m], 1.0, -1.0)
    seen = items.observed[:, m]
    top = maximum(items, mean=mean, precision=sd**-2)[0][m]

    def log_density(t):
        logit = items.slope * t + items.intercept
        return stats.logistic.logcdf(sign * logit)[seen].sum() - ((t - mean) / sd) ** 2 / 2

    def moment(k, upper=np.inf):
        limits = (top - 12 * sd, min(upper, top + 12 * sd))
        return integrate.quad(
            lambda t: t**k * np.exp(log_density(t) - log_density(top)),
            *limits,
            points=[min(top, limits[1])],
            epsabs=1e-13,
            limit=500,
        )[0]

    total = moment(0)
    average = moment(1) / total
    return average, np.sqrt(moment(2) / total - average**2), lambda x: moment(0, x) / total


def test_case_c02_known_items(case_dir):
    items = pd.read_csv(case_dir / "C02" / "items.csv")
    table = score_models(neartie.read_responses(case_dir / "C02" / "patterns.csv"), items).table
    table = table.set_index("model")
    assert table["ability"].round(4).to_dict() == {
        "all_right": 1.4495,
        "all_wrong": -1.1940,
        "mixed": 0.4054,
    }
    assert table["eap"].round(4).to_dict() == {
        "all_right": 1.5135,
        "all_wrong": -1.2623,
        "mixed": 0.3853,
    }
    assert table["eap_sd"].round(4).to_dict() == {
        "all_right": 0.6640,
        "all_wrong": 0.7273,
        "mixed": 0.6292,
    }
    assert table.loc["mixed", "ml"] == pytest.approx(0.6528, abs=5e-5)
    assert table.loc["all_right", ["ml", "ml_se"]].tolist() == [np.inf, np.inf]
    assert table.loc["all_wrong", ["ml", "ml_se"]].tolist() == [-np.inf, np.inf]
    assert table["ml_note"].to_dict() == {
        "all_right": "not estimable: every answer right",
        "all_wrong": "not estimable: every answer wrong",
        "mixed": "",
    }


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-2, 2), st.floats(0.2, 3))
def test_the_mode_is_where_the_density_is_level(seed, mean, sd):
    rng = np.random.default_rng(seed)
    items = known(2 * rng.normal(size=6), rng.normal(size=6), rng.random((6, 4)) < 0.5)
    ability, information = maximum(items, mean=mean, precision=sd**-2)
    first, second = items.derivatives(ability)
    np.testing.assert_allclose(first - (ability - mean) / sd**2, 0, atol=1e-9)
    np.testing.assert_allclose(information, second + sd**-2)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_maximum_likelihood_is_finite_where_answers_disagree(seed):
    rng = np.random.default_rng(seed)
    items = known(2 * rng.normal(size=4), rng.normal(size=4), rng.random((4, 1)) < 0.5)
    high, low = ends(items)
    slopes = items.slope * np.where(items.right[:, 0], 1, -1)
    assert high[0] == (slopes > 0).all()
    assert low[0] == (slopes < 0).all()
    if not (high[0] or low[0]):
        ability, _ = maximum(items, mean=0.0, precision=0.0)
        best = items.log_likelihood(ability[None])
        for step in (-0.1, 0.1, -3.0, 3.0):
            assert items.log_likelihood(ability[None] + step) < best


@pytest.mark.parametrize(("n_item", "sd"), [(1, 1.0), (5, 3.0), (40, 1.0), (1000, 1.0)])
def test_posteriors_are_those_of_adaptive_integration(n_item, sd):
    items, _ = many(n_item, 3, 1)
    grid = posterior_grid(items, mean=0.2, sd=sd)
    assert (grid.spacing <= WIDEST * grid.sd).all()
    assert nodes_resolve(grid.nodes, grid.mean, grid.sd).all()
    for m in range(3):
        mean, spread, distribution = plain_posterior(items, m, 0.2, sd)
        assert grid.mean[m] == pytest.approx(mean, abs=1e-7)
        assert grid.sd[m] == pytest.approx(spread, rel=1e-6)
        for p in (0.025, 0.5, 0.975):
            assert distribution(grid.quantile(p)[m]) == pytest.approx(p, abs=1e-5)


def test_fixed_nodes_do_not_resolve_many_items_and_own_nodes_do():
    """The rules that peers use, at the sizes where they fail (peer survey, section 3.2)."""
    few, _ = many(1, 20, 2)
    some, _ = many(500, 20, 3)
    lots, _ = many(1000, 20, 4)
    hermite = np.polynomial.hermite_e.hermegauss
    rules = {"21": hermite(21)[0], "61": hermite(61)[0], "wide": np.linspace(-4, 4, 41)}
    rules["dense"] = np.linspace(-6, 6, 241)
    found = {}
    for size, items in (("few", few), ("some", some), ("lots", lots)):
        grid = posterior_grid(items, mean=0.0, sd=1.0)
        assert nodes_resolve(grid.nodes, grid.mean, grid.sd).all()
        for name, nodes in rules.items():
            found[name, size] = nodes_resolve(nodes, grid.mean, grid.sd).mean()
    assert found["21", "few"] == 1
    assert found["21", "some"] == found["61", "some"] == found["wide", "lots"] == 0
    assert found["dense", "lots"] == 1


def test_nodes_must_reach_as_far_as_the_posterior():
    narrow = np.linspace(-1, 1, 101)
    assert nodes_resolve(narrow, np.array([0.0, 0.9]), np.array([0.3, 0.3])).tolist() == [
        True,
        False,
    ]


def test_intervals_cover_with_known_items():
    items, ability = many(200, 2000, 5)
    grid = posterior_grid(items, mean=0.0, sd=1.0)
    inside = (grid.quantile(0.025) <= ability) & (ability <= grid.quantile(0.975))
    # binomial: 95 % within three standard errors
    assert inside.mean() == pytest.approx(0.95, abs=0.015)


def test_scoring_the_models_of_a_fit_gives_their_mode_again():
    rng = np.random.default_rng(6)
    place, ability = rng.normal(size=(50, 1)), rng.normal(size=30)
    values = (rng.random((50, 30)) < 1 / (1 + np.exp(place - ability))).astype(np.int8)
    values[rng.random(values.shape) < 0.2] = -1
    data = Responses.build(
        values, items=[f"q{i:02d}" for i in range(50)], models=[f"m{m:02d}" for m in range(30)]
    )
    fit = fit_two_pl_map(data, unit="mode")
    scored = score_models(data, fit)
    np.testing.assert_allclose(scored.table["ability"], fit.ability, atol=1e-8)
    np.testing.assert_allclose(scored.table["se_items_known"], fit.se_items_known, atol=1e-8)
    assert scored.prior_mean == pytest.approx(-fit.shift)
    from_table = score_models(data, fit.item_table(), prior_mean=-fit.shift)
    pd.testing.assert_frame_equal(from_table.table, scored.table)


def test_order_changes_nothing_and_unknown_items_do_not_count():
    items = pd.DataFrame(
        {"item": ["z", "x", "y"], "a": [1.0, 2.0, ""], "d": ["0.5", -0.5, 0.1]}, dtype=object
    )
    data = Responses.build(
        [[1, 0], [0, 1], [1, 1], [0, 1]], items=["x", "y", "z", "new"], models=["b", "a"]
    )
    scored = score_models(data, items)
    assert scored.items == ("x", "z")
    assert "2 items without known parameters do not count: 'new', 'y'" in scored.notices
    turned = score_models(data.take(items=np.array([3, 1, 2, 0]), models=np.array([1, 0])), items)
    assert scored.table.equals(turned.table)
    assert scored.table["n"].tolist() == [2, 2]


def test_a_model_without_answers_has_the_prior():
    items = pd.DataFrame({"item": ["x"], "a": [1.0], "b": [0.0]})
    data = Responses.build([[1, -1]], items=["x"], models=["a", "b"])
    row = score_models(data, items, prior_mean=0.5, prior_sd=2).table.iloc[1]
    assert row["n"] == 0
    assert row[["ability", "se_items_known", "eap", "eap_sd"]].tolist() == pytest.approx(
        [0.5, 2, 0.5, 2]
    )
    assert row[["low", "high"]].tolist() == pytest.approx([0.5 - 3.92, 0.5 + 3.92], abs=1e-3)
    assert np.isnan(row["ml"])
    assert row["ml_note"] == "not estimable: no answer"


def test_an_answer_against_a_negative_slope_is_understood():
    items = pd.DataFrame({"item": ["x", "y"], "a": [1.0, -1.0], "b": [0.0, 0.0]})
    data = Responses.build([[1, 1], [0, 1]], items=["x", "y"], models=["a", "b"])
    table = score_models(data, items).table
    assert table["ml"][0] == np.inf
    assert (
        table["ml_note"][0] == "not estimable: every answer speaks for an infinitely high ability"
    )
    assert table["ml"][1] == pytest.approx(0)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": [1.0], "b": [0.0]}, "has no column 'item'"),
        ({"item": ["x"], "b": [0.0]}, "has no column 'discrimination'"),
        ({"item": ["x"], "a": [1.0]}, "neither a column 'difficulty'"),
        ({"item": ["x", "x"], "a": [1, 1], "b": [0, 0]}, "item 'x' stands more than once"),
        ({"item": ["x"], "a": ["steep"], "b": [0]}, "a of item 'x' is steep, no finite number"),
        ({"item": ["x"], "a": [np.inf], "b": [0]}, "a of item 'x' is inf, no finite number"),
        ({"item": ["w"], "a": [1], "b": [0]}, "none of the items of the responses has known"),
    ],
)
def test_tables_that_do_not_serve_are_refused(table, message):
    data = Responses.build([[1, 0]], items=["x"], models=["a", "b"])
    with pytest.raises(DataError, match=message):
        score_models(data, pd.DataFrame(table))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_sd": 0}, "prior_sd must be finite and positive, got 0"),
        ({"prior_mean": np.nan}, "prior_mean must be finite"),
        ({"level": 95}, r"level must lie in \(0, 1\), got 95"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    data = Responses.build([[1, 0]], items=["x"], models=["a", "b"])
    items = pd.DataFrame({"item": ["x"], "a": [1.0], "b": [0.0]})
    with pytest.raises(ValueError, match=message):
        score_models(data, items, **options)
