"""Battles: validation, counts that no order changes, win rates (C26, C29)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.read_battles import read_battles

LABELS = ("model_a", "model_b", "tie")
rows = st.lists(
    st.tuples(
        st.sampled_from("pqrs"),
        st.sampled_from("pqrs"),
        st.sampled_from(LABELS),
        st.sampled_from((1.0, 2.0, 0.1, 0.3)),
    ),
    min_size=1,
    max_size=30,
).filter(lambda found: any(a != b for a, b, _, _ in found))


def build(found) -> Battles:
    a, b, winner, weight = zip(*found, strict=True)
    return Battles.build(a, b, winner, weight=weight)


def listing(battles: Battles):
    c = battles.counts()
    return [
        c.first.tolist(),
        c.second.tolist(),
        c.wins.tolist(),
        c.losses.tolist(),
        c.ties.tolist(),
    ]


def turned(row):
    a, b, winner, weight = row
    return b, a, {"model_a": "model_b", "model_b": "model_a"}.get(winner, winner), weight


@given(rows, st.randoms())
def test_neither_order_nor_listing_changes_a_bit_of_the_counts(found, random):
    other = [turned(row) if random.random() < 0.5 else row for row in found]
    random.shuffle(other)
    assert listing(build(other)) == listing(build(found))


@given(rows)
def test_counts_agree_with_adding_up_one_by_one(found):
    battles = build(found)
    plain: dict = {}
    for a, b, winner, weight in found:
        if a != b:
            low, high = sorted((a, b))
            who = winner if winner == "tie" else (a if winner == "model_a" else b)
            plain.setdefault((low, high), {}).setdefault(who, []).append(weight)
    c = battles.counts()
    assert len(c.first) == len(plain)
    for k in range(len(c.first)):
        low, high = battles.models[c.first[k]], battles.models[c.second[k]]
        by = plain[low, high]
        for name, column in ((low, c.wins), (high, c.losses), ("tie", c.ties)):
            assert column[k] == pytest.approx(sum(by.get(name, [0.0])), abs=1e-12)


@given(rows)
def test_counts_by_position_add_up_to_the_plain_ones(found):
    battles = build(found)
    by = battles.counts(by_position=True)
    assert by.shown.all()
    n, wins, _ = by.by_model()
    plain_n, plain_wins, _ = battles.counts().by_model()
    assert n == pytest.approx(plain_n)
    assert wins == pytest.approx(plain_wins)


def test_positions_are_kept_apart():
    battles = Battles.build(
        ["p", "q", "q", "p"], ["q", "p", "p", "q"], ["a"] * 4, first_shown=["a", "a", "b", ""]
    )
    c = battles.counts(by_position=True)
    # p before q: won once by p, once (the third) by q; q before p: won by q; unknown: won by p
    found = dict(zip(zip(c.first, c.second, c.shown, strict=True), c.wins, strict=True))
    assert found == {(0, 1, 0): 1, (0, 1, 1): 1, (1, 0, 1): 1}
    assert c.losses.tolist() == [0, 1, 0]


def test_labels_are_read_in_any_case_and_both_ties_are_ties():
    battles = Battles.build(["x"] * 5, ["y"] * 5, ["Model_A", "B", "TIE", "Tie (BothBad)", " a "])
    assert battles.outcome.tolist() == [1, -1, 0, 0, 1]
    assert battles.n_tie == 2


def test_case_c26_ties_give_half_credit(case_dir):
    table = read_battles(case_dir / "C26" / "battles.csv").win_rates().set_index("model")
    assert table["win_rate"]["kea"] == 0.40
    assert table["win_rate"]["lory"] == 0.50


def test_case_c29_self_battles_are_left_out_with_a_count(case_dir):
    battles = read_battles(case_dir / "C29" / "battles.json")
    assert battles.n_self == 5
    assert battles.notices == ("left out 5 battles of a model with itself",)
    assert not (battles.model_a == battles.model_b).any()


def test_a_model_that_only_met_itself_is_left_out():
    battles = Battles.build(["a", "x"], ["b", "x"], ["a", "a"])
    assert battles.models == ("a", "b")
    assert "left out 1 model without any other battle: 'x'" in battles.notices


def test_weight_zero_is_no_battle():
    battles = Battles.build(["p", "p"], ["q", "r"], ["a", "a"], weight=[2, 0])
    assert battles.models == ("p", "q")
    assert "left out 1 battle of weight 0" in battles.notices
    assert battles.win_rates()["n"].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ((["p"], ["q"], ["maybe"]), {}, r"battle 1: winner 'maybe' is none of model_a, a, model_b"),
        ((["p", " "], ["q", "q"], ["a", "a"]), {}, r"battle 2: a model id is blank"),
        ((["p"], [3], ["a"]), {}, r"battle 2: the model id is not text: 3"),
        ((["p"], ["p"], ["a"]), {}, r"no battle between two different models"),
        ((["p"], ["q"], ["a"]), {"weight": [-1]}, r"battle 1: weight -1\.0 is negative"),
        ((["p"], ["q"], ["a"]), {"weight": [np.nan]}, r"battle 1: weight nan is negative or not"),
        ((["p"], ["q"], ["a", "a"]), {}, r"one value for each of the 1 battles"),
        ((["p"], ["q"], ["a"]), {"first_shown": ["c"]}, r"first_shown 'c' is none of model_a"),
    ],
)
def test_bad_rows_are_refused(columns, options, message):
    with pytest.raises(DataError, match=message):
        Battles.build(*columns, **options)


def test_rows_are_read_only():
    battles = Battles.build(["p"], ["q"], ["a"])
    with pytest.raises(ValueError, match="read-only"):
        battles.outcome[0] = -1
