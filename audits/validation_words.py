"""What may be said of a validation, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from neartie.audits.few_data_sets import ENOUGH, too_few_words
from neartie.data.wording import counted, true_minus
from neartie.inference.expected_scores import FIXED_ABILITIES

# Positions of truths among draws that follow each other look too narrow.
MOST_CORRELATED: Final = 0.1
APART: Final = 1.05
FEWEST: Final = 100
_POWER: Final = 4.0

_PLURAL: Final = {
    "ability": "abilities",
    "strength": "strengths",
    "expected_score": "expected scores",
    "difficulty": "difficulties",
    "log_discrimination": "log discriminations",
    "discrimination": "discriminations",
    "easiness": "easiness",
    "dif": "family effects",
    "dif_range": "ranges of family effects (D)",
    "linear_predictor": "logits",
    "judge_effect": "judge effects",
    "rank": "ranks",
    "log_likelihood": "log-likelihood",
    "ability_scale": "scale of abilities",
    "difficulty_mean": "mean difficulty",
    "difficulty_scale": "scale of difficulties",
    "log_discrimination_mean": "mean log discrimination",
    "log_discrimination_scale": "scale of log discriminations",
    "family_mean": "family means of ability",
    "dif_scale": "scale of family effects",
    "loading_scale": "scale of loadings",
    "easiness_mean": "mean easiness",
    "easiness_scale": "scale of easiness",
    "strength_scale": "scale of strengths",
    "covariate_effect": "effects of covariates",
    "log_tie": "parameter of ties",
    "first_shown_effect": "advantage of the first shown",
    "judge_first_shown": "judges' advantages of the first shown",
    "judge_first_shown_scale": "scale of judges' advantages",
    "judge_strength_scale": "scale of judge effects",
}


def worded(quantity: str) -> str:
    """Return what a quantity is called in a sentence.

    Examples
    --------
    >>> worded("ability"), worded("ability difference"), worded("P(i above j)")
    ('abilities', 'differences of abilities', 'P(i above j)')
    """
    name, _, what = quantity.partition(" ")
    plural = _PLURAL.get(name, name)
    return f"differences of {plural}" if what == "difference" else plural if not what else quantity


def claim(coverage: pd.DataFrame, ranking: str, *, n_data_sets: int) -> str:
    """Return the sentence that may be claimed of what ranks models.

    Parameters
    ----------
    coverage : DataFrame
    ranking : str
    n_data_sets : int
        That were fitted.
    """
    rows = coverage[(coverage["quantity"] == ranking) & (coverage["level"] == 0.95)]
    if rows.empty:
        return f"No interval of {worded(ranking)} could be judged."
    row = rows.iloc[0]
    few = "" if n_data_sets >= ENOUGH else ", which are too few to judge by"
    return (
        f"95% intervals of {worded(ranking)} held {held(row)} of truths in "
        f"{counted(n_data_sets, 'simulated data set')} of this design{few}."
    )


def held(row: Mapping[Any, Any] | pd.Series) -> str:
    """Return a coverage with its standard error, or with its limits where that would mislead.

    Parameters
    ----------
    row : mapping
        Of `coverage`. Of few data sets, or of equal shares, the standard error says little.

    Examples
    --------
    >>> held({"covered": 0.9461, "se": 0.005, "low": 0.93, "high": 0.96})
    '94.6 ± 0.5%'
    >>> held({"covered": 1.0, "se": float("nan"), "low": 0.912, "high": 1.0})
    '100.0% (at least 91.2%)'
    >>> held({"covered": 0.9, "se": 0.1, "low": 0.112, "high": 1.0, "n_data_sets": 2})
    '90.0% (11.2 to 100.0%)'
    """
    share = f"{100 * row['covered']:.1f}"
    if row.get("n_data_sets", ENOUGH) < ENOUGH and 0 < row["covered"] < 1:
        return f"{share}% ({100 * row['low']:.1f} to {100 * row['high']:.1f}%)"
    if row["se"] > 0 and row.get("n_data_sets", ENOUGH) >= ENOUGH:
        return f"{share} ± {100 * row['se']:.1f}%"
    if row["covered"] < 0.5:
        return f"{share}% (at most {100 * row['high']:.1f}%)"
    return f"{share}% (at least {100 * row['low']:.1f}%)"


def verdict(
    quantities: pd.DataFrame,
    coverage: pd.DataFrame,
    ranking: str,
    *,
    n_data_sets: int,
    matched: bool,
    alpha: float,
) -> str:
    """Return what the tests of positions and coverage say, or that there are too few data sets.

    Parameters
    ----------
    quantities, coverage : DataFrame
    ranking : str
        The quantity that ranks models.
    n_data_sets : int
        That were fitted.
    matched : bool
        Whether truths come from the priors of the fit.
    alpha : float in (0, 1)
        Chance that a calibrated engine has any row of a table below it.
    """
    tested = quantities[quantities["p_adjusted"].notna()]
    if few := too_few_words(n_data_sets, "data set"):
        parts = [few]
    else:
        parts = [_positions(tested, alpha)] if len(tested) else []
        parts.append(_coverage(coverage, ranking, alpha))
    if not matched:
        parts.append(
            "Truths came from other priors than the fit believes in, so that departures show what "
            "this costs, not an error of the engine."
        )
    return " ".join(parts)


def notices(quantities: pd.DataFrame, data_sets: pd.DataFrame, *, kind: str) -> tuple[str, ...]:
    """Return caveats, worst first."""
    found = []
    failed = data_sets[data_sets["failed"] != ""]
    if len(failed):
        reason = failed["failed"].value_counts().index[0]
        found.append(
            f"{len(failed):,} of {len(data_sets):,} data sets have no fit and are left out, so that "
            f"the rest is a selection; most often: {reason}"
        )
    unconverged = int((data_sets["converged"] == 0).sum())
    if unconverged:
        found.append(f"the estimates of {counted(unconverged, 'data set')} did not converge")
    divergent = int((data_sets["n_divergent"] > 0).sum())
    if divergent:
        found.append(
            f"transitions diverged in {counted(divergent, 'data set')}: raise target_accept"
        )
    apart = int((data_sets["max_rhat"] > APART).sum())
    if apart:
        found.append(
            f"chains do not agree in {counted(apart, 'data set')} (R-hat above {APART}): sample longer"
        )
    short = int((data_sets["min_ess"] < FEWEST).sum())
    if short:
        found.append(
            f"the smallest effective sample size is below {FEWEST} in "
            f"{counted(short, 'data set')}: the limits of some intervals are rough"
        )
    high = quantities[quantities["autocorrelation"] > MOST_CORRELATED]
    if len(high):
        worst = high.iloc[int(np.argmax(high["autocorrelation"]))]
        found.append(
            f"draws that positions are taken among follow each other (autocorrelation "
            f"{worst['autocorrelation']:.2f} of {worst['quantity']}), so that a right engine looks "
            "too narrow: thin more"
        )
    lost = quantities[quantities["missing"] > 0]
    found.extend(
        f"{100 * row['missing']:.1f}% of {worded(str(row['quantity']))} have no finite interval and "
        "are left out"
        for row in lost.to_dict("records")
    )
    if kind == "residual-dif":
        found.append(f"the offset is taken as known and true: {FIXED_ABILITIES}")
    return tuple(found)


def _positions(tested: pd.DataFrame, alpha: float) -> str:
    off = tested[tested["p_adjusted"] < alpha]
    smallest = float(tested["p_adjusted"].min())
    if off.empty:
        return (
            f"Nothing tested departs from calibration ({counted(len(tested), 'row')}, smallest "
            f"adjusted p {smallest:.2g})."
        )
    return (
        f"Not calibrated: {len(off):,} of {counted(len(tested), 'row')} depart (adjusted p below "
        f"{alpha:g}), "
        + "; ".join(_departure(row) for row in off.sort_values("p").head(4).to_dict("records"))
        + ("; and more." if len(off) > 4 else ".")
    )


def _departure(row: Mapping[Any, Any]) -> str:
    """Return in which way a quantity departs."""
    name = str(row["quantity"])
    if not np.isnan(row["slope"]):
        word = "too sure" if row["slope"] < 1 else "too careful"
        slope = true_minus(f"{row['slope']:.2f}")
        return f"{name} {word} (slope {slope} ± {row['slope_se']:.2f})"
    wide = abs(row["spread"] - 1) / max(row["spread_se"], 1e-12)
    shift = abs(row["mean_position"] - 0.5) / max(row["mean_position_se"], 1e-12)
    if max(wide, shift) < 2:
        return f"{worded(name)} in shape"
    if wide >= shift:
        word = "too narrow" if row["spread"] > 1 else "too wide"
        return f"{worded(name)} {word} (spread {row['spread']:.2f} ± {row['spread_se']:.2f})"
    word = "too low" if row["mean_position"] > 0.5 else "too high"
    return f"{worded(name)} {word} (mean position {row['mean_position']:.2f})"


def _coverage(coverage: pd.DataFrame, ranking: str, alpha: float) -> str:
    rows = coverage[coverage["level"] == 0.95]
    if rows.empty:
        return "No interval could be judged."
    # Bonferroni's bound over quantities, and the limits where nothing varies
    far = (rows["p"] * len(rows) < alpha) & ((rows["low"] > 0.95) | (rows["high"] < 0.95))
    off = rows[far]
    if off.empty:
        return (
            f"95% intervals of all {len(rows):,} quantities agree with 95% within Monte Carlo error"
            f"{_power(rows, ranking)}."
        )
    told = [f"{worded(str(row['quantity']))} {held(row)}" for row in off.to_dict("records")]
    more = f"; and {len(told) - 4} more" if len(told) > 4 else ""
    return f"95% intervals that do not hold 95%: {'; '.join(told[:4])}{more}."


def _power(rows: pd.DataFrame, ranking: str) -> str:
    """Return what coverage of the intervals that matter would most likely have shown."""
    own = rows[rows["quantity"] == ranking]
    if own.empty:
        return ""
    # the errors that a test of a few rows, and a chance of four in five to pass it, take
    least = 100 * (0.95 - _POWER * float(own["se"].iloc[0]))
    if not least > 0:
        return ""
    return f" (for {worded(ranking)}, one below {least:.0f}% would most likely have shown)"
