"""Bradley–Terry fits in the cases from public reports."""

import numpy as np
import pandas as pd
import pytest

from neartie.data.errors import CaveatWarning, DataError
from neartie.data.read_battles import read_battles
from neartie.inference.bradley_terry import fit_bradley_terry


def case(case_dir, name, **options):
    return fit_bradley_terry(read_battles(case_dir / name), **options)


def test_case_c22_listing_the_winner_first_changes_nothing(case_dir):
    first = case(case_dir, "C22/battles_first.json", phantom_wins=0)
    mixed = case(case_dir, "C22/battles_mixed.json", phantom_wins=0)
    assert first.strength.round(4).tolist() == [0.8681, 0.0303, -0.8983]
    pd.testing.assert_frame_equal(first.table(), mixed.table(), check_exact=True)


def test_case_c23_a_winless_model_harms_nobody(case_dir):
    with pytest.warns(CaveatWarning, match="1 model never wins: 'blue'.*use phantom wins"):
        fit = case(case_dir, "C23/battles.json", phantom_wins=0)
    table = fit.table().set_index("model")
    assert table["strength"]["blue"] == -np.inf
    assert fit.difference("red", "green").estimate == pytest.approx(np.log(3), abs=1e-10)
    assert fit.difference("blue", "green").estimate == -np.inf
    assert not table.isna().to_numpy().any()
    assert not fit.standardised()["strength"].isna().any()
    for options in ({}, {"prior_sd": 2.0}):
        blue, green, red = case(case_dir, "C23/battles.json", **options).strength
        assert np.isfinite([blue, green, red]).all()
        assert red > green > blue
    assert any(
        "finite only by virtue" in text for text in case(case_dir, "C23/battles.json").notices
    )


@pytest.mark.parametrize("name", ["pair", "with_island"])
def test_case_c25_unrelated_models_change_nothing(case_dir, name):
    fit = case(case_dir, f"C25/{name}.json", phantom_wins=0)
    gap = fit.difference("ash", "birch")
    assert gap.estimate == pytest.approx(np.log(8 / 5), abs=1e-10)
    assert gap.se == pytest.approx(np.sqrt(1 / 8 + 1 / 5), abs=1e-10)
    damped = case(case_dir, f"C25/{name}.json").difference("ash", "birch").estimate
    assert damped == pytest.approx(np.log(8.1 / 5.1), abs=1e-10)
    if name == "with_island":
        assert fit.difference("cedar", "dogwood").estimate == 0
        with pytest.raises(DataError, match="'ash' and 'cedar' cannot be compared: no chain"):
            fit.difference("ash", "cedar")


def test_case_c26_ties_as_half_wins(case_dir):
    fit = case(case_dir, "C26/battles.csv", phantom_wins=0)
    assert fit.difference("kea", "base").estimate == pytest.approx(np.log(0.4 / 0.6), abs=1e-10)
    assert fit.difference("lory", "base").estimate == pytest.approx(0, abs=1e-10)


def test_case_c28_nothing_but_ties(case_dir):
    fit = case(case_dir, "C28/battles.json", phantom_wins=0)
    assert np.abs(fit.strength).max() < 1e-6
    assert np.isfinite(fit.table()[["low", "high"]]).all(axis=None)
    assert fit.difference("s", "t").win_probability == pytest.approx(0.5)
    for ties in ("davidson", "rao-kupper"):
        with pytest.raises(DataError, match=f"'{ties}' has no finite estimate: every battle is a"):
            case(case_dir, "C28/battles.json", ties=ties)


def test_case_c29_self_battles_do_not_count(case_dir):
    fit = case(case_dir, "C29/battles.json", phantom_wins=0)
    found = dict(zip(fit.models, fit.strength.round(4), strict=True))
    assert found == {"owl": 0.5101, "jay": -0.1277, "wren": -0.3824}
    assert "left out 5 battles of a model with itself" in fit.notices


def test_case_c31_equal_records_are_equal(case_dir):
    fit = case(case_dir, "C31/battles.json", phantom_wins=0)
    for model in ("xeno", "yarrow"):
        gap = fit.difference(model, "base")
        assert gap.estimate == pytest.approx(np.log(24 / 16), abs=1e-10)
        assert gap.se == pytest.approx(np.sqrt(1 / 24 + 1 / 16), abs=1e-10)
    twins = fit.difference("xeno", "yarrow")
    assert twins.estimate == pytest.approx(0, abs=1e-12)
    assert round(twins.se, 4) == 0.4564


def test_case_c32_mm_and_direct_ml_agree(case_dir):
    expected = [1.1861, 0.3692, -0.0, -0.3692, -1.1861]
    for engine in ("mm", "newton"):
        fit = case(case_dir, "C32/battles.json", engine=engine, phantom_wins=0)
        assert fit.strength == pytest.approx(expected, abs=5.1e-5)
    shrunk = case(case_dir, "C32/battles.json", prior_sd=1.0).strength
    assert (np.diff(shrunk) < 0).all()
    assert shrunk[0] < 1.1861


def test_case_c34_two_models(case_dir):
    fit = case(case_dir, "C34/battles.json", phantom_wins=0)
    gap = fit.difference("moss", "fern")
    found = [gap.estimate, gap.se, gap.low, gap.high, gap.win_probability]
    assert np.round(found, 4).tolist() == [0.8109, 0.6009, -0.3669, 1.9887, 0.6923]
    assert fit.strength.round(4).tolist() == [-0.4055, 0.4055]


def test_case_c35_the_first_shown_effect(case_dir):
    fit = case(case_dir, "C35/battles.json", first_shown=True)
    assert fit.difference("calm", "loud").estimate == pytest.approx(0, abs=1e-10)
    (row,) = fit.parameters.to_dict("records")
    assert row["parameter"] == "first_shown"
    assert row["estimate"] == pytest.approx(np.log(9), abs=1e-9)


def test_case_c82(case_dir):
    fit = case(case_dir, "C82/battles.csv", phantom_wins=0)
    assert round(fit.difference("a", "b").estimate, 4) == 0.8473
