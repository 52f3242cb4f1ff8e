"""From sub-metrics to domain composites and the global index, with their half-widths (P1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from neartie.audits.scorecard_settings import SCALE, TERMS, ScoreSettings

type Floats = NDArray[np.float64]

#: Half-widths: P1's formula; the same with the standard error that P1 prints; with all terms.
HALF_WIDTHS: Final = ("half_width", "half_width_printed", "half_width_all")
# Scores that differ by less are equal: sums of the same terms in another order.
_TIE_DIGITS: Final = 9


def composites(
    ability: ArrayLike,
    *,
    consistency: ArrayLike,
    calibration: ArrayLike,
    resistance: ArrayLike,
    settings: ScoreSettings | None = None,
) -> tuple[Floats, Floats]:
    r"""Return domain composites, and how much of the weights was measured.

    Parameters
    ----------
    ability : (n,) float, logit
        2PL ability or standardised Bradley-Terry strength; NaN where there is none.
    consistency, calibration, resistance : (n,) float in [0, 1]
        Calibration is 1 - ECE. NaN where not measured.
    settings : ScoreSettings, optional

    Returns
    -------
    composite : (n,) float in [0, 1]
        Missing without an ability, whatever else is there.
    measured : (n,) float
        Sum of the weights of what was measured.

    Notes
    -----
    :math:`C = \sum_{\text{measured}} w t / \sum_{\text{measured}} w`, with
    :math:`\sigma(\hat\theta)` for accuracy: an unmeasured term is in neither sum.

    References
    ----------
    P1, equation `eq:composite`.

    Examples
    --------
    >>> C, measured = composites([0.0], consistency=[0.9], calibration=[np.nan], resistance=[1.0])
    >>> C.round(4), measured
    (array([0.65]), array([0.9]))
    """
    chosen = ScoreSettings() if settings is None else settings
    accuracy = special.expit(np.asarray(ability, dtype=np.float64))
    given = {"consistency": consistency, "calibration": calibration, "resistance": resistance}
    terms = np.array([accuracy, *(np.broadcast_to(given[t], accuracy.shape) for t in TERMS[1:])])
    weight = np.array([chosen.weights[term] for term in TERMS])[:, None]
    seen = ~np.isnan(terms)
    measured = (weight * seen).sum(axis=0)
    total = (weight * np.where(seen, terms, 0.0)).sum(axis=0)
    there = seen[0] & (measured > 0)
    composite = np.divide(total, measured, out=np.full(len(measured), np.nan), where=there)
    return composite, measured


def accuracy_slope(
    ability: ArrayLike, measured: ArrayLike, *, settings: ScoreSettings | None = None
) -> Floats:
    r"""Return the change of a displayed score with ability, points a logit.

    Parameters
    ----------
    ability : (n,) float, logit
    measured : (n,) float
        From `composites`.
    settings : ScoreSettings, optional

    Returns
    -------
    (n,) float
        :math:`1000\,\frac{w_{acc}}{\sum w}\,\sigma(\hat\theta)(1 - \sigma(\hat\theta))`; times 1.96 SE
        it is P1's half-width.

    References
    ----------
    P1, the display after equation `eq:composite`.

    Examples
    --------
    >>> accuracy_slope([0.0], [1.0])
    array([150.])
    """
    chosen = ScoreSettings() if settings is None else settings
    accuracy = special.expit(np.asarray(ability, dtype=np.float64))
    measured = np.asarray(measured, dtype=np.float64)
    share = np.divide(
        chosen.weights["accuracy"], measured, out=np.full(len(measured), np.nan), where=measured > 0
    )
    return np.asarray(SCALE * share * accuracy * (1 - accuracy))


def global_indices(domains: pd.DataFrame, *, settings: ScoreSettings | None = None) -> pd.DataFrame:
    r"""Return the global index of every model, with who is incomplete, and ranks.

    Parameters
    ----------
    domains : DataFrame
        One row a model and domain: `model`, `domain`, `composite` (missing where the model was not
        evaluated), and of `HALF_WIDTHS` those that are known, points.
    settings : ScoreSettings, optional
        For the weights of domains.

    Returns
    -------
    DataFrame, one row a model in plain order
        `model`; `n_domains` of its own; `missing`, the domains that it lacks, joined by "; ";
        `complete` (1 or 0); `global_index` over its own domains, points; the half-widths;
        `rank` among complete models (equal indices share the best rank; missing for an incomplete
        one); `shared_index` over the domains that all models have, and `shared_rank` by it.

    Notes
    -----
    P1 takes the mean over the domains that a model was evaluated on. A model without the hard ones
    would then stand above a better one that has them all: such a model gets no rank, and the
    shared index compares all models on what all of them have.

    :math:`h(G) = (\sum_d (w'_d h_d)^2)^{1/2}` takes the errors of domains as independent.

    References
    ----------
    P1, "The Global Index".

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["a", "a", "b"], "domain": ["x", "y", "x"],
    ...                       "composite": [0.9, 0.4, 0.8]})
    >>> global_indices(table)[["model", "global_index", "rank", "shared_index", "shared_rank"]]
      model  global_index  rank  shared_index  shared_rank
    0     a         650.0     1         900.0            1
    1     b         800.0  <NA>         800.0            2
    """
    chosen = ScoreSettings() if settings is None else settings
    wide = domains.pivot(index="model", columns="domain", values="composite")
    # a domain that nobody has, such as one on which a fit failed, is no domain to lack
    wide = wide.sort_index().sort_index(axis=1).dropna(axis=1, how="all")
    weight = np.array([chosen.domain_weights.get(name, 1.0) for name in wide.columns])
    values = wide.to_numpy(dtype=np.float64)
    seen = ~np.isnan(values)
    table = pd.DataFrame({"model": wide.index.astype("str"), "n_domains": seen.sum(axis=1)})
    table["missing"] = ["; ".join(wide.columns[~row]) for row in seen]
    table["complete"] = (seen.all(axis=1) & seen.any(axis=1)).astype(int)
    table["global_index"] = SCALE * _weighted_mean(values, weight, seen)
    for name in HALF_WIDTHS:
        if name in domains:
            half = domains.pivot(index="model", columns="domain", values=name)
            half = half.reindex(index=wide.index, columns=wide.columns)
            table[name] = _in_quadrature(half.to_numpy(dtype=np.float64), weight, seen)
    table["rank"] = _ranks(table["global_index"].where(table["complete"] == 1))
    shared = seen.all(axis=0) if len(seen) else np.zeros(len(weight), dtype=bool)
    on_shared = _weighted_mean(values[:, shared], weight[shared], seen[:, shared])
    table["shared_index"] = SCALE * on_shared
    table["shared_rank"] = _ranks(table["shared_index"])
    return table


def rescaled(values: Mapping[str, Floats]) -> tuple[dict[str, Floats], list[str]]:
    """Return scores of each domain from 0 for the worst to 1 for the best model.

    Parameters
    ----------
    values : mapping of str to (n_model,) float
        NaN where missing.

    Returns
    -------
    rescaled : dict of str to (n_model,) float in [0, 1]
    tied : list of str
        Domains on which all models are equal, where 0 / 0 would have to be decided. They order
        nobody, and are left out for all.

    Examples
    --------
    >>> done, tied = rescaled({"t1": np.array([0.5, 0.5]), "t2": np.array([0.2, 1.0])})
    >>> done, tied
    ({'t2': array([0., 1.])}, ['t1'])
    """
    done, tied = {}, []
    for domain, column in values.items():
        known = column[~np.isnan(column)]
        if len(known) and (known == known[0]).all():
            tied.append(domain)
        elif len(known):
            done[domain] = (column - known.min()) / (known.max() - known.min())
    return done, tied


def _weighted_mean(values: Floats, weight: Floats, seen: NDArray[np.bool_]) -> Floats:
    total = (weight * seen).sum(axis=1)
    summed = (weight * np.where(seen, values, 0.0)).sum(axis=1)
    mean: Floats = np.divide(summed, total, out=np.full(len(values), np.nan), where=total > 0)
    return mean


def _in_quadrature(half: Floats, weight: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Return half-widths of weighted means; missing where that of a used domain is unknown."""
    total = (weight * seen).sum(axis=1)
    known = ~(seen & np.isnan(half)).any(axis=1) & (total > 0)
    squared = np.square(weight * np.where(seen, half, 0.0)).sum(axis=1)
    root: Floats = np.sqrt(squared)
    margin: Floats = np.divide(root, total, out=np.full(len(half), np.nan), where=known)
    return margin


def _ranks(index: pd.Series) -> pd.Series:
    known = index.notna().to_numpy()
    rank = pd.Series(pd.NA, index=index.index, dtype="Int64")
    # best first, equal ones together; rounding error does not part them
    rank[known] = stats.rankdata(-index[known].round(_TIE_DIGITS), method="min").astype(int)
    return rank
