"""Which pairs a point engine and a posterior judge differently, and why."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from neartie.audits.point_estimates import PrintedEstimates
from neartie.audits.rank_pairs import Comparison
from neartie.data.wording import true_minus

type Floats = NDArray[np.float64]
type Flags = NDArray[np.bool_]
type Signs = NDArray[np.int8]

#: How a verdict may differ, worst first.
CHANGES: Final = ("opposite", "estimate_alone", "posterior_alone", "reversed")
#: What accounts for it.
CAUSES: Final = ("se", "estimate", "either", "both", "shape")
#: Further from 1 than this, a ratio is worth a word.
_SAME: Final = 0.02


def verdicts(found: Comparison) -> Signs:
    """Return the order of every pair that is resolved: 1, -1, or 0 where it is not.

    Parameters
    ----------
    found : Comparison

    Returns
    -------
    (n_model, n_model) int
        Row above column is 1.
    """
    return ((found.low > 0).astype(np.int8) - (found.high < 0)).astype(np.int8)


def changes(printed: Comparison, posterior: Comparison) -> NDArray[np.intp]:
    """Return how the verdict on every pair differs.

    Parameters
    ----------
    printed, posterior : Comparison

    Returns
    -------
    (n_model, n_model) int
        Position in `CHANGES`; -1 where it does not differ.
    """
    mine, theirs = verdicts(printed), verdicts(posterior)
    turned = np.sign(printed.difference) * np.sign(posterior.difference) < 0
    return np.select(
        [
            mine * theirs < 0,
            (mine != 0) & (theirs == 0),
            (mine == 0) & (theirs != 0),
            turned,
        ],
        [0, 1, 2, 3],
        default=-1,
    )


def causes(
    change: NDArray[np.intp],
    *,
    mine: tuple[Floats, Floats],
    theirs: tuple[Floats, Floats],
    verdict: Signs,
    level: float,
) -> NDArray[np.intp]:
    """Return what accounts for a verdict that differs from the posterior's.

    Parameters
    ----------
    change : (n_pair,) int
        Positions in `CHANGES`.
    mine, theirs : pairs of (n_pair,) float
        Difference and its standard error: printed; posterior mean and standard deviation.
    verdict : (n_pair,) int in {-1, 0, 1}
        Of the posterior.
    level : float in (0, 1)
        Of the intervals.

    Returns
    -------
    (n_pair,) int
        Position in `CAUSES`. `se`: the verdict were the posterior's if the standard error alone
        were; `estimate`: if the difference alone were; `either`: each would do; `both`: only the
        two together; `shape`: not even then, since the posterior is not normal. Of pairs whose
        order turns without a verdict, and of verdicts that contradict each other, `estimate`.
    """
    z = float(stats.norm.ppf(0.5 + level / 2))

    def normal(difference: Floats, se: Floats) -> Signs:
        return np.where(np.abs(difference) > z * se, np.sign(difference), 0.0).astype(np.int8)

    by_se = normal(mine[0], theirs[1]) == verdict
    by_estimate = normal(theirs[0], mine[1]) == verdict
    of_order = (change == CHANGES.index("reversed")) | (change == CHANGES.index("opposite"))
    return np.select(
        [of_order, normal(*theirs) != verdict, by_se & by_estimate, by_se, by_estimate],
        [CAUSES.index(name) for name in ("estimate", "shape", "either", "se", "estimate")],
        default=CAUSES.index("both"),
    )


def changed_pairs(
    one: PrintedEstimates,
    printed: Comparison,
    posterior: Comparison,
    comparable: Flags,
    *,
    factor: float,
    ess: float,
    level: float,
) -> pd.DataFrame:
    """Return the pairs whose verdict differs, with the reason in words.

    Parameters
    ----------
    one : PrintedEstimates
    printed, posterior : Comparison
        Of the same models in the same order.
    comparable : (n_model, n_model) bool
    factor : float
        By which estimates are longer than posterior means. Where the unit is free, reasons are
        sought after estimates and errors are divided by it.
    ess : float
        Effective sample size of the posterior.
    level : float in (0, 1)

    Returns
    -------
    DataFrame
        `estimator`, `se_name`; `model_a`, `model_b`, the first higher by its posterior mean;
        `change`, `cause`; `close`, 1 where the posterior's own verdict (or order) is within two
        errors of drawing of another one; `difference`, `se`, `low`, `high`, `p_above`, `resolved`, and the same
        of the posterior with `posterior_` before; `why`. The worst change first, within it what is not close, then the
        largest difference of `p_above`.
    """
    change = np.where(np.triu(comparable, k=1), changes(printed, posterior), -1)
    first, second = np.nonzero(change >= 0)
    behind = posterior.difference[first, second] < 0
    i, j = np.where(behind, second, first), np.where(behind, first, second)
    kind = change[first, second]
    scale = factor if one.unit_is_free and np.isfinite(factor) and factor > 0 else 1.0
    mine = printed.difference[i, j] / scale, printed.se[i, j] / scale
    theirs = posterior.difference[i, j], posterior.se[i, j]
    cause = causes(kind, mine=mine, theirs=theirs, verdict=verdicts(posterior)[i, j], level=level)
    ids = np.array(one.ids, dtype=object)
    table = pd.DataFrame(
        {
            "estimator": pd.Series([one.estimator] * len(i), dtype="str"),
            "se_name": pd.Series([one.se_name] * len(i), dtype="str"),
            "model_a": pd.Series(ids[i], dtype="str"),
            "model_b": pd.Series(ids[j], dtype="str"),
            "change": pd.Series([CHANGES[k] for k in kind], dtype="str"),
            "cause": pd.Series([CAUSES[k] for k in cause], dtype="str"),
            "close": _close(posterior, i, j, kind, ess=ess, level=level).astype(int),
            **_columns(printed, i, j, ""),
            **_columns(posterior, i, j, "posterior_"),
        }
    )
    table["why"] = pd.Series(
        [
            _why(one, CAUSES[c], near, (d, s), (pd_, ps), scale)
            for c, near, d, s, pd_, ps in zip(cause, table["close"], *mine, *theirs, strict=True)
        ],
        dtype="str",
    )
    away = -np.abs(table["p_above"] - table["posterior_p_above"])
    order = np.lexsort((np.arange(len(table)), away, table["close"], kind))
    return table.iloc[order].reset_index(drop=True)


def _close(
    found: Comparison,
    i: NDArray[np.intp],
    j: NDArray[np.intp],
    kind: NDArray[np.intp],
    *,
    ess: float,
    level: float,
) -> Flags:
    """Return where another run of the sampler might well give another verdict."""
    if not ess > 0:
        return np.zeros(len(i), dtype=bool)
    share = 0.5 - level / 2
    # Of a quantile of a normal distribution, in its standard deviations.
    of_limit = float(np.sqrt(share * (1 - share) / ess) / stats.norm.pdf(stats.norm.ppf(share)))
    nearest = np.minimum(np.abs(found.low[i, j]), np.abs(found.high[i, j]))
    by_limit = nearest < 2 * of_limit * found.se[i, j]
    by_mean = np.abs(found.difference[i, j]) < 2 * ess**-0.5 * found.se[i, j]
    return np.where(kind == CHANGES.index("reversed"), by_mean, by_limit)


def _columns(
    found: Comparison, i: NDArray[np.intp], j: NDArray[np.intp], before: str
) -> dict[str, object]:
    return {
        f"{before}difference": found.difference[i, j],
        f"{before}se": found.se[i, j],
        f"{before}low": found.low[i, j],
        f"{before}high": found.high[i, j],
        f"{before}p_above": found.p_above[i, j],
        f"{before}resolved": (verdicts(found)[i, j] != 0).astype(int),
    }


def _why(
    one: PrintedEstimates,
    cause: str,
    close: int,
    mine: tuple[float, float],
    theirs: tuple[float, float],
    scale: float,
) -> str:
    if cause == "shape" and close:
        return "the posterior's limit is as close to zero as these draws can tell"
    if cause == "shape":
        return (
            "the posterior of the difference is not normal; its mean and spread are much the same"
        )
    of_se = _se_words(one, mine[1], theirs[1], scale)
    of_estimate = (
        f"the difference is {true_minus(f'{mine[0]:.3f}')}{_in_unit(scale)}, and "
        f"{true_minus(f'{theirs[0]:.3f}')} by the posterior: {one.moved_by}"
    )
    if cause == "se":
        return of_se
    if cause == "estimate":
        return of_estimate
    joint = "it is close, and either would do" if cause == "either" else "both together"
    return f"{of_se}; {of_estimate} ({joint})"


def _se_words(one: PrintedEstimates, se: float, posterior: float, scale: float) -> str:
    words = f"the SE of the difference is {se:.3f}{_in_unit(scale)}, and {posterior:.3f} by the posterior"
    ratio = se / posterior if posterior > 0 else np.inf
    if abs(ratio - 1) <= _SAME:
        return words
    if ratio < 1:
        reason = f": it {one.leaves_out}" if one.leaves_out else ""
        return f"{words}, too small by a factor of {1 / ratio:.2f}{reason}"
    alone = one.se_name in ("se_diagonal", "se_items_known")
    reason = ": no covariance goes with it" if alone else ""
    return f"{words}, too large by a factor of {ratio:.2f}{reason}"


def _in_unit(scale: float) -> str:
    return " in the posterior's unit" if abs(scale - 1) > _SAME else ""
