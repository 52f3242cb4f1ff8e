"""LaTeX tables fit the page of an article: by estimate everywhere, by LaTeX where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neartie.report.latex import latex_bands, latex_table, latex_table_1
from neartie.report.latex_width import broken_head, lay_out, text_width
from neartie.report.table import Column, Table

WORDS = st.lists(st.text(alphabet="abcXY(%)", min_size=1, max_size=9), min_size=1, max_size=6)


@given(WORDS, st.floats(0, 200))
def test_a_broken_head_keeps_its_words_and_the_width(words, width):
    lines = broken_head(" ".join(words), width)
    assert " ".join(lines) == " ".join(words)
    limit = max(width, *(text_width(word) for word in words), 0)
    assert all(text_width(line) <= limit + 1e-9 for line in lines)


def wide(n_numbers, *, remark=""):
    numbers = tuple(Column(head=f"Number {i} of them (pp)") for i in range(n_numbers))
    text = (Column(head="Name", numeric=False),)
    last = (Column(head="Remark", numeric=False, long=True),) if remark else ()
    row = ("a_model/of-some_name", *("12.3",) * n_numbers, *((remark,) if remark else ()))
    return Table(caption="Wide", columns=(*text, *numbers, *last), rows=(row, row))


def test_what_fits_is_left_as_it_is():
    layout = lay_out(wide(1))
    assert (layout.size.command, layout.widths, layout.fits) == ("", (None, None), True)
    assert r"Name & Number 0 of them (pp) \\" in latex_table(wide(1), label="tab:x")


def test_heads_are_broken_before_letters_shrink_and_text_is_broken_last():
    assert lay_out(wide(3)).size.command == ""
    assert lay_out(wide(3)).heads[1] == ("Number", "0 of", "them", "(pp)")
    assert lay_out(wide(5)).size.command == r"\small"
    layout = lay_out(wide(4, remark="a sentence that says at some length what is wrong " * 3))
    assert layout.widths[-1] is not None
    assert layout.widths[:-1] == (None,) * 5
    assert layout.fits


def test_a_table_that_cannot_fit_says_so():
    assert not lay_out(wide(20)).fits
    assert "wider than the page" in latex_table(wide(20), label="tab:x")
    assert "wider than the page" not in latex_table(wide(3), label="tab:x")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_latex_agrees(audit, tmp_path):
    permuted = {"excess_pp": -12.3, "p_value": 0.0123}
    remark = "half 0 has 1 family of at least 15 models (org/some_model_name:v2): 2 are needed"
    made = [
        latex_table_1(audit, name="a_benchmark_of_a_long_name", permuted=permuted),
        latex_bands(audit),
        *(latex_table(wide(n), label=f"tab:{n}") for n in range(7)),
        *(latex_table(wide(n, remark=remark), label=f"tab:r{n}") for n in range(7)),
    ]
    text = "\n".join(part.replace("\\begin{table}", "\\begin{table}[p]") for part in made)
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\n\\extrafloats{30}\n"
        f"\\begin{{document}}\n{text}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    ran = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert not re.findall(r"^! .*", ran.stdout, re.MULTILINE)
    assert not re.findall(r"Overfull \\hbox \(.*", ran.stdout)
