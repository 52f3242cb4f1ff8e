"""Bradley–Terry fits: laws that hold for every option."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.data.battles import Battles
from neartie.data.errors import DataError
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


def draw(seed: int, *, n: int = 5, battles: int = 120) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n)
    rows = []
    for _ in range(battles):
        a, b = rng.choice(n, 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        label = "tie" if rng.random() < 0.2 else ("model_a" if won else "model_b")
        rows.append((f"m{a}", f"m{b}", label))
    return rows


def build(rows, **options) -> Battles:
    return Battles.build(*zip(*rows, strict=True), **options)


every_fit = pytest.mark.parametrize(
    "options",
    [
        {"engine": "mm"},
        {"engine": "newton"},
        {"phantom_wins": 0},
        {"prior_sd": 1.0},
        {"ties": "davidson"},
        {"ties": "rao-kupper"},
    ],
    ids=str,
)


@every_fit
@given(st.integers(0, 10**6), st.randoms())
@settings(max_examples=8, deadline=None)
def test_row_order_and_listing_change_no_bit(options, seed, random):
    rows = draw(seed)
    turn = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    other = [(b, a, turn[w]) if random.random() < 0.5 else (a, b, w) for a, b, w in rows]
    random.shuffle(other)
    one, two = fit_bradley_terry(build(rows), **options), fit_bradley_terry(build(other), **options)
    assert np.array_equal(one.strength, two.strength)
    assert np.array_equal(one.covariance, two.covariance)


@every_fit
def test_spelling_moves_names_only(options):
    rows = draw(1)
    other = [(f"{9 - int(a[1])}", f"{9 - int(b[1])}", w) for a, b, w in rows]
    one, two = fit_bradley_terry(build(rows), **options), fit_bradley_terry(build(other), **options)
    renamed = [two.models.index(str(9 - int(name[1]))) for name in one.models]
    # MM ends at a step of 1e-11, the others far below
    assert two.strength[renamed] == pytest.approx(one.strength, abs=1e-9)
    assert two.se[renamed] == pytest.approx(one.se, abs=1e-9)


@every_fit
def test_an_island_changes_nothing(options):
    rows = draw(2)
    island = [("x", "y", "model_a")] * 3 + [("y", "x", "model_a")] * 2 + [("x", "y", "tie")]
    alone = fit_bradley_terry(build(rows), **options)
    joined = fit_bradley_terry(build(rows + island), **options)
    if options.get("ties", "half") == "half":
        assert joined.strength[:5] == pytest.approx(alone.strength, abs=1e-9)
        assert joined.covariance[:5, :5] == pytest.approx(alone.covariance, abs=1e-9)
    # a tie model has one tie parameter for all, which an island does inform
    assert joined.strength[5:].sum() == pytest.approx(0, abs=1e-9)
    with pytest.raises(DataError, match="'m0' and 'x' cannot be compared: no chain of battles"):
        joined.difference("m0", "x")


@every_fit
def test_turning_all_verdicts_turns_all_signs(options):
    rows = draw(3)
    turn = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    one = fit_bradley_terry(build(rows), **options)
    two = fit_bradley_terry(build([(a, b, turn[w]) for a, b, w in rows]), **options)
    assert two.strength == pytest.approx(-one.strength, abs=1e-9)


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_a_balanced_round_robin_keeps_the_order_of_wins(seed):
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 7, size=(5, 5))
    rows = [(f"m{i}", f"m{j}", wins[i, j], 6 - wins[i, j]) for i in range(5) for j in range(i)]
    table = pd.DataFrame(rows, columns=["model_a", "model_b", "win_a", "win_b"])
    battles = from_counts(table)
    total = battles.win_rates()["wins"].to_numpy()
    for options in ({}, {"engine": "mm"}, {"prior_sd": 2.0}):
        strength = fit_bradley_terry(battles, **options).strength
        ahead = total[:, None] - total[None, :]
        by = strength[:, None] - strength[None, :]
        assert (by[ahead > 0] > 0).all()
        assert np.abs(by[ahead == 0]).max() < 1e-8


def test_a_whole_weight_is_as_many_battles():
    rows = draw(4)
    weights = np.random.default_rng(1).integers(1, 4, size=len(rows))
    repeated = [row for row, k in zip(rows, weights, strict=True) for _ in range(k)]
    one, two = build(rows, weight=weights), build(repeated)
    assert np.array_equal(fit_bradley_terry(one).strength, fit_bradley_terry(two).strength)


def test_all_ties_alike_and_no_ties_the_three_models_agree():
    rows = [row for row in draw(5) if row[2] != "tie"]
    plain = fit_bradley_terry(build(rows), phantom_wins=0)
    for ties, border in (("davidson", -np.inf), ("rao-kupper", 0.0)):
        fit = fit_bradley_terry(build(rows), ties=ties)
        assert fit.strength == pytest.approx(plain.strength, abs=1e-10)
        (row,) = fit.parameters.to_dict("records")
        assert row["estimate"] == border
        assert np.isnan(row["se"])
        assert "at its border" in row["note"]
        assert any("stands at its border" in notice for notice in fit.notices)


def test_phantom_wins_are_wins_for_both_sides_of_every_pair():
    rows = [("p", "q", "model_a")] * 3 + [("q", "r", "tie")] * 2
    pairs = [("p", "q"), ("p", "r"), ("q", "r")]
    phantoms = [(*pair, label) for pair in pairs for label in ("model_a", "model_b")]
    weight = [1.0] * 5 + [0.1] * 6
    by_hand = fit_bradley_terry(build(rows + phantoms, weight=weight), phantom_wins=0)
    fit = fit_bradley_terry(build(rows))
    assert fit.strength == pytest.approx(by_hand.strength, abs=1e-10)
    assert fit.covariance == pytest.approx(by_hand.covariance, abs=1e-10)


def test_a_wide_prior_is_maximum_likelihood():
    battles = build(draw(6))
    wide = fit_bradley_terry(battles, prior_sd=1e5)
    plain = fit_bradley_terry(battles, phantom_wins=0)
    assert wide.strength == pytest.approx(plain.strength, abs=1e-7)
    assert wide.covariance == pytest.approx(plain.covariance, abs=1e-7)


def test_position_effect_is_told_from_strength():
    rng = np.random.default_rng(1)
    rows, shown = [], []
    for _ in range(4000):
        a, b = rng.choice(4, 2, replace=False)
        first = rng.random() < 0.5
        logit = 0.5 * (a - b) + (0.8 if first else -0.8)
        won = rng.random() < 1 / (1 + np.exp(-logit))
        rows.append((f"m{a}", f"m{b}", "model_a" if won else "model_b"))
        shown.append("model_a" if first else "model_b")
    fit = fit_bradley_terry(build(rows, first_shown=shown), first_shown=True)
    (row,) = fit.parameters.to_dict("records")
    # four standard errors: false alarm once in 16,000
    assert abs(row["estimate"] - 0.8) < 4 * row["se"]
    for one, other in ((0, 3), (1, 2)):
        gap = fit.difference(f"m{one}", f"m{other}")
        assert abs(gap.estimate - 0.5 * (one - other)) < 4 * gap.se
