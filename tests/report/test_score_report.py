"""The scorecard's report, figures and text: numbers behind drawings, escaping, what is said."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from neartie.audits.scorecard import make_scorecard
from neartie.audits.scorecard_settings import ScoreSettings
from neartie.data.read_score_inputs import read_score_inputs
from neartie.data.score_inputs import ScoreInputs
from neartie.report import score_figures, score_tables
from neartie.report.score_files import write_scorecard
from neartie.report.score_html import render_scorecard
from neartie.report.score_text import score_answer, score_text

HOSTILE = """<script>alert("x")</script> & 'q' $a_b$"""
QUICK = ScoreSettings(n_resamples=100)


@pytest.fixture(scope="module")
def card(score_tables):
    return make_scorecard(ScoreInputs.build(**score_tables), QUICK, rng=3)


@pytest.fixture(scope="module")
def duels_only(score_tables):
    inputs = ScoreInputs.build(verdicts=score_tables["verdicts"])
    return make_scorecard(inputs, QUICK, rng=3)


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def test_index_is_drawn_from_the_models(card, axes):
    score_figures.plot_index(card, ax=axes)
    drawn = np.concatenate([line.get_xdata() for line in axes.get_lines()])
    np.testing.assert_allclose(sorted(drawn), sorted(card.models["global_index"]))
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == card.models["model"].tolist()


def test_profile_is_drawn_from_the_domains(card, axes):
    grid = score_figures.profile_grid(card)
    assert grid.shape == (5, 3)
    assert np.isnan(grid.loc["fir/four", "math"])
    score_figures.plot_profile(card, ax=axes)
    written = [text.get_text() for text in axes.texts]
    assert written.count("–") == 1
    assert f"{grid.iloc[0, 0]:.0f}" in written


def test_reliability_is_drawn_from_the_bins(card, axes):
    model = card.models["model"].iloc[0]
    score_figures.plot_reliability(card, model, ax=axes)
    bins = card.bins[(card.bins["model"] == model) & (card.bins["domain"] == "")]
    points = axes.collections[1].get_offsets()
    np.testing.assert_allclose(points[:, 0], bins["confidence"])
    np.testing.assert_allclose(points[:, 1], bins["accuracy"])
    answers = int(bins["n"].sum())
    assert f"{answers:,} answers" in axes.get_title(loc="left")


def test_gaps_are_drawn_from_their_table(card, axes):
    table = score_figures.gap_table(card)
    assert len(table) == 9
    assert table["contamination_gap"].is_monotonic_decreasing
    score_figures.plot_gaps(card, ax=axes)
    drawn = np.concatenate([line.get_ydata() for line in axes.get_lines()[1:]])
    np.testing.assert_allclose(sorted(drawn), sorted(100 * table["contamination_gap"]))


def test_judges_are_drawn_most_verdicts_first(card, axes):
    score_figures.plot_judges(card, ax=axes)
    table = card.judges.sort_values("n", ascending=False)
    np.testing.assert_allclose(axes.get_lines()[1].get_xdata(), 100 * table["share_first"])


@pytest.mark.parametrize("axis", ["cost", "latency"])
def test_frontier_is_drawn_from_its_table(card, axes, axis):
    table = score_figures.frontier_table(card, axis)
    assert "fir/four" not in table["model"].tolist()
    on = table[table["on"] == 1]
    assert sorted(on["model"]) == sorted(card.frontier(axis))
    score_figures.plot_frontier(card, axis, ax=axes)
    marks = {line.get_label(): line for line in axes.get_lines()}
    np.testing.assert_allclose(marks["frontier"].get_ydata(), on["global_index"])
    np.testing.assert_allclose(marks["dominated"].get_xdata(), table[table["on"] == 0][axis])
    assert axes.get_xscale() == "log"


def test_something_free_is_drawn_on_a_plain_scale(score_tables, axes):
    tables = {**score_tables, "economics": score_tables["economics"].assign(cost=[0, 1, 1, 2, 3])}
    free = make_scorecard(ScoreInputs.build(**tables), ScoreSettings(n_resamples=0))
    score_figures.plot_frontier(free, "cost", ax=axes)
    assert axes.get_xscale() == "linear"


def test_items_are_drawn_with_the_limits_of_hygiene(card, axes):
    score_figures.plot_items(card, ax=axes)
    known = card.items["discrimination"].notna()
    points = [line for line in axes.get_lines() if line.get_marker() == "."]
    assert sum(len(line.get_xdata()) for line in points) == known.sum()


def test_the_page_has_every_section_and_no_links(card):
    page = render_scorecard(card, name="mixed")
    for key in ("index", "domains", "calibration", "contamination", "judges", "items", "economics"):
        assert f'<h2 id="{key}">' in page
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert page.count("Rules 1.0.0") == 1


def test_names_are_escaped(score_tables):
    tables = {name: table.copy() for name, table in score_tables.items()}
    for name, column in (
        ("answers", "model"), ("samples", "model"), ("economics", "model"),
        ("verdicts", "model_a"), ("verdicts", "model_b"), ("verdicts", "judge"),
    ):  # fmt: skip
        tables[name][column] = tables[name][column].replace("oak/five", HOSTILE)
    page = render_scorecard(
        make_scorecard(ScoreInputs.build(**tables), ScoreSettings(n_resamples=0)), name=HOSTILE
    )
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_tables_say_what_is_printed_and_what_counts(card):
    table, n_more = score_tables.index_table(card, most=2)
    assert (len(table.rows), n_more) == (2, 3)
    heads = [column.head for column in table.columns]
    assert "± printed" in heads
    assert "Lacks" in heads
    assert all(len(row) == len(heads) for row in table.rows)
    for domain in card.domain_names:
        shown, _ = score_tables.domain_table(card, domain)
        assert all(len(row) == len(shown.columns) for row in shown.rows)
    hygiene = score_tables.hygiene_table(card)
    assert [row[0] for row in hygiene.rows] == ["code", "math"]


def test_the_answer_names_leader_and_incomplete(card):
    answer = score_answer(card)
    assert answer.startswith(f"{card.models['model'].iloc[0]} leads with ")
    assert "1 model lacks domains and has no rank." in answer
    text = score_text(card)
    assert "lacks math" in text
    assert max(map(len, text.splitlines())) <= 100


def test_files_and_what_ranks_are_read_from(card, tmp_path):
    written = write_scorecard(card, tmp_path / "out", name="mixed")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in written}
    assert names == {
        "summary.json", "report.html", "models.csv", "domains.csv", "items.csv", "bins.csv",
        "duels.csv", "judges.csv", "agreement.csv", "index/models.csv", "index/covariance.csv",
    }  # fmt: skip
    from neartie.audits.rank_reading import read_scores
    from neartie.audits.ranks import rank_models

    ranking = rank_models(read_scores(tmp_path / "out" / "index"), rng=1)
    complete = card.models[card.models["complete"] == 1]
    estimates = ranking.ranks.set_index("model")["estimate"]
    gap = complete.set_index("model")["global_index"]
    # ranks are of differences from the mean
    np.testing.assert_allclose(
        estimates - estimates.mean(), (gap - gap.mean()).loc[estimates.index], atol=1e-6
    )
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["version"] == "1.0.0"


def test_the_same_scorecard_gives_the_same_page(duels_only):
    first = render_scorecard(duels_only, name="duels")
    assert first == render_scorecard(duels_only, name="duels")


def test_tables_of_an_earlier_scorecard_do_not_stay(duels_only, tmp_path, case_dir):
    write_scorecard(duels_only, tmp_path / "out", name="duels")
    assert (tmp_path / "out" / "index" / "covariance.csv").exists()
    (tmp_path / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    tasks = make_scorecard(read_score_inputs(tasks=case_dir / "C50" / "tasks.csv"))
    write_scorecard(tasks, tmp_path / "out", name="tasks")
    left = {path.name for path in (tmp_path / "out").rglob("*.csv")}
    assert left == {"models.csv", "domains.csv"}
    assert (tmp_path / "out" / "notes.txt").exists()


@pytest.mark.parametrize("kind", ["labels", "tasks", "one model", "silent"])
def test_partial_scorecards_have_a_report(kind, case_dir):
    silent = pd.DataFrame({"model": ["a", "b"], "item": "q", "score": [1.0, 1.0]})
    inputs = {
        "labels": lambda: read_score_inputs(labels=case_dir / "C41" / "judges.csv"),
        "tasks": lambda: read_score_inputs(tasks=case_dir / "C50" / "tasks.csv"),
        "one model": lambda: read_score_inputs(case_dir / "C47" / "conf.csv"),
        "silent": lambda: ScoreInputs.build(answers=silent),
    }[kind]()
    found = make_scorecard(inputs, QUICK, rng=1)
    assert score_text(found)
    page = render_scorecard(found, name=kind)
    assert (
        "nan" not in re.sub(r"<svg.*?</svg>|<style.*?</style>", "", page, flags=re.DOTALL).lower()
    )
