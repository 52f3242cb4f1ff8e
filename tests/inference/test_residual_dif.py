"""Residual DIF: optimality, laws, a plain twin, the case C16 and the worked audit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from neartie.data.errors import DataError
from neartie.inference.residual_dif import fit_residual_dif
from neartie.models.residual_dif import linear_predictor, penalised_loss

FAMILY = np.array(list("AAAABBBBBCCC"))
CODES = np.array([0] * 4 + [1] * 5 + [2] * 3)


def draw(seed: int, n_item: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = (rng.random((n_item, 12)) < 0.5).astype(np.int8)
    values[:, :2] = [0, 1]
    return values, rng.normal(scale=1.5, size=values.shape)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_optimum_beats_an_independent_optimiser(seed):
    values, offset = draw(seed, n_item=1)
    fit = fit_residual_dif(values, family=FAMILY, offset=offset)
    at_fit = penalised_loss(values, offset, fit.easiness, fit.effects, CODES)[0]

    def loss(x):
        return penalised_loss(values, offset, x[:1], x[None, 1:], CODES)[0]

    found = minimize(loss, np.zeros(4), method="BFGS")
    # BFGS stops within about 1e-8 of the smallest loss
    assert at_fit <= found.fun + 1e-12
    assert at_fit == pytest.approx(found.fun, abs=1e-7)


def test_gradient_vanishes_at_the_optimum():
    values, offset = draw(3)
    fit = fit_residual_dif(values, family=FAMILY, offset=offset, penalty=0.7)
    logit = linear_predictor(offset, fit.easiness, fit.effects, CODES)
    residual = values - 1 / (1 + np.exp(-logit))
    by_family = np.stack([residual[:, f == CODES].sum(axis=1) for f in range(3)], axis=1)
    # a last step below 1e-8 leaves a gradient far below it: Newton converges quadratically
    assert np.abs(by_family - 0.7 * fit.effects).max() < 1e-10
    assert np.abs(residual.sum(axis=1)).max() < 1e-10


def test_effects_sum_to_zero_without_being_told():
    values, offset = draw(4)
    fit = fit_residual_dif(values, family=FAMILY, offset=offset)
    assert np.abs(fit.effects.sum(axis=1)).max() < 1e-12


def test_many_cycles_reach_the_optimum_and_five_are_near():
    values, offset = draw(5)
    exact = fit_residual_dif(values, family=FAMILY, offset=offset)
    long = fit_residual_dif(values, family=FAMILY, offset=offset, cycles=200)
    assert long.converged
    assert np.abs(long.effects - exact.effects).max() < 1e-7
    assert not fit_residual_dif(values, family=FAMILY, offset=offset, cycles=1).converged


def plain_cycles(y, offset, cycles, penalty=1.0):
    """P0, appendix C.4, line by line for one item."""
    clipped = min(max(y.mean(), 1e-4), 1 - 1e-4)
    b = np.log(clipped / (1 - clipped)) - offset.mean()
    delta = np.zeros(3)
    for _ in range(cycles):
        for _ in range(30):
            p = 1 / (1 + np.exp(-(offset + b + delta[CODES])))
            step = np.clip((y - p).sum() / ((p * (1 - p)).sum() + 1e-9), -2, 2)
            b += step
            if abs(step) < 1e-8:
                break
        before = delta.copy()
        for f in range(3):
            for _ in range(30):
                p = 1 / (1 + np.exp(-(offset + b + delta[CODES])))
                inside = f == CODES
                g = (y - p)[inside].sum() - penalty * delta[f]
                step = np.clip(g / ((p * (1 - p))[inside].sum() + penalty), -2, 2)
                delta[f] += step
                if abs(step) < 1e-8:
                    break
        largest = np.abs(delta - before).max()
        b, delta = b + delta.mean(), delta - delta.mean()
        if largest < 1e-8:
            break
    return b, delta


@pytest.mark.parametrize("cycles", [1, 5])
def test_cycles_follow_the_printed_algorithm(cycles):
    values, offset = draw(6)
    fit = fit_residual_dif(values, family=FAMILY, offset=offset, cycles=cycles)
    for i in range(len(values)):
        b, delta = plain_cycles(values[i].astype(float), offset[i], cycles)
        assert fit.easiness[i] == pytest.approx(b, abs=1e-10)
        assert fit.effects[i] == pytest.approx(delta, abs=1e-10)


@given(st.permutations(range(12)))
@settings(max_examples=20, deadline=None)
def test_order_of_models_changes_nothing(order):
    values, offset = draw(7)
    fit = fit_residual_dif(values, family=FAMILY, offset=offset)
    other = fit_residual_dif(values[:, order], family=FAMILY[order], offset=offset[:, order])
    # summation order moves the last digits only
    assert other.effects == pytest.approx(fit.effects, abs=1e-12)


def test_relabelling_families_permutes_the_effects():
    values, offset = draw(8)
    fit = fit_residual_dif(values, family=FAMILY, offset=offset)
    renamed = np.array([{"A": "zeta", "B": "alpha", "C": "mid"}[f] for f in FAMILY])
    other = fit_residual_dif(values, family=renamed, offset=offset)
    assert other.families == ("alpha", "mid", "zeta")
    assert other.effects[:, [2, 0, 1]] == pytest.approx(fit.effects, abs=1e-12)


def test_reversing_every_answer_reverses_every_sign():
    values, offset = draw(9)
    fit = fit_residual_dif(values, family=FAMILY, offset=offset)
    other = fit_residual_dif(1 - values, family=FAMILY, offset=-offset)
    assert other.effects == pytest.approx(-fit.effects, abs=1e-9)
    assert other.easiness == pytest.approx(-fit.easiness, abs=1e-9)


def test_a_missing_cell_is_a_model_less():
    values, offset = draw(10)
    holed = values.copy()
    holed[:, 11] = -1
    fit = fit_residual_dif(holed, family=FAMILY, offset=offset)
    other = fit_residual_dif(values[:, :11], family=FAMILY[:11], offset=offset[:, :11])
    assert fit.effects == pytest.approx(other.effects, abs=1e-10)


def test_constant_items_have_no_easiness_and_no_effect():
    values, _ = draw(11)
    values[0], values[1] = 1, 0
    fit = fit_residual_dif(values, family=FAMILY)
    assert np.isnan(fit.easiness[:2]).all()
    assert fit.order_easiness[:2].tolist() == [np.inf, -np.inf]
    assert not fit.effects[:2].any()
    assert fit.constant[:3].tolist() == [1, -1, 0]
    alone = fit_residual_dif(values[2:], family=FAMILY)
    assert np.array_equal(fit.effects[2:], alone.effects)


def test_a_warm_start_ends_at_the_same_optimum():
    values, offset = draw(12)
    cold = fit_residual_dif(values, family=FAMILY, offset=offset)
    start = fit_residual_dif(values, family=FAMILY, offset=0.5 * offset)
    warm = fit_residual_dif(values, family=FAMILY, offset=offset, start=start)
    assert warm.effects == pytest.approx(cold.effects, abs=1e-12)


def test_input_is_not_overwritten():
    values, offset = draw(13)
    before = values.copy(), offset.copy()
    fit_residual_dif(values, family=FAMILY, offset=offset)
    assert np.array_equal(values, before[0])
    assert np.array_equal(offset, before[1])


@pytest.mark.parametrize("seed", range(3))
def test_extreme_offsets_still_converge(seed):
    values, offset = draw(seed)
    fit = fit_residual_dif(values, family=FAMILY, offset=np.clip(40 * offset, -6, 6), penalty=0.01)
    assert fit.converged


def test_case_c16_family_of_one_is_shown_as_such(case_dir):
    item = pd.read_csv(case_dir / "C16" / "item.csv", dtype=str)
    table = pd.read_csv(case_dir / "C16" / "families.csv", dtype=str).set_index("model")
    family = table.loc[item["model"], "family"].tolist()
    fit = fit_residual_dif(item[["q1"]].to_numpy().T.astype(np.int8), family=family)
    assert fit.easiness.round(4).tolist() == [0.5316]
    assert fit.effects.round(4).tolist() == [[0.2532, 0.2532, -0.5063]]
    assert dict(zip(fit.families, fit.family_size, strict=True)) == {"A": 4, "B": 4, "C": 1}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("families_blank", r"family label of model \d+ is blank"),
        ("families_single", "two families, but all 9 models belong to 'A'"),
    ],
)
def test_case_c16_blank_or_single_family_is_refused(case_dir, name, message):
    table = pd.read_csv(case_dir / "C16" / f"{name}.csv", dtype=str, keep_default_na=False)
    values = np.array([[1, 1, 1, 0, 1, 1, 1, 0, 0, 1]], dtype=np.int8)[:, : len(table)]
    with pytest.raises(DataError, match=message):
        fit_residual_dif(values, family=table["family"])


def test_an_item_without_answers_is_refused():
    values, _ = draw(1)
    values[2] = -1
    with pytest.raises(DataError, match="item 3 has no answer"):
        fit_residual_dif(values, family=FAMILY)


def test_penalty_must_be_positive():
    values, _ = draw(1)
    with pytest.raises(ValueError, match="penalty must be positive, got 0"):
        fit_residual_dif(values, family=FAMILY, penalty=0)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(
    ("kind", "cycles", "tolerance"), [("exact", None, 1e-6), ("literal", 5, 1e-8)]
)
def test_worked_audit(reference, half, kind, cycles, tolerance):
    expected = reference.table(f"expected/residual_all_items_half{half}")
    table = reference.half(half)
    offset = reference.table(f"expected/offset_all_items_half{half}")[table["model"]].astype(float)
    fit = fit_residual_dif(
        reference.values(half), family=table["family"], offset=offset.to_numpy(), cycles=cycles
    )
    assert fit.easiness == pytest.approx(expected[f"b_{kind}"].astype(float), abs=tolerance)
    for column, family in enumerate(fit.families):
        delta = expected[f"delta_{kind}_{family}"].astype(float)
        assert fit.effects[:, column] == pytest.approx(delta, abs=tolerance)
    assert fit.dif_range == pytest.approx(expected[f"D_{kind}"].astype(float), abs=tolerance)
