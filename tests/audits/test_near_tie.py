"""The whole audit: laws, the worked audit, the real leaderboard, and data that do not allow it."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from neartie.audits.near_tie import audit_near_ties
from neartie.audits.settings import AuditSettings
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.simulate import simulate_leaderboard

QUICK = AuditSettings(
    dimension=2, alpha="0.5", controls=50, bootstraps=50, min_family_size=5, owner_cap=3
)


@pytest.fixture(scope="module")
def board() -> Responses:
    return simulate_leaderboard(n_items=120, n_models=90, n_owners=45, rng=7).responses


@pytest.fixture(scope="module")
def audit(board):
    return audit_near_ties(board, QUICK, rng=3)


def tables(audit):
    return {f.name: getattr(audit, f.name) for f in fields(audit)}


def assert_same(one, two, *, but=()):
    for name, value in tables(one).items():
        if name in but:
            continue
        other = getattr(two, name)
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(value, other, check_exact=True)
        else:
            assert value == other, name


def shuffled(board, seed):
    rng = np.random.default_rng(seed)
    return board.take(items=rng.permutation(board.n_item), models=rng.permutation(board.n_model))


def test_the_same_seed_gives_the_same_answer(board, audit):
    assert_same(audit, audit_near_ties(board, QUICK, rng=3))


def test_another_seed_draws_other_controls(board, audit):
    other = audit_near_ties(board, QUICK, rng=4)
    assert not other.random_rates.equals(audit.random_rates)


def test_column_order_changes_no_bit(board, audit):
    order = np.random.default_rng(1).permutation(board.n_model)
    assert_same(audit, audit_near_ties(board.take(models=order), QUICK, rng=3))


def test_row_order_changes_no_bit_where_nothing_ties(board, audit):
    # the original index breaks ties of items that were answered alike; leave those out
    _, first, count = np.unique(board.values, axis=0, return_index=True, return_counts=True)
    single = board.take(items=np.sort(first[count == 1]))
    varied = single.take(items=np.ptp(single.values, axis=1) > 0)
    settings = replace(QUICK, owner_cap=100)
    assert_same(
        audit_near_ties(varied, settings, rng=3),
        audit_near_ties(shuffled(varied, 2), settings, rng=3),
    )


def test_leaving_parts_out_does_not_change_the_others(board, audit):
    without = audit_near_ties(board, replace(QUICK, controls=0, bootstraps=0), rng=3)
    random = ("random_median", "random_low", "random_high", "excess_pp", "p_value")
    assert without.thresholds[list(random)].isna().all(axis=None)
    assert without.thresholds["rate"].equals(audit.thresholds["rate"])
    more = audit_near_ties(board, replace(QUICK, bootstraps=0), rng=3)
    assert more.random_rates.equals(audit.random_rates)


def test_relabelling_families_and_owners_changes_no_number(board, audit):
    population = audit.population.set_index("model")
    models = audit.population[["model", "owner", "family", "half", "representative"]]
    names = {
        name: f"group {i}" for i, name in enumerate(sorted(set(models["family"]), reverse=True))
    }
    owners = {name: f"o{i}" for i, name in enumerate(sorted(set(models["owner"]), reverse=True))}
    keep = [board.model_ids.index(model) for model in models["model"]]
    values = board.values[:, keep]
    settings = replace(QUICK, controls=0, bootstraps=0)
    one = audit_near_ties(
        Responses.build(values, items=board.items, models=models), settings, rng=3
    )
    renamed = models.assign(family=models["family"].map(names), owner=models["owner"].map(owners))
    two = audit_near_ties(
        Responses.build(values, items=board.items, models=renamed), settings, rng=3
    )
    assert one.thresholds.equals(two.thresholds)
    assert one.items["anchor"].equals(two.items["anchor"])
    assert one.items["dif_range"].to_numpy() == pytest.approx(two.items["dif_range"], abs=1e-9)
    assert set(population["family"]) == set(names)


def test_swapping_the_halves_swaps_the_tables(board, audit):
    models = audit.population[["model", "owner", "family", "half", "representative"]]
    keep = [board.model_ids.index(model) for model in models["model"]]
    settings = replace(QUICK, controls=0, bootstraps=0)

    def frozen(half):
        return audit_near_ties(
            Responses.build(
                board.values[:, keep], items=board.items, models=models.assign(half=half)
            ),
            settings,
            rng=3,
        )

    one, two = frozen(models["half"]), frozen(1 - models["half"])
    assert one.thresholds.equals(two.thresholds)
    assert one.tau_b == pytest.approx(two.tau_b, abs=1e-15)
    for half in (0, 1):
        a = one.items[one.items["half"] == half].drop(columns="half").reset_index(drop=True)
        b = two.items[two.items["half"] == 1 - half].drop(columns="half").reset_index(drop=True)
        pd.testing.assert_frame_equal(a, b, check_exact=True)


def test_alpha_one_gives_no_reversal(board):
    audit = audit_near_ties(board, replace(QUICK, alpha=1), rng=3)
    assert audit.all_pairs_rate == 0
    assert audit.tau_b == 1
    assert (audit.random_rates["rate"].dropna() == 0).all()
    # every random subtest is the whole benchmark, so that it is no comparison
    compared = ["random_median", "random_low", "random_high", "excess_pp", "p_value"]
    assert audit.thresholds[compared].isna().all(axis=None)
    summary = audit.to_dict()
    assert [summary[name] for name in ("reversal_rate", "random_median", "p_value")] == [
        0,
        None,
        None,
    ]
    assert "random subtests are no comparison" in summary["warnings"][0]


@pytest.mark.parametrize(
    ("alpha", "per_source", "why"),
    [("1", 40, "fraction 1 keeps them all"), ("0.5", 4, "so few that each has to be kept")],
)
def test_anchors_that_leave_nothing_out_are_said_first(board, alpha, per_source, why):
    items = board.items.assign(source=[f"s{i // per_source}" for i in range(board.n_item)])
    data = Responses.build(board.values, items=items, models=board.models)
    audit = audit_near_ties(data, replace(QUICK, alpha=alpha), rng=3)
    assert (audit.items["anchor"] == 1).all()
    assert audit.warnings[0].startswith("Half 0: all 120 items are anchors")
    assert why in audit.warnings[0]


def test_cells_too_small_for_the_fraction_are_said(board):
    items = board.items.assign(source=[f"s{i // 5}" for i in range(board.n_item)])
    data = Responses.build(board.values, items=items, models=board.models)
    audit = audit_near_ties(data, replace(QUICK, alpha="0.3"), rng=3)
    # 5 items make strata of 2, 1, 1 and 1, and each keeps at least one
    assert any("96 of 120 items (80 %) are anchors, not 30 %" in text for text in audit.warnings)
    usual = audit_near_ties(board, replace(QUICK, alpha="0.3"), rng=3)
    assert not any("are anchors, not" in text for text in usual.warnings)


def test_a_band_below_one_answer_is_said(board):
    short = board.take(items=np.arange(80))
    audit = audit_near_ties(short, QUICK, rng=3)
    assert audit.n_eligible == 0
    assert "one answer of 80 is 1.25 points" in audit.warnings[0]


def test_an_item_that_all_solve_adds_a_point_to_everybody(board, audit):
    values = np.vstack([board.values, np.ones((1, board.n_model), dtype=np.int8)])
    items = pd.concat(
        [board.items, pd.DataFrame({"item": ["zz"], "source": [board.items["source"][0]]})]
    )
    other = audit_near_ties(Responses.build(values, items=items, models=board.models), QUICK, rng=3)
    row = other.items[other.items["item"] == "zz"]
    assert row["constant"].tolist() == [1, 1]
    assert row["easiness"].isna().all()
    assert row["dif_range"].tolist() == [0, 0]
    before = audit.population.set_index("model")["n_correct"]
    after = other.population.set_index("model")["n_correct"]
    assert (after == before + 1).all()
    assert any("solved by every model" in warning for warning in other.warnings)


def test_tables_agree_with_each_other(audit):
    summary = audit.to_dict()
    assert summary["n_eligible"] == len(audit.pairs) == audit.band()["n_eligible"]
    assert audit.pairs["reversed"].mean() == summary["reversal_rate"]
    gap = audit.pairs["gap_full"] * audit.pairs["gap_anchor"]
    assert ((gap < 0) == (audit.pairs["reversed"] == 1)).all()
    assert (audit.pairs["gap_full"].abs() <= 0.01 + 1e-12).all()
    scores = audit.scores.set_index("model")
    for pair in audit.pairs.itertuples():
        a, b = scores.loc[pair.model_a], scores.loc[pair.model_b]
        assert a["half"] == b["half"] == pair.half
        assert a["owner"] != b["owner"]
        assert a["family"] != b["family"]
        assert pair.gap_full == pytest.approx(a["full"] - b["full"], abs=1e-15)
        assert pair.gap_anchor == pytest.approx(a["anchor"] - b["anchor"], abs=1e-15)
    weight = audit.items.groupby(["half", "cell"])["weight"].sum()
    size = audit.items.groupby(["half", "cell"]).size()
    assert weight.to_numpy() == pytest.approx(size.to_numpy(), abs=1e-9)
    assert audit.dif.groupby(["item", "half"])["effect"].sum().abs().max() < 1e-12
    assert (audit.thresholds["n_band"] - audit.thresholds["n_tied"]).equals(
        audit.thresholds["n_eligible"]
    )
    assert len(audit.random_rates) == 50 * 6


def test_no_near_tie_is_said_and_nothing_is_claimed():
    board = simulate_leaderboard(n_items=400, n_models=24, n_owners=12, rng=1).responses
    settings = AuditSettings(
        dimension=1, min_family_size=4, controls=20, bootstraps=20, bands=["0.00001"],
        primary_band="0.00001",
    )  # fmt: skip
    audit = audit_near_ties(
        board.take(
            models=np.array(["qwen" in m.lower() or "llama" in m.lower() for m in board.model_ids])
        ),
        settings,
        rng=1,
    )
    summary = audit.to_dict()
    assert summary["n_eligible"] == 0
    assert summary["reversal_rate"] is summary["p_value"] is summary["excess_pp"] is None
    assert "undefined" in audit.warnings[0]
    assert "undefined" in str(audit)


def test_dimension_beyond_the_rank_is_cut_and_said(board):
    audit = audit_near_ties(board, replace(QUICK, dimension=(2, 500)), rng=3)
    assert audit.k[0] == 2
    assert audit.k[1] < 60
    assert any("dimension 500 is not feasible" in warning for warning in audit.warnings)


def test_dimension_is_chosen_by_held_out_loss(board):
    audit = audit_near_ties(board, replace(QUICK, dimension=None, grid=(1, 2, 4)), rng=3)
    selected = audit.dimension[audit.dimension["selected"] == 1]
    assert tuple(selected["k"]) == audit.k
    assert len(audit.dimension) == 6


def test_one_source_without_a_table_is_said(board):
    bare = Responses.build(board.values, items=board.item_ids, models=board.models)
    audit = audit_near_ties(bare, QUICK, rng=3)
    assert set(audit.items["source"]) == {"all"}
    assert any("treated as one source" in warning for warning in audit.warnings)


def test_a_blank_source_is_refused_by_item(board):
    source = board.items["source"].copy()
    source[4] = " "
    items = board.items.assign(source=source)
    name = board.item_ids[4]
    with pytest.raises(DataError, match=f"1 item has no source in the item table, first '{name}'"):
        audit_near_ties(
            Responses.build(board.values, items=items, models=board.models), QUICK, rng=3
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0}, "alpha must lie in"),
        ({"controls": -1}, "controls must not be negative"),
        ({"primary_band": 0.07}, "primary_band 0.07 is not among the bands"),
        ({"bands": [1.5]}, "bands must lie in"),
        ({"dimension": 0}, "dimension must be at least 1"),
        ({"penalty": 0}, "penalty must be positive"),
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"grid": ()}, "grid must hold dimensions"),
        ({"cycles": 0}, "cycles must be at least 1"),
        ({"dimension": True}, "dimension must be a whole number, got True"),
        ({"dimension": (4, 8, 16)}, "dimension takes one number, or two"),
        ({"cycles": True}, "cycles must be a whole number"),
        ({"controls": 2.5}, "controls must be a whole number, got 2.5"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        AuditSettings(**change)


def test_a_seed_below_zero_is_refused(board):
    with pytest.raises(ValueError, match="a seed is a whole number of at least 0"):
        audit_near_ties(board, QUICK, rng=-1)


@pytest.mark.parametrize("cycles", [None, 5])
def test_worked_audit(reference, cycles):
    settings = AuditSettings(dimension=2, controls=0, bootstraps=0, cycles=cycles)
    audit = audit_near_ties(reference.responses, settings, rng=1)
    expected = reference.json("ranking")
    assert audit.n_items == 400
    assert len(audit.population) == 144
    for row in audit.thresholds.itertuples():
        wanted = expected["1of2_half_even"]["threshold"][str(round(row.epsilon * 10000))]
        assert row.n_eligible == sum(wanted["eligible"])
        assert row.n_band == sum(wanted["pairs_in_band_including_full_ties"])
        assert row.rate == pytest.approx(wanted["T"], abs=1e-15)
    assert audit.all_pairs_rate == expected["1of2_half_even"]["threshold"]["all"]["T"]
    for row, name in zip(audit.fractions.itertuples(), ("1of2", "3of10", "7of10"), strict=True):
        wanted = expected[f"{name}_half_even"]
        assert row.tau_b == pytest.approx(wanted["tau_b_mean"], abs=1e-12)
        assert row.reversal_rate == pytest.approx(wanted["threshold"]["100"]["T"], abs=1e-15)
    summary = reference.json("anchors_summary")
    for half in (0, 1):
        assert list(audit.jaccard[half]) == summary[f"1of2_half_even_half{half}"]["jaccard"][1:]


def test_real_leaderboard(open_llm):
    responses, expected, folder = open_llm
    audit = audit_near_ties(responses, AuditSettings(dimension=(8, 8), alpha="0.5"), rng=20261130)
    assert len(audit.population) == expected["n_kept"]
    assert audit.to_dict()["n_representatives"] == expected["n_representatives"]
    assert (int(audit.pairs["reversed"].sum()), audit.n_eligible) == (100, 216)
    for row in audit.thresholds.itertuples():
        counts = np.array(expected["observed"][str(round(row.epsilon * 10000))]["counts"])
        assert row.n_eligible == counts[:, 0].sum()
        assert row.rate == pytest.approx(counts[:, 1].sum() / counts[:, 0].sum(), abs=1e-15)
        # medians of 1,000 and of 200 draws of rates with a standard deviation of at most .09
        median = expected["random"][str(round(row.epsilon * 10000))]["median"]
        assert row.random_median == pytest.approx(median, abs=0.03)
    assert audit.all_pairs_rate == pytest.approx(expected["observed"]["None"]["T"], abs=1e-15)
    assert audit.tau_b == pytest.approx(np.mean(expected["tau_b"]), abs=1e-12)
    for half in (0, 1):
        table = pd.read_csv(folder / f"expected_scores_target{half}.csv.gz", dtype={"model": str})
        scores = audit.scores.set_index("model").loc[table["model"]]
        assert scores["full"].to_numpy() == pytest.approx(table["full"], abs=1e-15)
        assert scores["anchor"].to_numpy() == pytest.approx(table["anchor"], abs=1e-15)
