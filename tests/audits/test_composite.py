"""Composites and global index: the printed formulas, laws, incomplete models, versions."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.audits.composite import accuracy_slope, composites, global_indices, rescaled
from neartie.audits.scorecard_settings import RULES_VERSION, ScoreSettings

law = settings(max_examples=30, deadline=None)

SHARE = st.one_of(st.floats(0, 1), st.just(math.nan))
ABILITY = st.floats(-6, 6)
WEIGHT = st.floats(0.01, 5)


def printed(ability, terms, weights):
    """P1's formula, one term at a time."""
    top, below = weights[0] / (1 + math.exp(-ability)), weights[0]
    for term, weight in zip(terms, weights[1:], strict=True):
        if not math.isnan(term):
            top, below = top + weight * term, below + weight
    return top / below, below


@law
@given(ABILITY, st.tuples(SHARE, SHARE, SHARE), st.tuples(WEIGHT, WEIGHT, WEIGHT, WEIGHT))
def test_the_composite_is_the_printed_one(ability, terms, weights):
    names = ("accuracy", "consistency", "calibration", "resistance")
    chosen = ScoreSettings(**{f"{n}_weight": w for n, w in zip(names, weights, strict=True)})
    found, measured = composites(
        [ability], consistency=[terms[0]], calibration=[terms[1]], resistance=[terms[2]],
        settings=chosen,
    )  # fmt: skip
    expected, below = printed(ability, terms, weights)
    assert found[0] == pytest.approx(expected)
    assert measured[0] == pytest.approx(below)
    known = [1 / (1 + math.exp(-ability)), *(t for t in terms if not math.isnan(t))]
    assert min(known) - 1e-12 <= found[0] <= max(known) + 1e-12


def test_without_an_ability_there_is_no_composite():
    found, measured = composites([math.nan], consistency=[1], calibration=[1], resistance=[1])
    assert math.isnan(found[0])
    assert measured[0] == pytest.approx(0.4)


@law
@given(ABILITY, st.floats(0.6, 1))
def test_the_slope_is_the_derivative(ability, measured):
    # With what is measured fixed, the score moves by 1000 w / sum(w) d sigma.
    step = 1e-5
    low, high = (1000 * 0.6 / measured / (1 + math.exp(-(ability + s))) for s in (-step, step))
    slope = accuracy_slope([ability], [measured])[0]
    assert slope == pytest.approx((high - low) / (2 * step), rel=1e-6, abs=1e-6)


ROWS = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "y", "z"])),
    st.tuples(st.floats(0, 1), st.floats(0, 200)),
    min_size=1,
)


def table(rows):
    return pd.DataFrame(
        [(m, d, c, h) for (m, d), (c, h) in rows.items()],
        columns=["model", "domain", "composite", "half_width"],
    )


@law
@given(ROWS, st.dictionaries(st.sampled_from(["x", "y", "z"]), WEIGHT))
def test_the_global_index_is_the_printed_one(rows, weights):
    found = global_indices(table(rows), settings=ScoreSettings(domain_weights=weights))
    domains = {d for _, d in rows}
    for row in found.itertuples():
        own = {d: rows[m, d] for m, d in rows if m == row.model}
        w = {d: weights.get(d, 1.0) for d in own}
        total = sum(w.values())
        assert row.global_index == pytest.approx(1000 * sum(w[d] * own[d][0] for d in own) / total)
        half = math.sqrt(sum((w[d] / total * own[d][1]) ** 2 for d in own))
        assert row.half_width == pytest.approx(half)
        assert row.complete == (set(own) == domains)
        assert set(filter(None, row.missing.split("; "))) == domains - set(own)


@law
@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(rows, random):
    keys = list(rows)
    random.shuffle(keys)
    one = global_indices(table(rows))
    pd.testing.assert_frame_equal(one, global_indices(table({key: rows[key] for key in keys})))


@law
@given(ROWS)
def test_ranks_are_of_complete_models_only_and_ties_share_them(rows):
    found = global_indices(table(rows))
    assert found["rank"].notna().tolist() == (found["complete"] == 1).tolist()
    complete = found[found["complete"] == 1]
    for row in complete.itertuples():
        above = (complete["global_index"].round(9) > round(row.global_index, 9)).sum()
        assert row.rank == above + 1


def test_c50_an_incomplete_model_is_not_first_unmarked(case_dir):
    wide = pd.read_csv(case_dir / "C50" / "tasks.csv")
    long = wide.melt("model", var_name="domain", value_name="composite")
    found = global_indices(long).set_index("model")
    assert found.loc["yew", "global_index"] == pytest.approx(850)
    assert found.loc["pine", "global_index"] == pytest.approx(2200 / 3)
    assert pd.isna(found.loc["yew", "rank"])
    assert found.loc["yew", "missing"] == "hard"
    assert found.loc["pine", "rank"] == 1
    assert found["shared_index"].to_dict() == pytest.approx({"ash": 650, "pine": 900, "yew": 850})
    assert found["shared_rank"].to_dict() == {"ash": 3, "pine": 1, "yew": 2}


def test_a_domain_that_nobody_has_is_no_domain_to_lack():
    long = pd.DataFrame({"model": ["a", "a"], "domain": ["x", "y"], "composite": [0.5, math.nan]})
    row = global_indices(long).iloc[0]
    assert (row["complete"], row["missing"], row["rank"]) == (1, "", 1)


def test_half_widths_of_unknown_domains_are_unknown():
    long = pd.DataFrame(
        {
            "model": ["a", "a", "b"],
            "domain": ["x", "y", "x"],
            "composite": [0.5, 0.5, 0.5],
            "half_width": [10.0, math.nan, 10.0],
        }
    )
    found = global_indices(long)["half_width"]
    assert math.isnan(found[0])
    assert found[1] == 10


VALUES = st.dictionaries(
    st.sampled_from(["t1", "t2"]),
    st.lists(st.sampled_from([0.2, 0.5, 1.0, 7.0, math.nan]), min_size=3, max_size=3),
    min_size=1,
)


@law
@given(VALUES)
def test_rescaling_runs_from_worst_to_best_and_keeps_the_order(values):
    done, tied = rescaled({name: np.array(column) for name, column in values.items()})
    for name, column in values.items():
        known = [v for v in column if not math.isnan(v)]
        if len(set(known)) > 1:
            new = done[name][~np.isnan(done[name])]
            assert (new.min(), new.max()) == (0, 1)
            assert (
                np.argsort(new, kind="stable").tolist() == np.argsort(known, kind="stable").tolist()
            )
        elif known:
            assert name in tied
            assert name not in done


def test_defaults_are_those_of_the_white_paper():
    settings = ScoreSettings()
    assert settings.weights == {
        "accuracy": 0.60, "consistency": 0.15, "calibration": 0.10, "resistance": 0.15,
    }  # fmt: skip
    assert (settings.gap_limit, settings.n_bins, settings.critical) == (0.2, 10, 1.96)


def test_a_changed_default_asks_for_a_new_version():
    # Version 1.0.0 is these numbers. Bump RULES_VERSION and add a line when one changes.
    frozen = {
        "1.0.0": {
            "accuracy_weight": 0.6, "consistency_weight": 0.15, "calibration_weight": 0.1,
            "resistance_weight": 0.15, "domain_weights": {}, "gap_limit": 0.2, "n_bins": 10,
            "closed": "right", "binning": "width", "critical": 1.96, "unit": "posterior",
            "phantom_wins": 0.1, "fewest_judges": 2, "rescale": "none", "n_resamples": 400,
        },
    }  # fmt: skip
    assert ScoreSettings().to_dict() == frozen[RULES_VERSION]


def test_every_setting_but_the_number_of_resamples_moves_the_stamp():
    changes = {
        "accuracy_weight": 0.5, "consistency_weight": 0.1, "calibration_weight": 0.2,
        "resistance_weight": 0.2, "domain_weights": {"x": 2.0}, "gap_limit": 0.1, "n_bins": 15,
        "closed": "left", "binning": "mass", "critical": 1.0, "unit": "mode",
        "phantom_wins": 0.5, "fewest_judges": 1, "rescale": "min-max",
    }  # fmt: skip
    assert set(changes) == set(ScoreSettings().to_dict()) - {"n_resamples"}
    stamps = {ScoreSettings(**{name: value}).stamp for name, value in changes.items()}
    assert len(stamps) == len(changes)
    assert all(stamp.startswith(f"{RULES_VERSION}+") for stamp in stamps)
    assert ScoreSettings(n_resamples=7).stamp == RULES_VERSION


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accuracy_weight": -1}, "accuracy_weight must be at least 0, got -1"),
        ({"gap_limit": 0}, "gap_limit must be in"),
        ({"n_bins": 0}, "n_bins must be at least 1"),
        ({"closed": "both"}, "closed must be one of right, left"),
        ({"rescale": "z"}, "rescale must be one of none, min-max"),
        ({"domain_weights": {"x": 0}}, "the weight of domain 'x' must be positive"),
        ({"fewest_judges": 0}, "fewest_judges must be at least 1"),
        ({"critical": 0}, "critical must be positive"),
        ({"phantom_wins": -1}, "phantom_wins must be at least 0"),
        ({"n_resamples": -1}, "n_resamples must be 0, or at least 2"),
        ({"n_resamples": 1}, "n_resamples must be 0, or at least 2"),
    ],
)
def test_settings_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        ScoreSettings(**change)


def test_all_weights_zero_are_refused():
    zero = {f"{t}_weight": 0.0 for t in ("accuracy", "consistency", "calibration", "resistance")}
    with pytest.raises(ValueError, match="the weights must be positive in sum"):
        ScoreSettings(**zero)
