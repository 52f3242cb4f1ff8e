"""Expected scores: against a loop, and the turns of the latent space that they do not see."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import expit

from neartie.inference.expected_scores import expected_scores

N_ITEM, N_MODEL, K = 6, 4, 3
LABELS = {
    "item": [f"q{i}" for i in range(N_ITEM)],
    "model": ["d", "b", "a", "c"],
    "family": ["x", "y"],
}
FAMILY = np.array([0, 1, 1, 0])


@pytest.fixture
def parts():
    rng = np.random.default_rng(11)
    return {
        "loading": rng.normal(size=(2, 3, N_ITEM, K)),
        "ability": rng.normal(size=(2, 3, N_MODEL, K)),
        "easiness": rng.normal(size=(2, 3, N_ITEM)),
        "dif": rng.normal(size=(2, 3, N_ITEM, 2)),
    }


def tree(parts, offset=None):
    dims = {
        "loading": ("item", "factor"),
        "ability": ("model", "factor"),
        "easiness": ("item",),
        "dif": ("item", "family"),
    }
    data = {name: (("chain", "draw", *dims[name]), values) for name, values in parts.items()}
    constant = {"model_family": ("model", FAMILY)}
    if offset is not None:
        constant["offset"] = (("item", "model"), offset)
    coords = {name: LABELS[name] for name in ("item", "model")}
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(data, coords=LABELS),
            "constant_data": xr.Dataset(constant, coords=coords),
        }
    )


def plain(parts, chain, draw, model):
    """The slow twin: one model under one draw."""
    total = 0.0
    for item in range(N_ITEM):
        eta = parts["easiness"][chain, draw, item]
        eta += parts["loading"][chain, draw, item] @ parts["ability"][chain, draw, model]
        eta += parts["dif"][chain, draw, item, FAMILY[model]]
        total += expit(eta)
    return total / N_ITEM


def test_every_draw_agrees_with_a_loop(parts):
    scores = expected_scores(tree(parts))
    expected = [
        [[plain(parts, chain, draw, model) for model in range(N_MODEL)] for draw in range(3)]
        for chain in range(2)
    ]
    assert scores.dims == ("chain", "draw", "model")
    assert scores["model"].to_numpy().tolist() == LABELS["model"]
    assert scores.to_numpy() == pytest.approx(np.array(expected), abs=1e-14)


def test_a_turn_of_the_latent_space_changes_nothing(parts):
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(K, K)))[0]
    turned = parts | {"loading": parts["loading"] @ turn, "ability": parts["ability"] @ turn}
    assert expected_scores(tree(turned)).to_numpy() == pytest.approx(
        expected_scores(tree(parts)).to_numpy(), abs=1e-13
    )


def test_a_fixed_offset_counts(parts):
    fixed = {name: parts[name] for name in ("easiness", "dif")}
    offset = np.random.default_rng(5).normal(size=(N_ITEM, N_MODEL))
    scores = expected_scores(tree(fixed, offset))
    eta = offset + fixed["easiness"][1, 2][:, None] + fixed["dif"][1, 2][:, FAMILY]
    assert scores[1, 2].to_numpy() == pytest.approx(expit(eta).mean(axis=0), abs=1e-14)


@pytest.mark.parametrize("left_out", ["difficulty", "discrimination", "easiness"])
def test_one_dimension_with_any_of_its_parametrisations(left_out):
    rng = np.random.default_rng(13)
    dims = {name: ("item",) for name in ("discrimination", "difficulty", "easiness")}
    dims = {"ability": ("model",)} | {k: v for k, v in dims.items() if k != left_out}
    sizes = {"item": N_ITEM, "model": N_MODEL}
    data = {
        name: (("chain", "draw", *names), rng.normal(size=(1, 2, *(sizes[n] for n in names))))
        for name, names in dims.items()
    }
    labels = {name: LABELS[name] for name in ("item", "model")}
    draws = xr.Dataset(data, coords=labels)
    scores = expected_scores(xr.DataTree.from_dict({"posterior": draws}))
    slope = draws.get("discrimination", xr.DataArray(1.0))
    eta = slope * (draws["ability"] - draws.get("difficulty", xr.DataArray(0.0)))
    eta = eta + draws.get("easiness", xr.DataArray(0.0))
    expected = (1 / (1 + np.exp(-eta))).mean("item").transpose("chain", "draw", "model")
    assert scores.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-14)


def test_strengths_have_no_expected_score():
    strengths = xr.Dataset({"strength": (("chain", "draw", "model"), np.zeros((1, 2, 2)))})
    with pytest.raises(ValueError, match="no score to expect"):
        expected_scores(xr.DataTree.from_dict({"posterior": strengths}))
