"""Subsampled partners."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.screen import ScreenSettings, screen_items
from neartie.audits.screen_partners import choose_partners


@pytest.mark.parametrize("choice", ["random", "difficulty", "correlation"])
def test_subsampled_partners_keep_the_worst_items(simulate, choice):
    data = simulate(80, 100, seed=9)
    settings = ScreenSettings(n_partners=20, partner_choice=choice, statistics="fast", n_null=0)
    table = screen_items(data, settings, rng=1).table
    assert (table["n_pairs"] == 20).all()
    assert set(table["item"].head(3)) == {"q0", "q1", "q2"}
    assert table["null_low"].isna().all()


@pytest.mark.parametrize("choice", ["random", "difficulty", "correlation"])
@pytest.mark.parametrize(("n_item", "n_partner"), [(7, 5), (20, 15), (40, 7)])
def test_no_partner_is_chosen_twice_or_is_the_item_itself(simulate, choice, n_item, n_partner):
    data = simulate(n_item, 60)
    rng = np.random.default_rng(0)
    partners = choose_partners(data, n_partners=n_partner, choice=choice, rng=rng)
    for i, chosen in enumerate(partners):
        assert len({*chosen.tolist(), i}) == n_partner + 1


def test_more_partners_than_items_means_all_pairs(simulate):
    data = simulate()
    settings = ScreenSettings(n_partners=39, statistics="fast", n_null=0)
    every = screen_items(data, ScreenSettings(statistics="fast", n_null=0), rng=1)
    pd.testing.assert_frame_equal(screen_items(data, settings, rng=1).table, every.table)
