"""LaTeX: what stands in a cell is what was in the table, and nothing in it is a command."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.report.latex import (
    escape_latex,
    latex_bands,
    latex_fractions,
    latex_population,
    latex_table_1,
    write_latex,
)

BACK = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
} | {f"\\{mark}": mark for mark in "&%$#_{}"}


def unescape(text: str) -> str:
    pattern = "|".join(re.escape(key) for key in sorted(BACK, key=len, reverse=True))
    return re.sub(pattern, lambda found: BACK[found[0]], text)


@given(st.text(alphabet=st.sampled_from("aé漢 &%$#_{}~^\\<>|"), max_size=30))
def test_escaping_is_undone_by_reading(text):
    assert unescape(escape_latex(text)) == " ".join(text.split())


@given(st.text(max_size=40))
def test_no_special_character_is_left_bare(text):
    bare = re.sub(
        r"\\text(backslash|asciitilde|asciicircum|less|greater|bar)\{\}|\\[&%$#_{}]",
        "",
        escape_latex(text),
    )
    assert not set(bare) & set("&%$#_{}~^\\<>|")
    assert bare.isprintable()


@pytest.mark.parametrize(
    ("mark", "written"),
    [
        ("&", r"\&"),
        ("%", r"\%"),
        ("$", r"\$"),
        ("#", r"\#"),
        ("_", r"\_"),
        ("{", r"\{"),
        ("}", r"\}"),
        ("~", r"\textasciitilde{}"),
        ("^", r"\textasciicircum{}"),
        ("\\", r"\textbackslash{}"),
        ("<", r"\textless{}"),
        (">", r"\textgreater{}"),
        ("|", r"\textbar{}"),
        ("é漢", "é漢"),
        ("a\nb\tc", "a b c"),
    ],
)
def test_each_special_character(mark, written):
    assert escape_latex(mark) == written


def rows(latex: str) -> list[list[str]]:
    body = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    return [line.strip().removesuffix(r" \\").split(" & ") for line in body.strip().splitlines()]


def test_table_1_reads_like_the_paper(audit):
    latex = latex_table_1(audit, name="R&D_50%")
    (row,) = rows(latex)
    assert row[:4] == [r"R\&D\_50\%", "4/8", ".912", str(len(audit.pairs))]
    assert re.fullmatch(r"\$\+\d+\.\d\$", row[6])
    assert r"Benchmark & $K$ & $\tau_b$ & Close $n$" in latex
    assert r"$p_{\mathrm{rand}}$" in latex
    assert latex.count(r"\toprule") == latex.count(r"\midrule") == latex.count(r"\bottomrule") == 1


@pytest.mark.parametrize("make", [latex_table_1, latex_bands, latex_fractions, latex_population])
def test_every_row_has_as_many_cells_as_columns(audit, make):
    latex = make(audit)
    align = re.search(r"\\begin\{tabular\}\{([lr]+)\}", latex)[1]
    assert all(len(row) == len(align) for row in rows(latex))
    assert latex.count("{") - latex.count(r"\{") == latex.count("}") - latex.count(r"\}")
    assert "τ" not in latex
    assert "−" not in latex


def test_bands_hold_minus_and_missing(audit):
    thresholds = audit.thresholds.assign(excess_pp=-0.94)
    latex = latex_bands(replace(audit, thresholds=thresholds))
    assert "$-0.9$" in latex
    assert rows(latex)[0][4:6] == ["--", "--"]
    assert "not a confidence interval" in latex


def test_files_are_written_with_hostile_names_escaped(audit_hostile, hostile, tmp_path):
    files = write_latex(audit_hostile, tmp_path, name=hostile)
    assert [file.relative_to(tmp_path).as_posix() for file in files] == [
        "tables/near_tie.tex",
        "tables/bands.tex",
        "tables/fractions.tex",
        "tables/population.tex",
    ]
    for file in (files[0], files[3]):
        text = file.read_text(encoding="utf-8").replace(r"\allowbreak{}", "")
        assert escape_latex(hostile) in text
    assert sorted(p.name for p in (tmp_path / "tables").iterdir()) == sorted(f.name for f in files)
