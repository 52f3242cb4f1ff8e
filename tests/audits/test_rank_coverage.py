"""Joint sets of ranks hold all true ranks as often as they say."""

import numpy as np
import pytest

from neartie.audits.rank_sets import critical_value
from neartie.audits.ranks import rank_models
from neartie.data.battles import Battles
from neartie.inference.bradley_terry import fit_bradley_terry

IDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]


def normal_study(truth, *, n_repeat, sets="differences"):
    """Share of repeats in which all true ranks lie in their sets; equal truths may stand anywhere."""
    rng = np.random.default_rng(11)
    covariance = 0.09 * np.eye(len(truth))
    best = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
    worst = len(truth) - (truth[None, :] < truth[:, None]).sum(axis=1)
    hits = 0
    for _ in range(n_repeat):
        found = rank_models(
            rng.normal(truth, 0.3),
            models=IDS[: len(truth)],
            covariance=covariance,
            sets=sets,
            n_draws=1000,
            rng=rng,
        ).ranks.set_index("model").loc[IDS[: len(truth)]]  # fmt: skip
        low, high = found["rank_set_low"].to_numpy(), found["rank_set_high"].to_numpy()
        # with equal truths every order of them has to be allowed
        hits += bool(((low <= best) & (worst <= high)).all())
    return hits / n_repeat


@pytest.mark.parametrize(
    "truth", [np.zeros(8), np.repeat([0.0, 3.0], 4)], ids=["all equal", "two groups"]
)
def test_joint_sets_hold_where_it_is_hardest(truth):
    # equal truths use up the whole 5 %: 160 repeats fall below 0.90 once in 300 seeds
    assert normal_study(truth, n_repeat=160) >= 0.90


@pytest.mark.slow
def test_joint_sets_hold_in_bradley_terry():
    """Near ties among ten models: all ranks within their sets in at least 95 % of data sets.

    400 data sets; three binomial standard errors below .95 are .917.
    """
    rng = np.random.default_rng(12)
    n, names = 10, [f"m{i}" for i in range(10)]
    strength = np.r_[np.zeros(5), np.full(5, 0.8)]
    best = np.r_[np.full(5, 6), np.full(5, 1)]
    hits = 0
    for _ in range(400):
        a = rng.integers(n, size=3000)
        b = (a + rng.integers(1, n, size=3000)) % n
        won = rng.random(3000) < 1 / (1 + np.exp(strength[b] - strength[a]))
        battles = Battles.build(
            [names[m] for m in a], [names[m] for m in b], np.where(won, "a", "b").tolist()
        )
        table = rank_models(fit_bradley_terry(battles, phantom_wins=0), rng=rng).ranks
        table = table.set_index("model").loc[names]
        low, high = table["rank_set_low"].to_numpy(), table["rank_set_high"].to_numpy()
        hits += bool(((low <= best) & (best + 4 <= high)).all())
    assert hits / 400 >= 0.917


def test_few_draws_hold_as_many_new_ones_as_they_say():
    """Intervals of all differences, made from 60 draws of 30 models, hold 95 % of new draws.

    Judged by their own means and deviations these draws would hold 79 % of new ones.
    """
    rng = np.random.default_rng(5)
    first, second = np.triu_indices(30, k=1)
    names = [f"m{i:02}" for i in range(30)]
    shares = []
    for _ in range(20):
        pairs = rank_models(rng.normal(size=(60, 30)), models=names).pairs
        place = {name: m for m, name in enumerate(names)}
        a, b = pairs["model_a"].map(place).to_numpy(), pairs["model_b"].map(place).to_numpy()
        new = rng.normal(size=(500, 30))
        gap = new[:, a] - new[:, b]
        inside = (pairs["joint_low"].to_numpy() <= gap) & (gap <= pairs["joint_high"].to_numpy())
        shares.append(inside.all(axis=1).mean())
    assert len(pairs) == len(first) == len(second)
    # the standard deviation between sets of draws is .04
    assert np.mean(shares) == pytest.approx(0.955, abs=0.03)


def test_the_critical_value_leaves_the_draw_itself_out():
    """The plain way: mean and deviation of all other draws, draw by draw."""
    rng = np.random.default_rng(6)
    draws = rng.standard_t(4, size=(50, 5))
    first, second = np.triu_indices(5, k=1)
    gaps = draws[:, first] - draws[:, second]
    ratio = []
    for s in range(50):
        others = np.delete(gaps, s, axis=0)
        ratio.append(np.max(np.abs(gaps[s] - others.mean(axis=0)) / others.std(axis=0, ddof=1)))
    found = rank_models(draws, models=IDS[:5], level=0.9)
    # of 51, one of which is still to come, nine tenths are 46
    assert found.critical == pytest.approx(np.sort(ratio)[45], rel=1e-12)


def test_a_draw_that_sets_the_measure_alone_bounds_nothing():
    """All others are equal: left out, it lies infinitely many of their deviations away."""
    deviation = np.r_[np.ones(39), 39 / np.sqrt(40)]
    assert critical_value(deviation, level=0.99, known=False) == np.inf
    assert critical_value(deviation, level=0.9, known=False) == pytest.approx(1.02599, abs=1e-5)
    gap = np.zeros((40, 2))
    gap[0, 0] = 1.0
    found = rank_models(gap, models=IDS[:2], level=0.949)
    assert found.ranks["rank_set_high"].tolist() == [2, 2]
    assert not found.pairs[["joint_low", "joint_high"]].isna().any(axis=None)


def test_rank_sets_that_hold_their_own_draws_only_are_said_to():
    rng = np.random.default_rng(8)
    names = [f"m{i:02}" for i in range(40)]
    few, many = (
        rank_models(rng.normal(size=(n, 40)), models=names, sets="ranks") for n in (100, 8000)
    )
    assert any("of draws that are left out: take more draws" in text for text in few.warnings)
    assert not any("left out" in text for text in many.warnings)
    plain = rank_models(rng.normal(size=(100, 40)), models=names)
    assert not any("left out" in text for text in plain.warnings)
