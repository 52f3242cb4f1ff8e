"""Pairs, bands, reversals and rank agreement: cases C20 and C40, and the worked audit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.audits.ranking import (
    band_limit,
    count_reversals,
    cross_family_pairs,
    kendall_tau_b,
    shared_rank,
)
from neartie.audits.targets import mean_tau_b, pooled, score_target


def c20(case_dir, order=slice(None)):
    table = (
        pd.read_csv(case_dir / "C20" / "responses.csv", dtype=str).set_index("model").iloc[order]
    )
    families = pd.read_csv(case_dir / "C20" / "families.csv", dtype=str).set_index("model")
    count = table.astype(int).sum(axis=1)
    labels = families.loc[table.index]
    return (
        table,
        count,
        cross_family_pairs(
            count, owner=labels["owner"], family=labels["family"], n_items=table.shape[1]
        ),
    )


def test_case_c20_band_edges_and_ties_are_decided_on_counts(case_dir):
    table, count, pairs = c20(case_dir)
    assert 0.81 - 0.80 > 0.01
    near = pairs.take(pairs.within(0.01))
    names = table.index
    found = {(names[a], names[b]) for a, b in zip(near.first, near.second, strict=True)}
    assert found == {("p1", "p2"), ("p1", "p3"), ("p2", "p3"), ("p4", "p5")}
    result = count_reversals(pairs, np.sign(pairs.gap), epsilon=0.01)
    assert (result.n_band, result.n_tied, result.n_eligible) == (4, 1, 3)
    ranks = dict(zip(names, shared_rank(count), strict=True))
    assert ranks == {"p1": 1, "p2": 2, "p3": 2, "p4": 5, "p5": 4}


def test_case_c20_file_order_does_not_matter(case_dir):
    _, _, pairs = c20(case_dir, slice(None, None, -1))
    result = count_reversals(pairs, np.sign(pairs.gap), epsilon="0.01")
    assert (result.n_band, result.n_eligible) == (4, 3)


def test_case_c40_tau_b(case_dir):
    table = pd.read_csv(case_dir / "C40" / "scores.csv")
    assert kendall_tau_b(table["full"], table["anchor"]) == pytest.approx(7 / np.sqrt(72))
    assert kendall_tau_b(table["full"], table["flat"]) is None
    assert kendall_tau_b(table["flat"], table["full"]) is None
    assert kendall_tau_b([1], [2]) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=25))
def test_tau_b_equals_its_definition(values):
    x, y = np.array(values).T
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i in range(len(x)) for j in range(i)]
    a = sum(s * t for s, t in signs)
    nx, ny = sum(s != 0 for s, _ in signs), sum(t != 0 for _, t in signs)
    found = kendall_tau_b(x, y)
    if nx == 0 or ny == 0:
        assert found is None
    else:
        assert found == pytest.approx(a / np.sqrt(nx * ny), abs=1e-12)


@given(st.integers(1, 20000), st.sampled_from(["0.0025", "0.005", "0.01", "0.02", "0.03", "0.05"]))
def test_band_limit_is_the_largest_gap_within(n_items, epsilon):
    limit = band_limit(epsilon, n_items)
    bp = int(float(epsilon) * 10000 + 0.5)
    assert limit * 10000 <= bp * n_items < (limit + 1) * 10000


def test_pairs_need_another_owner_and_another_family():
    pairs = cross_family_pairs(
        [1, 2, 3, 4], owner=list("aabc"), family=["x", "y", "x", "y"], n_items=10
    )
    found = {(int(a), int(b)) for a, b in zip(pairs.first, pairs.second, strict=True)}
    assert found == {(0, 3), (1, 2), (2, 3)}


def test_no_pair_has_no_rate():
    pairs = cross_family_pairs([1, 1], owner=list("ab"), family=list("xy"), n_items=10)
    result = count_reversals(pairs, np.array([1]), epsilon=0.01)
    assert (result.n_band, result.n_tied, result.rate) == (1, 1, None)


def test_a_negative_band_is_refused():
    with pytest.raises(ValueError, match="a band is a gap of at least 0"):
        band_limit(-0.01, 10)


class _Purified:
    """Only what scoring needs of a purification: its subtest."""

    def __init__(self, subtest):
        self.subtest = subtest


@pytest.mark.parametrize("name", ["1of2", "3of10", "7of10"])
def test_worked_audit(reference, name):
    from neartie.audits.population import build_population

    setting = f"{name}_half_even"
    population = build_population(reference.responses)
    targets = [
        score_target(population, half, _Purified(reference.subtest(setting, 1 - half)))
        for half in (0, 1)
    ]
    expected = reference.json("ranking")[setting]
    assert mean_tau_b(targets) == pytest.approx(expected["tau_b_mean"], abs=1e-12)
    for key, row in expected["threshold"].items():
        epsilon = None if key == "all" else f"{int(key) / 10000:.4f}"
        # expected lists are by anchor half, 0 then 1, so the targets are 1 then 0
        counts = [
            count_reversals(targets[1 - h].pairs, targets[1 - h].signs, epsilon=epsilon)
            for h in (0, 1)
        ]
        assert [c.n_eligible for c in counts] == row["eligible"]
        assert [c.n_reversed for c in counts] == row["flips"]
        assert [c.n_band for c in counts] == row["pairs_in_band_including_full_ties"]
        assert pooled(targets, epsilon).rate == pytest.approx(row["T"], abs=1e-15)
