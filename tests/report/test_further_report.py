"""What the report says of further checks: rules of the sentences, sections only where asked for."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.control_comparison import ControlComparison
from neartie.audits.further_checks import FurtherChecks
from neartie.audits.replication_families import FamilyReplication
from neartie.report.further_sentences import family_replication_sentence, permuted_answer
from neartie.report.html import render_html
from neartie.report.latex import latex_table_1
from neartie.report.section import Section, numbered
from neartie.report.tables import table_1


def compared(**excess_and_p):
    """Checks whose controls have these excesses (points) and p values."""
    names = {"random": "matched random", "permuted": "permuted families"}
    names["profile"] = "matched on profile"
    rows = [
        {
            "control": names[name],
            "rate": 0.5,
            "median": 0.5 - excess / 100,
            "low": 0.3,
            "high": 0.5,
            "excess_pp": excess,
            "p_value": p,
            "n": 99,
            "n_undefined": 0,
        }
        for name, (excess, p) in excess_and_p.items()
    ]
    rates = pd.DataFrame({"control": [names[n] for n in excess_and_p], "replicate": 0, "rate": 0.4})
    return FurtherChecks(
        controls=ControlComparison(table=pd.DataFrame(rows), rates=rates, settings={})
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"random": (9.0, 0.001), "permuted": (8.0, 0.01)}, "more reversals than flat items alone"),
        ({"random": (9.0, 0.001), "permuted": (1.0, 0.3)}, "flatter than other items"),
        ({"random": (9.0, 0.001), "permuted": (-1.0, 0.7)}, "flatter than other items"),
        ({"random": (1.0, 0.4), "permuted": (1.0, 0.4)}, "no reliable excess over either"),
        (
            {"random": (1.0, 0.4), "permuted": (1.0, 0.4), "profile": (0.5, 0.5)},
            "no reliable excess over it either",
        ),
        (
            {"random": (9.0, 0.01), "permuted": (8.0, 0.01), "profile": (7.0, 0.02)},
            "are unlikely to be all of it",
        ),
        (
            {"random": (9.0, 0.01), "permuted": (8.0, 0.01), "profile": (2.0, 0.2)},
            "abilities in which families differ may be behind",
        ),
    ],
)
def test_the_excess_over_permuted_labels_is_put_in_words(found, words):
    assert words in permuted_answer(compared(**found))


def test_nothing_is_said_of_controls_that_were_not_made():
    assert permuted_answer(FurtherChecks()) == ""


def test_the_excess_over_permuted_labels_stands_wherever_the_headline_does(audit):
    checks = compared(random=(9.0, 0.001), permuted=(8.04, 0.012))
    page = render_html(audit, checks=checks)
    assert page.count("the excess over them is +8.0 points") == 2
    assert "Over permuted (pp)" in page
    assert "$+8.0$ & .012" in latex_table_1(audit, permuted=checks.control())
    assert len(table_1(audit).columns) + 2 == len(table_1(audit, permuted=checks.control()).columns)


def beside_families(*p_values):
    rows = [
        {"statistic": name, "value": 0.3, "chance": 0.2, "p_value": p}
        for name, p in zip(("median_rho", "overlap", "agreement"), p_values, strict=True)
    ]
    table = pd.DataFrame(rows).assign(chance_low=0.1, chance_high=0.3, n_undefined=0)
    return FamilyReplication(
        table=table, permutations=pd.DataFrame(), settings={"permutations": 99}
    )


def test_replication_beside_permuted_families_names_what_exceeds_them():
    said = family_replication_sentence(beside_families(0.01, 0.2, 0.05))
    assert "the overlap is 30.0% against 20.0% (p = .200) and the agreement" in said
    assert "What exceeds it (the correlation and the agreement) points to families" in said
    none = family_replication_sentence(beside_families(0.2, 0.2, np.nan))
    assert "agreement" not in none
    assert "None reliably exceeds it" in none
    few = beside_families(0.2, 0.2, 0.2)
    few.settings["permutations"] = 9
    assert "With 9 permutations p cannot come below 0.1" in family_replication_sentence(few)
    undefined = family_replication_sentence(beside_families(np.nan, np.nan, np.nan))
    assert undefined == "Under permuted families no statistic could be compared."


def test_a_page_without_checks_has_no_word_of_them(audit):
    page = render_html(audit)
    assert page == render_html(audit, checks=FurtherChecks())
    assert "permuted" not in page


def test_figures_and_tables_are_numbered_on():
    tables = (table_1_stub(), table_1_stub())
    one, two = numbered(
        [Section(key="a", title="A", tables=tables), Section(key="b", title="B", tables=tables)],
        table=7,
    )
    assert [n for n, _ in one["tables"]] == [8, 9]
    assert [n for n, _ in two["tables"]] == [10, 11]


def table_1_stub():
    from neartie.report.table import Column, Table

    return Table(caption="c", columns=(Column(head="h"),), rows=(("1",),))
