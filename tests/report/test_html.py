"""The page: its numbers are the audit's, its names are escaped, its bytes are repeatable."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from neartie.report import tables, tables_background
from neartie.report.html import render_html, write_report
from neartie.report.sentences import answer, headline

VOID = {"meta", "wbr", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects tags, attributes, cells of tables, and text; checks that tags close."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.ids: list[str] = []
        self.cells: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag in ("td", "th"):
            self.cells.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            return
        self.text += data
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def html(audit) -> str:
    return render_html(audit, name="Bench 1")


@pytest.fixture(scope="module")
def page(html) -> Page:
    return Page(html)


@pytest.fixture
def no_figures(monkeypatch):
    """Drawing is most of the time of a page; these tests read its words alone."""
    monkeypatch.setattr("neartie.report.html._figures", lambda audit: {"scores": (), "dif": ()})


def flat(text: str) -> str:
    return " ".join(text.split())


def without_markup(text: str) -> str:
    return flat(text.replace("τ_b", "τb").replace("p_rand", "prand"))


def test_every_table_stands_in_the_page_cell_by_cell(audit, page):
    made = [
        tables.table_1(audit, name="Bench 1"),
        tables.bands(audit),
        tables.fractions(audit),
        tables.reversed_pairs(audit)[0],
        tables_background.population(audit),
        tables_background.excluded(audit),
        tables_background.rounds(audit),
        tables_background.settings(audit),
        tables_background.versions(audit),
    ]
    cells = [without_markup(cell) for cell in page.cells]
    expected = []
    for table in made:
        expected += [column.head for column in table.columns]
        expected += [cell for row in table.rows for cell in row]
    assert cells == [without_markup(cell) for cell in expected]


def test_table_1_has_the_numbers_of_the_audit(audit, page):
    row = audit.band()
    start = page.cells.index("Bench 1")
    k, tau, n, rate, random, excess, p = page.cells[start + 1 : start + 8]
    assert (k, tau, n) == ("4/8", ".912", str(len(audit.pairs)))
    assert float(rate) == pytest.approx(100 * row["rate"], abs=0.05)
    assert float(random) == pytest.approx(100 * row["random_median"], abs=0.05)
    assert float(excess) == pytest.approx(row["excess_pp"], abs=0.05)
    assert float(p) == pytest.approx(row["p_value"], abs=0.0005)


def test_answer_context_and_caveats_are_said(audit, page):
    text = flat(page.text)
    assert without_markup(answer(headline(audit))) in text
    assert text.index("The first caveat.") < text.index("What was asked")
    assert text.index("What was asked") < text.index("The answer") < text.index("Table 1.")
    assert "seed 12345" in text
    assert "neartie, version 9.8.7" in text
    assert "not a confidence interval" in text


def test_page_works_offline_without_scripts(html, page):
    assert not page.tags & {"script", "link", "iframe", "object", "embed", "form"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    for name, value in page.attributes:
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("#", "data:image/png;base64,"))
    assert "@import" not in html
    assert "url(http" not in html


def test_ids_are_unique_and_links_have_a_target(page):
    assert len(page.ids) == len(set(page.ids))
    for name, value in page.attributes:
        if name in ("href", "xlink:href", "aria-labelledby") and not value.startswith("data:"):
            assert value.lstrip("#") in page.ids


def test_ten_panels_are_drawn(html):
    assert html.count("<svg ") == 10


def test_same_audit_gives_the_same_bytes(audit, html, tmp_path):
    path = write_report(audit, tmp_path / "new" / "report.html", name="Bench 1")
    assert path.read_bytes() == html.encode()
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_no_date_and_no_path_stand_in_the_page(html):
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", html)
    assert "/tmp" not in html
    assert "matplotlib" not in html.lower()


def test_hostile_names_are_text_everywhere(audit_hostile, hostile):
    html = render_html(audit_hostile, name=hostile)
    page = Page(html)
    assert "script" not in page.tags
    assert "<script" not in html
    # Title, heading, table, caveat, reason, model, setting, version, family: all as written.
    assert page.text.count("""<script>alert("x")</script> & 'q' $a_b$""") >= 9
    assert f"Caveat about {hostile}." in page.text
    svgs = re.findall(r"<svg .*?</svg>", html, flags=re.DOTALL)
    assert any("&lt;script&gt;alert" in svg for svg in svgs)
    assert any("_hidden $x$" in svg for svg in svgs)


def test_many_caveats_are_split_but_none_is_lost(audit, no_figures):
    caveats = tuple(f"Caveat number {i}." for i in range(7))
    page = Page(render_html(replace(audit, warnings=caveats)))
    assert [page.text.count(caveat) for caveat in caveats] == [1] * 7
    assert "3 more" in page.text


def test_no_caveats_no_box(audit, no_figures):
    assert 'class="warnings"' not in render_html(replace(audit, warnings=()))


def test_report_without_pairs_says_that_the_rate_is_undefined(audit_without_pairs):
    text = flat(Page(render_html(audit_without_pairs)).text)
    assert "The reversal rate is undefined, not zero" in text
    assert "nan" not in text.lower().replace("name", "")
    assert "None." in text
    assert "Figure 1 is left out" in text
    assert "Figure 3 is left out" in text


def test_report_with_a_given_dimension_has_no_loss_curve(audit_given_dimension, no_figures):
    text = flat(Page(render_html(audit_given_dimension)).text)
    assert "Figure 4 is left out: the dimensions K = 4 and 8" in text
    assert "Figure 4. Held-out loss" not in text


def test_report_without_controls_compares_nothing(audit_without_controls, no_figures):
    text = flat(Page(render_html(audit_without_controls)).text)
    assert "without matched random subtests it cannot be said" in text


def test_constant_items_are_mentioned(page):
    assert "In half 0, 2 items were answered alike" in flat(page.text)


def test_reversed_pairs_are_oriented_sorted_and_counted(audit):
    table, rest = tables.reversed_pairs(audit, most=5)
    n_reversed = int(audit.pairs["reversed"].sum())
    assert len(table.rows) + rest == n_reversed
    full = [float(row[3]) for row in table.rows]
    assert full == sorted(full, reverse=True)
    assert all(row[3].startswith("+") and row[4].startswith("−") for row in table.rows)
    everything, none = tables.reversed_pairs(audit, most=10**6)
    assert none == 0
    shuffled = replace(audit, pairs=audit.pairs.sample(frac=1, random_state=1))
    assert tables.reversed_pairs(shuffled, most=10**6)[0].rows == everything.rows


def test_every_model_left_out_is_counted(audit):
    many = audit.excluded.assign(reason=[f"reason {i % 14}" for i in range(len(audit.excluded))])
    table = tables_background.excluded(replace(audit, excluded=many))
    assert sum(int(row[1]) for row in table.rows) == len(audit.excluded)
    assert tables_background.excluded(audit).rows[0][:2] == ("no family name", "6")


def test_report_of_a_real_audit_says_what_its_tables_hold(real_audit):
    page = Page(render_html(real_audit, name="Bench 1"))
    row = real_audit.band()
    start = page.cells.index("Bench 1")
    assert page.cells[start + 1] == "/".join(map(str, real_audit.k))
    assert page.cells[start + 3] == f"{real_audit.n_eligible:,}"
    assert float(page.cells[start + 4]) == pytest.approx(100 * row["rate"], abs=0.05)
    assert float(page.cells[start + 6]) == pytest.approx(row["excess_pp"], abs=0.05)
    text = flat(page.text)
    assert without_markup(answer(headline(real_audit))) in text
    assert all(flat(caveat) in text for caveat in real_audit.warnings)
    assert "nan" not in re.findall(r"[a-z]+", text)


def test_no_model_left_out_is_said_with_its_limit(audit, no_figures):
    text = flat(Page(render_html(replace(audit, excluded=audit.excluded.iloc[:0]))).text)
    assert "Of the models that were given to it, the audit left out none." in text
