"""Posteriors of published sets, under priors so wide that the likelihood speaks (`pytest -m slow`).

Their means lie near the maximum-likelihood estimates: apart by Monte Carlo error (at most .08
standard errors here, with 150 effective draws), by the skewness of a likelihood of five items, and
by the prior. Half a standard error allows for all three; estimates of another model, or of another
orientation, are several apart.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

from neartie import CaveatWarning, read_responses
from neartie.inference.fit import fit
from neartie.models.priors import TwoPLPriors

pytestmark = pytest.mark.slow
WIDE = TwoPLPriors(difficulty_sd=5.0, log_discrimination_sd=1.5)


def posterior(responses, **arguments):
    with warnings.catch_warnings():
        # A run this short may miss the limits of convergence for a few of a thousand persons.
        warnings.simplefilter("ignore", CaveatWarning)
        return fit(responses, engine="nuts", chains=2, rng=1, **arguments)["posterior"].to_dataset()


@pytest.mark.parametrize("name", ["lsat6", "lsat7"])
def test_lsat_by_maximum_marginal_likelihood(data_dir, name):
    """Slopes and intercepts: own marginal ML in items.csv, which is that of ltm and mirt."""
    folder = data_dir / name
    published = pd.read_csv(folder / "items.csv").set_index("item")
    draws = posterior(
        read_responses(folder / "responses.csv.gz"),
        kind="two-pl",
        options={"priors": WIDE},
        draws=1000,
        tune=1000,
    )
    slope = draws["discrimination"]
    for found, reference in ((slope, "mml_a"), (-slope * draws["difficulty"], "mml_d")):
        mean = found.mean(("chain", "draw")).to_series()
        sd = found.std(("chain", "draw")).to_series()
        apart = (mean - published[reference]) / sd
        assert apart.abs().max() < 0.5, (reference, apart)


def test_lsat6_scale_of_ability(data_dir):
    """One slope for all: mirt has the variance 0.57 (README of the set), a scale of 0.755."""
    draws = posterior(
        read_responses(data_dir / "lsat6" / "responses.csv.gz"),
        kind="two-pl",
        options={"priors": WIDE, "discrimination": "one"},
        draws=1000,
        tune=1000,
    )
    scale = draws["ability_scale"].to_numpy()
    assert scale.mean() == pytest.approx(np.sqrt(0.57), abs=0.5 * scale.std())


def test_a_short_run_suffices_for_the_scale_of_ability(data_dir):
    """Five answers a person: with abilities in place of their standard ones R-hat was 1.18."""
    from arviz_stats import bfmi, rhat

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaveatWarning)
        tree = fit(
            read_responses(data_dir / "lsat6" / "responses.csv.gz"),
            options={"discrimination": "one"},
            chains=2,
            draws=500,
            tune=500,
            rng=1,
        )
    scale = tree["posterior"]["ability_scale"]
    assert float(rhat(tree["posterior"].to_dataset()[["ability_scale"]])["ability_scale"]) < 1.02
    assert float(bfmi(tree)["energy"].min()) > 0.3
    assert float(scale.mean()) == pytest.approx(np.sqrt(0.57), abs=0.5 * float(scale.std()))


def test_verbal_aggression_family_effects(data_dir):
    """Gender effects go with Mantel and Haenszel's odds ratios, matched on the total score.

    Neither estimates the other: effects are shrunken and ability is estimated. But both put the
    items in the same order: women say that they want to more, men that they do.
    """
    folder = data_dir / "verbal_aggression"
    responses = read_responses(
        folder / "responses.csv.gz", items=folder / "items.csv", models=folder / "models.csv"
    )
    draws = posterior(
        responses,
        kind="mirt-dif",
        options={"dimension": 1, "zero_sum": "families_and_items", "family_means": True},
        draws=500,
        tune=700,
    )
    items = responses.items.set_index("item")
    effect = draws["dif"].mean(("chain", "draw"))
    gap = (effect.sel(family="female") - effect.sel(family="male")).to_series()[items.index]
    assert np.corrcoef(gap, np.log(items["mh_alpha"].astype(float)))[0, 1] > 0.9
    assert gap[items["mode"] == "want"].mean() > 0.15
    assert gap[items["mode"] == "do"].mean() < -0.15
