"""Tables of posteriors whose every number can be worked out by hand."""

import numpy as np
import pytest
import xarray as xr

from neartie.inference.posterior_tables import (
    dif_table,
    item_table,
    model_table,
    model_variable,
    parameter_table,
)


def tree(**variables):
    """A posterior of the given (dims, values), with two chains and five draws."""
    labels = {"model": ["b", "a"], "item": ["q1", "q2", "q3"], "family": ["x", "y"]}
    data = {
        name: (("chain", "draw", *dims), np.asarray(values, float))
        for name, (dims, values) in variables.items()
    }
    used = {dim for dims, _ in data.values() for dim in dims}
    coords = {dim: names for dim, names in labels.items() if dim in used}
    return xr.DataTree.from_dict({"posterior": xr.Dataset(data, coords=coords)})


@pytest.fixture
def draws():
    return np.random.default_rng(7).normal(size=(2, 5, 2))


def test_a_model_has_mean_sd_and_equal_tails(draws):
    table = model_table(tree(strength=(("model",), draws)), level=0.8)
    flat = draws.reshape(10, 2)
    assert table["model"].tolist() == ["b", "a"]
    assert table["strength"].to_numpy() == pytest.approx(flat.mean(axis=0))
    assert table["sd"].to_numpy() == pytest.approx(flat.std(axis=0, ddof=1))
    assert table["low"].to_numpy() == pytest.approx(np.quantile(flat, 0.1, axis=0))
    assert table["high"].to_numpy() == pytest.approx(np.quantile(flat, 0.9, axis=0))


def test_counts_are_joined_by_name(draws):
    table = model_table(tree(strength=(("model",), draws)), n={"a": 1, "b": 2})
    assert table.set_index("model")["n"].to_dict() == {"a": 1, "b": 2}


def test_an_expected_score_comes_before_an_ability(draws):
    both = tree(ability=(("model",), draws), expected_score=(("model",), draws))
    assert model_variable(both) == "expected_score"


def test_abilities_of_several_dimensions_compare_no_models():
    several = tree(ability=(("model", "factor"), np.zeros((2, 5, 2, 3))))
    with pytest.raises(ValueError, match="compares no models"):
        model_table(several)


def test_range_of_family_effects_is_taken_within_each_draw():
    effects = np.zeros((2, 5, 3, 2))
    effects[:, :, 1] = [1.0, -1.0]
    effects[0, :, 2] = [0.5, -0.5]
    effects[1, :, 2] = [-0.5, 0.5]  # the mean effect is zero, the range is not
    table = item_table(tree(dif=(("item", "family"), effects)), n={"q1": 4, "q2": 5, "q3": 6})
    assert table["item"].tolist() == ["q1", "q2", "q3"]
    assert table["n"].tolist() == [4, 5, 6]
    assert table["dif_range"].tolist() == [0.0, 2.0, 1.0]


def test_every_item_and_family_has_a_row():
    effects = np.arange(6.0).reshape(3, 2) + np.zeros((2, 5, 3, 2))
    table = dif_table(tree(dif=(("family", "item"), np.moveaxis(effects, -1, -2))))
    assert table[["item", "family", "effect"]].to_numpy().tolist() == [
        [item, family, effects[0, 0, i, f]]
        for i, item in enumerate(("q1", "q2", "q3"))
        for f, family in enumerate(("x", "y"))
    ]


def test_common_parameters_carry_their_labels():
    table = parameter_table(
        tree(
            scale=((), np.ones((2, 5))),
            mean=(("family",), np.zeros((2, 5, 2))),
            difficulty=(("item",), np.zeros((2, 5, 3))),
        )
    )
    assert table["parameter"].tolist() == ["mean[x]", "mean[y]", "scale"]


def test_what_a_model_lacks_has_no_rows(draws):
    strengths = tree(strength=(("model",), draws))
    assert item_table(strengths).empty
    assert dif_table(strengths).empty
    assert parameter_table(strengths).empty


def test_level_is_checked(draws):
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got 95"):
        model_table(tree(strength=(("model",), draws)), level=95)
