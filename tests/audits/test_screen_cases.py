"""The screen on the collected cases: what it must say of small, awkward tables."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.screen import ScreenSettings, screen_items
from neartie.data.read import read_responses
from neartie.data.responses import Responses

QUICK = ScreenSettings(statistics="fast", n_null=50)


def case(folder, name, file, **options):
    return read_responses(folder / name / file, rows="models", **options)


def test_case_c13_the_miskeyed_item_comes_first(case_dir):
    screen = screen_items(case(case_dir, "C13", "responses.csv"), rng=1)
    found = screen.table.set_index("item")["signed_isotonic_r2"].round(4)
    assert found.to_dict() == {
        "q01": 0.1376,
        "q02": 0.2026,
        "q03": 0.2650,
        "q04": -0.2889,
        "q05": 0.1933,
        "q06": 0.1957,
    }
    worst = screen.table.iloc[0]
    assert worst["item"] == "q04"
    assert worst["rank"] == 1
    assert worst["reason"].startswith("negative with 5 of 5 items; lower than shuffled answers get")
    assert (screen.table["signed_isotonic_r2"] < 0).sum() == 1


@pytest.mark.parametrize("file", ["pair.csv", "shuffled.csv"])
def test_case_c37_ties_and_row_order(case_dir, file):
    data = case(case_dir, "C37", file)
    screen = screen_items(data, QUICK, rng=1)
    assert screen.table["signed_isotonic_r2"].round(4).tolist() == [0.2525, 0.2525]
    flipped = data.values.copy()
    flipped[1] = 1 - flipped[1]
    turned = Responses.build(flipped, items=data.item_ids, models=data.model_ids)
    assert (
        screen_items(turned, QUICK, rng=1).table["signed_isotonic_r2"].round(4).tolist()
        == [-0.2525] * 2
    )


def test_case_c38_a_constant_item_is_neither_best_nor_worst(case_dir):
    screen = screen_items(case(case_dir, "C38", "responses.csv"), QUICK, rng=1)
    table = screen.table.set_index("item")
    expected = {"w1": 0.3, "w2": 0.15, "w3": 0.35}
    assert table["signed_isotonic_r2"].dropna().round(4).to_dict() == pytest.approx(expected)
    assert table["n_pairs"].to_dict() == {"w1": 2, "w2": 2, "w3": 2, "w4": 0}
    assert pd.isna(table.loc["w4", "rank"])
    assert table.loc["w4", "reason"] == "solved by everybody (6 models): nothing to compare"
    assert screen.n_undefined == 6


def test_case_c08_graded_items_are_taken_as_they_are(case_dir):
    data = case(case_dir, "C08", "graded.csv", scores="graded")
    two = data.take(items=np.array([0, 1]))
    for form, value in (
        ("predictor", 1 / 3),
        ("outcome", 3 / 11),
        ("symmetric", (1 / 3 + 3 / 11) / 2),
    ):
        table = screen_items(two, ScreenSettings(form=form), rng=1).table.set_index("item")
        assert table.loc["p1", "signed_isotonic_r2"] == pytest.approx(value, abs=1e-9)
    whole = screen_items(data, rng=1)
    assert whole.n_ranked == 5


def test_a_tiny_table_is_not_judged(case_dir):
    screen = screen_items(case(case_dir, "C38", "responses.csv"), QUICK, rng=1)
    assert len(screen.review()) == 0
    assert screen.warnings[0].startswith(
        "There is not enough to judge items by: 3 of them have a coefficient, each compared with "
        "2 others at most; none is called flat"
    )
    assert sum("d_2pl" in warning for warning in screen.warnings) == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_two_items_of_c37_get_one_verdict(case_dir, seed):
    table = screen_items(case(case_dir, "C37", "pair.csv"), rng=seed).table
    assert table["reason"].tolist() == ["", ""]
    assert table["rank"].tolist() == [1, 1]
