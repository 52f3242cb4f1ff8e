"""Truths have the distribution of the PyMC model's prior, and data the shape of its data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytensor.tensor as pt
import pytest
from scipy import stats

from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference.flat_model import observed_arrays
from neartie.inference.prior_draws import draw_prior
from neartie.inference.truths import truths_of
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.priors import ResidualDifPriors, TwoPLPriors
from neartie.models.residual_dif_model import build_residual_dif
from neartie.models.two_pl import build_two_pl

N_DRAW = 400
# Of some 60 comparisons: all hold with probability .994 where the distributions are equal.
P = 1e-4


def answers(*, gap: bool = False) -> Responses:
    values = np.indices((4, 6)).sum(axis=0).astype(np.int8) % 2
    if gap:
        values[1, 2] = -1
    table = pd.DataFrame({"model": list("abcdef"), "family": ["Ash", "Birch", "Cedar"] * 2})
    return Responses.build(values, items=["q1", "q2", "q3", "q4"], models=table)


def fights() -> Battles:
    first, second = [*"aabb"] * 3, [*"bccd"] * 3
    return Battles.build(
        first,
        second,
        ["a", "b", "tie"] * 4,
        judge=["x", "y", ""] * 4,
        first_shown=["a", "b"] * 6,
    )


def covariates() -> pd.DataFrame:
    return pd.DataFrame({"model": list("abcd"), "size": [1.0, 2.0, 4.0, 9.0]})


def mirt(**options):
    return build_mirt_dif(answers(gap=True), dimension=2, **options)


def residual(**options):
    priors = ResidualDifPriors(easiness_sd=1.2, easiness_mean=0.5)
    return build_residual_dif(answers(), np.ones((4, 6)), priors=priors, **options)


MODELS = {
    "2PL": lambda: build_two_pl(answers(gap=True), priors=TwoPLPriors(log_discrimination_mean=1.0)),
    "2PL, scales and means": lambda: build_two_pl(
        answers(),
        hierarchical=True,
        family_means=True,
        priors=TwoPLPriors(log_discrimination_mean=1.0, ability_sd=2.0),
    ),
    "1PL": lambda: build_two_pl(answers(), discrimination="one", hierarchical=True),
    "signed": lambda: build_two_pl(answers(), discrimination="signed"),
    "MIRT": lambda: mirt(family_means=True),
    "MIRT, sums over items": lambda: mirt(zero_sum="families_and_items"),
    "MIRT, sparse": lambda: mirt(sparse=True),
    "MIRT, sparse, sums over items": lambda: mirt(sparse=True, zero_sum="families_and_items"),
    "residual": residual,
    "residual, scale": lambda: residual(hierarchical=True, zero_sum="families_and_items"),
    "residual, sparse": lambda: residual(sparse=True),
    "BT": lambda: build_bradley_terry(fights(), hierarchical=True, covariates=covariates()),
    "BT, all": lambda: build_bradley_terry(
        fights(), ties="davidson", first_shown=True, judge_effects=True
    ),
    "BT, Rao-Kupper": lambda: build_bradley_terry(fights(), ties="rao-kupper", judge_effects=True),
}


@pytest.mark.parametrize("name", MODELS)
def test_truths_are_draws_from_the_prior_of_the_model(name):
    model, rng = MODELS[name](), np.random.default_rng(3)
    truths = truths_of(model)
    drawn = [truths.draw(rng) for _ in range(N_DRAW)]
    prior = draw_prior(model, draws=N_DRAW, rng=4)["prior"].to_dataset()
    for variable, first in drawn[0].items():
        own = np.array([np.ravel(truth[variable]) for truth in drawn])
        other = prior[variable].to_numpy()[0].reshape(N_DRAW, -1)
        assert own.shape == other.shape == (N_DRAW, first.size)
        for place in {0, first.size - 1}:
            assert stats.ks_2samp(own[:, place], other[:, place]).pvalue > P, variable
        sums = own.sum(axis=1), other.sum(axis=1)
        if np.ptp(sums[0]) > 1e-9:
            assert stats.ks_2samp(*sums).pvalue > P, f"sum of {variable}"


@pytest.mark.parametrize("name", MODELS)
def test_data_have_the_shape_of_the_model_and_a_finite_likelihood(name):
    model, rng = MODELS[name](), np.random.default_rng(5)
    truths = truths_of(model)
    truth = truths.draw(rng)
    data = truths.data(truth, rng)
    for variable, own in observed_arrays(model).items():
        assert data[variable].shape == own.shape
        if variable == "outcome":
            assert (data[variable].sum(axis=1) == own.sum(axis=1)).all()
    found = truths.quantities({name: value[None] for name, value in truth.items()}, data)
    assert np.isfinite(found["log_likelihood"]).all()
    assert found[truths.ranking].shape == (1, len(model.coords["model"]))


@pytest.mark.parametrize("name", ["2PL", "MIRT", "BT, all"])
def test_log_likelihood_is_that_of_the_model(name):
    """Up to a constant: that of two truths, given the same data, differs as the model says."""
    model, rng = MODELS[name](), np.random.default_rng(6)
    truths = truths_of(model)
    both = [truths.draw(rng) for _ in range(2)]
    data = {variable: own.astype(float) for variable, own in observed_arrays(model).items()}
    own = [
        float(truths.quantities({n: v[None] for n, v in truth.items()}, data)["log_likelihood"][0])
        for truth in both
    ]
    (observed,) = model.observed_RVs
    likelihood = model.compile_logp(vars=[observed])
    assert own[0] - own[1] == pytest.approx(
        float(likelihood(point(model, both[0]))) - float(likelihood(point(model, both[1]))),
        abs=1e-8,
    )


def point(model, truth):
    """Return PyMC's unconstrained point of a truth."""
    known = {**truth}
    if "dif_scale" in known:
        known["dif_standard"] = known["dif"] / known["dif_scale"]
    if "judge_effect" in known:
        known["judge_effect_z"] = known["judge_effect"] / known["judge_strength_scale"]
    if "judge_first_shown" in known:
        own = known["judge_first_shown"] - known["first_shown_effect"]
        known["judge_first_shown_z"] = own / known["judge_first_shown_scale"]
    values = {}
    for variable in model.free_RVs:
        value = np.asarray(known.get(variable.name, 0.0) + np.zeros(variable.shape.eval()))
        transform = model.rvs_to_transforms[variable]
        if transform is not None:
            value = transform.forward(pt.as_tensor(value), *variable.owner.inputs).eval()
        values[model.rvs_to_values[variable].name] = value
    return values


def test_other_priors_of_truths_are_taken():
    truths = truths_of(MODELS["2PL"](), priors={"ability_sd": 50.0})
    ability = np.array([truths.draw(np.random.default_rng(k))["ability"] for k in range(200)])
    assert ability.std() == pytest.approx(50.0, rel=0.1)


@pytest.mark.parametrize("name", ["MIRT", "residual", "MIRT, sums over items"])
def test_effects_are_planted_on_a_share_of_the_items(name):
    truths = truths_of(MODELS[name](), priors={"dif_share": 0.5, "dif_effect": 3.0})
    truth = truths.draw(np.random.default_rng(7))
    assert "dif_scale" not in truth
    assert truth["dif"].sum(axis=1) == pytest.approx(np.zeros(4), abs=1e-12)
    if name != "MIRT, sums over items":
        assert np.sort(np.ptp(truth["dif"], axis=1)) == pytest.approx([0, 0, 3, 3])


def test_what_cannot_be_drawn_is_said():
    flat = build_residual_dif(answers(), np.zeros((4, 6)))
    with pytest.raises(DataError, match=r"flat, so that no truth can be drawn.*easiness_sd=1\.5"):
        truths_of(flat)
    assert truths_of(flat, priors={"easiness_sd": 1.5}).draw(np.random.default_rng(1))
    uneven = Battles.build(["a", "b"], ["b", "c"], ["a", "a"], weight=[0.5, 1.0])
    with pytest.raises(DataError, match="no whole numbers"):
        truths_of(build_bradley_terry(uneven))
