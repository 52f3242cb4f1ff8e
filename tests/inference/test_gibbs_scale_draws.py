"""Log densities of scales that Gibbs samplers draw from, and slices that draw from them."""

import numpy as np
import pytest
from scipy import stats

from neartie.inference.gibbs_item_draws import contrast_basis
from neartie.inference.gibbs_slice import draw_log_scale, log_scale_density, slice_draws
from neartie.inference.gibbs_sparse import SparseEffects
from neartie.models.prior_density import half_student_t


@pytest.mark.parametrize(
    ("form", "log_prior_and_rest"),
    [
        # n normal values of sum of squares 2 beta, and a log-normal prior
        (
            (-7.0, 0.0, 2.5, 0.0, np.log(1.5), 4.0),
            lambda s: -7 * np.log(s) - 2.5 / s**2 - 2.0 * np.log(s / 1.5) ** 2,
        ),
        # half-normal of scale 0.5; a predictor of linear term 3 and quadratic term 8
        (
            (1.0, 0.5 * (8.0 + 4.0), 0.0, 3.0, 0.0, 0.0),
            lambda s: np.log(s) + 3 * s - 4 * s**2 - 0.5 * (s / 0.5) ** 2,
        ),
    ],
)
def test_log_densities_of_scales(form, log_prior_and_rest):
    one, other = 0.4, 2.2
    got = log_scale_density(np.log(one), *form) - log_scale_density(np.log(other), *form)
    assert got == pytest.approx(log_prior_and_rest(one) - log_prior_and_rest(other))


def test_sparse_log_priors():
    effects = SparseEffects(
        n_item=1,
        basis=contrast_basis(3),
        global_scale=0.3,
        local_df=2.0,
        slab_scale=1.5,
        slab_df=5.0,
    )
    one, other = 0.4, 2.2
    for got, expected in (
        (lambda s: float(effects.log_local(np.log([s]))[0]), lambda s: half_student_t(s, 2.0, 1.0)),
        (lambda s: effects.log_global(np.log(s)), stats.halfcauchy(scale=0.3).logpdf),
        (lambda s: effects.log_slab(np.log(s)), stats.invgamma(2.5, scale=2.5 * 1.5**2).logpdf),
    ):
        jacobian = np.log(one / other)
        difference = expected(one) - expected(other) + jacobian
        assert got(one) - got(other) == pytest.approx(difference)


def test_slices_keep_their_density():
    """An exponential law on the log scale, both samplers; 20,000 draws from it stay in it.

    False alarms: two means at 4.5 standard errors, under 1e-4.
    """
    rng = np.random.default_rng(3)
    start = np.log(rng.standard_exponential(20_000))
    many = slice_draws(start.copy(), lambda u: u - np.exp(u), rng=rng)
    singly = np.array([draw_log_scale(rng, u, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0) for u in start])
    for drawn in (many, singly):
        assert abs(np.exp(drawn).mean() - 1.0) < 4.5 / np.sqrt(20_000)
        assert abs((drawn < np.log(np.log(2.0))).mean() - 0.5) < 4.5 * 0.5 / np.sqrt(20_000)
        assert np.corrcoef(start, drawn)[0, 1] < 0.5
