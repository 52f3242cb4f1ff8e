"""Permuted families and equal discrimination as controls: laws, and their level and power."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from neartie.audits.anchors import build_cells, select_anchors
from neartie.audits.control_comparison import (
    DISCRIMINATION,
    MATCHED,
    PERMUTED,
    PROFILE,
    compare_controls,
)
from neartie.audits.controls import draw_subtests
from neartie.audits.discrimination_controls import discrimination_strata, rest_correlation
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.permuted_families import label_half, permute_labels
from neartie.audits.perturbations import find_base
from neartie.audits.profile_controls import item_profile, profile_strata
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import read_items
from neartie.data.simulate import simulate_leaderboard

QUICK = AuditSettings(dimension=2, alpha="0.5", controls=40, bootstraps=0, min_family_size=15)


@pytest.fixture(scope="module")
def board():
    return simulate_leaderboard(n_items=100, n_models=150, n_owners=75, rng=7).responses


@pytest.fixture(scope="module")
def audit(board):
    return audit_near_ties(board, QUICK, rng=3)


@pytest.fixture(scope="module")
def compared(board, audit):
    return compare_controls(board, audit, permutations=9, controls=50)


@pytest.mark.parametrize("rerun", ["all", "last"])
def test_the_identity_gives_the_audit_itself(board, audit, rerun):
    base = find_base(board, audit)
    items = read_items(base.population, base.index)
    for half in (0, 1):
        labelled = label_half(base, items, half, dimension=2, rerun=rerun)
        subtest = labelled.purify(labelled.labels)
        table = audit.items[audit.items["half"] == half].set_index("item")["anchor"]
        expected = table.loc[base.population.responses.item_ids].to_numpy()
        assert np.array_equal(subtest.selected, expected == 1)


def test_names_of_families_change_nothing(board, audit):
    base = find_base(board, audit)
    labelled = label_half(base, read_items(base.population, base.index), 0, dimension=2)
    names = {name: f"{9 - i}" for i, name in enumerate(sorted(set(labelled.labels)))}
    renamed = np.array([names[label] for label in labelled.labels])
    one, two = labelled.purify(labelled.labels), labelled.purify(renamed)
    assert np.array_equal(one.selected, two.selected)


def test_checkpoints_of_a_cell_move_together(board, audit):
    base = find_base(board, audit)
    labelled = label_half(base, read_items(base.population, base.index), 0, dimension=2)
    table = base.population.table.iloc[base.population.half(0)].sort_values(
        ["family"], kind="stable"
    )
    cells = table.assign(cell=labelled.cell).groupby("cell")
    assert (cells["owner"].nunique() == 1).all()
    assert cells["family"].first().tolist() == labelled.labels.tolist()
    for labels in permute_labels(labelled, 5, rng=1):
        assert sorted(labels) == sorted(labelled.labels)


def test_the_comparison_repeats_and_matches_the_audit(board, audit, compared):
    again = compare_controls(board, audit, permutations=9, controls=50)
    pd.testing.assert_frame_equal(again.table, compared.table, check_exact=True)
    pd.testing.assert_frame_equal(again.rates, compared.rates, check_exact=True)
    matched, band = compared.row(MATCHED), audit.band()
    assert (matched["rate"], matched["p_value"]) == (band["rate"], band["p_value"])
    assert (compared.table["rate"] == band["rate"]).all()
    for name, n in ((PERMUTED, 9), (DISCRIMINATION, 50), (PROFILE, 50)):
        rates = compared.rates.loc[compared.rates["control"] == name, "rate"]
        row = compared.row(name)
        assert row["median"] == pytest.approx(np.median(rates))
        assert row["p_value"] == (1 + (rates >= row["rate"]).sum()) / (n + 1)


class PicklingClient:
    """As a Dask client with workers elsewhere: what is sent comes as a copy."""

    def scatter(self, data, *, hash):
        return pickle.dumps(data)

    def submit(self, function, sent, *args, pure):
        found = function(pickle.loads(sent), *args)
        return SimpleNamespace(result=lambda: found)


def test_a_client_changes_no_bit(board, audit, compared):
    spread = compare_controls(board, audit, permutations=9, controls=0, client=PicklingClient())
    here = compared.rates[compared.rates["control"] == PERMUTED].reset_index(drop=True)
    pd.testing.assert_frame_equal(spread.rates, here, check_exact=True)


def test_parts_can_be_left_out(board, audit, compared):
    alone = compare_controls(board, audit, permutations=9, controls=0)
    assert alone.table["control"].tolist() == [MATCHED, PERMUTED]
    assert alone.row(PERMUTED) == compared.row(PERMUTED)
    with pytest.raises(ValueError, match="control must be one of"):
        alone.row(DISCRIMINATION)
    with pytest.raises(ValueError, match="'all' or 'last'"):
        compare_controls(board, audit, permutations=1, controls=0, rerun="first")


def test_rest_correlation_is_that_of_pearson():
    values = (np.random.default_rng(1).random((12, 40)) < 0.6).astype(np.int8)
    values[3] = 1
    for item, found in enumerate(rest_correlation(values)):
        rest = values.sum(axis=0) - values[item]
        expected = 0.0 if item == 3 else stats.pearsonr(values[item], rest).statistic
        assert found == pytest.approx(expected, abs=1e-12)


def test_strata_match_cells_and_discrimination(example):
    values, subtest, _ = example()
    correlation = rest_correlation(values)
    fine = discrimination_strata(subtest, correlation)
    drawn = draw_subtests(fine, 50, rng=1)
    for stratum in range(len(fine.cells.size)):
        inside = fine.cells.code == stratum
        kept = int(subtest.selected[inside].sum())
        assert (drawn[:, inside].sum(axis=1) == kept).all()
        assert len(set(subtest.cells.code[inside])) == 1
    for cell, kept in enumerate(subtest.kept):
        assert (drawn[:, subtest.cells.code == cell].sum(axis=1) == kept).all()
    # one stratum a cell is the matched-random control
    whole = discrimination_strata(subtest, correlation, strata=1)
    assert np.array_equal(draw_subtests(whole, 9, rng=2), draw_subtests(subtest, 9, rng=2))


def test_profile_strata_match_cells_and_what_the_blind_model_knows(example):
    values, subtest, _ = example()
    rng = np.random.default_rng(4)
    family = np.array([f"f{m % 3}" for m in range(values.shape[1])])
    offset = rng.normal(size=values.shape)
    fine = profile_strata(subtest, values, offset, family)
    drawn = draw_subtests(fine, 40, rng=1)
    for cell, kept in enumerate(subtest.kept):
        assert (drawn[:, subtest.cells.code == cell].sum(axis=1) == kept).all()
    # neither names of families nor the order of models matter
    shuffled = rng.permutation(values.shape[1])
    renamed = np.array([{"f0": "z", "f1": "a", "f2": "k"}[name] for name in family])
    again = profile_strata(
        subtest, values[:, shuffled], offset[:, shuffled], renamed[shuffled], index=None
    )
    assert np.array_equal(again.cells.code, fine.cells.code)
    assert np.array_equal(again.kept, fine.kept)


def test_subtests_matched_on_profile_share_what_the_anchors_were_chosen_by():
    """Anchors are the items with the smallest family range of the offset."""
    rng = np.random.default_rng(5)
    family = np.repeat(["a", "b"], 30)
    lean = rng.normal(size=400)
    offset = np.outer(lean, np.where(family == "a", 1.0, -1.0))
    values = (rng.random((400, 60)) < 0.5).astype(np.int8)
    cells = build_cells(["s"] * 400, np.zeros(400), strata=4)
    anchors = select_anchors(cells, np.abs(lean))
    matched = draw_subtests(profile_strata(anchors, values, offset, family), 20, rng=1)
    free = draw_subtests(anchors, 20, rng=1)
    own = np.abs(lean)[anchors.selected].mean()
    mean = [np.mean([np.abs(lean)[row].mean() for row in rows]) for rows in (matched, free)]
    assert mean[0] - own < 0.15 * (mean[1] - own)


def test_profile_columns_are_ranks_within_cells(example):
    values, subtest, _ = example()
    offset = np.random.default_rng(4).normal(size=values.shape)
    family = np.array([f"f{m % 3}" for m in range(values.shape[1])])
    profile = item_profile(subtest, values, offset, family)
    assert profile.shape == (len(values), 5)
    assert (np.abs(profile) < 0.5).all()
    for cell in range(len(subtest.cells.size)):
        inside = (subtest.cells.code == cell) & subtest.pool
        assert profile[inside].mean(axis=0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_permuted_labels_hold_their_level_for_exchangeable_families():
    p = []
    for seed in range(60):
        board = simulate_leaderboard(
            n_items=300, n_dimensions=4, impact=0.0, dif_effect=0.0, rng=20_000 + seed
        ).responses
        audit = audit_near_ties(
            board, AuditSettings(dimension=4, alpha="0.5", controls=0, bootstraps=0), rng=seed
        )
        p.append(
            compare_controls(board, audit, permutations=39, controls=0).row(PERMUTED)["p_value"]
        )
    rejected = int((np.array(p) <= 0.05).sum())
    # a sound test rejects in 5 %: false alarm rate of this check below 1e-3
    assert stats.binomtest(rejected, 60, 0.05, alternative="greater").pvalue > 1e-3
    assert 0.35 < np.mean(p) < 0.65
