"""A comparison as plain text for a terminal: one row a rung, and what may be claimed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from neartie.audits.comparison import Comparison
from neartie.audits.comparison_claim import difference_words
from neartie.audits.comparison_settings import PLUG_IN
from neartie.data.wording import printable
from neartie.report.comparison_pair_tables import pair_counts
from neartie.report.comparison_tables import key_table
from neartie.report.comparison_words import headline_words, margin_words
from neartie.report.formatting import is_missing, plural, signed
from neartie.report.table import Column, Table
from neartie.report.tables import DEFAULT_NAME
from neartie.report.text import WARNINGS_SHOWN, grid, wrapped

_SHORT: Final = {
    "plug-in": "plug",
    "inclusion": "incl",
    "observed": "obs",
    "latent": "lat",
    "predictive": "pred",
    " × ": "×",
}
_CONVERGED: Final = {"yes": "yes", "no": "no", "not assessed": "?"}


def comparison_text(compared: Comparison, *, name: str = DEFAULT_NAME) -> str:
    """Return a short plain text: caveats, the ladder, verdicts in words, the claim.

    Parameters
    ----------
    compared : Comparison
    name : str
        Of the benchmark.

    Returns
    -------
    str
        Ends without a line break.
    """
    shown = compared.warnings[:WARNINGS_SHOWN]
    parts = [wrapped(f"Warning: {printable(warning)}") for warning in shown]
    if len(compared.warnings) > len(shown):
        rest = plural(len(compared.warnings) - len(shown), "more caveat")
        parts.append(f"({rest} in the report)")
    parts.append(
        f"{printable(name)}: reversal rates of near ties in per cent, anchors×scores\n"
        + grid(_short_ladder(compared))
    )
    verdicts = rung_verdicts(compared)
    if verdicts:
        said = "\n".join(wrapped(f"- {sentence}") for sentence in verdicts)
        margin = margin_words(compared.settings.margin)
        parts.append(f"{headline_words(compared)}, with a margin of {margin}:\n{said}")
        parts.append(wrapped(pair_counts(compared)))
    parts.append(wrapped(compared.claim()))
    return "\n\n".join(parts)


def rung_verdicts(compared: Comparison) -> list[str]:
    """Return in words, rung by rung, how the headline cell stands to the plug-in."""
    said = []
    for rung in compared.settings.ladder:
        if rung == PLUG_IN:
            continue
        row: Mapping[str, Any] = {str(key): value for key, value in compared.row(rung).items()}
        words = difference_words(row, compared.settings.margin)
        words = words or "no interval, for fixed anchors on observed answers"
        said.append(f"{rung}: {words}{excess_words(row)}")
    return said


def excess_words(row: Mapping[str, Any]) -> str:
    """Return the excess of a row of the ladder with its interval, after a comma, or nothing."""
    if is_missing(row["excess_pp"]):
        return ""
    said = f", {signed(row['excess_pp'])} points over random"
    if is_missing(row["excess_low"]):
        return said
    return f"{said} ({signed(row['excess_low'])} to {signed(row['excess_high'])})"


def _short_head(head: str) -> str:
    for long, short in _SHORT.items():
        head = head.replace(long, short)
    return head


def _short_ladder(compared: Comparison) -> Table:
    """Return the table in short, with convergence and seconds in place of intervals."""
    whole = key_table(compared)
    fits = compared.rungs.groupby("rung")
    rows = []
    for rung, row in zip(compared.settings.ladder, whole.rows, strict=True):
        own = fits.get_group(rung)
        states = [_CONVERGED.get(str(state), "?") for state in own["converged"]]
        rates = [cell.split(" ")[0] for cell in row[1:-2]]
        converged = "/".join(dict.fromkeys(states))
        rows.append((rung, *rates, row[-2].split(" ")[0], converged, f"{own['seconds'].max():.0f}"))
    heads = [_short_head(column.head) for column in whole.columns[1:-2]]
    return Table(
        caption=whole.caption,
        columns=(
            Column(head="rung", numeric=False),
            *(Column(head=head) for head in heads),
            Column(head="excess"),
            Column(head="conv."),
            Column(head="s"),
        ),
        rows=tuple(rows),
        marked=whole.marked,
    )
