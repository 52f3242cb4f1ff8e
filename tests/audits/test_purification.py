"""Purification: laws, the cycling case C14, the worked audit and the real leaderboard."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from neartie.audits.purification import purify_anchors
from neartie.inference.spectral import working_responses


def parts(leaderboard):
    return {"family": leaderboard.models["family"], "source": leaderboard.items["source"]}


def test_alpha_one_keeps_everything(leaderboard):
    done = purify_anchors(leaderboard.values, **parts(leaderboard), dimension=2, alpha=1)
    assert done.subtest.selected.all()
    assert set(done.subtest.weights()) == {1}
    assert done.settled == 1


def test_order_of_models_changes_no_anchor(leaderboard):
    order = np.random.default_rng(1).permutation(leaderboard.n_model)
    one = purify_anchors(leaderboard.values, **parts(leaderboard), dimension=2)
    two = purify_anchors(
        leaderboard.values[:, order],
        family=leaderboard.models["family"].iloc[order],
        source=leaderboard.items["source"],
        dimension=2,
    )
    assert np.array_equal(one.subtest.selected, two.subtest.selected)
    assert one.signature.effects == pytest.approx(two.signature.effects, abs=1e-9)


def test_relabelling_families_changes_no_anchor(leaderboard):
    renamed = leaderboard.models["family"].map({"Ash": "z", "Birch": "m", "Cedar": "a"})
    one = purify_anchors(leaderboard.values, **parts(leaderboard), dimension=2)
    two = purify_anchors(
        leaderboard.values, family=renamed, source=leaderboard.items["source"], dimension=2
    )
    assert np.array_equal(one.subtest.selected, two.subtest.selected)


def test_duplicating_every_item_selects_the_same_items_twice(leaderboard):
    # .4 of 5 and of 10 items: cells keep both copies of an item or none
    one = purify_anchors(leaderboard.values, **parts(leaderboard), dimension=2, alpha="0.4")
    two = purify_anchors(
        np.vstack([leaderboard.values, leaderboard.values]),
        family=leaderboard.models["family"],
        source=pd.concat([leaderboard.items["source"]] * 2),
        dimension=2,
        alpha="0.4",
        index=np.concatenate([np.arange(0, 120, 2), np.arange(1, 120, 2)]),
    )
    assert np.array_equal(two.signature.effects[:60], two.signature.effects[60:])
    assert two.signature.effects[:60] == pytest.approx(one.signature.effects, abs=1e-9)
    assert np.array_equal(two.subtest.selected, np.tile(one.subtest.selected, 2))


def test_an_item_that_all_solve_does_not_move_the_others_first_round(leaderboard):
    values = np.vstack([leaderboard.values, np.ones((1, leaderboard.n_model), np.int8)])
    source = [*leaderboard.items["source"], "s1"]
    one = purify_anchors(leaderboard.values, **parts(leaderboard), dimension=1, rounds=1)
    two = purify_anchors(
        values, family=leaderboard.models["family"], source=source, dimension=1, rounds=1
    )
    assert np.isnan(two.selecting.easiness[-1])
    assert not two.selecting.effects[-1].any()
    # its row is the same constant for all models, so it turns the coordinates a little
    assert two.selecting.effects[:-1] == pytest.approx(one.selecting.effects, abs=0.1)


def test_dimension_is_cut_to_the_rank_and_said(leaderboard):
    done = purify_anchors(leaderboard.values, **parts(leaderboard), dimension=100)
    response = working_responses(leaderboard.values).response
    assert done.rounds["k"].iloc[0] == np.linalg.matrix_rank(response)
    assert done.rounds["k"].iloc[1] == done.rounds["n_anchor"].iloc[0] < 36


def test_effects_of_planted_families_exceed_those_of_permuted_ones(leaderboard):
    rng = np.random.default_rng(2)
    values = leaderboard.values.copy()
    family = leaderboard.models["family"].to_numpy()
    hit = rng.choice(60, size=20, replace=False)
    easier = (family == "Ash")[None, :] & (rng.random((20, len(family))) < 0.6)
    values[hit] = np.where(easier, 1, values[hit])
    source = leaderboard.items["source"]
    planted = purify_anchors(values, family=family, source=source, dimension=1)
    owners = leaderboard.models["owner"].to_numpy()
    names = np.unique(owners)
    for _ in range(5):
        shuffled = dict(zip(names, rng.permutation(family[::2]), strict=True))
        permuted = purify_anchors(
            values, family=[shuffled[o] for o in owners], source=source, dimension=1
        )
        assert permuted.selecting.dif_range.mean() < planted.selecting.dif_range.mean()


def test_case_c14_ends_and_says_that_the_set_had_not_settled(case_dir):
    table = pd.read_csv(case_dir / "C14" / "responses.csv", dtype=str)
    families = pd.read_csv(case_dir / "C14" / "families.csv", dtype=str).set_index("model")
    first = table.columns[0]
    values = table.drop(columns=first).to_numpy().T.astype(np.int8)
    family = families.loc[table[first], "family"]
    runs = [
        purify_anchors(values, family=family, source=["all"] * len(values), dimension=1)
        for _ in range(2)
    ]
    assert len(runs[0].rounds) == 4
    assert runs[0].settled in (None, 1, 2)
    assert runs[0].settled == (
        None if runs[0].rounds["jaccard"][2] < 1 else 2 if runs[0].rounds["jaccard"][1] < 1 else 1
    )
    assert np.array_equal(runs[0].subtest.selected, runs[1].subtest.selected)


def test_rounds_below_one_are_refused(leaderboard):
    with pytest.raises(ValueError, match="rounds must be at least 1, got 0"):
        purify_anchors(leaderboard.values, **parts(leaderboard), dimension=1, rounds=0)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(("name", "alpha"), [("1of2", "0.5"), ("3of10", "0.3"), ("7of10", "0.7")])
@pytest.mark.parametrize(("cycles", "tolerance"), [(None, 3e-4), (5, 1e-6)])
def test_worked_audit(reference, half, name, alpha, cycles, tolerance):
    setting = f"{name}_half_even"
    expected = reference.anchors(setting, half)
    done = purify_anchors(
        reference.values(half),
        family=reference.half(half)["family"],
        source=reference.items["source"],
        dimension=2,
        alpha=alpha,
        cycles=cycles,
    )
    assert done.subtest.weights() == [Fraction(text) for text in expected["weight"]]
    assert done.selecting.easiness == pytest.approx(
        expected["b_round3"].astype(float), abs=tolerance
    )
    assert done.selecting.dif_range == pytest.approx(
        expected["D_round3"].astype(float), abs=tolerance
    )
    assert done.signature.easiness == pytest.approx(
        expected["b_final"].astype(float), abs=tolerance
    )
    for column, family in enumerate(done.signature.families):
        delta = expected[f"delta_final_{family}"].astype(float)
        assert done.signature.effects[:, column] == pytest.approx(delta, abs=tolerance)
    summary = reference.json("anchors_summary")[f"{setting}_half{half}"]
    assert done.rounds["jaccard"].tolist()[1:3] == summary["jaccard"][1:]
    assert done.rounds["k"].tolist()[:3] == summary["K_eff"]
    assert done.rounds["n_anchor"].tolist()[:3] == summary["n_selected"]


@pytest.mark.parametrize("half", [0, 1])
def test_real_leaderboard(open_llm, half):
    responses, expected, folder = open_llm
    models = (responses.models["half"] == half).to_numpy(dtype=bool)
    done = purify_anchors(
        responses.values[:, models],
        family=responses.models["family"][models],
        source=responses.items["source"],
        dimension=expected["K"][half],
    )
    table = pd.read_csv(folder / f"expected_anchors_half{half}.csv.gz", dtype=str)
    table = table.set_index("item").loc[responses.items["item"]]
    assert done.subtest.weights() == [Fraction(text) for text in table["weight"]]
    finite = table["b"].astype(float).abs() < 15
    assert done.selecting.easiness[finite] == pytest.approx(
        table["b"][finite].astype(float), abs=1e-6
    )
    assert done.selecting.dif_range == pytest.approx(table["D"].astype(float), abs=1e-6)
    assert done.rounds["jaccard"].tolist()[1:3] == expected["jaccard"][half][1:]
