"""Figures, text and files of estimates beside a posterior: numbers, escaping, what is said."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib import pyplot

from neartie.audits.compare_estimates import compare_estimates
from neartie.data.battles import Battles
from neartie.data.responses import Responses
from neartie.inference.bradley_terry import fit_bradley_terry
from neartie.report import estimates_figures, estimates_tables
from neartie.report.estimates_files import write_estimates
from neartie.report.estimates_html import render_estimates
from neartie.report.estimates_text import estimates_answer, estimates_text

HOSTILE = "<script>alert($x_1$)</script>"


def draws_around(mean, sd, *, seed, n=4000):
    rng = np.random.default_rng(seed)
    return (mean + sd * rng.standard_normal((n, len(mean)))).reshape(4, -1, len(mean))


@pytest.fixture(scope="module")
def of_battles():
    """Five models; the posterior is twice as wide as estimates are, and moved for one model."""
    names = [HOSTILE, "ant", "bee", "cat", "dog"]
    rng = np.random.default_rng(2)
    rows = []
    for i in range(5):
        for j in range(i + 1, 5):
            p = 1 / (1 + np.exp(0.5 * (i - j)))
            rows += [(names[i], names[j], "a" if rng.random() < p else "b") for _ in range(15)]
    battles = Battles.build(*map(list, zip(*rows, strict=True)))
    fit = fit_bradley_terry(battles, phantom_wins=0)
    mean = fit.within + np.where(np.array(fit.models) == "bee", -0.6, 0.0)
    posterior = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {"strength": (("chain", "draw", "model"), draws_around(mean, 2 * fit.se, seed=1))},
                coords={"model": list(fit.models)},
            )
        }
    )
    return compare_estimates(battles, posterior=posterior)


@pytest.fixture(scope="module")
def of_answers():
    rng = np.random.default_rng(3)
    logit = rng.normal(size=(1, 6)) - rng.normal(size=(20, 1))
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    values[:, 0], values[0] = np.arange(20) % 2, [0, 1, 0, 1, 0, 1]
    answers = Responses.build(
        values, items=[f"q{i}" for i in range(20)], models=[f"m{m}" for m in range(6)]
    )
    accuracy = values.mean(axis=1)
    kept = (accuracy > 0) & (accuracy < 1)
    n = int(kept.sum())
    posterior = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {
                    "ability": (
                        ("chain", "draw", "model"),
                        draws_around(np.linspace(-1, 1, 6), 0.5, seed=4),
                    ),
                    "difficulty": (
                        ("chain", "draw", "item"),
                        draws_around(np.zeros(n), 0.7, seed=5),
                    ),
                    "log_discrimination": (
                        ("chain", "draw", "item"),
                        draws_around(np.zeros(n), 0.5, seed=6),
                    ),
                },
                coords={
                    "model": answers.model_ids,
                    "item": np.array(answers.item_ids)[kept].tolist(),
                },
            )
        }
    )
    return compare_estimates(answers, posterior=posterior)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def test_twins_are_drawn_once(of_battles):
    assert estimates_tables.distinct_estimators(of_battles) == [
        "newton-ml", "newton-phantom", "newton-prior",
    ]  # fmt: skip


def test_figures_show_the_tables(of_battles):
    table = estimates_figures.error_table(of_battles)
    assert len(table) == 6
    ratios, masses = estimates_figures.plot_errors(of_battles)
    assert ratios.lines[1].get_xdata() == pytest.approx(table["se_ratio"])
    assert masses.lines[1].get_xdata() == pytest.approx(100 * table["mass"])
    ax = estimates_figures.plot_estimates(of_battles, "newton-ml")
    mine = of_battles.models[of_battles.models["estimator"] == "newton-ml"].drop_duplicates("model")
    dots = next(line for line in ax.lines if line.get_marker() == "o")
    assert dots.get_ydata() == pytest.approx(mine["estimate"])
    pairs = estimates_tables.shown_pairs(of_battles)
    ax = estimates_figures.plot_changed(of_battles)
    shown = next(line for line in ax.lines if line.get_label() == "posterior")
    first = estimates_tables.first_pairs(pairs, most=estimates_figures.MOST_PAIRS)
    assert shown.get_xdata() == pytest.approx(first["posterior_difference"])


@pytest.mark.parametrize(
    ("certain", "close", "most", "shown"),
    [(3, 20, 25, 8), (30, 5, 25, 25), (0, 2, 25, 2), (12, 3, 25, 12), (3, 9, 5, 5)],
)
def test_close_pairs_only_fill_up(certain, close, most, shown):
    pairs = pd.DataFrame({"close": [0] * certain + [1] * close})
    assert len(estimates_tables.first_pairs(pairs, most=most)) == shown


def test_each_pair_is_shown_once_with_all_it_changes_under(of_battles):
    pairs = estimates_tables.shown_pairs(of_battles)
    assert not pairs.duplicated(["model_a", "model_b", "change", "close"]).any()
    assert pairs["close"].is_monotonic_increasing
    drawn = of_battles.pairs[
        of_battles.pairs["estimator"].isin(estimates_tables.distinct_estimators(of_battles))
    ]
    assert sum(len(text.split("), ")) for text in pairs["by"]) == len(drawn)


def test_nothing_changes(of_battles):
    same = replace(of_battles, pairs=of_battles.pairs.iloc[:0])
    ax = estimates_figures.plot_changed(same)
    assert ax.texts[0].get_text() == "No pair gets another verdict."
    assert "Which pairs, and why" not in render_estimates(same, name="x")


def test_the_answer_names_what_holds(of_battles, of_answers):
    answer = estimates_answer(of_battles)
    assert answer.startswith("With se, all intervals hold less than they say.")
    assert "No rank is more than" in answer
    mixed = of_battles.estimators.copy()
    mixed.loc[mixed["estimator"] == "newton-ml", "verdict"] = "hold"
    answer = estimates_answer(replace(of_battles, estimators=mixed))
    assert answer.startswith(
        "With se, intervals of newton-ml hold, those of mm-ml, newton-phantom, mm-phantom and "
        "newton-prior hold less than they say."
    )
    text = estimates_text(of_answers)
    assert max(map(len, text.splitlines())) <= 80
    assert "map-mode-unit, log discrimination\n" in text


@pytest.fixture(scope="module")
def folder(of_battles, of_answers, tmp_path_factory):
    """Where the comparison of answers was written first, and that of battles over it."""
    place = tmp_path_factory.mktemp("written")
    first = write_estimates(of_answers, place, name="exam")
    page = (place / "report.html").read_text(encoding="utf-8")
    second = write_estimates(of_battles, place, name=HOSTILE)
    return place, first, second, page


def test_the_page_is_whole_and_safe(folder):
    place, _, _, other = folder
    page = (place / "report.html").read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    assert "Not drawn, for the same numbers: mm-ml, mm-phantom." in page
    assert "http" not in page.replace("http://www.w3.org/", "")
    assert "Point estimates of items" not in page
    assert "Point estimates of items" in other
    assert "in the unit of the posterior" in other


def test_files(of_battles, folder):
    place, first, second, _ = folder
    names = {"summary.json", "estimators.csv", "models.csv", "pairs.csv", "report.html"}
    names |= {"tables/errors.tex", "tables/agreement.tex"}
    assert {p.relative_to(place).as_posix() for p in first} == names | {"items.csv"}
    assert {p.relative_to(place).as_posix() for p in second} == names
    assert not (place / "items.csv").exists()
    summary = json.loads((place / "summary.json").read_text())
    assert summary["n_models"] == 5
    assert summary["n_pairs_changed"] == len(of_battles.pairs)
    assert summary["estimators"][0]["sentence"].startswith("newton-ml with se, strength: ")
    table = pd.read_csv(place / "models.csv")
    assert table["se_ratio"].to_numpy() == pytest.approx(of_battles.models["se_ratio"])
    assert HOSTILE in set(table["model"])
