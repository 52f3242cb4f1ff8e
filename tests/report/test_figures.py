"""Figures: their tables agree with the audit, and what is drawn agrees with the tables."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex

from neartie.report import figures
from neartie.report.figure_random import _edges
from neartie.report.style import VERMILION, family_styles, svg


@pytest.fixture
def ax():
    figure, made = pyplot.subplots(layout="constrained")
    yield made
    pyplot.close(figure)


def texts(ax) -> str:
    ax.figure.canvas.draw()
    legend = ax.get_legend()
    entries = [t.get_text() for t in legend.get_texts()] if legend else []
    return "\n".join([*(t.get_text() for t in ax.texts), *entries])


def test_excess_table_holds_the_thresholds(audit):
    table = figures.excess_table(audit).set_index("epsilon")
    source = audit.thresholds.set_index("epsilon")
    assert table["excess_pp"].equals(source["excess_pp"])
    assert table["n_eligible"].equals(source["n_eligible"])
    assert table["primary"].sum() == 1
    assert table.loc[0.01, "primary"] == 1
    expected = 100 * (source["random_high"] - source["random_median"])
    assert table["random_high_pp"].to_numpy() == pytest.approx(expected.to_numpy(), nan_ok=True)


def test_excess_is_filled_where_p_is_at_most_the_limit(audit, ax):
    thresholds = audit.thresholds.assign(p_value=[np.nan, 0.2, 0.05, 0.0501, 0.01, 0.001])
    figures.plot_excess(replace(audit, thresholds=thresholds), ax=ax)
    markers = {line.get_label(): line for line in ax.get_lines() if line.get_marker() == "o"}
    assert markers["p ≤ .05"].get_xdata() == pytest.approx([1, 3, 5])
    assert to_hex(markers["p > .05"].get_markerfacecolor()) == "#ffffff"
    assert markers["p > .05"].get_xdata() == pytest.approx([0.5, 2])


def test_excess_figure_marks_the_primary_band_and_counts_pairs(audit, ax):
    figures.plot_excess(audit, ax=ax)
    said = texts(ax)
    assert "primary band" in said
    assert f"\n{audit.n_eligible}\n" in f"\n{said}\n"
    low, high = ax.get_xlim()
    assert (low < 0.25, high > 5) == (True, True)
    assert np.isnan(figures.excess_table(audit)["excess_pp"].iloc[0])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0.25", "0.5", "1", "2", "3", "5"]


def test_random_table_counts_what_p_counts(audit):
    table = figures.random_table(audit)
    p = audit.band()["p_value"]
    assert (1 + table["at_least_observed"].sum()) / (len(table) + 1) == pytest.approx(p)


def test_random_bars_hold_every_subtest_once_and_split_at_the_observed_rate(audit, ax):
    figures.plot_random(audit, ax=ax)
    table = figures.random_table(audit)
    heights = [sum(bar.get_height() for bar in container) for container in ax.containers]
    assert heights == [(table["at_least_observed"] == side).sum() for side in (0, 1)]
    assert f"observed {100 * audit.band()['rate']:.1f}%" in texts(ax)


@pytest.mark.parametrize("seed", range(5))
def test_no_bin_holds_both_sides_of_the_observed_rate(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 400))
    rates = rng.binomial(n, 0.3, 200) / n
    observed = rng.integers(0, n + 1) / n
    edges = _edges(rates, observed=observed, n_pairs=n)
    assert edges[0] <= min(rates.min(), observed)
    assert edges[-1] >= max(rates.max(), observed)
    assert len(edges) <= 2 * n + 3
    assert np.abs(edges - (observed - 0.5 / n)).min() < 1e-9


def test_scores_are_points_and_segments_the_pairs(audit, ax):
    scores, segments = figures.score_table(audit), figures.segment_table(audit)
    assert scores["shift"].to_numpy() == pytest.approx(
        100 * (audit.scores["anchor"] - audit.scores["full"]).to_numpy()
    )
    assert (segments["full_a"] - segments["full_b"]).to_numpy() == pytest.approx(
        100 * audit.pairs["gap_full"].to_numpy()
    )
    figures.plot_scores(audit, half=0, ax=ax)
    drawn = {to_hex(c.get_color()[0]): len(c.get_segments()) for c in ax.collections}
    half = audit.pairs[audit.pairs["half"] == 0]
    assert drawn[VERMILION] == half["reversed"].sum()
    assert sum(drawn.values()) == len(half)


def test_reversed_segments_fall_where_the_full_score_rises(audit, ax):
    figures.plot_scores(audit, half=1, kind="score", ax=ax)
    reversed_lines = next(c for c in ax.collections if to_hex(c.get_color()[0]) == VERMILION)
    slopes = [(b - a)[1] * (b - a)[0] for a, b in reversed_lines.get_segments()]
    assert slopes
    assert max(slopes) < 0


def test_scores_refuse_an_unknown_kind(audit, ax):
    with pytest.raises(ValueError, match="kind must be 'score' or 'shift', got 'gap'"):
        figures.plot_scores(audit, half=0, kind="gap", ax=ax)


def test_families_look_alike_in_every_figure():
    alone = family_styles(["Llama"])
    assert family_styles(["Qwen", "Llama", "Zeta"])["Llama"] == alone["Llama"]
    many = family_styles([f"family {i}" for i in range(8)])
    assert len(set(many.values())) == 8
    assert VERMILION not in {colour for colour, _ in many.values()}


def test_dimension_table_marks_best_and_limit(audit):
    table = figures.dimension_table(audit)
    assert table.loc[table["best"] == 1, "k"].tolist() == [8, 8]
    assert table["limit"].to_numpy() == pytest.approx(0.554)
    tied = replace(audit, dimension=audit.dimension.assign(loss=0.5))
    best = figures.dimension_table(tied)
    assert best.loc[best["best"] == 1, "k"].tolist() == [1, 1]


def test_dimension_figure_names_selected_and_best(audit, ax):
    figures.plot_dimension(audit, half=0, ax=ax)
    assert "selected, K = 4\nsmallest loss, K = 8\nsmallest loss + 1 SE" in texts(ax)


def test_given_dimension_is_said_in_the_figure(audit_given_dimension, ax):
    figures.plot_dimension(audit_given_dimension, half=1, ax=ax)
    assert "K = 8 was given, not chosen." in texts(ax)


def test_dif_figure_counts_what_it_cannot_draw(audit, ax):
    table = figures.dif_table(audit)
    assert table["drawn"].sum() == 78
    figures.plot_dif(audit, half=0, ax=ax)
    assert sum(len(line.get_xdata()) for line in ax.get_lines()) == 38
    assert "no finite easiness: 2 (1 anchor)" in texts(ax)


@pytest.mark.parametrize("half", [0, 1])
def test_figures_say_why_they_are_empty(audit_without_pairs, ax, half):
    figures.plot_scores(audit_without_pairs, half=half, ax=ax)
    for draw in (figures.plot_excess, figures.plot_random):
        ax.clear()
        draw(audit_without_pairs, ax=ax)
        assert "no" in texts(ax).lower()


def test_random_and_excess_figures_without_controls(audit_without_controls, ax):
    figures.plot_excess(audit_without_controls, ax=ax)
    assert "random subtest" in texts(ax)
    ax.clear()
    figures.plot_random(audit_without_controls, ax=ax)
    assert "no random subtest" in texts(ax).lower() or "or no random subtest" in texts(ax)


def test_a_figure_of_its_own_is_made_without_axes(audit):
    made = figures.plot_random(audit)
    assert made.figure.axes == [made]
    pyplot.close(made.figure)


def test_drawing_leaves_the_settings_of_matplotlib_alone(audit, ax):
    before = dict(mpl.rcParams)
    figures.plot_excess(audit, ax=ax)
    svg(ax.figure, label="x", salt="s")
    assert dict(mpl.rcParams) == before


def test_svg_has_no_dates_and_no_idle_ids(audit):
    drawn = []
    for _ in range(2):
        figure, own = pyplot.subplots(layout="constrained")
        figures.plot_dif(audit, half=0, ax=own)
        drawn.append(svg(figure, label='a "b" <c>', salt="s"))
        pyplot.close(figure)
    text = drawn[0]
    assert text == drawn[1]
    assert text.startswith("<svg ")
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in text
    assert "<metadata" not in text
    assert "figure_1" not in text


def test_thousands_of_items_become_an_image(audit):
    items = pd.concat([audit.items] * 50, ignore_index=True)
    figure, own = pyplot.subplots(layout="constrained")
    figures.plot_dif(replace(audit, items=items), half=1, ax=own)
    text = svg(figure, label="many", salt="s")
    pyplot.close(figure)
    assert "data:image/png;base64," in text
    assert len(text) < 200_000


def test_tables_of_a_real_audit_agree_with_its_headline(real_audit):
    row = real_audit.band()
    random = figures.random_table(real_audit)
    assert (1 + random["at_least_observed"].sum()) / (len(random) + 1) == pytest.approx(
        row["p_value"]
    )
    dimension = figures.dimension_table(real_audit)
    assert tuple(dimension.loc[dimension["selected"] == 1, "k"]) == real_audit.k
    within = dimension["loss"] <= dimension["limit"]
    assert tuple(dimension[within].groupby("half")["k"].min()) == real_audit.k
    dif = figures.dif_table(real_audit)
    assert ((dif["drawn"] == 0) == (dif["constant"] == 1)).all()
