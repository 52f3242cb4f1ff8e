"""Every conditional that the Gibbs sampler with family effects draws from is the joint density's."""

import numpy as np
import pytest

from neartie.inference.gibbs_ability_kernel import ability_sums, fill_ability
from neartie.inference.gibbs_cells import arrange_cells
from neartie.inference.gibbs_gaussian import draw_conditioned
from neartie.inference.gibbs_groups import draw_factor_map, random_rotation, shift_terms
from neartie.inference.gibbs_item_draws import (
    ItemPriors,
    contrast_basis,
    draw_each_item,
    fill_item,
    tie_items,
)
from neartie.inference.gibbs_item_kernel import (
    ItemSums,
    add_item_sums,
    draw_weights,
    packed_products,
)
from neartie.inference.gibbs_scales import LogNormal, predictor_quadratic
from neartie.inference.gibbs_slice import log_scale_density
from neartie.models.mirt_dif_density import mirt_dif_log_density
from neartie.models.priors import MirtDifPriors

N_ITEM, N_MODEL, K = 6, 9, 2
FAMILY = np.array([0, 1, 2, 0, 1, 0, 2, 2, 1])
N_FAMILY = 3
H = contrast_basis(N_FAMILY)
PRIORS = MirtDifPriors(dif_scale_sd=0.7, loading_spread=1.1, easiness_mean_sd=1.5)


def draw_point(rng, *, family_means=False) -> dict[str, np.ndarray]:
    point = {
        "ability": rng.normal(size=(K, N_MODEL)),
        "loading": rng.normal(size=(N_ITEM, K)),
        "loading_scale": np.array(np.exp(0.3 * rng.normal())),
        "easiness": rng.normal(size=N_ITEM),
        "easiness_mean": np.array(rng.normal()),
        "easiness_scale": np.array(np.exp(0.3 * rng.normal())),
        "dif_scale": np.array(np.exp(0.3 * rng.normal())),
        "dif_standard": rng.normal(size=(N_ITEM, N_FAMILY - 1)) @ H.T,
    }
    if family_means:
        point["family_mean"] = rng.normal(size=(K, N_FAMILY - 1)) @ H.T
    return point


def draw_values(rng) -> np.ndarray:
    values = rng.integers(0, 2, size=(N_ITEM, N_MODEL)).astype(np.int8)
    values[rng.random(values.shape) < 0.15] = -1
    return values


def predictor(point) -> np.ndarray:
    effects = point["dif_scale"] * point["dif_standard"]
    return point["loading"] @ point["ability"] + point["easiness"][:, None] + effects[:, FAMILY]


def log_density(point, values, weights=None) -> float:
    """The joint log density; given weights, with the normal likelihood that they make."""
    terms = mirt_dif_log_density(
        point, values, family=FAMILY, priors=PRIORS, family_means="family_mean" in point
    )
    if weights is not None:
        eta = predictor(point)
        target = np.where(values >= 0, values - 0.5, 0.0)
        terms["score"] = float((target * eta - 0.5 * weights * eta**2).sum())
    return sum(terms.values())


@pytest.fixture
def setting():
    """Random values, weights by model and by family, and the sums of the weights."""
    rng = np.random.default_rng(7)
    values, point = draw_values(rng), draw_point(rng)
    cells = arrange_cells(values, FAMILY)
    weights = np.where(cells.answers >= 0, rng.gamma(2.0, 0.1, cells.answers.shape), 0.0)
    by_model = np.empty_like(weights)
    by_model[:, cells.order] = weights
    return rng, values, point, cells, weights, by_model


def item_sums(cells, weights, ability) -> ItemSums:
    n_packed = K * (K + 1) // 2
    sums = ItemSums(
        np.full((N_ITEM, n_packed), np.nan),
        np.full((N_ITEM, N_FAMILY, K), np.nan),
        np.full((N_ITEM, N_FAMILY), np.nan),
        np.full((N_ITEM, K), np.nan),
        np.full((N_ITEM, N_FAMILY), np.nan),
    )
    rows = np.ascontiguousarray(ability[:, cells.order].T)
    products = packed_products(rows, n_packed + K)
    add_item_sums(weights, cells.answers, cells.offset, products, cells.start, sums)
    return sums


def symmetric(upper) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T


def with_items(point, items) -> dict[str, np.ndarray]:
    return point | {
        "loading": items[:, :K],
        "easiness": items[:, K],
        "dif_standard": items[:, K + 1 :] @ H.T,
    }


def test_items_given_abilities(setting):
    rng, values, point, cells, weights, by_model = setting
    sums = item_sums(cells, weights, point["ability"])
    priors = ItemPriors(
        float(point["loading_scale"]) ** -2,
        float(point["easiness_mean"]),
        float(point["easiness_scale"]) ** -2,
        np.full(N_ITEM, float(point["dif_scale"])),
        H,
    )
    one, other = rng.normal(size=(2, N_ITEM, K + N_FAMILY))

    def conditional(items) -> float:
        total = 0.0
        for i, x in enumerate(items):
            matrix, vector = np.empty((len(x), len(x))), np.empty(len(x))
            fill_item(sums, priors, i, matrix, vector)
            total += vector @ x - 0.5 * x @ symmetric(matrix) @ x
        return total

    joint = [log_density(with_items(point, x), values, by_model) for x in (one, other)]
    assert conditional(one) - conditional(other) == pytest.approx(joint[0] - joint[1])


@pytest.mark.parametrize("family_means", [False, True])
def test_abilities_given_items(setting, family_means):
    rng, values, _, cells, weights, by_model = setting
    point = draw_point(rng, family_means=family_means)
    n_packed = K * (K + 1) // 2
    gram, lean = np.empty((N_MODEL, n_packed)), np.empty((N_MODEL, K))
    effects = point["dif_scale"] * point["dif_standard"]
    intercept = point["easiness"][:, None] + effects
    products = packed_products(point["loading"], n_packed + K)
    ability_sums(weights, cells.answers, intercept, products, cells.start, gram, lean)
    center = np.zeros((N_MODEL, K))
    if family_means:
        center = np.ascontiguousarray(point["family_mean"].T[FAMILY[cells.order]])
    one, other = rng.normal(size=(2, K, N_MODEL))

    def conditional(ability) -> float:
        total = 0.0
        for m, x in enumerate(ability[:, cells.order].T):
            matrix, vector = np.empty((K, K)), np.empty(K)
            fill_ability(gram[m], lean[m], center[m], matrix, vector)
            total += vector @ x - 0.5 * x @ symmetric(matrix) @ x
        return total

    joint = [log_density(point | {"ability": x}, values, by_model) for x in (one, other)]
    assert conditional(one) - conditional(other) == pytest.approx(joint[0] - joint[1])


def test_numbers_that_multiply_items(setting):
    _, values, point, cells, weights, by_model = setting
    names = ("loading_scale", "easiness_mean", "easiness_scale", "dif_scale")
    loading = point["loading"] / point["loading_scale"]
    easiness = (point["easiness"] - point["easiness_mean"]) / point["easiness_scale"]
    sums = item_sums(cells, weights, point["ability"])
    linear, quadratic = predictor_quadratic(sums, loading, easiness, point["dif_standard"])
    one, other = np.array([point[name] for name in names]), np.array([0.4, -1.0, 2.0, 0.3])

    def likelihood(u) -> float:
        moved = point | {
            "loading": u[0] * loading,
            "easiness": u[1] + u[2] * easiness,
            "dif_scale": u[3],
        }
        eta = predictor(moved)
        target = np.where(values >= 0, values - 0.5, 0.0)
        return float((target * eta - 0.5 * by_model * eta**2).sum())

    def kernel(u) -> float:
        return float(linear @ u - 0.5 * u @ quadratic @ u)

    assert kernel(one) - kernel(other) == pytest.approx(likelihood(one) - likelihood(other))


@pytest.mark.parametrize("family_means", [False, True])
def test_shifts(setting, family_means):
    rng, values, _, cells, _, _ = setting
    point = draw_point(rng, family_means=family_means)
    terms = shift_terms(
        np.ascontiguousarray(point["ability"][:, cells.order].T),
        cells.start,
        point["loading"],
        point["easiness"] - point["easiness_mean"],
        point["dif_standard"] @ H,
        width=np.full(N_ITEM, float(point["dif_scale"])),
        contrasts=H,
        easiness_precision=float(point["easiness_scale"]) ** -2,
        family_mean_sd=PRIORS.family_mean_sd if family_means else None,
    )

    def moved(x) -> dict[str, np.ndarray]:
        blocks = x.reshape(-1, K)
        common, between, means = blocks[0], blocks[1:N_FAMILY], blocks[N_FAMILY:]
        shift = (common + H @ between)[FAMILY].T
        effects = point["dif_standard"] - point["loading"] @ between.T @ H.T / point["dif_scale"]
        there = point | {
            "ability": point["ability"] + shift,
            "easiness": point["easiness"] - point["loading"] @ common,
            "dif_standard": effects,
        }
        return there | ({"family_mean": means.T @ H.T} if family_means else {})

    one, other = rng.normal(size=(2, len(terms.shift)))
    np.testing.assert_allclose(predictor(moved(one)), predictor(point))
    kernel = [terms.shift @ x - 0.5 * x @ terms.precision @ x for x in (one, other)]
    joint = [log_density(moved(x), values) for x in (one, other)]
    assert kernel[0] - kernel[1] == pytest.approx(joint[0] - joint[1])


@pytest.mark.parametrize("what", ["stretch", "shear"])
def test_elementary_maps_of_factors(setting, what):
    """The densities in the notes of `mix_factors`, with their Jacobians, are the joint ones."""
    rng, values, _, _, _, _ = setting
    point = draw_point(rng, family_means=True)
    centred = point["ability"] - point["family_mean"][:, FAMILY]
    means = point["family_mean"] @ H / PRIORS.family_mean_sd
    gram = centred @ centred.T + means @ means.T
    loading_gram = point["loading"].T @ point["loading"] / point["loading_scale"] ** 2
    n_row = N_MODEL + N_FAMILY - 1

    def kernel(c) -> float:
        if what == "stretch":
            half = 0.5 * c**2 * gram[0, 0] + 0.5 * loading_gram[0, 0] / c**2
            return (n_row - N_ITEM) * np.log(c) - half
        precision = gram[0, 0] + loading_gram[1, 1]
        return -0.5 * precision * (c - (loading_gram[1, 0] - gram[1, 0]) / precision) ** 2

    def joint(c) -> float:
        forward = np.diag([c, 1.0]) if what == "stretch" else np.array([[1.0, 0.0], [c, 1.0]])
        moved = point | {
            "ability": forward @ point["ability"],
            "family_mean": forward @ point["family_mean"],
            "loading": point["loading"] @ np.linalg.inv(forward),
        }
        jacobian = (n_row - N_ITEM) * np.linalg.slogdet(forward)[1]
        return log_density(moved, values) + jacobian

    assert kernel(0.6) - kernel(1.7) == pytest.approx(joint(0.6) - joint(1.7))


def test_a_map_of_factors_and_its_inverse_come_together():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 20, 5))
    forward, backward = draw_factor_map(a.T @ a, b.T @ b, power=-3.0, rng=rng)
    np.testing.assert_allclose(forward @ backward, np.eye(5), atol=1e-10)
    assert not np.allclose(forward @ forward.T, np.eye(5), atol=0.01)


def test_rotations_turn_every_way():
    """First entries have mean 0 and mean square 1/3: 2,000 draws, false alarms under 1e-4."""
    rng = np.random.default_rng(2)
    entries = np.array([random_rotation(3, rng=rng) for _ in range(2000)])
    assert abs(entries.mean(axis=0)).max() < 4.5 * np.sqrt(1 / 3 / 2000)
    assert abs((entries**2).mean(axis=0) - 1 / 3).max() < 4.5 * np.sqrt(4 / 45 / 2000)


def test_draws_of_items_have_their_mean_and_covariance(setting):
    """8,000 draws: means and covariances within 5 standard errors, false alarms under 1e-3."""
    rng, _, point, cells, weights, _ = setting
    sums = item_sums(cells, weights, point["ability"])
    priors = ItemPriors(0.7, 0.3, 0.9, rng.gamma(2.0, 0.5, N_ITEM), H)
    n, size = 8000, K + N_FAMILY
    free, tied = np.empty((2, n, N_ITEM, size))
    spread = np.empty((N_ITEM, N_FAMILY - 1, size))
    for d in range(n):
        draw_each_item(rng, sums, priors, free[d], spread)
        tied[d] = free[d]
        tie_items(tied[d], spread)
    mean, covariance = np.empty(N_ITEM * size), np.zeros((N_ITEM * size, N_ITEM * size))
    for i in range(N_ITEM):
        matrix, vector = np.empty((size, size)), np.empty(size)
        fill_item(sums, priors, i, matrix, vector)
        block = slice(i * size, (i + 1) * size)
        covariance[block, block] = np.linalg.inv(symmetric(matrix))
        mean[block] = covariance[block, block] @ vector
    same_moments(free.reshape(n, -1), mean, covariance)
    # the law given sums of zero, from the whole matrix
    ties = np.zeros((N_FAMILY - 1, N_ITEM * size))
    for c in range(N_FAMILY - 1):
        ties[c, K + 1 + c :: size] = 1.0
    gain = covariance @ ties.T @ np.linalg.inv(ties @ covariance @ ties.T)
    same_moments(
        tied.reshape(n, -1), mean - gain @ ties @ mean, covariance - gain @ ties @ covariance
    )
    np.testing.assert_allclose(tied[:, :, K + 1 :].sum(axis=1), 0.0, atol=1e-12)


def same_moments(draws, mean, covariance) -> None:
    n, sd = len(draws), np.sqrt(np.diag(covariance))
    assert (abs(draws.mean(axis=0) - mean) < 5 * sd / np.sqrt(n)).all()
    got = np.cov(draws.T)
    bound = np.sqrt((covariance**2 + np.outer(sd**2, sd**2)) / n)
    assert (abs(got - covariance) < 5 * bound + 1e-12).all()


def test_a_conditioned_draw_obeys():
    rng = np.random.default_rng(5)
    root = rng.normal(size=(4, 4))
    ties = rng.normal(size=(2, 4))
    drawn = draw_conditioned(root @ root.T + np.eye(4), rng.normal(size=4), ties, rng)
    np.testing.assert_allclose(ties @ drawn, 0.0, atol=1e-12)


def test_weights_are_drawn_at_the_predictor_in_the_order_of_cells(setting):
    """Means of 3,000 weights a cell are tanh(eta / 2) / (2 eta): 5 standard errors, under 1e-4."""
    rng, _, point, cells, _, _ = setting
    effects = point["dif_scale"] * point["dif_standard"]
    offset = rng.normal(size=cells.answers.shape)
    intercept = point["easiness"][:, None] + effects
    ability = np.ascontiguousarray(point["ability"][:, cells.order])
    total, square, n = np.zeros((2, *cells.answers.shape)), 0.0, 3000
    total = np.zeros(cells.answers.shape)
    square = np.zeros(cells.answers.shape)
    weights = np.empty(cells.answers.shape)
    for _ in range(n):
        draw_weights(
            rng, cells.answers, offset, point["loading"], intercept, ability, cells.start, weights
        )
        total += weights
        square += weights**2
    eta = predictor(point)[:, cells.order] + offset
    seen = cells.answers >= 0
    mean = total / n
    error = np.sqrt((square / n - mean**2) / n)
    assert (mean[~seen] == 0.0).all()
    assert (abs(mean - np.tanh(eta / 2) / (2 * eta))[seen] < 5 * error[seen]).all()


def test_offsets_enter_the_sums(setting):
    _, values, point, _cells, weights, by_model = setting
    offset = np.random.default_rng(8).normal(size=values.shape)
    shifted = arrange_cells(values, FAMILY, offset=offset)
    sums = item_sums(shifted, weights, point["ability"])
    target = np.where(values >= 0, values - 0.5, 0.0) - by_model * offset
    np.testing.assert_allclose(sums.lean_ability, target @ point["ability"].T)
    np.testing.assert_allclose(sums.lean, target @ np.eye(N_FAMILY)[FAMILY])


def test_prior_of_a_common_factor():
    """The move of all abilities against loadings and their scale, with its Jacobian."""
    rng = np.random.default_rng(9)
    values, point = draw_values(rng), draw_point(rng)
    prior = LogNormal(np.log(PRIORS.loading_spread / np.sqrt(K)), PRIORS.log_scale_sd**-2)
    square, n = float(np.square(point["ability"]).sum()), K * N_MODEL
    center = np.log(float(point["loading_scale"])) - prior.center

    def joint(u) -> float:
        c = np.exp(u)
        moved = point | {
            "ability": c * point["ability"],
            "loading": point["loading"] / c,
            "loading_scale": point["loading_scale"] / c,
        }
        return log_density(moved, values) + u * (n - N_ITEM * K - 1)

    form = (float(n), 0.5 * square, 0.0, 0.0, center, prior.precision)
    got = log_scale_density(0.3, *form) - log_scale_density(-0.4, *form)
    assert got == pytest.approx(joint(0.3) - joint(-0.4))
