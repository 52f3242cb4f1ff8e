"""Spectral working model: against a full SVD, laws, and the worked audit."""

import numpy as np
import pytest

from neartie.data.errors import DataError
from neartie.inference.spectral import (
    spectral_coordinates,
    spectral_offset,
    working_responses,
)


def draw(shape, seed=0):
    return (np.random.default_rng(seed).random(shape) < 0.6).astype(np.int8)


@pytest.mark.parametrize("shape", [(60, 20), (15, 40)])
def test_offset_equals_that_of_a_full_svd(shape):
    values = draw(shape)
    working = working_responses(values)
    offset = spectral_offset(working, spectral_coordinates(working.response, dimension=3))
    _, _, vt = np.linalg.svd(working.response, full_matrices=False)
    projected = working.response @ vt[:3].T @ vt[:3] / working.scale[:, None]
    assert offset == pytest.approx(np.clip(projected, -6, 6), abs=1e-10)


def test_full_rank_returns_the_responses_themselves():
    values = draw((50, 8))
    working = working_responses(values)
    offset = spectral_offset(
        working, spectral_coordinates(working.response, dimension=8), limit=np.inf
    )
    assert offset * working.scale[:, None] == pytest.approx(working.response, abs=1e-10)


def test_weights_count_rows():
    response = working_responses(draw((30, 10))).response
    weight = np.random.default_rng(1).integers(0, 4, size=30)
    weighted = spectral_coordinates(response, dimension=4, weight=weight).vectors
    repeated = spectral_coordinates(np.repeat(response, weight, axis=0), dimension=4).vectors
    assert weighted @ weighted.T == pytest.approx(repeated @ repeated.T, abs=1e-10)


def test_duplicating_every_item_keeps_the_projector():
    response = working_responses(draw((30, 10))).response
    once = spectral_coordinates(response, dimension=4).vectors
    twice = spectral_coordinates(np.vstack([response, response]), dimension=4).vectors
    assert once @ once.T == pytest.approx(twice @ twice.T, abs=1e-10)


def test_randomized_is_close_on_a_clear_gap():
    rng = np.random.default_rng(2)
    response = 5 * rng.normal(size=(200, 2)) @ rng.normal(size=(2, 40)) + rng.normal(size=(200, 40))
    exact = spectral_coordinates(response, dimension=2).vectors
    random = spectral_coordinates(response, dimension=2, decomposition="randomized", rng=3).vectors
    assert random @ random.T == pytest.approx(exact @ exact.T, abs=1e-6)


def test_copies_of_models_lower_the_rank():
    values = draw((40, 6))
    response = working_responses(np.hstack([values, values])).response
    assert spectral_coordinates(response, dimension=12).rank == 6


def test_probabilities_are_smoothed():
    working = working_responses(np.array([[1, 1, 1], [0, 0, 0]], dtype=np.int8))
    assert working.probability.tolist() == [0.875, 0.125]
    assert np.isfinite(working.response).all()


def test_missing_cells_are_refused():
    with pytest.raises(DataError, match="2 cells are missing"):
        working_responses(np.array([[1, -1], [-1, 0]], dtype=np.int8))


def test_no_items_left_is_refused():
    with pytest.raises(DataError, match="no item is left"):
        spectral_coordinates(np.ones((3, 2)), dimension=1, weight=np.zeros(3, dtype=int))


def test_dimension_below_one_is_refused():
    with pytest.raises(ValueError, match="dimension must be at least 1"):
        spectral_coordinates(np.ones((3, 2)), dimension=0)


@pytest.mark.parametrize("half", [0, 1])
def test_worked_audit(reference, half):
    working = working_responses(reference.values(half))
    coordinates = spectral_coordinates(working.response, dimension=20)
    expected = reference.json("residual_summary")[str(half)]["singular_values_first_20"]
    assert coordinates.singular_values == pytest.approx(expected, abs=1e-8)
    two = spectral_coordinates(working.response, dimension=2)
    table = reference.table(f"expected/offset_all_items_half{half}")
    offset = table[reference.half(half)["model"]].astype(float).to_numpy()
    assert spectral_offset(working, two) == pytest.approx(offset, abs=1e-8)
