"""Simulated comparisons as sentences, tables, figures and a page: numbers are those of the runs."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.draw_anchors import ANCHORS
from neartie.audits.draw_reversals import OBSERVED, SCORES
from neartie.audits.recovery import collect_recovery
from neartie.audits.recovery_claim import mean_limits, rung_claim, share_limits
from neartie.audits.settings import AuditSettings
from neartie.report.recovery_figures import plot_bias, plot_coverage, recovery_points
from neartie.report.recovery_files import latex_files
from neartie.report.recovery_html import render_recovery
from neartie.report.recovery_tables import gain_table, key_table, recovery_table
from neartie.report.recovery_text import recovery_text

EVIL = '<b>&"evil"_$x</b>'
RATES = (0.30, 0.34, 0.20, 0.26)
TRUTHS = (0.25, 0.25, 0.25, 0.25)
SETTINGS = ComparisonSettings(rungs=("residual",), draws=20)


def row(rung, anchors, scores, rate, target, *, width=0.1):
    fixed = anchors != "draws" and scores == OBSERVED
    return {
        "rung": rung,
        "anchors": anchors,
        "scores": scores,
        "reversal_rate": rate,
        "low": None if fixed else rate - width / 2,
        "high": None if fixed else rate + width / 2,
        "excess_pp": 2.0,
        "excess_low": None if fixed else 1.0,
        "excess_high": None if fixed else 3.0,
        "p_value": 0.04,
        "target": target,
        "excess_target_pp": 1.5,
        "verdict": "no interval" if fixed else "cannot say",
    }


def recovered(rates=RATES, truths=TRUTHS, *, failed=0, boards=None):
    records = []
    for number, (rate, truth) in enumerate(zip(rates, truths, strict=True)):
        rows = [row("plug-in", "plug-in", scores, rate, truth) for scores in SCORES]
        rows += [
            row("residual", kind, scores, rate, truth) for kind in ANCHORS for scores in SCORES
        ]
        anchors = [
            {"rung": rung, "anchors": kind, "half": half, "gain": 0.5, "spearman": 0.25}
            for rung, kinds in (("plug-in", ANCHORS[:1]), ("residual", ANCHORS))
            for kind in kinds
            for half in (0, 1)
        ]
        records.append(
            {"data_set": number, "failed": "", "k": [1, 1], "rows": rows, "anchors": anchors}
        )
    for number in range(failed):
        records.append(
            {"data_set": len(rates) + number, "failed": EVIL, "k": [], "rows": [], "anchors": []}
        )
    return collect_recovery(
        records,
        boards={"design": {"n_items": 80}} if boards is None else boards,
        settings=SETTINGS,
        audit=AuditSettings(),
        seed=7,
        versions={"neartie": "0"},
    )


@pytest.fixture(scope="module")
def found():
    return recovered(failed=1)


def test_the_claim_has_bias_error_and_coverage_by_hand(found):
    errors = np.array(RATES) - np.array(TRUTHS)
    error = errors.std(ddof=1) / 2
    low, high = (100 * x for x in stats.binomtest(3, 4).proportion_ci(method="exact"))
    assert str(found) == (
        f"residual, draws × latent: over 4 leaderboards its rate lies {100 * errors.mean():.1f} "
        f"points above the truth on average (± {100 * error:.1f}, which may be chance), and 75% of "
        f"its 95% intervals hold the truth (limits {low:.0f} to {high:.0f}%, of too few leaderboards to judge by)."
    )
    assert found.to_dict()["claim"] == str(found)


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ((0.40, 0.41, 0.42, 0.41), "16.0 points above the truth on average (± 0.4), and 0% of its"),
        ((0.10, 0.11, 0.10, 0.11), "14.5 points below the truth on average (± 0.3), and 0% of its"),
        ((0.40, 0.41, 0.42, 0.40), "(limits 0 to 60%, of too few leaderboards to judge by)"),
        ((0.40, 0.41) * 10, "(limits 0 to 17%, too few)"),
        ((0.26, 0.24) * 10, "(limits 83 to 100%, which leave 95 possible)"),
        ((0.26,), "over 1 leaderboard its rate lies 1.0 points above the truth, and 100% of its"),
    ],
)
def test_the_claim_says_what_is_clear(rates, words):
    assert words in str(recovered(rates, (0.25,) * len(rates)))


def test_many_intervals_that_hold_everything_hold_more_than_they_should():
    assert "(limits 96 to 100%, more than 95)" in str(recovered((0.26,) * 99, (0.25,) * 99))


def test_a_rung_without_rates_says_so(found):
    table = found.table.assign(n_replicates=0)
    assert rung_claim(table, SETTINGS, "residual").endswith("so that nothing can be said.")
    assert rung_claim(found.table, SETTINGS, "full").endswith("so that nothing can be said.")


def test_limits_hold_the_share_and_have_the_level():
    for n, k in ((20, 19), (5, 5), (7, 0)):
        low, high = share_limits(k / n, n)
        assert low <= k / n <= high
        if k:
            assert stats.binom.sf(k - 1, n, low) == pytest.approx(0.025)
        if k < n:
            assert stats.binom.cdf(k, n, high) == pytest.approx(0.025)
    assert share_limits(float("nan"), 3) == (0.0, 1.0)
    assert np.isnan(mean_limits(0.1, float("nan"), 9)).all()
    values = np.array([1.0, 2.0, 4.0, 4.5])
    own = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert mean_limits(values.mean(), stats.sem(values), 4) == pytest.approx(tuple(own))


def test_a_coverage_of_all_leaderboards_has_limits_and_no_error_of_zero():
    """Limits count the leaderboards that have an interval, and are those of one trial each."""
    two = recovered((0.26, 0.24), (0.25, 0.25))
    row = two.table.query("rung == 'residual' and anchors == 'draws' and scores == 'latent'")
    assert row["coverage"].item() == 1.0
    assert np.isnan(row["coverage_se"].item())
    exact = stats.binomtest(2, 2).proportion_ci(method="exact")
    assert row["coverage_low"].item() == pytest.approx(exact.low)
    assert row["coverage_high"].item() == 1.0
    without = two.table[two.table["coverage"].isna()]
    assert without[["coverage_low", "coverage_high"]].isna().all(axis=None)
    assert two.warnings[0].startswith("2 leaderboards are too few to judge by")
    assert "100 of 2 leaderboards leaves 16 to 100 possible" in " ".join(recovery_text(two).split())
    many = recovered((0.26, 0.24) * 10, (0.25, 0.25) * 10)
    assert not many.warnings


def test_figures_show_the_table(found):
    for draw, name in ((plot_bias, "bias"), (plot_coverage, "coverage")):
        panels = draw(found, ax=Figure().add_subplot())
        for panel, scores in zip(panels, SCORES, strict=True):
            table = recovery_points(found, scores)
            for kind in ANCHORS:
                (marks,) = [line for line in panel.get_lines() if line.get_label() == kind]
                own = table.loc[table["anchors"] == kind, name]
                np.testing.assert_array_equal(np.asarray(marks.get_xdata()), own)
            low, high = panel.get_xlim()
            shown = table[name].dropna()
            assert ((low < shown) & (shown < high)).all()
    rows = recovery_points(found, "latent").set_index(["rung", "anchors"])
    own = found.table[(found.table["rung"] == "residual") & (found.table["scores"] == "latent")]
    expected = 100 * own.set_index("anchors")["bias"]
    np.testing.assert_allclose(rows.loc["residual", "bias"], expected[rows.loc["residual"].index])


@pytest.mark.parametrize("draw", [plot_bias, plot_coverage])
def test_one_leaderboard_can_be_drawn(draw):
    panels = draw(recovered((0.3,), (0.25,)), ax=Figure().add_subplot())
    assert np.isfinite(panels[0].get_xlim()).all()


def test_tables_have_a_row_a_cell_and_blanks_for_what_is_not_there(found):
    key = key_table(found)
    assert [line[0].replace("\N{NON-BREAKING HYPHEN}", "-") for line in key.rows] == [
        "plug-in",
        "residual",
    ]
    assert key.rows[1][2:] == ("25.0", "+2.5 ± 3.0", "5.7", "75", "10.0", "100")
    observed = recovery_table(found, OBSERVED)
    # the plug-in's anchors stand once, and fixed anchors have no interval
    assert [line[1].replace("\N{NON-BREAKING HYPHEN}", "-") for line in observed.rows] == [
        "plug-in",
        "draws",
        "mean",
        "inclusion",
    ]
    assert [line[6] for line in observed.rows] == ["–", "75 (19–99)", "–", "–"]
    assert len(gain_table(found).rows) == 4
    assert all(r"\begin{tabular}" in text for text in latex_files(found).values())
    assert set(latex_files(found)) == {"recovery", *(f"recovery_{s}" for s in SCORES), "anchors"}


def test_the_page_is_plain_and_escapes_what_others_wrote(found):
    page = render_recovery(found, name=EVIL)
    assert EVIL not in page
    assert "&lt;b&gt;" in page
    assert "4 simulated leaderboards · 1 left out · seed 7" in page
    assert "1 of 5 leaderboards could not be compared" in page
    assert page.count("<svg") == 2
    assert page == render_recovery(found, name=EVIL)


@pytest.mark.parametrize(
    ("boards", "words"),
    [
        (
            {"model": {"n_items": 40, "dif_scale": 0.5}},
            "the full model itself: items 40, dif-scale",
        ),
        (
            {"like": "", "n_items": 40, "n_models": 30, "dimension": 2, "dif_factor": 2.0},
            "from its fit with K = 2, with 2 times its family effects",
        ),
        ({"design": {}}, "the usual design"),
    ],
)
def test_what_was_drawn_is_said(boards, words):
    text = recovery_text(recovered(boards=boards))
    assert words in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
