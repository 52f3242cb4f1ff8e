"""The screen's report, figures and text: numbers behind drawings, escaping, what is said."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.audits.screen import ScreenSettings, screen_items
from neartie.data.responses import Responses
from neartie.report import screen_figures, screen_tables
from neartie.report.screen_files import write_screen
from neartie.report.screen_html import render_screen
from neartie.report.screen_text import auc_sentence, screen_text


def build(*, n_item=24, labels=True, sources=("s1", "s2"), ids="q{}"):
    rng = np.random.default_rng(3)
    logit = 1.5 * rng.normal(size=50) + rng.normal(size=(n_item, 1))
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    values[:2] = 1 - values[:2]
    values[2] = 0
    items = pd.DataFrame({"item": [ids.format(i) for i in range(n_item)]})
    if sources:
        items["source"] = [sources[i % len(sources)] for i in range(n_item)]
    if labels:
        items["is_bad"] = [str(int(i in (0, 1, 2, 5))) for i in range(n_item)]
    return Responses.build(values, items=items, models=[f"m{m}" for m in range(50)])


@pytest.fixture(scope="module")
def screen():
    return screen_items(build(), ScreenSettings(statistics="fast", n_curves=2), rng=1)


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def test_sorted_fit_is_drawn_from_its_table(screen, axes):
    table = screen_figures.fit_table(screen)
    assert table["position"].tolist() == list(range(1, 24))
    assert table["signed_isotonic_r2"].is_monotonic_increasing
    screen_figures.plot_fit(screen, ax=axes)
    marks = {line.get_label(): line for line in axes.get_lines()}
    suspicious = table[table["suspicious"] == 1]
    drawn = marks["on the review list"]
    np.testing.assert_allclose(drawn.get_ydata(), suspicious["signed_isotonic_r2"])
    assert len(marks["known to be bad"].get_xdata()) == 3


def test_item_curve_is_drawn_from_the_screens_table(screen, axes):
    item = screen.curves["item"].iloc[0]
    screen_figures.plot_curve(screen, item, ax=axes)
    curve = screen.curves[screen.curves["item"] == item]
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), curve["fit"])
    np.testing.assert_allclose(axes.collections[0].get_offsets()[:, 1], curve["score"])
    assert axes.get_title() == item


def test_source_grid_has_every_pair_of_sources(screen, axes):
    grid = screen_figures.source_grid(screen)
    assert sorted(grid.index) == ["s1", "s2"]
    assert grid.notna().all(axis=None)
    screen_figures.plot_sources(screen, ax=axes)
    np.testing.assert_allclose(axes.get_images()[0].get_array(), grid)


def test_auc_is_drawn_for_every_statistic(screen, axes):
    screen_figures.plot_auc(screen, ax=axes)
    assert len(axes.get_yticklabels()) == len(screen.auc)


@pytest.mark.parametrize("draw", ["plot_fit", "plot_sources", "plot_auc"])
def test_nothing_to_draw_is_said(draw, axes):
    values = np.array([[0, 0, 0], [1, 1, 1]])
    data = Responses.build(values, items=["a", "b"], models=["x", "y", "z"])
    empty = screen_items(data, ScreenSettings(statistics="fast", n_curves=2), rng=1)
    getattr(screen_figures, draw)(empty, ax=axes)
    assert len(axes.texts) == 1
    render_screen(empty, name="nothing")


def test_review_list_says_how_many_more(screen):
    n_review = len(screen.review())
    table, more = screen_tables.review_list(screen, most=2)
    assert len(table.rows) == 2
    assert more == n_review - 2
    assert table.rows[0][0] == "1"
    assert table.rows[0][-1] == screen.table["reason"].iloc[0]


def test_names_from_data_are_escaped():
    data = build(ids="<b>q{}</b>", sources=("<i>s</i>", "$x$"))
    page = render_screen(
        screen_items(data, ScreenSettings(statistics="fast", n_curves=2), rng=1), name="<u>"
    )
    assert "<b>q" not in page
    assert "<i>s</i>" not in page
    assert "<u>" not in page
    assert "&lt;b&gt;q0&lt;/b&gt;" in page


def test_report_is_one_file_without_links_out(screen):
    page = render_screen(screen, name="bench")
    assert "<script" not in page
    assert 'src="http' not in page
    assert 'href="http' not in page
    assert page == render_screen(screen, name="bench")


def test_a_report_without_labels_or_sources_leaves_them_out():
    screen = screen_items(
        build(labels=False, sources=()),
        ScreenSettings(statistics="fast", n_null=0, n_curves=1),
        rng=1,
    )
    page = render_screen(screen, name="bench")
    assert "Between sources" not in page
    assert "known to be bad?" not in page
    assert auc_sentence(screen) == ""


def test_text_names_the_worst_with_its_reason(screen):
    text = screen_text(screen)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert screen.table["item"].iloc[0] in text
    assert "item and reason" in text
    assert "Known bad items: AUC" in text
    assert str(screen).startswith("24 items: 23 ranked, 1 solved by nobody")


def test_control_characters_do_not_reach_the_terminal():
    data = build(ids="q\x1b[31m{}", labels=False)
    text = screen_text(screen_items(data, ScreenSettings(statistics="fast", n_curves=2), rng=1))
    assert "\x1b" not in text


def test_files_are_the_contract(screen, tmp_path):
    written = write_screen(screen, tmp_path / "out", name="bench")
    names = {path.name for path in written}
    assert names == {
        "auc.csv",
        "curves.csv",
        "precision.csv",
        "report.html",
        "screen.csv",
        "sources.csv",
        "summary.json",
    }
    table = pd.read_csv(tmp_path / "out" / "screen.csv")
    assert list(table.columns[:6]) == [
        "item",
        "source",
        "n_models",
        "accuracy",
        "n_pairs",
        "signed_isotonic_r2",
    ]
    assert list(table.columns[-2:]) == ["rank", "reason"]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["n_items"] == 24
    assert summary["kinds"] == {"ranked": 23, "solved by nobody": 1}
    assert summary["seed"] == 1
    auc = pd.read_csv(tmp_path / "out" / "auc.csv")
    assert list(auc.columns[:6]) == ["statistic", "n_bad", "n_good", "auc", "low", "high"]
