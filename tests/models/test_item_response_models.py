"""Laws of the PyMC item-response models, what they refuse, and what the audit's estimate is."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from neartie.data.errors import DataError
from neartie.data.read import read_responses
from neartie.data.responses import Responses
from neartie.inference.residual_dif import fit_residual_dif
from neartie.models.item_flags import item_flags, item_rest_correlation
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.mirt_dif_density import mirt_dif_log_density
from neartie.models.priors import MirtDifPriors, ResidualDifPriors, TwoPLPriors
from neartie.models.residual_dif_model import build_residual_dif
from neartie.models.two_pl import build_two_pl
from neartie.models.two_pl_density import two_pl_log_density

N_ITEM, N_MODEL = 5, 9
FAMILY = np.array([0, 1, 2] * 3)
PLAIN = {"mode": "FAST_COMPILE"}
DRAWS = 400


def leaderboard(seed: int = 1, *, missing: bool = False) -> Responses:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, size=(N_ITEM, N_MODEL)).astype(np.int8)
    values[:, 0], values[:, 1] = 0, 1
    if missing:
        values[[0, 2], [3, 4]] = -1
    models = pd.DataFrame(
        {"model": [f"m{m}" for m in range(N_MODEL)], "family": [f"F{f}" for f in FAMILY]}
    )
    return Responses.build(values, items=[f"q{i}" for i in range(N_ITEM)], models=models)


def shuffled(responses: Responses, rng) -> tuple[Responses, np.ndarray, np.ndarray]:
    rows, columns = rng.permutation(N_ITEM), rng.permutation(N_MODEL)
    return responses.take(items=rows, models=columns), rows, columns


def mirt_point(rng, dimension: int = 3) -> dict[str, np.ndarray]:
    standard = rng.normal(size=(N_ITEM, 3))
    return {
        "ability": rng.normal(size=(dimension, N_MODEL)),
        "loading": rng.normal(size=(N_ITEM, dimension)),
        "loading_scale": np.array(0.7),
        "easiness": rng.normal(size=N_ITEM),
        "easiness_mean": np.array(0.3),
        "easiness_scale": np.array(1.2),
        "dif_scale": np.array(0.4),
        "dif_standard": standard - standard.mean(axis=1, keepdims=True),
    }


def mirt_terms(point, values, family=FAMILY) -> dict[str, float]:
    return mirt_dif_log_density(point, values, family=family, priors=MirtDifPriors())


seeds = st.integers(0, 2**32 - 1)


@given(seeds)
@settings(max_examples=30)
def test_rotation_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    point, values = mirt_point(rng), leaderboard(missing=True).values
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned = {**point, "ability": turn @ point["ability"], "loading": point["loading"] @ turn.T}
    before, after = mirt_terms(point, values), mirt_terms(turned, values)
    assert after["score"] == pytest.approx(before["score"], abs=1e-9)
    assert sum(after.values()) == pytest.approx(sum(before.values()), abs=1e-9)


@given(seeds)
@settings(max_examples=30)
def test_order_and_names_of_families_change_nothing(seed):
    rng = np.random.default_rng(seed)
    point, values = mirt_point(rng), leaderboard().values
    rows, columns, names = (rng.permutation(n) for n in (N_ITEM, N_MODEL, 3))
    other = {
        **point,
        "ability": point["ability"][:, columns],
        "loading": point["loading"][rows],
        "easiness": point["easiness"][rows],
        "dif_standard": point["dif_standard"][rows][:, names],
    }
    family = np.argsort(names)[FAMILY][columns]
    after = mirt_terms(other, values[rows][:, columns], family)
    assert after == pytest.approx(mirt_terms(point, values), abs=1e-9)


@given(seeds)
@settings(max_examples=30)
def test_only_the_prior_knows_which_end_of_a_signed_scale_is_able(seed):
    rng = np.random.default_rng(seed)
    point = {
        "ability": rng.normal(size=N_MODEL),
        "discrimination": 1 + rng.normal(size=N_ITEM),
        "easiness": rng.normal(size=N_ITEM),
    }
    mirrored = {**point, "ability": -point["ability"], "discrimination": -point["discrimination"]}

    def terms(at):
        return two_pl_log_density(
            at, leaderboard().values, priors=TwoPLPriors(), discrimination="signed"
        )

    before, after = terms(point), terms(mirrored)
    assert after["score"] == pytest.approx(before["score"], abs=1e-9)
    # with prior mean and sd 1 the slopes' log densities differ by twice their sum
    gap = 2 * point["discrimination"].sum()
    assert before["discrimination"] - after["discrimination"] == pytest.approx(gap, abs=1e-9)


@pytest.mark.parametrize("missing", [False, True])
def test_order_of_rows_changes_nothing(missing):
    responses = leaderboard(missing=missing)
    other, rows, columns = shuffled(responses, np.random.default_rng(4))
    offset = np.random.default_rng(5).normal(size=(N_ITEM, N_MODEL))
    pairs = [
        (build_two_pl(responses), build_two_pl(other)),
        (build_mirt_dif(responses, dimension=2), build_mirt_dif(other, dimension=2)),
        (
            build_residual_dif(responses, offset),
            build_residual_dif(other, offset[rows][:, columns]),
        ),
    ]
    for one, two in pairs:
        assert one.coords == two.coords
        observed = [model.rvs_to_values[model["score"]].data for model in (one, two)]
        assert np.array_equal(*observed)
        for name in {variable.name for variable in one.data_vars}:
            assert np.array_equal(one[name].get_value(), two[name].get_value())


def test_missing_cells_have_no_likelihood():
    responses = leaderboard(missing=True)
    model = build_mirt_dif(responses, dimension=1)
    cells = zip(model["cell_item"].get_value(), model["cell_model"].get_value(), strict=True)
    assert set(cells) == set(zip(*np.nonzero(responses.observed), strict=True))
    assert model.named_vars_to_dims["score"] == ("cell",)
    assert build_mirt_dif(leaderboard(), dimension=1).named_vars_to_dims["score"] == (
        "item",
        "model",
    )


def test_sparse_cells_are_computed_alone():
    """Both ways to the logits of the answered cells give the same."""
    from neartie.models.predictor import at_cells

    rng = np.random.default_rng(0)
    left, right = pt.as_tensor(rng.normal(size=(4, 2))), pt.as_tensor(rng.normal(size=(2, 6)))
    item, model = np.array([0, 3, 3]), np.array([5, 0, 2])
    one, two = (at_cells(left, right, item, model, whole=whole) for whole in (True, False))
    assert one.eval(**PLAIN) == pytest.approx(two.eval(**PLAIN), abs=1e-12)


# Each bound below is five standard errors: one false alarm in 1.7 million comparisons.
@pytest.fixture(scope="module")
def prior_draws():
    model = build_mirt_dif(
        leaderboard(missing=True), dimension=2, zero_sum="families_and_items", family_means=True
    )
    with model:
        tree = pm.sample_prior_predictive(
            draws=DRAWS, random_seed=7, compile_kwargs=PLAIN, var_names=None
        )
    return tree


def test_zero_sums_hold_in_prior_draws(prior_draws):
    dif = prior_draws["prior"]["dif"]
    assert np.abs(dif.sum("family")).max() < 1e-12
    assert np.abs(dif.sum("item")).max() < 1e-12
    assert np.abs(prior_draws["prior"]["family_mean"].sum("family")).max() < 1e-12


def test_moments_of_prior_draws(prior_draws):
    prior = prior_draws["prior"]
    center = prior["family_mean"].isel(family=FAMILY).to_numpy()
    standard = {
        "ability": prior["ability"].to_numpy() - center,
        "loading": (prior["loading"] / prior["loading_scale"]).to_numpy(),
        "easiness": ((prior["easiness"] - prior["easiness_mean"]) / prior["easiness_scale"]),
        "easiness_mean": prior["easiness_mean"].to_numpy() / 2.0,
        "loading_scale": np.log(prior["loading_scale"].to_numpy() / (1.5 / np.sqrt(2))) / 0.5,
    }
    for name, values in standard.items():
        n = np.size(values)
        assert abs(np.mean(values)) < 5 / np.sqrt(n), name
        assert abs(np.var(values) - 1) < 5 * np.sqrt(2 / n), name
    # the variance of a zero-sum effect: a normal one's, less that of both means
    squares = np.square(prior["dif_standard"].to_numpy()).sum(axis=(-2, -1))
    free = (N_ITEM - 1) * 2
    assert abs(squares.mean() / free - 1) < 5 * np.sqrt(2 / (free * DRAWS))


def test_what_is_diagnosed_does_not_turn_and_is_drawn(prior_draws):
    record = build_mirt_dif(leaderboard(), dimension=2).neartie
    assert set(record.diagnosed) <= set(prior_draws["prior"].data_vars)
    assert not {"ability", "loading"} & set(record.diagnosed)
    prior, cells = prior_draws["prior"], prior_draws["constant_data"]
    item, model = cells["probe_item"].to_numpy(), cells["probe_model"].to_numpy()
    easiness = prior["easiness"].to_numpy()[:, :, item]
    effect = prior["dif"].to_numpy()[:, :, item, FAMILY[model]]
    loading, ability = prior["loading"].to_numpy(), prior["ability"].to_numpy()
    product = np.einsum("cdik,cdki->cdi", loading[:, :, item], ability[:, :, :, model])
    predictor = prior["linear_predictor"].to_numpy()
    assert predictor == pytest.approx(product + easiness + effect, abs=1e-9)


def test_mode_of_residual_dif_is_the_penalised_estimate():
    responses = leaderboard(3, missing=True)
    offset = np.random.default_rng(8).normal(size=(N_ITEM, N_MODEL))
    penalty = 2.5
    fit = fit_residual_dif(
        responses.values, family=responses.models["family"], offset=offset, penalty=penalty
    )
    model = build_residual_dif(
        responses, offset, priors=ResidualDifPriors(dif_sd=1 / np.sqrt(penalty))
    )
    density = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
    density.set_extra_values({})
    n = N_ITEM * 3  # easiness, and two free effects of three

    def negative(x):
        value, slope = density(x)
        return -value, -slope

    found = minimize(
        negative, np.zeros(n), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 500}
    )
    assert [variable.name for variable in model.free_RVs] == ["easiness", "dif"]
    easiness, free = np.split(found.x, [N_ITEM])
    transform = model.rvs_to_transforms[model["dif"]]
    effects = transform.backward(
        pt.as_tensor(free.reshape(N_ITEM, 2)), *model["dif"].owner.inputs
    ).eval(**PLAIN)
    assert easiness == pytest.approx(fit.easiness, abs=1e-6)
    assert effects == pytest.approx(fit.effects, abs=1e-6)


def test_signed_slopes_show_a_reverse_keyed_item(case_dir):
    responses = read_responses(case_dir / "C13" / "responses.csv")
    n_item, n_model = responses.values.shape
    cuts = [n_model, n_model + n_item]

    def negative(x):
        names = ("ability", "discrimination", "easiness")
        point = dict(zip(names, np.split(x, cuts), strict=True))
        terms = two_pl_log_density(
            point, responses.values, priors=TwoPLPriors(), discrimination="signed"
        )
        return -sum(terms.values())

    start = np.concatenate([np.zeros(n_model), np.ones(n_item), np.zeros(n_item)])
    slope = np.split(minimize(negative, start, method="L-BFGS-B").x, cuts)[1]
    assert [name for name, a in zip(responses.item_ids, slope, strict=True) if a < 0] == ["q04"]
    assert item_flags(responses.values) == ["", "", "", "reversed", "", ""]


@pytest.mark.parametrize("seed", range(3))
def test_item_rest_correlation_is_that_of_pandas(seed):
    values = leaderboard(seed, missing=True).values
    table = pd.DataFrame(values).where(values >= 0).astype(float)
    rest = [table.drop(index=i).mean().corr(table.loc[i]) for i in range(N_ITEM)]
    assert item_rest_correlation(values)[0] == pytest.approx(np.array(rest), nan_ok=True)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("C01", ("'low'", "'top'")),
        ("C04", ("every answer right: 'q09'", "every answer wrong: 'q10'")),
        ("C05", ("no answer: 'm05'",)),
        ("C07", ("1 item rests on the prior, one answer: 'q09'",)),
    ],
)
def test_whom_the_prior_speaks_for_is_named(case_dir, case, said):
    responses = read_responses(case_dir / case / "responses.csv")
    model = build_two_pl(responses)
    assert [text for text in said if text not in "; ".join(model.neartie.notices)] == []
    # nobody is lost
    assert set(model.coords["model"]) == set(responses.model_ids)
    assert set(model.coords["item"]) == set(responses.item_ids)


def with_families(labels) -> Responses:
    models = pd.DataFrame({"model": [f"m{m}" for m in range(len(labels))], "family": labels})
    return Responses.build([[1, 0, 1]], items=["q"], models=models)


def test_graded_scores_are_refused_by_name(case_dir):
    graded = read_responses(case_dir / "C08" / "graded.csv", scores="graded")
    with pytest.raises(DataError, match=r"item 'p1' holds the score 0\.5 .model 'b'.*rounds"):
        build_two_pl(graded)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: build_two_pl(Responses.build([[-1]], items=["q"], models=["a"])),
            DataError,
            "hold no answer",
        ),
        (
            lambda: build_two_pl(leaderboard(), discrimination="two"),
            ValueError,
            "discrimination must be one of free, one, signed, got 'two'",
        ),
        (
            lambda: build_two_pl(leaderboard(), discrimination="signed", hierarchical=True),
            ValueError,
            "needs positive discriminations",
        ),
        (
            lambda: build_mirt_dif(with_families(["A", "A", "A"]), dimension=1),
            DataError,
            "at least two families; all models are 'A'",
        ),
        (
            lambda: build_mirt_dif(with_families(["A", " ", "B"]), dimension=1),
            DataError,
            "model 'm1' has no family",
        ),
        (
            lambda: build_mirt_dif(
                Responses.build([[1, 0]], items=["q"], models=["a", "b"]), dimension=1
            ),
            DataError,
            "no column 'family'",
        ),
        (
            lambda: build_mirt_dif(leaderboard(), dimension=0),
            ValueError,
            "dimension must be a whole number of at least 1, got 0",
        ),
        (
            lambda: build_mirt_dif(leaderboard(), dimension=1, zero_sum="items"),
            ValueError,
            "zero_sum must be one of families, families_and_items, got 'items'",
        ),
        (
            lambda: build_residual_dif(leaderboard(), np.zeros((2, 2))),
            ValueError,
            "5 items x 9 models; got",
        ),
        (
            lambda: build_residual_dif(leaderboard(), np.full((5, 9), np.nan)),
            ValueError,
            "must be finite everywhere",
        ),
        (
            lambda: build_residual_dif(
                leaderboard(), np.zeros((5, 9)), hierarchical=True, sparse=True
            ),
            ValueError,
            "choose one of hierarchical and sparse",
        ),
        (lambda: TwoPLPriors(difficulty_sd=-1), ValueError, "difficulty_sd must be positive"),
        (lambda: MirtDifPriors(dif_slab_df=np.inf), ValueError, "dif_slab_df must be finite"),
        (lambda: ResidualDifPriors(dif_sd="1"), TypeError, "dif_sd must be a number, got '1'"),
        (lambda: item_flags(np.ones((2, 3), dtype=np.int8), [1.0]), ValueError, "2 items have"),
    ],
)
def test_refusals(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_equal_answers_need_a_proper_easiness():
    values = leaderboard().values.copy()
    values[3] = 1
    responses = Responses.build(
        values, items=[f"q{i}" for i in range(N_ITEM)], models=leaderboard().models
    )
    with pytest.raises(DataError, match=r"1 of 5 items .* 'q3' \(every answer right\)"):
        build_residual_dif(responses, np.zeros((N_ITEM, N_MODEL)))
    proper = ResidualDifPriors(easiness_sd=3)
    model = build_residual_dif(responses, np.zeros((N_ITEM, N_MODEL)), priors=proper)
    assert "'q3'" in " ".join(model.neartie.notices)


def test_a_family_of_one_is_named():
    model = build_mirt_dif(with_families(["A", "A", "B"]), dimension=1)
    assert "family 'B' is a single model" in " ".join(model.neartie.notices)
