"""Cases from public reports that the joint mode of the multidimensional model has to get right.

Their tables name no families; every other model is put into one of two.
"""

import numpy as np
import pytest
from scipy.stats import spearmanr

from neartie.data.read import read_responses
from neartie.data.responses import Responses
from neartie.inference.mirt_dif_map import fit_mirt_dif_map


def case(case_dir, place):
    data = read_responses(case_dir / place)
    number = {model: m for m, model in enumerate(sorted(data.model_ids))}
    family = ["odd" if number[model] % 2 else "even" for model in data.model_ids]
    models = data.models.assign(family=family)
    return Responses.build(data.values, items=data.items, models=models)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dimension", [1, 2])
def test_case_c01_more_correct_is_higher(case_dir, seed, dimension):
    data = case(case_dir, "C01/responses.csv")
    fit = fit_mirt_dif_map(data, dimension=dimension, starts=3, rng=seed)
    score = fit.table().set_index("model")["expected_score"]
    assert np.isfinite(score).all()
    assert (score.idxmax(), score.idxmin()) == ("top", "low")
    raw = data.accuracy().set_index("model")["accuracy"]
    assert spearmanr(score, raw[score.index]).statistic > 0.95
    assert (fit.loading[:, 0] > 0).all()


def test_case_c05_a_model_without_answers_keeps_its_row(case_dir):
    data = case(case_dir, "C05/responses.csv")
    fit = fit_mirt_dif_map(data, dimension=1)
    table = fit.table().set_index("model")
    assert len(table) == 12
    assert table.loc["m05", "n"] == 0
    assert fit.ability[0, fit.models.index("m05")] == pytest.approx(0, abs=1e-8)
    assert "1 model rests on the prior, no answer: 'm05'" in fit.notices
    without = data.take(models=(data.models["model"] != "m05").to_numpy())
    alone = fit_mirt_dif_map(without, dimension=1, scales=fit.scales)
    expected = alone.table().set_index("model")["expected_score"]
    np.testing.assert_allclose(table["expected_score"].drop("m05"), expected, atol=1e-7)


def test_case_c10_order_changes_nothing(case_dir):
    one, two = (
        fit_mirt_dif_map(case(case_dir, f"C10/{name}.csv"), dimension=2)
        for name in ("ordered", "shuffled")
    )
    assert one.table().equals(two.table())
    assert one.item_table().equals(two.item_table())
    assert one.dif_table().equals(two.dif_table())


def test_case_c11_five_seeds_agree(case_dir):
    data = case(case_dir, "C11/responses.csv")
    fits = [fit_mirt_dif_map(data, dimension=2, starts=4, rng=seed) for seed in range(1, 6)]
    assert np.ptp([fit.log_posterior for fit in fits]) < 1e-4
    for fit in fits:
        np.testing.assert_allclose(fit.expected_score, fits[0].expected_score, atol=1e-4)
        assert (np.argsort(fit.expected_score) == np.argsort(fits[0].expected_score)).all()
    raw = data.accuracy().set_index("model")["accuracy"]
    assert spearmanr(fits[0].expected_score, raw[list(fits[0].models)]).statistic > 0.9


@pytest.mark.parametrize("dimension", [1, 2])
def test_case_c13_a_reversed_item_is_flagged_and_loads_the_other_way(case_dir, dimension):
    fit = fit_mirt_dif_map(case(case_dir, "C13/responses.csv"), dimension=dimension)
    first = dict(zip(fit.items, fit.loading[:, 0], strict=True))
    assert [item for item, loading in first.items() if loading < 0] == ["q04"]
    flags = dict(zip(fit.items, fit.flags, strict=True))
    assert [item for item, flag in flags.items() if "reversed" in flag] == ["q04"]
