"""Analysis of the content audit: agreement, paired tests, the rule, families; worked values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from neartie.audits.agreement import cohen_kappa, rank_agreement
from neartie.audits.content_analysis import analyse_content
from neartie.audits.content_axes import ContentAxes
from neartie.audits.content_families import associate_families
from neartie.audits.signed_ranks import signed_rank_test
from neartie.data.errors import DataError

ONE = ContentAxes(binary={"code": "holds code"}, ordinal={})
BOTH = ContentAxes(binary={"code": "holds code"}, ordinal={"steps": "steps"})
law = settings(max_examples=40, deadline=None)


def make_key(n_pairs, n_benchmarks=5, advantaged=("Ash", "Birch", "")):
    pair = np.repeat(np.arange(n_pairs), 2)
    return pd.DataFrame(
        {
            "blind_id": [f"b{i:04d}" for i in range(2 * n_pairs)],
            "benchmark": [f"bench{p % n_benchmarks}" for p in pair],
            "pair": pair,
            "group": ["high", "control"] * n_pairs,
            "item": [f"q{i}" for i in range(2 * n_pairs)],
            "advantaged": [advantaged[p % len(advantaged)] for p in pair],
        }
    )


def make_labels(key, seed, axes=ONE):
    rng = np.random.default_rng(seed)
    columns = {a: rng.choice(axes.allowed(a), size=len(key)).astype(float) for a in axes.names}
    return key[["blind_id"]].assign(**columns)


def planted(key, sums, seed=0):
    """Labels of one axis whose pooled difference in each benchmark is given."""
    high = key["group"] == "high"
    code = pd.Series(0.0, index=key.index)
    for benchmark, total in sums.items():
        rows = key.index[(key["benchmark"] == benchmark) & (high if total > 0 else ~high)]
        code[rows[: abs(total)]] = 1.0
    return key[["blind_id"]].assign(code=code)


# agreement


@law
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40))
def test_kappa_is_that_of_another_program(rows):
    first, second = zip(*rows, strict=True)
    found = cohen_kappa(first, second)
    if len({*first, *second}) == 1:
        assert found.value is None
        assert found.observed == found.expected == 1
        assert "throughout" in found.reason
    else:
        assert found.value == pytest.approx(cohen_kappa_score(first, second))
    assert cohen_kappa(second, first).value == found.value


def test_case_c41(case_dir):
    table = pd.read_csv(case_dir / "C41" / "judges.csv").set_index("item")
    codes = table.apply(lambda column: (column == table["judge1"].iloc[0]).astype(float))
    same = cohen_kappa(codes["judge1"], codes["judge2"])
    assert (same.observed, same.value) == (1, None)
    assert same.reason == "both gave the label 1 throughout"
    constant = cohen_kappa(codes["judge1"], codes["judge3"])
    assert (constant.observed, constant.expected, constant.value) == (0.8, 0.8, 0)
    usual = cohen_kappa(codes["judge3"], codes["judge4"])
    assert (usual.observed, usual.expected) == pytest.approx((0.8, 0.68))
    assert usual.value == pytest.approx(0.375)


def test_missing_labels_leave_agreement():
    assert cohen_kappa([1, 0, np.nan, 1], [1, 0, 1, np.nan]).n == 2
    none = cohen_kappa([np.nan], [1])
    assert (none.n, none.value, none.reason) == (0, None, "no shared item")
    assert rank_agreement([1, 1, 1], [0, 1, 2]).reason == "a side is constant"
    assert rank_agreement([1], [1]).reason == "fewer than two shared items"
    with pytest.raises(DataError, match="two lists of labels of one length"):
        cohen_kappa([1, 0], [1])


# Wilcoxon


def test_signed_ranks_by_hand():
    """Ranks of |d| = 1, 1, 2, 2, 3 are 1.5, 1.5, 3.5, 3.5, 5; variance less (6 + 6) / 48."""
    found = signed_rank_test([1, -1, 2, 2, 3, 0, np.nan])
    assert (found.n_pairs, found.n_different, found.w_plus) == (6, 5, 13.5)
    variance = 5 * 6 * 11 / 24 - 12 / 48
    z = (13.5 - 7.5) / np.sqrt(variance)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z), abs=1e-12)


def test_signed_ranks_are_symmetric_and_defined_without_differences():
    d = np.array([1, 2, -1, 3, 3, 0])
    assert signed_rank_test(d).p_value == pytest.approx(signed_rank_test(-d).p_value)
    assert signed_rank_test([0, 0]).p_value == 1
    assert signed_rank_test([]).n_pairs == 0


# laws of the analysis


def test_rows_are_joined_by_id(tmp_path):
    key = make_key(30)
    labels = {name: make_labels(key, seed, BOTH) for seed, name in enumerate("AB")}
    moved = {name: table.sample(frac=1, random_state=3) for name, table in labels.items()}
    shuffled = key.sample(frac=1, random_state=4)
    one = analyse_content(key, labels, axes=BOTH)
    two = analyse_content(shuffled, moved, axes=BOTH)
    for name in ("binary", "ordinal", "benchmarks", "rule"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(two, name), check_exact=True)
    assert two.agreement["value"].to_numpy() == pytest.approx(one.agreement["value"].to_numpy())


def test_exchanging_high_and_control_turns_every_difference():
    key = make_key(30)
    labels = {name: make_labels(key, seed, BOTH) for seed, name in enumerate("AB")}
    turned = key.assign(group=key["group"].map({"high": "control", "control": "high"}))
    one, two = (analyse_content(k, labels, axes=BOTH) for k in (key, turned))
    assert (one.binary["sum"] == -two.binary["sum"]).all()
    assert one.binary["p_value"].equals(two.binary["p_value"])
    assert one.ordinal["p_value"].to_numpy() == pytest.approx(two.ordinal["p_value"].to_numpy())
    assert one.rule.equals(two.rule)


@pytest.mark.parametrize(
    ("sums", "failing"),
    [
        ([4, 4, 4, 4, 4], []),  # 20 of 250: eight points exactly
        ([4, 4, 4, 4, 3], ["size"]),
        ([10, 10, 0, 0, 0], ["benchmarks"]),
        ([10, 8, 8, -3, -3], []),
    ],
)
def test_each_part_of_the_rule_at_its_edge(sums, failing):
    key = make_key(250)
    table = planted(key, {f"bench{i}": total for i, total in enumerate(sums)})
    found = analyse_content(key, {"A": table, "B": table}, axes=ONE)
    row = found.rule.iloc[0]
    parts = ["same_direction", "q", "size", "benchmarks"]
    assert [name for name in parts if not row[name]] == failing
    assert found.passes == (not failing)
    assert set(found.binary["sum"]) == {sum(sums)}


def test_annotators_must_agree_on_the_direction():
    key = make_key(250)
    up = planted(key, {f"bench{i}": 8 for i in range(5)})
    down = planted(key, {f"bench{i}": -8 for i in range(5)})
    row = analyse_content(key, {"A": up, "B": down}, axes=ONE).rule.iloc[0]
    assert row[["same_direction", "q", "size", "benchmarks", "passes"]].tolist() == [0, 1, 1, 1, 0]


def test_one_annotator_or_few_benchmarks_confirm_nothing():
    key = make_key(250)
    table = planted(key, {f"bench{i}": 8 for i in range(5)})
    single = analyse_content(key, {"A": table}, axes=ONE)
    assert not single.passes
    assert single.reliable is None
    assert "no axis can be confirmed" in single.warnings[0]
    assert "reliability not assessed" in str(single)
    two = make_key(250, n_benchmarks=2)
    table = planted(two, {"bench0": 20, "bench1": 20})
    found = analyse_content(two, {"A": table, "B": table}, axes=ONE)
    assert not found.passes
    assert any("in 3 benchmarks, and there are 2" in text for text in found.warnings)


def test_blank_labels_leave_the_axis_with_a_count():
    key = make_key(20)
    labels = make_labels(key, 1)
    labels.loc[[0, 3], "code"] = np.nan
    found = analyse_content(key, {"A": labels, "B": make_labels(key, 2)}, axes=ONE)
    counts = found.binary.set_index("annotator")["n_pairs"]
    assert counts.to_dict() == {"A": 18, "B": 20}
    assert any("Annotator A left 2 labels blank" in text for text in found.warnings)
    empty = labels.assign(code=np.nan)
    untested = analyse_content(key, {"A": empty, "B": empty}, axes=ONE)
    assert untested.binary[["p_value", "q_value"]].isna().all(axis=None)
    assert not untested.passes


def test_three_annotators_have_three_agreements_and_all_must_confirm():
    key = make_key(250)
    table = planted(key, {f"bench{i}": 8 for i in range(5)})
    weak = planted(key, {f"bench{i}": 1 for i in range(5)})
    yes = analyse_content(key, {"A": table, "B": table, "C": table}, axes=ONE)
    assert (len(yes.agreement), yes.passes, yes.median_kappa) == (3, True, 1)
    no = analyse_content(key, {"A": table, "B": table, "C": weak}, axes=ONE)
    assert not no.passes
    assert no.median_kappa == pytest.approx(no.agreement["value"].mean())


def test_an_undefined_kappa_leaves_the_median_with_a_reason():
    axes = ContentAxes(binary={"code": "x", "factual": "y"}, ordinal={})
    key = make_key(20)
    labels = {n: make_labels(key, s, axes).assign(code=0.0) for s, n in enumerate("AB")}
    found = analyse_content(key, labels, axes=axes)
    assert found.agreement["value"].isna().tolist() == [True, False]
    assert found.median_kappa == found.agreement["value"].iloc[1]
    assert any("both gave the label 0 throughout" in text for text in found.warnings)
    assert found.binary.set_index("axis").loc["code", "p_value"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="code"), "annotator 'A' has no labels for 'code'"),
        (lambda t: t.iloc[1:], "annotator 'A' has no row for blind_id 'b0000'"),
        (lambda t: pd.concat([t, t.iloc[:1]]), "blind_id 'b0000' stands more than once"),
        (lambda t: t.assign(code=2.0), "blind_id 'b0000': code is 2; 0, 1 or missing is meant"),
    ],
)
def test_wrong_labels_are_refused(change, message):
    key = make_key(5)
    with pytest.raises(DataError, match=message):
        analyse_content(key, {"A": change(make_labels(key, 1))}, axes=ONE)


def test_no_annotator_is_refused():
    with pytest.raises(DataError, match="at least one annotator"):
        analyse_content(make_key(5), {})


# the worked values


@pytest.fixture(scope="module")
def worked(reference):
    table = reference.table("inputs/audit_labels")
    table["blind_id"] = table["pair"] + table["group"]
    key = table[table["annotator"] == "A"][["blind_id", "benchmark", "pair", "group"]]
    key = key.assign(pair=key["pair"].astype(int), item=key["blind_id"], advantaged="")
    names = list(ContentAxes().names)
    labels = {
        name: rows[["blind_id", *names]].astype(dict.fromkeys(names, float))
        for name, rows in table.groupby("annotator")
    }
    return key.reset_index(drop=True), labels, reference.json("audit")


def test_worked_binary_axes(worked):
    key, labels, expected = worked
    found = analyse_content(key, labels)
    binary = found.binary.set_index(["axis", "annotator"])
    sums = found.benchmarks.set_index(["axis", "annotator", "benchmark"])["sum"].sort_index()
    kappa = found.agreement.set_index("axis")["value"]
    rule = found.rule.set_index("axis")
    for axis, wanted in expected["binary"].items():
        for annotator in "AB":
            row, mine = binary.loc[(axis, annotator)], wanted[annotator]
            assert (row["n_pairs"], row["sum"]) == (mine["n_pairs"], mine["sum_d"])
            assert row["difference"] == pytest.approx(mine["d"], abs=1e-15)
            assert row["p_value"] == pytest.approx(mine["p"], abs=1e-12)
            assert row["q_value"] == pytest.approx(mine["q"], abs=1e-12)
            assert sums.loc[(axis, annotator)].to_dict() == mine["per_benchmark_sum"]
        assert kappa[axis] == pytest.approx(wanted["kappa"], abs=1e-12)
        verdict = wanted["conditions"]
        assert rule.loc[axis].astype(bool).to_dict() == {
            "same_direction": verdict["same_nonzero_direction"],
            "q": verdict["q"],
            "size": verdict["size"],
            "benchmarks": verdict["three_benchmarks"],
            "passes": wanted["passes"],
        }
    assert found.passes == expected["audit_passes"]
    assert found.to_dict()["axes"] == ["spatial_temporal"]


def test_worked_ordinal_axes_and_reliability(worked):
    key, labels, expected = worked
    found = analyse_content(key, labels)
    ordinal = found.ordinal.set_index(["axis", "annotator"])
    rho = found.agreement.set_index("axis")["value"]
    for axis, wanted in expected["ordinal"].items():
        for annotator in "AB":
            row, mine = ordinal.loc[(axis, annotator)], wanted[annotator]
            assert (row["n_different"], row["w_plus"]) == (mine["n"], mine["W_plus"])
            assert row["p_value"] == pytest.approx(mine["p"], abs=1e-12)
            assert row["q_value"] == pytest.approx(mine["q"], abs=1e-12)
        assert rho[axis] == pytest.approx(wanted["rho"], abs=1e-12)
    assert found.median_kappa == pytest.approx(expected["median_kappa"], abs=1e-12)
    assert found.median_rho == pytest.approx(expected["median_rho"], abs=1e-12)
    assert found.reliable == expected["reliability_passes"]


# families


def stratified_statistic(benchmark, family, label):
    """The generalised statistic by sums over benchmarks, one family left out for full rank."""
    families = sorted(set(family))[:-1]
    gap, cov = np.zeros(len(families)), np.zeros((len(families), len(families)))
    for b in sorted(set(benchmark)):
        mine = benchmark == b
        n, ones = mine.sum(), label[mine].sum()
        size = np.array([(family[mine] == f).sum() for f in families], dtype=float)
        gap += [label[mine & (family == f)].sum() for f in families] - size * ones / n
        scale = ones * (n - ones) / (n * n * (n - 1))
        cov += scale * (n * np.diag(size) - np.outer(size, size))
    return gap @ np.linalg.solve(cov, gap)


def test_the_statistic_is_that_of_a_reduced_table():
    key = make_key(120, n_benchmarks=4, advantaged=("Ash", "Birch", "Cedar", "Ash", ""))
    labels = make_labels(key, 3)
    found = associate_families(key, {"A": labels}, axes=ONE, permutations=50, rng=1)
    used = key.merge(labels, on="blind_id")
    used = used[(used["group"] == "high") & (used["advantaged"] != "")]
    columns = (used[c].to_numpy() for c in ("benchmark", "advantaged", "code"))
    assert found.table["statistic"].iloc[0] == pytest.approx(stratified_statistic(*columns))
    assert found.table["n_items"].iloc[0] == len(used)
    shares = found.shares
    assert shares["n_labelled"].sum() == used["code"].sum()
    assert shares["expected"].sum() == pytest.approx(used["code"].sum())


def test_two_families_and_one_benchmark_give_the_chi_square_test():
    """Q is (n - 1) / n times Pearson's statistic of the 2 x 2 table."""
    key = make_key(80, n_benchmarks=1, advantaged=("Ash", "Birch"))
    labels = make_labels(key, 5)
    found = associate_families(key, {"A": labels}, axes=ONE, permutations=4000, rng=1)
    high = (key["group"] == "high").to_numpy()
    table = pd.crosstab(key["advantaged"][high], labels["code"][high])
    pearson = stats.chi2_contingency(table, correction=False)
    n = high.sum()
    assert found.table["statistic"].iloc[0] == pytest.approx(pearson.statistic * (n - 1) / n)
    exact = stats.fisher_exact(table).pvalue
    # four standard errors of 4,000 permutations
    assert found.table["p_value"].iloc[0] == pytest.approx(exact, abs=0.032)


def test_a_planted_association_is_found_and_relabelling_changes_nothing():
    key = make_key(150, advantaged=("Ash", "Birch", "Cedar"))
    labels = make_labels(key, 1).assign(code=(key["advantaged"] == "Ash").astype(float))
    found = associate_families(key, {"A": labels}, axes=ONE, permutations=200, rng=1)
    assert found.table["p_value"].iloc[0] == 1 / 201
    names = {"Ash": "z", "Birch": "y", "Cedar": "x"}
    renamed = key.assign(advantaged=key["advantaged"].map(names))
    other = associate_families(renamed, {"A": labels}, axes=ONE, permutations=200, rng=1)
    pd.testing.assert_frame_equal(found.table, other.table)
    moved = associate_families(
        key.sample(frac=1, random_state=1), {"A": labels}, axes=ONE, permutations=200, rng=1
    )
    pd.testing.assert_frame_equal(found.table, moved.table)


def test_what_does_not_vary_has_no_association():
    key = make_key(30, advantaged=("Ash", "Birch"))
    found = associate_families(
        key, {"A": make_labels(key, 1).assign(code=1.0)}, axes=ONE, permutations=20, rng=1
    )
    assert found.table[["statistic", "p_value", "q_value"]].isna().all(axis=None)
    assert any("nothing varies within a benchmark" in text for text in found.warnings)
    with pytest.raises(DataError, match="no high-DIF item favours the same family"):
        associate_families(key.assign(advantaged=""), {"A": make_labels(key, 1)}, axes=ONE)
    with pytest.raises(ValueError, match="permutations must be at least 1"):
        associate_families(key, {"A": make_labels(key, 1)}, axes=ONE, permutations=0)
