"""Right/wrong pairs: the counted bits against definitions written out one pair at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score, f1_score, mutual_info_score

from neartie.inference import pairwise_binary
from neartie.inference.isotonic import signed_isotonic_r2
from neartie.inference.pairwise_binary import PAIR_STATISTICS, binary_pair_sums
from neartie.inference.pairwise_bits import in_row_blocks, pack_rows

law = settings(max_examples=40, deadline=None)
shapes = st.tuples(st.integers(2, 5), st.integers(2, 14))
matrices = arrays(np.int8, shapes, elements=st.sampled_from([0, 1, 1, 0, -1]))
complete = arrays(np.int8, shapes, elements=st.sampled_from([0, 1]))


def entropy(x):
    return mutual_info_score(x, x)


def pair_statistics(x, y):
    """The plain twin, in the order of PAIR_STATISTICS."""
    cov = np.cov(x, y, ddof=0)
    nested = np.cov(np.sort(x), np.sort(y), ddof=0)
    information = mutual_info_score(x, y)
    return [
        signed_isotonic_r2(x, y),
        cov[0, 1],
        cov[0, 0] * cov[1, 1],
        nested[0, 1],
        np.corrcoef(x, y)[0, 1],
        np.mean((x == 1) & (y == 1)),
        f1_score(x, y, zero_division=0.0),
        np.mean(x == y),
        information,
        cohen_kappa_score(x, y),
        2 * information / (entropy(x) + entropy(y)),
    ]


def on_bits(*arguments, **options):
    """The sums by compiled counting of bits, which small tables do not need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise_binary, "MOST_PRODUCTS", -1)
        return binary_pair_sums(*arguments, **options)


WAYS = {"products": binary_pair_sums, "bits": on_bits}
either_way = pytest.mark.parametrize("way", WAYS)


def check(values, way):
    fast = WAYS[way](values == 1, values >= 0)
    for i, item in enumerate(values):
        rows = []
        for j, partner in enumerate(values):
            both = (item >= 0) & (partner >= 0)
            x, y = item[both].astype(int), partner[both].astype(int)
            if i != j and len(set(x)) == 2 and len(set(y)) == 2:
                rows.append(pair_statistics(x, y))
        expected = np.sum(rows, axis=0) if rows else np.zeros(len(PAIR_STATISTICS))
        np.testing.assert_allclose(fast.sums[i], expected, atol=1e-10)
        assert fast.n_pairs[i] == len(rows)
        assert fast.n_undefined[i] == len(values) - 1 - len(rows)
        assert fast.n_negative[i] == sum(row[0] < 0 for row in rows)


@either_way
@law
@given(values=complete)
def test_complete_answers_against_the_plain_twin(way, values):
    check(values, way)


@either_way
@law
@given(values=matrices)
def test_incomplete_answers_against_the_plain_twin(way, values):
    check(values, way)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("some_rows", [False, True])
def test_products_and_bits_give_the_same(missing, some_rows):
    rng = np.random.default_rng(7)
    right, seen = rng.random((400, 70)) < 0.6, rng.random((400, 70)) >= missing
    options = {"group": np.arange(400) % 3}
    if some_rows:
        rows = np.array([390, 3, 399])
        options |= {"rows": rows, "own": np.array([1, 3, 399]), "n_partner": 300}
    one, other = (way(right & seen, seen, **options) for way in WAYS.values())
    for name in ("n_pairs", "n_undefined", "n_negative", "n_disagree", "group_pairs"):
        assert (getattr(one, name) == getattr(other, name)).all()
    np.testing.assert_allclose(one.sums, other.sums, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(one.group_sums, other.group_sums, rtol=1e-12, atol=1e-11)


@either_way
@law
@given(values=matrices)
def test_only_the_first_statistics_on_request(way, values):
    all_of_them = WAYS[way](values == 1, values >= 0)
    few = WAYS[way](values == 1, values >= 0, full=False)
    assert (few.sums == all_of_them.sums[:, :5]).all()
    assert (few.n_negative == all_of_them.n_negative).all()


def test_chosen_partners_and_groups():
    right = np.random.default_rng(3).random((8, 40)) < 0.5
    seen = np.ones_like(right)
    partners = np.array([[(i + 1) % 8, (i + 3) % 8] for i in range(8)])
    group = np.array([0, 0, 1, 1, 2, 2, 2, 0])
    some = binary_pair_sums(right, seen, neighbours=partners, group=group)
    for i, chosen in enumerate(partners):
        alone = [binary_pair_sums(right[[i, j]], seen[[i, j]]).sums[0] for j in chosen]
        np.testing.assert_allclose(some.sums[i], np.sum(alone, axis=0), atol=1e-12)
        assert some.group_pairs[i].sum() == 2
    np.testing.assert_allclose(some.group_sums.sum(axis=1), some.sums[:, 0], atol=1e-12)


def test_a_partner_listed_as_itself_is_passed_over():
    right = np.array([[1, 0, 1], [0, 1, 1]], dtype=bool)
    sums = binary_pair_sums(right, np.ones_like(right), neighbours=np.array([[0, 1], [0, 1]]))
    assert sums.n_pairs.tolist() == [1, 1]
    assert sums.n_undefined.tolist() == [0, 0]


@either_way
@pytest.mark.parametrize("n_row", [1, 63, 64, 65, 200])
def test_more_rows_than_a_block_and_more_models_than_a_word(n_row, way):
    right = np.random.default_rng(n_row).random((n_row, 131)) < 0.6
    sums = WAYS[way](right, np.ones_like(right), full=False)
    phi = np.corrcoef(right.astype(float)) if n_row > 1 else np.ones((1, 1))
    expected = (np.sign(phi) * phi**2).sum(axis=1) - 1
    np.testing.assert_allclose(sums.sums[:, 0], expected, atol=1e-10)


def test_packed_bits_count_what_was_packed():
    mask = np.random.default_rng(0).random((3, 130)) < 0.5
    assert (np.bitwise_count(pack_rows(mask)).sum(axis=1) == mask.sum(axis=1)).all()


def test_an_error_in_a_block_is_raised():
    def fail(start, stop):
        raise RuntimeError(f"block {start}-{stop}")

    with pytest.raises(RuntimeError, match="block 0-2"):
        in_row_blocks(fail, 4, block=2)


@either_way
def test_rows_asked_for_are_the_rows_of_the_whole(way):
    right = np.random.default_rng(4).random((7, 30)) < 0.5
    seen = np.ones_like(right)
    whole, rows = WAYS[way](right, seen), np.array([5, 2])
    some = WAYS[way](right, seen, rows=rows)
    assert (some.sums == whole.sums[rows]).all()
    assert (some.n_pairs == whole.n_pairs[rows]).all()
    partners = np.array([[0, 1, 5], [2, 3, 3]])
    chosen = binary_pair_sums(right, seen, rows=rows, neighbours=partners)
    assert chosen.n_pairs.tolist() == [2, 2]
