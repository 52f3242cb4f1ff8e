"""Signature replication: laws, plain twin, the worked audit, other data, size and power."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from neartie.audits.near_tie import audit_near_ties
from neartie.audits.replication import replicate_signatures
from neartie.audits.replication_counts import permute_within
from neartie.audits.settings import AuditSettings
from neartie.audits.signatures import anchor_subtest, read_signatures
from neartie.data.errors import DataError
from neartie.data.example import load_example
from neartie.data.responses import Responses

PLAIN = AuditSettings(
    dimension=2, alpha=0.5, controls=0, bootstraps=0, min_family_size=5, constant_items="keep"
)
law = settings(max_examples=25, deadline=None)


@pytest.fixture(scope="module")
def example():
    data = load_example()
    return data, audit_near_ties(data, PLAIN, rng=1)


@pytest.fixture(scope="module")
def worked(reference):
    return audit_near_ties(reference.responses, PLAIN, rng=1)


def with_effects(audit, effects, easiness=None):
    """The audit with other signatures, (2, n_item, n_family)."""
    dif = audit.dif.assign(effect=np.asarray(effects).reshape(-1))
    items = audit.items if easiness is None else audit.items.assign(easiness_refit=easiness.ravel())
    return replace(audit, dif=dif, items=items)


def effects_of(audit):
    n = len(set(audit.dif["family"]))
    return audit.dif["effect"].to_numpy().reshape(2, -1, n)


def finite_or_not(audit, data, h, table):
    """Easiness of the refit, infinite where all models of the half agree."""
    models = audit.population.loc[audit.population["half"] == h, "model"]
    answers = pd.DataFrame(data.values, index=data.item_ids, columns=data.model_ids)
    solved = answers.loc[table["item"], models].all(axis=1).to_numpy()
    infinite = np.where(solved, np.inf, -np.inf)
    return np.where(table["constant"] == 1, infinite, table["easiness_refit"])


def twin(audit, data, permutation, share=5):
    """The three statistics by loops over cells, items and families."""
    n = audit.n_items
    half = [audit.items[audit.items["half"] == h].reset_index(drop=True) for h in (0, 1)]
    index = [data.item_ids.index(item) for item in half[0]["item"]]
    mean = sum(finite_or_not(audit, data, h, half[h]) for h in (0, 1)) / 2
    cell = [""] * n
    for source in sorted(set(half[0]["source"])):
        members = [i for i in range(n) if half[0]["source"][i] == source]
        members.sort(key=lambda i: (mean[i], index[i]))
        for number, part in enumerate(np.array_split(members, min(4, len(members)))):
            for i in part:
                cell[i] = f"{source}|{number}"
    effects = effects_of(audit)
    second = effects[1][permutation]
    centred, top = [], []
    for side, d in ((effects[0], effects[0]), (second, second)):
        out = np.empty_like(d)
        chosen = set()
        for name in set(cell):
            members = [i for i in range(n) if cell[i] == name]
            out[members] = side[members] - side[members].mean(axis=0)
            spread = {i: side[i].max() - side[i].min() for i in members}
            members.sort(key=lambda i: (-spread[i], index[i]))
            chosen |= set(members[: max(1, round(len(members) / share))])
        centred.append(out)
        top.append(chosen)
    rho = [
        stats.spearmanr(centred[0][:, f], centred[1][:, f]).statistic
        for f in range(effects.shape[2])
    ]
    both = top[0] & top[1]
    agree = [effects[0][i].argmax() == second[i].argmax() for i in both]
    return {
        "median_rho": np.median(rho),
        "overlap": len(both) / len(top[0]),
        "agreement": np.mean(agree) if both else np.nan,
    }


def values(found):
    return found.table.set_index("statistic")["value"]


# laws


def test_the_same_seed_gives_the_same_answer_and_another_other_permutations(example):
    data, audit = example
    one, two, other = (replicate_signatures(audit, data, rng=seed) for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(one.permutations, two.permutations, check_exact=True)
    assert not one.permutations.equals(other.permutations)
    assert values(one).equals(values(other))


def test_the_order_of_rows_changes_nothing_where_nothing_ties(example):
    data, audit = example
    rng = np.random.default_rng(2)
    moved = data.take(items=rng.permutation(data.n_item), models=rng.permutation(data.n_model))
    one, two = (replicate_signatures(audit, board, rng=5) for board in (data, moved))
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    pd.testing.assert_frame_equal(one.items, two.items, check_exact=True)


def test_spelling_of_families_changes_nothing(example):
    data, audit = example
    names = {name: f"z{9 - i}" for i, name in enumerate(sorted(set(audit.dif["family"])))}
    renamed = replace(audit, dif=audit.dif.assign(family=audit.dif["family"].map(names)))
    one, two = (replicate_signatures(found, data, rng=5) for found in (audit, renamed))
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    expected = one.items["advantaged_0"].map(names | {"": ""})
    assert two.items["advantaged_0"].tolist() == expected.tolist()


def test_swapping_the_halves_leaves_the_statistics_alone(example):
    data, audit = example
    easiness = audit.items["easiness_refit"].to_numpy().reshape(2, -1)
    swapped = with_effects(audit, effects_of(audit)[::-1], easiness[::-1])
    one, two = (replicate_signatures(a, data, permutations=0) for a in (audit, swapped))
    assert values(two).to_numpy() == pytest.approx(values(one).to_numpy(), abs=1e-12)
    assert one.items["top_0"].tolist() == two.items["top_1"].tolist()
    assert one.items["cell"].tolist() == two.items["cell"].tolist()


def test_a_perfect_copy_replicates_perfectly_and_an_opposite_one_not_at_all(example):
    data, audit = example
    effects = effects_of(audit)
    copy = replicate_signatures(with_effects(audit, [effects[0], effects[0]]), data, rng=1)
    assert values(copy).tolist() == pytest.approx([1, 1, 1])
    assert copy.table["p_value"].tolist() == pytest.approx([1 / 501] * 3)
    opposite = replicate_signatures(with_effects(audit, [effects[0], -effects[0]]), data, rng=1)
    assert values(opposite).tolist() == pytest.approx([-1, 1, 0])
    assert opposite.table["p_value"].tolist() == pytest.approx([1, 1 / 501, 1])


def test_chance_of_overlap_is_its_exact_expectation(example):
    data, audit = example
    found = replicate_signatures(audit, data, permutations=4000, rng=1)
    row = found.table.set_index("statistic").loc["overlap"]
    drawn = found.permutations["overlap"]
    # four standard errors of the mean
    assert abs(drawn.mean() - row["chance"]) < 4 * drawn.std() / np.sqrt(4000)


@law
@given(st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_permutations_stay_within_groups(seed, groups):
    _, code = np.unique(groups, return_inverse=True)
    drawn = permute_within(code, 20, rng=seed)
    assert (np.sort(drawn, axis=1) == np.arange(len(code))).all()
    assert (code[drawn] == code).all()


def test_permutations_are_uniform():
    drawn = permute_within(np.zeros(3, dtype=int), 6000, rng=1)
    _, count = np.unique(drawn, axis=0, return_counts=True)
    # false alarm: 1 in 1000
    assert len(count) == 6
    assert stats.chisquare(count).pvalue > 0.001


# plain twin


def test_the_plain_twin_agrees_on_the_example_and_under_permutations(example):
    data, audit = example
    found = replicate_signatures(audit, data, permutations=0)
    _, cells = np.unique(found.items["cell"], return_inverse=True)
    drawn = permute_within(cells, 3, rng=4)
    null = replicate_signatures(audit, data, permutations=drawn)
    plain = twin(audit, data, np.arange(audit.n_items))
    assert values(found).to_dict() == pytest.approx(plain)
    for r, row in enumerate(drawn):
        rebuilt = null.permutations.drop(columns="replicate").iloc[r].to_dict()
        assert rebuilt == pytest.approx(twin(audit, data, row))


# the worked audit


def test_worked_audit(reference, worked):
    expected = reference.json("replication")
    drawn = reference.table("inputs/replication_permutations").to_numpy(dtype=int)
    found = replicate_signatures(worked, reference.responses, permutations=drawn)
    assert found.items["item"].tolist() == reference.items["item"].tolist()
    assert found.items["cell"].tolist() == expected["cell"]
    observed = expected["observed"]["half_even"]
    for name in ("median_rho", "overlap", "agreement"):
        assert values(found)[name] == pytest.approx(observed[name], abs=1e-9)
    assert (found.n_top, found.n_both) == (observed["n_top"], observed["n_both"])
    order = [found.families["family"].tolist().index(f) for f in ("Qwen", "Llama", "Gemma")]
    assert found.families["rho"].to_numpy()[order] == pytest.approx(observed["rho_f"][:3])
    null = pd.DataFrame(expected["null"])
    for name in ("median_rho", "overlap", "agreement"):
        assert found.permutations[name].to_numpy() == pytest.approx(
            null[name].to_numpy(dtype=float), abs=1e-9, nan_ok=True
        )
    p = found.table.set_index("statistic")["p_value"]
    assert p.to_dict() == pytest.approx(expected["p"])


def test_anchor_subtests_are_rebuilt_exactly(reference, worked):
    for half in (0, 1):
        table = reference.anchors("1of2_half_even", half)
        rebuilt = anchor_subtest(worked, half)
        assert [str(w) for w in rebuilt.weights()] == table["weight"].tolist()


# undefined and impossible


def test_undefined_agreement_counts_against_the_observed_one(leaderboard):
    audit = audit_near_ties(leaderboard, replace(PLAIN, min_family_size=2), rng=1)
    found = replicate_signatures(audit, leaderboard, share=0.05, permutations=400, rng=1)
    undefined = int(found.permutations["agreement"].isna().sum())
    assert undefined > 0
    row = found.table.set_index("statistic").loc["agreement"]
    assert row["n_undefined"] == undefined
    if np.isnan(row["value"]):
        pytest.fail("the seed was chosen so that some item is high in both halves")
    reached = int((found.permutations["agreement"] >= row["value"]).sum())
    assert row["p_value"] == (1 + reached + undefined) / 401
    assert any("count against" in text for text in found.warnings)


def test_no_shared_item_leaves_agreement_undefined(example):
    data, audit = example
    effects = effects_of(audit)
    spread = np.ptp(effects[0], axis=1)
    rank = stats.rankdata(spread)
    scale = np.divide(len(rank) + 1 - rank, spread, out=np.ones_like(spread), where=spread > 0)
    other = with_effects(audit, [effects[0], effects[0] * scale[:, None]])
    found = replicate_signatures(other, data, permutations=20, rng=1)
    row = found.table.set_index("statistic").loc["agreement"]
    assert found.n_both == 0
    assert np.isnan(row["value"])
    assert np.isnan(row["p_value"])
    assert "agreement undefined" in str(found)
    assert any("No item is among the highest" in text for text in found.warnings)


def test_items_without_effects_have_no_advantaged_family_and_no_correlation(example):
    data, audit = example
    flat = with_effects(audit, np.zeros_like(effects_of(audit)))
    found = replicate_signatures(flat, data, permutations=20, rng=1)
    assert set(found.items["advantaged_0"]) == {""}
    assert np.isnan(values(found)["median_rho"])
    assert values(found)["agreement"] == 0
    assert any("No rank correlation is defined" in text for text in found.warnings)


def test_constant_items_stand_at_the_end_of_their_source(leaderboard):
    values_ = leaderboard.values.copy()
    values_[0], values_[3] = 1, 0
    board = Responses.build(values_, items=leaderboard.items, models=leaderboard.models)
    audit = audit_near_ties(board, replace(PLAIN, min_family_size=2), rng=1)
    signatures = read_signatures(audit, board)
    assert np.isposinf(signatures.easiness[:, signatures.items.index("q00")]).all()
    assert np.isneginf(signatures.easiness[:, signatures.items.index("q03")]).all()
    found = replicate_signatures(audit, board, permutations=0).items.set_index("item")
    assert found.loc["q00", "cell"] == "s1|3"
    assert found.loc["q03", "cell"] == "s1|0"


def test_opposed_constants_stand_in_the_middle(example):
    data, audit = example
    signatures = read_signatures(audit, data)
    easiness = signatures.easiness.copy()
    easiness[:, 0] = [np.inf, -np.inf]
    easiness[:, 1] = [np.inf, 0.0]
    cells = replace(signatures, easiness=easiness).common_cells()
    assert cells.stratum[cells.code[1]] == 3
    assert cells.stratum[cells.code[0]] in (1, 2)


def test_impossible_requests(example):
    data, audit = example
    with pytest.raises(ValueError, match=r"share must lie in \(0, 1\), got 1.5"):
        replicate_signatures(audit, data, share=1.5)
    with pytest.raises(ValueError, match="must not be negative"):
        replicate_signatures(audit, data, permutations=-1)
    with pytest.raises(ValueError, match="one column an item"):
        replicate_signatures(audit, data, permutations=np.zeros((2, 3), dtype=int))
    twice = np.arange(audit.n_items)[None, :].copy()
    twice[0, 0] = 1
    with pytest.raises(ValueError, match="row 1 of permutations does not name every item once"):
        replicate_signatures(audit, data, permutations=twice)
    with pytest.raises(ValueError, match="out of its common cell"):
        replicate_signatures(audit, data, permutations=np.arange(audit.n_items)[None, ::-1])
    with pytest.raises(DataError, match="lack item"):
        replicate_signatures(audit, data.take(items=np.arange(5)))
    with pytest.raises(DataError, match="lack model"):
        replicate_signatures(audit, data.take(models=np.arange(5)))


def test_without_permutations_there_is_no_p(example):
    data, audit = example
    found = replicate_signatures(audit, data, permutations=0)
    assert found.table["p_value"].isna().all()
    assert found.table["chance"].notna().tolist() == [False, True, False]
    assert "(p =" not in str(found)
    assert found.warnings == ()


def test_the_test_of_overlap_comes_with_its_caveat(example):
    data, audit = example
    found = replicate_signatures(audit, data, permutations=5, rng=1)
    assert "replicates without family DIF too" in found.warnings[-1]


def test_what_a_user_reads(example):
    data, audit = example
    found = replicate_signatures(audit, data, rng=1)
    assert str(found).startswith("replication of item signatures: median rho 0.263 (p = 0.002)")
    assert [row["statistic"] for row in found.to_dict()["statistics"]] == [
        "median_rho",
        "overlap",
        "agreement",
    ]
