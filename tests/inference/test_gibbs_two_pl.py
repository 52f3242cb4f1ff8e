"""Chains of the 2PL's Gibbs sampler: bytes and order, tuning, extreme answers, refusals."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.inference.gibbs_two_pl import TwoPLSampler, gibbs_two_pl
from neartie.models.bradley_terry_model import build_bradley_terry
from neartie.models.record import ModelRecord
from neartie.models.two_pl import build_two_pl


def test_reading_and_writing_are_inverse(two_pl_cases, two_pl_options):
    case = two_pl_cases(two_pl_options)
    state = deepcopy(case.state)
    case.sampler._write(case.sampler.read(state), state)
    for name in case.sampler.names:
        assert state[name] == pytest.approx(case.state[name], rel=1e-12, abs=1e-12)


def chain(sampler: TwoPLSampler, n: int = 30, seed: int = 5) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    state = sampler.start(rng)
    for sweep in range(n):
        sampler.sweep(state, rng, tuning=sweep < n // 2)
    return state


def test_same_seed_same_bytes_and_the_state_is_all_there_is(two_pl_cases, two_pl_options):
    case = two_pl_cases(two_pl_options)
    sampler = case.sampler
    first, second = chain(sampler), chain(sampler)
    assert {k: v.tobytes() for k, v in first.items()} == {k: v.tobytes() for k, v in second.items()}
    assert all(value.dtype == np.float64 for value in first.values())
    # a copy of state and generator goes on as the original does
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    copied = {name: value.copy() for name, value in first.items()}
    for _ in range(3):
        sampler.sweep(first, rng, tuning=True)
        gibbs_two_pl(case.model).sweep(copied, other, tuning=True)
    assert all(np.array_equal(first[name], copied[name]) for name in first)


def test_order_of_rows_and_columns_changes_nothing(two_pl_answers):
    responses = two_pl_answers(missing=True)
    items, columns = np.arange(responses.n_item)[::-1], np.array([3, 0, 6, 1, 5, 2, 4])
    turned = Responses.build(
        responses.values[np.ix_(items, columns)],
        items=responses.items.iloc[items],
        models=responses.models.iloc[columns],
    )
    first, second = (
        chain(gibbs_two_pl(build_two_pl(one, family_means=True))) for one in (responses, turned)
    )
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_nothing_adapts_after_tuning(two_pl_cases):
    case = two_pl_cases(("free", True, True))
    state, rng = chain(case.sampler), np.random.default_rng(1)
    before = {name: value.copy() for name, value in state.items()}
    case.sampler.sweep(state, rng, tuning=False)
    changed = {name for name in state if not np.array_equal(state[name], before[name])}
    assert changed == {*case.sampler.names, "_tally"}
    shares = case.sampler.counts(state)
    assert all(0 <= share <= 1 for share in shares.values())
    assert {"accepted_ability", "accepted_item", "accepted_family_mean"} <= set(shares)


@pytest.mark.parametrize("discrimination", ["free", "one", "signed"])
def test_extreme_answers_and_starts(discrimination):
    """A test of one item, answers all right or wrong or none, starts far away."""
    values = np.full((40, 6), -1, dtype=np.int8)
    values[:, 0], values[:, 1], values[0, 2] = 1, 0, 1
    responses = Responses.build(
        values, items=[f"q{i:02d}" for i in range(40)], models=[f"m{m}" for m in range(6)]
    )
    sampler = gibbs_two_pl(build_two_pl(responses, discrimination=discrimination))
    rng = np.random.default_rng(1)
    state = sampler.start(rng)
    for name in ("ability", "difficulty", "easiness"):
        if name in state:
            state[name][...] = 60.0
    for name in ("_anchor_ability", "_anchor_intercept", "_anchor_first"):
        state[name][...] = -25.0
    for _ in range(60):
        sampler.sweep(state, rng, tuning=False)
    assert all(np.isfinite(state[name]).all() for name in sampler.names)
    assert np.abs(state["ability"]).max() < 20


def test_other_models_and_options_are_refused(two_pl_answers):
    battles = Battles.build(["a", "b", "c"], ["b", "c", "a"], ["a", "a", "b"])
    with pytest.raises(ValueError, match="kind 'two-pl', got 'bradley-terry'"):
        gibbs_two_pl(build_bradley_terry(battles))
    model = build_two_pl(two_pl_answers(missing=False))
    record = model.neartie.to_dict()
    record["options"] = {**record["options"], "guessing": True}
    model.neartie = ModelRecord(**record)
    with pytest.raises(ValueError, match="does not know the option 'guessing'; use engine='nuts'"):
        gibbs_two_pl(model)
    with pytest.raises(TypeError, match="carries no record"):
        gibbs_two_pl(object())
