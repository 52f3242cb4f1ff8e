"""Predictive checks: p is uniform where it must be, misfit is found, the fit's own likelihood."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from scipy.special import expit, log_expit

from neartie.audits.posterior_checks import check_posterior, check_prior
from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.inference.expected_scores import linear_predictor
from neartie.inference.log_likelihood import add_log_likelihood
from neartie.inference.prior_draws import draw_prior
from neartie.inference.replicated_battles import observed_battles, row_logits
from neartie.models.bradley_terry import outcome_log_probabilities
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.mirt_dif import build_mirt_dif
from neartie.models.priors import ResidualDifPriors
from neartie.models.residual_dif_model import build_residual_dif
from neartie.models.two_pl import build_two_pl

N_ITEM, N_MODEL = 25, 12


def two_pl_draws(rng, n):
    """Draws of abilities, difficulties, discriminations from the default prior of the 2PL."""
    return (
        rng.normal(size=(n, N_MODEL)),
        1.5 * rng.normal(size=(n, N_ITEM)),
        np.exp(0.5 * rng.normal(size=(n, N_ITEM))),
    )


def two_pl_tree(draws, score):
    ability, difficulty, discrimination = (part[None] for part in draws)
    items, models = [f"q{i}" for i in range(N_ITEM)], [f"m{m}" for m in range(N_MODEL)]
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {
                    "ability": (("chain", "draw", "model"), ability),
                    "difficulty": (("chain", "draw", "item"), difficulty),
                    "discrimination": (("chain", "draw", "item"), discrimination),
                },
                coords={"item": items, "model": models},
            ),
            "observed_data": xr.Dataset({"score": (("item", "model"), score)}),
            "constant_data": xr.Dataset(),
        }
    )
    tree.attrs = {"kind": "two-pl", "converged": "yes"}
    return tree


def answers_of(rng, ability, difficulty, discrimination):
    logit = discrimination[:, None] * (ability - difficulty[:, None])
    return (rng.random(logit.shape) < expit(logit)).astype(np.int8)


def p_values(n_data, *, known):
    """p of every statistic, and of a model's and an item's total, over many sets of data."""
    rng = np.random.default_rng(20261130)
    found = []
    for _ in range(n_data):
        truth = two_pl_draws(rng, 1)
        data = answers_of(rng, *(part[0] for part in truth))
        # Replicates of the very parameters, or of any that the prior may give.
        draws = tuple(np.repeat(p, 99, axis=0) for p in truth) if known else two_pl_draws(rng, 99)
        checks = check_posterior(two_pl_tree(draws, data), rng=rng)
        totals = [checks.models["p"][0], checks.items["p"][0]]
        found.append([*checks.statistics["p"], *totals])
    return np.array(found)


# Seven statistics at a level of 0.0005: a false alarm for one seed in 280.
LEVEL = 0.0005


@pytest.mark.parametrize("known", [True, False], ids=["parameters known", "from the prior"])
def test_p_is_uniform_when_data_come_from_where_replicates_come_from(known):
    """Mid-p of counts has mean 1/2 and is no more spread out than uniform (stochastic order)."""
    p = p_values(80, known=known)
    # Nearly continuous ones are uniform; of the others, the mean is one half.
    for column in (1, 2, 3, 4, 5):
        assert stats.kstest(p[:, column], "uniform").pvalue > LEVEL
    centre = np.abs(p.mean(axis=0) - 0.5) * np.sqrt(12 * len(p))
    assert (centre < stats.norm.isf(LEVEL / 2)).all()


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["parameters known", "from the prior"])
def test_p_is_uniform_over_many_sets_of_data(known):
    p = p_values(1500, known=known)
    for column in (1, 2, 3, 4, 5):
        assert stats.kstest(p[:, column], "uniform").pvalue > LEVEL
    # What a check is used for: how often it warns, here two-sided at 10 %.
    warned = ((p < 0.05) | (p > 0.95)).mean(axis=0)
    assert (warned < 0.1 + 4 * np.sqrt(0.09 / 1500)).all()


def bradley_terry_tree(outcome, strength, log_tie, *, n_draw=99):
    first, second = np.triu_indices(5, k=1)
    rows = len(first)
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {
                    "strength": (("chain", "draw", "model"), np.tile(strength, (1, n_draw, 1))),
                    "log_tie": (("chain", "draw"), np.full((1, n_draw), log_tie)),
                },
                coords={"model": list("abcde")},
            ),
            "observed_data": xr.Dataset({"outcome": (("pair", "result"), outcome)}),
            "constant_data": xr.Dataset(
                {
                    "pair_first": ("pair", first),
                    "pair_second": ("pair", second),
                    "pair_shown": ("pair", np.zeros(rows, dtype=int)),
                    "pair_judge": ("pair", np.full(rows, -1)),
                }
            ),
        }
    )
    tree.attrs = {"kind": "bradley-terry", "options": json.dumps({"ties": "davidson"})}
    return tree


def test_p_of_battles_is_uniform_when_replicates_have_the_true_strengths():
    rng = np.random.default_rng(5)
    strength = np.array([1.0, 0.5, 0.0, -0.5, -1.0])
    first, second = np.triu_indices(5, k=1)
    logs = outcome_log_probabilities(strength[first] - strength[second], -0.3, ties="davidson")
    chance = np.exp(np.stack(logs, axis=1))
    found = []
    for _ in range(80):
        outcome = rng.multinomial(40, chance / chance.sum(axis=1, keepdims=True)).astype(float)
        checks = check_posterior(bradley_terry_tree(outcome, strength, -0.3), rng=rng)
        found.append([*checks.statistics["p"][1:], *checks.models["p"]])
    p = np.array(found)
    for column in range(p.shape[1]):
        assert stats.kstest(p[:, column], "uniform").pvalue > LEVEL


def test_intransitive_battles_are_found():
    # a beats b beats c beats d beats e beats a: win rates are equal and explain nothing.
    first, second = np.triu_indices(5, k=1)
    ahead = (second - first) % 5 <= 2
    outcome = np.where(ahead[:, None], [30.0, 5.0, 5.0], [5.0, 30.0, 5.0])
    checks = check_posterior(bradley_terry_tree(outcome, np.zeros(5), -1.0), rng=1)
    row = checks.statistic("surprise")
    assert row["observed"] == pytest.approx(1)
    assert checks.models["observed"].nunique() == 1


def test_unequal_slopes_are_found_under_equal_ones():
    rng = np.random.default_rng(4)
    ability, difficulty, _ = two_pl_draws(rng, 1)
    # Items at the middle of the abilities, so that their slopes are what correlations show.
    difficulty = 0.2 * difficulty
    slopes = np.where(np.arange(N_ITEM) % 2, 5.0, 0.0)
    score = answers_of(rng, ability[0], difficulty[0], slopes)
    draws = (np.repeat(part, 200, axis=0) for part in (ability, difficulty, slopes[None] ** 0))
    checks = check_posterior(two_pl_tree(tuple(draws), score), rng=1)
    row = checks.statistic("item_correlation_sd")
    assert row["outside"] == 1
    assert row["p"] < 0.01
    assert row["observed"] > row["high"]


def test_missing_cells_stay_missing_in_replicates():
    rng = np.random.default_rng(6)
    draws = two_pl_draws(rng, 20)
    values = np.full(300, 1)
    cells = np.flatnonzero(np.ones(N_ITEM * N_MODEL))
    # Model 0 answered item 0 alone; item 1 has no answer at all.
    item, model = np.divmod(cells, N_MODEL)
    kept = (item != 1) & ((model != 0) | (item == 0))
    tree = two_pl_tree(draws, np.zeros((N_ITEM, N_MODEL)))
    tree["observed_data"] = xr.DataTree(xr.Dataset({"score": ("cell", values[kept])}))
    tree["constant_data"] = xr.DataTree(
        xr.Dataset({"cell_item": ("cell", item[kept]), "cell_model": ("cell", model[kept])})
    )
    checks = check_posterior(tree, rng=1)
    assert checks.models["n"].tolist() == [1] + [N_ITEM - 1] * (N_MODEL - 1)
    assert checks.models["high"].max() <= N_ITEM - 1
    assert checks.models["high"][0] <= 1
    empty = checks.items.iloc[1]
    assert empty["n"] == 0
    assert empty[["observed", "predicted", "low", "high", "p"]].isna().all()
    assert checks.coverage["n"].tolist() == [N_ITEM - 1, N_MODEL]


@pytest.fixture(scope="module")
def leaderboard():
    rng = np.random.default_rng(11)
    values = answers_of(rng, *(part[0] for part in two_pl_draws(rng, 1))).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    models = pd.DataFrame(
        {"model": [f"m{m:02d}" for m in range(N_MODEL)], "family": ["A", "B", "C"] * 4}
    )
    return Responses.build(values, items=[f"q{i:02d}" for i in range(N_ITEM)], models=models)


RECORDS = [("owl", "ant", "a", "j"), ("ant", "bee", "tie", "k"), ("bee", "owl", "a", "j")] * 3
BATTLES = Battles.build(
    *zip(*[row[:3] for row in RECORDS], strict=True),
    judge=[row[3] for row in RECORDS],
    first_shown=["a"] * 9,
)

MODELS = {
    "2PL": lambda data: build_two_pl(data, hierarchical=True, family_means=True),
    "1PL": lambda data: build_two_pl(data, discrimination="one"),
    "signed": lambda data: build_two_pl(data, discrimination="signed"),
    "MIRT": lambda data: build_mirt_dif(data, dimension=2, sparse=True),
    "residual": lambda data: build_residual_dif(
        data, np.full((N_ITEM, N_MODEL), 0.5), priors=ResidualDifPriors(easiness_sd=2.0)
    ),
    "half": lambda data: build_bradley_terry(BATTLES),
    "davidson": lambda data: build_bradley_terry(
        BATTLES, ties="davidson", first_shown=True, judge_effects=True
    ),
    "rao-kupper": lambda data: build_bradley_terry(BATTLES, ties="rao-kupper", hierarchical=True),
}


@pytest.mark.parametrize("name", MODELS)
def test_replicates_have_the_probabilities_of_the_models_likelihood(name, leaderboard):
    model = MODELS[name](leaderboard)
    tree = draw_prior(model, draws=2, rng=1)
    tree["posterior"] = tree["prior"]
    found = add_log_likelihood(tree, model)["log_likelihood"].to_dataset()
    constant = tree["constant_data"].to_dataset()
    if "score" in found:
        predictor, item, column = (
            linear_predictor(tree),
            *(constant[part].to_numpy() for part in ("cell_item", "cell_model")),
        )
        sign = 2 * tree["observed_data"]["score"].to_numpy() - 1.0
        for draw in range(2):
            expected = log_expit(sign * predictor(0, draw)[item, column])
            np.testing.assert_allclose(found["score"][0, draw], expected, atol=1e-9)
        return
    battles = observed_battles(tree)
    for draw in range(2):
        point = tree["posterior"].to_dataset().isel(chain=0, draw=draw)
        tie = float(point["log_tie"]) if "log_tie" in point else 0.0
        logits = row_logits(point, battles, constant["pair_judge"].to_numpy())
        logs = outcome_log_probabilities(logits, tie, ties=battles.ties)
        expected = (battles.outcome * np.stack(logs, axis=1)).sum(axis=1)
        np.testing.assert_allclose(found["outcome"][0, draw], expected, atol=1e-9)


@pytest.mark.parametrize("name", ["2PL", "davidson"])
def test_the_prior_is_checked_whatever_the_model(name, leaderboard):
    checks = check_prior(MODELS[name](leaderboard), draws=40, rng=3)
    assert checks.source == "prior"
    assert checks.n_draws == 40
    assert checks.histogram["models"].sum() == pytest.approx(1)
    assert checks.statistics["p"].between(0, 1).all()
    assert str(checks).startswith("Prior predictive check of ")
    json.dumps(checks.to_dict())
    again = check_prior(MODELS[name](leaderboard), draws=40, rng=3)
    pd.testing.assert_frame_equal(checks.replicates, again.replicates)


def test_prior_mean_accuracy_is_that_of_the_prior():
    """Symmetric around one half; its spread over draws is that of the mean of all items."""
    rng = np.random.default_rng(8)
    data = Responses.build(
        rng.integers(0, 2, (N_ITEM, N_MODEL)),
        items=[f"q{i}" for i in range(N_ITEM)],
        models=[f"m{m}" for m in range(N_MODEL)],
    )
    checks = check_prior(build_two_pl(data), draws=400, rng=1)
    drawn = [answers_of(rng, *(p[0] for p in two_pl_draws(rng, 1))).mean() for _ in range(400)]
    found = checks.replicates["mean_accuracy"]
    assert stats.ks_2samp(found, drawn).pvalue > LEVEL


def test_order_of_rows_and_columns_changes_nothing(leaderboard):
    turned = leaderboard.take(
        items=np.arange(N_ITEM)[::-1].copy(), models=np.arange(N_MODEL)[::-1].copy()
    )
    one, two = (check_prior(build_two_pl(data), draws=10, rng=2) for data in (leaderboard, turned))
    pd.testing.assert_frame_equal(one.items, two.items)
    pd.testing.assert_frame_equal(one.replicates, two.replicates)


def test_families_and_owners_decide_which_pairs_count():
    draws = two_pl_draws(np.random.default_rng(1), 5)
    tree = two_pl_tree(draws, np.ones((N_ITEM, N_MODEL), dtype=np.int8))
    ids = [f"m{m}" for m in range(N_MODEL)]
    table = pd.DataFrame({"model": ids, "family": ["A", "B"] * 6, "owner": ["x"] * 11 + ["y"]})
    n_pairs = {}
    for columns in (["model", "family"], ["model", "owner"], ["model", "family", "owner"]):
        checks = check_posterior(tree, models=table[columns], rng=1)
        n_pairs[checks.across] = checks.statistic("near_ties")["observed"]
    assert n_pairs == {
        "pairs of different families": 36,
        "pairs of different owners": 11,
        "pairs of different families and owners": 6,
    }
    assert check_posterior(tree, rng=1).statistic("near_ties")["observed"] == 66
    with pytest.raises(DataError, match=r"no row for 'm11'"):
        check_posterior(tree, models=table.iloc[:-1], rng=1)
    with pytest.raises(DataError, match="needs the columns 'model' and 'family' or 'owner'"):
        check_posterior(tree, models=table[["model"]], rng=1)
    table.loc[3, "family"] = " "
    with pytest.raises(DataError, match="no family for 'm3'"):
        check_posterior(tree, models=table, rng=1)


def test_fewer_replicates_are_spread_over_all_chains():
    draws = two_pl_draws(np.random.default_rng(1), 50)
    tree = two_pl_tree(draws, np.ones((N_ITEM, N_MODEL), dtype=np.int8))
    steps = []
    checks = check_posterior(
        tree, draws=10, progress=lambda step, share: steps.append((step, share)), rng=1
    )
    assert checks.n_draws == 10
    assert len(checks.replicates) == 10
    assert steps[-1] == ("replicates", 1.0)
    assert check_posterior(tree, draws=10**6, rng=1).n_draws == 50


def test_what_cannot_be_checked_is_refused_in_a_sentence(leaderboard):
    draws = two_pl_draws(np.random.default_rng(1), 5)
    tree = two_pl_tree(draws, np.ones((N_ITEM, N_MODEL), dtype=np.int8))
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got 1"):
        check_posterior(tree, level=1)
    with pytest.raises(ValueError, match=r"band must lie in \[0, 1\], got 2"):
        check_posterior(tree, band=2)
    with pytest.raises(ValueError, match="draws must be a whole number of at least 1, got 0"):
        check_posterior(tree, draws=0)
    with pytest.raises(DataError, match="no group 'posterior'"):
        check_posterior(xr.DataTree())
    with pytest.raises(TypeError, match="carries no record"):
        check_prior(object())
    varied = leaderboard.item_accuracy()["accuracy"].between(0.01, 0.99).to_numpy()
    data = leaderboard.take(items=varied)
    flat = build_residual_dif(data, np.zeros((data.n_item, N_MODEL)))
    with pytest.raises(DataError, match="prior of easiness is flat"):
        check_prior(flat)
    weighted = Battles.build(["a", "b"], ["b", "c"], ["a", "a"], weight=[0.5, 1.0])
    with pytest.raises(DataError, match="weights that are no whole numbers"):
        check_prior(build_bradley_terry(weighted), draws=2)
    with pytest.raises(KeyError, match="there is no statistic 'nonsense'"):
        check_posterior(tree, rng=1).statistic("nonsense")
