"""Figures, text and files of a validation: numbers behind drawings, escaping, what is said."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from neartie.audits.validation import validate_design
from neartie.report import validation_figures as figures
from neartie.report.validation_files import write_validation
from neartie.report.validation_html import coverage_table, quantity_table, render_validation
from neartie.report.validation_text import design_rows, validation_text

HOSTILE = "<script>alert($x_1$)</script>"


@pytest.fixture(scope="module")
def result():
    return validate_design(
        kind="two-pl", n_items=6, n_models=5, draws=100, tune=50, chains=2, thin=1,
        n_data_sets=6, rng=1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def estimated():
    return validate_design(
        kind="bradley-terry", n_models=4, n_battles=60, engine="newton", n_data_sets=8, rng=1
    )


def narrowed(result):
    """Return the same with positions at the ends only, and nothing covered."""
    positions = result.positions.assign(position=0.01)
    coverage = result.coverage.assign(covered=0.1, low=0.05, high=0.2, p=1e-9, n_data_sets=40)
    quantities = result.quantities.assign(p_adjusted=1e-6)
    return replace(result, positions=positions, coverage=coverage, quantities=quantities)


def test_the_figure_of_positions_is_the_ecdf_less_the_uniform_one(result):
    table = figures.ecdf_table(result, "ability")
    rows = result.positions.query("quantity == 'ability'")
    at = table[table["point"] == 0.5].iloc[0]
    assert at["pooled"] == pytest.approx((rows["position"] <= 0.5).mean() - 0.5)
    assert list(table.columns[4:]) == list(range(5))
    assert (table["low"] <= 0).all()
    assert (table["high"] >= 0).all()


def test_lines_outside_the_band_are_told_apart(result):
    ax = figures.plot_positions(narrowed(result), "ability")
    colours = {line.get_color() for line in ax.lines}
    assert figures.VERMILION in colours
    assert "abilities (5), adjusted p 1e-06" in ax.get_title(loc="left")


def test_the_figure_of_coverage_has_a_row_a_quantity_and_opens_what_misses(result):
    ax = figures.plot_coverage(narrowed(result))
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["abilities", "difficulties", "log discriminations", "differences of abilities"]
    marked = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert {line.get_markerfacecolor() for line in marked} == {"white"}


def test_orders_are_drawn_where_there_are_any(result):
    ax = figures.plot_orders(result)
    assert ax.get_ylabel() == "orders that are true (%)"
    none = replace(result, orders=result.orders.assign(n=0))
    assert figures.plot_orders(none).texts[0].get_text() == "No orders were compared."


def test_a_page_escapes_names_and_is_the_same_twice(result):
    page = render_validation(result, name=HOSTILE)
    assert HOSTILE not in page
    assert page == render_validation(result, name=HOSTILE)
    for part in (result.claim, "joint rank sets hold all true ranks", "6, of which 6 with a fit"):
        assert part in page


def test_a_page_of_estimates_has_no_positions(estimated):
    page = render_validation(estimated, name="battles")
    assert "newton gives estimates with standard errors" in page
    assert "Positions of truths among draws" not in page


def test_intervals_that_miss_stand_out(result):
    assert len(coverage_table(narrowed(result)).marked) == 4


def test_few_data_sets_are_not_judged_anywhere(result):
    few = narrowed(result)
    few = replace(few, coverage=few.coverage.assign(n_data_sets=6))
    assert not few.enough
    assert few.calibrated is None
    assert not coverage_table(few).marked
    assert not quantity_table(few).marked
    assert few.to_dict()["enough"] is False
    for said in (validation_text(few), render_validation(few, name="few")):
        assert "6 data sets are too few to judge by" in said
    many = replace(
        few, data_sets=pd.concat([few.data_sets] * 4), coverage=few.coverage.assign(n_data_sets=24)
    )
    assert many.calibrated is False
    assert len(coverage_table(many).marked) == 4
    assert len(quantity_table(many).marked) == len(many.quantities)
    assert many.verdict.startswith("Not calibrated")


def test_an_error_that_is_not_known_is_not_printed(result):
    alike = replace(result, coverage=result.coverage.assign(width_se=np.nan, width=1.0))
    assert {row[-1] for row in coverage_table(alike).rows} == {"1.000"}


def test_the_text_says_what_a_fit_costs(result):
    text = validation_text(result)
    assert text.startswith(result.claim)
    assert "joint rank sets held all ranks in" in text
    assert "A fit took" in text


def test_the_design_is_told(result):
    rows = dict(design_rows(result))
    assert rows["shape"] == "6 items, 5 models"
    assert rows["truths from"] == "these priors"
    other = replace(result, design={**result.design, "truth": {"ability_sd": 2.0}})
    assert dict(design_rows(other))["truths from"] == "these priors, but ability_sd 2"


def test_files_hold_what_the_result_holds(result, tmp_path):
    written = write_validation(result, tmp_path / "out", name="2PL")
    assert {path.suffix for path in written} == {".json", ".csv", ".html"}
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["claim"] == result.claim
    table = pd.read_csv(tmp_path / "out" / "coverage.csv")
    assert np.allclose(table["covered"], result.coverage["covered"])
