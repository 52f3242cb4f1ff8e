"""Connected sets, and groups that win or lose everything, before any fit (C23, C25)."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.data.battle_graph import same_groups
from neartie.data.battles import Battles
from neartie.data.read_battles import read_battles

pairs = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from("abt")), min_size=1, max_size=14
).filter(lambda found: any(a != b for a, b, _ in found))


def build(found) -> Battles:
    a, b, winner = zip(*found, strict=True)
    words = {"a": "model_a", "b": "model_b", "t": "tie"}
    return Battles.build([f"m{x}" for x in a], [f"m{x}" for x in b], [words[w] for w in winner])


def reach(battles: Battles) -> np.ndarray:
    """Who beat whom directly or by way of others, by Warshall's algorithm."""
    n = battles.n_model
    beat = np.eye(n, dtype=bool)
    for a, b, won in zip(battles.model_a, battles.model_b, battles.outcome, strict=True):
        beat[a, b] |= won >= 0
        beat[b, a] |= won <= 0
    for k in range(n):
        beat |= beat[:, [k]] & beat[[k], :]
    return beat


@given(pairs)
def test_groups_and_their_order_agree_with_a_plain_closure(found):
    battles = build(found)
    beat, separation = reach(battles), battles.separation()
    for i, j in itertools.permutations(range(battles.n_model), 2):
        together = beat[i, j] and beat[j, i]
        assert (separation.group[i] == separation.group[j]) == together
        if not together:
            expected = int(beat[i, j]) - int(beat[j, i])
            assert separation.order(separation.group[i], separation.group[j]) == expected
    assert same_groups(battles.counts(), separation.group)


@given(pairs)
def test_components_ignore_who_won(found):
    battles = build(found)
    undirected = build([(a, b, "t") for a, b, _ in found])
    assert battles.connected_components() == undirected.connected_components()
    assert undirected.separation().groups == undirected.connected_components()


def test_other_groups_are_noticed():
    battles = build([(0, 1, "a"), (1, 0, "a"), (1, 2, "a"), (2, 1, "a")])
    fewer = build([(0, 1, "a"), (1, 0, "a"), (1, 2, "a")])
    assert not same_groups(fewer.counts(), battles.separation().group)


def test_case_c23_the_winless_model_is_named(case_dir):
    separation = read_battles(case_dir / "C23" / "battles.json").separation()
    assert separation.is_separated
    assert separation.never_winning == ("blue",)
    assert separation.never_losing == ()
    assert separation.groups == (("green", "red"), ("blue",))
    assert separation.sentences()[0] == "1 model never wins: 'blue'"


def test_case_c25_both_sets_are_named(case_dir):
    battles = read_battles(case_dir / "C25" / "with_island.json")
    assert battles.connected_components() == (("ash", "birch"), ("cedar", "dogwood"))
    (sentence,) = battles.separation().sentences()
    assert sentence.startswith("no battle connects the 2 sets 'ash', 'birch'; 'cedar', 'dogwood'")


def test_separated_groups_of_several_are_named():
    separation = build(
        [(0, 1, "a"), (1, 0, "a"), (2, 3, "a"), (3, 2, "a"), (0, 2, "a"), (1, 3, "a")]
    ).separation()
    assert separation.never_winning == separation.never_losing == ()
    assert separation.sentences() == [
        "a group of 2 models ('m0', 'm1') wins every battle against others",
        "a group of 2 models ('m2', 'm3') loses every battle against others",
    ]


def test_two_winners_that_never_met_stand_in_no_order():
    separation = build([(0, 2, "a"), (1, 2, "a")]).separation()
    assert separation.never_losing == ("m0", "m1")
    code = dict(zip(separation.models, separation.group, strict=True))
    assert separation.order(code["m0"], code["m2"]) == 1
    assert separation.order(code["m0"], code["m1"]) == 0


@pytest.mark.parametrize("n", [200])
def test_a_long_chain_is_one_connected_set(n):
    battles = build([(i % 7, i % 7, "t") for i in range(7)] + [(0, 1, "t")])
    assert battles.n_model == 2
    chain = Battles.build([f"m{i}" for i in range(n)], [f"m{i + 1}" for i in range(n)], ["tie"] * n)
    assert len(chain.connected_components()) == 1
    assert len(chain.separation().groups) == 1
