"""The comparison of the plug-in with posteriors: laws, a plain twin, stored rungs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import arviz as az
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import neartie
from neartie.audits.compare import compare
from neartie.audits.comparison import Comparison
from neartie.audits.comparison_base import ComparisonBase, comparison_base
from neartie.audits.comparison_boards import ModelBoards
from neartie.audits.comparison_rows import (
    CANNOT_SAY,
    DIFFERS,
    MATCHES,
    NO_INTERVAL,
    ladder_row,
    verdict,
)
from neartie.audits.comparison_settings import RUNGS, ComparisonSettings
from neartie.audits.draw_anchors import ANCHORS, DRAWS, choose_anchors
from neartie.audits.draw_reversals import LATENT, OBSERVED, PREDICTIVE, Orders, order_draws
from neartie.audits.half_draws import HalfDraws
from neartie.audits.replicates import ReplicateCounts
from neartie.audits.result import NearTieAudit
from neartie.audits.rung_result import CellResult, RungResult, pool_cell
from neartie.audits.rung_run import judge_draws, random_subtests
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import silent
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference.residual_dif import fit_residual_dif

AUDIT = AuditSettings(
    dimension=2,
    controls=60,
    bootstraps=0,
    min_family_size=5,
    alpha=0.5,
    bands=("0.05",),
    primary_band="0.05",
)
QUICK = ComparisonSettings(rungs=("residual",), draws=20, subtests=20)


@pytest.fixture(scope="module")
def responses() -> Responses:
    board = ModelBoards(n_items=60, n_models=60, n_owners=30, dif_scale=0.8)
    return board.draw(np.random.default_rng(5)).responses


@pytest.fixture(scope="module")
def audit(responses: Responses) -> NearTieAudit:
    return neartie.audit_near_ties(responses, AUDIT, rng=3)


@pytest.fixture(scope="module")
def base(responses: Responses, audit: NearTieAudit) -> ComparisonBase:
    return comparison_base(responses, audit)


@pytest.fixture(scope="module")
def compared(responses: Responses, audit: NearTieAudit) -> Comparison:
    return compare(responses, QUICK, audit=audit, rng=3)


def fixed_draws(base: ComparisonBase, n: int) -> list[HalfDraws]:
    """Return draws that all are the plug-in."""
    return [
        HalfDraws(
            easiness=np.repeat(half.plug_in.order_easiness[None], n, axis=0),
            effects=np.repeat(half.plug_in.effects[None], n, axis=0),
            predictor=lambda _, half=half: half.offset[:, half.representatives],  # type: ignore[misc]
        )
        for half in base.halves
    ]


def test_plug_in_rung_equals_the_audit(compared: Comparison, audit: NearTieAudit) -> None:
    row, band = compared.row("plug-in", "plug-in", "observed"), audit.band()
    assert row["reversal_rate"] == band["rate"]
    assert row["difference"] == 0.0
    assert row["excess_pp"] == pytest.approx(band["excess_pp"], abs=1e-12)
    assert row["p_value"] == band["p_value"]
    assert row["random_median"] == band["random_median"]
    assert (row["brier"], row["auc"], row["jaccard"]) == (0.0, 1.0, 1.0)


def test_pairs_are_those_of_the_audit(compared: Comparison, audit: NearTieAudit) -> None:
    decided = compared.pairs.dropna(subset="plugin_reversed")
    keys = ["model_a", "model_b", "half"]
    merged = decided.merge(audit.pairs, on=keys, how="outer", indicator=True)
    assert (merged["_merge"] == "both").all()
    assert (merged["plugin_reversed"] == merged["reversed"]).all()
    assert len(compared.pairs) >= audit.n_eligible


def test_anchors_of_the_plug_ins_own_d_equal_the_audit(base: ComparisonBase) -> None:
    rung = judge_draws(base, "fixed", fixed_draws(base, 20), QUICK, seed=1, progress=silent)
    rate = base.audit.band()["rate"]
    for kind in ANCHORS:
        cell = rung.cell(kind, OBSERVED)
        assert cell is not None
        assert set(cell.rate.tolist()) == {rate}
        assert rung.jaccard[kind] == 1.0
    assert rung.spearman_d["mean"] == pytest.approx(1.0)


def test_offset_is_that_of_the_selecting_round(base: ComparisonBase) -> None:
    for half in base.halves:
        again = fit_residual_dif(half.values, family=half.family, offset=half.offset)
        assert again.families == base.families
        # Both are optima to 1e-8, from other starts.
        assert np.allclose(again.effects, half.plug_in.effects, atol=1e-6)


def test_residual_draws_surround_the_plug_in(compared: Comparison) -> None:
    row = compared.row("residual", "mean", "observed")
    assert row["spearman_d"] > 0.85
    # A single draw is noisier than the mean of draws.
    assert compared.row("residual", "draws", "observed")["spearman_d"] < row["spearman_d"]
    assert compared.row("residual", "draws", "observed")["jaccard"] < row["jaccard"]


def test_order_of_rows_and_columns_changes_nothing(
    responses: Responses, compared: Comparison
) -> None:
    rng = np.random.default_rng(1)
    shuffled = responses.take(
        items=rng.permutation(responses.n_item), models=rng.permutation(responses.n_model)
    )
    # Items break ties by their place in the file, so only models may move.
    moved = responses.take(models=rng.permutation(responses.n_model))
    again = compare(moved, QUICK, audit=AUDIT, rng=3)
    pd.testing.assert_frame_equal(
        again.ladder.drop(columns="seconds"), compared.ladder.drop(columns="seconds")
    )
    assert compare(shuffled, QUICK, audit=AUDIT, rng=3).ladder.shape == compared.ladder.shape


def test_other_rungs_do_not_matter(responses: Responses, audit: NearTieAudit) -> None:
    settings = replace(QUICK, rungs=("residual", "residual-bootstrap"), offsets=4)
    both = compare(responses, settings, audit=audit, rng=3)
    alone = compare(responses, replace(settings, rungs=("residual",)), audit=audit, rng=3)
    kept = both.ladder[both.ladder["rung"] != "residual-bootstrap"]
    pd.testing.assert_frame_equal(
        kept.drop(columns="seconds"), alone.ladder.drop(columns="seconds")
    )


def test_reversals_equal_a_plain_twin(base: ComparisonBase) -> None:
    """Every order, counted pair by pair with fractions and loops."""
    rng = np.random.default_rng(8)
    target, other = base.halves[0], base.halves[1]
    n, n_item, n_people = 6, len(target.values), len(target.representatives)
    predictor = rng.normal(0, 0.3, (n, n_item, n_people))
    drawn = HalfDraws(
        easiness=np.zeros((n, n_item)),
        effects=rng.normal(size=(n, n_item, len(base.families))),
        predictor=lambda s: predictor[s],
    )
    anchors = choose_anchors(
        other.anchors,
        drawn.dif_range,
        drawn.mean_range,
        constant=np.zeros(n_item, bool),
        settings=base.settings,
    )
    chosen = random_subtests(base, 0, QUICK, seed=1)
    orders = order_draws(target, drawn, anchors, chosen, n=n, rng=np.random.default_rng(4))
    replicates = np.random.default_rng(4)
    for s in range(n):
        chance = expit(predictor[s])
        answers = (replicates.random(chance.shape) < chance).astype(int)
        for kind in ANCHORS:
            cell = other.anchors
            selected = anchors.selected(kind, s)
            weights = [
                Fraction(int(cell.cells.size[c]), int(cell.kept[c])) if own else Fraction(0)
                for c, own in zip(cell.cells.code, selected, strict=True)
            ]
            for score, table in ((PREDICTIVE, answers), (OBSERVED, target.target.values)):
                product = orders[kind, score].product
                row = product[s if len(product) > 1 else 0]
                for p, (a, b) in enumerate(zip(target.near.first, target.near.second, strict=True)):
                    full = int(table[:, a].sum()) - int(table[:, b].sum())
                    anchor = sum(
                        w * (int(table[i, a]) - int(table[i, b])) for i, w in enumerate(weights)
                    )
                    assert row[p] == np.sign(full) * ((anchor > 0) - (anchor < 0))
            row = orders[kind, LATENT].product[s]
            floats = np.array([float(w) for w in weights])
            for p, (a, b) in enumerate(zip(target.near.first, target.near.second, strict=True)):
                gap = chance[:, a].sum() - chance[:, b].sum()
                other_gap = floats @ chance[:, a] - floats @ chance[:, b]
                if abs(gap) > 1e-9 and abs(other_gap) > 1e-9:
                    assert row[p] == np.sign(gap) * np.sign(other_gap)


def test_weights_beyond_doubles_give_the_same_orders(
    base: ComparisonBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = fixed_draws(base, 3)
    exact = judge_draws(base, "x", drawn, QUICK, seed=2, progress=silent)
    monkeypatch.setattr("neartie.audits.scoring.EXACT_LIMIT", 1)
    slow = judge_draws(base, "x", drawn, QUICK, seed=2, progress=silent)
    for kind, score in ((DRAWS, OBSERVED), (DRAWS, PREDICTIVE), ("plug-in", PREDICTIVE)):
        first, second = exact.cell(kind, score), slow.cell(kind, score)
        assert first is not None
        assert second is not None
        assert np.array_equal(first.rate, second.rate)
        assert np.array_equal(first.random, second.random)


def test_stored_rungs_are_taken_up(
    responses: Responses, audit: NearTieAudit, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compare(responses, QUICK, audit=audit, folder=tmp_path, rng=3)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a finished rung was made again")

    monkeypatch.setattr("neartie.audits.compare.run_rung", refuse)
    # What only reads the rungs may change.
    other = replace(QUICK, margin=0.05, headline=("mean", "latent"))
    again = compare(responses, other, audit=audit, folder=tmp_path, rng=3)
    columns = ["reversal_rate", "low", "high", "difference", "brier", "seconds", "random_median"]
    pd.testing.assert_frame_equal(again.ladder[columns], first.ladder[columns])
    assert "p_within_5pp" in again.ladder


def test_stored_rungs_of_another_comparison_are_refused(
    responses: Responses, audit: NearTieAudit, tmp_path
) -> None:
    compare(responses, replace(QUICK, rungs=()), audit=audit, folder=tmp_path, rng=3)
    with pytest.raises(DataError, match="belongs to a comparison with other data"):
        compare(responses, replace(QUICK, rungs=()), audit=audit, folder=tmp_path, rng=4)


def test_damaged_rungs_are_refused(responses: Responses, audit: NearTieAudit, tmp_path) -> None:
    compare(responses, replace(QUICK, rungs=()), audit=audit, folder=tmp_path, rng=3)
    path = tmp_path / "rungs" / "plug-in.rung"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"plug-in\.rung is damaged; delete it"):
        compare(responses, replace(QUICK, rungs=()), audit=audit, folder=tmp_path, rng=3)


@pytest.mark.parametrize(
    ("low", "high", "within", "said"),
    [
        (-0.01, 0.015, 0.97, MATCHES),
        (-0.2, -0.1, 0.0, DIFFERS),
        (0.01, 0.1, 0.2, CANNOT_SAY),
        (-0.1, 0.1, 0.3, CANNOT_SAY),
        (np.nan, np.nan, np.nan, NO_INTERVAL),
    ],
)
def test_verdict_keeps_its_rule(low: float, high: float, within: float, said: str) -> None:
    row = {"difference_low": low, "difference_high": high, "p_within_2pp": within}
    assert verdict(row, ComparisonSettings()) == said


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rungs": ("gibbs",)}, f"rungs must be among {', '.join(RUNGS)}"),
        ({"draws": 50, "offsets": 20}, "shared evenly by 20 offsets"),
        ({"draws": 21, "rungs": ("full",)}, "shared evenly by 2 chains"),
        ({"margin": 2}, r"a proportion above 0, 0\.02 is two points"),
        ({"engine": "advi"}, "engine must be gibbs or nuts"),
        ({"headline": ("mean", "hidden")}, "headline names anchors"),
        ({"rungs": ("full", "full")}, "named twice"),
    ],
)
def test_settings_that_cannot_run_are_refused(given: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ComparisonSettings(**given)


def test_an_audit_of_other_answers_is_refused(responses: Responses, audit: NearTieAudit) -> None:
    fewer = responses.take(items=np.arange(50))
    with pytest.raises(DataError, match="was not made from these responses"):
        compare(fewer, QUICK, audit=audit)


def test_random_anchors_have_uniform_p_values(base: ComparisonBase) -> None:
    """Without any draw in it: each of many random subtests against all others, on true scores."""
    drawn = [
        HalfDraws(
            easiness=np.zeros((1, len(half.target.values))),
            effects=np.random.default_rng(half.number).normal(
                size=(1, len(half.target.values), len(base.families))
            ),
            predictor=lambda _, half=half: half.offset[:, half.representatives],  # type: ignore[misc]
        )
        for half in base.halves
    ]
    settings = replace(QUICK, subtests=99)
    found = []
    for seed in range(60):
        for half, own in zip(base.halves, drawn, strict=True):
            own.effects[:] = np.random.default_rng([seed, half.number]).normal(
                size=own.effects.shape
            )
        rung = judge_draws(
            base,
            "x",
            drawn,
            settings,
            seed=seed,
            kinds=("mean",),
            scores=(LATENT,),
            progress=silent,
        )
        cell = rung.cells[0]
        found.append((1 + 99 * cell.above[0]) / 100)
    # Ties make p larger. With 60 the share at or below .2 is .2 ± .05; 5 standard errors.
    assert np.mean(np.array(found) <= 0.2) < 0.2 + 5 * 0.052
    assert 0.4 < np.mean(found) < 0.7


def test_p_values_count_subtests_that_reverse_as_much() -> None:
    """By hand: two draws, four pairs in all, three subtests."""
    random = ReplicateCounts(
        n_eligible=np.array([[2, 2, 2], [2, 2, 0]]), n_reversed=np.array([[0, 1, 2], [0, 2, 0]])
    )
    none = ReplicateCounts(
        n_eligible=np.array([[2, 2, 2], [2, 2, 0]]), n_reversed=np.zeros((2, 3), np.int64)
    )
    full = np.ones((2, 2), np.int8)
    first = Orders(full=full, anchor=np.array([[-1, 1], [-1, -1]], np.int8), random=random)
    second = Orders(full=full, anchor=np.array([[1, 1], [-1, 0]], np.int8), random=none)
    cell = pool_cell("draws", LATENT, (first, second))
    assert cell.rate.tolist() == [1 / 4, 1.0]
    # Rates of subtests: 0, 1/4, 1/2; then 0, 1/2 and one undefined, which counts.
    assert cell.above.tolist() == [2 / 3, 1 / 3]
    assert cell.random.tolist() == [1 / 4, 1 / 4]
    assert cell.reversal.tolist() == [1.0, 1 / 2, 1 / 2, 0.0]


@pytest.mark.parametrize(
    ("chains", "known"),
    [((2, 2), True), ((2, 4), False), ((None, None), False), ((0, 0), False), ((3, 3), False)],
)
def test_rates_of_chains_have_an_r_hat_of_their_own(
    audit: NearTieAudit, chains: tuple[int | None, int | None], known: bool
) -> None:
    """Two chains of 200 that lie one standard deviation apart: an R-hat of about 1.2."""
    rng = np.random.default_rng(1)
    rate = 0.4 + 0.01 * (rng.standard_normal((2, 200)) + np.array([[0.0], [1.0]])).ravel()
    none = np.full(0, np.nan)
    cell = CellResult(
        anchors="draws",
        scores="observed",
        rate=rate,
        random=none,
        above=none,
        reversal=none,
        first_full=none,
        first_anchor=none,
    )
    rung = RungResult(
        name="full",
        cells=(cell,),
        spearman_d={"draws": 0.5},
        jaccard={"draws": 0.5},
        mean_range=np.zeros((2, 0)),
        chosen={},
        facts=tuple({} if n is None else {"chains": n} for n in chains),  # type: ignore[arg-type]
        seconds=1.0,
    )
    row = ladder_row(rung, cell, audit, QUICK, none)
    if not known:
        assert np.isnan([row["rate_r_hat"], row["rate_ess_bulk"]]).all()
        return
    said = az.rhat(rate.reshape(2, 200)), az.ess(rate.reshape(2, 200))
    np.testing.assert_allclose([row["rate_r_hat"], row["rate_ess_bulk"]], said, rtol=1e-9)
    assert row["rate_r_hat"] > 1.1
