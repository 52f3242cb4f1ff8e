"""Composition bootstrap: units, a plain twin, and the worked audit's own multiplicities."""

from fractions import Fraction

import numpy as np
import pytest

from neartie.audits.composition import (
    composition_units,
    draw_multiplicities,
    recomposed_reversals,
)
from neartie.audits.controls import matched_random
from neartie.audits.ranking import cross_family_pairs


def test_native_sources_from_five_on():
    names, unit = composition_units(["b", "a", "c", "e", "d", "a"])
    assert names == ["a", "b", "c", "d", "e"]
    assert unit.tolist() == [1, 0, 2, 4, 3, 0]


def test_contiguous_clusters_below_five():
    names, unit = composition_units(["a"] * 250)
    assert len(names) == 100
    assert (np.bincount(unit) >= 2).all()
    assert (np.bincount(unit) <= 3).all()
    assert (np.diff(unit) >= 0).all()
    assert names[0] == "items 1-3"


def test_clusters_follow_the_original_index():
    index = np.random.default_rng(1).permutation(250)
    _, unit = composition_units(["a"] * 250, index=index)
    _, plain = composition_units(["a"] * 250)
    assert np.array_equal(unit[np.argsort(index)], plain)


def test_multiplicities_keep_the_number_of_units():
    draws = draw_multiplicities(7, 50, rng=1)
    assert (draws.sum(axis=1) == 7).all()
    assert np.array_equal(draws, draw_multiplicities(7, 50, rng=1))


def test_every_unit_once_is_the_benchmark_itself(example):
    values, subtest, pairs = example()
    _, unit = composition_units(["a", "b"] * 40)
    once = np.ones((1, unit.max() + 1), dtype=np.int64)
    counts = recomposed_reversals(values, subtest, pairs, unit=unit, multiplicities=once)
    from neartie.audits.controls import score_subtests

    same = score_subtests(values, subtest.selected[None], subtest, pairs)
    assert np.array_equal(counts.n_eligible, same.n_eligible)
    assert np.array_equal(counts.n_reversed, same.n_reversed)


@pytest.mark.parametrize("primes", [False, True])
def test_counts_equal_the_plain_twin(primes, example):
    values, subtest, pairs = example(4, primes=primes)
    n = len(values)
    unit = np.arange(n) % 6
    draws = draw_multiplicities(6, 8, rng=2)
    bands = [Fraction("0.02"), Fraction("0.1")]
    counts = recomposed_reversals(
        values, subtest, pairs, unit=unit, multiplicities=draws, bands=bands
    )
    weight = subtest.weights()
    for r, draw in enumerate(draws):
        times = [int(t) for t in draw[unit]]
        full = [sum(t for t, y in zip(times, column, strict=True) if y) for column in values.T]
        anchor = [
            sum((t * w for t, w, y in zip(times, weight, column, strict=True) if y), Fraction(0))
            for column in values.T
        ]
        for column, epsilon in enumerate(bands):
            eligible = flips = 0
            for a, b, gap in zip(pairs.first, pairs.second, pairs.gap, strict=True):
                near = gap != 0 and Fraction(abs(int(gap)), n) <= epsilon
                if near and full[a] != full[b] and anchor[a] != anchor[b]:
                    eligible += 1
                    flips += (full[a] > full[b]) != (anchor[a] > anchor[b])
            assert (counts.n_eligible[r, column], counts.n_reversed[r, column]) == (eligible, flips)


def test_a_replicate_without_anchors_is_undefined(example):
    values, subtest, pairs = example()
    unit = (~subtest.selected).astype(np.intp)
    only_others = np.array([[0, 2]])
    counts = recomposed_reversals(values, subtest, pairs, unit=unit, multiplicities=only_others)
    assert not counts.n_eligible.any()
    assert np.isnan(counts.rate).all()


def test_worked_audit_on_its_own_multiplicities(reference):
    expected = reference.json("composition_bootstrap")
    names, unit = composition_units(reference.items["source"])
    draws = reference.table("inputs/composition_multiplicities")
    assert names == draws.columns.tolist()
    parts = []
    for target in (0, 1):
        table = reference.half(target, representatives=True)
        values = reference.values(target, representatives=True)
        pairs = cross_family_pairs(
            values.sum(axis=0), owner=table["owner"], family=table["family"], n_items=400
        )
        parts.append(
            recomposed_reversals(
                values,
                reference.subtest("1of2_half_even", 1 - target),
                pairs,
                unit=unit,
                multiplicities=draws.to_numpy(np.int64),
            )
        )
    for r, row in enumerate(expected["replicates"]):
        found = [[int(p.n_eligible[r, 2]), int(p.n_reversed[r, 2])] for p in parts[::-1]]
        assert found == row["ties_dropped"]["counts"]
    rates = (parts[0] + parts[1]).rate[:, 2]
    assert np.quantile(rates, [0.025, 0.975]) == pytest.approx(expected["range_ties_dropped"])


def test_controls_and_bootstrap_report_progress(example):
    values, subtest, pairs = example()
    seen: list[int] = []
    matched_random(values, subtest, pairs, controls=300, rng=1, progress=seen.append)
    assert seen[-1] == 300
    recomposed_reversals(
        values,
        subtest,
        pairs,
        unit=np.arange(80) % 5,
        multiplicities=draw_multiplicities(5, 600, rng=1),
        progress=seen.append,
    )
    assert seen[-1] == 600
