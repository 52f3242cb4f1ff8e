"""A validation on the terminal, and the words for its design."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from neartie.audits.validation_result import DesignValidation
from neartie.audits.validation_words import held, worded
from neartie.data.wording import printable, true_minus


def validation_text(result: DesignValidation) -> str:
    """Return what a person wants to know, with the seconds that a fit takes.

    Parameters
    ----------
    result : DesignValidation

    Returns
    -------
    str
    """
    return "\n".join(printable(line) for line in _lines(result))


def design_rows(result: DesignValidation) -> Iterator[tuple[str, str]]:
    """Yield what was drawn and fitted, in pairs of name and value."""
    design = result.design
    yield "model", str(design["kind"])
    shape = ", ".join(f"{n:,} {what}" for what, n in design["sizes"].items())
    yield "shape", f"{shape}{', copied from data' if design['copied'] else ''}"
    for name, value in design["options"].items():
        if name != "offset" and value not in (None, False):
            yield name.replace("_", " "), "yes" if value is True else str(value)
    priors = {**design["priors"]}
    yield (
        "priors of the fit",
        ", ".join(f"{name} {_short(value)}" for name, value in priors.items()),
    )
    told = ", ".join(f"{name} {_short(value)}" for name, value in design["truth"].items())
    yield "truths from", f"these priors, but {told}" if told else "these priors"


def median_of(result: DesignValidation) -> Iterator[tuple[str, str]]:
    """Yield how well chains mixed, where there were any."""
    table = result.data_sets
    if table["min_ess"].notna().any():
        ranked = f"effective sample size of {worded(result.ranking)}, median"
        yield ranked, f"{table['ess_ranking'].median():,.0f}"
        smallest = f"{table['min_ess'].median():,.0f}, {table['min_ess'].min():,.0f} at worst"
        yield "smallest effective sample size, median", smallest
    if table["max_rhat"].notna().any():
        largest = f"{table['max_rhat'].median():.3f}, {table['max_rhat'].max():.3f} at worst"
        yield "largest R-hat, median", largest


def _lines(result: DesignValidation) -> Iterator[str]:
    yield result.claim
    yield ""
    rows = result.coverage[result.coverage["level"] == 0.95]
    width = max((len(worded(name)) for name in rows["quantity"]), default=0)
    for row in rows.to_dict("records"):
        yield f"  {worded(str(row['quantity'])):<{width}}  {held(row)}"
    sets = result.ranks[result.ranks["statistic"] == "all_in_sets"]
    if len(sets):
        share = 100 * float(sets["value"].iloc[0])
        low = 100 * float(sets["low"].iloc[0])
        yield f"  joint rank sets held all ranks in {share:.1f}% of data sets (at least {low:.1f}%)"
    yield ""
    yield result.verdict
    seconds = result.seconds["seconds"].to_numpy()
    yield f"A fit took {np.median(seconds):.2g} s, at most {seconds.max():.2g} s."
    for caveat in result.warnings:
        yield f"caveat: {caveat}"


def _short(value: float | None) -> str:
    return "flat" if value is None else true_minus(f"{value:g}")
