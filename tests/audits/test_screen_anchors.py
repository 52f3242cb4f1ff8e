"""Anchors against the review list: counts by hand, planted flat items, refusals."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.near_tie import audit_near_ties
from neartie.audits.screen import ScreenSettings, screen_items
from neartie.audits.screen_anchors import (
    COLUMNS,
    items_against_the_others,
    screened_anchor_sentences,
    screened_anchors,
)
from neartie.audits.settings import AuditSettings
from neartie.data.errors import DataError

QUICK = ScreenSettings(statistics="fast", n_null=100)


@pytest.fixture
def audited(leaderboard):
    settings = AuditSettings(dimension=1, controls=0, bootstraps=0, min_family_size=4)
    return audit_near_ties(leaderboard, settings, rng=1), screen_items(leaderboard, QUICK, rng=1)


def test_counts_are_those_of_the_joined_tables(audited):
    audit, screen = audited
    table = screened_anchors(audit, screen)
    assert list(table.columns) == list(COLUMNS)
    reasons = screen.table.set_index("item")["reason"]
    for row in table.to_dict("records"):
        chosen = audit.items["half"].eq(row["half"]) & audit.items["anchor"].eq(row["anchor"])
        items = audit.items.loc[chosen, "item"]
        assert row["n_items"] == len(items) == row["n_ranked"] + row["n_without_coefficient"]
        assert row["n_review"] == (reasons.loc[items] != "").sum()
        assert row["share_review"] == pytest.approx(row["n_review"] / row["n_ranked"])
    assert table.groupby("half")["n_items"].sum().eq(60).all()


def test_odds_ratio_by_hand(audited):
    audit, screen = audited
    anchors = set(audit.items.query("half == 0 and anchor == 1")["item"])
    table = screen.table.copy()
    marked = sorted(anchors)[:6] + sorted(set(table["item"]) - anchors)[:2]
    table["reason"] = np.where(table["item"].isin(marked), "planted", "")
    object.__setattr__(screen, "table", table)
    row = screened_anchors(audit, screen).query("half == 0 and anchor == 1").iloc[0]
    n, rest = len(anchors), 60 - len(anchors)
    assert row["n_review"] == 6
    assert row["odds_ratio"] == pytest.approx(6 / (n - 6) / (2 / (rest - 2)))
    assert 0 < row["p_value"] < 1
    assert screened_anchor_sentences(screened_anchors(audit, screen))[0].startswith(
        f"Half 0: the screen questions 6 of {n} ranked anchors and 2 of {rest} other items"
    )


def test_no_review_list_leaves_the_test_undefined(audited):
    audit, screen = audited
    object.__setattr__(screen, "table", screen.table.assign(reason=""))
    table = screened_anchors(audit, screen)
    assert table["p_value"].isna().all()
    assert (table["n_review"] == 0).all()


def test_items_against_the_others_are_the_negative_ones(audited):
    _, screen = audited
    gone = items_against_the_others(screen)
    negative = screen.table["signed_isotonic_r2"] < 0
    assert gone == screen.table.loc[negative, "item"].tolist()


def test_another_benchmark_is_refused(audited, leaderboard):
    audit, _ = audited
    other = screen_items(leaderboard, QUICK, without=["q00"], rng=1)
    with pytest.raises(DataError, match="1 items of the audit are not in the screen, first 'q00'"):
        screened_anchors(audit, other)


def test_anchor_column_is_read_as_numbers(audited):
    audit, screen = audited
    assert pd.api.types.is_integer_dtype(screened_anchors(audit, screen)["n_items"])
