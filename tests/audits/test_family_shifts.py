"""Family shifts with resampled owners: laws, plain twin, the worked audit, common models."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from neartie.audits.common_models import compare_common_models
from neartie.audits.family_shifts import model_shifts, shift_families
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.owner_bootstrap import draw_owners
from neartie.audits.settings import AuditSettings
from neartie.data.errors import DataError
from neartie.data.simulate import simulate_leaderboard

PLAIN = AuditSettings(dimension=2, alpha=0.5, controls=0, bootstraps=0, min_family_size=5)


@pytest.fixture(scope="module")
def board():
    return simulate_leaderboard(n_items=120, n_models=90, n_owners=45, rng=7).responses


@pytest.fixture(scope="module")
def audit(board):
    return audit_near_ties(board, PLAIN, rng=3)


@pytest.fixture(scope="module")
def worked(reference):
    return audit_near_ties(reference.responses, PLAIN, rng=1)


def with_shift(audit, shift):
    """The audit with anchor scores that are `shift` (by family) above the full ones."""
    table = audit.scores
    anchor = table["full"] + table["family"].map(shift)
    rank = anchor.groupby(table["half"]).rank(method="min", ascending=False).astype(int)
    return replace(audit, scores=table.assign(anchor=anchor, rank_anchor=rank))


# laws


def test_the_same_seed_gives_the_same_answer_whatever_the_order_of_rows(audit):
    moved = replace(audit, scores=audit.scores.sample(frac=1, random_state=1))
    one, two, other = (
        shift_families(a, bootstraps=200, rng=seed)
        for a, seed in ((audit, 1), (moved, 1), (audit, 2))
    )
    columns = one.table.columns.drop("family")
    assert two.table[columns].to_numpy() == pytest.approx(one.table[columns].to_numpy(), abs=1e-9)
    assert not one.table["low_pp"].equals(other.table["low_pp"])
    assert one.table["shift_pp"].equals(other.table["shift_pp"])


def test_equal_scores_shift_nothing(audit):
    still = with_shift(audit, dict.fromkeys(set(audit.scores["family"]), 0.0))
    found = shift_families(still, bootstraps=50, rng=1).table
    assert (found[["shift_pp", "low_pp", "high_pp"]] == 0).all(axis=None)
    assert found[["rank_shift", "rank_low", "rank_high"]].to_numpy() == pytest.approx(0, abs=1e-12)


def test_a_constant_shift_is_found_with_no_width_and_moves_no_rank(audit):
    moved = with_shift(audit, dict.fromkeys(set(audit.scores["family"]), 0.031))
    found = shift_families(moved, bootstraps=50, rng=1).table
    for column in ("shift_pp", "low_pp", "high_pp"):
        assert found[column].to_numpy() == pytest.approx(3.1, abs=1e-9)


def test_rank_shifts_cancel_within_a_half(audit):
    models = model_shifts(audit)
    assert models.groupby("half")["rank_shift"].sum().to_numpy() == pytest.approx(0, abs=1e-9)


def test_a_favoured_family_rises_and_its_interval_holds_the_shift(audit):
    families = sorted(set(audit.scores["family"]))
    moved = with_shift(audit, dict.fromkeys(families, 0.0) | {families[0]: 0.05})
    found = shift_families(moved, bootstraps=200, rng=1).table.set_index("family")
    assert found.loc[families[0], "rank_shift"] > 0
    assert found["rank_shift"].drop(families[0]).max() <= 0


# plain twin


def test_percentile_ranks_are_those_of_mid_ranks(audit):
    models = model_shifts(audit).set_index("model")
    for _, half in audit.scores.groupby("half"):
        n = len(half)
        full, anchor = (
            100 * (stats.rankdata(half[c].round(12)) - 0.5) / n for c in ("full", "anchor")
        )
        assert models.loc[half["model"], "rank_shift"].to_numpy() == pytest.approx(anchor - full)


def test_the_plain_twin_agrees(audit):
    models = model_shifts(audit)
    owners = sorted(set(models["owner"]))
    draws = draw_owners(20, len(owners), 5)
    found = shift_families(audit, bootstraps=draws)
    table = found.replicates.set_index(["replicate", "family"])
    for r, draw in enumerate(draws):
        rows = pd.concat([models[models["owner"] == owners[o]] for o in draw])
        means = rows.groupby("family")[["shift_pp", "rank_shift"]].mean()
        for family in sorted(set(models["family"])):
            if family in means.index:
                assert table.loc[(r, family)].to_numpy() == pytest.approx(means.loc[family])
            else:
                assert table.loc[(r, family)].isna().all()


# the worked audit


def test_worked_audit(reference, worked):
    expected = reference.json("owner_bootstrap")
    table = reference.table("inputs/owner_draws")
    owners = sorted(table.columns)
    # positions into the column list, put as positions among the sorted owners
    draws = np.array([owners.index(name) for name in table.columns])[table.to_numpy(dtype=int)]
    found = shift_families(worked, bootstraps=draws)
    assert owners == sorted(set(found.models["owner"]))
    models = found.models.set_index("model").loc[expected["model"]]
    assert models["shift_pp"].to_numpy() / 100 == pytest.approx(expected["shift"], abs=1e-12)
    assert models["rank_shift"].to_numpy() == pytest.approx(expected["percentile_shift"], abs=1e-9)
    summary = found.table.set_index("family").loc[expected["families"]]
    means = [expected["mean_shift"][f] for f in expected["families"]]
    assert summary["shift_pp"].to_numpy() / 100 == pytest.approx(means, abs=1e-12)
    limits = summary[["low_pp", "high_pp"]].to_numpy().T / 100
    assert limits == pytest.approx(np.array(expected["interval_mean_shift"]), abs=1e-12)
    limits = summary[["rank_low", "rank_high"]].to_numpy().T
    assert limits == pytest.approx(np.array(expected["interval_percentile_shift"]), abs=1e-9)
    drawn = found.replicates.pivot(index="replicate", columns="family", values="shift_pp")
    wanted = np.array(expected["replicates_mean_shift"], dtype=float)
    assert drawn[expected["families"]].to_numpy() / 100 == pytest.approx(
        wanted, abs=1e-12, nan_ok=True
    )


# undefined and impossible


def test_a_replicate_without_a_family_lacks_it(audit):
    models = model_shifts(audit)
    owners = sorted(set(models["owner"]))
    one = models["family"].iloc[0]
    without = [i for i, o in enumerate(owners) if one not in set(models.family[models.owner == o])]
    draws = np.array([[without[0]] * 3, range(3)])
    found = shift_families(audit, bootstraps=draws)
    row = found.table.set_index("family").loc[one]
    assert row["n_undefined"] >= 1


def test_without_resampling_there_are_no_limits(audit):
    found = shift_families(audit, bootstraps=0)
    assert found.table[["low_pp", "high_pp", "rank_low", "rank_high"]].isna().all(axis=None)
    assert found.table["shift_pp"].notna().all()


def test_few_owners_are_said(audit):
    small = audit.scores["family"].iloc[0]
    keep = (audit.scores["family"] != small) | (np.arange(len(audit.scores)) == 0)
    found = shift_families(replace(audit, scores=audit.scores[keep]), bootstraps=10, rng=1)
    assert any(f"{small}: an interval over 1 owner is unreliable" in w for w in found.warnings)


def test_impossible_draws_are_refused(audit):
    with pytest.raises(ValueError, match="must not be negative"):
        shift_families(audit, bootstraps=-1)
    with pytest.raises(ValueError, match="positions among"):
        shift_families(audit, bootstraps=np.array([[10**6]]))


# common models


def test_common_models_by_hand(audit):
    families = sorted(set(audit.scores["family"]))
    left = with_shift(audit, {f: 0.01 * (i + 1) for i, f in enumerate(families)})
    # the right benchmark lacks one representative, whose shift would not be common
    gone = audit.scores["model"].iloc[0]
    right = with_shift(audit, {f: -0.02 for f in families})
    right = replace(right, scores=right.scores[right.scores["model"] != gone])
    found = compare_common_models({"b": right, "a": left}, bootstraps=100, rng=1).table
    assert found[["left", "right"]].drop_duplicates().to_numpy().tolist() == [["a", "b"]]
    by_family = found.set_index("family")
    size = audit.scores[audit.scores["model"] != gone].groupby("family").size()
    assert by_family["n_models"].to_dict() == size.to_dict()
    for i, family in enumerate(families):
        row = by_family.loc[family]
        assert row["left_pp"] == pytest.approx(i + 1)
        assert row["right_pp"] == pytest.approx(-2)
        assert row["difference_pp"] == pytest.approx(-3 - i)
        assert row["low_pp"] == pytest.approx(-3 - i)


def test_common_models_of_three_benchmarks_have_three_pairs(audit):
    found = compare_common_models({"a": audit, "b": audit, "c": audit}, bootstraps=20, rng=1)
    pairs = found.table[["left", "right"]].drop_duplicates()
    assert pairs.to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert (found.table["difference_pp"] == 0).all()


def test_an_interval_of_a_difference_uses_one_draw_for_both(audit, board):
    other = audit_near_ties(board, replace(PLAIN, alpha="0.3"), rng=3)
    found = compare_common_models({"a": audit, "b": other}, bootstraps=300, rng=1).table
    models = model_shifts(audit).merge(model_shifts(other), on=["model", "owner", "family"])
    owners = sorted(set(models["owner"]))
    draws = draw_owners(300, len(owners), np.random.default_rng(1).spawn(1)[0])
    for family, rows in models.groupby("family"):
        differences = []
        for draw in draws:
            times = np.bincount(draw, minlength=len(owners))
            weight = times[[owners.index(owner) for owner in rows["owner"]]]
            if weight.sum():
                gap = rows["shift_pp_y"] - rows["shift_pp_x"]
                differences.append((weight * gap).sum() / weight.sum())
        row = found.set_index("family").loc[family]
        limits = np.quantile(differences, [0.025, 0.975])
        assert [row["low_pp"], row["high_pp"]] == pytest.approx(limits, abs=1e-9)


def test_without_common_models_a_family_is_missing_with_a_reason(audit):
    family = audit.scores["family"].iloc[0]
    other = replace(audit, scores=audit.scores[audit.scores["family"] != family])
    found = compare_common_models({"a": audit, "b": other}, bootstraps=10, rng=1)
    row = found.table.set_index("family").loc[family]
    assert row["n_models"] == 0
    assert row[["left_pp", "difference_pp", "low_pp"]].isna().all()
    assert f"a and b share no representative of {family}." in found.warnings
    nothing = replace(audit, scores=audit.scores.assign(model="x" + audit.scores["model"]))
    empty = compare_common_models({"a": audit, "b": nothing}, bootstraps=10, rng=1)
    assert (empty.table["n_models"] == 0).all()
    assert empty.warnings == ("a and b share no representative.",)
    third = replace(audit, scores=audit.scores.assign(model="y" + audit.scores["model"]))
    three = compare_common_models({"a": audit, "b": nothing, "c": third}, bootstraps=10, rng=1)
    assert three.warnings == (
        "No two benchmarks share a representative: no shifts over the same models.",
    )


def test_contradictory_tables_and_a_single_audit_are_refused(audit):
    with pytest.raises(DataError, match="at least two audits, got 1"):
        compare_common_models({"a": audit})
    other = replace(audit, scores=audit.scores.assign(owner="someone"))
    with pytest.raises(DataError, match=r"has owner .* in 'a' and 'someone' in 'b'"):
        compare_common_models({"a": audit, "b": other})
