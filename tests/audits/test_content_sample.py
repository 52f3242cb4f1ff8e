"""The content audit's matched sample, blinded sheets, and what comes back."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.audits.content_axes import ContentAxes
from neartie.audits.content_sample import match_pairs, sample_content
from neartie.audits.content_sheets import (
    check_key,
    read_content_key,
    read_content_sheet,
    read_content_sheets,
    write_content_sheets,
)
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.settings import AuditSettings
from neartie.data.errors import DataError
from neartie.data.example import load_example
from neartie.data.responses import Responses

PLAIN = AuditSettings(dimension=2, alpha=0.5, controls=0, bootstraps=0, min_family_size=5)
SMALL = ContentAxes(binary={"code": "holds code"}, ordinal={"steps": "steps"})
law = settings(max_examples=40, deadline=None)


@pytest.fixture(scope="module")
def example():
    data = load_example()
    items = data.items.assign(text=["What is\n=1+1, " + item + "?" for item in data.item_ids])
    data = Responses.build(data.values, items=items, models=data.models)
    return audit_near_ties(data, PLAIN, rng=1), data


@pytest.fixture(scope="module")
def sample(example):
    return sample_content({"b": example, "a": example}, pairs=20, rng=5)


def table_of(levels, cells):
    """A replication table: level 0, 1 or 2 says in how many halves an item is high."""
    n = len(levels)
    return pd.DataFrame(
        {
            "item": [f"q{i}" for i in range(n)],
            "source": ["s"] * n,
            "cell": [f"s|{c}" for c in cells],
            "top_0": [int(level > 0) for level in levels],
            "top_1": [int(level > 1) for level in levels],
            "dif_range_0": np.arange(n) / 10,
            "dif_range_1": np.arange(n) / 10,
            "advantaged_0": ["Ash"] * n,
            "advantaged_1": ["Ash" if i % 2 else "Birch" for i in range(n)],
        }
    )


# laws of the sample


@law
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=60),
    st.integers(1, 12),
    st.integers(0, 10**6),
)
def test_pairs_are_matched_exactly_and_without_repeats(rows, pairs, seed):
    levels, cells = zip(*rows, strict=True)
    items = table_of(levels, cells)
    found, count = match_pairs(items, pairs=pairs, rng=seed)
    assert not found["item"].duplicated().any()
    level = items.set_index("item")[["top_0", "top_1"]].sum(axis=1)
    assert (level[found.loc[found["group"] == "high", "item"]] == 2).all()
    assert (level[found.loc[found["group"] == "control", "item"]] == 0).all()
    for _, pair in found.groupby("pair"):
        assert sorted(pair["group"]) == ["control", "high"]
        assert pair["cell"].nunique() == 1
    # as many as cells allow, by counting
    stable, control = (Counter(c for lev, c in rows if lev == wanted) for wanted in (2, 0))
    possible = sum(min(n, control[c]) for c, n in stable.items())
    assert count["n_matchable"] == possible
    assert count["n_pairs"] == len(found) // 2 == min(pairs, possible)


def test_every_stable_item_and_every_control_is_as_likely():
    items = table_of([2] * 4 + [0] * 8, [0] * 12)
    drawn = Counter()
    for seed in range(250):
        drawn.update(match_pairs(items, pairs=2, rng=seed)[0]["item"])
    high = [drawn[f"q{i}"] / 250 for i in range(4)]
    control = [drawn[f"q{i}"] / 250 for i in range(4, 12)]
    # four standard errors of a share
    assert high == pytest.approx([0.5] * 4, abs=4 * 0.5 / np.sqrt(250))
    assert control == pytest.approx([0.25] * 8, abs=4 * 0.43 / np.sqrt(250))


def test_the_sample_depends_on_seed_and_ids_alone(example, sample):
    audit, data = example
    rng = np.random.default_rng(1)
    moved = data.take(items=rng.permutation(data.n_item), models=rng.permutation(data.n_model))
    again = sample_content({"a": (audit, moved), "b": (audit, data)}, pairs=20, rng=5)
    pd.testing.assert_frame_equal(sample.key, again.key, check_exact=True)
    pd.testing.assert_frame_equal(sample.sheet, again.sheet, check_exact=True)
    other = sample_content({"b": example, "a": example}, pairs=20, rng=6)
    assert not other.key["item"].equals(sample.key["item"])


def test_annotators_see_no_label_and_no_order(sample):
    assert sample.sheet.columns.tolist() == ["blind_id", "text"]
    assert sample.sheet["blind_id"].is_unique
    assert len(sample.sheet) == 80
    key = sample.key
    # rows and ids go with no label: rank correlations of 80 rows beyond .45 are 1 in 10,000
    row = pd.Series(np.arange(len(key)))
    for label in (key["group"] == "high", key["benchmark"] == "a", key["pair"]):
        assert abs(row.corr(label.astype(float), method="spearman")) < 0.45
    assert set(key.loc[key["group"] == "high", "advantaged"]) - {""}


def test_stable_items_are_high_in_both_halves(example, sample):
    audit, _ = example
    assert sample.counts["n_pairs"].tolist() == [20, 20]
    spread = sample.key.groupby("group")[["dif_range_0", "dif_range_1"]].mean()
    assert (spread.loc["high"] > spread.loc["control"]).all()
    assert set(sample.key["item"]) <= set(audit.items["item"])


def test_fewer_pairs_than_asked_for_are_said(example):
    found = sample_content({"a": example}, pairs=5000, rng=1)
    count = found.counts.iloc[0]
    assert count["n_pairs"] == count["n_matchable"] <= count["n_stable"]
    assert f"a: {count['n_pairs']} pairs, not 5000" in found.warnings[0]


def test_missing_texts_are_refused(example):
    audit, data = example
    bare = Responses.build(data.values, items=data.items[["item", "source"]], models=data.models)
    with pytest.raises(DataError, match="item table of 'a' has no column 'text'"):
        sample_content({"a": (audit, bare)}, rng=1)
    with pytest.raises(DataError, match="'a': 10 sampled items without text"):
        sample_content({"a": (audit, bare)}, texts={"a": {}}, pairs=5, rng=1)
    with pytest.raises(ValueError, match="pairs must be at least 1"):
        sample_content({"a": example}, pairs=0)


def test_a_leaderboard_without_stable_items_is_refused(example):
    audit, data = example
    items = table_of([1] * 5 + [2] + [0] * 3, [0] * 5 + [1] + [2] * 3)
    assert match_pairs(items, rng=1)[1]["n_pairs"] == 0
    n_family = len(set(audit.dif["family"]))
    effects = audit.dif["effect"].to_numpy().reshape(2, -1, n_family)
    spread = np.ptp(effects[0], axis=1)
    rank = spread.argsort().argsort()
    scale = np.divide(len(rank) - rank, spread, out=np.ones_like(spread), where=spread > 0)
    turned = np.stack([effects[0], effects[0] * scale[:, None]])
    other = replace(audit, dif=audit.dif.assign(effect=turned.ravel()))
    with pytest.raises(DataError, match="nothing can be sampled"):
        sample_content({"a": (other, data)}, rng=1)


# sheets


def filled(sample, axes, seed=1):
    rng = np.random.default_rng(seed)
    columns = {a: rng.choice(axes.allowed(a), size=len(sample.key)) for a in axes.names}
    return sample.sheet[["blind_id"]].assign(**columns)


def test_sheets_and_key_come_back_unchanged(sample, tmp_path):
    files = write_content_sheets(sample, tmp_path / "out", tmp_path / "key.csv")
    assert [f.name for f in files] == ["sheet.csv", "rubric.md", "key.csv"]
    sheet = pd.read_csv(files[0], dtype=str, keep_default_na=False)
    assert sheet.columns.tolist() == ["blind_id", "text", *ContentAxes().names]
    assert sheet["text"].tolist() == sample.sheet["text"].tolist()
    assert (sheet[list(ContentAxes().names)] == "").all(axis=None)
    pd.testing.assert_frame_equal(read_content_key(files[2]), sample.key, check_dtype=False)
    for axis in ContentAxes().names:
        assert f"`{axis}`" in files[1].read_text()


def test_nothing_that_is_handed_out_names_a_label(sample, tmp_path):
    sheet, rubric, _ = write_content_sheets(sample, tmp_path / "out", tmp_path / "key.csv")
    text = sheet.read_text().splitlines()[0] + rubric.read_text()
    for word in ("high", "control", "DIF", "family", "benchmark", "Llama", "advantaged"):
        assert word not in text


def test_the_key_is_never_written_where_annotators_look(sample, tmp_path):
    with pytest.raises(DataError, match="which annotators get: keep it elsewhere"):
        write_content_sheets(sample, tmp_path, tmp_path / "key.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_is_read_in_any_order_and_form(sample, tmp_path, delimiter):
    labels = filled(sample, SMALL)
    path = tmp_path / "A.csv"
    shuffled = labels.sample(frac=1, random_state=1).assign(remark="x")
    text = shuffled.to_csv(index=False, sep=delimiter, lineterminator="\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = read_content_sheet(path, sample.key, axes=SMALL)
    assert found["blind_id"].tolist() == sample.key["blind_id"].tolist()
    wanted = labels.set_index("blind_id").loc[found["blind_id"]]
    assert (found[["code", "steps"]].to_numpy() == wanted.to_numpy()).all()


def test_a_parquet_sheet_is_read_too(sample, tmp_path):
    labels = filled(sample, SMALL)
    labels.to_parquet(tmp_path / "A.parquet")
    labels.to_csv(tmp_path / "B.csv", index=False)
    paths = {"A": tmp_path / "A.parquet", "B": tmp_path / "B.csv"}
    found = read_content_sheets(paths, sample.key, axes=SMALL)
    pd.testing.assert_frame_equal(found["A"], found["B"])


def test_spellings_of_labels(sample, tmp_path):
    labels = filled(sample, SMALL).astype({"code": object, "steps": object})
    labels.loc[:4, "code"] = ["TRUE", "false", "1.0", " 0 ", ""]
    labels.loc[:2, "steps"] = ["3.0", "NA", "2"]
    path = tmp_path / "A.csv"
    labels.to_csv(path, index=False)
    found = read_content_sheet(path, sample.key, axes=SMALL).set_index("blind_id")
    found = found.loc[labels["blind_id"]]
    assert found["code"].iloc[:5].tolist()[:4] == [1, 0, 1, 0]
    assert np.isnan(found["code"].iloc[4])
    assert found["steps"].iloc[[0, 2]].tolist() == [3, 2]
    assert np.isnan(found["steps"].iloc[1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="steps"), r"A.csv has no column 'steps', which a sheet needs"),
        (lambda t: t.assign(code="2"), r"A.csv, row 2, blind_id '.*': code is '2'; 0, 1 or a bl"),
        (lambda t: t.assign(steps="4"), r"A.csv, row 2, .*: steps is '4'; 0, 1, 2, 3 or a blank"),
        (lambda t: t.assign(code="maybe"), r"row 2, .*: code is 'maybe'"),
        (lambda t: t.assign(code="0,5"), r"row 2, .*: code is '0,5'"),
        (lambda t: pd.concat([t, t.iloc[:1]]), r"A.csv, row 82: blind_id '.*' stands in row 2 too"),
        (lambda t: t.iloc[2:], r"A.csv lacks 2 items of the sample: '"),
        (lambda t: t.assign(blind_id="zz"), r"A.csv, row 2: blind_id 'zz' was not handed out"),
        (lambda t: t.iloc[:0], r"A.csv has a header but no rows"),
    ],
)
def test_wrong_sheets_are_refused_with_file_row_and_item(sample, tmp_path, change, message):
    path = tmp_path / "A.csv"
    change(filled(sample, SMALL)).to_csv(path, index=False)
    with pytest.raises(DataError, match=message):
        read_content_sheet(path, sample.key, axes=SMALL)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda k: k.drop(columns="item"), "has no column 'item'"),
        (lambda k: k.assign(pair="x"), "key.csv, row 2: pair is 'x', not a number"),
        (lambda k: k.assign(blind_id=k["blind_id"].iloc[0]), "stands more than once"),
        (lambda k: k.assign(group="high"), "pair 0 is not one high item and one control"),
        (lambda k: k.iloc[1:], "is not one high item and one control"),
    ],
)
def test_wrong_keys_are_refused(sample, tmp_path, change, message):
    path = tmp_path / "key.csv"
    change(sample.key).to_csv(path, index=False)
    with pytest.raises(DataError, match=message):
        read_content_key(path)


def test_a_key_without_a_column_is_refused(sample):
    with pytest.raises(DataError, match="the key has no column 'group'"):
        check_key(sample.key.drop(columns="group"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"binary": {}, "ordinal": {}}, "name at least one axis"),
        ({"binary": {"Code": "x"}}, "lower case"),
        ({"binary": {"text": "x"}}, "cannot name an axis"),
        ({"binary": {"steps": "x"}}, "cannot name an axis, or names two"),
        ({"levels": 1}, "levels must be at least 2"),
    ],
)
def test_impossible_axes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ContentAxes(**arguments)
