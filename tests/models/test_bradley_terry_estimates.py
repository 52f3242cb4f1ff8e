"""Modes and posterior means of the Bradley–Terry model: published maximum likelihood, cases."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from scipy.optimize import minimize

from neartie.data.battles import Battles
from neartie.data.read_battles import read_battles
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.models.bradley_terry_density import log_density
from neartie.models.bradley_terry_design import design_battles
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.bradley_terry_priors import BradleyTerryPriors
from neartie.models.record import record_of

# Interpreted, so that nothing is compiled.
PLAIN = Mode("py", "fast_compile")


def gradient_at(battles: Battles, strength: np.ndarray, sd: float, **options) -> np.ndarray:
    model = build_bradley_terry(battles, priors=BradleyTerryPriors(strength_sd=sd), **options)
    function = model.compile_fn(model.dlogp(), inputs=model.value_vars, mode=PLAIN)
    (value,) = model.value_vars
    zero_sum = model.rvs_to_transforms[model["strength"]]
    free = zero_sum.forward(pt.as_tensor(strength), *model["strength"].owner.inputs)
    return function({value.name: free.eval(mode=PLAIN)})


def mode_of(battles: Battles) -> np.ndarray:
    """The mode by a general optimiser of the plain twin."""
    design = design_battles(battles)

    def loss(x: np.ndarray) -> float:
        return -log_density({"strength": x - x.mean()}, design) + 0.5 * x.mean() ** 2

    x = minimize(loss, np.zeros(design.n_model), options={"gtol": 1e-8}).x
    return x - x.mean()


def classic(data_dir, name: str) -> Battles:
    table = pd.read_csv(data_dir / "bt_classic" / f"{name}.csv").astype(
        {"model_a": str, "model_b": str}
    )
    return Battles.build(
        [*table["model_a"]] * 2,
        [*table["model_b"]] * 2,
        ["a"] * len(table) + ["b"] * len(table),
        weight=np.concatenate([table["win_a"], table["win_b"]]),
    )


@pytest.fixture
def published(data_dir):
    def battles_of(name: str) -> Battles:
        if name == "llmfao":
            return read_battles(data_dir / "llmfao_crowd" / "battles.csv.gz")
        return classic(data_dir, name)

    return battles_of


@pytest.mark.parametrize("sd", [1.5, 20.0])
@pytest.mark.parametrize("name", ["baseball", "citations", "llmfao"])
def test_mode_is_the_penalised_estimate_and_near_published_ml(published, name, sd):
    battles = published(name)
    fit = fit_bradley_terry(battles, prior_sd=sd)
    # sums of up to 8,931 verdicts: rounding leaves 1e-10 or so
    assert np.abs(gradient_at(battles, fit.strength, sd)).max() < 1e-8
    if sd == 20.0:
        # ML itself is checked against publications elsewhere; the prior moves it by less than
        # 0.0025 logits, about variance times strength over sd squared
        ml = fit_bradley_terry(battles, phantom_wins=0).strength
        assert np.abs(fit.strength - ml).max() < 2.5e-3


def test_case_c23_a_winless_model_is_finite_and_last(case_dir):
    battles = read_battles(case_dir / "C23/battles.json")
    blue, green, red = mode_of(battles)
    assert red > green > blue > -5
    notices = record_of(build_bradley_terry(battles)).notices
    assert any("1 model never wins: 'blue'" in notice for notice in notices)
    assert any("finite only by virtue of the prior" in notice for notice in notices)


def test_case_c25_an_island_changes_no_gap_and_is_marked(case_dir):
    pair = read_battles(case_dir / "C25/pair.json")
    joined = read_battles(case_dir / "C25/with_island.json")
    ash, birch = mode_of(pair)
    four = mode_of(joined)
    assert four[0] - four[1] == pytest.approx(ash - birch, abs=1e-6)
    assert four[2] - four[3] == pytest.approx(0, abs=1e-6)
    model = build_bradley_terry(joined)
    assert model["component"].get_value().tolist() == [0, 0, 1, 1]
    text = " ".join(record_of(model).notices)
    assert "no battle connects the 2 sets 'ash', 'birch'; 'cedar', 'dogwood'" in text
    assert "differences between models of unconnected sets come from the prior alone" in text


@pytest.mark.parametrize("case", ["C26/battles.csv", "C28/battles.json", "C29/battles.json"])
def test_cases_with_ties_and_self_battles_are_modelled(case_dir, case):
    battles = read_battles(case_dir / case)
    fit = fit_bradley_terry(battles, prior_sd=1.5)
    assert mode_of(battles) == pytest.approx(fit.strength, abs=1e-5)
    if case.startswith("C28"):
        assert np.abs(fit.strength).max() < 1e-9
    if case.startswith("C29"):
        record = record_of(build_bradley_terry(battles))
        assert "left out 5 battles of a model with itself" in record.notices


def test_case_c35_the_first_shown_effect_is_told_from_strength(case_dir):
    battles = read_battles(case_dir / "C35/battles.json")
    design = design_battles(battles, first_shown=True)

    def loss(x: np.ndarray) -> float:
        point = {"strength": np.array([x[0], -x[0]]), "first_shown_effect": x[1]}
        return -log_density(point, design)

    half_gap, effect = minimize(loss, np.zeros(2)).x
    assert half_gap == pytest.approx(0, abs=1e-5)
    # ln 9 = 2.197 by ML; the normal prior of sd 1 draws it in
    assert 1.2 < effect < np.log(9)
    notices = record_of(build_bradley_terry(battles, first_shown=True)).notices
    assert any("model_a was taken as such throughout" in notice for notice in notices)


def posterior_of(battles: Battles, **options) -> pd.DataFrame:
    with build_bradley_terry(battles, **options):
        tree = pm.sample(
            draws=1000,
            tune=500,
            chains=2,
            cores=1,
            nuts_sampler="nutpie",
            progressbar=False,
            random_seed=1,
        )
    draws = tree["posterior"]["strength"].to_numpy().reshape(2000, -1)
    return pd.DataFrame(draws, columns=list(battles.models))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["baseball", "citations", "llmfao"])
def test_posterior_means_are_ml_where_likelihood_dominates(published, name):
    """Under sd 20 the prior moves the mode by up to 0.0025; skewness moves means further."""
    battles = published(name)
    draws = posterior_of(battles, priors=BradleyTerryPriors(strength_sd=20.0))
    ml = fit_bradley_terry(battles, phantom_wins=0)
    shift = (draws.mean().to_numpy() - ml.strength) / ml.se
    # 2,000 draws of about as many effective ones: a mean errs by 0.022 sd, four times that is
    # 0.09 (false alarm 1 in 16,000 a model); skewness of 20 to 80 battles a pair adds up to 0.1
    assert np.abs(shift).max() < 0.2
    ratio = draws.std().to_numpy() / ml.se
    assert np.abs(ratio - 1).max() < 0.12
