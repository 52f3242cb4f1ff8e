"""The scorecard of data without a worked example: a plain twin, laws, what is said."""

import json
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from neartie.audits.index_gaps import index_covariance
from neartie.audits.scorecard import make_scorecard
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.data.errors import DataError
from neartie.data.responses import Responses
from neartie.data.score_inputs import ScoreInputs
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.inference.two_pl_map import fit_two_pl_map

QUICK = ScoreSettings(n_resamples=100)


@pytest.fixture(scope="module")
def card(score_tables):
    return make_scorecard(ScoreInputs.build(**score_tables), QUICK, rng=3)


# a plain twin, one answer at a time


def plain_domain(rows, samples, ability, se, settings):
    """Terms and score of one model in one domain, one answer at a time."""
    scored = [r for r in rows if not math.isnan(r.score)]
    stated = [r for r in scored if not math.isnan(r.confidence)]
    bins = {}
    for r in stated:
        b = max(0, math.ceil(round(r.confidence * 100) / 10) - 1)
        bins.setdefault(b, []).append(r.score - r.confidence)
    ece = sum(abs(sum(part)) for part in bins.values()) / len(stated)
    brier = sum((r.score - r.confidence) ** 2 for r in stated) / len(stated)
    old, new = ([r.score for r in scored if r.anchor == kind] for kind in (1, 0))
    gap = sum(old) / len(old) - sum(new) / len(new)
    resistance = min(1, max(0, 1 - gap / 0.2))
    by_item = {}
    for r in samples:
        if r.answer:
            by_item.setdefault(r.item, []).append(r.answer)
    shares = [Counter(a).most_common(1)[0][1] / len(a) for a in by_item.values()]
    consistency = sum(shares) / len(shares)
    accuracy = 1 / (1 + math.exp(-ability))
    terms = (accuracy, consistency, 1 - ece, resistance)
    weights = tuple(settings.weights.values())
    composite = sum(w * t for w, t in zip(weights, terms, strict=True)) / sum(weights)
    half = 1000 * weights[0] / sum(weights) * accuracy * (1 - accuracy) * 1.96 * se
    return {
        "ece": ece, "brier": brier, "contamination_gap": gap, "resistance": resistance,
        "consistency": consistency, "composite": composite, "half_width": half,
    }  # fmt: skip


@pytest.mark.parametrize("domain", ["code", "math"])
def test_domains_are_those_of_the_plain_twin(card, score_tables, domain):
    answers = score_tables["answers"]
    part = answers[answers["domain"] == domain]
    wide = part.pivot(index="item", columns="model", values="score")
    data = Responses.build(wide.to_numpy(), items=list(wide.index), models=list(wide.columns))
    fit = fit_two_pl_map(data, unit="posterior").table().set_index("model")
    samples = score_tables["samples"]
    for row in card.domains[card.domains["domain"] == domain].to_dict("records"):
        own = list(part[part["model"] == row["model"]].itertuples())
        repeated = samples[(samples["model"] == row["model"]) & (samples["domain"] == domain)]
        ability, se = fit.loc[row["model"], ["ability", "se"]]
        expected = plain_domain(own, list(repeated.itertuples()), ability, se, QUICK)
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-9)
        printed = fit.loc[row["model"], "se_items_known"]
        ratio = row["half_width_printed"] / row["half_width"]
        assert ratio == pytest.approx(printed / se)


def test_duels_are_standardised_strengths_of_the_verdicts_that_count(card, score_tables):
    verdicts = score_tables["verdicts"]
    own = verdicts["judge"].isin(verdicts["model_a"]) & (
        (verdicts["judge"] == verdicts["model_a"]) | (verdicts["judge"] == verdicts["model_b"])
    )
    from neartie.audits.scorecard_duels import battles_of

    fit = fit_bradley_terry(battles_of(verdicts[~own], shown_is_given=True))
    z = fit.strength / np.std(fit.strength)
    rows = (
        card.domains[card.domains["domain"] == "writing"].set_index("model").loc[list(fit.models)]
    )
    np.testing.assert_allclose(rows["ability"], z, atol=1e-8)
    np.testing.assert_allclose(rows["score"], 1000 / (1 + np.exp(-z)), atol=1e-5)
    np.testing.assert_allclose(rows["se_printed"], fit.se_diagonal / np.std(fit.strength))
    duels = card.duels.iloc[0]
    assert duels["n_self"] == own.sum()
    assert (duels["n_duels"], duels["n_discarded"]) == (60, 0)


def test_intervals_that_count_all_terms_are_at_least_as_wide_in_duels_and_given(card):
    writing = card.domains[card.domains["domain"] == "writing"]
    np.testing.assert_allclose(writing["half_width_all"], writing["half_width"])
    others = card.domains[card.domains["domain"] != "writing"]
    assert (others["half_width_all"] > 0.8 * others["half_width"]).all()


# laws


def test_order_of_rows_changes_nothing(card, score_tables):
    mixed = {name: table.sample(frac=1, random_state=5) for name, table in score_tables.items()}
    other = make_scorecard(ScoreInputs.build(**mixed), QUICK, rng=3)
    for name in (
        "models",
        "domains",
        "items",
        "bins",
        "duels",
        "judges",
        "agreement",
        "covariance",
    ):
        pd.testing.assert_frame_equal(getattr(card, name), getattr(other, name))
    assert card.warnings == other.warnings


def test_costs_never_enter_quality(card, score_tables):
    free = {name: table for name, table in score_tables.items() if name != "economics"}
    other = make_scorecard(ScoreInputs.build(**free), QUICK, rng=3)
    pd.testing.assert_frame_equal(card.domains, other.domains)
    quality = ["model", "global_index", "half_width_all", "rank", "shared_index"]
    pd.testing.assert_frame_equal(card.models[quality], other.models[quality])
    assert other.models["cost"].isna().all()
    assert other.frontier("cost") == []


def test_unmeasured_terms_are_in_no_sum(score_tables):
    bare = score_tables["answers"].drop(columns=["confidence", "anchor"])
    found = make_scorecard(ScoreInputs.build(answers=bare), QUICK, rng=3)
    np.testing.assert_allclose(found.domains["composite"], found.domains["ability_share"])
    np.testing.assert_allclose(found.domains["measured"], 0.6)
    np.testing.assert_allclose(found.domains["half_width_all"], found.domains["half_width"])
    np.testing.assert_allclose(found.domains["half_width"],
        1960 * found.domains["se"] * found.domains["ability_share"]
        * (1 - found.domains["ability_share"]))  # fmt: skip


def test_the_incomplete_model_has_no_rank_and_is_named(card):
    row = card.models.set_index("model").loc["fir/four"]
    assert pd.isna(row["rank"])
    assert row["missing"] == "math"
    assert pd.isna(row["cost_frontier"])
    assert "fir/four" in card.warnings[0]
    assert card.models["model"].iloc[-1] == "fir/four"


def test_covariance_has_the_squares_of_the_half_widths(card):
    table = card.models.set_index("model").loc[card.covariance["model"]]
    square = card.covariance.iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(1.96 * np.sqrt(np.diag(square)), table["half_width_all"])
    np.testing.assert_allclose(square, square.T)
    assert np.linalg.eigvalsh(square).min() > 0
    best = card.models.iloc[0]["model"]
    place = list(card.covariance["model"])
    for row in card.models[card.models["complete"] == 1].itertuples():
        contrast = np.zeros(len(place))
        contrast[place.index(best)] += 1
        contrast[place.index(row.model)] -= 1
        width = 1.96 * math.sqrt(contrast @ square @ contrast)
        assert row.gap_half_width == pytest.approx(width, abs=1e-6)
        assert row.below_best == int(row.gap_to_best > row.gap_half_width)


def test_without_standard_errors_there_is_no_covariance():
    nothing = pd.DataFrame({"model": ["a"], "complete": [1], "half_width": [math.nan]})
    assert index_covariance([], pd.DataFrame(), nothing, QUICK).empty


def test_same_seed_same_numbers_other_seed_same_scores(card, score_tables):
    inputs = ScoreInputs.build(**score_tables)
    again, other = (make_scorecard(inputs, QUICK, rng=seed) for seed in (3, 4))
    pd.testing.assert_frame_equal(card.domains, again.domains)
    for name in ("score", "half_width_printed", "ece", "resistance"):
        np.testing.assert_array_equal(card.domains[name], other.domains[name])
    assert not np.array_equal(card.domains["half_width_all"], other.domains["half_width_all"])


def test_no_resamples_leave_only_what_is_printed(score_tables):
    found = make_scorecard(ScoreInputs.build(**score_tables), ScoreSettings(n_resamples=0), rng=1)
    assert found.domains["half_width_all"].isna().all()
    assert found.domains["ece_if_calibrated"].isna().all()
    np.testing.assert_allclose(
        found.models["high"] - found.models["global_index"], found.models["half_width"]
    )


# what is left out, refused and said


def test_items_without_answers_of_two_kinds_give_a_reason():
    answers = pd.DataFrame({"model": ["a", "b"], "item": "q", "score": [1.0, 1.0]})
    found = make_scorecard(ScoreInputs.build(answers=answers))
    assert found.domains["composite"].isna().all()
    assert found.domains["reason"].str.contains("no item has two different answers").all()


def test_models_that_no_duel_connects_have_no_strength():
    verdicts = pd.DataFrame(
        {
            "model_a": ["a", "a", "b", "x"], "model_b": ["b", "c", "c", "y"],
            "outcome": [1, 1, -1, 1], "shown": 1, "judge": "", "prompt": "",
        }
    )  # fmt: skip
    found = make_scorecard(ScoreInputs.build(verdicts=verdicts))
    rows = found.domains.set_index("model")
    assert rows.loc[["x", "y"], "score"].isna().all()
    assert set(rows.loc[["x", "y"], "reason"]) == {"no chain of duels connects it with the others"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domain_weights": {"sport": 2.0}}, "weights name domains that are not there: 'sport'"),
        ({}, "has both answers and duels"),
    ],
)
def test_errors_are_sentences(score_tables, change, message):
    tables = dict(score_tables)
    if not change:
        tables["verdicts"] = tables["verdicts"].assign(domain="code")
    with pytest.raises(DataError, match=message):
        make_scorecard(ScoreInputs.build(**tables), ScoreSettings(n_resamples=0, **change))


def test_a_ready_score_beside_data_of_the_same_domain_is_refused(score_tables):
    tasks = pd.DataFrame({"model": ["a"], "domain": ["code"], "value": [0.5]})
    inputs = ScoreInputs.build(answers=score_tables["answers"], tasks=tasks)
    with pytest.raises(DataError, match="'code' has both a ready score and data"):
        make_scorecard(inputs)


def test_scores_outside_the_unit_interval_are_refused():
    tasks = pd.DataFrame({"model": ["a", "b"], "domain": "t", "value": [70, 40]})
    with pytest.raises(DataError, match="'t': the score of 'a' is 70, outside 0 to 1"):
        make_scorecard(ScoreInputs.build(tasks=tasks))


def test_printed_form(card):
    lines = str(card).splitlines()
    assert lines[0] == "scorecard, rules 1.0.0: 5 models"
    assert lines[-1].endswith("fir/four  (lacks math)")


def test_summary_is_ready_for_json(card):
    from neartie.data.files import to_json

    said = json.loads(to_json(card.to_dict()))
    assert said["version"] == "1.0.0"
    assert said["domains"] == ["code", "math", "writing"]
    assert said["n_complete"] == 4
