"""Matched-random subtests: what they match, a plain twin, and the worked audit's own draws."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from neartie.audits.anchors import build_cells, select_anchors
from neartie.audits.controls import (
    compare_with_random,
    draw_subtests,
    matched_random,
    score_subtests,
)
from neartie.audits.ranking import BANDS, ReversalCount, cross_family_pairs
from neartie.audits.replicates import ReplicateCounts


def plain_counts(values, selection, subtest, pairs, epsilon):
    """Exact fractions, pair by pair."""
    cells = subtest.cells
    weight = [
        Fraction(int(cells.size[c]), int(subtest.kept[c])) if s else Fraction(0)
        for c, s in zip(cells.code, selection, strict=True)
    ]
    score = [sum(w for w, y in zip(weight, column, strict=True) if y) for column in values.T]
    eligible = flips = 0
    for a, b, gap in zip(pairs.first, pairs.second, pairs.gap, strict=True):
        other = score[a] - score[b]
        if gap != 0 and Fraction(abs(int(gap)), len(values)) <= epsilon and other != 0:
            eligible += 1
            flips += (gap > 0) != (other > 0)
    return eligible, flips


@pytest.mark.parametrize("alpha", ["0.3", "0.5", "0.7"])
def test_draws_match_every_cell(alpha, example):
    _, subtest, _ = example(alpha=alpha)
    selections = draw_subtests(subtest, 200, rng=1)
    for cell, kept in enumerate(subtest.kept):
        assert (selections[:, subtest.cells.code == cell].sum(axis=1) == kept).all()


def test_draws_are_uniform_within_a_cell(example):
    _, subtest, _ = example()
    selections = draw_subtests(subtest, 4000, rng=2)
    inside = subtest.cells.code == 0
    share = subtest.kept[0] / inside.sum()
    count = selections[:, inside].sum(axis=0)
    # two-sided binomial p of every item, Bonferroni: false alarm rate below 1e-3, seed fixed
    p = [stats.binomtest(int(c), 4000, share).pvalue for c in count]
    assert min(p) > 1e-3 / len(p)


def test_draws_do_not_depend_on_chunks(example):
    _, subtest, _ = example()
    rng = np.random.default_rng(3)
    parts = np.vstack([draw_subtests(subtest, n, rng=rng) for n in (5, 20, 7)])
    assert np.array_equal(parts, draw_subtests(subtest, 32, rng=3))


def test_items_outside_the_pool_are_never_drawn():
    cells = build_cells(["s"] * 10, np.zeros(10), strata=1)
    constant = np.arange(10) < 4
    subtest = select_anchors(cells, np.zeros(10), constant=constant, constant_items="drop")
    assert not draw_subtests(subtest, 100, rng=1)[:, :4].any()


@pytest.mark.parametrize("primes", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_the_plain_twin(seed, primes, example):
    values, subtest, pairs = example(seed, primes=primes)
    selections = draw_subtests(subtest, 6, rng=seed)
    # a subtest equal on both sides of a pair: exact ties that doubles cannot see
    if primes:
        assert subtest.denominator * len(values) > 2**53
        values[:, 3] = values[:, 2]
        values[np.flatnonzero(~selections[0])[0], 3] ^= 1
        pairs = cross_family_pairs(
            values.sum(axis=0),
            owner=[f"o{m}" for m in range(14)],
            family=["xyz"[m % 3] for m in range(14)],
            n_items=len(values),
        )
    bands = [Fraction("0.01"), Fraction("0.05"), Fraction("0.2")]
    counts = score_subtests(values, selections, subtest, pairs, bands=bands)
    for r, selection in enumerate(selections):
        for column, epsilon in enumerate(bands):
            expected = plain_counts(values, selection, subtest, pairs, epsilon)
            assert (counts.n_eligible[r, column], counts.n_reversed[r, column]) == expected


def test_the_same_seed_gives_the_same_counts(example):
    values, subtest, pairs = example()
    one = matched_random(values, subtest, pairs, controls=150, rng=9)
    two = matched_random(values, subtest, pairs, controls=150, rng=9)
    assert np.array_equal(one.n_reversed, two.n_reversed)
    assert one.n_eligible.shape == (150, len(BANDS))


def test_p_counts_equal_rates_and_undefined_ones():
    counts = ReplicateCounts(
        n_eligible=np.array([[3], [6], [10], [0]]), n_reversed=np.array([[1], [2], [1], [0]])
    )
    observed = ReversalCount(n_band=9, n_tied=0, n_reversed=3)
    found = compare_with_random(observed, counts, 0)
    # 1/3 and 2/6 equal 3/9, 1/10 does not reach it, 0/0 counts
    assert found.p_value == (1 + 3) / 5
    assert found.n_undefined == 1
    assert found.median == pytest.approx(1 / 3)
    assert found.excess_pp == pytest.approx(0)


def test_without_an_eligible_pair_nothing_is_claimed():
    counts = ReplicateCounts(n_eligible=np.array([[2]]), n_reversed=np.array([[1]]))
    found = compare_with_random(ReversalCount(n_band=1, n_tied=1, n_reversed=0), counts, 0)
    assert (found.p_value, found.excess_pp) == (None, None)


def test_worked_audit_on_its_own_draws(reference):
    draws = reference.table("inputs/random_subsets").astype(int)
    expected = reference.json("random_explicit")
    parts = []
    for target in (0, 1):
        rows = draws[draws["anchor_half"] == 1 - target]
        selections = np.zeros((rows["replicate"].max() + 1, 400), dtype=bool)
        selections[rows["replicate"], rows["item_index"]] = True
        table = reference.half(target, representatives=True)
        values = reference.values(target, representatives=True)
        pairs = cross_family_pairs(
            values.sum(axis=0), owner=table["owner"], family=table["family"], n_items=400
        )
        subtest = reference.subtest("1of2_half_even", 1 - target)
        parts.append(score_subtests(values, selections, subtest, pairs))
    pooled = parts[0] + parts[1]
    flips = np.array(expected["eligible_flips_eps100"])
    for target in (0, 1):
        assert parts[target].n_eligible[:, 2].tolist() == flips[:, 1 - target, 0].tolist()
        assert parts[target].n_reversed[:, 2].tolist() == flips[:, 1 - target, 1].tolist()
    observed = reference.json("ranking")["1of2_half_even"]["threshold"]
    for column, epsilon in enumerate(BANDS):
        key = str(int(epsilon * 10000))
        row = expected["by_eps_bp"][key]
        assert pooled.rate[:, column] == pytest.approx(row["T_r"], abs=1e-15)
        count = ReversalCount(
            n_band=sum(observed[key]["eligible"]), n_tied=0, n_reversed=sum(observed[key]["flips"])
        )
        found = compare_with_random(count, pooled, column)
        assert found.p_value == pytest.approx(row["p"], abs=1e-15)
        assert found.median == pytest.approx(row["median"], abs=1e-15)
        assert found.excess_pp == pytest.approx(row["excess_pp"], abs=1e-12)


def test_worked_audit_within_monte_carlo_error(reference):
    expected = reference.json("random_monte_carlo")["100"]
    parts = []
    for target in (0, 1):
        table = reference.half(target, representatives=True)
        values = reference.values(target, representatives=True)
        pairs = cross_family_pairs(
            values.sum(axis=0), owner=table["owner"], family=table["family"], n_items=400
        )
        subtest = reference.subtest("1of2_half_even", 1 - target)
        parts.append(matched_random(values, subtest, pairs, controls=1000, rng=20261130 + target))
    rates = (parts[0] + parts[1]).rate[:, 2]
    # two means of 1,000 draws: 4 standard errors, false alarm rate 6e-5
    limit = 4 * np.sqrt(2) * expected["sd"] / np.sqrt(1000)
    assert abs(rates.mean() - expected["mean"]) < limit
    assert rates.std() == pytest.approx(expected["sd"], rel=0.15)
