"""Population: labels, cap, halves, representatives, refusals, and the worked audit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.audits.halves import assign_halves
from neartie.audits.labelling import label_models, scope_disagreements
from neartie.audits.population import build_population, choose_representatives
from neartie.data.errors import DataError
from neartie.data.responses import Responses

FAMILIES = ("Qwen", "Llama", "Gemma")


def board(n_owner=24, per_cell=3, n_item=40, seed=0, **columns) -> Responses:
    """Every owner holds one or two families, `per_cell` checkpoints each."""
    rng = np.random.default_rng(seed)
    ids = [
        f"owner{o:02d}/{FAMILIES[(o + extra) % 3]}-{m}B"
        for o in range(n_owner)
        for extra in range(1 + o % 2)
        for m in range(per_cell)
    ]
    values = (rng.random((n_item, len(ids))) < 0.6).astype(np.int8)
    models = pd.DataFrame({"model": ids, **columns})
    return Responses.build(values, items=[f"q{i}" for i in range(n_item)], models=models)


def built(responses, **options):
    return build_population(responses, **{"min_family_size": 2, "rng": 1, **options})


def test_no_owner_stands_in_both_halves_and_families_are_balanced():
    population = built(board())
    table = population.table
    assert (table.groupby("owner")["half"].nunique() == 1).all()
    sizes = population.families().pivot(index="family", columns="half", values="n_models")
    # owners bring up to six models, so that a family can differ by a few
    assert (sizes[0] - sizes[1]).abs().max() <= 3
    accuracy = table.groupby(["family", "half"])["n_correct"].sum().unstack()
    assert ((accuracy[0] - accuracy[1]).abs() / accuracy.sum(axis=1)).max() < 0.15


@given(st.integers(0, 10**6), st.integers(2, 40))
@settings(max_examples=30, deadline=None)
def test_halves_never_do_worse_than_leaving_one_empty(seed, n_owner):
    rng = np.random.default_rng(seed)
    n = 3 * n_owner
    table = pd.DataFrame(
        {
            "model": [f"m{i}" for i in range(n)],
            "owner": [f"o{i}" for i in rng.integers(0, n_owner, n)],
            "family": rng.choice(list("xyz"), n),
            "n_correct": rng.integers(10, 90, n),
        }
    )
    half = assign_halves(table)
    order = rng.permutation(n)
    assert np.array_equal(assign_halves(table.iloc[order]), half[order])
    side = np.where(half == 0, 1, -1)

    def imbalance(side):
        signed = table.assign(side=side, signed=side * table["n_correct"])
        count = signed.groupby("family")["side"].sum()
        accuracy = signed.groupby("family")["signed"].sum() / table["n_correct"].mean()
        return (count**2).sum() + (accuracy**2).sum()

    found = imbalance(side)
    assert found <= imbalance(np.ones(n))
    for owner in table["owner"].unique():
        # no single owner can be moved to advantage
        moved = np.where(table["owner"] == owner, -side, side)
        assert found <= imbalance(moved) + 1e-9


def test_the_cap_keeps_at_most_so_many_and_does_not_see_row_order():
    responses = board(per_cell=6)
    population = built(responses, owner_cap=2)
    cells = population.table.groupby(["owner", "family"]).size()
    assert cells.max() == 2
    order = np.random.default_rng(3).permutation(responses.n_model)
    other = built(responses.take(models=order), owner_cap=2)
    key = ["model", "half", "representative"]
    assert (
        other.table[key]
        .sort_values("model")
        .reset_index(drop=True)
        .equals(population.table[key].sort_values("model").reset_index(drop=True))
    )
    reasons = population.excluded["reason"].value_counts()
    assert reasons["over the owner cap"] == responses.n_model - len(population.table)


def test_the_cap_is_a_draw():
    responses = board(per_cell=6)
    kept = [set(built(responses, owner_cap=2, rng=seed).table["model"]) for seed in range(2)]
    assert kept[0] != kept[1]
    assert kept[0] == set(built(responses, owner_cap=2, rng=0).table["model"])


def test_representatives_are_closest_to_the_median_and_ties_go_to_the_smallest_id():
    table = pd.DataFrame(
        {
            "model": ["d", "c", "b", "a", "z", "y"],
            "owner": ["o"] * 4 + ["p"] * 2,
            "family": "F",
            "n_correct": [10, 20, 30, 50, 9, 3],
        }
    )
    # the median of 10, 20, 30, 50 is 25: b and c are equally close; of 9 and 3 both are
    assert table["model"][choose_representatives(table)].tolist() == ["b", "y"]


def test_small_families_are_dropped_after_the_cap_and_named():
    responses = board(n_owner=24)
    few = [m for m in responses.model_ids if "Gemma" in m][10:]
    keep = np.array([m not in few for m in responses.model_ids])
    population = built(responses.take(models=keep), min_family_size=11)
    assert set(population.table["family"]) == {"Qwen", "Llama"}
    assert any("fewer than 11 models were dropped: Gemma (10)" in n for n in population.notices)
    reasons = population.excluded["reason"].value_counts()
    assert reasons["family below the minimum size"] == 10


def test_names_without_one_family_are_left_out_with_the_reason():
    models = ["a/qwen-1", "b/dolphin-2", "c/Sphinx", "d/phi-2", "e/llama-qwen", "phi/gemma-1"]
    labels = label_models(Responses.build(np.ones((1, 6), int), items=["q"], models=models))
    assert labels["family"].tolist() == ["Qwen", None, None, "Phi", None, None]
    assert labels["reason"].tolist()[4] == "several family names: Qwen, Llama"
    assert labels["reason"].tolist()[1] == "no family name"
    assert scope_disagreements(models) == ["phi/gemma-1"]


def test_an_id_without_a_slash_is_its_own_owner():
    labels = label_models(Responses.build([[1, 0]], items=["q"], models=["qwen-1", "qwen-2"]))
    assert labels["owner"].tolist() == ["qwen-1", "qwen-2"]


def test_blank_and_unknown_families_of_a_table_are_no_family():
    models = pd.DataFrame(
        {"model": list("abcd"), "family": ["X", "", "Unknown", None]}, dtype=object
    )
    labels = label_models(Responses.build(np.ones((1, 4), int), items=["q"], models=models))
    assert labels["family"].tolist() == ["X", None, None, None]


def frozen(**changes) -> Responses:
    responses = board()
    table = built(responses).table
    columns = {"half": table["half"], "representative": table["representative"], **changes}
    models = table[["model", "owner", "family"]].assign(**columns)
    return Responses.build(built(responses).responses.values, items=responses.items, models=models)


def test_a_frozen_population_is_taken_as_it_is():
    responses = frozen()
    population = build_population(responses, min_family_size=1000, owner_cap=1)
    assert population.frozen
    assert population.table["half"].tolist() == responses.models["half"].tolist()
    assert len(population.table) == responses.n_model
    assert any("fewer than 1000 models in the given population" in n for n in population.notices)


def test_models_without_a_half_are_left_out():
    table = built(board()).table
    half = table["half"].astype("Int64")
    half.iloc[5] = pd.NA
    population = build_population(frozen(half=half))
    assert population.excluded["reason"].tolist() == ["no half in the model table"]


def test_an_owner_in_both_halves_is_refused_by_name():
    table = built(board()).table
    half = table["half"].copy()
    half.iloc[0] = 1 - half.iloc[0]
    with pytest.raises(DataError, match="1 stands in both: owner00"):
        build_population(frozen(half=half))


def test_a_family_in_one_half_only_is_refused_by_name():
    table = built(board()).table
    family = (
        table["family"].where(table["half"] == 0, "Qwen").where(table["family"] != "Gemma", "Gemma")
    )
    lonely = family.mask((family == "Gemma") & (table["half"] == 1), "Qwen")
    with pytest.raises(
        DataError, match=r"family 'Gemma' has 0 models in half 1.*give other halves"
    ):
        build_population(frozen(family=lonely))


def test_a_family_too_small_for_two_halves_says_which_option_drops_it():
    responses = board()
    few = [model for model in responses.model_ids if "Gemma" in model][3:]
    keep = np.array([model not in few for model in responses.model_ids])
    with pytest.raises(
        DataError, match=r"family 'Gemma' has 0 models in half 1.*--min-family-size 4"
    ):
        built(responses.take(models=keep), min_family_size=1)


def test_one_family_is_refused():
    with pytest.raises(DataError, match="only 'Qwen' is there"):
        build_population(frozen(family="Qwen"))


def test_one_family_by_names_is_refused():
    responses = board()
    qwen = np.array(["Qwen" in model for model in responses.model_ids])
    with pytest.raises(DataError, match=r"all \d+ models with a family belong to 'Qwen'"):
        built(responses.take(models=qwen))


def test_no_family_at_all_says_what_to_do():
    responses = Responses.build(np.ones((2, 3), int), items=["a", "b"], models=["x", "y", "z"])
    with pytest.raises(DataError, match="none of the 3 model ids names exactly one family"):
        build_population(responses)


def test_too_small_families_say_their_sizes():
    with pytest.raises(DataError, match=r"at least 500 models .*Gemma \d+, Llama \d+, Qwen \d+"):
        build_population(board(), min_family_size=500)


def holed() -> Responses:
    responses = board()
    values = responses.values.copy()
    values[3, 0] = values[4, 0] = values[3, 7] = -1
    return Responses.build(values, items=responses.items, models=responses.models)


def test_missing_answers_stop_with_both_ways_out():
    with pytest.raises(
        DataError, match=r"3 answers are missing .*leaves 106 of 108 .*leaves 38 of 40"
    ):
        built(holed())


def test_one_missing_answer_is_told_in_the_singular_and_its_name_is_cut():
    values = board().values.copy()
    values[3, 0] = -1
    models = board().models.assign(model=["qwen" + "x" * 500, *board().model_ids[1:]])
    with pytest.raises(DataError, match=r"^1 answer is missing .*; models qwenx{75}…\), but"):
        built(Responses.build(values, items=board().items, models=models))


@pytest.mark.parametrize(("rule", "shape"), [("drop-models", (40, 106)), ("drop-items", (38, 108))])
def test_missing_answers_are_dropped_on_request(rule, shape):
    population = built(holed(), missing=rule)
    assert population.responses.values.shape == shape
    assert population.responses.n_missing == 0
    assert any("missing answers were left out" in notice for notice in population.notices)


def test_graded_answers_are_refused():
    responses = Responses.build([[0.5, 1.0]], items=["q"], models=["a/qwen", "b/llama"])
    with pytest.raises(DataError, match="graded"):
        build_population(responses)


def test_worked_audit(reference):
    expected = reference.json("population")
    everyone = (
        reference.table("expected/population_all").set_index("model").loc[reference.raw.columns]
    )
    responses = Responses.build(
        reference.raw.to_numpy(), items=reference.items, models=reference.raw.columns
    )
    labels = label_models(responses)
    assert labels["owner"].tolist() == everyone["owner"].tolist()
    wanted = [f if isinstance(f, str) else None for f in everyone["family_id_scope"]]
    assert labels["family"].tolist() == wanted

    # under the frozen halves, representatives and accuracies are the expected ones
    models = reference.population.drop(columns="representative")
    values = reference.raw[models["model"]].to_numpy()
    population = build_population(
        Responses.build(values, items=reference.items, models=models), min_family_size=10
    )
    chosen = population.table[population.table["representative"] == 1]["model"]
    assert sorted(chosen) == sorted(expected["representatives"])
    counts = everyone["n_correct"].astype(int).loc[population.table["model"]]
    assert population.table["n_correct"].tolist() == counts.tolist()
    for family, sums in expected["accuracy_sum_by_family_half"].items():
        rows = population.table[population.table["family"] == family]
        found = rows.groupby("half")["n_correct"].sum() / 400
        assert found.tolist() == pytest.approx(sums)


def test_own_rules_on_the_worked_audit_keep_its_invariants(reference):
    expected = reference.json("population")
    responses = Responses.build(
        reference.raw.to_numpy(), items=reference.items, models=reference.raw.columns
    )
    population = build_population(responses, min_family_size=10, rng=5)
    assert len(population.table) == expected["n_kept"]
    sizes = population.families().pivot(index="family", columns="half", values="n_models")
    for family, counts in expected["kept_count_by_family_half"].items():
        assert sizes.loc[family].sum() == sum(counts)
        # no worse than twice the reference's own greedy balance
        assert abs(sizes.loc[family, 0] - sizes.loc[family, 1]) <= 2
