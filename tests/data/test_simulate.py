"""Simulated leaderboards: laws of what is drawn, and agreement of answers with their truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from neartie.data.labels import FAMILY_PATTERNS, families_named_in, family_of, owner_of
from neartie.data.simulate import simulate_leaderboard

SMALL = {"n_items": 60, "n_models": 40, "n_owners": 15, "n_unclassified": 3, "n_sources": 4}


def small(rng=1, **changes):
    return simulate_leaderboard(**{**SMALL, **changes}, rng=rng)


@given(
    n_items=st.integers(4, 60),
    n_dimensions=st.integers(1, 5),
    n_family=st.integers(2, 5),
    dif_share=st.floats(0, 1),
    direction=st.sampled_from(["random", "shared", "Qwen"]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=40, deadline=None)
def test_effects_are_contrasts_of_the_stated_size(
    n_items, n_dimensions, n_family, dif_share, direction, seed
):
    truth = small(
        n_items=n_items,
        n_dimensions=n_dimensions,
        families=n_family,
        dif_share=dif_share,
        dif_effect=1.5,
        direction=direction,
        rng=seed,
    ).truth
    assert truth.dif.shape == (n_items, n_family)
    assert truth.loadings.shape == (n_items, n_dimensions)
    assert truth.abilities.shape == (40, n_dimensions)
    np.testing.assert_allclose(truth.dif.sum(axis=1), 0, atol=1e-12)
    assert truth.planted.sum() == round(dif_share * n_items)
    np.testing.assert_allclose(truth.dif_range, np.where(truth.planted, 1.5, 0.0), atol=1e-12)


@pytest.mark.parametrize("nothing", [{"dif_effect": 0.0}, {"dif_share": 0.0}])
def test_without_family_effects_there_are_none(nothing):
    truth = small(**nothing).truth
    assert not truth.dif.any()
    assert not truth.planted.any()


def test_a_family_can_be_favoured():
    truth = small(direction="Gemma", direction_sd=0.0).truth
    favoured = truth.families.index("Gemma")
    assert (truth.dif[truth.planted].argmax(axis=1) == favoured).all()


def test_shared_effects_lean_one_way_and_random_ones_cancel():
    def net(direction):
        dif = simulate_leaderboard(n_items=2000, direction=direction, rng=5).truth.dif
        return np.ptp(dif.mean(axis=0)) / np.abs(dif).mean()

    assert net("shared") > 1.0
    assert net("random") < 0.3


def test_same_seed_same_bytes():
    one, two = small(missing=0.1), small(missing=0.1)
    assert one.responses.values.tobytes() == two.responses.values.tobytes()
    pd.testing.assert_frame_equal(one.responses.models, two.responses.models)
    pd.testing.assert_frame_equal(one.truth.item_table(), two.truth.item_table())
    assert one.responses.values.tobytes() != small(2, missing=0.1).responses.values.tobytes()


def test_a_generator_is_as_good_as_its_seed():
    one, two = small(7), small(np.random.default_rng(7))
    assert one.responses.values.tobytes() == two.responses.values.tobytes()
    assert one.truth.settings["seed"] == two.truth.settings["seed"] == 7


def test_the_effect_changes_nothing_but_planted_items():
    plain, planted = small(dif_effect=0.0), small(dif_effect=3.0)
    rows = planted.truth.planted
    np.testing.assert_array_equal(plain.truth.abilities, planted.truth.abilities)
    np.testing.assert_array_equal(plain.truth.easiness, planted.truth.easiness)
    np.testing.assert_array_equal(plain.responses.values[~rows], planted.responses.values[~rows])
    assert (plain.responses.values[rows] != planted.responses.values[rows]).any()


def test_gaps_change_nothing_but_their_cells():
    whole, gappy = small().responses, small(missing=0.2).responses
    there = gappy.observed
    np.testing.assert_array_equal(whole.values[there], gappy.values[there])


def test_sizes_and_tables():
    board = small()
    responses, truth = board.responses, board.truth
    assert responses.values.shape == (60, 40)
    assert list(responses.items.columns) == ["item", "source"]
    assert list(responses.models.columns) == ["model", "owner", "family"]
    assert responses.items["source"].value_counts().tolist() == [15] * 4
    assert responses.models["owner"].nunique() == 15
    assert (responses.models["family"] == "unknown").sum() == 3
    assert tuple(responses.item_ids) == truth.items
    assert tuple(responses.model_ids) == truth.models
    assert responses.model_ids == sorted(responses.model_ids)
    assert responses.n_missing == 0


@pytest.mark.parametrize("n_models", [15 + 3, 40, 400])
def test_ids_name_the_family_that_is_meant(n_models):
    models = small(n_models=n_models).responses.models
    assert models["owner"].tolist() == [owner_of(model) for model in models["model"]]
    named = [family_of(model) or "unknown" for model in models["model"]]
    assert models["family"].tolist() == named
    assert models["model"].str.casefold().is_unique


def test_unclassified_ids_name_no_family_or_several_and_traps_are_there():
    models = simulate_leaderboard(n_items=8, rng=3).responses.models
    without = models.loc[models["family"] == "unknown", "model"]
    assert {min(2, len(families_named_in(model))) for model in without} == {0, 2}
    assert models.loc[models["family"] != "unknown", "model"].str.contains("dolphin").any()


def test_families_can_be_chosen_by_name():
    models = small(families=["Phi", "Qwen"], n_unclassified=0).responses.models
    assert set(models["family"]) == {"Phi", "Qwen"}


def test_owners_have_several_checkpoints_and_some_several_families():
    models = simulate_leaderboard(n_items=8, n_unclassified=0, rng=1).responses.models
    assert models.groupby(["owner", "family"]).size().max() >= 4
    assert models.groupby("owner")["family"].nunique().mean() == pytest.approx(1.4)
    shares = models.groupby("family")["owner"].nunique()
    assert len(shares) == len(FAMILY_PATTERNS)
    assert shares.max() <= 2 * shares.min()


def test_checkpoints_of_an_owner_and_family_are_near_copies():
    board = simulate_leaderboard(n_items=8, n_models=900, n_owners=100, n_unclassified=0, rng=1)
    models = board.responses.models.assign(ability=board.truth.abilities[:, 0])
    within = models.groupby(["owner", "family"])["ability"].var().dropna()
    # Pooled over 900 models: the standard error of a variance of .09 is below .006.
    weights = models.groupby(["owner", "family"]).size()[within.index] - 1
    assert np.average(within, weights=weights) == pytest.approx(0.09, abs=0.024)


@pytest.mark.parametrize("impact", [0.0, 0.5])
def test_impact_is_the_size_of_the_family_means(impact):
    # Same seed, so that abilities differ by the family means and by nothing else.
    one = small(impact=0.0, rng=4).truth
    two = small(impact=impact, rng=4).truth
    shift = two.abilities - one.abilities
    for position in range(5):
        members = shift[two.family == position]
        np.testing.assert_allclose(members, np.broadcast_to(members[0], members.shape), atol=1e-12)
    means = np.array([shift[two.family == f].mean(axis=0) for f in range(5)])
    np.testing.assert_allclose(np.sqrt((means**2).mean(axis=0)), impact, atol=1e-12)
    assert not shift[two.family == -1].any()


def test_linear_predictor_against_its_formula_cell_by_cell():
    truth = small().truth
    whole = truth.linear_predictor()
    for i, m in [(0, 0), (7, 11), (59, 39), (30, int(np.flatnonzero(truth.family < 0)[0]))]:
        effect = truth.dif[i, truth.family[m]] if truth.family[m] >= 0 else 0.0
        by_hand = sum(truth.loadings[i] * truth.abilities[m]) + truth.easiness[i] + effect
        assert whole[i, m] == pytest.approx(by_hand, abs=1e-12)
    np.testing.assert_array_equal(truth.linear_predictor(items=slice(3, 9)), whole[3:9])
    np.testing.assert_allclose(truth.probability(), 1 / (1 + np.exp(-whole)), rtol=1e-12)


def test_answers_follow_their_probabilities():
    """In 20 classes of equal size by probability; false alarms: 1 in 1000 (chi square)."""
    board = simulate_leaderboard(n_items=500, n_models=200, n_owners=80, rng=11)
    chance = board.truth.probability().ravel()
    right = board.responses.values.ravel()
    order = np.argsort(chance, kind="stable")
    statistic = 0.0
    for part in np.array_split(order, 20):
        variance = np.sum(chance[part] * (1 - chance[part]))
        statistic += (right[part].sum() - chance[part].sum()) ** 2 / variance
    assert statistic < stats.chi2(20).ppf(0.999)


def test_answers_are_independent_given_the_truth():
    """Correlation of standardised residuals within items; false alarms: 1 in 1000."""
    board = simulate_leaderboard(n_items=400, n_models=100, n_owners=60, rng=12)
    chance = board.truth.probability()
    residual = (board.responses.values - chance) / np.sqrt(chance * (1 - chance))
    total = (residual[:, :50].sum(axis=1) * residual[:, 50:].sum(axis=1)).sum()
    assert abs(total) / (50 * np.sqrt(400)) < stats.norm.ppf(0.9995)


def test_missing_share():
    """False alarms: 1 in 1000 (binomial)."""
    responses = simulate_leaderboard(n_items=300, missing=0.07, rng=13).responses
    low, high = stats.binom(responses.values.size, 0.07).interval(0.999)
    assert low <= responses.n_missing <= high


def test_sources_differ_in_easiness_and_direction():
    board = simulate_leaderboard(n_items=800, source_sd=1.0, easiness_sd=0.5, rng=14)
    truth, source = board.truth, board.responses.items["source"]
    assert pd.Series(truth.easiness).groupby(source).mean().std() > 0.4
    towards = pd.DataFrame(truth.loadings[:, 1:]).groupby(source).mean().to_numpy()
    # Eight directions of length one quarter in two dimensions cannot all be alike.
    assert np.ptp(towards, axis=0).min() > 0.2
    assert (truth.loadings[:, 0] > 0).all()


def test_truth_tables_join_by_id():
    board = small()
    items, models = board.truth.item_table(), board.truth.model_table()
    assert items["item"].tolist() == board.responses.item_ids
    assert list(items.columns[:5]) == ["item", "easiness", "loading_1", "loading_2", "loading_3"]
    assert items.filter(like="dif_").columns.tolist()[0] == "dif_range"
    assert models["model"].tolist() == board.responses.model_ids
    assert models["family"].tolist() == board.responses.models["family"].tolist()
    np.testing.assert_allclose(
        models["expected_accuracy"], board.truth.probability().mean(axis=0), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_items": 0}, "n_items must be at least 1, got 0"),
        ({"n_sources": 61}, r"n_sources must be at most the number of items \(60\), got 61"),
        ({"n_owners": 3}, r"n_owners must be at least the number of families \(5\), got 3"),
        ({"n_models": 17}, r"n_owners plus n_unclassified \(15 \+ 3\).*got 17"),
        ({"families": 6}, r"families must lie in 1..5, got 6"),
        ({"families": ["Yi", "Qwen"]}, "a family must be one of Qwen.*got 'Yi'"),
        ({"families": ["Qwen", "Qwen"]}, "families must be distinct"),
        ({"families": []}, "families must be distinct names, at least one"),
        ({"families": 1}, "family effects need at least two families"),
        ({"families_per_owner": 0.5}, "families_per_owner must be at least 1"),
        ({"n_unclassified": -1}, "n_unclassified must be 0 or more, got -1"),
        ({"dif_share": 1.2}, r"dif_share must lie in \[0, 1\], got 1.2"),
        ({"dif_effect": -1.0}, "dif_effect must be 0 or more, and finite, got -1.0"),
        ({"easiness_sd": np.nan}, "easiness_sd must be 0 or more, and finite, got nan"),
        ({"easiness": np.inf}, "easiness must be finite, got inf"),
        ({"checkpoint_sd": 2.0}, r"checkpoint_sd must lie in \[0, 1\], got 2.0"),
        ({"missing": 1.0}, r"missing must lie in \[0, 1\), got 1.0"),
        ({"direction": "Falcon"}, "direction must be 'random', 'shared' or a family.*'Falcon'"),
    ],
)
def test_impossible_settings_are_refused_in_a_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)


def test_a_text_is_not_a_list_of_families():
    with pytest.raises(TypeError, match="families is a number or a list of names, got the text"):
        small(families="Qwen")


@pytest.mark.parametrize("n_dimensions", [1, 2, 7])
def test_one_family_and_any_dimension(n_dimensions):
    board = small(families=1, dif_share=0.0, n_dimensions=n_dimensions)
    assert board.truth.dif.shape == (60, 1)
    assert board.truth.linear_predictor().shape == (60, 40)


def test_answers_do_not_depend_on_how_they_are_cut_into_blocks(monkeypatch):
    one = small(missing=0.1).responses
    cut = lambda n_row, n_column: [slice(i, i + 1) for i in range(n_row)]
    monkeypatch.setattr("neartie.data.simulate.row_blocks", cut)
    assert one.values.tobytes() == small(missing=0.1).responses.values.tobytes()
