"""What Bradley–Terry fits say: infinite strengths, refusals, notices, words."""

import json

import numpy as np
import pytest

from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.inference.bradley_terry import fit_bradley_terry


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


def test_equal_strengths_cannot_be_standardised():
    fit = fit_bradley_terry(build([("p", "q", "tie"), ("q", "r", "tie")]))
    assert fit.standardised()["strength"].isna().all()


# What phantom wins do


def chain(n: int, won: int, lost: int) -> Battles:
    pairs = [(f"m{i:02d}", f"m{i + 1:02d}") for i in range(n - 1)]
    return build([(*pair, label) for pair in pairs for label in ["a"] * won + ["b"] * lost])


def test_phantom_wins_that_pull_a_long_chain_together_are_said():
    """They are 2.5 % of the battles, and halve the distance of the ends."""
    battles = chain(20, 52, 28)
    (notice,) = fit_bradley_terry(battles).notices
    assert notice.startswith("phantom wins move the difference of 'm02' and 'm17' from 9.29 to 4.1")
    assert notice.endswith("5.7 standard errors; phantom_wins=0 leaves them out")
    assert not fit_bradley_terry(battles, phantom_wins=0).notices
    # the notice's own figures are those of the two fits
    gaps = [
        fit_bradley_terry(battles, phantom_wins=wins).difference("m02", "m17") for wins in (0, 0.1)
    ]
    assert f"from {gaps[0].estimate:.2f} to {gaps[1].estimate:.2f} logits" in notice
    assert round((gaps[0].estimate - gaps[1].estimate) / gaps[0].se, 1) == 5.7


def test_phantom_wins_that_pass_for_battles_are_said():
    battles = chain(6, 2, 2)
    (notice,) = fit_bradley_terry(battles).notices
    assert "shorten the standard error of the difference of 'm00' and 'm05' from 2.24 to" in notice


@pytest.mark.parametrize("battles", [chain(3, 52, 28), chain(2, 5, 3)], ids=["three", "two"])
def test_harmless_phantom_wins_are_not_said(battles):
    assert not fit_bradley_terry(battles).notices


def test_phantom_wins_are_judged_within_groups_that_have_an_estimate():
    battles = build([("p", "q", "a")] * 3 + [("q", "p", "a")] * 2 + [("p", "r", "a")] * 2)
    notices = fit_bradley_terry(battles).notices
    assert any("finite only by virtue of phantom wins" in notice for notice in notices)
    assert not any("move the difference" in notice for notice in notices)


# Who was shown first


def test_an_order_that_the_data_do_not_give_is_said():
    rows = [("p", "q", "a"), ("p", "q", "b"), ("q", "p", "a"), ("q", "p", "b"), ("p", "q", "a")]
    silent = fit_bradley_terry(build(rows), first_shown=True)
    assert any("model_a was taken as such throughout" in notice for notice in silent.notices)
    given = build(rows, first_shown=["a", "a", "a", "a", ""])
    told = fit_bradley_terry(given, first_shown=True)
    assert not any("model_a was taken" in notice for notice in told.notices)
    assert any("1 battle whose order is not known" in notice for notice in told.notices)
    assert not fit_bradley_terry(build(rows)).notices


def test_an_order_known_for_no_battle_is_refused():
    rows = [("p", "q", "a"), ("p", "q", "b")]
    with pytest.raises(DataError, match="who was shown first is not known for any battle"):
        fit_bradley_terry(build(rows, first_shown=["", ""]), first_shown=True)
