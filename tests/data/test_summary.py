"""What `describe` finds, and that it fits one screen."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neartie.data.files import to_json
from neartie.data.responses import Responses
from neartie.data.summary import describe

SMALL = Responses.build(
    [[1, 1, 1, -1], [0, 0, 0, -1], [1, 0, 1, -1], [-1, -1, -1, -1], [0, 1, 0, -1], [1, 0, 1, -1]],
    items=pd.DataFrame(
        {"item": ["a", "b", "c", "d", "e", "f"], "source": ["s", "t", "s", "s", "t", "s"]}
    ),
    models=["x/qwen-1", "x/llama-2", "y/qwen-2", "z"],
    notices=("something was left out",),
)


def test_what_is_found() -> None:
    found = describe(SMALL)
    assert (found.n_items, found.n_models, found.n_missing) == (6, 4, 9)
    assert found.share_missing == 9 / 24
    assert (found.n_items_with_gaps, found.n_models_with_gaps) == (6, 4)
    assert found.items_without_answers == ("d",)
    assert found.models_without_answers == ("z",)
    assert found.constant_items.to_dict("list") == {
        "item": ["a", "b"],
        "score": [1.0, 0.0],
        "n": [3, 3],
    }
    assert found.identical_models == (("x/qwen-1", "y/qwen-2"),)
    assert found.identical_items == (("c", "f"),)
    assert found.families.to_dict("list") == {"family": ["Qwen", "Llama"], "n_models": [2, 1]}
    assert (found.family_source, found.n_without_family) == ("id", 1)
    assert found.owners.to_dict("list") == {"owner": ["x", "y", "z"], "n_models": [2, 1, 1]}
    assert found.sources.to_dict("list") == {"source": ["s", "t"], "n_items": [4, 2]}
    assert found.accuracy["accuracy"].tolist() == [0.4, 0.5, 0.6, 0.6, 0.6]
    assert found.notices == ("something was left out",)


def test_the_printed_form() -> None:
    assert str(describe(SMALL)) == (
        "answers     6 items x 4 models, right/wrong\n"
        "missing     9 cells (37.50 %), in 6 items and 4 models\n"
        "accuracy    0.400 to 0.600 over models; quartiles 0.500, 0.600, 0.600\n"
        "constant    1 item all right: a\n"
        "            1 item all wrong: b\n"
        "no answers  1 item: d\n"
        "            1 model: z\n"
        "identical   2 models in 1 group, as: x/qwen-1, y/qwen-2\n"
        "            2 items in 1 group, as: c, f\n"
        "families    2 from the model ids; 1 model without: Qwen 2, Llama 1\n"
        "owners      3 from the model ids: x 2, y 1, z 1\n"
        "sources     2: s 4, t 2\n"
        "note: something was left out"
    )


def test_columns_of_the_model_table_come_first() -> None:
    models = pd.DataFrame(
        {
            "model": ["x/qwen-1", "x/qwen-2", "y/qwen-3", "z"],
            "family": ["Q", "", "Unknown", "Q"],
            "owner": ["o", "o", "", "p"],
        }
    )
    found = describe(Responses.build([[1, 0, 1, 0]], items=["q"], models=models))
    assert found.families.to_dict("list") == {"family": ["Q"], "n_models": [2]}
    assert (found.family_source, found.n_without_family) == ("table", 2)
    assert found.owners.to_dict("list") == {"owner": ["o", "p", "y"], "n_models": [2, 1, 1]}
    assert found.owner_source == "table"


def test_graded_scores() -> None:
    values = [[0.5, 0.5, 0.5], [-0.0, 0.25, 1], [0, 0.25, 1], [np.nan, 1, 1]]
    found = describe(Responses.build(values, items=["a", "b", "c", "d"], models=["x", "y", "z"]))
    assert found.graded
    assert found.constant_items.to_dict("list") == {
        "item": ["a", "d"],
        "score": [0.5, 1.0],
        "n": [3, 2],
    }
    assert found.identical_items == (("b", "c"),)
    assert "1 item with one other score: a" in str(found)
    assert "mean score" in str(found)


def test_nothing_answered_is_not_an_accuracy_of_zero() -> None:
    found = describe(Responses.build([[-1, -1]], items=["q"], models=["a", "b"]))
    assert found.accuracy.empty
    assert "not defined: no model has answered" in str(found)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=90).filter(str.strip)


@settings(max_examples=60, deadline=None)
@given(
    items=st.lists(names, min_size=1, max_size=12, unique=True),
    models=st.lists(names, min_size=1, max_size=12, unique=True),
    notices=st.lists(st.text(max_size=300), max_size=12),
    labels=st.lists(names, min_size=24, max_size=24),
    seed=st.integers(0, 99),
)
def test_one_screen_and_whole_in_json(items, models, notices, labels, seed: int) -> None:
    values = np.random.default_rng(seed).integers(-1, 2, (len(items), len(models)))
    item_table = pd.DataFrame({"item": items, "source": labels[: len(items)]})
    model_table = pd.DataFrame({"model": models, "family": labels[-len(models) :]})
    data = Responses.build(values, items=item_table, models=model_table, notices=tuple(notices))
    found = describe(data)
    lines = str(found).split("\n")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert all(mark.isprintable() for line in lines for mark in line)
    read = json.loads(to_json(found.to_dict()))
    assert read["notices"] == notices
    assert sum(owner["n_models"] for owner in read["owners"]) == len(models)


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.lists(st.integers(-1, 1), min_size=3, max_size=3), min_size=1, max_size=8)
)
def test_identical_patterns_agree_with_a_plain_comparison(values) -> None:
    ids = [f"q{i}" for i in range(len(values))]
    found = describe(Responses.build(values, items=ids, models=["a", "b", "c"]))
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, row in zip(ids, values, strict=True):
        if len({code for code in row if code >= 0}) > 1:
            groups.setdefault(tuple(row), []).append(name)
    assert found.identical_items == tuple(tuple(g) for g in groups.values() if len(g) > 1)
    constant = [
        name
        for name, row in zip(ids, values, strict=True)
        if len({code for code in row if code >= 0}) == 1
    ]
    assert found.constant_items["item"].tolist() == constant


@pytest.mark.parametrize("n_notices", [1, 11, 12, 40])
def test_notices_that_do_not_fit_are_counted(n_notices: int) -> None:
    notices = tuple(f"notice {i}" for i in range(n_notices))
    data = Responses.build([[1, 0]], items=["q"], models=["a", "b"], notices=notices)
    lines = str(describe(data)).split("\n")
    shown = sum(line.startswith("note: notice") for line in lines)
    hidden = [line for line in lines if "--json" in line]
    assert shown + (int(hidden[0].split()[1]) if hidden else 0) == n_notices
    assert len(lines) <= 24
