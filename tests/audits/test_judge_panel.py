"""Judges: eligibility, agreement, kappa, position bias."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.audits.agreement import cohen_kappa
from neartie.audits.judge_panel import judge_panel, position_effect
from neartie.audits.panel_agreement import panel_agreement, verdict_agreement
from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.read_battles import read_battles

law = settings(max_examples=30, deadline=None)

MODELS = ("ant", "bee", "cat")
JUDGES = ("bee", "x", "y", "z")
VERDICT = st.tuples(
    st.sampled_from([(a, b) for a in MODELS for b in MODELS if a != b]),
    st.sampled_from(["a", "b", "tie"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(JUDGES),
    st.sampled_from(["p", "q"]),
)
VERDICTS = st.lists(VERDICT, min_size=1, max_size=30)


def battles(verdicts):
    pairs, winner, shown, judge, prompt = zip(*verdicts, strict=True)
    first, second = zip(*pairs, strict=True)
    return Battles.build(first, second, winner, first_shown=shown, judge=judge, prompt=prompt)


def plain_kept(verdicts, fewest):
    """The rules one verdict at a time."""
    duels = {}
    for row, (pair, _, _, judge, prompt) in enumerate(verdicts):
        if judge not in pair:
            duels.setdefault((prompt, frozenset(pair)), []).append((judge, row))
    kept = [rows for rows in duels.values() if len({judge for judge, _ in rows}) >= fewest]
    return sorted(row for rows in kept for _, row in rows)


@law
@given(VERDICTS, st.integers(1, 3))
def test_who_may_judge(verdicts, fewest):
    kept = plain_kept(verdicts, fewest)
    if not kept:
        with pytest.raises(DataError, match="no duel has"):
            judge_panel(battles(verdicts), fewest_judges=fewest)
        return
    panel = judge_panel(battles(verdicts), fewest_judges=fewest)
    assert panel.battles.n_battle == len(kept)
    assert panel.n_self == sum(judge in pair for pair, _, _, judge, _ in verdicts)
    duels = {(prompt, frozenset(pair)) for pair, _, _, _, prompt in verdicts}
    assert panel.n_duels + panel.n_discarded == len(duels)
    table = panel.judges
    assert table["n"].sum() == panel.overall["n"] == len(kept)
    assert (table["n_self"].sum(), table["n_discarded"].sum()) == (
        panel.overall["n_self"], panel.overall["n_discarded"],
    )  # fmt: skip
    assert (table["n"] + table["n_self"] + table["n_discarded"]).sum() == len(verdicts)


def turned(verdict):
    (a, b), winner, shown, judge, prompt = verdict
    other = {"a": "b", "b": "a", "tie": "tie"}
    return (b, a), other[winner], other[shown], judge, prompt


NEW = {"ant": "zebra", "bee": "bee", "cat": "ape"}


@law
@given(VERDICTS, st.randoms(use_true_random=False))
def test_who_is_listed_first_and_spelling_change_nothing(verdicts, random):
    if not plain_kept(verdicts, 2):
        return
    other = [turned(verdict) if random.random() < 0.5 else verdict for verdict in verdicts]
    other = [((NEW[p[0]], NEW[p[1]]), w, s, j, q) for p, w, s, j, q in other]
    random.shuffle(other)
    one, two = judge_panel(battles(verdicts)), judge_panel(battles(other))
    pd.testing.assert_frame_equal(one.judges, two.judges)
    pd.testing.assert_frame_equal(one.agreement, two.agreement)
    assert (one.n_unanimous, one.n_panel) == (two.n_unanimous, two.n_panel)


LABELS = st.lists(
    st.tuples(*[st.sampled_from(["pass", "fail", "odd", ""])] * 3), min_size=1, max_size=25
)


@law
@given(LABELS)
def test_agreement_is_cohens_kappa_pair_by_pair(labels):
    table = pd.DataFrame(labels, columns=["x", "y", "z"], dtype="str")
    place = {"pass": 0.0, "fail": 1.0, "odd": 2.0, "": math.nan}
    for row in panel_agreement(table).itertuples():
        x, y = ([place[v] for v in table[name]] for name in (row.judge_a, row.judge_b))
        twin = cohen_kappa(x, y)
        assert row.n == twin.n
        assert row.observed == pytest.approx(twin.observed, nan_ok=True)
        assert row.expected == pytest.approx(twin.expected, nan_ok=True)
        if twin.value is None:
            assert math.isnan(row.kappa)
            assert row.reason
        else:
            assert row.kappa == pytest.approx(twin.value)
            assert row.reason == ""


SIGNS = st.lists(
    st.tuples(*[st.sampled_from([1.0, 0.0, -1.0, math.nan])] * 2), min_size=1, max_size=25
)


@law
@given(SIGNS)
def test_verdicts_count_in_both_directions(signs):
    x, y = (np.array(side) for side in zip(*signs, strict=True))
    row = verdict_agreement(pd.DataFrame({"x": x, "y": y})).iloc[0]
    twin = cohen_kappa(np.concatenate([x, -x]), np.concatenate([y, -y]))
    assert 2 * row["n"] == twin.n
    assert row["observed"] == pytest.approx(twin.observed, nan_ok=True)
    assert row["kappa"] == pytest.approx(
        math.nan if twin.value is None else twin.value, nan_ok=True
    )


def test_two_judges_who_see_only_ties_have_no_kappa():
    row = verdict_agreement(pd.DataFrame({"x": [0.0, 0.0], "y": [0.0, 0.0]})).iloc[0]
    assert math.isnan(row["kappa"])
    assert row["reason"] == "both gave the label 'tie' throughout"


def test_c41(case_dir):
    table = pd.read_csv(case_dir / "C41" / "judges.csv", dtype=str).set_index("item")
    found = panel_agreement(table).set_index(["judge_a", "judge_b"])
    same = found.loc[("judge1", "judge2")]
    assert (same["observed"], same["expected"]) == (1, 1)
    assert math.isnan(same["kappa"])
    assert same["reason"] == "both gave the label 'pass' throughout"
    constant = found.loc[("judge1", "judge3")]
    assert (constant["observed"], constant["expected"], constant["kappa"]) == (0.8, 0.8, 0)
    both = found.loc[("judge3", "judge4")]
    assert (both["observed"], both["expected"], both["kappa"]) == pytest.approx((0.8, 0.68, 0.375))


def test_c35_position_bias(case_dir):
    data = read_battles(case_dir / "C35" / "battles.json")
    assert position_effect(data) == pytest.approx(0.4)  # .9 to the first of a pair of equals
    judged = Battles.build(
        [data.models[m] for m in data.model_a], [data.models[m] for m in data.model_b],
        ["tie" if o == 0 else "a" if o > 0 else "b" for o in data.outcome],
        judge=["j"] * data.n_battle, prompt=[data.prompts[p] for p in data.prompt],
    )  # fmt: skip
    panel = judge_panel(judged, fewest_judges=1)
    assert panel.overall["share_first"] == 0.9
    assert (panel.overall["n_swapped"], panel.overall["n_contradictory"]) == (10, 10)


def test_strength_is_not_taken_for_position_bias():
    # The stronger model is shown first three times as often; nobody looks at the order.
    won = ["a"] * 27 + ["b"] * 3
    data = Battles.build(["owl"] * 40, ["ant"] * 40, won + ["a"] * 9 + ["b"],
                         first_shown=["a"] * 30 + ["b"] * 10)  # fmt: skip
    assert position_effect(data) == pytest.approx(0)


def test_no_pair_in_both_orders_has_no_effect():
    assert math.isnan(position_effect(Battles.build(["owl"], ["ant"], ["a"])))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"prompt": ["p", "p"]}, "name no judges"),
        ({"judge": ["x", "y"]}, "which verdicts belong to one duel"),
        ({"judge": ["x", ""], "prompt": ["p", "p"]}, "1 verdict without a judge"),
        ({"judge": ["x", "y"], "prompt": ["p", ""]}, "1 verdict without a prompt"),
        ({"judge": ["owl", "ant"], "prompt": ["p", "p"]}, "2 verdicts came from participants"),
    ],
)
def test_errors_say_what_is_missing(columns, message):
    data = Battles.build(["owl", "owl"], ["ant", "ant"], ["a", "b"], **columns)
    with pytest.raises(DataError, match=message):
        judge_panel(data)


def test_a_judge_spelled_nearly_like_a_model_is_named():
    data = Battles.build(["Owl-7b", "Owl-7b"], ["ant", "ant"], ["a", "b"],
                         judge=["owl 7b", "x"], prompt=["p", "p"])  # fmt: skip
    assert "'owl 7b' and 'Owl-7b'" in judge_panel(data).notices[0]
