"""Who decides: items and sources behind a gap."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from neartie.audits.rank_deciders import fewest_to_flip, who_decides
from neartie.data.errors import DataError
from neartie.data.responses import Responses


@given(st.lists(st.integers(-2, 2), min_size=1, max_size=8))
def test_the_fewest_are_those_of_trying_all(values):
    array = np.array(values, dtype=float)
    total = array.sum()
    tries = [
        size
        for size in range(len(array) + 1)
        for gone in combinations(range(len(array)), size)
        if np.delete(array, gone).sum() * total < 0
    ]
    expected = min(tries) if tries else int(np.count_nonzero(array * np.sign(total) > 0))
    assert fewest_to_flip(array) == (0 if total == 0 else expected)


def responses():
    rng = np.random.default_rng(2)
    values = rng.integers(2, size=(60, 3)).astype(np.int8)
    values[:20, 0], values[:20, 1] = 1, rng.integers(2, size=20)
    values[3, 2] = -1
    items = pd.DataFrame({"item": [f"q{i}" for i in range(60)], "source": ["s"] * 20 + ["t"] * 40})
    return Responses.build(values, items=items, models=["ant", "bee", "cat"])


def test_parts_add_up_and_removal_flips():
    data = responses()
    found = who_decides(data, "ant", "bee", rng=1)
    values = data.values.astype(float)
    assert found.gap == pytest.approx((values[:, 0] - values[:, 1]).mean())
    assert found.items["gap"].sum() == pytest.approx(found.gap)
    assert found.sources["gap"].sum() == pytest.approx(found.gap)
    left = found.items["gap_left"]
    assert left[found.n_to_flip - 1] * found.gap < 0
    assert left[found.n_to_flip - 2] * found.gap >= -1e-12
    without = values[20:]
    assert found.sources["gap_without"][0] == pytest.approx((without[:, 0] - without[:, 1]).mean())


def test_the_other_side_is_the_mirror():
    one, other = (
        who_decides(responses(), *pair, rng=3) for pair in (("ant", "bee"), ("bee", "ant"))
    )
    assert one.gap == -other.gap
    assert one.n_to_flip == other.n_to_flip
    assert one.items["item"].tolist() == other.items["item"].tolist()
    both = one.sources["p_favours_a"] + other.sources["p_favours_a"]
    assert both.to_numpy() == pytest.approx(1, abs=0.05)


def test_the_probability_is_that_of_a_paired_comparison():
    data = responses()
    values = data.values.astype(float)
    part = values[:, 0] - values[:, 1]
    pooled = np.sqrt(sum(len(p) * p.var(ddof=1) for p in (part[:20], part[20:])))
    exact = stats.norm.cdf(part.sum() / pooled)
    found = who_decides(data, "ant", "bee", n_draws=40_000, rng=1)
    # the share of 40,000 draws: four standard errors
    assert found.p_above == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000))


def test_missing_answers_leave_an_item_out():
    assert who_decides(responses(), "ant", "cat", rng=1).n_items == 59


def test_a_posterior_is_taken_draw_by_draw():
    rng = np.random.default_rng(4)
    shape = (2, 300)
    data = xr.Dataset(
        {
            "ability": (("chain", "draw", "model"), rng.normal(size=(*shape, 3))),
            "discrimination": (("chain", "draw", "item"), rng.lognormal(size=(*shape, 6))),
            "difficulty": (("chain", "draw", "item"), rng.normal(size=(*shape, 6))),
        },
        coords={"model": ["ant", "bee", "cat"], "item": [f"q{i}" for i in range(6)]},
    )
    tree = xr.DataTree.from_dict({"posterior": data})
    found = who_decides(tree, "ant", "cat", sources=list("xxyyyz"))
    theta = data["ability"].to_numpy()[..., None]
    slope, level = data["discrimination"].to_numpy(), data["difficulty"].to_numpy()
    p = special.expit(slope[:, :, None, :] * (theta - level[:, :, None, :])).reshape(600, 3, 6)
    part = (p[:, 0] - p[:, 2]) / 6
    gap = part.sum(axis=1)
    table = found.items.set_index("item").sort_index()
    assert found.p_above == pytest.approx((gap > 0).mean())
    assert table["gap"].to_numpy() == pytest.approx(part.mean(axis=0))
    assert table["p_favours_a"].to_numpy() == pytest.approx((part > 0).mean(axis=0))
    flipped = (gap[:, None] - part) * gap[:, None] < 0
    assert table["p_decides"].to_numpy() == pytest.approx(flipped.mean(axis=0))
    x = part[:, :2].sum(axis=1)
    assert found.sources["p_decides"][0] == pytest.approx(((gap - x) * gap < 0).mean())


def test_family_effects_and_loadings_count():
    rng = np.random.default_rng(5)
    data = xr.Dataset(
        {
            "ability": (("chain", "draw", "model", "factor"), rng.normal(size=(1, 50, 3, 2))),
            "loading": (("chain", "draw", "item", "factor"), rng.normal(size=(1, 50, 4, 2))),
            "easiness": (("chain", "draw", "item"), rng.normal(size=(1, 50, 4))),
            "dif": (("chain", "draw", "item", "family"), rng.normal(size=(1, 50, 4, 2))),
        },
        coords={"model": list("abc"), "item": list("wxyz"), "family": ["F", "G"]},
    )
    constant = xr.Dataset({"model_family": ("model", [0, 1, 1])}, coords={"model": list("abc")})
    tree = xr.DataTree.from_dict({"posterior": data, "constant_data": constant})
    found = who_decides(tree, "a", "b")
    eta = np.einsum("sik,smk->sim", data["loading"][0], data["ability"][0])
    eta = (
        eta
        + data["easiness"].to_numpy()[0][:, :, None]
        + data["dif"].to_numpy()[0][:, :, [0, 1, 1]]
    )
    p = special.expit(eta).mean(axis=1)
    assert found.gap == pytest.approx((p[:, 0] - p[:, 1]).mean())


@pytest.mark.parametrize(
    ("pair", "words"), [(("ant", "ant"), "two different models"), (("ant", "x"), "no model 'x'")]
)
def test_strange_pairs_are_refused(pair, words):
    with pytest.raises(DataError, match=words):
        who_decides(responses(), *pair)
