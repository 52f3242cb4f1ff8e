"""Offsets over bootstrap owners, and draws under them: identity, a plain twin, laws, errors."""

import numpy as np
import pytest

from neartie.audits.prepared_half import half_offset, prepare_half
from neartie.data.errors import DataError
from neartie.inference.bootstrap_offset import (
    bootstrap_offsets,
    model_products,
    resampled_offset,
)
from neartie.inference.residual_dif_bootstrap import draw_residual_dif_bootstrap
from neartie.inference.residual_dif_draws import draw_residual_dif
from neartie.inference.spectral import spectral_coordinates, working_responses


def simulate(seed=1, n_item=40, n_model=24):
    rng = np.random.default_rng(seed)
    logit = rng.normal(size=(n_item, 2)) @ rng.normal(size=(2, n_model)) + rng.normal(
        size=(n_item, 1)
    )
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    values[3] = values[7]
    owner = np.array([f"o{m // 2:02d}" for m in range(n_model)])
    family = np.array([("Ash", "Birch", "Cedar")[m // 2 % 3] for m in range(n_model)])
    return values, owner, family


def plain_offset(working, times, dimension, selected, limit):
    """As the formula says: drawn columns written out, one decomposition, models projected."""
    columns = np.repeat(np.arange(len(times)), times)
    x = working.response
    left, singular, right = np.linalg.svd(x[np.ix_(selected, columns)], full_matrices=False)
    u, s, v = left[:, :dimension], singular[:dimension], right[:dimension].T
    loading = x[:, columns] @ v
    theta = (u / s).T @ x[selected]
    return np.clip(loading @ theta / working.scale[:, None], -limit, limit)


@pytest.mark.parametrize("seed", range(3))
def test_offset_is_that_of_the_drawn_columns_written_out(seed):
    values, owner, _ = simulate(seed)
    working = working_responses(values)
    selected = np.arange(40) % 3 > 0
    weight = selected.astype(np.intp)
    for sample in bootstrap_offsets(
        working, owner=owner, dimension=3, weight=weight, limit=4.0, n=4, rng=seed
    ):
        expected = plain_offset(working, sample.times, 3, np.flatnonzero(selected), 4.0)
        np.testing.assert_allclose(sample.values(), expected, atol=1e-9)
        assert sample.k == 3


def test_every_owner_once_is_the_audits_own_offset():
    values, _, _ = simulate()
    prepared = prepare_half(values)
    selected = np.arange(40) % 4 > 0
    weight = prepared.patterns.count(selected)
    once = resampled_offset(
        prepared.working,
        model_products(prepared.working, weight=weight),
        np.ones(24, dtype=np.intp),
        dimension=4,
    )
    own = half_offset(prepared, selected, dimension=4)
    np.testing.assert_allclose(once.values(), own.values, atol=1e-10)
    of_items = once.of_items(prepared.patterns.of_item)
    np.testing.assert_allclose(of_items.values(), own.values[prepared.patterns.of_item], atol=1e-10)
    # coordinates are then the right singular vectors
    vectors = spectral_coordinates(prepared.working.response, dimension=4, weight=weight).vectors
    np.testing.assert_allclose(
        once.coordinates.T @ once.coordinates, vectors @ vectors.T, atol=1e-10
    )


def test_whole_owners_are_drawn_as_many_as_there_are():
    values, owner, _ = simulate()
    samples = list(
        bootstrap_offsets(working_responses(values), owner=owner, dimension=2, n=200, rng=2)
    )
    times = np.array([sample.times for sample in samples])
    np.testing.assert_array_equal(times[:, ::2], times[:, 1::2])
    assert (times.sum(axis=1) == 24).all()
    # each owner's count is binomial(12, 1/12): mean 1, and 36.8 % - .035 are left out
    assert times.mean(axis=0) == pytest.approx(1, abs=5 * np.sqrt(11 / 12 / 200))
    assert (times == 0).mean() == pytest.approx((11 / 12) ** 12, abs=0.05)


def test_order_of_models_changes_nothing():
    values, owner, _ = simulate()
    moved = np.random.default_rng(3).permutation(24)
    options = {"dimension": 3, "n": 3, "rng": 5}
    ones = bootstrap_offsets(working_responses(values), owner=owner, **options)
    twos = bootstrap_offsets(working_responses(values[:, moved]), owner=owner[moved], **options)
    for one, two in zip(ones, twos, strict=True):
        np.testing.assert_array_equal(two.times, one.times[moved])
        # summation order moves the last digits only
        np.testing.assert_allclose(two.values(), one.values(moved), atol=1e-9)


def test_a_sample_of_lower_rank_is_cut_and_says_so():
    values, owner, _ = simulate()
    # three owners, whose models answer alike: every sample has a rank of three at most
    values = values[:, [0, 0, 2, 2, 4, 4]]
    owner = owner[[0, 1, 2, 3, 4, 5]]
    samples = list(
        bootstrap_offsets(working_responses(values), owner=owner, dimension=5, n=30, rng=1)
    )
    for sample in samples:
        assert sample.k == len(np.unique(owner[sample.times > 0]))
        assert sample.dimension == 5
        assert np.isfinite(sample.values()).all()
    drawn = draw_residual_dif_bootstrap(
        values, family=list("xxyyxy"), offsets=samples, draws=1, rng=1
    )
    assert drawn.facts["offsets_with_fewer_dimensions"] == 30
    assert drawn.facts["smallest_k"] == 1


def test_draws_under_one_offset_are_those_of_that_offset():
    values, owner, family = simulate()
    values[0] = 1
    samples = list(
        bootstrap_offsets(working_responses(values), owner=owner, dimension=2, n=3, rng=1)
    )
    drawn = draw_residual_dif_bootstrap(values, family=family, offsets=samples, draws=4, rng=7)
    rng = np.random.default_rng(7)
    for k, sample in enumerate(samples):
        own = draw_residual_dif(values, family=family, offset=sample.values(), draws=4, rng=rng)
        mine = drawn.offset_index == k
        # modes are found from other starts, to 1e-8
        np.testing.assert_allclose(drawn.draws.effects[mine], own.effects, atol=1e-6)
        np.testing.assert_allclose(drawn.draws.easiness[mine], own.easiness, atol=1e-6)
    assert drawn.draws.n_draw == drawn.facts["draws"] == 12


def test_linear_predictor_is_the_sum_of_its_parts():
    values, owner, family = simulate()
    samples = bootstrap_offsets(working_responses(values), owner=owner, dimension=2, n=2, rng=1)
    drawn = draw_residual_dif_bootstrap(values, family=family, offsets=samples, draws=2, rng=1)
    models = np.array([1, 20])
    codes = np.unique(family, return_inverse=True)[1][models]
    found = drawn.linear_predictor(3, models=models, family=codes)
    expected = drawn.offsets[1].values()[:, models] + drawn.draws.easiness[3][:, None]
    expected += drawn.draws.effects[3][:, codes]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_what_cannot_be_is_refused():
    values, owner, family = simulate()
    working = working_responses(values)
    with pytest.raises(DataError, match="24 models have 3 owners"):
        bootstrap_offsets(working, owner=owner[:3], dimension=2)
    with pytest.raises(DataError, match="at least two, but all models belong to 'x'"):
        bootstrap_offsets(working, owner=["x"] * 24, dimension=2)
    with pytest.raises(DataError, match="no item is left"):
        bootstrap_offsets(working, owner=owner, dimension=2, weight=np.zeros(40, dtype=int))
    with pytest.raises(ValueError, match="dimension must be at least 1, got 0"):
        bootstrap_offsets(working, owner=owner, dimension=0)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        bootstrap_offsets(working, owner=owner, dimension=2, n=0)
    with pytest.raises(DataError, match="there is no offset"):
        draw_residual_dif_bootstrap(values, family=family, offsets=[])
    samples = bootstrap_offsets(working, owner=owner, dimension=2, n=1, rng=1)
    with pytest.raises(DataError, match="of 40 items and 24 models, the answers of 39 and 24"):
        draw_residual_dif_bootstrap(values[:39], family=family, offsets=samples)
