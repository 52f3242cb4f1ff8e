"""The robustness battery: laws, the store, parallel workers, and populations that fail."""

import json
import pickle
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from neartie.audits.near_tie import audit_near_ties
from neartie.audits.perturbations import (
    PRIMARY,
    Variant,
    find_base,
    is_derived,
    paper_variants,
    perturbed_population,
)
from neartie.audits.robustness import POPULATION_FILE, check_robustness
from neartie.audits.settings import AuditSettings
from neartie.audits.variant_store import FINISHED
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.simulate import simulate_leaderboard

QUICK = AuditSettings(dimension=2, alpha="0.5", controls=40, bootstraps=0, min_family_size=15)
SAME = Variant(name="the same")
TWO = (SAME, Variant(name="owner cap 1", owner_cap=1))


@pytest.fixture(scope="module")
def board() -> Responses:
    return simulate_leaderboard(n_items=100, n_models=150, n_owners=75, rng=7).responses


@pytest.fixture(scope="module")
def audit(board):
    return audit_near_ties(board, QUICK, rng=3)


@pytest.fixture(scope="module")
def checked(board, audit):
    return check_robustness(board, audit, variants=TWO, controls=40)


def test_an_unperturbed_variant_is_the_audit_itself(checked):
    primary, same = checked.table.iloc[0], checked.table.iloc[1]
    pd.testing.assert_series_equal(
        primary.drop("variant"), same.drop("variant"), check_names=False, check_exact=True
    )


def test_the_dimension_is_frozen_when_the_audit_chose_it(board):
    settings = replace(QUICK, dimension=None, grid=(1, 2, 4))
    audit = audit_near_ties(board, settings, rng=3)
    same = check_robustness(board, audit, variants=[SAME], controls=40).table
    assert same.iloc[0, 1:].equals(same.iloc[1, 1:])


def test_the_battery_is_the_papers(audit):
    names = [variant.name for variant in paper_variants(audit)]
    families = sorted(set(audit.population["family"]))
    assert names[:2] == ["owner cap 1", "owner cap 3"]
    assert names[4:] == [f"without {family}" for family in families]
    assert len(names) == 9


@pytest.fixture(scope="module")
def large():
    board = simulate_leaderboard(n_items=60, n_models=400, n_owners=200, rng=8).responses
    return board, audit_near_ties(board, replace(QUICK, controls=0), rng=3)


def test_each_perturbation_does_what_its_name_says(large):
    board, audit = large
    base = find_base(board, audit)
    made = {v.name: perturbed_population(base, v).table for v in paper_variants(audit)}
    for cap in (1, 3):
        table = made[f"owner cap {cap}"]
        assert table.groupby(["owner", "family"]).size().max() == cap
    table = made["lexicographic representative"]
    first = table.groupby(["owner", "family"])["model"].min()
    assert set(table.loc[table["representative"] == 1, "model"]) == set(first)
    assert not made["no derived lineages"]["model"].map(is_derived).any()
    for family in set(audit.population["family"]):
        assert family not in set(made[f"without {family}"]["family"])
    for table in made.values():
        assert (table.groupby("owner")["half"].nunique() == 1).all()
        assert table["family"].value_counts().min() >= 15


def test_given_halves_are_kept_and_lost_representatives_replaced(large):
    board, audit = large
    models = audit.population[["model", "owner", "family", "half", "representative"]]
    keep = [board.model_ids.index(model) for model in models["model"]]
    frozen = Responses.build(board.values[:, keep], items=board.items, models=models)
    base = find_base(frozen, audit_near_ties(frozen, QUICK, rng=3))
    before = models.set_index("model")
    for variant in (
        Variant(name="cap", owner_cap=1),
        Variant(name="lineages", without_lineages=True),
    ):
        table = perturbed_population(base, variant).table.set_index("model")
        assert (table["half"] == before["half"].loc[table.index]).all()
        assert (table.groupby(["owner", "family"])["representative"].sum() == 1).all()


def test_populations_are_written_before_any_result(board, audit, tmp_path):
    seen = []

    def progress(step, share):
        seen.append((step, (tmp_path / POPULATION_FILE).exists(), (tmp_path / FINISHED).exists()))

    check_robustness(board, audit, variants=TWO, controls=5, store=tmp_path, progress=progress)
    assert seen[0] == ("populations", False, False)
    assert seen[1][1:] == (True, True)
    assert pd.read_csv(tmp_path / POPULATION_FILE)["variant"].unique().tolist() == [
        PRIMARY,
        "the same",
        "owner cap 1",
    ]


def test_a_stopped_battery_goes_on(board, audit, checked, tmp_path):
    class Stop(Exception):
        pass

    def stop(step, share):
        if step == "robustness, the same":
            raise Stop

    with pytest.raises(Stop):
        check_robustness(board, audit, variants=TWO, controls=40, store=tmp_path, progress=stop)
    steps = []
    resumed = check_robustness(
        board,
        audit,
        variants=TWO,
        controls=40,
        store=tmp_path,
        progress=lambda step, share: steps.append(step),
    )
    assert steps == ["populations", "robustness, owner cap 1"]
    pd.testing.assert_frame_equal(resumed.table, checked.table, check_exact=True)


def test_a_store_of_another_battery_or_damaged_is_refused(board, audit, tmp_path):
    options = {"variants": [SAME], "controls": 5, "store": tmp_path}
    check_robustness(board, audit, **options)
    with pytest.raises(DataError, match="other data, settings or seed; name another folder"):
        check_robustness(board, audit, **(options | {"controls": 6}))
    path = tmp_path / FINISHED
    head, row = path.read_text().splitlines()
    path.write_text(f"{head}\n{row[:-9]}\n")
    with pytest.raises(DataError, match=r"variants.jsonl is damaged; delete it"):
        check_robustness(board, audit, **options)
    short = {k: v for k, v in json.loads(row).items() if k != "p_value"}
    path.write_text(f"{head}\n{json.dumps(short)}\n")
    with pytest.raises(DataError, match=r"variants.jsonl is damaged; delete it"):
        check_robustness(board, audit, **options)


def test_row_order_of_models_changes_no_bit(board, audit, checked):
    order = np.random.default_rng(1).permutation(board.n_model)
    again = check_robustness(board.take(models=order), audit, variants=TWO, controls=40)
    pd.testing.assert_frame_equal(again.table, checked.table, check_exact=True)


def test_a_population_that_cannot_be_audited_has_a_reason(board, audit):
    families = sorted(set(audit.population["family"]))[:2]
    mask = np.isin(
        board.model_ids, audit.population.loc[audit.population["family"].isin(families), "model"]
    )
    two = board.take(models=mask)
    audit = audit_near_ties(two, QUICK, rng=3)
    variant = Variant(name="without one", without_family=families[0])
    found = check_robustness(two, audit, variants=[variant], controls=5)
    assert found.table["excess_pp"].isna().tolist() == [False, True]
    assert "at least two families" in found.table["reason"].iloc[1]
    assert found.warnings[0].startswith("without one: no result")
    assert "no perturbation" in str(found)


def test_other_responses_are_refused(board, audit):
    with pytest.raises(DataError, match="not made from these responses"):
        check_robustness(board.take(models=np.arange(120)), audit, variants=[SAME])


def test_names_and_numbers_are_checked(board, audit):
    with pytest.raises(ValueError, match="names of their own"):
        check_robustness(board, audit, variants=[SAME, SAME])
    with pytest.raises(ValueError, match="at least 1 control"):
        check_robustness(board, audit, controls=0)


class PicklingClient:
    """Does what a cluster does to tasks and results, in this process."""

    def scatter(self, data, *, hash):
        return pickle.dumps(data)

    def submit(self, function, data, *, pure):
        future = Future()
        future.set_result(pickle.loads(pickle.dumps(function(pickle.loads(data)))))
        return future


def test_a_client_changes_no_bit(board, audit, checked):
    spread = check_robustness(board, audit, variants=TWO, controls=40, client=PicklingClient())
    pd.testing.assert_frame_equal(spread.table, checked.table, check_exact=True)


@pytest.mark.slow
def test_workers_change_no_bit(board, audit, checked):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        spread = check_robustness(board, audit, variants=TWO, controls=40, client=client)
    pd.testing.assert_frame_equal(spread.table, checked.table, check_exact=True)
