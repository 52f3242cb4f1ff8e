"""Point estimates beside a posterior in sentences, and as plain text for a terminal."""

from __future__ import annotations

import textwrap
from typing import Final

from neartie.audits.estimates_result import EstimateComparison, rule_of
from neartie.audits.point_estimates import OVER_MODELS
from neartie.data.wording import printable
from neartie.report.formatting import count, decimal, percent

WIDTH: Final = 80
_SAID: Final = {
    "hold": "hold",
    "hold less": "hold less than they say",
    "hold more": "hold more than they say",
    "cannot say": "cannot be judged",
}
_SHORT: Final = {"hold": "yes", "hold less": "less", "hold more": "more", "cannot say": "?"}


def estimates_answer(found: EstimateComparison) -> str:
    """Return which printed intervals hold, in a few sentences.

    Parameters
    ----------
    found : EstimateComparison

    Returns
    -------
    str
    """
    table = found.estimators[found.estimators["quantity"].isin(OVER_MODELS)]
    parts = []
    for se_name, rows in table.groupby("se_name", sort=False):
        said = []
        for verdict, words in _SAID.items():
            names = rows.loc[rows["verdict"] == verdict, "estimator"].tolist()
            if len(names) == len(rows):
                said.append(f"all intervals {words}")
            elif names:
                said.append(f"{'those' if said else 'intervals'} of {_joined(names)} {words}")
        parts.append(f"With {se_name}, {', '.join(said)}.")
    if table["tau_b"].notna().any():
        shift = int(table["largest_rank_shift"].max())
        parts.append(
            "All put the models in the posterior's order."
            if shift == 0
            else f"No rank is more than {count(shift)} away from the posterior's."
        )
    return " ".join(parts)


def estimates_text(found: EstimateComparison) -> str:
    """Return a short plain text: caveats, table, one sentence an estimator, the rule.

    Parameters
    ----------
    found : EstimateComparison

    Returns
    -------
    str
        Ends without a line break.
    """
    parts = [_wrapped(f"Warning: {printable(text)}") for text in found.warnings]
    parts.append(_wrapped(estimates_answer(found)))
    lines = [f"{'SE ratio':>8} {'held':>6} {'pairs':>6} {'off':>5} {'changed':>7} {'hold':>4}  of"]
    for row in found.estimators.to_dict("records"):
        over = row["quantity"] in OVER_MODELS
        what = row["se_name"] if over else row["quantity"].replace("_", " ")
        lines.append(
            f"{decimal(row['se_ratio'], digits=2):>8} {percent(row['mass']) + '%':>6} "
            f"{percent(row['pair_mass']) + '%' if over else '':>6} "
            f"{decimal(row['bias_rms_sd'], digits=2):>5} "
            f"{count(row['n_changed']) if over else '':>7} {_SHORT[row['verdict']]:>4}  "
            f"{row['estimator']}, {what}"
        )
    parts.append("\n".join(lines))
    parts.append(
        _wrapped(
            f"The rule: {rule_of(found.level)}. Off: root mean square of estimate minus posterior "
            "mean, in posterior standard deviations. Pairs: held by intervals of differences; "
            "changed: how many get another verdict."
        )
    )
    return "\n\n".join(parts)


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False))
