"""The null of the screen: shuffles, ties, and the same verdict for the same answers."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.screen import ScreenSettings, screen_items
from neartie.data.responses import Responses

QUICK = ScreenSettings(statistics="fast", n_null=50)
QUICK_MANY = ScreenSettings(statistics="fast", n_null=200)


def test_unrelated_items_are_called_flat_about_as_often_as_promised(simulate):
    # 60 unrelated items in a scale of 60 others: 95 % should lie in the band; fixed seed.
    data = simulate(120, 80, n_flipped=0, seed=3)
    values = data.values.copy()
    rng = np.random.default_rng(4)
    values[:60] = rng.permuted(values[:60], axis=1)
    shuffled = Responses.build(values, items=data.item_ids, models=data.model_ids)
    table = screen_items(shuffled, ScreenSettings(statistics="fast", n_null=200), rng=1).table
    unrelated = table[table["item"].str[1:].astype(int) < 60]
    inside = unrelated["signed_isotonic_r2"].between(unrelated["null_low"], unrelated["null_high"])
    assert 0.87 <= inside.mean() <= 1
    related = table[table["item"].str[1:].astype(int) >= 60]
    assert (related["p_null"] < 0.02).mean() > 0.9


def test_null_of_a_class_is_that_of_each_of_its_items(simulate):
    # Complete data: an item shuffled on its own has the null of its number of right answers.
    data = simulate(12, 40, seed=6)
    one = screen_items(data, ScreenSettings(statistics="fast", n_null=4000), rng=1)
    other = screen_items(data, ScreenSettings(statistics="fast", n_null=4000), rng=2)
    both = one.table.set_index("item").join(other.table.set_index("item"), suffixes=("", "_2"))
    width = (both["null_high"] - both["null_low"]).to_numpy()
    assert np.abs((both["null_high"] - both["null_high_2"]) / width).max() < 0.1


VERDICT = ["rank", "p_null", "p_adjusted", "p_below", "null_low", "null_high", "strength", "reason"]


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_items_with_the_same_answers_get_the_same_verdict(simulate, missing, graded, seed):
    data = simulate(14, 30, missing=missing, seed=seed)
    values = np.where(data.observed, data.values, np.nan)
    if graded:
        values = values + np.random.default_rng(seed).integers(0, 2, values.shape) / 2
    twice = np.concatenate([values, values[::-1]])
    ids = [f"q{i}" for i in range(14)] + [f"twin{i}" for i in reversed(range(14))]
    both = Responses.build(twice, items=ids, models=data.model_ids)
    table = screen_items(both, ScreenSettings(statistics="fast", n_null=30), rng=1).table
    table = table.set_index("item")
    for i in range(14):
        one, other = table.loc[f"q{i}", VERDICT], table.loc[f"twin{i}", VERDICT]
        pd.testing.assert_series_equal(one, other, check_exact=True, check_names=False)


def test_p_values_count_ties_on_both_sides():
    # Two models: every shuffle is the observed order or its reverse, and both sides count ties.
    data = Responses.build([[1, 0], [1, 0], [1, 0]], items=list("abc"), models=list("xy"))
    table = screen_items(data, ScreenSettings(n_null=200, statistics="fast"), rng=1).table
    assert (table["p_below"] == 1).all()
    assert table["p_null"].between(0.35, 0.65).all()


def test_strong_reasons_come_first_and_are_few_by_chance(simulate):
    # Nothing is wrong with these items: of 300, 1 % (3) should be strong; 10 has p < .002.
    screen = screen_items(simulate(300, 60, n_flipped=0), QUICK_MANY, rng=1)
    assert screen.review_counts()["strong"] < 10
    flipped = screen_items(simulate(60, 60, n_flipped=3), QUICK_MANY, rng=1)
    review = flipped.review()
    assert set(review["item"].head(3)) == {"q0", "q1", "q2"}
    strong = (review["strength"] == "strong").to_numpy()
    assert strong[:2].all()  # the third is a very hard item: too little to tell
    assert (np.diff(strong.astype(int)) <= 0).all()
    assert flipped.to_dict()["n_review_strong"] == strong.sum()
    assert flipped.to_dict()["n_review_weak"] == (~strong).sum()


def test_flat_items_are_those_whose_adjusted_p_exceeds_the_level(simulate):
    table = screen_items(simulate(80, 60), QUICK_MANY, rng=1).table
    flat = table["reason"].str.contains("flat")
    beyond = (table["signed_isotonic_r2"] < 0) & (table["p_below"] <= 0.01)
    assert flat.equals((table["p_adjusted"] > 0.05) & ~beyond)
    assert (table.loc[flat, "strength"] == "weak").all()
