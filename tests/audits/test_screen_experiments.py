"""The experiments: designs, Borda counts, going on after a kill, refusals."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.screen_experiments import (
    borda_votes,
    grid_experiment,
    subsample_experiment,
    summarise,
)
from neartie.audits.screen_store import PARTS
from neartie.data.errors import DataError
from neartie.data.responses import Responses

FEW = ("signed_isotonic_r2", "phi", "mi")


def simulate(n_item=60, n_model=40, n_bad=8):
    rng = np.random.default_rng(1)
    logit = 1.5 * rng.normal(size=n_model) + rng.normal(size=(n_item, 1))
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    values[:n_bad] = 1 - values[:n_bad]
    items = pd.DataFrame(
        {
            "item": [f"q{i}" for i in range(n_item)],
            "is_bad": [int(i < n_bad) for i in range(n_item)],
        }
    )
    return Responses.build(values, items=items, models=[f"m{m}" for m in range(n_model)])


def subsample(data, **options):
    settings = {"n_items": 30, "n_models": 25, "n_resamples": 6, "fewest_bad": 2}
    return subsample_experiment(data, **(settings | {"statistics": FEW, "rng": 5} | options))


def test_signed_statistics_find_flipped_items_and_unsigned_ones_do_not():
    table = summarise(subsample(simulate())).set_index("statistic")
    assert table.loc["signed_isotonic_r2", "mean_auc"] > 0.97
    assert table.loc["mi", "mean_auc"] < 0.8
    assert (table["missing"] == 0).all()
    assert table["borda"].sum() == 3


def test_grid_covers_sizes_and_shares():
    results = grid_experiment(
        simulate(), item_counts=(8, 16, 512), model_shares=(0.5, 1.1), n_resamples=3,
        statistics=FEW, rng=2,
    )  # fmt: skip
    cells = results.groupby(["n_items", "n_models"]).size()
    assert sorted(cells.index) == [(8, 20), (8, 44), (16, 20), (16, 44)]
    assert (cells == 9).all()
    assert (results["n_bad"] >= 1).all()
    assert results["auc"].notna().all()


def test_sizes_that_come_out_alike_are_run_once():
    results = grid_experiment(
        simulate(), item_counts=(8, 8), model_shares=(1.0, 1.001), n_resamples=2,
        statistics=FEW, rng=2,
    )  # fmt: skip
    assert len(results) == 2 * len(FEW)


def test_borda_counts_by_hand():
    mean = pd.DataFrame({"a": [0.9, 0.5], "b": [0.8, np.nan], "c": [0.8, 0.6]})
    assert borda_votes(mean).to_dict() == {"a": 2.0, "b": 0.5, "c": 1.5}


def test_same_seed_same_bytes_whatever_the_order():
    data = simulate()
    rng = np.random.default_rng(3)
    moved = data.take(items=rng.permutation(60), models=rng.permutation(40))
    pd.testing.assert_frame_equal(subsample(data), subsample(moved), check_exact=True)
    assert not subsample(data).equals(subsample(data, rng=6))


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("neartie.audits.screen_store.EVERY", 2)
    data, calls = simulate(), []

    def die(step, share):
        calls.append(share)
        if len(calls) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        subsample(data, folder=tmp_path, progress=die)
    assert len((tmp_path / PARTS).read_text().splitlines()) == 1 + 4
    drawn = []
    monkeypatch.setattr(
        "neartie.audits.screen_experiments._resample",
        _counting(drawn),
    )
    resumed = subsample(data, folder=tmp_path)
    assert len(drawn) == 2
    monkeypatch.undo()
    pd.testing.assert_frame_equal(resumed, subsample(data), check_exact=True)
    pd.testing.assert_frame_equal(subsample(data, folder=tmp_path), resumed, check_exact=True)


def _counting(drawn):
    from neartie.audits.screen_experiments import _resample

    def resample(*arguments):
        drawn.append(1)
        return _resample(*arguments)

    return resample


def test_parts_of_another_run_are_refused(tmp_path):
    subsample(simulate(), folder=tmp_path)
    with pytest.raises(DataError, match="other data, settings or seed; name another folder"):
        subsample(simulate(), folder=tmp_path, rng=6)
    with pytest.raises(DataError, match="other data, settings or seed"):
        subsample(simulate(n_bad=9), folder=tmp_path)


@pytest.mark.parametrize("content", ["", "{}\nnonsense\n", '{"seed": 1'])
def test_damaged_parts_are_refused(tmp_path, content):
    (tmp_path / PARTS).write_text(content)
    with pytest.raises(DataError, match=r"is damaged|belongs to a run"):
        subsample(simulate(), folder=tmp_path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: subsample(simulate(), n_items=61),
            "61 items x 25 models does not fit 60 labelled",
        ),
        (lambda: subsample(simulate(), fewest_bad=9), "there are 8 bad items, and 9 are asked for"),
        (
            lambda: subsample(Responses.build([[0, 1]], items=["q"], models=["a", "b"])),
            "no column 'is_bad'",
        ),
        (
            lambda: subsample(simulate(n_bad=3), n_items=3, fewest_bad=3),
            "in 1000 draws of 3 items x 25 models none had 3 bad items",
        ),
        (
            lambda: grid_experiment(simulate(), item_counts=(100,)),
            "no size of the grid fits 60 labelled items",
        ),
    ],
)
def test_what_the_data_do_not_allow_is_said(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_unknown_statistics_are_named():
    with pytest.raises(ValueError, match="statistics must be out of"):
        subsample(simulate(), statistics=("beauty",))


def graded():
    data = simulate()
    halves = np.random.default_rng(9).integers(0, 2, data.values.shape) / 2
    return Responses.build(data.values + halves, items=data.items, models=data.models)


def test_graded_answers_have_the_statistics_that_exist_for_them(tmp_path):
    asked = ("signed_isotonic_r2", "acc", "phi", "kappa", "rho_rest")
    results = subsample(graded(), statistics=asked, folder=tmp_path)
    assert results["statistic"].unique().tolist() == ["signed_isotonic_r2", "phi", "rho_rest"]
    assert results.attrs["left_out"] == ("acc", "kappa")
    assert summarise(results).set_index("statistic").loc["signed_isotonic_r2", "mean_auc"] > 0.9
    again = subsample(graded(), statistics=asked, folder=tmp_path)
    pd.testing.assert_frame_equal(again, results, check_exact=True)
    sizes = grid_experiment(
        graded(), item_counts=(8, 16), model_shares=(0.5,), n_resamples=2, rng=2
    )
    assert set(sizes["statistic"]) == {"signed_isotonic_r2", "mi", "phi", "u_sym"}
    assert sizes["auc"].notna().all()


def test_graded_answers_without_a_statistic_that_exists_for_them_are_refused():
    with pytest.raises(DataError, match=r"acc, kappa need right/wrong answers.*--threshold"):
        subsample(graded(), statistics=("acc", "kappa"))
