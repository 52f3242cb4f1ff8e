"""Figures, text and files of predictive checks: numbers behind drawings, escaping, what is said."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from neartie.audits.predictive_result import PredictiveChecks
from neartie.audits.predictive_tables import accuracy_histogram, predictive_table
from neartie.report import check_figures
from neartie.report.check_files import write_checks
from neartie.report.check_html import render_checks
from neartie.report.check_text import check_answer, check_text, comparison_answer

HOSTILE = "<script>alert($x_1$)</script>"
COMPARISON = pd.DataFrame(
    {
        "model": ["2PL", HOSTILE],
        "elpd": [-100.0, -120.0],
        "se": [5.0, 6.0],
        "p": [20.0, 9.0],
        "elpd_diff": [0.0, -20.0],
        "diff_se": [0.0, 4.0],
        "weight": [0.9, 0.1],
        "max_pareto_k": [0.4, 0.9],
        "share_high_k": [0.0, 0.125],
        "k_limit": [0.7, 0.7],
    }
)


def build(*, items=True):
    rng = np.random.default_rng(1)
    parts = {}
    for name, n in (("item", 6 if items else 0), ("model", 4)):
        drawn = rng.binomial(10, 0.5, (200, n)).astype(float)
        ids = [HOSTILE if place == 0 else f"{name}-{place}" for place in range(n)]
        # The first is outside, the others are not.
        observed = [10.0 if place == 0 else 5.0 for place in range(n)]
        table = predictive_table(observed, drawn, ids=ids, column=name, level=0.95)
        table.insert(1, "n", 10)
        parts[name] = table
    near = rng.poisson(4, 200).astype(float)
    spread = rng.normal(0.2, 0.02, 200)
    replicates = pd.DataFrame({"near_ties": near, "model_sd": spread})
    statistics = predictive_table(
        [4.0, 0.5], replicates, ids=list(replicates), column="statistic", level=0.95
    )
    statistics.insert(1, "meaning", ["near-tied pairs", "standard deviation"])
    return PredictiveChecks(
        source="posterior",
        kind="two-pl" if items else "bradley-terry",
        items=parts["item"],
        models=parts["model"],
        statistics=statistics,
        coverage=pd.DataFrame(
            [("models", 4, 1, 0.25, 0.02)],
            columns=["quantity", "n", "n_outside", "share", "expected"],
        ),
        histogram=accuracy_histogram(
            {
                "models": rng.random(40),
                "items": rng.random(40 if items else 0),
                "observed_models": np.array([0.5, 1.0]),
                "observed_items": np.array([0.5, 1.0] if items else []),
            }
        ),
        replicates=replicates,
        across="all pairs",
        level=0.95,
        band=0.01,
        n_draws=200,
        seed=1,
        converged="yes",
        verdict="Converged.",
        settings={"engine": "nuts"},
        versions={"neartie": "0.1.0"},
        warnings=(f"careful with {HOSTILE}",),
    )


@pytest.fixture(scope="module")
def checks():
    return build()


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure(figsize=(6, 5)).add_subplot()


def test_totals_are_drawn_where_the_table_has_them(checks, axes):
    check_figures.plot_totals(checks, ax=axes)
    table = check_figures.totals_table(checks)
    inside, outside = (table[table["outside"] == out] for out in (0, 1))
    bars = [np.array(c.get_segments()) for c in axes.collections]
    for rows, drawn in zip((inside, outside), bars, strict=True):
        np.testing.assert_allclose(drawn[:, :, 1], rows[["low", "high"]])
        np.testing.assert_allclose(drawn[:, 0, 0], rows["observed"])
    assert [t.get_text() for t in axes.get_legend().get_texts()][1] == "outside (1 of 4)"


def test_statistic_shows_all_replicates_and_the_observed_value(checks, axes):
    check_figures.plot_statistic(checks, ax=axes)
    assert sum(bar.get_height() for bar in axes.patches) == 200
    assert axes.lines[0].get_xdata()[0] == 4
    assert axes.texts[0].get_text().strip().startswith("observed, p = .")
    with pytest.raises(KeyError, match="there is no statistic 'none'"):
        check_figures.plot_statistic(checks, "none", ax=axes)


def test_a_p_of_no_replicate_is_not_drawn_as_zero(checks, axes):
    check_figures.plot_statistic(checks, "model_sd", ax=axes)
    assert axes.texts[0].get_text().strip() == "observed, p <.005"


def test_accuracies_are_those_of_the_histogram(checks, axes):
    check_figures.plot_accuracies(checks, ax=axes)
    heights = {patch.get_label(): patch.get_data().values for patch in axes.patches}
    np.testing.assert_allclose(heights["observed"], 100 * checks.histogram["observed_models"])
    np.testing.assert_allclose(heights["posterior predictive"], 100 * checks.histogram["models"])


def test_comparison_marks_what_is_unreliable(axes):
    check_figures.plot_comparison(COMPARISON, ax=axes)
    np.testing.assert_allclose(
        [segment[:, 0] for segment in axes.collections[0].get_segments()], [[0, 0], [-28, -12]]
    )
    assert "Pareto k above its limit" in axes.texts[0].get_text()


def test_battles_have_no_items(axes):
    checks = build(items=False)
    check_figures.plot_totals(checks, side="items", ax=axes)
    assert axes.texts[0].get_text() == "There are no items."
    page = render_checks(checks, name="duels")
    assert "0 items" not in page


def test_report_escapes_every_name(checks):
    page = render_checks(checks, name=HOSTILE, comparison=COMPARISON)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page == render_checks(checks, name=HOSTILE, comparison=COMPARISON)


def test_what_is_said(checks):
    answer = check_answer(checks)
    assert answer.startswith(
        "1 of 2 statistics of the data is outside what the posterior predicts at 95%: "
        "standard deviation."
    )
    assert "Of 4 totals of models, 1 (25.0%) is outside" in answer
    quiet = replace(checks, statistics=checks.statistics.assign(outside=0))
    assert check_answer(quiet).startswith("None of 2 statistics")
    text = check_text(checks, COMPARISON)
    assert "<.005 * model_sd" in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "falls short by 20.0 (standard error 4.0)." in " ".join(text.split())


def test_small_differences_are_noise():
    close = COMPARISON.assign(elpd_diff=[0.0, -3.0], diff_se=[0.0, 0.5])
    assert comparison_answer(close).endswith("which is within noise.")


def test_files_are_written_and_stale_ones_removed(checks, tmp_path):
    names = [p.name for p in write_checks(checks, tmp_path, name="b", comparison=COMPARISON)]
    assert names == sorted(names)
    assert {"comparison.csv", "items.csv", "statistics.csv", "report.html"} <= set(names)
    assert json.loads((tmp_path / "summary.json").read_text())["comparison"][1]["elpd_diff"] == -20
    write_checks(build(items=False), tmp_path, name="b")
    assert not (tmp_path / "comparison.csv").exists()
    assert not (tmp_path / "items.csv").exists()
    assert len(pd.read_csv(tmp_path / "models.csv")) == 4
