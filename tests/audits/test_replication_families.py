"""Replication beside permuted families: the same statistics, exact repeats, level and power."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from neartie.audits.near_tie import audit_near_ties
from neartie.audits.replication import replicate_signatures
from neartie.audits.replication_families import replicate_under_permuted_families
from neartie.audits.settings import AuditSettings
from neartie.data.simulate import simulate_leaderboard

QUICK = AuditSettings(dimension=2, alpha="0.5", controls=0, bootstraps=0, min_family_size=15)


@pytest.fixture(scope="module")
def board():
    return simulate_leaderboard(n_items=100, n_models=150, n_owners=75, rng=7).responses


@pytest.fixture(scope="module")
def audit(board):
    return audit_near_ties(board, QUICK, rng=3)


@pytest.fixture(scope="module")
def found(board, audit):
    return replicate_under_permuted_families(audit, board, permutations=12, rng=5)


def test_the_true_labels_give_the_statistics_of_the_stored_signatures(board, audit, found):
    stored = replicate_signatures(audit, board, permutations=0)
    assert found.table["value"].tolist() == stored.table["value"].tolist()


def test_p_values_count_permutations(found):
    for row in found.table.to_dict("records"):
        drawn = found.permutations[row["statistic"]].to_numpy()
        reached = (np.isnan(drawn) | (drawn >= row["value"])).sum()
        assert row["p_value"] == pytest.approx((1 + reached) / 13)
        assert row["chance"] == pytest.approx(np.nanmean(drawn))


def test_it_repeats_whatever_the_order_of_rows(board, audit, found):
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(board.n_item), rng.permutation(board.n_model)
    shuffled = board.take(models=columns)
    again = replicate_under_permuted_families(audit, shuffled, permutations=12, rng=5)
    pd.testing.assert_frame_equal(again.permutations, found.permutations, check_exact=True)
    # items in another order have other ties alone
    turned = board.take(items=rows)
    other = replicate_under_permuted_families(
        audit_near_ties(turned, QUICK, rng=3), turned, permutations=2, rng=5
    )
    assert np.isfinite(other.table["value"]).all()


def test_what_cannot_be_asked(board, audit):
    with pytest.raises(ValueError, match="at least 1 permutation"):
        replicate_under_permuted_families(audit, board, permutations=0)
    with pytest.raises(ValueError, match="share must lie in"):
        replicate_under_permuted_families(audit, board, permutations=1, share=1)


def p_values(n, **design):
    rows = []
    for seed in range(n):
        data = simulate_leaderboard(n_models=160, n_owners=80, rng=500 + seed, **design).responses
        settings = AuditSettings(dimension=4, alpha="0.5", controls=0, bootstraps=0)
        audit = audit_near_ties(data, settings, rng=seed)
        table = replicate_under_permuted_families(audit, data, permutations=19, rng=seed).table
        rows.append(table.set_index("statistic")["p_value"])
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_all_statistics_hold_their_level_without_families_even_on_long_benchmarks():
    """40 leaderboards of 1,500 items, 3 statistics; a sound test fails 6 times in 1000.

    p of 19 permutations is uniform on 1/20 ... 20/20, with mean .525 and standard deviation .288.
    """
    p = p_values(40, n_items=1500, dif_effect=0.0, impact=0.0)
    for column in p:
        rejected = int((p[column] <= 0.05).sum())
        assert stats.binomtest(rejected, len(p), 0.05, alternative="greater").pvalue > 1e-3
        assert stats.norm.cdf((p[column].mean() - 0.525) / (0.288 / np.sqrt(len(p)))) > 1e-3


@pytest.mark.slow
def test_planted_effects_are_found():
    """8 leaderboards with effects of 3 logits: at least 7 are found by rank correlation."""
    p = p_values(8, n_items=300, dif_effect=3.0, direction="random")
    assert (p["median_rho"] <= 0.05).sum() >= 7
