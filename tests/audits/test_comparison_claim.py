"""What may be claimed, and how pairs read, from tables made by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from neartie.audits.comparison import Comparison
from neartie.audits.comparison_claim import difference_words
from neartie.audits.comparison_pairs import read_pairs
from neartie.audits.comparison_rows import verdict
from neartie.audits.comparison_settings import ComparisonSettings

NAN = float("nan")


def row(rung, anchors, scores, rate, limits=(NAN, NAN), *, excess=5.0, p_value=NAN, within=NAN):
    difference = rate - 0.46
    made = {
        "rung": rung,
        "anchors": anchors,
        "scores": scores,
        "reversal_rate": rate,
        "low": limits[0],
        "high": limits[1],
        "difference": difference,
        "difference_low": limits[0] - 0.46,
        "difference_high": limits[1] - 0.46,
        "p_within_2pp": within,
        "excess_pp": excess,
        "excess_low": NAN if np.isnan(limits[0]) else excess - 2,
        "excess_high": NAN if np.isnan(limits[0]) else excess + 2,
        "p_value": p_value,
        "rate_r_hat": NAN,
        "rate_ess_bulk": NAN,
    }
    return made | {"verdict": verdict(made, ComparisonSettings())}


def compared(*, converged=("yes", "yes"), headline=("draws", "latent"), rung="full", n=4):
    """A plug-in of 46 %, random 36 %, and one rung."""
    band = {"rate": 0.46, "random_median": 0.36, "excess_pp": 10.0, "p_value": 0.001}
    ladder = pd.DataFrame(
        [
            row("plug-in", "plug-in", "observed", 0.46, p_value=0.001, excess=10.0),
            row(rung, "draws", "observed", 0.37, (0.33, 0.41), within=0.0),
            row(rung, "mean", "observed", 0.40, p_value=0.2),
            row(rung, "plug-in", "latent", 0.455, (0.45, 0.46), within=0.99),
            row(rung, "draws", "latent", 0.44, (0.39, 0.48), within=0.4, excess=-1.0),
        ]
    )
    reversal = np.array([0.99, 0.02, 0.97, 0.5][:n])
    pairs = pd.DataFrame(
        {
            "model_a": list("abcd")[:n],
            "model_b": list("efgh")[:n],
            "half": 0,
            "gap_full": [0.01, -0.01, 0.005, 0.002][:n],
            "plugin_reversed": [1.0, 1.0, NAN, 0.0][:n],
        }
    )
    cell = pairs[["model_a", "model_b", "half"]].assign(
        rung=rung, anchors=headline[0], scores=headline[1], reversal=reversal,
        a_above_b_full=0.7, a_above_b_anchor=0.2,
    )  # fmt: skip
    return Comparison(
        audit=SimpleNamespace(band=lambda: band, n_eligible=216),
        ladder=ladder,
        rungs=pd.DataFrame({"rung": rung, "half": [0, 1], "converged": list(converged)}),
        pairs=pairs,
        pair_probabilities=cell,
        calibration=pd.DataFrame(),
        anchors=pd.DataFrame(),
        settings=ComparisonSettings(rungs=(rung,), headline=headline),
        seed=1,
        versions={},
        warnings=(),
    )


def test_the_claim_holds_the_cells_that_matter_and_no_more():
    said = compared().claim()
    assert said == (
        "The cross-fitted plug-in reverses 46.0 % of 216 near ties, 10.0 points more than matched "
        "random subtests (36.0 %, p = 0.001). The full posterior: on the same answers its own "
        "anchors, draw by draw, reverse 37.0 % (33.0 to 41.0 %; 9.0 points lower than the plug-in; "
        "+5.0 over random, +3.0 to +7.0); the anchors of its mean effects reverse 40.0 % (+5.0 over "
        "random, p = 0.2). In expected scores, without the noise of answers, the plug-in's anchors "
        "reverse 45.5 % (45.0 to 46.0 %; +5.0 over random, +3.0 to +7.0); its own anchors, draw by "
        "draw, reverse 44.0 % (39.0 to 48.0 %; −1.0 over random, −3.0 to +1.0). Its fits of both "
        "halves converged."
    )


def test_a_headline_among_them_is_not_said_twice():
    said = compared(headline=("draws", "observed")).claim()
    assert said.count("37.0 %") == 1
    assert "44.0 %" not in said


@pytest.mark.parametrize(
    ("rung", "converged", "doubt"),
    [
        ("full", ("yes", "no"), "not converged, so that this may not be claimed yet"),
        ("full", ("not assessed",) * 2, "convergence not assessed, so that this may not"),
        ("laplace", ("not assessed",) * 2, "an approximation, whose error no convergence shows"),
        ("laplace", ("no", "not assessed"), "not converged"),
    ],
)
def test_what_stands_against_a_claim_is_said_before_it(rung, converged, doubt):
    said = compared(rung=rung, converged=converged).claim()
    assert doubt in said
    assert said.index(doubt) < said.index("on the same answers")
    assert "Its fits of both halves converged" not in said


@pytest.mark.parametrize(
    ("r_hat", "said"),
    [
        (
            1.004,
            "though its chains agree on all rates of the ladder, with an R-hat of at most 1.004 and",
        ),
        (1.2, "claimed yet; of the rates too, the largest R-hat is 1.20"),
    ],
)
def test_chains_may_agree_on_rates_and_not_on_all_parameters(r_hat, said):
    made = compared(converged=("no", "no"))
    made.ladder.loc[made.ladder["rung"] == "full", ["rate_r_hat", "rate_ess_bulk"]] = r_hat, 312.4
    assert said in made.claim()


def test_differences_have_a_direction():
    assert difference_words({"verdict": "differs", "difference": 0.031}, 0.02) == (
        "3.1 points higher than the plug-in"
    )
    row = {"verdict": "no interval", "difference": 0.1, "difference_low": NAN}
    assert difference_words(row, 0.02) == ""


def test_pairs_that_contradict_come_first_and_ties_contradict_nothing():
    table = read_pairs(compared())
    assert table["model_a"].tolist() == ["b", "a", "c", "d"]
    assert table["reading"].tolist() == [
        "contradicts",
        "sure to reverse",
        "sure to reverse",
        "open",
    ]
    assert table.loc[0, ["a_above_b_full", "a_above_b_anchor"]].tolist() == [0.7, 0.2]


def test_unknown_rungs_are_refused():
    with pytest.raises(ValueError, match="rung must be one of plug-in, full, got 'advi'"):
        read_pairs(compared(), "advi")
    # the plug-in has no row of the headline cell here
    assert read_pairs(compared(), "plug-in").empty
