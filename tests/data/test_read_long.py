"""Long tables: names of columns, repeated answers, and the limit on memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.data.errors import DataError
from neartie.data.memory import available_memory, require_memory
from neartie.data.read import read_responses

cells = st.tuples(
    st.sampled_from(["q1", "q2", "q3"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["0", "1", ""]),
)


def long_text(rows) -> str:
    return "item,model,score\n" + "".join(f"{i},{m},{s}\n" for i, m, s in rows)


def plain_long(rows, repeats: str) -> dict[tuple[str, str], float]:
    """The slow twin: answers of every pair, and the rule applied to each list."""
    answers: dict[tuple[str, str], list[int]] = {}
    for item, model, score in rows:
        found = answers.setdefault((item, model), [])
        if score:
            found.append(int(score))
    rules = {"first": lambda x: x[0], "last": lambda x: x[-1], "mean": np.mean}
    return {pair: float(rules[repeats](x)) for pair, x in answers.items() if x}


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(cells, min_size=1, max_size=25),
    repeats=st.sampled_from(["first", "last", "mean"]),
    small=st.booleans(),
)
def test_repeats_follow_their_rule(tmp_path_factory, rows, repeats: str, small: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "repeats.csv"
    path.write_text(long_text(rows))
    with pytest.MonkeyPatch.context() as patch:
        if small:
            # Several blocks, so that repeats also meet across blocks.
            patch.setattr("neartie.data.delimited._BLOCK_BYTES", 30)
            patch.setattr("neartie.data.delimited._CELL_BYTES", 1)
        scores = "graded" if repeats == "mean" else "binary"
        data = read_responses(path, repeats=repeats, scores=scores)
    expected = plain_long(rows, repeats)
    seen = {
        (item, model): float(data.values[i, j])
        for i, item in enumerate(data.item_ids)
        for j, model in enumerate(data.model_ids)
        if data.observed[i, j]
    }
    assert seen == pytest.approx(expected, abs=1e-7)
    assert set(data.item_ids) == {item for item, _, _ in rows}
    assert set(data.model_ids) == {model for _, model, _ in rows}


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(cells, min_size=1, max_size=12), small=st.booleans())
def test_contradictions_stop_and_agreement_does_not(tmp_path_factory, rows, small: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "contradictions.csv"
    path.write_text(long_text(rows))
    first, last = plain_long(rows, "first"), plain_long(rows, "last")
    mean = plain_long(rows, "mean")
    bad = sorted(p for p in first if not first[p] == last[p] == mean[p])
    with pytest.MonkeyPatch.context() as patch:
        if small:
            patch.setattr("neartie.data.delimited._BLOCK_BYTES", 30)
            patch.setattr("neartie.data.delimited._CELL_BYTES", 1)
        if bad:
            named = f"model '{bad[0][1]}' on item '{bad[0][0]}'"
            with pytest.raises(DataError, match=f"different scores.*{named}"):
                read_responses(path)
        else:
            data = read_responses(path)
            n_answers = sum(score != "" for _, _, score in rows)
            n_repeats = n_answers - len(first)
            notice = f"{path}: dropped {n_repeats} repeated answer{'s' * (n_repeats > 1)}"
            assert (notice in data.notices) == (n_repeats > 0)


def test_a_mean_does_not_depend_on_the_order_of_rows(table) -> None:
    rng = np.random.default_rng(7)
    # Their sum in double precision depends on the order of its terms.
    scores = [1e30, 1.0, -1e30, 2.0, 1e22, -1e22, 3.0]
    rows = [("q", "a", repr(score)) for score in scores] + [("q", "b", "0.5")]
    found = set()
    for _ in range(10):
        path = table(long_text(rng.permutation(rows)))
        data = read_responses(path, scores="graded", repeats="mean")
        found.add(data.values.tobytes())
    assert len(found) == 1
    assert "7 repeated answers averaged in 1 cell" in data.notices[0]


def test_many_contradictions_are_counted(table) -> None:
    rows = [(f"q{i:02d}", "a", score) for i in range(12) for score in (0, 1)]
    with pytest.raises(DataError, match=r"item 'q00'.*item 'q04' and 7 more; correct the table"):
        read_responses(table(long_text(rows)))


def test_a_missing_repeat_is_no_contradiction(table) -> None:
    rows = [("q1", "a", ""), ("q1", "a", "1"), ("q1", "a", "NA")]
    data = read_responses(table(long_text(rows)))
    assert data.values.tolist() == [[1]]
    assert data.notices == ()


def test_ids_with_missing_scores_only_stay(table) -> None:
    data = read_responses(table(long_text([("q1", "a", "1"), ("q2", "b", "")])))
    assert data.values.tolist() == [[1, -1], [-1, -1]]


def test_names_of_the_item_response_warehouse(table) -> None:
    data = read_responses(table("id,item,resp,rt\n01,q2,1,3.5\n1,q10,0,2\n"))
    assert data.item_ids == ["q2", "q10"]
    assert data.model_ids == ["01", "1"]
    assert len(data.notices) == 1
    assert "columns not used: 'rt'" in data.notices[0]


def test_model_is_preferred_to_respondent_and_id(table) -> None:
    data = read_responses(table("id,respondent,model,item,score\n1,r,m,q,1\n"))
    assert data.model_ids == ["m"]
    assert "columns not used: 'id', 'respondent'" in data.notices[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeats": "median"}, "repeats must be one of stop, first, last, mean, got 'median'"),
        ({"repeats": "mean"}, "a mean of repeated answers is graded"),
        ({"rows": "people"}, "rows must be 'items' or 'models', got 'people'"),
    ],
)
def test_options_are_checked(table, options: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_responses(table(long_text([("q", "a", "1")])), **options)


def test_memory_is_estimated_before_it_is_taken(table) -> None:
    path = table(long_text([(f"q{i}", f"m{i}", "1") for i in range(300)]))
    with pytest.raises(
        DataError, match=r"answers\.csv: a matrix of 300 items x 300 models needs 0 MB.*limit is 0"
    ):
        read_responses(path, memory_limit=89_999)
    assert read_responses(path, memory_limit=90_000).n_missing == 89_700
    with pytest.raises(DataError, match="needs 0 MB"):
        read_responses(path, memory_limit=90_000, scores="graded")


def test_a_matrix_that_no_machine_holds_is_refused(table, monkeypatch) -> None:
    path = table(long_text([(f"q{i}", f"m{i}", "1") for i in range(300)]))
    monkeypatch.setattr("neartie.data.memory.available_memory", lambda: 50_000)
    with pytest.raises(DataError, match="needs 0 MB of memory; only 0 MB is free"):
        read_responses(path)


def test_available_memory_is_plausible() -> None:
    size = available_memory()
    assert size is None or 10**7 < size < 10**14
    require_memory(1, purpose="one byte")


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("neartie.data.memory._CONTROL_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert available_memory() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() != 3000
