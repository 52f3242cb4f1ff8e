"""The comparison on simulated leaderboards: targets, anchors' gain, recovery, boards."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import neartie
from neartie.audits.anchors import build_cells, select_anchors
from neartie.audits.compare_simulated import simulate_comparison
from neartie.audits.comparison_base import ComparisonBase, comparison_base
from neartie.audits.comparison_boards import DesignBoards, ModelBoards, boards_like
from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.comparison_truth import anchor_gain, true_range, true_targets
from neartie.audits.recovery import collect_recovery
from neartie.audits.scoring import weighted_scores
from neartie.audits.settings import AuditSettings
from neartie.data.errors import DataError
from neartie.data.truth import SimulatedLeaderboard

AUDIT = AuditSettings(
    dimension=1,
    controls=60,
    bootstraps=0,
    min_family_size=5,
    alpha=0.5,
    bands=("0.05",),
    primary_band="0.05",
)
QUICK = ComparisonSettings(rungs=("residual",), draws=20, subtests=20)
BOARDS = ModelBoards(n_items=60, n_models=48, n_owners=24, n_families=3, dimension=1, dif_scale=0.8)


@pytest.fixture(scope="module")
def board() -> SimulatedLeaderboard:
    return BOARDS.draw(np.random.default_rng(2))


@pytest.fixture(scope="module")
def base(board: SimulatedLeaderboard) -> ComparisonBase:
    audit = neartie.audit_near_ties(board.responses, AUDIT, rng=1)
    return comparison_base(board.responses, audit)


def test_latent_target_under_the_plug_ins_weights_is_that_of_true_scores(
    board: SimulatedLeaderboard, base: ComparisonBase
) -> None:
    """By another road: expected scores of the true probabilities, weights as fractions."""
    truth = board.truth
    chance = pd.DataFrame(truth.probability(), index=truth.items, columns=truth.models)
    n_reversed = n_pair = 0
    for half, other in (base.halves, base.halves[::-1]):
        models = np.array(half.responses.model_ids)[half.representatives]
        own = chance.loc[list(half.responses.item_ids), models].to_numpy()
        weight = np.array([float(w) for w in other.anchors.weights()])
        full, anchor = own.mean(axis=0), weight @ own / weight.sum()
        for a, b in zip(half.near.first, half.near.second, strict=True):
            n_reversed += (full[a] - full[b]) * (anchor[a] - anchor[b]) < 0
            n_pair += 1
    found = true_targets(base, truth, QUICK, seed=1)
    assert found.rate["plug-in", "latent"] == pytest.approx(n_reversed / n_pair, abs=1e-12)


def test_observed_target_is_the_rate_under_the_true_anchors(
    board: SimulatedLeaderboard, base: ComparisonBase
) -> None:
    true = true_range(base, board.truth)
    n_reversed = n_pair = 0
    for half, other in (base.halves, base.halves[::-1]):
        best = select_anchors(other.anchors.cells, true, alpha=AUDIT.alphas[0])
        scores = weighted_scores(half.target.values, [str(w) for w in best.weights()])
        for a, b, gap in zip(half.near.first, half.near.second, half.near.gap, strict=True):
            n_pair += scores[a] != scores[b]
            n_reversed += (scores[a] > scores[b]) == (gap < 0) and scores[a] != scores[b]
    found = true_targets(base, board.truth, QUICK, seed=1)
    assert found.rate["draws", "observed"] == pytest.approx(n_reversed / n_pair, abs=1e-12)


def test_without_effects_the_true_anchors_are_random_ones() -> None:
    board = replace(BOARDS, dif_scale=0.0).draw(np.random.default_rng(4))
    audit = neartie.audit_near_ties(board.responses, AUDIT, rng=1)
    base = comparison_base(board.responses, audit)
    found = true_targets(base, board.truth, replace(QUICK, draws=200, subtests=200), seed=1)
    for scores in ("observed", "latent", "predictive"):
        # Rates of random subtests have a standard deviation of some 6 points here, and a mean that
        # need not be their median; one choice of anchors would be that far off.
        assert abs(found.excess["draws", scores]) < 0.04


def test_gain_is_one_for_the_best_and_none_on_average_for_random_items() -> None:
    rng = np.random.default_rng(0)
    true = rng.exponential(size=80)
    cells = build_cells(np.repeat(["a", "b"], 40), rng.normal(size=80))
    best = select_anchors(cells, true)
    assert anchor_gain(best, best.selected.astype(float), true) == pytest.approx(1.0)
    worst = select_anchors(cells, -true)
    assert anchor_gain(best, worst.selected.astype(float), true) < -0.5
    assert anchor_gain(best, (best.kept / cells.size)[cells.code], true) == pytest.approx(0.0)
    assert np.isnan(anchor_gain(best, best.selected.astype(float), np.zeros(80)))


def test_recovery_is_that_of_its_replicates() -> None:
    found = simulate_comparison(BOARDS, QUICK, audit=AUDIT, replicates=2, rng=1)
    rows = found.replicates
    for row in found.table.to_dict("records"):
        own = rows[
            (rows["rung"] == row["rung"])
            & (rows["anchors"] == row["anchors"])
            & (rows["scores"] == row["scores"])
        ]
        error = own["reversal_rate"] - own["target"]
        assert row["n_replicates"] == 2
        assert row["bias"] == pytest.approx(error.mean())
        assert row["rmse"] == pytest.approx(np.sqrt((error**2).mean()))
        if own["low"].notna().all():
            held = (own["low"] <= own["target"]) & (own["target"] <= own["high"])
            assert row["coverage"] == held.mean()
    plug_in = found.anchors[found.anchors["rung"] == "plug-in"]
    # Random anchors gain 0, with a standard deviation of some .1 over two boards.
    assert plug_in["gain"].item() > 0.1
    assert plug_in["n"].item() == 4


class _Apart:
    """A client whose workers share nothing with this process but pickles."""

    def scatter(self, data: Any, *, hash: bool) -> Any:
        return pickle.dumps(data)

    def submit(self, function: Any, *args: Any, pure: bool) -> Any:
        data, number = args
        result = pickle.loads(pickle.dumps(function(pickle.loads(data), number)))
        return type("Future", (), {"result": lambda self: result})()


def test_workers_and_stops_change_nothing(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = simulate_comparison(BOARDS, QUICK, audit=AUDIT, replicates=2, rng=1, client=_Apart())
    simulate_comparison(BOARDS, QUICK, audit=AUDIT, replicates=1, rng=1, folder=tmp_path)
    resumed = simulate_comparison(BOARDS, QUICK, audit=AUDIT, replicates=2, rng=1, folder=tmp_path)
    pd.testing.assert_frame_equal(
        resumed.replicates.drop(columns="seconds"), whole.replicates.drop(columns="seconds")
    )
    with pytest.raises(DataError, match="seed"):
        simulate_comparison(BOARDS, QUICK, audit=AUDIT, replicates=1, rng=2, folder=tmp_path)


def test_boards_like_data_keep_its_design(board: SimulatedLeaderboard) -> None:
    like = boards_like(board.responses, dimension=1, audit=AUDIT, rng=1)
    first, second = (like.draw(np.random.default_rng(seed)) for seed in (1, 2))
    assert first.truth is second.truth
    assert not np.array_equal(first.responses.values, second.responses.values)
    assert set(first.responses.model_ids) == set(board.responses.model_ids)
    wanted = board.responses.models.set_index("model")[["owner", "family"]]
    got = first.responses.models.set_index("model")[["owner", "family"]]
    pd.testing.assert_frame_equal(got.sort_index(), wanted.sort_index(), check_dtype=False)
    none = boards_like(board.responses, dimension=1, dif_factor=0.0, audit=AUDIT, rng=1)
    assert not none.truth.dif.any()
    # The fit is near the data: mean probabilities are the shares of right answers.
    order = [list(board.responses.item_ids).index(name) for name in like.truth.items]
    shares = board.responses.values[order].mean(axis=1)
    assert np.abs(expit(like.truth.linear_predictor()).mean(axis=1) - shares).max() < 0.1


def test_boards_of_a_design_are_those_of_the_simulator() -> None:
    design = {"n_items": 40, "n_models": 30, "n_owners": 12, "n_unclassified": 0}
    board = DesignBoards(design=design).draw(np.random.default_rng(3))
    again = neartie.simulate_leaderboard(**design, rng=np.random.default_rng(3))
    assert np.array_equal(board.responses.values, again.responses.values)


def test_leaderboards_that_cannot_be_compared_are_counted_or_refused() -> None:
    records = [
        {"data_set": 0, "failed": "no pair", "k": [], "rows": [], "anchors": []},
    ]
    arguments: dict[str, Any] = {
        "boards": {},
        "settings": QUICK,
        "audit": AUDIT,
        "seed": 1,
        "versions": {},
    }
    with pytest.raises(DataError, match=r"none of 1 simulated leaderboard.* no pair"):
        collect_recovery(records, **arguments)
