"""The screen as a whole: cases, laws, what it says of degenerate items and of labels."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.screen import ScreenSettings, screen_items
from neartie.audits.screen_labels import bad_labels, labelled_kinds, precision_table
from neartie.audits.screen_partners import choose_partners
from neartie.data.errors import DataError
from neartie.data.files import to_json
from neartie.data.read import read_responses
from neartie.data.responses import Responses

QUICK = ScreenSettings(statistics="fast", n_null=50)


def simulate(n_item=40, n_model=60, *, n_flipped=3, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    logit = 1.5 * rng.normal(size=n_model) + rng.normal(size=(n_item, 1))
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    values[:n_flipped] = 1 - values[:n_flipped]
    values[rng.random(values.shape) < missing] = -1
    items = pd.DataFrame(
        {
            "item": [f"q{i}" for i in range(n_item)],
            "source": [("s1", "s2")[i % 2] for i in range(n_item)],
            "is_bad": [str(int(i < n_flipped)) for i in range(n_item)],
        }
    )
    return Responses.build(values, items=items, models=[f"m{m}" for m in range(n_model)])


def case(folder, name, file, **options):
    return read_responses(folder / name / file, rows="models", **options)


def test_case_c13_the_miskeyed_item_comes_first(case_dir):
    screen = screen_items(case(case_dir, "C13", "responses.csv"), rng=1)
    found = screen.table.set_index("item")["signed_isotonic_r2"].round(4)
    assert found.to_dict() == {
        "q01": 0.1376,
        "q02": 0.2026,
        "q03": 0.2650,
        "q04": -0.2889,
        "q05": 0.1933,
        "q06": 0.1957,
    }
    worst = screen.table.iloc[0]
    assert worst["item"] == "q04"
    assert worst["rank"] == 1
    assert worst["reason"].startswith("negative with 5 of 5 items; lower than shuffled answers get")
    assert (screen.table["signed_isotonic_r2"] < 0).sum() == 1


@pytest.mark.parametrize("file", ["pair.csv", "shuffled.csv"])
def test_case_c37_ties_and_row_order(case_dir, file):
    data = case(case_dir, "C37", file)
    screen = screen_items(data, QUICK, rng=1)
    assert screen.table["signed_isotonic_r2"].round(4).tolist() == [0.2525, 0.2525]
    flipped = data.values.copy()
    flipped[1] = 1 - flipped[1]
    turned = Responses.build(flipped, items=data.item_ids, models=data.model_ids)
    assert (
        screen_items(turned, QUICK, rng=1).table["signed_isotonic_r2"].round(4).tolist()
        == [-0.2525] * 2
    )


def test_case_c38_a_constant_item_is_neither_best_nor_worst(case_dir):
    screen = screen_items(case(case_dir, "C38", "responses.csv"), QUICK, rng=1)
    table = screen.table.set_index("item")
    expected = {"w1": 0.3, "w2": 0.15, "w3": 0.35}
    assert table["signed_isotonic_r2"].dropna().round(4).to_dict() == pytest.approx(expected)
    assert table["n_pairs"].to_dict() == {"w1": 2, "w2": 2, "w3": 2, "w4": 0}
    assert pd.isna(table.loc["w4", "rank"])
    assert table.loc["w4", "reason"] == "solved by everybody (6 models): nothing to compare"
    assert screen.n_undefined == 6


def test_case_c08_graded_items_are_taken_as_they_are(case_dir):
    data = case(case_dir, "C08", "graded.csv", scores="graded")
    two = data.take(items=np.array([0, 1]))
    for form, value in (
        ("predictor", 1 / 3),
        ("outcome", 3 / 11),
        ("symmetric", (1 / 3 + 3 / 11) / 2),
    ):
        table = screen_items(two, ScreenSettings(form=form), rng=1).table.set_index("item")
        assert table.loc["p1", "signed_isotonic_r2"] == pytest.approx(value, abs=1e-9)
    whole = screen_items(data, rng=1)
    assert whole.n_ranked == 5


def test_same_seed_same_bytes_whatever_the_order():
    data = simulate(missing=0.1)
    rng = np.random.default_rng(5)
    moved = data.take(items=rng.permutation(40), models=rng.permutation(60))
    one, other = (screen_items(given, rng=7) for given in (data, moved))
    for name in ("table", "auc", "sources", "curves", "precision", "labelled"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name), check_exact=True)
    assert to_json(one.to_dict()) == to_json(other.to_dict())


def test_flipped_items_lead_the_list_and_are_judged():
    screen = screen_items(simulate(), rng=1)
    assert set(screen.table["item"].head(3)) == {"q0", "q1", "q2"}
    auc = screen.auc.set_index("statistic")
    assert auc.loc["signed_isotonic_r2", "auc"] == 1
    assert auc.loc["signed_isotonic_r2", "reason"] == (
        "the classes do not overlap: no standard error"
    )
    assert screen.precision.set_index("k").loc[3, "precision"] == 1
    assert len(screen.review()) >= 3
    assert screen.to_dict()["n_review"] == len(screen.review())


def test_unrelated_items_are_called_flat_about_as_often_as_promised():
    # 60 unrelated items in a scale of 60 others: 95 % should lie in the band; fixed seed.
    data = simulate(120, 80, n_flipped=0, seed=3)
    values = data.values.copy()
    rng = np.random.default_rng(4)
    values[:60] = rng.permuted(values[:60], axis=1)
    shuffled = Responses.build(values, items=data.item_ids, models=data.model_ids)
    table = screen_items(shuffled, ScreenSettings(statistics="fast", n_null=200), rng=1).table
    unrelated = table[table["item"].str[1:].astype(int) < 60]
    inside = unrelated["signed_isotonic_r2"].between(unrelated["null_low"], unrelated["null_high"])
    assert 0.87 <= inside.mean() <= 1
    related = table[table["item"].str[1:].astype(int) >= 60]
    assert (related["p_null"] < 0.02).mean() > 0.9


def test_null_of_a_class_is_that_of_each_of_its_items():
    # Complete data: an item shuffled on its own has the null of its number of right answers.
    data = simulate(12, 40, seed=6)
    one = screen_items(data, ScreenSettings(statistics="fast", n_null=4000), rng=1)
    other = screen_items(data, ScreenSettings(statistics="fast", n_null=4000), rng=2)
    both = one.table.set_index("item").join(other.table.set_index("item"), suffixes=("", "_2"))
    width = (both["null_high"] - both["null_low"]).to_numpy()
    assert np.abs((both["null_high"] - both["null_high_2"]) / width).max() < 0.1


def test_within_sources_compares_items_of_a_source_only():
    data = simulate()
    within = screen_items(data, ScreenSettings(within="source", statistics="fast"), rng=1)
    alone = screen_items(
        data.take(items=np.arange(0, 40, 2)), ScreenSettings(statistics="fast"), rng=1
    )
    merged = within.table.set_index("item").loc[alone.table["item"]]
    np.testing.assert_allclose(
        merged["signed_isotonic_r2"], alone.table["signed_isotonic_r2"], atol=1e-12
    )
    assert (within.table["n_pairs"] == 19).all()


def test_an_item_that_contradicts_its_source_is_told_apart():
    rng = np.random.default_rng(8)
    ability = rng.normal(size=(2, 400))
    logit = np.repeat(2.5 * ability, 12, axis=0)
    logit[0] = 2.5 * ability[1] - 2.5 * ability[0]
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    items = pd.DataFrame({"item": [f"q{i}" for i in range(24)], "source": ["a"] * 12 + ["b"] * 12})
    data = Responses.build(values, items=items, models=[f"m{m}" for m in range(400)])
    screen = screen_items(data, QUICK, rng=1)
    row = screen.table.set_index("item").loc["q0"]
    assert row["own_source"] < 0 < row["other_sources"]
    assert "contradicts its source" in row["reason"]
    heat = screen.sources.set_index(["source", "partner_source"])["mean"]
    assert heat["b", "b"] > heat["a", "b"]
    assert heat["a", "b"] == pytest.approx(heat["b", "a"])


@pytest.mark.parametrize("choice", ["random", "difficulty", "correlation"])
def test_subsampled_partners_keep_the_worst_items(choice):
    data = simulate(80, 100, seed=9)
    settings = ScreenSettings(n_partners=20, partner_choice=choice, statistics="fast", n_null=0)
    table = screen_items(data, settings, rng=1).table
    assert (table["n_pairs"] == 20).all()
    assert set(table["item"].head(3)) == {"q0", "q1", "q2"}
    assert table["null_low"].isna().all()


@pytest.mark.parametrize("choice", ["random", "difficulty", "correlation"])
@pytest.mark.parametrize(("n_item", "n_partner"), [(7, 5), (20, 15), (40, 7)])
def test_no_partner_is_chosen_twice_or_is_the_item_itself(choice, n_item, n_partner):
    data = simulate(n_item, 60)
    rng = np.random.default_rng(0)
    partners = choose_partners(data, n_partners=n_partner, choice=choice, rng=rng)
    for i, chosen in enumerate(partners):
        assert len({*chosen.tolist(), i}) == n_partner + 1


def test_more_partners_than_items_means_all_pairs():
    data = simulate()
    settings = ScreenSettings(n_partners=39, statistics="fast", n_null=0)
    every = screen_items(data, ScreenSettings(statistics="fast", n_null=0), rng=1)
    pd.testing.assert_frame_equal(screen_items(data, settings, rng=1).table, every.table)


def test_degenerate_items_are_classes_of_their_own():
    values = simulate(10, 30).values.copy()
    values[3], values[4], values[5] = 1, 0, -1
    data = Responses.build(
        values, items=[f"q{i}" for i in range(10)], models=[f"m{m}" for m in range(30)]
    )
    screen = screen_items(data, QUICK, rng=1)
    last = screen.table.tail(3)
    assert last["kind"].tolist() == ["solved by nobody", "no answer", "solved by everybody"]
    assert last["rank"].isna().all()
    assert last["reason"].str.len().min() > 0
    assert "3 of 10 items have no coefficient" in " ".join(screen.warnings)
    assert len(screen.without_coefficient()) == 3


def test_labelled_degenerate_items_are_counted_apart():
    table = pd.DataFrame(
        {
            "kind": ["ranked"] * 3 + ["solved by nobody"] * 2,
            "is_bad": [1, 0, np.nan, 1, 1],
            "signed_isotonic_r2": [0.1, 0.2, 0.3, np.nan, np.nan],
        }
    )
    counts = labelled_kinds(table).set_index("kind")
    assert counts.loc["ranked"].tolist() == [2, 1]
    assert counts.loc["solved by nobody"].tolist() == [2, 2]
    assert precision_table(table).to_dict("records") == [
        {"k": 1, "n_bad": 1.0, "precision": 1.0, "chance": 0.5}
    ]


def test_screening_again_without_the_worst_items():
    data = simulate()
    first = screen_items(data, QUICK, rng=1)
    worst = first.table["item"].head(3).tolist()
    second = screen_items(data, QUICK, without=worst, rng=1)
    assert second.n_items == 37
    assert second.removed == tuple(worst)
    kept = data.take(items=np.array([item not in worst for item in data.item_ids]))
    pd.testing.assert_frame_equal(second.table, screen_items(kept, QUICK, rng=1).table)
    before = first.table.set_index("item")["signed_isotonic_r2"]
    after = second.table.set_index("item")["signed_isotonic_r2"]
    assert (after > before.loc[after.index]).all()


def test_curves_show_the_turned_item_falling():
    screen = screen_items(simulate(40, 200), QUICK, rng=1)
    worst = screen.curves[screen.curves["item"] == screen.table["item"].iloc[0]]
    assert worst["n"].sum() == 200
    assert (np.diff(worst["rest"]) > 0).all()
    assert (np.diff(worst["fit"]) <= 1e-12).all()
    assert worst["score"].iloc[0] > worst["score"].iloc[-1]


def test_curves_within_a_source_are_over_the_items_of_that_source():
    data = simulate(20, 80)
    within = screen_items(data, ScreenSettings(within="source", n_null=0), rng=1).curves
    alone = data.take(items=(data.items["source"] == "s1").to_numpy())
    expected = screen_items(alone, ScreenSettings(n_null=0, n_curves=20), rng=1).curves
    shared = set(within["item"]) & set(alone.item_ids)
    assert len(shared) >= 3
    for item in shared:
        pd.testing.assert_frame_equal(
            within[within["item"] == item].reset_index(drop=True),
            expected[expected["item"] == item].reset_index(drop=True),
        )


def test_few_shuffles_are_warned_of():
    few = " ".join(screen_items(simulate(), ScreenSettings(n_null=5), rng=1).warnings)
    assert "The null band rests on 5 shuffles" in few
    enough = " ".join(screen_items(simulate(), QUICK, rng=1).warnings)
    assert "The null band rests" not in enough


def test_items_without_a_value_to_screen_within_are_named():
    data = simulate()
    items = data.items.assign(source=["" if i < 5 else "s" for i in range(data.n_item)])
    blank = Responses.build(data.values, items=items, models=data.models)
    warnings = " ".join(screen_items(blank, ScreenSettings(within="source"), rng=1).warnings)
    assert "5 items have no 'source', and are compared with each other" in warnings


def test_lonely_items_are_not_called_bad_ones_of_a_saturated_benchmark():
    data = simulate(6, 40, n_flipped=0)
    items = data.items.assign(source=["a", "a", "a", "a", "b", "c"])
    lonely = Responses.build(data.values, items=items, models=data.models)
    warnings = " ".join(screen_items(lonely, ScreenSettings(within="source"), rng=1).warnings)
    assert "2 of 6 items have no coefficient and no rank: 2 no partner." in warnings
    assert "saturated" not in warnings


@pytest.mark.parametrize(
    ("direction", "words"), [("fit", "the fit decides"), ("tau", "tau decides")]
)
def test_pairs_with_two_signs_are_counted_and_say_what_decides(direction, words):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 6, (12, 15)).astype(np.float32)
    data = Responses.build(
        values, items=[f"q{i}" for i in range(12)], models=[f"m{m}" for m in range(15)]
    )
    screen = screen_items(data, ScreenSettings(direction=direction, n_null=0), rng=1)
    assert screen.n_disagree > 0
    warnings = " ".join(screen.warnings)
    assert f"In {screen.n_disagree} of {screen.n_pairs} comparisons" in warnings
    assert words in warnings


def test_wrong_labels_are_heard_of_before_the_work():
    data = simulate()
    items = data.items.assign(is_bad="maybe")
    said = []
    with pytest.raises(DataError, match="is_bad = 'maybe'"):
        screen_items(
            Responses.build(data.values, items=items, models=data.models),
            rng=1,
            progress=lambda step, share: said.append(step),
        )
    assert said == []


def test_items_without_one_direction_are_warned_of():
    rng = np.random.default_rng(2)
    values = (rng.random((30, 40)) < 0.5).astype(np.int8)
    data = Responses.build(
        values, items=[f"q{i}" for i in range(30)], models=[f"m{m}" for m in range(40)]
    )
    warnings = " ".join(screen_items(data, QUICK, rng=1).warnings)
    assert "do not share one direction" in warnings
    assert "cannot be told from shuffled answers" in warnings


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: screen_items(simulate(), without=["q1", "zz"]),
            "not in the responses, first 'zz'",
        ),
        (
            lambda: screen_items(simulate(), ScreenSettings(within="topic")),
            "no column 'topic' to screen within; it has item, source, is_bad",
        ),
        (lambda: screen_items(simulate().take(models=np.array([0]))), "at least two models, got"),
        (
            lambda: screen_items(simulate(), without=simulate().item_ids),
            "all 40 items were taken out, so none is left to screen",
        ),
        (
            lambda: bad_labels(pd.DataFrame({"item": ["q"], "is_bad": ["maybe"]})),
            "item 'q' has is_bad = 'maybe'",
        ),
        (
            lambda: screen_items(simulate(), ScreenSettings(n_partners=0)),
            "at least one partner, got 0",
        ),
    ],
)
def test_what_the_data_do_not_allow_is_said(call, message):
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ScreenSettings(statistics="some"), "statistics must be auto, all or fast"),
        (lambda: ScreenSettings(n_null=-1), "n_null must be at least 0, got -1"),
        (
            lambda: screen_items(simulate(), ScreenSettings(n_partners=3, partner_choice="near")),
            "choice must be one of random, difficulty, correlation, got 'near'",
        ),
        (lambda: screen_items(simulate(), rng=-3), "a seed is a whole number"),
    ],
)
def test_wrong_settings_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


AUCS = [
    # "Reference numbers" of the folder of real data, recomputed there by an independent routine.
    ("metabench_gsm8k_a", 12, 249, {"phi": 0.741, "signed_isotonic_r2": 0.739, "rho_rest": 0.741}),
    ("gsm8k_zeroeval", 108, 1088, {"phi": 0.737, "signed_isotonic_r2": 0.786, "rho_rest": 0.733}),
    ("swebench_verified", 26, 468, {"phi": 0.423, "signed_isotonic_r2": 0.429, "rho_rest": 0.427}),
]


@pytest.mark.parametrize(("name", "n_bad", "n_item", "expected"), AUCS)
def test_labelled_real_sets(data_dir, name, n_bad, n_item, expected):
    folder = data_dir / name
    data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
    screen = screen_items(data, ScreenSettings(statistics="fast", n_null=0), rng=1)
    auc = screen.auc.set_index("statistic")
    assert (auc["n_bad"] == n_bad).all()
    assert (auc["n_bad"] + auc["n_good"] == n_item).all()
    for statistic, value in expected.items():
        assert auc.loc[statistic, "auc"] == pytest.approx(value, abs=6e-4)


def test_the_complete_models_of_mmlu_redux(data_dir):
    folder = data_dir / "mmlu_redux_helm"
    data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
    complete = data.take(models=np.argsort(-data.observed.sum(axis=0), kind="stable")[:14])
    screen = screen_items(complete, ScreenSettings(statistics="fast", n_null=0), rng=1)
    auc = screen.auc.set_index("statistic")["auc"]
    assert auc["phi"] == pytest.approx(0.569, abs=0.002)
    assert auc["signed_isotonic_r2"] == pytest.approx(0.630, abs=0.002)


@pytest.mark.parametrize(
    ("source", "expected"),
    [("agreeableness", 1), ("conscientiousness", 1), ("extraversion", 1), ("openness", 5 / 6)],
)
def test_reverse_keyed_items_within_their_scale(data_dir, source, expected):
    folder = data_dir / "bfi_reversed"
    data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
    own = data.take(items=(data.items["source"] == source).to_numpy())
    screen = screen_items(own, ScreenSettings(statistics="fast", n_null=0), rng=1)
    auc = screen.auc.set_index("statistic")["auc"]
    assert auc["signed_isotonic_r2"] == pytest.approx(expected)
    # With four partners a third, reversed one can sway a mean of squares; correlations add up.
    assert auc["phi"] == 1
