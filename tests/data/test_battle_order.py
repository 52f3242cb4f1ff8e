"""Who was shown first: reports, and pairs judged in both orders (C35)."""

import math

import pytest

from neartie.data.battle_order import report_positions, resolve_swapped
from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.read_battles import read_battles


def test_case_c35_reports_and_resolves_the_first_position(case_dir):
    battles = read_battles(case_dir / "C35" / "battles.json")
    report = report_positions(battles)
    assert (report.n_first, report.n_second, report.n_tie) == (18, 2, 0)
    assert (report.n_swapped, report.n_contradictory) == (10, 10)
    assert not report.is_given
    assert report.low < report.share_first == 0.9 < report.high
    resolved = resolve_swapped(battles)
    assert (resolved.n_battle, resolved.n_tie) == (10, 10)
    assert not resolved.shown.any()
    assert "10 of them disagree and count as ties" in resolved.notices[-1]


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("a", "b", "p"),  # p wins in both orders
        ("b", "a", "q"),
        ("a", "a", "tie"),  # the first shown wins in both orders
        ("a", "tie", "tie"),  # only one order confirms the win
        ("tie", "tie", "tie"),
    ],
)
def test_a_win_is_what_both_orders_confirm(first, second, outcome):
    battles = Battles.build(["p", "q"], ["q", "p"], [first, second], prompt=["1", "1"])
    table = resolve_swapped(battles).win_rates().set_index("model")
    expected = {"p": 1.0, "q": 0.0, "tie": 0.5}[outcome]
    assert table["wins"]["p"] == expected
    assert table["n"]["p"] == 1


def test_a_given_position_counts_and_not_the_listing():
    battles = Battles.build(
        ["p", "p"], ["q", "q"], ["a", "b"], first_shown=["a", "b"], prompt=["1", "1"]
    )
    report = report_positions(battles)
    assert (report.n_first, report.n_second, report.n_swapped, report.n_contradictory) == (
        2,
        0,
        1,
        1,
    )
    assert resolve_swapped(battles).n_tie == 1


def test_other_judges_prompts_and_repeats_are_not_paired():
    battles = Battles.build(
        ["p", "q", "p", "q", "q", "p"],
        ["q", "p", "q", "p", "p", "q"],
        ["a"] * 6,
        judge=["x", "y", "x", "x", "x", ""],
        prompt=["1", "1", "2", "2", "2", ""],
    )
    # prompt 2 of judge x was judged twice in one order: nothing says which two belong together
    assert report_positions(battles).n_swapped == 0
    assert resolve_swapped(battles).n_battle == 6


def test_only_ties_have_no_share():
    report = report_positions(Battles.build(["p"], ["q"], ["tie"]))
    assert report.n_tie == 1
    assert math.isnan(report.share_first)


def test_without_prompts_nothing_can_be_resolved():
    with pytest.raises(DataError, match="a column 'prompt' is needed"):
        resolve_swapped(Battles.build(["p"], ["q"], ["tie"]))
