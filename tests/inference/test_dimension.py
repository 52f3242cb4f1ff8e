"""Choice of K: a plain twin, the rules, and the worked audit."""

import numpy as np
import pytest

from neartie.data.errors import DataError
from neartie.inference.dimension import InnerSplit, select_dimension, split_inner


def low_rank(seed, n_item=150, n_model=60, k=2):
    rng = np.random.default_rng(seed)
    logit = 1.5 * rng.normal(size=(n_item, k)) @ rng.normal(size=(k, n_model))
    return (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)


def some_split(n_item=150, n_model=60):
    return InnerSplit(
        validation=np.arange(n_model) % 4 == 0, calibration=np.arange(n_item) % 2 == 0
    )


def plain_losses(values, split, k):
    """P0, eqs 12-21, one model at a time, by a full SVD."""
    train = values[:, ~split.validation]
    p = (train.sum(axis=1) + 0.5) / (train.shape[1] + 1)
    s = np.sqrt(p * (1 - p))
    u, d, _ = np.linalg.svd((train - p[:, None]) / s[:, None], full_matrices=False)
    f = u[:, :k] * d[:k]
    c = split.calibration
    losses = []
    for y in values[:, split.validation].T:
        x = (y - p) / s
        theta = np.linalg.solve(f[c].T @ f[c] + np.eye(k), f[c].T @ x[c])
        eta = np.log(p / (1 - p)) + np.clip(f @ theta / s, -6, 6)
        losses.append(np.mean((np.log1p(np.exp(eta)) - y * eta)[~c]))
    return losses


@pytest.mark.parametrize("seed", range(3))
def test_losses_equal_the_plain_twin(seed):
    values, split = low_rank(seed), some_split()
    choice = select_dimension(values, split=split, grid=(1, 2, 8))
    for column, k in enumerate((1, 2, 8)):
        assert choice.losses[:, column] == pytest.approx(plain_losses(values, split, k), abs=1e-10)


def test_recovers_a_clear_dimension():
    for seed in range(5):
        choice = select_dimension(
            low_rank(seed, n_item=400, n_model=120), split=some_split(400, 120)
        )
        assert choice.k == choice.k_best == 2


def test_rules_agree_with_their_definition():
    values = low_rank(1, n_item=60, n_model=40)
    table = select_dimension(values, split=some_split(60, 40)).table
    best = table["loss"].idxmin()
    limit = table["loss"][best] + table["se"][best]
    assert table["k"][table["selected"] == 1].item() == table["k"][table["loss"] <= limit].min()
    paired = select_dimension(values, split=some_split(60, 40), rule="paired").table
    near = paired["difference"] <= paired["difference_se"]
    assert paired["k"][paired["selected"] == 1].item() == paired["k"][near].min()
    minimum = select_dimension(values, split=some_split(60, 40), rule="minimum")
    assert minimum.k == minimum.k_best == table["k"][best]


def test_infeasible_dimensions_are_left_out():
    values = low_rank(0, n_item=150, n_model=12)
    split = InnerSplit(validation=np.arange(12) < 3, calibration=np.arange(150) % 2 == 0)
    choice = select_dimension(values, split=split)
    assert choice.rank == 9
    assert choice.table["k"].tolist() == [1, 2, 4, 8]
    with pytest.raises(DataError, match=r"no dimension of \[16\] is feasible"):
        select_dimension(values, split=split, grid=(16,))


def test_split_holds_out_a_quarter_of_owners_and_half_of_each_source():
    owner = np.repeat([f"o{i}" for i in range(10)], 3)
    source = ["a"] * 7 + ["b"] * 4 + ["c"]
    split = split_inner(owner, source, rng=1)
    # a quarter of 10 is 2.5, half of 7 is 3.5: half to even
    assert len(set(owner[split.validation])) == 2
    assert not set(owner[split.validation]) & set(owner[~split.validation])
    parts = [split.calibration[:7].sum(), split.calibration[7:11].sum(), split.calibration[11]]
    assert parts == [4, 2, 1]


def test_split_is_reproducible():
    owner, source = [f"o{i}" for i in range(9)], ["a", "b"] * 10
    one, two = split_inner(owner, source, rng=5), split_inner(owner, source, rng=5)
    assert np.array_equal(one.validation, two.validation)
    assert np.array_equal(one.calibration, two.calibration)


def test_split_refusals():
    with pytest.raises(DataError, match="only one: acme"):
        split_inner(["acme"] * 4, ["a", "a"], rng=1)
    with pytest.raises(DataError, match="every source has a single item"):
        split_inner(["x", "y"], ["a", "b"], rng=1)


@pytest.mark.parametrize("half", [0, 1])
def test_worked_audit(reference, half):
    owners = reference.table("inputs/inner_owner_split")
    held_out = owners[(owners["half"] == str(half)) & (owners["role"] == "val")]["owner"]
    items = reference.table("inputs/inner_item_split")
    roles = items[items["half"] == str(half)].set_index("item")["role"]
    split = InnerSplit(
        validation=reference.half(half)["owner"].isin(held_out).to_numpy(),
        calibration=(roles.loc[reference.items["item"]] == "C").to_numpy(),
    )
    choice = select_dimension(reference.values(half), split=split)
    expected = reference.json("k_selection")[str(half)]
    assert choice.table["k"].tolist() == expected["feasible"]
    assert choice.table["loss"].to_numpy() == pytest.approx(expected["mean"], abs=1e-8)
    assert choice.table["se"].to_numpy() == pytest.approx(expected["se"], abs=1e-8)
    assert (choice.k, choice.k_best, choice.rank) == (
        expected["K_star"],
        expected["K_best"],
        expected["rank_train"],
    )
