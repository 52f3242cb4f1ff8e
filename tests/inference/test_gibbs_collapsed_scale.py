"""The scale of family effects with the effects summed over: its density, and draws of it."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from neartie.inference.gibbs_collapsed_scale import (
    collapsed_log_density,
    draw_collapsed_scale,
    effect_terms,
)
from neartie.inference.gibbs_item_draws import contrast_basis
from neartie.inference.gibbs_item_kernel import ItemSums

N_ITEM, N_MODEL, K, N_FAMILY = 5, 12, 2, 4
FAMILY = np.arange(N_MODEL) % N_FAMILY
H = contrast_basis(N_FAMILY)
SD = 0.7


@pytest.fixture
def setting():
    """Weights and targets, logits without effects, and the sums that the sampler has."""
    rng = np.random.default_rng(3)
    ability, loading = rng.normal(size=(N_MODEL, K)), rng.normal(size=(N_ITEM, K))
    easiness = rng.normal(size=N_ITEM)
    weights = rng.gamma(2.0, 0.1, size=(N_ITEM, N_MODEL))
    target = rng.choice([-0.5, 0.5], size=(N_ITEM, N_MODEL))
    member = np.eye(N_FAMILY)[FAMILY]
    sums = ItemSums(
        gram=np.empty((N_ITEM, 3)),
        cross=np.einsum("im,mf,mk->ifk", weights, member, ability),
        total=weights @ member,
        lean_ability=np.empty((N_ITEM, K)),
        lean=target @ member,
    )
    eta = loading @ ability.T + easiness[:, None]
    return weights, target, eta, effect_terms(sums, loading, easiness, H)


def joint(scale, effects, weights, target, eta) -> float:
    """Log density of scale and standard effects (as contrasts) given weights."""
    predictor = eta + scale * (effects @ H.T)[:, FAMILY]
    value = (target * predictor - 0.5 * weights * predictor**2).sum()
    return value - 0.5 * (effects**2).sum() - 0.5 * (scale / SD) ** 2


def test_it_is_the_joint_density_over_that_of_the_effects(setting):
    """Bayes' rule, at effects chosen at random; the log has the Jacobian u."""
    weights, target, eta, (precision, lean) = setting
    effects = np.random.default_rng(5).normal(size=(N_ITEM, N_FAMILY - 1))
    found, expected = [], []
    for scale in (1e-3, 0.2, 1.3, 4.0):
        given = 0.0
        for i in range(N_ITEM):
            whole = np.triu(precision[i]) + np.triu(precision[i], 1).T
            spread = np.linalg.inv(np.eye(N_FAMILY - 1) + scale**2 * whole)
            center = spread @ (scale * lean[i])
            given += multivariate_normal(center, spread).logpdf(effects[i])
        expected.append(joint(scale, effects, weights, target, eta) - given + math.log(scale))
        found.append(collapsed_log_density(math.log(scale), precision, lean, SD))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9)


@pytest.mark.parametrize("n_copy", [1, 600])
def test_draws_have_that_density(setting, n_copy):
    """Draws against a grid, 5 standard errors with a third of them counted; of few items and many."""
    *_, (precision, lean) = setting
    precision, lean = np.tile(precision, (n_copy, 1, 1)), np.tile(lean / n_copy**0.5, (n_copy, 1))
    rng, scale, n = np.random.default_rng(6), 0.05, 20_000 if n_copy == 1 else 2_000
    drawn = np.empty(n)
    for d in range(n):
        scale = draw_collapsed_scale(rng, scale, precision, lean, SD)
        drawn[d] = math.log(scale)
    grid = np.linspace(-12, 3, 4001)
    logs = np.array([collapsed_log_density(u, precision, lean, SD) for u in grid])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    for power in (1, 2):
        expected = weight @ grid**power
        sd = math.sqrt(weight @ grid ** (2 * power) - expected**2)
        assert abs((drawn**power).mean() - expected) < 5 * sd / math.sqrt(n / 3)


def test_a_scale_that_is_no_number_of_this_world_has_no_density(setting):
    *_, (precision, lean) = setting
    assert collapsed_log_density(100.0, precision, lean, SD) == -math.inf
