"""The Gibbs samplers with family effects as wholes: twin, bytes, options, long runs of NUTS."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_expit

from neartie.data.errors import ConvergenceError
from neartie.data.responses import Responses
from neartie.inference.gibbs_ability_kernel import ability_sums, draw_abilities
from neartie.inference.gibbs_cells import arrange_cells, weigh_answers
from neartie.inference.gibbs_item_draws import ItemPriors, contrast_basis, draw_items
from neartie.inference.gibbs_item_kernel import packed_products
from neartie.inference.gibbs_mirt_dif import gibbs_mirt_dif
from neartie.inference.gibbs_residual_dif import gibbs_residual_dif
from neartie.inference.polya_gamma import polya_gamma
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.priors import MirtDifPriors, ResidualDifPriors
from neartie.models.residual_dif_model import build_residual_dif

N_ITEM, N_MODEL, K, N_FAMILY = 7, 11, 2, 3
FAMILY = np.array([0, 1, 2, 0, 1, 0, 2, 2, 1, 0, 0])
OFFSET = np.random.default_rng(4).normal(size=(N_ITEM, N_MODEL))
MIRT = [
    {},
    {"zero_sum": "families_and_items"},
    {"family_means": True},
    {"sparse": True, "family_means": True},
]
RESIDUAL = [
    {},
    {"zero_sum": "families_and_items"},
    {"hierarchical": True},
    {"hierarchical": True, "zero_sum": "families_and_items"},
    {"sparse": True},
]


def leaderboard(*, missing=True, n_item=N_ITEM, seed=1) -> Responses:
    """Answers of no structure; no item has equal ones, which a flat prior would not allow."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, size=(n_item, N_MODEL)).astype(np.int8)
    values[:, 0], values[:, 1] = 0, 1
    if missing:
        values[rng.random(values.shape) < 0.15] = -1
        values[:, 0], values[:, 1] = 0, 1
    models = pd.DataFrame(
        {"model": [f"m{m:02d}" for m in range(N_MODEL)], "family": [f"f{f}" for f in FAMILY]}
    )
    return Responses.build(values, items=[f"q{i}" for i in range(n_item)], models=models)


def build(kind: str, options: dict, responses: Responses, offset=OFFSET):
    if kind == "mirt":
        return gibbs_mirt_dif(build_mirt_dif(responses, dimension=K, **options))
    return gibbs_residual_dif(build_residual_dif(responses, offset, **options))


CASES = [("mirt", options) for options in MIRT] + [("residual", options) for options in RESIDUAL]


def run(sampler, *, n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    state = sampler.start(rng)
    for _ in range(n):
        sampler.sweep(state, rng, tuning=False)
    return state


@pytest.mark.parametrize("missing", [False, True])
def test_agrees_with_a_plain_twin_draw_by_draw(missing):
    """Weights, items and abilities from the same stream of random numbers, matrices in full."""
    responses = leaderboard(missing=missing)
    values, basis = responses.values, contrast_basis(N_FAMILY)
    rng = np.random.default_rng(8)
    ability, loading = rng.normal(size=(N_MODEL, K)), rng.normal(size=(N_ITEM, K))
    easiness, width = rng.normal(size=N_ITEM), rng.gamma(2.0, 0.3, N_ITEM)
    effects = rng.normal(size=(N_ITEM, N_FAMILY - 1)) @ basis.T
    cells = arrange_cells(values, FAMILY)
    order, family = cells.order, FAMILY[cells.order]

    fast = np.random.default_rng(9)
    assert not len(cells.one_sided)
    weights, sums = weigh_answers(
        cells,
        loading,
        easiness,
        width[:, None] * effects,
        np.ascontiguousarray(ability[order]),
        easiness_prior=(0.2, 0.5),
        rng=fast,
    )
    priors = ItemPriors(0.8, 0.2, 0.5, width, basis)
    got = draw_items(sums, priors, tied=False, rng=fast)
    n_packed = K * (K + 1) // 2
    gram, lean, drawn = np.empty((N_MODEL, n_packed)), np.empty((N_MODEL, K)), np.empty((11, K))
    intercept = got[1][:, None] + width[:, None] * (got[2] @ basis.T)
    products = packed_products(got[0], n_packed + K)
    ability_sums(weights, cells.answers, intercept, products, cells.start, gram, lean)
    draw_abilities(fast, gram, lean, np.full((N_MODEL, K), 0.1), drawn)

    slow = np.random.default_rng(9)
    answers = values[:, order]
    eta = loading @ ability[order].T + easiness[:, None] + (width[:, None] * effects)[:, family]
    omega = np.zeros(eta.shape)
    omega[answers >= 0] = polya_gamma(eta[answers >= 0], rng=slow)
    target = np.where(answers >= 0, answers - 0.5, 0.0)
    np.testing.assert_allclose(weights, omega)
    items = []
    for i in range(N_ITEM):
        design = np.hstack([ability[order], np.ones((N_MODEL, 1)), width[i] * basis[family]])
        prior = np.diag([0.8] * K + [0.5] + [1.0] * (N_FAMILY - 1))
        precision = design.T @ (omega[i][:, None] * design) + prior
        side = design.T @ target[i] + np.array([0.0] * K + [0.1] + [0.0] * (N_FAMILY - 1))
        items.append(plain_draw(precision, side, slow))
    np.testing.assert_allclose(np.column_stack(got), items, rtol=1e-8, atol=1e-10)
    everything = np.column_stack(got)
    for m in range(N_MODEL):
        precision = everything[:, :K].T @ (omega[:, m][:, None] * everything[:, :K]) + np.eye(K)
        known = everything[:, K] + width * (everything[:, K + 1 :] @ basis[family[m]])
        side = everything[:, :K].T @ (target[:, m] - omega[:, m] * known) + 0.1
        np.testing.assert_allclose(drawn[m], plain_draw(precision, side, slow), rtol=1e-8)
    assert fast.random() == slow.random()


def plain_draw(precision, side, rng) -> np.ndarray:
    root = np.linalg.cholesky(precision).T
    return np.linalg.solve(precision, side) + np.linalg.solve(root, rng.normal(size=len(side)))


@pytest.mark.parametrize(("kind", "options"), CASES)
def test_a_sweep_draws_every_free_variable_and_keeps_what_holds(kind, options):
    sampler = build(kind, options, leaderboard())
    rng = np.random.default_rng(1)
    state = sampler.start(rng)
    assert tuple(name for name in state if name[0] != "_") == sampler.names
    before = {name: value.copy() for name, value in state.items()}
    arrays = dict(state)
    sampler.sweep(state, rng, tuning=False)
    for name, value in state.items():
        assert value is arrays[name]
        assert value.dtype == np.float64
        assert value.flags.c_contiguous
        assert np.isfinite(value).all()
        # What steers a chain stays as it is once it is tuned.
        moves = name in sampler.names or name in ("_held", "_sweep")
        assert (value != before[name]).all() or not moves, name
    effects = state["dif_standard" if "dif_standard" in state else "dif"]
    np.testing.assert_allclose(effects.sum(axis=1), 0.0, atol=1e-12)
    if options.get("zero_sum") == "families_and_items":
        np.testing.assert_allclose(effects.sum(axis=0), 0.0, atol=1e-12)
    if "family_mean" in state:
        np.testing.assert_allclose(state["family_mean"].sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize(("kind", "options"), CASES)
def test_same_seed_same_bytes_whatever_the_order_of_the_data(kind, options):
    responses = leaderboard()
    one = run(build(kind, options, responses), n=5, seed=3)
    other = run(build(kind, options, responses), n=5, seed=3)
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(N_ITEM), rng.permutation(N_MODEL)
    shuffled = Responses.build(
        responses.values[rows][:, columns],
        items=[responses.item_ids[i] for i in rows],
        models=responses.models.iloc[columns].reset_index(drop=True),
    )
    third = run(build(kind, options, shuffled, OFFSET[rows][:, columns]), n=5, seed=3)
    for name, value in one.items():
        assert value.tobytes() == other[name].tobytes() == third[name].tobytes()
    assert run(build(kind, options, responses), n=5, seed=4)["easiness"][0] != one["easiness"][0]


@pytest.mark.parametrize("kind", ["mirt", "residual"])
def test_refuses_what_it_does_not_sample(kind):
    options = {"sparse": True, "zero_sum": "families_and_items"}
    with pytest.raises(ValueError, match=r"sparse=True together.*engine nuts"):
        build(kind, options, leaderboard())


def test_one_sided_items_are_those_with_few_answers_of_a_kind():
    values = np.zeros((4, 20), dtype=np.int8)
    values[0, 0], values[1, :4], values[2, :19] = 1, 1, 1
    values[3, :5], values[3, 5:] = 1, -1
    cells = arrange_cells(values, np.arange(20) % 2)
    assert cells.one_sided.tolist() == [0, 2, 3]


def test_flat_easiness_and_fixed_scale_have_their_posterior():
    """Two families, one item: 8,000 sweeps against the density on a grid, 5 standard errors.

    The chain's sample size is taken to be an eighth of its length; false alarms under 1e-5.
    """
    responses = leaderboard(n_item=1, missing=False)
    models = responses.models.assign(family=["a", "b"] * 5 + ["a"])
    responses = Responses.build(responses.values, items=["q"], models=models)
    model = build_residual_dif(responses, OFFSET[:1], priors=ResidualDifPriors(dif_sd=0.8))
    sampler, rng = gibbs_residual_dif(model), np.random.default_rng(6)
    state, n = sampler.start(rng), 8_000
    drawn = np.empty((n, 2))
    for d in range(n):
        sampler.sweep(state, rng, tuning=False)
        drawn[d] = state["easiness"][0], state["dif"][0, 0]
    easiness = np.linspace(-7, 7, 301)[:, None]
    effect = np.linspace(-4, 4, 251)
    log_density = -(effect**2) / 0.8**2 + np.zeros((301, 1))
    sign = 2 * responses.values[0].astype(int) - 1
    for m, side in enumerate(np.where(models["family"] == "a", 1.0, -1.0)):
        log_density = log_density + log_expit(sign[m] * (OFFSET[0, m] + easiness + side * effect))
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    values = [easiness, effect[None], easiness**2, effect[None] ** 2, easiness * effect]
    got = np.column_stack([drawn, drawn**2, drawn.prod(axis=1)])
    expected = np.array([(weight * value).sum() for value in values])
    assert (abs(got.mean(axis=0) - expected) < 5 * got.std(axis=0) / np.sqrt(n / 8)).all()


def test_numbers_that_are_none_are_refused():
    sampler, rng = build("mirt", {}, leaderboard()), np.random.default_rng(1)
    state = sampler.start(rng)
    state["easiness"][0] = np.nan
    with pytest.raises(ConvergenceError, match="range of numbers"):
        sampler.sweep(state, rng, tuning=False)


LONG = [
    ("mirt", {}),
    ("mirt", {"zero_sum": "families_and_items", "family_means": True}),
    ("residual", {"hierarchical": True}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "options"), LONG)
def test_moments_are_those_of_a_long_run_of_nuts(kind, options):
    """Means and spreads of what does not turn: 4.5 standard errors of the difference."""
    from arviz_stats.base import array_stats

    from neartie.inference.fit import fit

    responses = leaderboard(n_item=N_ITEM)
    if kind == "mirt":
        priors = MirtDifPriors(loading_spread=1.0, easiness_scale=1.0)
        model = build_mirt_dif(responses, dimension=K, priors=priors, **options)
    else:
        priors = ResidualDifPriors(easiness_sd=1.5)
        model = build_residual_dif(responses, OFFSET, priors=priors, **options)
    length = {"draws": 4000, "tune": 1000, "chains": 4, "rng": 9}
    trees = (
        fit(model, engine="nuts", target_accept=0.98, **length),
        fit(model, engine="gibbs", **length),
    )
    first, second = (tree["posterior"].to_dataset() for tree in trees)
    far = {}
    for name in first.data_vars:
        if name in ("ability", "loading", "family_mean", "dif_standard"):
            continue
        pair = [draws[name].to_numpy().reshape(4, 4000, -1) for draws in (first, second)]
        if name.endswith("_scale"):
            pair = [np.log(draws) for draws in pair]
        for j in range(pair[0].shape[2]):
            centre = pair[0][..., j].mean()
            for power in (1, 2):
                one, other = ((draws[..., j] - centre) ** power for draws in pair)
                error = np.hypot(
                    *(x.std() / np.sqrt(array_stats.ess(x, method="mean")) for x in (one, other))
                )
                z = (one.mean() - other.mean()) / error
                if abs(z) > 4.5:
                    far[name, j, power] = round(float(z), 1)
    assert not far, far
