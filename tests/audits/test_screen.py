"""The screen as a whole: laws, what it says of degenerate items and of labels."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.screen import ScreenSettings, screen_items
from neartie.audits.screen_labels import labelled_kinds, precision_table
from neartie.data.files import to_json
from neartie.data.responses import Responses

QUICK = ScreenSettings(statistics="fast", n_null=50)


def test_same_seed_same_bytes_whatever_the_order(simulate):
    data = simulate(missing=0.1)
    rng = np.random.default_rng(5)
    moved = data.take(items=rng.permutation(40), models=rng.permutation(60))
    one, other = (screen_items(given, rng=7) for given in (data, moved))
    for name in ("table", "auc", "sources", "curves", "precision", "labelled"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name), check_exact=True)
    assert to_json(one.to_dict()) == to_json(other.to_dict())


def test_flipped_items_lead_the_list_and_are_judged(simulate):
    screen = screen_items(simulate(), rng=1)
    assert set(screen.table["item"].head(3)) == {"q0", "q1", "q2"}
    auc = screen.auc.set_index("statistic")
    assert auc.loc["signed_isotonic_r2", "auc"] == 1
    assert auc.loc["signed_isotonic_r2", "reason"] == (
        "the classes do not overlap: no standard error"
    )
    assert screen.precision.set_index("k").loc[3, "precision"] == 1
    assert len(screen.review()) >= 3
    assert screen.to_dict()["n_review"] == len(screen.review())


def test_within_sources_compares_items_of_a_source_only(simulate):
    data = simulate()
    within = screen_items(data, ScreenSettings(within="source", statistics="fast"), rng=1)
    alone = screen_items(
        data.take(items=np.arange(0, 40, 2)), ScreenSettings(statistics="fast"), rng=1
    )
    merged = within.table.set_index("item").loc[alone.table["item"]]
    np.testing.assert_allclose(
        merged["signed_isotonic_r2"], alone.table["signed_isotonic_r2"], atol=1e-12
    )
    assert (within.table["n_pairs"] == 19).all()


def test_an_item_that_contradicts_its_source_is_told_apart():
    rng = np.random.default_rng(8)
    ability = rng.normal(size=(2, 400))
    logit = np.repeat(2.5 * ability, 12, axis=0)
    logit[0] = 2.5 * ability[1] - 2.5 * ability[0]
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    items = pd.DataFrame({"item": [f"q{i}" for i in range(24)], "source": ["a"] * 12 + ["b"] * 12})
    data = Responses.build(values, items=items, models=[f"m{m}" for m in range(400)])
    screen = screen_items(data, QUICK, rng=1)
    row = screen.table.set_index("item").loc["q0"]
    assert row["own_source"] < 0 < row["other_sources"]
    assert "contradicts its source" in row["reason"]
    heat = screen.sources.set_index(["source", "partner_source"])["mean"]
    assert heat["b", "b"] > heat["a", "b"]
    assert heat["a", "b"] == pytest.approx(heat["b", "a"])


def test_degenerate_items_are_classes_of_their_own(simulate):
    values = simulate(10, 30).values.copy()
    values[3], values[4], values[5] = 1, 0, -1
    data = Responses.build(
        values, items=[f"q{i}" for i in range(10)], models=[f"m{m}" for m in range(30)]
    )
    screen = screen_items(data, QUICK, rng=1)
    last = screen.table.tail(3)
    assert last["kind"].tolist() == ["solved by nobody", "no answer", "solved by everybody"]
    assert last["rank"].isna().all()
    assert last["reason"].str.len().min() > 0
    assert "3 of 10 items have no coefficient" in " ".join(screen.warnings)
    assert len(screen.without_coefficient()) == 3


def test_labelled_degenerate_items_are_counted_apart():
    table = pd.DataFrame(
        {
            "kind": ["ranked"] * 3 + ["solved by nobody"] * 2,
            "is_bad": [1, 0, np.nan, 1, 1],
            "signed_isotonic_r2": [0.1, 0.2, 0.3, np.nan, np.nan],
        }
    )
    counts = labelled_kinds(table).set_index("kind")
    assert counts.loc["ranked"].tolist() == [2, 1]
    assert counts.loc["solved by nobody"].tolist() == [2, 2]
    assert precision_table(table).to_dict("records") == [
        {"k": 1, "n_bad": 1.0, "precision": 1.0, "chance": 0.5}
    ]


def test_screening_again_without_the_worst_items(simulate):
    data = simulate()
    first = screen_items(data, QUICK, rng=1)
    worst = first.table["item"].head(3).tolist()
    second = screen_items(data, QUICK, without=worst, rng=1)
    assert second.n_items == 37
    assert second.removed == tuple(worst)
    kept = data.take(items=np.array([item not in worst for item in data.item_ids]))
    pd.testing.assert_frame_equal(second.table, screen_items(kept, QUICK, rng=1).table)
    before = first.table.set_index("item")["signed_isotonic_r2"]
    after = second.table.set_index("item")["signed_isotonic_r2"]
    assert (after > before.loc[after.index]).all()


def test_curves_show_the_turned_item_falling(simulate):
    screen = screen_items(simulate(40, 200), QUICK, rng=1)
    worst = screen.curves[screen.curves["item"] == screen.table["item"].iloc[0]]
    assert worst["n"].sum() == 200
    assert (np.diff(worst["rest"]) > 0).all()
    assert (np.diff(worst["fit"]) <= 1e-12).all()
    assert worst["score"].iloc[0] > worst["score"].iloc[-1]


def test_curves_within_a_source_are_over_the_items_of_that_source(simulate):
    data = simulate(20, 80)
    within = screen_items(data, ScreenSettings(within="source", n_null=0), rng=1).curves
    alone = data.take(items=(data.items["source"] == "s1").to_numpy())
    expected = screen_items(alone, ScreenSettings(n_null=0, n_curves=20), rng=1).curves
    shared = set(within["item"]) & set(alone.item_ids)
    assert len(shared) >= 3
    for item in shared:
        pd.testing.assert_frame_equal(
            within[within["item"] == item].reset_index(drop=True),
            expected[expected["item"] == item].reset_index(drop=True),
        )
