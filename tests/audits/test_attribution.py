"""Source attribution: sums that are exact, the worked audit, plain twins, published counts."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.audits.attribution import attribute_sources
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.pooled_signs import pool_attributions
from neartie.audits.settings import AuditSettings
from neartie.audits.sign_checks import SignChecks, choose_extremes, pool_checks
from neartie.audits.signatures import anchor_subtest, read_signatures
from neartie.audits.source_contributions import source_contributions, source_effects
from neartie.audits.source_kernel import count_replicated_signs
from neartie.data.errors import DataError
from neartie.data.example import load_example
from neartie.data.responses import Responses

PLAIN = AuditSettings(dimension=2, alpha=0.5, controls=0, bootstraps=0, min_family_size=5)
law = settings(max_examples=25, deadline=None)


@pytest.fixture(scope="module")
def example():
    data = load_example()
    return data, audit_near_ties(data, PLAIN, rng=1)


@pytest.fixture(scope="module")
def worked(reference):
    return audit_near_ties(reference.responses, PLAIN, rng=1)


def swapped(audit):
    """The audit with halves 0 and 1 exchanged, rows in the order of halves."""

    def turned(table):
        return table.assign(half=1 - table["half"]).sort_values("half", kind="stable")

    names = ("items", "dif", "scores", "population")
    return replace(audit, **{name: turned(getattr(audit, name)) for name in names})


# laws


@pytest.mark.parametrize("alpha", ["0.5", "0.3", "0.7"])
def test_contributions_add_up_to_the_shift_exactly(leaderboard, alpha):
    audit = audit_near_ties(leaderboard, replace(PLAIN, alpha=alpha, min_family_size=2), rng=1)
    found = source_contributions(audit, leaderboard)
    families = sorted(set(audit.scores["family"]))
    answers = pd.DataFrame(
        leaderboard.values, index=leaderboard.item_ids, columns=leaderboard.model_ids
    ).loc[audit.items["item"].iloc[: audit.n_items]]
    for half in (0, 1):
        weights = anchor_subtest(audit, half).weights()
        assert sum(weights) == audit.n_items
        for f, family in enumerate(families):
            scores = audit.scores[(audit.scores["half"] != half)]
            models = scores.loc[scores["family"] == family, "model"]
            # the audit's own exact numerators, by hand: no float on either side
            shift = sum(
                ((w - 1) * int(y))
                for model in models
                for w, y in zip(weights, answers[model].tolist(), strict=True)
            )
            assert sum(found[half, :, f]) == Fraction(100 * shift, audit.n_items * len(models))


def test_contributions_add_up_to_the_scores_of_the_audit(example):
    data, audit = example
    found = attribute_sources(audit, data, permutations=0)
    totals = found.family_totals.set_index(["family", "half"])
    for key, rows in audit.scores.groupby(["family", "half"]):
        shift = 100 * (rows["anchor"].mean() - rows["full"].mean())
        assert totals.loc[key, "shift_pp"] == pytest.approx(shift, abs=1e-12)
        assert totals.loc[key, "n_models"] == len(rows)
    sums = found.source_shifts.groupby("family")[["shift_01_pp", "shift_10_pp"]].sum()
    wide = totals["shift_pp"].unstack()
    assert sums["shift_01_pp"].to_numpy() == pytest.approx(wide[1].to_numpy(), abs=1e-12)
    assert sums["shift_10_pp"].to_numpy() == pytest.approx(wide[0].to_numpy(), abs=1e-12)


def test_source_effects_cancel_over_families_and_items(example):
    data, audit = example
    effects = source_effects(read_signatures(audit, data))
    size = pd.Series(audit.items["source"].iloc[: audit.n_items]).value_counts().sort_index()
    assert np.abs(effects.sum(axis=2)).max() < 1e-9
    assert np.abs(np.einsum("hsf,s->hf", effects, size.to_numpy())).max() < 1e-9


def test_swapping_the_halves_swaps_the_columns(example):
    data, audit = example
    one, two = (attribute_sources(a, data, permutations=0) for a in (audit, swapped(audit)))
    effects = ["effect_0", "effect_1"]
    assert two.source_effects[effects[::-1]].to_numpy() == pytest.approx(
        one.source_effects[effects].to_numpy(), abs=1e-12
    )
    shifts = ["shift_01_pp", "shift_10_pp"]
    assert (
        two.source_shifts[shifts[::-1]].to_numpy() == one.source_shifts[shifts].to_numpy()
    ).all()


def test_the_order_of_rows_changes_nothing(example):
    data, audit = example
    rng = np.random.default_rng(3)
    moved = data.take(items=rng.permutation(data.n_item), models=rng.permutation(data.n_model))
    one, two = (attribute_sources(audit, board, rng=4) for board in (data, moved))
    for name in ("source_effects", "source_shifts", "family_totals"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(two, name), check_exact=True)
    assert one.p_labels == two.p_labels


def test_spelling_of_sources_and_families_changes_no_number(example):
    data, audit = example
    families = {f: f"z{9 - i}" for i, f in enumerate(sorted(set(audit.dif["family"])))}
    sources = {s: f"y{9 - i}|b" for i, s in enumerate(sorted(set(audit.items["source"])))}
    renamed = replace(
        audit,
        dif=audit.dif.assign(family=audit.dif["family"].map(families)),
        population=audit.population.assign(family=audit.population["family"].map(families)),
        scores=audit.scores.assign(family=audit.scores["family"].map(families)),
        items=audit.items.assign(
            source=audit.items["source"].map(sources),
            cell=[f"{sources[c.rpartition('|')[0]]}|{c[-1]}" for c in audit.items["cell"]],
        ),
    )
    one, two = (attribute_sources(a, data, permutations=0) for a in (audit, renamed))
    assert (one.effects, one.shifts) == (two.effects, two.shifts)
    wanted = one.source_shifts.assign(
        source=one.source_shifts["source"].map(sources),
        family=one.source_shifts["family"].map(families),
    ).sort_values(["source", "family"], ignore_index=True)
    pd.testing.assert_frame_equal(two.source_shifts, wanted, check_exact=True)


@law
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 10**6))
def test_extremes_are_the_largest_and_smallest_whatever_their_sign(n, extremes, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 3)) + 5
    eligible = rng.random(n) < 0.8
    chosen = choose_extremes(values, eligible, extremes)
    assert not chosen[~eligible].any()
    for f in range(3):
        ordered = np.sort(values[eligible, f])
        low, high = values[chosen[:, f] < 0, f], values[chosen[:, f] > 0, f]
        if eligible.sum() < 2:
            assert not len(low) + len(high)
        else:
            assert len(low) + len(high) == min(2 * extremes, eligible.sum())
            assert sorted(low) == ordered[: len(low)].tolist()
            assert sorted(high) == ordered[len(ordered) - len(high) :].tolist()


def test_a_zero_is_no_hit():
    chosen = np.array([[1, -1, 1, -1]], dtype=np.int8)
    first = np.array([[1.0, -1.0, 0.0, -2.0]])
    second = np.array([[2.0, 1.0, 0.0, 0.0]])
    assert SignChecks.of(chosen, first, second) == SignChecks(hits=1, n=4)


# plain twin


@pytest.mark.parametrize("extremes", [1, 2, 3])
def test_the_kernel_counts_what_the_plain_functions_count(extremes):
    rng = np.random.default_rng(extremes)
    code = rng.permuted(np.tile(np.repeat(np.arange(5), 9), (30, 1)), axis=1).astype(np.int32)
    first, second = rng.normal(size=(2, 45, 4))
    eligible = np.array([True, True, False, True, True])
    hits = count_replicated_signs(code, first, second, np.flatnonzero(eligible), extremes)
    for row, found in zip(code, hits, strict=True):
        means = [
            np.array([side[row == s].mean(axis=0) for s in range(5)]) for side in (first, second)
        ]
        chosen = choose_extremes(means[0], eligible, extremes)
        assert SignChecks.of(chosen, *means).hits == found


# published and worked values


def test_published_binomial_tests():
    """P0, 5.4: 58 of 60 and 43 of 60, both p < .001."""
    for hits in (58, 43):
        assert SignChecks(hits=hits, n=60).p_value < 0.001
    assert SignChecks(hits=40, n=60).p_value > 0.001


def test_worked_audit(reference, worked):
    expected = reference.json("source_attribution")
    found = attribute_sources(worked, reference.responses, permutations=0)
    families = expected["anchor_half0"]["families"]
    sources = expected["anchor_half0"]["sources"]
    effects = found.source_effects.pivot(index="source", columns="family")
    shifts = found.source_shifts.pivot(index="source", columns="family")
    for key, column in (("gamma_D", "effect_0"), ("gamma_V", "effect_1")):
        table = effects[column].loc[expected["source_effects"]["sources"], families]
        assert table.to_numpy() == pytest.approx(
            np.array(expected["source_effects"][key]), abs=1e-7
        )
    for half, column in ((0, "shift_01_pp"), (1, "shift_10_pp")):
        wanted = expected[f"anchor_half{half}"]
        table = shifts[column].loc[sources, families]
        assert table.to_numpy() == pytest.approx(np.array(wanted["C"]), abs=1e-12)
        totals = found.family_totals[found.family_totals["half"] == 1 - half]
        totals = totals.set_index("family")["shift_pp"].loc[families]
        assert totals.to_numpy() == pytest.approx(wanted["family_total"], abs=1e-9)
    for name, checks in (("source_effects", found.effects), ("sign_checks", found.shifts)):
        wanted = expected[name]
        assert (checks.hits, checks.n) == (wanted["hits"], wanted["n"])
        assert checks.p_value == pytest.approx(wanted["p"], abs=1e-12)
    for name, table, hit in (
        ("source_effects", found.source_effects, "replicated"),
        ("sign_checks", found.source_shifts, "retained"),
    ):
        chosen = table[table["selected"] != ""]
        mine = {(r.source, r.family, bool(getattr(r, hit))) for r in chosen.itertuples()}
        wanted = {(sources[s], families[f], hit) for s, f, hit in expected[name]["checks"]}
        assert mine == wanted


# rule, warnings, refusals


def with_checks(hits, n):
    return type(
        "Found", (), {"effects": SignChecks(hits=hits, n=n), "shifts": SignChecks(hits=0, n=n)}
    )


def test_the_pooled_rule_is_exact_at_its_edges():
    at_edge = {"a": with_checks(13, 20), "b": with_checks(13, 20), "c": with_checks(16, 20)}
    pooled = pool_attributions(at_edge)
    assert (pooled.effects.hits, pooled.effects.n) == (42, 60)  # 70 % exactly
    assert (pooled.n_supporting, pooled.supported) == (3, True)
    below = pool_attributions(
        {"a": with_checks(12, 20), "b": with_checks(12, 20), "c": with_checks(20, 20)}
    )
    assert (below.n_supporting, below.supported) == (1, False)
    assert not pool_attributions({"a": with_checks(7, 10), "b": with_checks(0, 0)}).supported
    assert pool_checks([]).p_value is None


def test_few_or_small_sources_are_said(leaderboard, example):
    audit = audit_near_ties(leaderboard, replace(PLAIN, min_family_size=2), rng=1)
    found = attribute_sources(audit, leaderboard, min_items=20, permutations=0)
    assert found.effects.n == 9  # three sources, all of them, in three families
    assert any("Only 3 sources can be selected" in text for text in found.warnings)
    none = attribute_sources(audit, leaderboard, min_items=21)
    assert (none.effects.n, none.p_labels) == (0, None)
    assert none.source_effects["replicated"].isna().all()
    assert "0 sources of 3 have at least 21 items" in none.warnings[0]
    assert str(none).startswith("source effects: no sign could be checked")
    single = Responses.build(
        leaderboard.values, items=leaderboard.items[["item"]], models=leaderboard.models
    )
    audit = audit_near_ties(single, replace(PLAIN, min_family_size=2), rng=1)
    assert "There is one source only" in attribute_sources(audit, single).warnings[0]


def test_the_binomial_caveat_is_said(example):
    data, audit = example
    found = attribute_sources(audit, data, rng=1)
    assert any("independent, which they are not" in text for text in found.warnings)
    assert "shuffled labels p = " in str(found)
    assert found.to_dict()["source_effects"]["n"] == 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_items": 0}, "min_items must be at least 1"),
        ({"extremes": 0}, "extremes must be at least 1"),
        ({"permutations": -1}, "permutations must not be negative"),
    ],
)
def test_impossible_settings_are_refused(example, change, message):
    data, audit = example
    with pytest.raises(ValueError, match=message):
        attribute_sources(audit, data, **change)


def test_other_responses_are_refused(example):
    data, audit = example
    values = data.values.copy()
    values[0, data.model_ids.index(audit.population["model"].iloc[0])] = -1
    other = Responses.build(values, items=data.items, models=data.models)
    with pytest.raises(DataError, match="not those of the audit: answers to its items are missing"):
        attribute_sources(audit, other)
