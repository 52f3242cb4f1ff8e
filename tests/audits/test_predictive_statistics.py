"""Statistics of predictive checks: plain twins, hand-computed cases, laws."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.audits.answer_statistics import AnswerStatistics
from neartie.audits.battle_statistics import BattleStatistics
from neartie.audits.near_tie_pairs import compared_pairs, count_near_ties
from neartie.audits.predictive_tables import (
    accuracy_histogram,
    expected_outside,
    predictive_table,
)
from neartie.audits.ranking import cross_family_pairs
from neartie.inference.replicated_battles import ObservedBattles

seeds = st.integers(0, 2**32 - 1)


def answers(seed, *, missing):
    rng = np.random.default_rng(seed)
    n_item, n_model = rng.integers(2, 9), rng.integers(2, 8)
    values = rng.integers(0, 2, (n_item, n_model)).astype(np.int8)
    values[rng.random(values.shape) < missing] = -1
    family = rng.integers(0, 3, n_model)
    return values, np.unique(family, return_inverse=True)[1]


def plain_statistics(values, family, epsilon):
    """What the docstrings say, one cell at a time."""
    n_item, n_model = values.shape
    of_models, of_items = {}, {}
    for m in range(n_model):
        given_answers = [int(v) for v in values[:, m] if v >= 0]
        if given_answers:
            of_models[m] = Fraction(sum(given_answers), len(given_answers))
    for i in range(n_item):
        given_answers = [int(v) for v in values[i] if v >= 0]
        if given_answers:
            of_items[i] = Fraction(sum(given_answers), len(given_answers))
    near = sum(
        1
        for a, b in combinations(sorted(of_models), 2)
        if family[a] != family[b] and abs(of_models[a] - of_models[b]) <= epsilon
    )
    correlations, ranges = [], []
    for i in range(n_item):
        who = [m for m in range(n_model) if values[i, m] >= 0]
        x = np.array([float(values[i, m]) for m in who])
        y = np.array([float(of_models[m]) for m in who])
        if len(who) and x.std() * y.std() > 1e-6:
            correlations.append(np.corrcoef(x, y)[0, 1])
        shifts = []
        for f in sorted(set(family.tolist())):
            mine = [m for m in who if family[m] == f]
            all_mine = [v for m in np.flatnonzero(family == f) for v in values[:, m] if v >= 0]
            if mine:
                shifts.append(np.mean([values[i, m] for m in mine]) - np.mean(all_mine))
        if len(shifts) > 1:
            ranges.append(max(shifts) - min(shifts))

    def mean(found):
        return float(np.mean([float(v) for v in found])) if len(found) else np.nan

    def sd(found):
        return float(np.std([float(v) for v in found], ddof=1)) if len(found) > 1 else np.nan

    rates = list(of_models.values())
    found = [near, mean(rates), sd(rates), sd(list(of_items.values()))]
    return [*found, mean(correlations), sd(correlations), mean(ranges)]


@given(seeds, st.sampled_from([0.0, 0.3]), st.sampled_from(["0.01", "0.2", "1/3"]))
@settings(max_examples=60, deadline=None)
def test_statistics_of_answers_are_those_of_the_plain_twin(seed, missing, epsilon):
    values, family = answers(seed, missing=missing)
    share = Fraction(epsilon)
    statistics = AnswerStatistics(
        observed=values >= 0,
        pairs=compared_pairs(values.shape[1], families=[str(f) for f in family]),
        epsilon=share,
        family=family,
    )
    np.testing.assert_allclose(
        statistics.scalars(values), plain_statistics(values, family, share), atol=1e-9
    )


@given(seeds, st.sampled_from(["0.01", "0.05", "0.2"]))
def test_near_ties_of_complete_answers_are_those_of_the_audit(seed, epsilon):
    rng = np.random.default_rng(seed)
    n_item, n = int(rng.integers(1, 120)), 12
    right = rng.integers(0, n_item + 1, n)
    labels = {
        "family": rng.choice(["x", "y", "z"], n),
        "owner": rng.choice(list("abcdef"), n),
    }
    audit = cross_family_pairs(right, n_items=n_item, **labels)
    pairs = compared_pairs(n, families=labels["family"], owners=labels["owner"])
    found = count_near_ties(pairs, 2 * right, np.full(n, n_item), epsilon=epsilon)
    assert found == audit.within(epsilon).sum()


def test_edge_of_the_band_is_within_it_and_models_without_answers_are_not():
    pairs = compared_pairs(3)
    # .81 - .80 exceeds .01 in floating point.
    assert count_near_ties(pairs, [162, 160, 0], [100, 100, 0], epsilon=0.01) == 1
    # 1/3 and 2/6 are equal whatever the number of answers.
    assert count_near_ties(pairs, [2, 4, 3], [3, 6, 3], epsilon=0) == 1
    with pytest.raises(ValueError, match="at least 0, got -1"):
        count_near_ties(pairs, [0, 0, 0], [1, 1, 1], epsilon=-1)


def battles(outcome, *, ties="davidson", orders=False, shown=None):
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    return ObservedBattles(
        outcome=np.array(outcome),
        first=first,
        second=second,
        shown=np.array([0, 0, 0] if shown is None else shown),
        models=("a", "b", "c"),
        ties=ties,
        orders_apart=orders,
    )


def of_battles(record, **options):
    observed = battles(record, **options)
    statistics = BattleStatistics(
        battles=observed, pairs=compared_pairs(3), epsilon=Fraction("0.01")
    )
    return statistics, dict(
        zip(statistics.names, statistics.scalars(observed.outcome), strict=True)
    )


def test_rock_paper_scissors_is_all_surprise():
    statistics, found = of_battles([[9, 1, 0], [1, 9, 0], [9, 1, 0]])
    assert statistics.half_wins(statistics.battles.outcome).tolist() == [20, 20, 20]
    assert found == {"near_ties": 3, "win_rate_sd": 0, "surprise": 1, "ties": 0}


def test_win_rates_that_explain_every_pair_leave_no_surprise():
    # Win rates .75, .5, .25: gaps of .25, .5, .25, and excesses of .2, .4, .2 over one half.
    _, found = of_battles([[7, 3, 0], [9, 1, 0], [7, 3, 0]])
    assert found["surprise"] == pytest.approx(0, abs=1e-12)
    assert found["near_ties"] == 0


def test_ties_are_half_wins_and_are_counted_where_they_are_outcomes():
    statistics, found = of_battles([[1, 0, 3], [0, 2, 0], [0, 0, 1]])
    assert statistics.half_wins(statistics.battles.outcome).tolist() == [5, 4, 5]
    assert statistics.n.tolist() == [6, 5, 3]
    assert found["ties"] == 4
    assert "ties" not in of_battles([[1, 0, 3], [0, 2, 0], [0, 0, 1]], ties="half")[1]


def test_first_shown_wins_are_those_of_rows_that_showed_the_first_first():
    _, found = of_battles([[4, 1, 0], [2, 3, 1], [5, 0, 0]], orders=True, shown=[1, 0, 1])
    assert found["first_shown_wins"] == 9


@given(seeds, st.sampled_from([0.5, 0.9, 0.95]))
def test_table_is_that_of_sorted_replicates(seed, level):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 6, (rng.integers(1, 40), 3)).astype(float)
    observed = rng.integers(0, 6, 3)
    table = predictive_table(observed, drawn, ids=list("abc"), column="item", level=level)
    for row, column, value in zip(table.to_dict("records"), drawn.T, observed, strict=True):
        above = sum(v > value for v in column) + 0.5 * sum(v == value for v in column)
        assert row["p"] == pytest.approx(above / len(column))
        assert row["predicted"] == pytest.approx(column.mean())
        tail = 0.5 - level / 2 + 1e-12
        assert np.mean(column < row["low"]) <= tail
        assert np.mean(column > row["high"]) <= tail
        assert row["low"] in column
        assert row["high"] in column
        assert row["outside"] == (value < row["low"] or value > row["high"])
    assert expected_outside(drawn, table) <= 1 - level + 1e-12


def test_undefined_replicates_are_left_out_and_all_undefined_is_missing():
    drawn = np.array([[np.nan, np.nan], [1.0, np.nan], [3.0, np.nan]])
    table = predictive_table([2.0, 1.0], drawn, ids=["a", "b"], column="item", level=0.9)
    assert table["p"].tolist()[0] == 0.5
    assert table.loc[1, ["predicted", "low", "p"]].isna().all()
    assert table["outside"].tolist() == [0, 0]


def test_histogram_is_of_shares_and_puts_an_edge_into_the_bin_that_it_begins():
    rates = np.arange(21) / 20
    table = accuracy_histogram({"models": rates, "none": np.array([np.nan])})
    assert (table["models"] * 21).round(9).tolist() == [1.0] * 19 + [2.0]
    assert table["none"].sum() == 0
