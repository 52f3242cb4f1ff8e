"""Draws of residual DIF: laws, a grid, the mode, the prior's limit, the Gibbs sampler."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from neartie.data.errors import DataError
from neartie.inference.residual_dif import fit_residual_dif
from neartie.inference.residual_dif_chains import log_density
from neartie.inference.residual_dif_draws import draw_residual_dif
from neartie.models.residual_dif import penalised_loss

FAMILY = np.array(list("AAAABBBBBCCC"))
CODES = np.array([0] * 4 + [1] * 5 + [2] * 3)


def simulate(seed: int, n_item: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = (rng.random((n_item, 12)) < 0.5).astype(np.int8)
    values[:, [0, 5]] = [0, 1]
    return values, rng.normal(scale=1.5, size=values.shape)


def test_kernel_is_minus_the_penalised_loss():
    """Up to what does not depend on the levels; also with missing cells and large offsets."""
    rng = np.random.default_rng(1)
    for scale in (1.0, 60.0):
        values, offset = simulate(2, n_item=1)
        values[0, [2, 7]] = -1
        offset *= scale
        rate = np.where(values[0] >= 0, np.exp(offset[0]), 0.0)
        right = np.bincount(CODES, values[0] == 1).astype(float)
        found, expected = [], []
        for level in rng.normal(scale=3, size=(30, 3)):
            largest = float(offset[0, values[0] >= 0].max())
            start = np.array([0, 4, 9, 12])
            found.append(log_density(rate, largest, right, start, level, 0.7))
            b = level.mean(keepdims=True)
            loss = penalised_loss(values, offset, b, (level - b)[None], CODES, penalty=0.7)
            expected.append(-loss[0])
        difference = np.array(found) - expected
        assert np.ptp(difference) < 1e-9


def grid(values, offset, codes, penalty):
    """Points (b, effect of the first family), F = 2, and their weights."""
    b, delta = np.meshgrid(np.linspace(-25, 25, 1001), np.linspace(-8, 8, 161), indexing="ij")
    sign = np.where(values == 1, 1.0, -1.0)
    log_posterior = -penalty * delta**2  # two effects, delta and -delta
    for m in np.flatnonzero(values >= 0):
        level = b + np.where(codes[m] == 0, delta, -delta)
        log_posterior -= np.logaddexp(0, -sign[m] * (offset[m] + level))
    weight = np.exp(log_posterior - log_posterior.max()).ravel()
    return np.stack([b.ravel(), delta.ravel()]), weight / weight.sum()


@pytest.mark.parametrize("penalty", [1.0, 0.2])
def test_moments_are_those_of_a_grid(penalty):
    """From one wrong answer (a long tail) to a balanced item, with missing cells."""
    codes = np.array([0] * 5 + [1] * 7)
    values = np.array(
        [[1] * 11 + [0], [0] * 11 + [1], [0, 1] * 6, [1, 1, 1, 1, 0] + [0] * 7], dtype=np.int8
    )
    values[2, [0, 3, 6]] = -1
    offset = np.random.default_rng(3).normal(scale=1.0, size=values.shape)
    n = 20_000
    drawn = draw_residual_dif(
        values, family=np.array(["A", "B"])[codes], offset=offset, penalty=penalty, draws=n, rng=4
    )
    assert (drawn.heaviest < 5).all()
    for i in range(len(values)):
        points, weight = grid(values[i], offset[i], codes, penalty)
        mean, covariance = points @ weight, np.cov(points, aweights=weight, ddof=0)
        found = np.stack([drawn.easiness[:, i], drawn.effects[:, i, 0]])
        # draws are all but independent; 5 standard errors, 8 means: false alarms below 1e-5
        error = np.sqrt(np.diag(covariance) / n)
        assert (np.abs(found.mean(axis=1) - mean) < 5 * 1.3 * error).all()
        # of a variance with heavy tails, by the draws' own fourth moments
        away = found - mean[:, None]
        for k in range(2):
            error = (away[k] ** 2).std() / np.sqrt(n)
            assert (away[k] ** 2).mean() == pytest.approx(covariance[k, k], abs=6.5 * error)
        cross = away[0] * away[1]
        assert cross.mean() == pytest.approx(covariance[0, 1], abs=6.5 * cross.std() / np.sqrt(n))


def test_the_first_draw_of_a_chain_is_already_one_of_the_posterior():
    """20,000 chains of one skewed item, one draw each. Without first moves p is about 1e-8."""
    codes = np.array([0] * 5 + [1] * 7)
    item = np.array([1] * 11 + [0], dtype=np.int8)
    offset = np.random.default_rng(3).normal(size=12)
    drawn = draw_residual_dif(
        np.tile(item, (20_000, 1)),
        family=np.array(["A", "B"])[codes],
        offset=np.tile(offset, (20_000, 1)),
        draws=1,
        moves=1,
        rng=5,
    )
    points, weight = grid(item, offset, codes, 1.0)
    for values, at in ((drawn.easiness[0], points[0]), (drawn.effects[0, :, 0], points[1])):
        levels, place = np.unique(at, return_inverse=True)
        share = np.bincount(place, weight)
        middle = np.cumsum(share) - share / 2
        p = stats.kstest(values, lambda x, a=levels, b=middle: np.interp(x, a, b)).pvalue
        assert p > 1e-4


@pytest.mark.parametrize("n_family", [2, 5, 12])
def test_proposals_are_never_much_rarer_than_the_posterior(n_family):
    """Items with one right answer have the longest tails, and bound how fast chains forget."""
    rng = np.random.default_rng(n_family)
    values = np.zeros((30, 180), dtype=np.int8)
    values[np.arange(30), rng.integers(180, size=30)] = 1
    values[10:20] = 1 - values[10:20]
    values[20:] = rng.random((10, 180)) < 0.4
    family = [f"f{m % n_family:02d}" for m in range(180)]
    offset = rng.normal(scale=1.5, size=values.shape)
    drawn = draw_residual_dif(values, family=family, offset=offset, draws=3000, moves=1, rng=1)
    assert drawn.heaviest.max() < 4
    assert drawn.acceptance.min() > 0.6


def test_many_answers_make_the_draws_normal_about_the_mode():
    rng = np.random.default_rng(5)
    family = np.repeat(["A", "B", "C"], 600)
    values = (rng.random((3, 1800)) < 0.6).astype(np.int8)
    fit = fit_residual_dif(values, family=family)
    drawn = draw_residual_dif(values, family=family, draws=4000, rng=6)
    # the t proposals are then nearly the posterior but for their tails
    assert (drawn.acceptance > 0.7).all()
    spread = drawn.effects.std(axis=0)
    # mean and mode differ by about 1/n; 5 standard errors
    np.testing.assert_allclose(
        drawn.effects.mean(axis=0), fit.effects, atol=1.3 * 5 * spread.max() / np.sqrt(4000)
    )


def test_effects_sum_to_zero():
    values, offset = simulate(7)
    drawn = draw_residual_dif(values, family=FAMILY, offset=offset, draws=50, rng=1)
    assert drawn.effects.shape == (50, 6, 3)
    assert np.abs(drawn.effects.sum(axis=2)).max() < 1e-12


def test_a_shift_of_the_offset_moves_easiness_alone():
    values, offset = simulate(8)
    one = draw_residual_dif(values, family=FAMILY, offset=offset, draws=200, rng=2)
    two = draw_residual_dif(values, family=FAMILY, offset=offset + 1.25, draws=200, rng=2)
    np.testing.assert_allclose(two.easiness, one.easiness - 1.25, atol=1e-6)
    np.testing.assert_allclose(two.effects, one.effects, atol=1e-6)


def test_an_item_does_not_hear_of_the_others():
    values, offset = simulate(9)
    all_items = draw_residual_dif(values, family=FAMILY, offset=offset, draws=40, rng=3)
    changed = values.copy()
    changed[0] = 1
    changed[1:3] = 1 - changed[1:3]
    others = draw_residual_dif(changed, family=FAMILY, offset=offset, draws=40, rng=3)
    np.testing.assert_array_equal(others.effects[:, 3:], all_items.effects[:, 3:])
    few = draw_residual_dif(values[:4], family=FAMILY, offset=offset[:4], draws=40, rng=3)
    np.testing.assert_array_equal(few.effects, all_items.effects[:, :4])


def test_blocks_of_items_change_nothing(monkeypatch):
    values, offset = simulate(10, n_item=9)
    whole = draw_residual_dif(values, family=FAMILY, offset=offset, draws=30, rng=4)
    monkeypatch.setattr("neartie.inference.residual_dif_draws._NUMBERS", 2000)
    parts = draw_residual_dif(values, family=FAMILY, offset=offset, draws=30, rng=4)
    np.testing.assert_array_equal(parts.easiness, whole.easiness)
    np.testing.assert_array_equal(parts.effects, whole.effects)


def test_relabelling_families_and_moving_models_changes_nothing_but_noise():
    values, offset = simulate(11)
    n = 8000
    one = draw_residual_dif(values, family=FAMILY, offset=offset, draws=n, rng=5)
    moved = np.random.default_rng(0).permutation(12)
    renamed = np.array([{"A": "zeta", "B": "alpha", "C": "mid"}[f] for f in FAMILY])
    two = draw_residual_dif(
        values[:, moved], family=renamed[moved], offset=offset[:, moved], draws=n, rng=6
    )
    assert two.families == ("alpha", "mid", "zeta")
    back = two.effects[:, :, [2, 0, 1]]
    # 18 differences of means and of spreads, 5 standard errors
    error = 1.3 * one.effects.std(axis=0) * np.sqrt(2 / n)
    assert (np.abs(back.mean(axis=0) - one.effects.mean(axis=0)) < 5 * error).all()
    assert (np.abs(back.std(axis=0) - one.effects.std(axis=0)) < 5 * error).all()


def test_a_missing_cell_is_a_model_less():
    values, offset = simulate(12)
    holed = values.copy()
    holed[:, 11] = -1
    one = draw_residual_dif(holed, family=FAMILY, offset=offset, draws=100, rng=7)
    two = draw_residual_dif(
        values[:, :11], family=FAMILY[:11], offset=offset[:, :11], draws=100, rng=7
    )
    np.testing.assert_allclose(one.effects, two.effects, atol=1e-6)


def test_constant_items_have_the_priors_effects():
    values, offset = simulate(13)
    values[0], values[1] = 1, 0
    values[0, 3] = -1
    n, penalty = 8000, 4.0
    drawn = draw_residual_dif(values, family=FAMILY, offset=offset, penalty=penalty, draws=n, rng=8)
    assert (drawn.easiness[:, 0] == np.inf).all()
    assert (drawn.easiness[:, 1] == -np.inf).all()
    assert drawn.constant[:3].tolist() == [1, -1, 0]
    prior = (np.eye(3) - 1 / 3) / penalty
    for i in range(2):
        # entries of a covariance matrix: standard error below sqrt(2/n) times a variance
        found = np.cov(drawn.effects[:, i].T)
        assert np.abs(found - prior).max() < 5 * np.sqrt(2 / n) * prior[0, 0]
        scaled = drawn.effects[:, i, 0] / np.sqrt(prior[0, 0])
        assert stats.kstest(scaled, "norm").pvalue > 1e-4
    logit = drawn.linear_predictor(0, offset=offset, family=CODES)
    assert (logit[0] == np.inf).all()
    assert np.isfinite(logit[2:]).all()


def test_a_family_without_answers_has_what_the_prior_leaves():
    """Its level is the prior's beside the others': a strong posterior of A and B is untouched."""
    values = np.array([[0, 1] * 200 + [-1] * 5], dtype=np.int8)
    family = np.array(["A"] * 200 + ["B"] * 200 + ["C"] * 5)
    drawn = draw_residual_dif(values, family=family, draws=8000, rng=9)
    # Given the levels of A and B, which the answers fix near 0, that of C is normal with the
    # precision of the prior, 1 - 1/3.
    level = drawn.easiness[:, 0] + drawn.effects[:, 0, 2]
    assert level.mean() == pytest.approx(0, abs=0.08)
    assert level.var() == pytest.approx(1.5, rel=0.1)


def test_linear_predictor_is_the_sum_of_its_parts():
    values, offset = simulate(14)
    drawn = draw_residual_dif(values, family=FAMILY, offset=offset, draws=5, rng=1)
    chosen = np.array([3, 11])
    found = drawn.linear_predictor(2, offset=offset[:, chosen], family=CODES[chosen])
    for i in range(6):
        for k, m in enumerate(chosen):
            expected = offset[i, m] + drawn.easiness[2, i] + drawn.effects[2, i, CODES[m]]
            assert found[i, k] == pytest.approx(expected)


def test_the_gibbs_sampler_has_the_same_posterior():
    from neartie.data.responses import Responses
    from neartie.inference.fit import fit
    from neartie.models.priors import ResidualDifPriors
    from neartie.models.residual_dif_model import build_residual_dif

    values, offset = simulate(15, n_item=5)
    values[2] = [0] + [1] * 11
    names = [f"m{m:02d}" for m in range(12)]
    models = pd.DataFrame({"model": names, "family": FAMILY})
    data = Responses.build(values, items=[f"q{i}" for i in range(5)], models=models)
    tree = fit(
        build_residual_dif(data, offset, priors=ResidualDifPriors(easiness_sd=None, dif_sd=1.0)),
        engine="gibbs",
        draws=2000,
        tune=200,
        chains=2,
        rng=10,
    )
    posterior = tree["posterior"].to_dataset()
    gibbs = np.concatenate(
        [
            posterior["easiness"].to_numpy().reshape(4000, 5, 1),
            posterior["dif"].to_numpy().reshape(4000, 5, 3),
        ],
        axis=2,
    )
    drawn = draw_residual_dif(values, family=FAMILY, offset=offset, draws=8000, rng=11)
    own = np.concatenate([drawn.easiness[:, :, None], drawn.effects], axis=2)
    # the Gibbs sampler's effective size is above a fifth of its draws here; 5 standard errors
    error = own.std(axis=0) * np.sqrt(1.3 / 8000 + 5 / 4000)
    assert (np.abs(gibbs.mean(axis=0) - own.mean(axis=0)) < 5 * error).all()
    assert (np.abs(gibbs.std(axis=0) / own.std(axis=0) - 1) < 0.15).all()


def test_facts_and_errors():
    values, offset = simulate(16)
    drawn = draw_residual_dif(values, family=FAMILY, offset=offset, draws=20, rng=1)
    assert drawn.facts["draws"] == drawn.n_draw == 20
    assert 0.4 < drawn.facts["lowest_acceptance"] <= drawn.facts["mean_acceptance"] <= 1
    with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
        draw_residual_dif(values, family=FAMILY, draws=0)
    with pytest.raises(ValueError, match="moves must be at least 1, got -1"):
        draw_residual_dif(values, family=FAMILY, moves=-1)
    with pytest.raises(DataError, match=r"needs .* MB of memory"):
        draw_residual_dif(values, family=FAMILY, draws=10**9)
