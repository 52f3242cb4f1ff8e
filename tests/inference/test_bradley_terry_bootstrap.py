"""Bootstrap of strengths: reproducible, honest about degenerate rounds, close to Wald (C31)."""

import numpy as np
import pytest

from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.read_battles import read_battles
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.bradley_terry_bootstrap import bootstrap_bradley_terry


def draw(seed, *, n=4, battles=400, prompts=None, weight=None) -> tuple:
    rng = np.random.default_rng(seed)
    a = rng.integers(n, size=battles)
    b = (a + rng.integers(1, n, size=battles)) % n
    won = rng.random(battles) < 1 / (1 + np.exp(0.5 * (b - a)))
    winner = np.where(rng.random(battles) < 0.2, "tie", np.where(won, "a", "b"))
    prompt = None if prompts is None else [f"q{i}" for i in rng.integers(prompts, size=battles)]
    return [f"m{i}" for i in a], [f"m{i}" for i in b], winner.tolist(), prompt


def build(columns, order=None, **options) -> Battles:
    order = np.arange(len(columns[0])) if order is None else order
    a, b, winner, prompt = [None if c is None else [c[i] for i in order] for c in columns]
    return Battles.build(a, b, winner, prompt=prompt, **options)


@pytest.mark.parametrize("unit", ["battle", "prompt"])
def test_same_seed_same_bytes_whatever_the_row_order(unit):
    columns = draw(1, prompts=30)
    order = np.random.default_rng(2).permutation(400)
    results = []
    for battles in (build(columns), build(columns, order)):
        fit = fit_bradley_terry(battles)
        results.append(bootstrap_bradley_terry(battles, fit, rounds=20, unit=unit, rng=7))
    assert results[0].draws.tobytes() == results[1].draws.tobytes()
    assert results[0].seed_entropy == 7


def test_case_c31_the_point_depends_on_no_seed(case_dir):
    battles = read_battles(case_dir / "C31" / "battles.json")
    fit = fit_bradley_terry(battles, phantom_wins=0)

    def table_of(rounds, seed):
        return bootstrap_bradley_terry(battles, fit, rounds=rounds, rng=seed).table()

    assert table_of(100, 1).equals(table_of(100, 1))
    tables = [table_of(100, 1), table_of(2000, 1), table_of(2000, 2)]
    for table in tables:
        assert (table["strength"] == fit.strength).all()
        assert (table["low"] <= table["strength"]).all()
        assert (table["strength"] <= table["high"]).all()
    limits = [table[["low", "high"]].to_numpy() for table in tables[1:]]
    assert 0 < np.abs(limits[0] - limits[1]).max() < 0.1


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"phantom_wins": 0},
        {"prior_sd": 1.0},
        {"ties": "davidson"},
        {"ties": "rao-kupper"},
        {"first_shown": True},
        {"first_shown": True, "ties": "davidson"},
    ],
    ids=str,
)
def test_spread_over_rounds_is_near_the_standard_error(options):
    battles = build(draw(3, battles=1500))
    fit = fit_bradley_terry(battles, **options)
    result = bootstrap_bradley_terry(battles, fit, rounds=400, rng=1)
    assert result.n_degenerate == 0
    ratio = result.table()["se"] / fit.se
    # Ties as half wins vary less than wins do: the bootstrap sees that, the information does not.
    floor = 0.80 if options.get("ties", "half") == "half" else 0.88
    # 400 rounds: Monte Carlo error 3.5 %
    assert ((floor < ratio) & (ratio < 1.12)).all()


def test_rounds_are_refits_of_the_drawn_battles():
    battles = build(draw(4, battles=60))
    fit = fit_bradley_terry(battles)
    result = bootstrap_bradley_terry(battles, fit, rounds=2, rng=5)
    cell, _ = battles.cells(by_position=False)
    order = np.lexsort((battles.weight, cell))
    rng = np.random.default_rng(5)
    for draws in result.draws:
        again = fit_bradley_terry(battles.take(order[rng.integers(60, size=60)]))
        assert draws == pytest.approx(again.strength, abs=1e-9)


def test_clusters_are_drawn_whole():
    a, b, winner, _ = draw(5, battles=40)
    # every battle ten times under one prompt: clustering sees 40 units, not 400
    repeated = [list(c) * 10 for c in (a, b, winner)] + [[f"q{i}" for i in range(40)] * 10]
    battles = build(repeated)
    fit = fit_bradley_terry(battles)
    naive = bootstrap_bradley_terry(battles, fit, rounds=300, rng=1)
    clustered = bootstrap_bradley_terry(battles, fit, rounds=300, unit="prompt", rng=1)
    assert (naive.n_unit, clustered.n_unit) == (400, 40)
    ratio = clustered.table()["se"] / naive.table()["se"]
    # ten copies inflate the standard error by the root of ten, less what phantom wins hold back
    assert ((ratio > 2.4) & (ratio < 4.2)).all()


@pytest.mark.parametrize("unit", ["prompt", "judge"])
def test_few_prompts_or_judges_are_said_to_be_few(unit):
    rng = np.random.default_rng(1)
    columns = draw(3)[:3]
    for n, few in ((3, True), (10, False)):
        ids = [f"u{i}" for i in rng.permutation(np.arange(400) % n)]
        battles = Battles.build(*columns, **{unit: ids})
        fit = fit_bradley_terry(battles)
        if few:
            with pytest.warns(CaveatWarning, match=f"3 {unit}s cannot tell how much {unit}s diff"):
                bootstrap_bradley_terry(battles, fit, rounds=5, unit=unit, rng=1)
        else:
            assert bootstrap_bradley_terry(battles, fit, rounds=5, unit=unit, rng=1).n_unit == 10


def test_weights_are_drawn_with_their_battles():
    columns = draw(6, battles=300)
    weight = np.random.default_rng(1).choice([0.5, 2.0], size=300)
    battles = build(columns, weight=weight)
    fit = fit_bradley_terry(battles)
    result = bootstrap_bradley_terry(battles, fit, rounds=300, rng=1)
    assert result.n_unit == 300
    assert np.abs(result.draws.mean(axis=0) - fit.strength).max() < 0.1


def test_degenerate_rounds_are_left_out_with_a_count():
    battles = Battles.build(["p"] * 6 + ["q"], ["q"] * 6 + ["p"], ["a"] * 7)
    fit = fit_bradley_terry(battles, phantom_wins=0)
    with pytest.warns(CaveatWarning, match=r"\d+ of 200 bootstrap rounds have no finite estimate"):
        result = bootstrap_bradley_terry(battles, fit, rounds=200, rng=1)
    # the single win is missing in (6/7)^7 of the rounds: 34 %, four standard errors are 13 %
    assert 0.20 < result.n_degenerate / 200 < 0.48
    assert len(result.draws) == 200 - result.n_degenerate
    assert np.isfinite(result.draws).all()
    damped = bootstrap_bradley_terry(battles, fit_bradley_terry(battles), rounds=200, rng=1)
    assert damped.n_degenerate == 0


def test_infinite_strengths_stay_infinite():
    rows = [("p", "q", "a")] * 9 + [("q", "p", "a")] * 6 + [("p", "x", "a")] * 5
    battles = Battles.build(*zip(*rows, strict=True))
    with pytest.warns(CaveatWarning, match="never wins: 'x'"):
        fit = fit_bradley_terry(battles, phantom_wins=0)
    result = bootstrap_bradley_terry(battles, fit, rounds=400, rng=3)
    table = result.table().set_index("model")
    assert table["low"]["x"] == -np.inf
    assert result.difference("p", "x").estimate == np.inf
    assert result.difference("p", "q").low < np.log(1.5) < result.difference("p", "q").high


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rounds": 1}, ValueError, "rounds must be at least 2, got 1"),
        ({"unit": "item"}, ValueError, "unit must be one of battle, prompt, judge, got 'item'"),
        ({"unit": "judge"}, DataError, "no battle has a judge; draw another unit"),
    ],
)
def test_options_are_checked(options, error, message):
    battles = build(draw(7))
    with pytest.raises(error, match=message):
        bootstrap_bradley_terry(battles, fit_bradley_terry(battles), **options)


def test_other_battles_are_refused():
    battles = build(draw(8))
    other = Battles.build(["x"], ["y"], ["tie"])
    with pytest.raises(DataError, match="not those that were fitted"):
        bootstrap_bradley_terry(other, fit_bradley_terry(battles), rng=1)
