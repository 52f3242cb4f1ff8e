"""The screen on real sets with known bad items: published areas under the curve."""

import numpy as np
import pytest

from neartie.audits.screen import ScreenSettings, screen_items
from neartie.data.read import read_responses

AUCS = [
    # "Reference numbers" of the folder of real data, recomputed there by an independent routine.
    ("metabench_gsm8k_a", 12, 249, {"phi": 0.741, "signed_isotonic_r2": 0.739, "rho_rest": 0.741}),
    ("gsm8k_zeroeval", 108, 1088, {"phi": 0.737, "signed_isotonic_r2": 0.786, "rho_rest": 0.733}),
    ("swebench_verified", 26, 468, {"phi": 0.423, "signed_isotonic_r2": 0.429, "rho_rest": 0.427}),
]


@pytest.mark.parametrize(("name", "n_bad", "n_item", "expected"), AUCS)
def test_labelled_real_sets(data_dir, name, n_bad, n_item, expected):
    folder = data_dir / name
    data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
    screen = screen_items(data, ScreenSettings(statistics="fast", n_null=0), rng=1)
    auc = screen.auc.set_index("statistic")
    assert (auc["n_bad"] == n_bad).all()
    assert (auc["n_bad"] + auc["n_good"] == n_item).all()
    for statistic, value in expected.items():
        assert auc.loc[statistic, "auc"] == pytest.approx(value, abs=6e-4)


def test_the_complete_models_of_mmlu_redux(data_dir):
    folder = data_dir / "mmlu_redux_helm"
    data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
    complete = data.take(models=np.argsort(-data.observed.sum(axis=0), kind="stable")[:14])
    screen = screen_items(complete, ScreenSettings(statistics="fast", n_null=0), rng=1)
    auc = screen.auc.set_index("statistic")["auc"]
    assert auc["phi"] == pytest.approx(0.569, abs=0.002)
    assert auc["signed_isotonic_r2"] == pytest.approx(0.630, abs=0.002)


@pytest.mark.parametrize(
    ("source", "expected"),
    [("agreeableness", 1), ("conscientiousness", 1), ("extraversion", 1), ("openness", 5 / 6)],
)
def test_reverse_keyed_items_within_their_scale(data_dir, source, expected):
    folder = data_dir / "bfi_reversed"
    data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
    own = data.take(items=(data.items["source"] == source).to_numpy())
    screen = screen_items(own, ScreenSettings(statistics="fast", n_null=0), rng=1)
    auc = screen.auc.set_index("statistic")["auc"]
    assert auc["signed_isotonic_r2"] == pytest.approx(expected)
    # With four partners a third, reversed one can sway a mean of squares; correlations add up.
    assert auc["phi"] == 1
