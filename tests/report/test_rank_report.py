"""The ranking's report, figures and text: numbers behind drawings, escaping, what is said."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from neartie.audits.rank_needs import what_would_it_take
from neartie.audits.ranks import rank_models
from neartie.report import rank_figures, rank_tables
from neartie.report.rank_files import write_ranking
from neartie.report.rank_html import render_ranking
from neartie.report.rank_text import rank_answer, rank_text


def build(n=12, *, name="model-{}", sd=0.12, **options):
    rng = np.random.default_rng(3)
    draws = np.sort(rng.normal(size=n)) + sd * rng.normal(size=(1000, n))
    return rank_models(draws, models=[name.format(m) for m in range(n)], **options)


@pytest.fixture(scope="module")
def ranking():
    return build()


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure(figsize=(6, 5)).add_subplot()


def lines(collection):
    return np.array([[s[0, 0], s[1, 0], s[0, 1]] for s in collection.get_segments()])


@pytest.mark.parametrize("n", [12, 60, 300])
def test_intervals_are_drawn_from_the_table(axes, n):
    ranking = build(n)
    table = rank_figures.rank_table(ranking)
    left, right = rank_figures.plot_ranking(ranking, ax=axes)
    assert lines(left.collections[-1]) == pytest.approx(table[["low", "high", "row"]].to_numpy())
    wide, thin = right.collections[-2:]
    columns = ["rank_set_low", "rank_set_high", "row"]
    assert lines(wide) == pytest.approx(table[columns].to_numpy())
    assert lines(thin) == pytest.approx(table[["rank_low", "rank_high", "row"]].to_numpy())
    assert left.get_ylim()[0] > left.get_ylim()[1]  # the best stands on top
    assert [label.get_text() for label in left.get_yticklabels()] == table["model"].tolist()
    # a row is at least as high as its letters: 72 points an inch
    height = rank_figures.figure_size(ranking)[1]
    assert 72 * (height - 1.1) / n >= left.get_yticklabels()[0].get_fontsize()


def test_every_other_tier_is_shaded(ranking):
    table = rank_figures.rank_table(ranking)
    assert table["band"].diff().ne(0).sum() == ranking.n_tiers
    assert ranking.n_tiers > 2


def test_the_map_shows_the_grid(ranking, axes):
    rank_figures.plot_pairs(ranking, ax=axes)
    drawn = np.ma.filled(axes.get_images()[0].get_array(), np.nan)
    np.testing.assert_allclose(drawn, ranking.grid().to_numpy(dtype=float))


def test_the_map_of_one_model_says_so(axes):
    rank_figures.plot_pairs(build(1), ax=axes)
    assert "One model" in axes.texts[0].get_text()


@pytest.mark.parametrize("n", [1, 2, 12, 61])
def test_a_page_for_any_number_of_models(n):
    page = render_ranking(build(n), name="board")
    assert page.count("<svg") == {1: 1, 2: 2, 12: 2, 61: 3}[n]
    assert "http-equiv" not in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)


def test_names_are_escaped_everywhere():
    ranking = build(3, name="<b>{}&$x_")
    page = render_ranking(ranking, name="<i>")
    assert "<b>0" not in page
    assert "&lt;b&gt;0&amp;$x_" in page.replace("<wbr>", "")
    assert "Ranks of &lt;i&gt;" in page


def test_without_convergence_every_form_says_so(tmp_path):
    import xarray as xr

    draws = np.random.default_rng(1).normal(size=(1, 1000, 3))
    data = xr.Dataset({"ability": (("chain", "draw", "model"), draws)}, {"model": list("abc")})
    tree = xr.DataTree.from_dict({"posterior": data})
    tree.attrs.update(converged="no", verdict="R-hat is 2.")
    ranking = rank_models(tree)
    assert "The fit did not converge." in render_ranking(ranking, name="x")
    assert "did not converge" in rank_text(ranking)
    assert ranking.to_dict()["converged"] == "no"


def test_the_answer_counts_pairs_and_tiers(ranking):
    text = rank_answer(ranking)
    joint = int(ranking.pairs["resolved_jointly"].sum())
    assert f"Of 66 pairs, {int(ranking.pairs['resolved'].sum())} (" in text
    assert f"{joint} ({100 * joint / 66:.1f}%) all at once" in text
    assert f"fall into {ranking.n_tiers} tiers" in text


def test_sets_apart_are_told_apart():
    draws = np.random.default_rng(1).normal(size=(1000, 5))
    ranking = rank_models(draws, models=list("abcde"), component=[1, 1, 2, 2, 2])
    text = rank_text(ranking)
    assert "not comparable with those above" in text
    assert "2 connected sets" in text
    page = render_ranking(ranking, name="x")
    assert "nothing in the data connects the two" in " ".join(page.split())
    table, _ = rank_tables.ranks(ranking)
    assert table.columns[0].head == "Set"


def test_long_lists_say_what_they_leave_out():
    ranking = build(61)
    table, n_more = rank_tables.ranks(ranking, most=50)
    assert (len(table.rows), n_more) == (50, 11)
    assert "... and 36 more models." in rank_text(ranking)


def test_text_in_a_terminal_is_plain():
    text = rank_text(build(3, name="a\x1b[2J{}"))
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_files_are_written_and_read_back(ranking, tmp_path):
    needs = what_would_it_take(ranking, unit="items", n_items=100)
    written = write_ranking(ranking, tmp_path, name="x", needs=needs, unit="items")
    assert {path.name for path in written} == {
        "summary.json", "ranks.csv", "pairs.csv", "rank_probability.csv", "needs.csv",
        "ranks.tex", "tiers.tex", "report.html",
    }  # fmt: skip
    design = "model estimate low high rank_mean rank_low rank_high rank_set_low rank_set_high"
    ranks = pd.read_csv(tmp_path / "ranks.csv", dtype={"model": str})
    assert ranks.columns[:11].tolist() == [*design.split(), "p_best", "tier"]
    pd.testing.assert_frame_equal(ranks, ranking.ranks, check_dtype=False, rtol=0, atol=0)
    pairs = pd.read_csv(tmp_path / "pairs.csv")
    design = "model_a model_b difference low high p_above resolved"
    assert pairs.columns[:7].tolist() == design.split()
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["n_tiers"] == len(summary["tiers"]) == ranking.n_tiers
    write_ranking(ranking, tmp_path, name="x")
    assert not (tmp_path / "needs.csv").exists()


def test_a_probability_is_never_printed_as_certain():
    shown = [rank_tables.probability(p) for p in (0.0, 0.004, 0.0051, 0.5, 0.9949, 0.995, 1.0)]
    assert shown == ["<.01", "<.01", ".01", ".50", ".99", ">.99", ">.99"]
