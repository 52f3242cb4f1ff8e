"""Natural order of ids."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neartie.data.labels import natural_key

numbers = st.integers(0, 10**30)


@given(st.lists(numbers, min_size=2, max_size=6))
def test_numbers_in_ids_order_by_value(values: list[int]) -> None:
    ids = [f"q{value:04d}" for value in values]
    assert sorted(ids, key=natural_key) == [f"q{value:04d}" for value in sorted(values)]


@given(st.lists(st.text(max_size=6), max_size=6, unique=True))
def test_any_ids_have_one_order(ids: list[str]) -> None:
    turned = [*ids[1:], *ids[:1]]
    assert sorted(ids, key=natural_key) == sorted(turned, key=natural_key)


def test_ids_of_thousands_of_digits_have_an_order() -> None:
    short, long = "q" + "9" * 4999, "q1" + "0" * 5000
    assert sorted([long, short], key=natural_key) == [short, long]
