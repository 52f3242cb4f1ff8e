"""Bradley–Terry fits: laws, published values, the worked reference, and the cases."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
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


def gaps(fit, *, reference: str) -> dict[str, tuple[float, float]]:
    found = {}
    for model in fit.models:
        if model != reference:
            gap = fit.difference(model, reference)
            found[model] = (gap.estimate, gap.se)
    return found


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


# Laws


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


def test_heavy_phantom_wins_are_said():
    fit = fit_bradley_terry(build(draw(1, battles=6)))
    assert any("phantom wins come to" in notice for notice in fit.notices)
    assert not fit_bradley_terry(build(draw(1, battles=300))).notices


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


# Published values


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


# Cases from public reports


def case(case_dir, name, **options):
    return fit_bradley_terry(read_battles(case_dir / name), **options)


def test_case_c22_listing_the_winner_first_changes_nothing(case_dir):
    first = case(case_dir, "C22/battles_first.json", phantom_wins=0)
    mixed = case(case_dir, "C22/battles_mixed.json", phantom_wins=0)
    assert first.strength.round(4).tolist() == [0.8681, 0.0303, -0.8983]
    pd.testing.assert_frame_equal(first.table(), mixed.table(), check_exact=True)


def test_case_c23_a_winless_model_harms_nobody(case_dir):
    with pytest.warns(CaveatWarning, match="1 model never wins: 'blue'.*use phantom wins"):
        fit = case(case_dir, "C23/battles.json", phantom_wins=0)
    table = fit.table().set_index("model")
    assert table["strength"]["blue"] == -np.inf
    assert fit.difference("red", "green").estimate == pytest.approx(np.log(3), abs=1e-10)
    assert fit.difference("blue", "green").estimate == -np.inf
    assert not table.isna().to_numpy().any()
    assert not fit.standardised()["strength"].isna().any()
    for options in ({}, {"prior_sd": 2.0}):
        blue, green, red = case(case_dir, "C23/battles.json", **options).strength
        assert np.isfinite([blue, green, red]).all()
        assert red > green > blue
    assert any(
        "finite only by virtue" in text for text in case(case_dir, "C23/battles.json").notices
    )


@pytest.mark.parametrize("name", ["pair", "with_island"])
def test_case_c25_unrelated_models_change_nothing(case_dir, name):
    fit = case(case_dir, f"C25/{name}.json", phantom_wins=0)
    gap = fit.difference("ash", "birch")
    assert gap.estimate == pytest.approx(np.log(8 / 5), abs=1e-10)
    assert gap.se == pytest.approx(np.sqrt(1 / 8 + 1 / 5), abs=1e-10)
    damped = case(case_dir, f"C25/{name}.json").difference("ash", "birch").estimate
    assert damped == pytest.approx(np.log(8.1 / 5.1), abs=1e-10)
    if name == "with_island":
        assert fit.difference("cedar", "dogwood").estimate == 0
        with pytest.raises(DataError, match="'ash' and 'cedar' cannot be compared: no chain"):
            fit.difference("ash", "cedar")


def test_case_c26_ties_as_half_wins(case_dir):
    fit = case(case_dir, "C26/battles.csv", phantom_wins=0)
    assert fit.difference("kea", "base").estimate == pytest.approx(np.log(0.4 / 0.6), abs=1e-10)
    assert fit.difference("lory", "base").estimate == pytest.approx(0, abs=1e-10)


def test_case_c28_nothing_but_ties(case_dir):
    fit = case(case_dir, "C28/battles.json", phantom_wins=0)
    assert np.abs(fit.strength).max() < 1e-6
    assert np.isfinite(fit.table()[["low", "high"]]).all(axis=None)
    assert fit.difference("s", "t").win_probability == pytest.approx(0.5)
    for ties in ("davidson", "rao-kupper"):
        with pytest.raises(DataError, match=f"'{ties}' has no finite estimate: every battle is a"):
            case(case_dir, "C28/battles.json", ties=ties)


def test_case_c29_self_battles_do_not_count(case_dir):
    fit = case(case_dir, "C29/battles.json", phantom_wins=0)
    found = dict(zip(fit.models, fit.strength.round(4), strict=True))
    assert found == {"owl": 0.5101, "jay": -0.1277, "wren": -0.3824}
    assert "left out 5 battles of a model with itself" in fit.notices


def test_case_c31_equal_records_are_equal(case_dir):
    fit = case(case_dir, "C31/battles.json", phantom_wins=0)
    for model in ("xeno", "yarrow"):
        gap = fit.difference(model, "base")
        assert gap.estimate == pytest.approx(np.log(24 / 16), abs=1e-10)
        assert gap.se == pytest.approx(np.sqrt(1 / 24 + 1 / 16), abs=1e-10)
    twins = fit.difference("xeno", "yarrow")
    assert twins.estimate == pytest.approx(0, abs=1e-12)
    assert round(twins.se, 4) == 0.4564


def test_case_c32_mm_and_direct_ml_agree(case_dir):
    expected = [1.1861, 0.3692, -0.0, -0.3692, -1.1861]
    for engine in ("mm", "newton"):
        fit = case(case_dir, "C32/battles.json", engine=engine, phantom_wins=0)
        assert fit.strength == pytest.approx(expected, abs=5.1e-5)
    shrunk = case(case_dir, "C32/battles.json", prior_sd=1.0).strength
    assert (np.diff(shrunk) < 0).all()
    assert shrunk[0] < 1.1861


def test_case_c34_two_models(case_dir):
    fit = case(case_dir, "C34/battles.json", phantom_wins=0)
    gap = fit.difference("moss", "fern")
    found = [gap.estimate, gap.se, gap.low, gap.high, gap.win_probability]
    assert np.round(found, 4).tolist() == [0.8109, 0.6009, -0.3669, 1.9887, 0.6923]
    assert fit.strength.round(4).tolist() == [-0.4055, 0.4055]


def test_case_c35_the_first_shown_effect(case_dir):
    fit = case(case_dir, "C35/battles.json", first_shown=True)
    assert fit.difference("calm", "loud").estimate == pytest.approx(0, abs=1e-10)
    (row,) = fit.parameters.to_dict("records")
    assert row["parameter"] == "first_shown"
    assert row["estimate"] == pytest.approx(np.log(9), abs=1e-9)


def test_case_c82(case_dir):
    fit = case(case_dir, "C82/battles.csv", phantom_wins=0)
    assert round(fit.difference("a", "b").estimate, 4) == 0.8473


# Separation and refusals


def test_whole_groups_may_be_infinitely_apart():
    rows = [("p", "q", "model_a"), ("q", "p", "model_a"), ("p", "q", "model_a")]
    rows += [("r", "s", "model_a"), ("s", "r", "model_a"), ("p", "r", "model_a")]
    with pytest.warns(CaveatWarning, match=r"a group of 2 models \('p', 'q'\) wins every battle"):
        fit = fit_bradley_terry(build(rows), phantom_wins=0)
    # of two groups of one size neither is the reference
    assert fit.strength.tolist() == [np.inf, np.inf, -np.inf, -np.inf]
    assert fit.difference("p", "q").estimate == pytest.approx(np.log(2), abs=1e-10)
    assert fit.difference("q", "s").estimate == np.inf
    assert fit.difference("s", "q").estimate == -np.inf
    assert np.isinf(fit.se).all()


def test_two_winners_that_never_met_are_not_compared():
    rows = [("p", "x", "model_a"), ("q", "x", "model_a")]
    with pytest.warns(CaveatWarning, match="2 models never lose: 'p', 'q'"):
        fit = fit_bradley_terry(build(rows), phantom_wins=0)
    assert fit.strength.tolist() == [np.inf, np.inf, -np.inf]
    with pytest.raises(DataError, match="'p' and 'q' cannot be compared by maximum likelihood"):
        fit.difference("p", "q")


def test_a_model_without_battles_has_no_strength():
    battles = build([*draw(1), ("m0", "x", "model_a")])
    fit = fit_bradley_terry(battles.take(np.arange(battles.n_battle - 1)))
    table = fit.table().set_index("model")
    assert np.isnan(table["strength"]["x"])
    assert np.isinf(table["se"]["x"])
    assert table["strength"].drop("x").notna().all()
    assert "1 model without any battle: 'x'" in fit.notices


def test_iterations_that_run_out_are_said():
    battles = build(draw(7))
    with pytest.warns(CaveatWarning, match="mm did not converge: after 3 iterations"):
        fit = fit_bradley_terry(battles, engine="mm", max_iterations=3)
    assert not fit.converged
    assert "NOT CONVERGED in 3 iterations" in str(fit)
    assert fit.to_dict()["converged"] is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "elo"}, "engine must be one of newton, mm, got 'elo'"),
        ({"ties": "none"}, "ties must be one of half, davidson, rao-kupper, got 'none'"),
        ({"engine": "mm", "prior_sd": 1.0}, "engine 'mm' takes ties as half wins"),
        ({"engine": "mm", "ties": "davidson"}, "use engine 'newton'"),
        ({"phantom_wins": -1}, "phantom_wins must be finite and not negative, got -1"),
        ({"prior_sd": 0}, "prior_sd must be positive, got 0"),
        ({"tolerance": 0}, "tolerance must be positive, got 0"),
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        fit_bradley_terry(build(draw(1)), **options)


def test_results_answer_in_words_and_refuse_unknown_names():
    fit = fit_bradley_terry(build(draw(1)), ties="davidson")
    text = str(fit)
    assert text.startswith("Bradley-Terry: 5 models (newton, ties davidson, 0 phantom wins), conv")
    assert "log_tie: " in text
    json.dumps(fit.to_dict())
    with pytest.raises(DataError, match="no model 'zz' in these battles; some of them: 'm0'"):
        fit.difference("m0", "zz")
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got 2"):
        fit.table(level=2)


def test_standardised_strengths_have_mean_0_and_sd_1():
    fit = fit_bradley_terry(build(draw(8)))
    table = fit.standardised()
    assert table["strength"].mean() == pytest.approx(0, abs=1e-12)
    assert table["strength"].std(ddof=0) == pytest.approx(1)
    assert (table["se"] / fit.se).to_numpy() == pytest.approx(1 / fit.strength.std())


def test_equal_strengths_cannot_be_standardised(case_dir):
    assert case(case_dir, "C28/battles.json").standardised()["strength"].isna().all()


# Coverage: the printed standard error against the right one


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
