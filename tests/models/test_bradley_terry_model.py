"""The PyMC Bradley–Terry model: its plain twin, laws, labels, refusals."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytensor.compile.mode import Mode

from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.models.bradley_terry_density import log_density, log_prior, row_log_likelihood
from neartie.models.bradley_terry_design import design_battles
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.bradley_terry_priors import BradleyTerryPriors
from neartie.models.record import record_of

# Interpreted, so that nothing is compiled.
PLAIN = Mode("py", "fast_compile")
SIZES = pd.DataFrame({"model": [f"m{i}" for i in range(6)], "size": [1.0, 7, 2, 3, 5, 4]})


def columns(seed: int, *, n: int = 5, battles: int = 60) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    a = rng.integers(n, size=battles)
    b = (a + rng.integers(1, n, size=battles)) % n
    return {
        "model_a": [f"m{i}" for i in a],
        "model_b": [f"m{i}" for i in b],
        "winner": rng.choice(["a", "b", "tie"], size=battles).tolist(),
        "judge": [f"j{i}" if i else "" for i in rng.integers(4, size=battles)],
        "first_shown": rng.choice(["a", "b", ""], size=battles).tolist(),
        "weight": rng.choice([0.5, 1.0, 2.0], size=battles).tolist(),
    }


def swapped(table: dict[str, list]) -> dict[str, list]:
    turn = {"a": "b", "b": "a"}
    return table | {
        "model_a": table["model_b"],
        "model_b": table["model_a"],
        "winner": [turn.get(w, w) for w in table["winner"]],
        "first_shown": [turn.get(w, w) for w in table["first_shown"]],
    }


def halved(table: dict[str, list]) -> dict[str, list]:
    twice = {name: values * 2 for name, values in table.items()}
    return twice | {"weight": [0.5 * w for w in twice["weight"]]}


OPTIONS = [
    {},
    {"ties": "davidson"},
    {"ties": "rao-kupper"},
    {"first_shown": True, "hierarchical": True},
    {"judge_effects": True},
    {"covariates": SIZES},
    {"covariates": SIZES, "hierarchical": True, "ties": "rao-kupper", "judge_effects": True},
    {"ties": "davidson", "first_shown": True, "judge_effects": True},
]
every_model = pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options))


def design_of(battles: Battles, options: dict):
    named = ("first_shown", "judge_effects", "covariates")
    return design_battles(battles, **{k: v for k, v in options.items() if k in named})


def random_point(design, options: dict, rng: np.random.Generator) -> dict[str, np.ndarray]:
    n, j = design.n_model, len(design.judges)
    zero_sum = rng.normal(size=n)
    point = {"residual_strength" if design.covariates else "strength": zero_sum - zero_sum.mean()}
    if options.get("hierarchical"):
        point["strength_scale"] = rng.exponential()
    if design.covariates:
        point["covariate_effect"] = rng.normal(size=len(design.covariates))
    if options.get("ties", "half") != "half":
        point["log_tie"] = rng.exponential()
    if options.get("first_shown"):
        point["first_shown_effect"] = rng.normal()
        if j:
            point["judge_first_shown_scale"] = rng.exponential()
            point["judge_first_shown_z"] = rng.normal(size=j)
    if j:
        z = rng.normal(size=(j, n))
        point["judge_strength_scale"] = rng.exponential()
        point["judge_effect_z"] = z - z.mean(axis=1, keepdims=True)
    return point


def unconstrained(model: pm.Model, point: dict) -> dict[str, np.ndarray]:
    values = {}
    for rv in model.free_RVs:
        value = np.asarray(point[rv.name], dtype=np.float64)
        transform = model.rvs_to_transforms[rv]
        if transform is not None:
            value = transform.forward(pt.as_tensor(value), *rv.owner.inputs).eval(mode=PLAIN)
        values[model.rvs_to_values[rv].name] = value
    return values


# The twin


@every_model
def test_model_and_twin_have_one_density(options):
    battles = Battles.build(**columns(1))
    model, design = build_bradley_terry(battles, **options), design_of(battles, options)
    ties = options.get("ties", "half")
    function = model.compile_fn(
        [model.logp(jacobian=False), model.logp(model["outcome"], sum=False)[0]],
        inputs=model.value_vars,
        mode=PLAIN,
    )
    rng, lacking = np.random.default_rng(2), []
    for _ in range(3):
        point = random_point(design, options, rng)
        total, rows = function(unconstrained(model, point))
        assert rows == pytest.approx(row_log_likelihood(point, design, ties=ties), abs=1e-10)
        lacking.append(total - log_density(point, design, ties=ties))
    # PyMC has the zero-sum prior's constant, log of the root of 2 pi, in single precision
    assert lacking[0] == pytest.approx(0, abs=1e-6)
    assert lacking[1:] == pytest.approx([lacking[0]] * 2, abs=1e-9)
    assert {rv.name for rv in model.free_RVs} == set(point)


def test_the_prior_objects_own_scales_are_used():
    battles = Battles.build(**columns(1))
    options = {"ties": "davidson", "first_shown": True, "judge_effects": True}
    options |= {"covariates": SIZES, "hierarchical": True}
    values = {name: 0.1 * k + 0.3 for k, name in enumerate(BradleyTerryPriors().to_dict())}
    priors = BradleyTerryPriors(**values)
    model, design = (
        build_bradley_terry(battles, priors=priors, **options),
        design_of(battles, options),
    )
    point = random_point(design, options, np.random.default_rng(3))
    function = model.compile_fn(
        model.varlogp_nojac, inputs=model.value_vars, mode=PLAIN, on_unused_input="ignore"
    )
    found = function(unconstrained(model, point))
    assert found == pytest.approx(
        log_prior(point, design, ties="davidson", priors=priors), abs=1e-9
    )
    assert record_of(model).priors == values


# Laws


@every_model
@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_swapped_sides_and_split_weights_change_nothing(options, seed):
    table = columns(seed)
    rng = np.random.default_rng(seed)
    design = design_of(Battles.build(**table), options)
    point, ties = random_point(design, options, rng), options.get("ties", "half")
    expected = log_density(point, design, ties=ties)
    for other in (swapped(table), halved(table)):
        found = log_density(point, design_of(Battles.build(**other), options), ties=ties)
        assert found == pytest.approx(expected, abs=1e-9)


@every_model
def test_row_order_changes_no_bit_and_spelling_moves_names_only(options):
    table = columns(4)
    order = np.random.default_rng(1).permutation(60)
    one = design_of(Battles.build(**table), options)
    two = design_of(
        Battles.build(**{name: [values[i] for i in order] for name, values in table.items()}),
        options,
    )
    for name in ("first", "second", "shown", "judge", "outcome", "values"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    if "covariates" in options:
        return
    turn = {f"m{i}": f"m{4 - i}" for i in range(5)}
    renamed = table | {k: [turn[m] for m in table[k]] for k in ("model_a", "model_b")}
    other = design_of(Battles.build(**renamed), options)
    point, ties = random_point(one, options, np.random.default_rng(2)), options.get("ties", "half")
    backward = {
        name: value[..., ::-1] if name in ("strength", "judge_effect_z") else value
        for name, value in point.items()
    }
    assert log_density(backward, other, ties=ties) == pytest.approx(
        log_density(point, one, ties=ties), abs=1e-9
    )


def test_covariates_have_mean_0_and_sd_1_whatever_their_unit():
    battles = Battles.build(**columns(1))
    one = design_battles(battles, covariates=SIZES).values
    other = design_battles(battles, covariates=SIZES.assign(size=3 * SIZES["size"] - 7)).values
    assert one == pytest.approx(other)
    assert (one.mean(), one.std()) == pytest.approx((0, 1), abs=1e-12)


# Labels, prediction, refusals


def test_dims_and_coords_are_the_users_own():
    battles = Battles.build(**columns(1))
    model = build_bradley_terry(
        battles, ties="davidson", first_shown=True, judge_effects=True, covariates=SIZES
    )
    assert model.coords["model"] == battles.models
    assert model.coords["judge"] == ("j1", "j2", "j3")
    assert model.coords["covariate"] == ("size",)
    dims = {name: tuple(map(str, dims)) for name, dims in model.named_vars_to_dims.items()}
    assert dims["strength"] == ("model",)
    assert dims["judge_effect"] == ("judge", "model")
    assert dims["judge_first_shown"] == ("judge",)
    assert dims["outcome"] == ("pair", "result")
    record = record_of(model)
    assert (record.kind, record.ranking) == ("bradley-terry", "strength")
    assert set(record.diagnosed) <= set(model.named_vars)
    assert any(
        "without a judge: they are taken as decided by the mean" in n for n in record.notices
    )


def test_a_million_battles_are_a_few_rows():
    battles = Battles.build(
        ["p", "q", "q"], ["q", "p", "r"], ["a", "a", "tie"], weight=[5e5, 4e5, 1e5]
    )
    model = build_bradley_terry(battles)
    assert model["outcome"].eval(mode=PLAIN).shape == (2, 3)


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_new_battles_are_as_many_as_those_at_hand(ties):
    battles = Battles.build(["p", "q"], ["q", "r"], ["a", "tie"], weight=[30, 50])
    with build_bradley_terry(battles, ties=ties) as model:
        draws = pm.draw(model["outcome"], 40, random_seed=1, mode=PLAIN)
    assert (draws.sum(axis=-1) == [30, 50]).all()
    assert draws[..., 2].any() == (ties != "half")
    assert draws[..., 0].std() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judge_effects": True}, "no battle names its judge"),
        ({"covariates": SIZES[1:]}, "1 model without covariates: 'm0'"),
        ({"covariates": SIZES.assign(size=2)}, "'size' is the same for all models"),
        ({"covariates": SIZES.assign(size="big")}, "'size' is not numeric"),
        ({"covariates": SIZES.assign(size=np.nan)}, "'size' of model 'm0' is nan"),
        ({"covariates": SIZES[["model"]]}, "no column besides 'model'"),
        ({"covariates": SIZES[["size"]]}, "need a column 'model'"),
        ({"covariates": pd.concat([SIZES, SIZES])}, "'m0' stands more than once"),
    ],
)
def test_what_cannot_be_modelled_is_refused(options, message):
    table = columns(1)
    del table["judge"]
    with pytest.raises(DataError, match=message):
        build_bradley_terry(Battles.build(**table), **options)


def test_unknown_tie_models_and_priors_are_refused():
    battles = Battles.build(["p"], ["q"], ["a"])
    with pytest.raises(ValueError, match="ties must be one of half, davidson, rao-kupper, got 'n"):
        build_bradley_terry(battles, ties="none")
    with pytest.raises(ValueError, match="log_tie_sd must be a positive finite number, got -1"):
        BradleyTerryPriors(log_tie_sd=-1)
