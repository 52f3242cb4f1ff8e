"""Bradley–Terry fits against published values and the worked reference; coverage."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.data.battles import Battles
from neartie.data.read_battles import read_battles
from neartie.inference.bradley_terry import fit_bradley_terry


def from_counts(table: pd.DataFrame) -> Battles:
    """Battles from rows of model_a, model_b, win_a, win_b and perhaps tie."""
    ties = table["tie"] if "tie" in table else 0 * table["win_a"]
    columns = [("model_a", table["win_a"]), ("model_b", table["win_b"]), ("tie", ties)]
    names = table[["model_a", "model_b"]].astype(str)
    return Battles.build(
        [*names["model_a"]] * 3,
        [*names["model_b"]] * 3,
        [label for label, counts in columns for _ in counts],
        weight=np.concatenate([counts for _, counts in columns]),
    )


def gaps(fit, *, reference: str) -> dict[str, tuple[float, float]]:
    found = {}
    for model in fit.models:
        if model != reference:
            gap = fit.difference(model, reference)
            found[model] = (gap.estimate, gap.se)
    return found


PUBLISHED = {
    "Boston": (1.1077, 0.3339),
    "Cleveland": (0.6839, 0.3319),
    "Detroit": (1.4364, 0.3396),
    "Milwaukee": (1.5814, 0.3433),
    "New York": (1.2476, 0.3359),
    "Toronto": (1.2945, 0.3367),
}
PUBLISHED_HOME = {
    "Boston": (1.1438, 0.3378),
    "Cleveland": (0.7047, 0.3350),
    "Detroit": (1.4754, 0.3446),
    "Milwaukee": (1.6196, 0.3474),
    "New York": (1.2813, 0.3404),
    "Toronto": (1.3271, 0.3403),
}


@pytest.fixture
def classic(data_dir):
    return lambda name: pd.read_csv(data_dir / "bt_classic" / f"{name}.csv")


@pytest.mark.parametrize("home", [False, True])
def test_baseball_as_published(classic, home):
    """BradleyTerry2's vignette, after Agresti (2002), section 10.6; printed to four digits."""
    fit = fit_bradley_terry(from_counts(classic("baseball")), phantom_wins=0, first_shown=home)
    found = gaps(fit, reference="Baltimore")
    for team, (estimate, se) in (PUBLISHED_HOME if home else PUBLISHED).items():
        assert found[team][0] == pytest.approx(estimate, abs=5.1e-5)
        assert found[team][1] == pytest.approx(se, abs=5.1e-5)
    table = classic("baseball")
    share = table["win_a"] / (table["win_a"] + table["win_b"])
    saturated = np.sum(
        np.where(table["win_a"] > 0, table["win_a"] * np.log(share.where(share > 0, 1)), 0)
        + np.where(table["win_b"] > 0, table["win_b"] * np.log((1 - share).where(share < 1, 1)), 0)
    )
    # the published deviance is that of the 42 home pairings
    deviance = 2 * (saturated - fit.log_likelihood)
    assert deviance == pytest.approx(38.643 if home else 44.053, abs=5.1e-4)
    if home:
        (row,) = fit.parameters.to_dict("records")
        assert (row["estimate"], row["se"]) == pytest.approx((0.3023, 0.1309), abs=5.1e-5)


@pytest.mark.parametrize(
    ("name", "label", "reference"),
    [("citations", "citations", "Biometrika"), ("springall", "springall_ties_half", "1")],
)
def test_classic_sets_as_published_or_recomputed(data_dir, classic, name, label, reference):
    fit = fit_bradley_terry(from_counts(classic(name)), phantom_wins=0)
    found = gaps(fit, reference=reference)
    table = pd.read_csv(data_dir / "bt_classic" / "reference.csv", dtype={"parameter": str})
    table = table[table["data"] == label]
    assert len(table) == len(found)
    for row in table.itertuples():
        assert found[row.parameter][0] == pytest.approx(row.estimate, abs=5.1e-5)
        if not np.isnan(row.se):
            assert found[row.parameter][1] == pytest.approx(row.se, abs=5.1e-5)


def test_llmfao_golden_scores(data_dir):
    """Golden scores of Evalica 0.4 (ties one half), computed on this very file."""
    battles = read_battles(data_dir / "llmfao_crowd" / "battles.csv.gz")
    models = pd.read_csv(data_dir / "llmfao_crowd" / "models.csv").set_index("model")
    golden = models["evalica_bradley_terry"].loc[list(battles.models)].to_numpy()
    for engine in ("newton", "mm"):
        p = np.exp(fit_bradley_terry(battles, engine=engine, phantom_wins=0).strength)
        assert p / p.sum() == pytest.approx(golden, abs=1e-11)


def test_alpaca_eval_strengths_are_the_log_odds_of_the_published_win_rates(data_dir):
    """All models met one baseline only: a star, whose maximum is known in closed form."""
    folder = data_dir / "alpaca_eval_1"
    published = pd.read_csv(folder / "models.csv").set_index("model")["win_rate_published"].dropna()
    table = pd.read_csv(folder / "preference.csv.gz").drop(columns="item")
    rows = [
        (model, "baseline", label, int(np.sum(table[model] == value)))
        for model in table.columns
        for label, value in (("model_a", 1.0), ("model_b", 0.0), ("tie", 0.5))
    ]
    a, b, winner, weight = zip(*rows, strict=True)
    fit = fit_bradley_terry(Battles.build(a, b, winner, weight=weight), phantom_wins=0)
    for model, rate in published.items():
        chance = 100 * fit.difference(model, "baseline").win_probability
        # win rates are printed to three decimals
        assert chance == pytest.approx(rate, abs=1e-3)


@pytest.mark.parametrize("engine", ["mm", "newton"])
def test_worked_reference(reference_dir, engine):
    expected = json.loads((reference_dir / "expected" / "bradley_terry.json").read_text())
    battles = read_battles(reference_dir / "inputs" / "duels.csv.gz")
    assert list(battles.models) == expected["models"]
    fit = fit_bradley_terry(battles, engine=engine)
    assert fit.converged
    standard = fit.standardised()
    for name, found in {
        "log_p": fit.strength,
        "se_log_p_diag_damped": fit.se_diagonal,
        "se_log_p_full_damped": fit.se,
        "z": standard["strength"],
        "se_z_diag_damped": standard["se_diagonal"],
    }.items():
        assert np.asarray(found) == pytest.approx(expected[name], abs=1e-9), name
    half = fit_bradley_terry(battles, engine=engine, phantom_wins=0.05)
    other = expected["phantom_0.05_per_side"]
    assert half.strength == pytest.approx(other["log_p"], abs=1e-9)
    assert half.standardised()["strength"].to_numpy() == pytest.approx(other["z"], abs=1e-9)


@pytest.mark.slow
def test_diagonal_intervals_fail_on_a_ladder_and_full_ones_hold():
    rng = np.random.default_rng(20261130)
    n, games, rounds = 60, 200, 40
    first, second = zip(*[(i, i + k) for k in (1, 2) for i in range(n - k)], strict=True)
    first, second = np.array(first), np.array(second)
    names = np.array([f"m{i:03d}" for i in range(n)])
    hits = {"se": 0, "se_diagonal": 0}
    for _ in range(rounds):
        truth = rng.normal(size=n)
        truth -= truth.mean()
        wins = rng.binomial(games, 1 / (1 + np.exp(truth[second] - truth[first])))
        table = pd.DataFrame({"model_a": names[first], "model_b": names[second]})
        fit = fit_bradley_terry(
            from_counts(table.assign(win_a=wins, win_b=games - wins)), phantom_wins=0
        )
        for name in hits:
            hits[name] += int(np.sum(np.abs(fit.strength - truth) < 1.96 * getattr(fit, name)))
    total = n * rounds
    # errors within a round are dependent: 40 rounds leave about one point of Monte Carlo error
    assert 0.92 < hits["se"] / total < 0.98
    assert hits["se_diagonal"] / total < 0.6
