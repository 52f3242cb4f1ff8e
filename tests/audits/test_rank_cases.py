"""Ranks of the cases with known answers: copies, ties, islands, winless models."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.audits.ranks import rank_models
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.read_battles import read_battles
from neartie.inference.bradley_terry import fit_bradley_terry


def test_two_copies_share_a_rank(case_dir):
    battles = pd.DataFrame(json.loads((case_dir / "C31" / "battles.json").read_text()))
    data = Battles.build(battles["model_a"], battles["model_b"], battles["winner"])
    table = rank_models(fit_bradley_terry(data, phantom_wins=0), rng=1).ranks.set_index("model")
    assert table["rank"].to_dict() == {"xeno": 1, "yarrow": 1, "base": 3}
    assert table["tier"].nunique() == 1


def test_nothing_but_ties_is_one_rank(case_dir):
    battles = pd.DataFrame(json.loads((case_dir / "C28" / "battles.json").read_text()))
    data = Battles.build(battles["model_a"], battles["model_b"], battles["winner"])
    table = rank_models(fit_bradley_terry(data, phantom_wins=0), rng=1).ranks
    assert (table["rank"] == 1).all()
    assert (table["rank_set_low"] == 1).all()
    assert (table["rank_set_high"] == 3).all()


def test_two_models_overlap(case_dir):
    battles = pd.DataFrame(json.loads((case_dir / "C34" / "battles.json").read_text()))
    data = Battles.build(battles["model_a"], battles["model_b"], battles["winner"])
    found = rank_models(fit_bradley_terry(data, phantom_wins=0), rng=1)
    for kind in ("rank", "rank_set"):
        assert found.ranks[[f"{kind}_low", f"{kind}_high"]].to_numpy().tolist() == [[1, 2]] * 2
    pair = found.pair("moss", "fern")
    assert [pair["low"], pair["high"]] == pytest.approx([-0.3669, 1.9887], abs=1e-4)
    assert pair["resolved"] == 0


def test_no_claim_across_connected_sets(case_dir):
    battles = pd.DataFrame(json.loads((case_dir / "C25" / "with_island.json").read_text()))
    data = Battles.build(battles["model_a"], battles["model_b"], battles["winner"])
    found = rank_models(fit_bradley_terry(data, phantom_wins=0), rng=1)
    assert found.n_components == 2
    assert found.pair("ash", "birch")["difference"] == pytest.approx(0.47, abs=1e-4)
    assert found.pair("cedar", "dogwood")["difference"] == pytest.approx(0, abs=1e-6)
    across = found.pair("ash", "cedar")
    assert across["identified"] == 0
    assert np.isnan(across["p_above"])
    assert found.ranks["rank"].max() == 2
    assert np.isnan(found.grid().loc["ash", "cedar"])
    assert any("nothing connects" in warning for warning in found.warnings)
    assert found.to_dict()["best"] is None


def test_equal_scores_share_a_rank_whatever_the_order(case_dir):
    # C20: 81, 80, 80, 69, 70 of 100
    share = np.array([81, 80, 80, 69, 70]) / 100
    names = ["p1", "p2", "p3", "p4", "p5"]
    covariance = np.diag(share * (1 - share) / 100)
    for order in (range(5), (4, 2, 0, 3, 1)):
        place = list(order)
        found = rank_models(
            share[place],
            models=[names[m] for m in place],
            covariance=covariance[np.ix_(place, place)],
            rng=1,
        )
        assert dict(zip(found.ranks["model"], found.ranks["rank"], strict=True)) == {
            "p1": 1, "p2": 2, "p3": 2, "p5": 4, "p4": 5,
        }  # fmt: skip


def test_case_c23_what_is_left_without_an_infinite_strength_is_ranked(case_dir):
    """Red and green met only each other and the winless blue: ln(9/3) apart by maximum likelihood."""
    battles = read_battles(case_dir / "C23" / "battles.json")
    with pytest.warns(CaveatWarning, match="infinite"):
        fit = fit_bradley_terry(battles, phantom_wins=0)
    with pytest.raises(DataError, match="the strength of 'blue' is infinite"):
        rank_models(fit, rng=1)
    ranking = rank_models(fit, among=["green", "red"], rng=1)
    pair = ranking.pair("red", "green")
    assert pair["difference"] == pytest.approx(np.log(3))
    assert pair["se"] == pytest.approx(np.sqrt(1 / 9 + 1 / 3))
    with pytest.raises(DataError, match="the strength of 'blue' is infinite"):
        rank_models(fit, among=["blue", "red"], rng=1)
