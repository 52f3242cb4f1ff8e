"""A comparison's report, figures, LaTeX and methods paragraph: numbers are those of the run."""

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from neartie.audits.compare import compare
from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.settings import AuditSettings
from neartie.data.simulate import simulate_leaderboard
from neartie.models.priors import MirtDifPriors
from neartie.report import comparison_figures, comparison_pair_tables, comparison_tables
from neartie.report.comparison_files import latex_files, write_comparison
from neartie.report.comparison_html import render_comparison
from neartie.report.comparison_methods import methods_text
from neartie.report.comparison_text import comparison_text

EVIL = '<b>&"evil"_$x</b>'


@pytest.fixture(scope="module")
def compared():
    data = simulate_leaderboard(n_items=120, n_models=80, n_owners=50, n_sources=2, rng=5)
    audit = AuditSettings(dimension=1, alpha=0.4, controls=30, bootstraps=0, min_family_size=8)
    settings = ComparisonSettings(rungs=("residual",), draws=24, subtests=11, margin=0.03)
    return compare(data.responses, settings, audit=audit, rng=7)


@pytest.fixture(scope="module")
def as_full(compared):
    """The same tables as if they were those of the full posterior, which was not run."""

    def renamed(table):
        return table.assign(rung=table["rung"].replace("residual", "full"))

    facts = {"max_rhat": [1.002, 1.034], "min_ess_bulk": [512.0, 87.0], "min_ess_tail": [400, 301]}
    rungs = renamed(compared.rungs)
    own = (rungs["rung"] == "full").to_numpy()
    for name, values in facts.items():
        rungs[name] = rungs[name].astype(float)
        rungs.loc[own, name] = values
    rungs.loc[own, "converged"] = ["yes", "no"]
    return dataclasses.replace(
        compared,
        ladder=renamed(compared.ladder),
        rungs=rungs,
        calibration=renamed(compared.calibration),
        pair_probabilities=renamed(compared.pair_probabilities),
        pairs=compared.pairs.rename(columns={"residual": "full"}),
        anchors=compared.anchors.rename(columns=lambda name: name.replace("residual", "full")),
        settings=ComparisonSettings(
            rungs=("full",), draws=24, chains=3, tune=321, thin=5, subtests=11,
            options={"priors": MirtDifPriors(dif_scale_sd=0.77), "family_means": True},
        ),
    )  # fmt: skip


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def test_the_ladder_is_drawn_from_its_table(compared, axes):
    panels = comparison_figures.plot_ladder(compared, ax=axes)
    ladder = compared.ladder
    assert [panel.get_title(loc="left") for panel in panels] == ["observed", "latent", "replicated"]
    for panel, scores in zip(panels, ("observed", "latent", "predictive"), strict=True):
        own = ladder[(ladder["scores"] == scores) & (ladder["rung"] == "residual")]
        for kind in ("draws", "mean", "inclusion"):
            (marks,) = [line for line in panel.get_lines() if line.get_label() == kind]
            rate = own.loc[own["anchors"] == kind, "reversal_rate"]
            np.testing.assert_allclose(marks.get_xdata(), 100 * rate)
        # every mark and limit is within view
        low, high = panel.get_xlim()
        limits = own[["reversal_rate", "low", "high"]].to_numpy(dtype=float)
        assert low <= 100 * np.nanmin(limits)
        assert high >= 100 * np.nanmax(limits)
    table = comparison_figures.ladder_points(compared, "observed")
    assert table["row"].is_unique
    assert (table["anchors"] == "plug-in").sum() == 1  # the audit, whatever the rung


def test_pairs_and_calibration_are_drawn_from_their_tables(compared, axes):
    comparison_figures.plot_pairs(compared, ax=axes)
    shown = comparison_pair_tables.shown_pairs(compared).head(comparison_figures.MOST_PAIRS)
    (full,) = [line for line in axes.get_lines() if line.get_label() == "all items"]
    np.testing.assert_allclose(full.get_xdata(), shown["a_above_b_full"])
    comparison_figures.plot_calibration(compared, "residual", ax=(ax := axes.figure.add_subplot()))
    own = compared.calibration.query(
        "rung == 'residual' and anchors == 'draws' and scores == 'latent'"
    )
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 1], own["share_reversed"])


def test_the_first_of_a_shown_pair_is_ahead(compared):
    shown = comparison_pair_tables.shown_pairs(compared)
    assert (shown["gap_full"] > 0).all()
    own = compared.pair_probabilities.query(
        "rung == 'residual' and anchors == 'draws' and scores == 'latent'"
    )
    found = {frozenset((a, b)) for a, b in zip(shown["model_a"], shown["model_b"], strict=True)}
    assert len(found) == len(own) == len(shown)
    first = shown.iloc[0]
    same = own[(own["model_a"] == first["model_a"]) & (own["model_b"] == first["model_b"])]
    turned = own[(own["model_a"] == first["model_b"]) & (own["model_b"] == first["model_a"])]
    expected = [*same["a_above_b_full"], *(1 - turned["a_above_b_full"])]
    assert [first["a_above_b_full"]] == pytest.approx(expected)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in {"meta", "wbr", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def with_evil_names(compared):
    def bad(table):
        return table.assign(model_a=EVIL, model_b="x\\y{#1}")

    return dataclasses.replace(
        compared,
        pairs=bad(compared.pairs),
        pair_probabilities=bad(compared.pair_probabilities),
        warnings=(f"half of {EVIL}",),
    )


def test_names_are_escaped_and_the_page_stands_alone(compared):
    page = render_comparison(with_evil_names(compared), name=EVIL)
    assert "<b>&" not in page
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    assert not any(tag in ("script", "link", "iframe") for tag, _ in parser.seen)
    assert not any(
        str(attrs.get(key, "")).startswith(("http", "//"))
        for _, attrs in parser.seen
        for key in ("src", "href")
    )
    assert sum(tag == "svg" for tag, _ in parser.seen) == 6


def test_names_are_escaped_in_latex_and_tables_fit(compared):
    texts = latex_files(with_evil_names(compared), name=EVIL)
    assert r"\&" in texts["methods"]
    for text in texts.values():
        assert "_$x" not in text
        assert "‑" not in text  # LaTeX does not know this hyphen
    assert "% wider than the page" not in "".join(
        text for name, text in texts.items() if name != "pairs"
    )


def test_the_claim_stands_first_and_the_biases_are_shown(compared):
    page = render_comparison(compared, name="board")
    words = re.sub(r"<[^>]+>", " ", page)
    assert words.index("cross-fitted plug-in") < words.index("The ladder")
    for bias in ("noisier than the mean", "D grows with noise", "selected on noise"):
        assert bias in words
    assert "nan" not in re.sub(r"\s+", " ", words).split()


def test_the_methods_paragraph_holds_the_numbers_of_the_run(compared):
    said = methods_text(compared, name="board")
    audit = compared.audit
    people = audit.population
    for expected in (
        "of board (120 items of 2 sources",
        (
            f"{len(people)} models of {people['owner'].nunique()} owners in "
            f"{people['family'].nunique()} families"
        ),
        f"{int(people['representative'].sum())} representatives",
        "spectral dimension 1 (halves 0 and 1; given) and keeps the 40 per cent of items",
        f"the {audit.n_eligible} pairs",
        "30 matched random subtests",
        "zero-sum normal prior, standard deviation 1 logit",
        "compared by 24 draws",
        "11 matched random subtests",
        "below 3 points",
        f"neartie {compared.versions['neartie']} (Python {compared.versions['python']}",
        f"PyMC {compared.versions['pymc']}",
        "seed 7.",
    ):
        assert expected in said
    assert "Gibbs" not in said
    assert "bootstrap" not in said


def test_the_methods_paragraph_describes_the_full_posterior_that_was_run(as_full):
    said = methods_text(as_full, name="board")
    for expected in (
        "a scale with a half-normal (0.77) prior",
        "family means zero-sum normal (0.5)",
        "blocked Gibbs sampling",
        "3 chains of 321 tuning draws and 8 kept draws, every 5th of the draws",
        "the largest R-hat was 1.002 and 1.034",
        "512 and 87 in the bulk and 400 and 301 in the tails",
        "converged and not converged",
    ):
        assert expected in said
    assert "standard deviation 1 logit" not in said
    others = dataclasses.replace(
        as_full.settings, engine="nuts", options={"sparse": True, "zero_sum": "families_and_items"}
    )
    said = methods_text(dataclasses.replace(as_full, settings=others), name="board")
    assert "no-U-turn sampler" in said
    assert "regularised horseshoe over items (global scale half-Cauchy 0.1" in said
    assert "sum to zero over families and over items" in said


def test_fits_to_distrust_stand_out(as_full):
    table = comparison_tables.fit_table(as_full)
    assert table.marked == (3,)
    assert table.rows[3][4:7] == ("1.034", "87", "301")
    assert "(not converged, so that this may not be claimed yet)" in " ".join(
        comparison_text(as_full).split()
    )


def test_the_plug_in_alone_has_a_report(compared):
    alone = dataclasses.replace(
        compared,
        settings=ComparisonSettings(rungs=(), draws=24, subtests=11, margin=0.03),
        **{
            name: getattr(compared, name)[getattr(compared, name)["rung"] == "plug-in"]
            for name in ("ladder", "rungs", "pair_probabilities", "calibration")
        },
        pairs=compared.pairs.drop(columns="residual"),
    )
    assert "Pairs</h2>" not in render_comparison(alone, name="board")
    text = comparison_text(alone, name="board")
    assert text.endswith(".")
    assert "contradicts" not in text
    assert set(latex_files(alone, name="board")) == {
        "ladder", "ladder_observed", "ladder_latent", "ladder_predictive", "fits", "methods",
    }  # fmt: skip


def test_all_files_or_none(compared, tmp_path, monkeypatch):
    out = tmp_path / "out"
    (out / "rungs").mkdir(parents=True)
    (out / "rungs" / "full.rung").write_bytes(b"kept")
    monkeypatch.setattr("neartie.report.comparison_files.render_comparison", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_comparison(compared, out, name="board")
    assert [path.name for path in out.iterdir()] == ["rungs"]
    monkeypatch.undo()
    written = write_comparison(compared, out, name="board")
    assert all(path.is_file() for path in written)
    assert (out / "rungs" / "full.rung").read_bytes() == b"kept"
    back = pd.read_csv(out / "ladder.csv")
    pd.testing.assert_frame_equal(back, compared.ladder, check_dtype=False, check_exact=True)
