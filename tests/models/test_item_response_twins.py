"""The PyMC item-response models say what their plain densities say, for every option."""

import itertools

import numpy as np
import pandas as pd
import pytensor.tensor as pt
import pytest

from neartie.data.responses import Responses
from neartie.models.mirt_dif_density import mirt_dif_log_density
from neartie.models.priors import MirtDifPriors, ResidualDifPriors, TwoPLPriors
from neartie.models.residual_dif_density import residual_dif_log_density
from neartie.models.two_pl_density import two_pl_log_density

N_ITEM, N_MODEL = 4, 6
FAMILIES = ("Ash", "Birch", "Cedar")
FAMILY = np.array([0, 1, 2, 0, 1, 0])
SETTINGS = {"zero_sum": ("families", "families_and_items"), "yes_no": (False, True)}
TWO_PL = [
    (discrimination, hierarchical, family_means)
    for discrimination, hierarchical, family_means in itertools.product(
        ("free", "one", "signed"), (False, True), (False, True)
    )
    if not (discrimination == "signed" and hierarchical)
]


def leaderboard(*, missing: bool) -> Responses:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, size=(N_ITEM, N_MODEL)).astype(np.int8)
    if missing:
        values[[0, 1, 3, 3], [2, 2, 0, 5]] = -1
    models = pd.DataFrame(
        {"model": [f"m{m}" for m in range(N_MODEL)], "family": [FAMILIES[f] for f in FAMILY]}
    )
    return Responses.build(values, items=[f"q{i}" for i in range(N_ITEM)], models=models)


def random_point(model, rng) -> dict[str, np.ndarray]:
    """Values that the variables allow: positive where they are, sums of zero where they are."""
    point = {}
    for variable in model.free_RVs:
        value = rng.normal(size=variable.shape.eval())
        transform = model.rvs_to_transforms[variable]
        if transform is not None and transform.name == "log":
            value = np.exp(0.5 * value)
        elif transform is not None:
            for axis in transform.zerosum_axes:
                value = value - value.mean(axis=axis, keepdims=True)
        point[variable.name] = np.asarray(value)
    return point


def terms_of(model, point) -> dict[str, float]:
    """The model's own log density, one term a variable, without Jacobians."""
    start = {}
    for variable in model.free_RVs:
        transform = model.rvs_to_transforms[variable]
        value = point[variable.name]
        if transform is not None:
            value = transform.forward(pt.as_tensor(value), *variable.owner.inputs)
            value = value.eval(mode="FAST_COMPILE")
        start[model.rvs_to_values[variable].name] = value
    density = model.compile_logp(jacobian=False, sum=False, mode="FAST_COMPILE")
    names = [variable.name for variable in model.basic_RVs]
    return {n: float(np.sum(v)) for n, v in zip(names, density(start), strict=True)}


def same_terms(model, twin) -> None:
    """Compare at a random point, term by term; `twin` takes the point."""
    point = random_point(model, np.random.default_rng(11))
    expected = twin(point)
    got = terms_of(model, point)
    assert set(got) == set(expected)
    # sums of a few dozen terms; PyMC keeps some constants in single precision
    assert got == pytest.approx(expected, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("options", TWO_PL)
def test_two_pl(options):
    from neartie.models.two_pl import build_two_pl

    discrimination, hierarchical, family_means = options
    responses = leaderboard(missing=hierarchical)
    priors = TwoPLPriors(ability_sd=1.3, difficulty_sd=0.8, log_discrimination_mean=0.2)
    chosen = {"discrimination": discrimination, "hierarchical": hierarchical}
    model = build_two_pl(responses, priors=priors, family_means=family_means, **chosen)
    family = FAMILY if family_means else None
    same_terms(
        model,
        lambda point: two_pl_log_density(
            point, responses.values, priors=priors, family=family, **chosen
        ),
    )


@pytest.mark.parametrize(("n_item", "standard"), [(10, True), (11, False)])
def test_one_pl_has_the_form_that_its_number_of_answers_asks_for(n_item, standard):
    from neartie.models.two_pl import build_two_pl

    values = np.random.default_rng(4).integers(0, 2, size=(n_item, 3)).astype(np.int8)
    responses = Responses.build(
        values, items=[f"q{i:02d}" for i in range(n_item)], models=["a", "b", "c"]
    )
    model = build_two_pl(responses, discrimination="one")
    names = {variable.name for variable in model.free_RVs}
    assert ("ability_standard" in names, "ability" in names) == (standard, not standard)
    assert set(model.neartie.diagnosed) == {"ability", "ability_scale", "difficulty"}
    same_terms(
        model,
        lambda point: two_pl_log_density(point, values, priors=TwoPLPriors(), discrimination="one"),
    )


@pytest.mark.parametrize("zero_sum", SETTINGS["zero_sum"])
@pytest.mark.parametrize("sparse", SETTINGS["yes_no"])
def test_mirt_dif(zero_sum, sparse):
    from neartie.models.mirt_dif import build_mirt_dif

    responses = leaderboard(missing=sparse)
    priors = MirtDifPriors(dif_scale_sd=0.7, loading_spread=1.1, dif_local_df=2.0)
    # family means with the one, none with the other
    chosen = {"zero_sum": zero_sum, "sparse": sparse, "family_means": zero_sum != "families"}
    same_terms(
        build_mirt_dif(responses, dimension=2, priors=priors, **chosen),
        lambda point: mirt_dif_log_density(
            point, responses.values, family=FAMILY, priors=priors, **chosen
        ),
    )


@pytest.mark.parametrize("zero_sum", SETTINGS["zero_sum"])
@pytest.mark.parametrize("scale", ["fixed", "hierarchical", "sparse"])
def test_residual_dif(zero_sum, scale):
    from neartie.models.residual_dif_model import build_residual_dif

    responses = leaderboard(missing=scale != "hierarchical")
    offset = np.random.default_rng(5).normal(size=responses.values.shape)
    easiness_sd = None if scale == "fixed" else 2.5
    priors = ResidualDifPriors(dif_sd=0.6, easiness_mean=0.4, easiness_sd=easiness_sd)
    chosen = {
        "zero_sum": zero_sum,
        "hierarchical": scale == "hierarchical",
        "sparse": scale == "sparse",
    }
    same_terms(
        build_residual_dif(responses, offset, priors=priors, **chosen),
        lambda point: residual_dif_log_density(
            point, responses.values, offset, family=FAMILY, priors=priors, **chosen
        ),
    )
