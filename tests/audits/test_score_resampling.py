"""Errors of a composite's terms: a plain bootstrap, closed forms, and how they enter a score."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from neartie.audits import scorecard_domains
from neartie.audits.score_resampling import ItemTerms, _resamples, spread_of_terms
from neartie.audits.scorecard import make_scorecard
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.data.responses import Responses
from neartie.data.score_inputs import ScoreInputs
from neartie.inference.two_pl_map import fit_two_pl_map

N = 60
ROUNDS = 3000
NONE = np.full(N, np.nan)


@pytest.fixture(scope="module")
def terms():
    rng = np.random.default_rng(4)
    p = rng.uniform(0.2, 0.9, N)
    right = (rng.random(N) < p).astype(float)
    return ItemTerms(
        correct=right,
        confidence=np.where(rng.random(N) < 0.1, np.nan, np.round(np.minimum(p + 0.3, 1), 1)),
        anchor=(np.arange(N) < 12).astype(float),
        share=rng.choice([1 / 3, 2 / 3, 1.0], N),
        influence=(right - p) / 10,
    )


def plain_round(terms, rows, weights):
    """The terms beside accuracy, and the shift of ability, on some items with repeats."""
    x, c, a, s = (getattr(terms, n)[rows] for n in ("correct", "confidence", "anchor", "share"))
    bins = Counter()
    n = 0
    for right, stated in zip(x, c, strict=True):
        if not math.isnan(stated):
            bins[max(0, math.ceil(round(stated * 100) / 10) - 1)] += right - stated
            n += 1
    ece = sum(map(abs, bins.values())) / n
    gap = x[a == 1].mean() - x[a == 0].mean()
    resistance = min(1, max(0, 1 - gap / 0.2))
    value = weights["consistency"] * s.mean() + weights["calibration"] * (1 - ece)
    return value + weights["resistance"] * resistance, terms.influence[rows].sum()


def test_it_is_a_bootstrap_of_items_by_stratum(terms):
    # all models are too sure, so that calibration rises with ability, and resistance falls
    settings = ScoreSettings(calibration_weight=0.6, resistance_weight=0.05, n_resamples=ROUNDS)
    weights = settings.weights
    rng = np.random.default_rng(6)
    old, new = np.arange(12), np.arange(12, N)
    draws = [
        plain_round(terms, np.concatenate([rng.choice(old, 12), rng.choice(new, N - 12)]), weights)
        for _ in range(ROUNDS)
    ]
    plain = np.cov(np.array(draws).T)
    variance, covariance = spread_of_terms(terms, settings, np.random.default_rng(7))
    # Two variances of 3,000 draws: each known to sqrt(2 / 3000), five standard errors of a ratio.
    assert variance / plain[0, 0] == pytest.approx(1, abs=5 * math.sqrt(4 / ROUNDS))
    spread = math.sqrt(plain[0, 0] * plain[1, 1])
    assert covariance == pytest.approx(plain[0, 1], abs=5 * spread * math.sqrt(4 / ROUNDS))
    # the test has something to see
    assert plain[0, 1] > 10 * spread * math.sqrt(4 / ROUNDS)


def test_every_resample_has_as_many_anchors(terms):
    counts = _resamples(terms.anchor, 50, np.random.default_rng(2))
    assert (counts[:, :12].sum(axis=1) == 12).all()
    assert (counts[:, 12:].sum(axis=1) == N - 12).all()
    assert counts.std() > 0


def test_accuracy_against_ability_has_the_closed_form():
    rng = np.random.default_rng(5)
    right = (rng.random(N) < 0.6).astype(float)
    only = ItemTerms(
        correct=NONE, confidence=NONE, anchor=NONE, share=0.5 + 0.5 * right, influence=right
    )
    settings = ScoreSettings(n_resamples=20_000)
    variance, covariance = spread_of_terms(only, settings, rng)
    sd = right.std()
    assert variance == pytest.approx((0.15 * 0.5 * sd) ** 2 / N, rel=0.05)
    assert covariance == pytest.approx(0.15 * 0.5 * sd**2, rel=0.05)


def test_nothing_beside_accuracy_has_no_spread():
    nothing = ItemTerms(
        correct=np.ones(N), confidence=NONE, anchor=NONE, share=NONE, influence=np.ones(N)
    )
    assert spread_of_terms(nothing, ScoreSettings(), np.random.default_rng(1)) == (0, 0)


def test_how_the_spread_enters_a_half_width(score_tables, monkeypatch):
    variance, covariance = 4e-4, 1.5e-3
    monkeypatch.setattr(scorecard_domains, "spread_of_terms", lambda *_: (variance, covariance))
    inputs = ScoreInputs.build(answers=score_tables["answers"], samples=score_tables["samples"])
    rows = make_scorecard(inputs, ScoreSettings(n_resamples=100), rng=1).domains
    for row in rows.to_dict("records"):
        p = row["ability_share"]
        own = 600 * p * (1 - p) * row["se"]
        total = own**2 + 1000**2 * variance + 2 * 600 * p * (1 - p) * 1000 * covariance
        assert row["half_width_all"] == pytest.approx(1.96 * math.sqrt(total))


def test_indices_go_together_as_abilities_do(score_tables):
    answers = score_tables["answers"].drop(columns=["confidence", "anchor"])
    code = answers[answers["domain"] == "code"]
    card = make_scorecard(ScoreInputs.build(answers=code), ScoreSettings(n_resamples=0))
    wide = code.pivot(index="item", columns="model", values="score")
    data = Responses.build(wide.to_numpy(), items=list(wide.index), models=list(wide.columns))
    fit = fit_two_pl_map(data, unit="posterior")
    p = 1 / (1 + np.exp(-fit.ability))
    slope = 1000 * p * (1 - p)
    expected = pd.DataFrame(
        fit.covariance * np.outer(slope, slope), index=fit.models, columns=fit.models
    )
    found = card.covariance.set_index("model")
    np.testing.assert_allclose(
        found, expected.loc[found.index, found.columns], rtol=1e-6, atol=1e-6
    )
