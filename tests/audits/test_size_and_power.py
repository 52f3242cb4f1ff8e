"""Size and power of the audit by simulation (`pytest -m slow`), on the study of the documentation.

Seeds are fixed. Each check states how often it would fail by chance if its claim held.
"""

import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from neartie.data.example import N_ITEMS, SEED, load_example
from neartie.data.simulate import simulate_leaderboard

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "power.py"


@pytest.fixture(scope="session")
def power():
    spec = spec_from_file_location("power_study", PATH)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def named(conditions, name):
    return next(condition for condition in conditions if condition.name == name)


def test_recovery_is_perfect_for_the_truth_itself_and_reversed_for_its_opposite(power):
    truth = simulate_leaderboard(n_items=30, n_models=40, n_owners=20, rng=1).truth
    items = pd.DataFrame({"item": truth.items, "dif_range": truth.dif_range})
    effects = pd.DataFrame(truth.dif, index=truth.items, columns=list(truth.families))
    dif = effects.rename_axis("item").reset_index().melt("item", var_name="family")
    dif = dif.rename(columns={"value": "effect"})

    def audit(sign):
        return SimpleNamespace(
            items=pd.concat(
                [items.assign(half=h, dif_range=sign * items.dif_range) for h in (0, 1)]
            ),
            dif=pd.concat([dif.assign(half=h, effect=sign * dif.effect) for h in (0, 1)]).sample(
                frac=1.0, random_state=1
            ),
        )

    assert power.recovery(audit(1), truth) == pytest.approx({"auc": 1.0, "correlation": 1.0})
    assert power.recovery(audit(-1), truth) == pytest.approx({"auc": 0.0, "correlation": -1.0})


def test_without_planted_items_there_is_nothing_to_recover(power):
    truth = simulate_leaderboard(n_items=8, dif_effect=0.0, rng=1).truth
    assert np.isnan(list(power.recovery(None, truth).values())).all()


def test_distance_from_uniform(power):
    grid = np.arange(1, 202) / 201
    distance, p_value = power.uniform_distance(grid)
    assert distance < 0.01
    assert p_value > 0.99
    assert power.uniform_distance(np.full(50, 1 / 201))[1] < 1e-12


def test_share_of_rejections_with_its_limits(power):
    share, low, high = power.rejection(np.array([0.05, 0.051, 0.001, 1.0]))
    assert share == 0.5
    assert (low, high) == pytest.approx((0.0676, 0.9324), abs=1e-4)


def test_the_page_keeps_what_was_written_by_hand(power, tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"old numbers\n{power.READING}\nWhat they mean.\n")
    monkeypatch.setattr(power, "SIZE", [small(power.SIZE[0])])
    monkeypatch.setattr(power, "POWER", [small(power.POWER[-1])])
    power.main(["--replicates", "2", "--out", str(page)])
    text = page.read_text()
    assert "old numbers" not in text
    assert text.endswith(f"{power.READING}\nWhat they mean.\n")
    assert "| exchangeable | 1 | 2 |" in text
    assert "| random 3 | 2 |" in text
    capsys.readouterr()


def small(condition):
    return replace(condition, board={**condition.board, "n_items": 80}, dimensions=(1,), more=1)


@pytest.mark.slow
def test_size_is_right_when_families_are_exchangeable(power):
    """120 leaderboards; false alarms: 1 in 500 (two checks of 1 in 1000)."""
    condition = replace(named(power.SIZE, "exchangeable"), dimensions=(None,), more=1)
    p = power.run([condition], replicates=120, seed=1)["p_value"].to_numpy(dtype=float)
    rejected = int((p <= power.LEVEL).sum())
    assert stats.binomtest(rejected, len(p), power.LEVEL).pvalue > 0.001
    assert power.uniform_distance(p)[1] > 0.001


@pytest.mark.slow
def test_unmodelled_ability_looks_like_dif(power):
    """Families differ in ability, no item has DIF, K = 1; 40 leaderboards.

    A sound test would reject as often as this with a chance below 1 in 1000.
    """
    condition = replace(named(power.SIZE, "profiles, 1 sd"), dimensions=(1,))
    rows = power.run([condition], replicates=40, seed=2)
    rejected = int((rows["p_value"] <= power.LEVEL).sum())
    assert stats.binomtest(rejected, len(rows), power.LEVEL, alternative="greater").pvalue < 0.001


@pytest.mark.slow
def test_shared_effects_are_found_and_move_rankings(power):
    """20 leaderboards an effect; the effects are far apart: false alarms below 1 in 1000."""
    names = ["shared 0.5", "shared 1.5", "shared 3"]
    rows = power.run([named(power.POWER, name) for name in names], replicates=20, seed=3)
    mean = rows.groupby("condition")[["auc", "correlation", "excess_pp"]].mean().loc[names]
    assert (mean.diff().iloc[1:] > 0).all(axis=None)
    assert mean.loc["shared 3", "auc"] > 0.85
    assert mean.loc["shared 3", "correlation"] > 0.55
    strong = rows[rows["condition"] == "shared 3"]
    assert (strong["p_value"] <= power.LEVEL).mean() >= 0.6


@pytest.mark.slow
def test_random_effects_are_found_but_hardly_move_rankings(power):
    """30 leaderboards; the mean excess is within 3.3 standard errors of 1: 1 in 1000."""
    rows = power.run([named(power.POWER, "random 3")], replicates=30, seed=4)
    assert rows["auc"].mean() > 0.85
    error = rows["excess_pp"].std(ddof=1) / np.sqrt(len(rows))
    assert abs(rows["excess_pp"].mean()) < 1 + 3.3 * error


@pytest.mark.slow
def test_the_bundled_example_is_typical_of_its_design(power):
    """Its excess lies between the quartiles of 20 other seeds (no chance: seeds are fixed)."""
    example = power.Condition(name="example", board={"n_items": N_ITEMS})
    others = power.run([example], replicates=20, seed=101)["excess_pp"]
    own = power.run([example], replicates=1, seed=SEED)["excess_pp"].iloc[0]
    low, high = np.quantile(others, [0.25, 0.75])
    assert low <= own <= high
    simulated = simulate_leaderboard(n_items=N_ITEMS, rng=SEED).responses
    assert (simulated.values == load_example().values).all()
