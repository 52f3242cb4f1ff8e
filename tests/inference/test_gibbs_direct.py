"""Items and abilities drawn without weights: plain twin, densities, what a start may depend on."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_expit

from neartie.data.responses import Responses
from neartie.inference.gibbs_anchors import (
    ABILITY,
    ITEM,
    ability_starts,
    follow,
    item_starts,
)
from neartie.inference.gibbs_direct_abilities import draw_abilities_directly
from neartie.inference.gibbs_direct_items import draw_items_directly
from neartie.inference.gibbs_direct_kernel import (
    FREE_SHARE,
    LONGEST,
    NEAR,
    RELAX,
    WALK,
    WALK_SHARE,
    degrees,
    log_likelihood,
)
from neartie.inference.gibbs_groups import random_rotation
from neartie.inference.gibbs_item_draws import ItemPriors, contrast_basis
from neartie.inference.gibbs_item_kernel import empty_sums, packed_products
from neartie.inference.gibbs_mirt_dif import MAX_DIRECT, gibbs_mirt_dif
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.mirt_dif_density import mirt_dif_log_density
from neartie.models.priors import MirtDifPriors

N_ITEM, N_MODEL, K, N_FAMILY = 6, 9, 2, 3
FAMILY = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])
START = np.array([0, 4, 7, 9])
H = contrast_basis(N_FAMILY)
PRIORS = MirtDifPriors(dif_scale_sd=0.7, loading_spread=1.1, easiness_mean_sd=1.5)


def draw_point(rng) -> dict[str, np.ndarray]:
    return {
        "ability": rng.normal(size=(K, N_MODEL)),
        "loading": rng.normal(size=(N_ITEM, K)),
        "loading_scale": np.array(0.8),
        "easiness": rng.normal(size=N_ITEM),
        "easiness_mean": np.array(0.3),
        "easiness_scale": np.array(1.2),
        "dif_scale": np.array(0.6),
        "dif_standard": rng.normal(size=(N_ITEM, N_FAMILY - 1)) @ H.T,
        "family_mean": 0.7 * rng.normal(size=(K, N_FAMILY - 1)) @ H.T,
    }


def draw_values(rng) -> np.ndarray:
    values = rng.integers(0, 2, size=(N_ITEM, N_MODEL)).astype(np.int8)
    values[rng.random(values.shape) < 0.15] = -1
    return values


def model_log_density(point, values) -> float:
    terms = mirt_dif_log_density(point, values, family=FAMILY, priors=PRIORS, family_means=True)
    return sum(terms.values())


def plain_metropolis(rng, x, mode, design, offset, values, mean, precision, log_density):
    """Draw one vector whose logits are design @ x + offset, matrices in full."""
    seen = values >= 0
    for _ in range(20):
        chance = expit(design @ mode + offset)
        gradient = design[seen].T @ (values[seen] - chance[seen]) - precision @ (mode - mean)
        weight = (chance * (1 - chance))[seen]
        curvature = design[seen].T @ (weight[:, None] * design[seen]) + precision
        step = np.linalg.solve(curvature, gradient)
        mode = mode + min(1.0, LONGEST / abs(step).max()) * step
        if math.sqrt(step @ gradient) < NEAR:
            break
    root, size, kind = np.linalg.cholesky(curvature).T, len(x), rng.random()
    df = degrees(size)
    y = root @ (x - mode)
    if kind < WALK_SHARE:
        new = y + WALK / math.sqrt(size) * rng.normal(size=size)
        ratio = 0.0
    elif kind < WALK_SHARE + FREE_SHARE:
        chi_square = -2 * np.log1p(-rng.random(df // 2)).sum()
        new = rng.normal(size=size) / math.sqrt(chi_square / df)
        ratio = 0.5 * (df + size) * (math.log1p(new @ new / df) - math.log1p(y @ y / df))
    else:
        new = -RELAX * y + math.sqrt(1 - RELAX**2) * rng.normal(size=size)
        ratio = 0.5 * (new @ new - y @ y)
    proposed = mode + np.linalg.solve(root, new)
    ratio += log_density(proposed) - log_density(x)
    return proposed if math.log1p(-rng.random()) < ratio else x


def columns(rows):
    n_packed = rows.shape[1] * (rows.shape[1] + 1) // 2
    both = np.ascontiguousarray(packed_products(rows, n_packed + rows.shape[1]).T)
    return both[n_packed:], both[:n_packed]


@pytest.mark.parametrize("seed", range(12))
def test_abilities_agree_with_a_plain_twin_under_the_density_of_the_model(seed):
    rng = np.random.default_rng(seed)
    point, values = draw_point(rng), draw_values(rng)
    effects = point["dif_scale"] * point["dif_standard"]
    intercepts = np.ascontiguousarray(point["easiness"] + effects.T)
    begin = rng.normal(size=(N_MODEL, K))
    drawn, fast, slow = point["ability"].T.copy(), *(np.random.default_rng(9) for _ in range(2))
    rows, products = columns(point["loading"])
    center = np.ascontiguousarray(point["family_mean"][:, FAMILY].T)
    accepted = draw_abilities_directly(
        fast,
        drawn,
        begin,
        np.ascontiguousarray(values.T),
        rows,
        products,
        intercepts,
        FAMILY,
        center,
    )
    moved = 0
    for m in range(N_MODEL):

        def log_density(x, m=m):
            ability = point["ability"].copy()
            ability[:, m] = x
            return model_log_density(point | {"ability": ability}, values)

        expected = plain_metropolis(
            slow,
            point["ability"][:, m],
            begin[m],
            point["loading"],
            intercepts[FAMILY[m]],
            values[:, m],
            center[m],
            np.eye(K),
            log_density,
        )
        np.testing.assert_allclose(drawn[m], expected, rtol=1e-8, atol=1e-10)
        moved += (expected != point["ability"][:, m]).any()
    assert accepted == moved
    assert fast.random() == slow.random()


@pytest.mark.parametrize("seed", range(12))
def test_items_agree_with_a_plain_twin_under_the_density_of_the_model(seed):
    rng = np.random.default_rng(seed)
    point, values = draw_point(rng), draw_values(rng)
    width = float(point["dif_scale"])
    before = np.column_stack([point["loading"], point["easiness"], point["dif_standard"] @ H])
    begin, drawn = rng.normal(size=before.shape), before.copy()
    fast, slow = (np.random.default_rng(9) for _ in range(2))
    priors = ItemPriors(0.8**-2, 0.3, 1.2**-2, np.full(N_ITEM, width), H)
    rows, products = columns(point["ability"].T)
    sums = empty_sums(N_ITEM, N_FAMILY, K)
    accepted = draw_items_directly(fast, drawn, begin, values, rows, products, START, priors, sums)
    design = np.column_stack([point["ability"].T, np.ones(N_MODEL), width * H[FAMILY]])
    precision = np.diag([0.8**-2] * K + [1.2**-2] + [1.0] * (N_FAMILY - 1))
    mean, moved = np.array([0.0] * K + [0.3] + [0.0] * (N_FAMILY - 1)), 0
    for i in range(N_ITEM):

        def log_density(x, i=i):
            items = before.copy()
            items[i] = x
            changed = {
                "loading": items[:, :K],
                "easiness": items[:, K],
                "dif_standard": items[:, K + 1 :] @ H.T,
            }
            return model_log_density(point | changed, values)

        expected = plain_metropolis(
            slow,
            before[i],
            begin[i],
            design,
            np.zeros(N_MODEL),
            values[i],
            mean,
            precision,
            log_density,
        )
        np.testing.assert_allclose(drawn[i], expected, rtol=1e-8, atol=1e-10)
        moved += (expected != before[i]).any()
    assert accepted == moved
    assert fast.random() == slow.random()


@pytest.mark.parametrize("begin", [0.0, 3.0])
def test_draws_have_their_conditional_as_distribution(begin):
    """A skewed one: 40,000 draws against a grid, 5 standard errors; false alarms under 1e-5.

    The sample size is taken to be a quarter of the number of draws. Wherever the search begins.
    """
    values = np.array([[1, 1, 1, 1, 1, 0]], dtype=np.int8)
    loading = np.array([[2.0], [1.5], [2.5], [1.0], [2.0], [0.4]])
    intercepts = np.array([[0.5, -0.5, 0.0, 1.0, -1.0, 0.3]])
    rng, n = np.random.default_rng(4), 40_000
    ability, drawn = np.zeros((1, 1)), np.empty(n)
    rows, products = columns(loading)
    accepted = 0
    for d in range(n):
        accepted += draw_abilities_directly(
            rng,
            ability,
            np.full((1, 1), begin),
            values,
            rows,
            products,
            intercepts,
            np.zeros(1, dtype=np.intp),
            np.full((1, 1), 0.2),
        )
        drawn[d] = ability[0, 0]
    assert 0.7 < accepted / n < 0.99
    grid = np.linspace(-8, 9, 20_001)
    eta = (2 * values[0] - 1) * (grid[:, None] * loading[:, 0] + intercepts[0])
    weight = np.exp(log_expit(eta).sum(axis=1) - 0.5 * (grid - 0.2) ** 2)
    weight /= weight.sum()
    mean = weight @ grid
    sd = math.sqrt(weight @ (grid - mean) ** 2)
    for function in (
        lambda x: x,
        lambda x: (x - mean) ** 2,
        lambda x: x > mean + 2 * sd,
        lambda x: x < mean - 1.5 * sd,
    ):
        expected = weight @ function(grid)
        spread = math.sqrt(weight @ (function(grid) - expected) ** 2)
        assert abs(function(drawn).mean() - expected) < 5 * spread / math.sqrt(n / 4)


def test_log_likelihoods_lost_in_rounding_are_refused():
    ones = np.ones(3)
    assert log_likelihood(np.full(3, 1e10), ones, ones) == -np.inf
    long = np.random.default_rng(1).normal(size=2500)
    plain = log_expit(long).sum()
    assert log_likelihood(long, np.ones(2500), np.ones(2500)) == pytest.approx(plain, rel=1e-12)


def turned_apart(rng):
    """Abilities and items, and the same ones after a regular map of the factors."""
    ability, loading = rng.normal(size=(40, K)), rng.normal(size=(30, K))
    rest = rng.normal(size=(30, N_FAMILY))
    turn = random_rotation(K, rng=rng) * np.array([0.7, 1.4])
    other = np.hstack([loading @ np.linalg.inv(turn), rest])
    return ability, np.hstack([loading, rest]), ability @ turn.T, other


def test_starts_go_along_with_the_factors():
    """Of anchors that are the truth in other factors, a start is the truth in those at hand."""
    rng = np.random.default_rng(3)
    design = np.hstack([np.ones((N_FAMILY, 1)), H])[np.arange(40) % N_FAMILY]
    ability, items, other_ability, other_items = turned_apart(rng)
    anchors = {ABILITY: other_ability, ITEM: other_items}
    np.testing.assert_allclose(item_starts(anchors, ability, design), items, atol=1e-3)
    found = ability_starts(anchors, items[:, :K], items[:, K:], design, np.full(30, 0.2))
    np.testing.assert_allclose(found, ability, atol=2e-3)


def test_anchors_follow_a_chain_in_their_own_factors():
    rng = np.random.default_rng(3)
    design = np.hstack([np.ones((N_FAMILY, 1)), H])[np.arange(40) % N_FAMILY]
    ability, items, other_ability, other_items = turned_apart(rng)
    anchors = {ABILITY: other_ability.copy(), ITEM: other_items.copy()}
    follow(anchors, ability, items, design, copy=False)
    np.testing.assert_allclose(anchors[ITEM], other_items, atol=1e-3)
    np.testing.assert_allclose(anchors[ABILITY], other_ability, atol=1e-3)
    follow(anchors, ability, items, design, copy=True)
    assert (anchors[ITEM] == items).all()


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(2)
    values = (rng.random((40, 30)) < expit(rng.normal(size=(40, 1)))).astype(np.int8)
    models = pd.DataFrame(
        {"model": [f"m{m:02d}" for m in range(30)], "family": [f"f{m % 3}" for m in range(30)]}
    )
    responses = Responses.build(values, items=[f"q{i:02d}" for i in range(40)], models=models)
    return build_mirt_dif(responses, dimension=K)


def test_a_tuned_chain_goes_on_from_its_state_alone(model):
    sampler, rng = gibbs_mirt_dif(model), np.random.default_rng(1)
    assert sampler.direct
    state = sampler.start(rng)
    for _ in range(60):
        sampler.sweep(state, rng, tuning=True)
    anchors = state[ABILITY].copy(), state[ITEM].copy()
    twin = {name: value.copy() for name, value in state.items()}
    other = np.random.default_rng(0)
    other.bit_generator.state = rng.bit_generator.state
    for _ in range(7):
        sampler.sweep(state, rng, tuning=False)
    again = replace(sampler)
    for _ in range(7):
        again.sweep(twin, other, tuning=False)
    for name, value in state.items():
        assert value.tobytes() == twin[name].tobytes()
    assert (state[ABILITY] == anchors[0]).all()
    assert (state[ITEM] == anchors[1]).all()
    shares = sampler.counts(state)
    assert shares.keys() == {"accepted_item", "accepted_ability"}
    assert all(0.6 < share < 1 for share in shares.values())


def test_many_factors_and_what_hangs_together_are_drawn_with_weights(model):
    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, size=(12, 14)).astype(np.int8)
    models = pd.DataFrame({"model": [f"m{m:02d}" for m in range(14)], "family": ["a", "b"] * 7})
    responses = Responses.build(values, items=[f"q{i:02d}" for i in range(12)], models=models)
    for options in (
        {"dimension": MAX_DIRECT + 1},
        {"dimension": K, "sparse": True},
        {"dimension": K, "zero_sum": "families_and_items"},
    ):
        sampler = gibbs_mirt_dif(build_mirt_dif(responses, **options))
        assert not sampler.direct
        assert sampler.counts({}) == {}


def test_both_ways_have_the_same_posterior(model):
    """Means of the predictor with and without weights: 5 standard errors of 10 batches each."""
    found = {}
    for direct in (False, True):
        sampler = replace(gibbs_mirt_dif(model), direct=direct)
        rng = np.random.default_rng(8)
        state = sampler.start(rng)
        for _ in range(100):
            sampler.sweep(state, rng, tuning=True)
        batches = np.zeros((10, 3))
        for sweep in range(600):
            sampler.sweep(state, rng, tuning=False)
            logits = state["loading"] @ state["ability"] + state["easiness"][:, None]
            numbers = np.log(state["dif_scale"]), (logits**2).mean(), expit(logits[:, 0]).mean()
            batches[sweep // 60] += np.array(numbers) / 60
        found[direct] = batches.mean(axis=0), batches.var(axis=0, ddof=1) / 10
    (one, spread), (other, more) = found[False], found[True]
    assert (abs(one - other) < 5 * np.sqrt(spread + more)).all()


ODD = {
    "all right": (np.ones((30, 20)), K),
    "a ladder": (np.arange(30)[:, None] / 30 < np.arange(20) / 20, K),
    "more factors than models": (np.arange(30).reshape(6, 5) % 2, 8),
    "hardly any answers": (np.where(np.add.outer(np.arange(30), np.arange(20)) % 9, -1, 1), K),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_answers_leave_chains_moving_and_finite(name):
    values, dimension = ODD[name]
    n_item, n_model = values.shape
    models = pd.DataFrame(
        {
            "model": [f"m{m:02d}" for m in range(n_model)],
            "family": [f"f{m % 3}" for m in range(n_model)],
        }
    )
    responses = Responses.build(
        values.astype(np.int8), items=[f"q{i:02d}" for i in range(n_item)], models=models
    )
    sampler = gibbs_mirt_dif(build_mirt_dif(responses, dimension=dimension))
    rng = np.random.default_rng(1)
    state = sampler.start(rng)
    for sweep in range(160):
        sampler.sweep(state, rng, tuning=sweep < 80)
    assert all(np.isfinite(value).all() for value in state.values())
    assert all(share > 0.25 for share in sampler.counts(state).values())
