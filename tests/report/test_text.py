"""The terminal's text: 80 columns, the audit's numbers, no control characters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from neartie.report.sentences import answer, headline
from neartie.report.text import WIDTH, audit_text, terminal_table


def printed(audit, **options) -> str:
    console = Console(width=WIDTH)
    with console.capture() as capture:
        console.print(terminal_table(audit, **options))
    return capture.get()


@pytest.mark.parametrize(
    "kind",
    [
        "audit",
        "audit_without_pairs",
        "audit_given_dimension",
        "audit_without_controls",
        "audit_hostile",
        "real_audit",
    ],
)
def test_text_fits_eighty_columns(kind, request, hostile):
    text = audit_text(request.getfixturevalue(kind), name=hostile)
    assert max(cell_len(line) for line in text.splitlines()) <= WIDTH
    assert all(line == line.rstrip() for line in text.splitlines())


def test_text_holds_answer_row_bands_and_caveats(audit):
    text = audit_text(audit, name="Bench 1")
    flat = " ".join(text.split())
    row = audit.band()
    assert answer(headline(audit)) in flat
    assert flat.startswith("Warning: The first caveat. Warning: The second caveat.")
    assert flat.endswith(answer(headline(audit)))
    assert f"Bench 1 4/8 .912 {len(audit.pairs)} {100 * row['rate']:.1f}" in flat
    assert f"> 1 {len(audit.pairs)} {100 * row['rate']:.1f}" in flat
    assert "not a confidence interval" in flat


def test_long_lists_of_caveats_end_with_a_count(audit):
    text = audit_text(replace(audit, warnings=tuple(f"Caveat {i}." for i in range(9))))
    assert text.count("Warning:") == 4
    assert "5 more caveats" in text


def test_control_characters_do_not_reach_the_terminal(audit):
    nasty = replace(audit, warnings=("red \x1b[31m alert",))
    for text in (audit_text(nasty, name="a\x1b[2Jb"), printed(nasty, name="a\x1b[2Jb")):
        assert "\x1b" not in text


def test_brackets_in_names_are_not_markup(audit):
    assert "[red]x[/red]" in printed(audit, name="[red]x[/red]")


def test_terminal_table_holds_every_band(audit):
    text = printed(audit, name="Bench 1")
    for row in audit.thresholds.dropna().to_dict("records"):
        assert f"{100 * row['rate']:.1f}" in text
