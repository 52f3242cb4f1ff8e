"""What the screen warns of, and what it refuses."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.screen import ScreenSettings, screen_items
from neartie.audits.screen_labels import bad_labels
from neartie.data.errors import DataError
from neartie.data.responses import Responses

QUICK = ScreenSettings(statistics="fast", n_null=50)


def test_few_shuffles_are_warned_of(simulate):
    few = " ".join(screen_items(simulate(), ScreenSettings(n_null=5), rng=1).warnings)
    assert "The null band rests on 5 shuffles" in few
    enough = " ".join(screen_items(simulate(), QUICK, rng=1).warnings)
    assert "The null band rests" not in enough


def test_items_without_a_value_to_screen_within_are_named(simulate):
    data = simulate()
    items = data.items.assign(source=["" if i < 5 else "s" for i in range(data.n_item)])
    blank = Responses.build(data.values, items=items, models=data.models)
    warnings = " ".join(screen_items(blank, ScreenSettings(within="source"), rng=1).warnings)
    assert "5 items have no 'source', and are compared with each other" in warnings


def test_lonely_items_are_not_called_bad_ones_of_a_saturated_benchmark(simulate):
    data = simulate(6, 40, n_flipped=0)
    items = data.items.assign(source=["a", "a", "a", "a", "b", "c"])
    lonely = Responses.build(data.values, items=items, models=data.models)
    warnings = " ".join(screen_items(lonely, ScreenSettings(within="source"), rng=1).warnings)
    assert "2 of 6 items have no coefficient and no rank: 2 no partner." in warnings
    assert "saturated" not in warnings


@pytest.mark.parametrize(
    ("direction", "words"), [("fit", "the fit decides"), ("tau", "tau decides")]
)
def test_pairs_with_two_signs_are_counted_and_say_what_decides(direction, words):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 6, (12, 15)).astype(np.float32)
    data = Responses.build(
        values, items=[f"q{i}" for i in range(12)], models=[f"m{m}" for m in range(15)]
    )
    screen = screen_items(data, ScreenSettings(direction=direction, n_null=0), rng=1)
    assert screen.n_disagree > 0
    warnings = " ".join(screen.warnings)
    assert f"In {screen.n_disagree} of {screen.n_pairs} comparisons" in warnings
    assert words in warnings


def test_wrong_labels_are_heard_of_before_the_work(simulate):
    data = simulate()
    items = data.items.assign(is_bad="maybe")
    said = []
    with pytest.raises(DataError, match="is_bad = 'maybe'"):
        screen_items(
            Responses.build(data.values, items=items, models=data.models),
            rng=1,
            progress=lambda step, share: said.append(step),
        )
    assert said == []


def test_items_without_one_direction_are_warned_of():
    rng = np.random.default_rng(2)
    values = (rng.random((30, 40)) < 0.5).astype(np.int8)
    data = Responses.build(
        values, items=[f"q{i}" for i in range(30)], models=[f"m{m}" for m in range(40)]
    )
    warnings = " ".join(screen_items(data, QUICK, rng=1).warnings)
    assert "do not share one direction" in warnings
    assert "cannot be told from shuffled answers" in warnings


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda simulate: screen_items(simulate(), without=["q1", "zz"]),
            "not in the responses, first 'zz'",
        ),
        (
            lambda simulate: screen_items(simulate(), ScreenSettings(within="topic")),
            "no column 'topic' to screen within; it has item, source, is_bad",
        ),
        (
            lambda simulate: screen_items(simulate().take(models=np.array([0]))),
            "at least two models, got",
        ),
        (
            lambda simulate: screen_items(simulate(), without=simulate().item_ids),
            "all 40 items were taken out, so none is left to screen",
        ),
        (
            lambda simulate: bad_labels(pd.DataFrame({"item": ["q"], "is_bad": ["maybe"]})),
            "item 'q' has is_bad = 'maybe'",
        ),
        (
            lambda simulate: screen_items(simulate(), ScreenSettings(n_partners=0)),
            "at least one partner, got 0",
        ),
    ],
)
def test_what_the_data_do_not_allow_is_said(simulate, call, message):
    with pytest.raises(DataError, match=message):
        call(simulate)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda simulate: ScreenSettings(statistics="some"),
            "statistics must be auto, all or fast",
        ),
        (lambda simulate: ScreenSettings(n_null=-1), "n_null must be at least 0, got -1"),
        (
            lambda simulate: screen_items(
                simulate(), ScreenSettings(n_partners=3, partner_choice="near")
            ),
            "choice must be one of random, difficulty, correlation, got 'near'",
        ),
        (lambda simulate: screen_items(simulate(), rng=-3), "a seed is a whole number"),
    ],
)
def test_wrong_settings_are_named(simulate, call, message):
    with pytest.raises(ValueError, match=message):
        call(simulate)
