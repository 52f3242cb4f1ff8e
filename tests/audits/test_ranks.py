"""Ranks with intervals, joint sets and tiers: laws and known values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from neartie.audits.ranks import rank_models

IDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]
seeds = st.integers(0, 10**6)


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


# laws


@given(seeds, st.booleans(), st.sampled_from(["differences", "ranks"]))
@settings(deadline=None, max_examples=30)
def test_probabilities_and_ranks_add_up(seed, coarse, sets):
    n = 6
    found = ranked(draws_of(seed, coarse=coarse), sets=sets, top=2)
    assert found.ranks["rank_mean"].sum() == pytest.approx(n * (n + 1) / 2)
    masses = found.rank_probability.drop(columns="model").to_numpy()
    assert masses.sum(axis=0) == pytest.approx(1)
    assert masses.sum(axis=1) == pytest.approx(1)
    assert found.ranks["rank_mean"].to_numpy() == pytest.approx(masses @ np.arange(1, n + 1))
    assert found.ranks["p_best"].sum() == pytest.approx(1)
    assert found.ranks["p_top_2"].sum() == pytest.approx(2)
    grid = found.grid().to_numpy()
    tied = found.pairs.assign(p=found.pairs["p_tied"]).pivot(
        index="model_a", columns="model_b", values="p"
    )
    names = found.ranks["model"]
    tied = tied.reindex(index=names, columns=names).to_numpy()
    upper = np.triu_indices(n, k=1)
    assert (grid + grid.T)[upper] + tied[upper] == pytest.approx(1)


@given(seeds)
@settings(deadline=None, max_examples=20)
def test_sets_hold_what_they_should(seed):
    found = ranked(draws_of(seed))
    table = found.ranks
    for kind in ("rank", "rank_set"):
        assert (table[f"{kind}_low"] <= table["rank"]).all()
        assert (table["rank"] <= table[f"{kind}_high"]).all()
    assert table["tier"].is_monotonic_increasing
    pairs = found.pairs
    assert (pairs["joint_low"] <= pairs["low"]).all()
    assert (pairs["joint_high"] >= pairs["high"]).all()
    assert (pairs["resolved"] >= pairs["resolved_jointly"]).all()
    # sets follow from the pairs
    won = pairs[pairs["resolved_jointly"] == 1].groupby("model_b").size()
    lost = pairs[pairs["resolved_jointly"] == 1].groupby("model_a").size()
    assert (table["rank_set_low"] == 1 + table["model"].map(won).fillna(0)).all()
    assert (table["rank_set_high"] == 6 - table["model"].map(lost).fillna(0)).all()


@given(seeds, st.sampled_from(["differences", "ranks"]))
@settings(deadline=None, max_examples=20)
def test_a_number_added_to_each_draw_changes_no_interval(seed, sets):
    draws = draws_of(seed)
    shift = np.random.default_rng(seed).integers(-100, 100, size=(len(draws), 1))
    moved = ranked(draws + shift, sets=sets)
    plain = ranked(draws, sets=sets)
    same(plain, moved, but=("estimate", "low", "high") if shift.mean() else ())
    for side in ("low", "high"):
        assert (plain.ranks[side] - plain.ranks["estimate"]).to_numpy() == pytest.approx(
            (moved.ranks[side] - moved.ranks["estimate"]).to_numpy(), abs=1e-9
        )
    pd.testing.assert_series_equal(
        plain.pairs["difference"], moved.pairs["difference"], rtol=0, atol=1e-9
    )


@given(seeds, st.sampled_from([0.25, 8.0]))
@settings(deadline=None, max_examples=20)
def test_a_scale_changes_the_scores_alone(seed, scale):
    plain, scaled = ranked(draws_of(seed)), ranked(scale * draws_of(seed))
    lengths = ["difference", "low", "high", "se", "joint_low", "joint_high"]
    same(plain, scaled, but=(*lengths, "estimate"))
    assert scaled.pairs[lengths].to_numpy() == pytest.approx(
        scale * plain.pairs[lengths].to_numpy()
    )


@given(seeds)
@settings(deadline=None, max_examples=20)
def test_the_order_of_draws_and_models_does_not_matter(seed):
    draws, rng = draws_of(seed), np.random.default_rng(seed)
    order = rng.permutation(6)
    other = rank_models(
        rng.permutation(draws)[:, order], models=[IDS[m] for m in order], sets="ranks"
    )
    same(ranked(draws, sets="ranks"), other)


@given(seeds)
@settings(deadline=None, max_examples=20)
def test_names_do_not_matter(seed):
    draws = draws_of(seed)
    plain = ranked(draws)
    named = rank_models(draws, models=IDS[5::-1])
    renamed = named.ranks.assign(
        model=named.ranks["model"].map(dict(zip(IDS[5::-1], IDS, strict=False)))
    )
    pd.testing.assert_frame_equal(
        plain.ranks.sort_values("model", ignore_index=True),
        renamed.sort_values("model", ignore_index=True),
    )


@given(seeds)
@settings(deadline=None, max_examples=10)
def test_turning_the_scale_turns_the_ranks(seed):
    up = ranked(draws_of(seed)).ranks.set_index("model")
    down = ranked(-draws_of(seed)).ranks.set_index("model").loc[up.index]
    assert (up["rank_mean"] + down["rank_mean"]).to_numpy() == pytest.approx(7)
    assert (up["rank_set_low"] + down["rank_set_high"] == 7).all()
    assert (up["rank_low"] + down["rank_high"] == 7).all()


def test_estimates_do_not_depend_on_the_order_of_models():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(6, 6))
    estimate, covariance = rng.normal(size=6), root @ root.T
    order = rng.permutation(6)
    plain = rank_models(estimate, models=IDS[:6], covariance=covariance, rng=5)
    other = rank_models(
        estimate[order],
        models=[IDS[m] for m in order],
        covariance=covariance[np.ix_(order, order)],
        rng=5,
    )
    assert plain.ranks.to_csv() == other.ranks.to_csv()
    assert plain.pairs.to_csv() == other.pairs.to_csv()
    # only differences count
    shifted = rank_models(estimate + 7, models=IDS[:6], covariance=covariance + 3, rng=5)
    same(plain, shifted, but=("estimate", "low", "high"))


# known values


def test_independent_normals():
    estimate, sd = np.array([0.0, 0.7, 1.1]), np.array([0.3, 0.4, 0.2])
    found = rank_models(estimate, models=IDS[:3], covariance=np.diag(sd**2), rng=1)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        pair = found.pair(IDS[a], IDS[b])
        se = np.hypot(sd[a], sd[b])
        gap = estimate[a] - estimate[b]
        assert pair["p_above"] == pytest.approx(stats.norm.cdf(gap / se), abs=1e-12)
        assert pair["se"] == pytest.approx(se)
        assert [pair["low"], pair["high"]] == pytest.approx(
            [gap - 1.959964 * se, gap + 1.959964 * se]
        )
    # P(best) of the second by quadrature
    grid = np.linspace(-3, 5, 4001)
    density = stats.norm.pdf(grid, 0.7, 0.4)
    both = stats.norm.cdf(grid, 0.0, 0.3) * stats.norm.cdf(grid, 1.1, 0.2)
    exact = float(np.sum(density * both) * (grid[1] - grid[0]))
    best = found.ranks.set_index("model")["p_best"]["bee"]
    # 4,000 draws: four standard errors
    assert best == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))


def test_draws_of_normals_agree_with_their_covariance():
    rng = np.random.default_rng(2)
    root = rng.normal(size=(5, 5)) / 3
    estimate, covariance = np.linspace(0, 1, 5), root @ root.T
    draws = rng.multivariate_normal(estimate, covariance, size=20_000)
    by_draws = ranked(draws)
    by_estimate = rank_models(
        estimate, models=IDS[:5], covariance=covariance, n_draws=20_000, rng=1
    )
    a = by_draws.ranks.set_index("model").sort_index()
    b = by_estimate.ranks.set_index("model").sort_index()
    # shares of 20,000 draws: four standard errors are at most 0.0142, times sqrt(2)
    assert a["p_best"].to_numpy() == pytest.approx(b["p_best"].to_numpy(), abs=0.02)
    assert a["rank_mean"].to_numpy() == pytest.approx(b["rank_mean"].to_numpy(), abs=0.05)
    assert by_draws.critical == pytest.approx(by_estimate.critical, abs=0.06)


def test_the_critical_value_of_independent_equal_normals_is_tukeys():
    # the largest of all studentised differences has the distribution of the studentised range
    found = rank_models(np.zeros(8), models=IDS, covariance=np.eye(8), n_draws=40_000, rng=1)
    tukey = stats.studentized_range.ppf(0.95, 8, np.inf) / np.sqrt(2)
    # the quantile's standard error at 40,000 draws is 0.008
    assert found.critical == pytest.approx(tukey, abs=0.03)
