"""2PL estimates as users get them: reference, laws, cases, recovery."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import neartie
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.responses import Responses
from neartie.inference.two_pl_arrow import Penalised, value_and_gradient
from neartie.inference.two_pl_map import fit_two_pl_map
from neartie.models.priors import TwoPLPriors


def simulated(n_item, n_model, seed, *, share=1.0):
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=n_model), 1.5 * rng.normal(size=n_item)
    slope = np.exp(0.5 * rng.normal(size=n_item))
    chance = 1 / (1 + np.exp(-slope[:, None] * (ability - difficulty[:, None])))
    values = (rng.random(chance.shape) < chance).astype(np.int8)
    values[rng.random(chance.shape) >= share] = -1
    data = Responses.build(
        values,
        items=[f"q{i:04d}" for i in range(n_item)],
        models=[f"m{m:03d}" for m in range(n_model)],
    )
    return data, ability


def case(case_dir, name):
    return neartie.read_responses(case_dir / name / "responses.csv")


@pytest.fixture(scope="module")
def worked(reference_dir):
    """The responses of the worked example, and what is expected of models and items."""
    table = pd.read_csv(reference_dir / "inputs" / "twopl_responses.csv.gz", index_col=0)
    values = table.T.fillna(-1).to_numpy(np.int8)
    data = Responses.build(values, items=list(table.columns), models=list(table.index))
    folder = reference_dir / "expected"
    models = pd.read_csv(folder / "twopl_models.csv.gz").set_index("model")
    items = pd.read_csv(folder / "twopl_items.csv.gz").set_index("item")
    return data, models, items, pd.read_json(folder / "twopl_summary.json", typ="series")


def test_reference_values_re_centred_after(worked):
    data, models, items, summary = worked
    fit = fit_two_pl_map(data, unit="mode", starts=4, rng=1)
    found = fit.table().set_index("model").loc[models.index]
    np.testing.assert_allclose(found["ability"], models["theta_map_recentred_after"], atol=1e-9)
    np.testing.assert_allclose(found["ability"] + fit.shift, models["theta_map"], atol=1e-9)
    np.testing.assert_allclose(found["se_items_known"], models["se_map"], atol=1e-9)
    places = fit.item_table().set_index("item").loc[items.index]
    np.testing.assert_allclose(places["discrimination"], items["a_map"], atol=1e-9)
    np.testing.assert_allclose(places["difficulty"], items["b_map_recentred_after"], atol=1e-9)
    flagged = places["flag"].str.contains("flat|extreme")
    assert (flagged == (items["flag_map"] == 1)).all()
    assert fit.log_posterior == pytest.approx(summary["logpost_map"], abs=1e-9)
    np.testing.assert_allclose(fit.start_log_posteriors, summary["logpost_map"], atol=1e-9)
    assert fit.shift == pytest.approx(summary["theta_mean_map"], abs=1e-9)


def test_reference_values_centred_within(worked):
    data, models, items, summary = worked
    fit = fit_two_pl_map(data, unit="mode", centring="within")
    found = fit.table().set_index("model").loc[models.index]
    np.testing.assert_allclose(found["ability"], models["theta_sum_zero"], atol=1e-9)
    np.testing.assert_allclose(found["se_items_known"], models["se_sum_zero"], atol=1e-9)
    places = fit.item_table().set_index("item").loc[items.index]
    np.testing.assert_allclose(places["discrimination"], items["a_sum_zero"], atol=1e-9)
    np.testing.assert_allclose(places["difficulty"], items["b_sum_zero"], atol=1e-9)
    assert fit.log_posterior == pytest.approx(summary["logpost_sum_zero"], abs=1e-9)


def test_adam_as_printed_ends_near_the_reference(worked):
    data, models, _, _ = worked
    fit = fit_two_pl_map(data, optimiser="adam")
    found = fit.table().set_index("model").loc[models.index, "ability"]
    assert fit.converged
    assert np.abs(found - models["theta_sum_zero"]).max() < 0.1
    assert "Stopped by P1's rule" in fit.verdict


def test_errors_are_those_of_the_whole_inverse_curvature():
    """Re-centred: of all parameters minus the mean of the abilities; by differences."""
    data, _ = simulated(12, 9, 1, share=0.9)
    for centring in ("after", "within"):
        fit = fit_two_pl_map(data, unit="mode", centring=centring, constant_items="keep")
        problem = Penalised.of(data.values == 1, data.observed, TwoPLPriors())
        point = np.concatenate(
            [fit.ability + fit.shift, fit.difficulty + fit.shift, np.log(fit.discrimination)]
        )
        n, width = len(point), 1e-5
        hessian = np.array(
            [
                value_and_gradient(problem, point + width * e)[1]
                - value_and_gradient(problem, point - width * e)[1]
                for e in np.eye(n)
            ]
        ) / (2 * width)
        mean = np.repeat([1 / 9, 0.0], [9, 24])
        if centring == "after":
            turn = np.eye(n) - np.outer(np.repeat([1.0, 0.0], [21, 12]), mean)
            full = turn @ np.linalg.inv(hessian) @ turn.T
        else:
            basis = np.linalg.svd(mean[None, :])[2][1:].T
            full = basis @ np.linalg.inv(basis.T @ hessian @ basis) @ basis.T
        np.testing.assert_allclose(fit.covariance, full[:9, :9], atol=1e-6)
        np.testing.assert_allclose(fit.se, np.sqrt(np.diag(full)[:9]), atol=1e-6)
        np.testing.assert_allclose(fit.difficulty_se, np.sqrt(np.diag(full)[9:21]), atol=1e-6)
        np.testing.assert_allclose(
            fit.log_discrimination_se, np.sqrt(np.diag(full)[21:]), atol=1e-6
        )
        known = 1 / np.sqrt(np.diag(hessian)[:9])
        np.testing.assert_allclose(fit.se_items_known, known, atol=1e-6)


def test_differences_do_not_depend_on_the_centring_of_errors():
    data, _ = simulated(40, 10, 2)
    fit = fit_two_pl_map(data)
    np.testing.assert_allclose(fit.covariance.sum(axis=0), 0, atol=1e-12)
    assert fit.ability.mean() == pytest.approx(0, abs=1e-12)


def test_order_of_rows_and_columns_changes_no_bit():
    data, _ = simulated(30, 20, 3, share=0.8)
    rng = np.random.default_rng(4)
    mixed = data.take(items=rng.permutation(30), models=rng.permutation(20))
    one, two = fit_two_pl_map(data), fit_two_pl_map(mixed)
    assert one.table().equals(two.table())
    assert one.item_table().equals(two.item_table())


def test_new_names_change_names_alone():
    data, _ = simulated(30, 20, 3, share=0.8)
    renamed = Responses.build(
        data.values, items=data.item_ids, models=[f"z{19 - m:02d}" for m in range(20)]
    )
    one, two = fit_two_pl_map(data), fit_two_pl_map(renamed)
    assert two.models[0] == "z00"
    np.testing.assert_allclose(two.ability[::-1], one.ability, atol=1e-9)
    np.testing.assert_allclose(two.se[::-1], one.se, atol=1e-9)


def test_turning_all_answers_round_turns_the_scale():
    data, _ = simulated(30, 20, 5)
    turned = Responses.build(1 - data.values, items=data.item_ids, models=data.model_ids)
    one, two = fit_two_pl_map(data), fit_two_pl_map(turned)
    np.testing.assert_allclose(two.ability, -one.ability, atol=1e-8)
    np.testing.assert_allclose(two.difficulty, -one.difficulty, atol=1e-8, equal_nan=True)
    np.testing.assert_allclose(two.discrimination, one.discrimination, atol=1e-8)


def test_the_posterior_unit_stretches_and_changes_no_probability():
    data, ability = simulated(300, 80, 6)
    mode, posterior = fit_two_pl_map(data, unit="mode"), fit_two_pl_map(data)
    c = mode.posterior_unit
    assert posterior.unit == pytest.approx(c) == pytest.approx(posterior.posterior_unit)
    np.testing.assert_allclose(posterior.ability, c * mode.ability)
    np.testing.assert_allclose(posterior.covariance, c**2 * mode.covariance)
    np.testing.assert_allclose(
        posterior.discrimination[:, None] * (posterior.ability - posterior.difficulty[:, None]),
        mode.discrimination[:, None] * (mode.ability - mode.difficulty[:, None]),
        atol=1e-12,
    )
    assert c > 1.1
    assert "are to be multiplied" in " ".join(mode.notices)
    assert "are to be multiplied" not in " ".join(posterior.notices)
    slope = np.polyfit(posterior.ability, ability, 1)[0]
    assert slope == pytest.approx(1, abs=0.1)


def test_adam_keeps_the_printed_unit_unless_asked():
    data, _ = simulated(60, 30, 6)
    assert fit_two_pl_map(data, optimiser="adam").unit == 1
    asked = fit_two_pl_map(data, optimiser="adam", unit="posterior")
    assert asked.unit == asked.posterior_unit != 1


def test_abilities_are_covered_by_default():
    """Of 12 x 100 intervals, which share no error but the unit's: 95 % within 3 of their errors."""
    shares = []
    for seed in range(12):
        data, ability = simulated(250, 100, 100 + seed)
        table = fit_two_pl_map(data).table()
        truth = ability - ability.mean()
        shares.append(((table["low"] <= truth) & (truth <= table["high"])).mean())
    error = np.std(shares, ddof=1) / np.sqrt(12)
    assert np.mean(shares) == pytest.approx(0.95, abs=0.02)
    assert error < 0.01


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_case_c01_more_correct_is_higher(case_dir, seed):
    data = case(case_dir, "C01")
    fit = fit_two_pl_map(data, starts=3, rng=seed)
    table = fit.table().set_index("model")["ability"]
    assert np.isfinite(table).all()
    assert table.idxmax() == "top"
    assert table.idxmin() == "low"
    raw = data.accuracy().set_index("model").loc[table.index, "accuracy"]
    assert stats.spearmanr(table, raw).statistic > 0.95
    assert (fit.discrimination > 0).all()


def test_case_c04_constant_items_are_left_out_or_said_to_be_prior_only(case_dir):
    data = case(case_dir, "C04")
    fit = fit_two_pl_map(data)
    alone = fit_two_pl_map(data.take(items=~data.items["item"].isin(["q09", "q10"]).to_numpy()))
    np.testing.assert_allclose(fit.ability, alone.ability, atol=1e-12)
    items = fit.item_table().set_index("item")
    assert items.loc[["q09", "q10"], ["discrimination", "difficulty"]].isna().all(axis=None)
    assert items.loc["q09", "flag"] == "left out: every answer right"
    assert items.loc["q10", "flag"] == "left out: every answer wrong"
    assert "'q09', 'q10'" in " ".join(fit.notices)
    assert (fit.n == 10).all()
    kept = fit_two_pl_map(data, constant_items="keep").item_table().set_index("item")
    assert kept.loc["q09", "flag"].startswith("prior only: every answer right")
    assert np.isfinite(kept.loc["q09", "discrimination"])


def test_case_c05_a_model_without_answers_stands_at_its_prior(case_dir):
    data = case(case_dir, "C05")
    fit = fit_two_pl_map(data)
    table = fit.table().set_index("model")
    assert len(table) == 12
    assert table.loc["m05", ["n", "ability", "se", "se_items_known"]].tolist() == [0, 0, 1, 1]
    assert "m05" in " ".join(fit.notices)
    others = fit_two_pl_map(data.take(models=(data.models["model"] != "m05").to_numpy()))
    expected = others.table().set_index("model")
    pd.testing.assert_frame_equal(table.drop("m05"), expected, atol=1e-9)
    np.testing.assert_allclose(
        fit.covariance[fit.models.index("m05")], np.eye(12)[fit.models.index("m05")]
    )


def test_case_c07_a_sparse_item_changes_nothing(case_dir):
    data = case(case_dir, "C07")
    fit = fit_two_pl_map(data)
    assert fit.item_table().set_index("item").loc["q09", "flag"] == "left out: one answer"
    without = fit_two_pl_map(data.take(items=(data.items["item"] != "q09").to_numpy()))
    np.testing.assert_allclose(fit.ability, without.ability, atol=1e-12)
    assert fit.table().set_index("model").loc["m04", "n"] == 9


def test_case_c11_five_seeds_agree(case_dir):
    data = case(case_dir, "C11")
    fits = [fit_two_pl_map(data, starts=4, rng=seed) for seed in range(1, 6)]
    ends = np.concatenate([fit.start_log_posteriors for fit in fits])
    assert np.ptp(ends) < 1e-4
    for fit in fits:
        np.testing.assert_allclose(fit.ability, fits[0].ability, atol=1e-2)
        assert (np.argsort(fit.ability) == np.argsort(fits[0].ability)).all()
    raw = data.accuracy().set_index("model").loc[list(fits[0].models), "accuracy"]
    assert stats.spearmanr(fits[0].ability, raw).statistic > 0.9


def test_case_c13_a_reversed_item_is_flagged(case_dir):
    flags = fit_two_pl_map(case(case_dir, "C13")).item_table().set_index("item")["flag"]
    assert "reversed" in flags["q04"]
    assert not flags.drop("q04").str.contains("reversed").any()


def test_many_models_have_errors_but_no_covariance(monkeypatch):
    data, _ = simulated(6, 30, 7)
    whole = fit_two_pl_map(data)
    monkeypatch.setattr("neartie.inference.two_pl_place.MOST_MODELS", 20)
    monkeypatch.setattr("neartie.inference.two_pl_map.MOST_MODELS", 20)
    cut = fit_two_pl_map(data)
    assert cut.covariance.size == 0
    np.testing.assert_allclose(cut.se, whole.se, atol=1e-12)
    assert "the covariance of 30 abilities is left out" in " ".join(cut.notices)


@pytest.mark.parametrize(
    ("n_item", "n_model", "message"),
    [
        (29, 40, "half of the models have 29 answers or fewer"),
        (110, 20, "the unit of ability is hardly known"),
    ],
)
def test_shapes_where_intervals_do_not_hold_are_said(n_item, n_model, message):
    said = " ".join(fit_two_pl_map(simulated(n_item, n_model, 10)[0]).notices)
    assert message in said
    enough = " ".join(fit_two_pl_map(simulated(90, 20, 10)[0]).notices)
    assert message not in enough


def test_what_did_not_converge_warns():
    data, _ = simulated(30, 20, 8)
    with pytest.warns(CaveatWarning, match="newton did not converge: after 1 iteration"):
        fit = fit_two_pl_map(data, max_iterations=1)
    assert not fit.converged
    assert fit.verdict.startswith("Not converged: 1 iteration")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimiser": "sgd"}, "optimiser must be one of newton, adam, got 'sgd'"),
        ({"centring": "median"}, "centring must be one of after, within"),
        ({"unit": "metre"}, "unit must be one of mode, posterior"),
        ({"constant_items": "hide"}, "constant_items must be one of drop, keep"),
        ({"optimiser": "adam", "centring": "after"}, "Adam, as printed, centres after each step"),
        ({"starts": 0}, "starts must be at least 1, got 0"),
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    data, _ = simulated(5, 5, 9)
    with pytest.raises(ValueError, match=message):
        fit_two_pl_map(data, **options)


def test_nothing_to_compare_by_is_refused():
    data = Responses.build([[1, 1], [0, 0]], items=["x", "y"], models=["a", "b"])
    with pytest.raises(DataError, match="no item has two different answers"):
        fit_two_pl_map(data)
