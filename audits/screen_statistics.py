"""The statistics of P2's Table 1 for every item, all from counts of pairs and the rest score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.data.responses import Responses
from neartie.inference.isotonic_pairs import graded_pair_sums
from neartie.inference.isotonic_rest import rest_statistics
from neartie.inference.pair_sums import PairSums
from neartie.inference.pairwise_binary import binary_pair_sums
from neartie.inference.pairwise_tetrachoric import mean_tetrachoric
from neartie.inference.two_pl_mode import two_pl_mode

#: The columns of `item_statistics`, in the order of the output.
STATISTICS: Final = (
    "signed_isotonic_r2",
    "acc",
    "f1",
    "smc",
    "mi",
    "phi",
    "tetrachoric",
    "kappa",
    "u_sym",
    "mi_rest",
    "rho_rest",
    "z",
    "r2_iso_rest",
    "delta_alpha",
    "delta_rho",
    "d_2pl",
    "a_2pl",
    "loevinger_h",
)
#: The statistics that compare items with items, and nothing else (P2, experiment 3).
INTERITEM: Final = ("signed_isotonic_r2", "acc", "f1", "smc", "mi", "phi", "kappa", "u_sym")
#: Statistics that take more than counting.
SLOW: Final = ("tetrachoric", "d_2pl", "a_2pl")
#: Statistics that right/wrong answers alone have.
RIGHT_WRONG: Final = ("acc", "f1", "smc", "kappa", "tetrachoric", "d_2pl", "a_2pl")
FORMS: Final = ("symmetric", "predictor", "outcome")
#: With fewer items the joint mode of the two-parameter model is degenerate.
FEWEST_MODEL_ITEMS: Final = 8
#: Two values that agree in so many digits are one.
DIGITS: Final = 10
#: Of these, a large value is suspicious; of all others a small one.
SUSPICIOUS_WHEN_LARGE: Final = frozenset({"d_2pl"})


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ItemStatistics:
    """Every statistic of every item, and the pairs behind them.

    Attributes
    ----------
    table : DataFrame, n_item rows
        `n_models`, `accuracy`, `n_pairs`, `n_negative`, `n_disagree`, then `STATISTICS`; NaN
        where undefined.
    pairs : PairSums
        Sums over pairs, with those by group of partners.
    notes : tuple of str
        What was not estimated, and why.
    """

    table: pd.DataFrame
    pairs: PairSums
    notes: tuple[str, ...]


def item_statistics(
    responses: Responses,
    *,
    form: str = "symmetric",
    direction: str = "fit",
    neighbours: NDArray[np.int64] | None = None,
    group: NDArray[np.int64] | None = None,
    leave_out: frozenset[str] = frozenset(),
) -> ItemStatistics:
    r"""Return the statistics of P2's Table 1, and Loevinger's H, for every item.

    Parameters
    ----------
    responses : Responses
        Right/wrong or graded.
    form : {"symmetric", "predictor", "outcome"}
        Which coefficient is averaged: the mean of both directions (P2, C.5), the partner
        explained by the item (equation 3), or the item explained by the partner. For two
        right/wrong items they are the same.
    direction : {"fit", "tau"}
        What gives the sign of graded pairs; see `graded_pair_sums`.
    neighbours : (n_item, n_neighbour) int, optional
        Partners of each item; all other items when left out.
    group : (n_item,) int, optional
        Groups of partners for `ItemStatistics.pairs`.
    leave_out : set of str
        Of `SLOW`: what not to compute.

    Returns
    -------
    ItemStatistics

    Notes
    -----
    *Pairs.* A pair counts if both items vary over the models that answered both; the same pairs
    enter every mean, so an item that does not vary takes part in none. With X_i, X_j the answers
    and P, Corr, Cov over those models:

    - `signed_isotonic_r2`: the share of variance of one item that the best monotone function of
      the other explains, with the sign of the direction that fits better (P2, C.3 to C.5).
    - `acc` P(X_i = X_j = 1); `f1` its harmonic mean over the two conditionals,
      2 P(both) / (P(X_i = 1) + P(X_j = 1)); `smc` P(X_i = X_j).
    - `mi` H(X_i) + H(X_j) - H(X_i, X_j), nats; `u_sym` 2 MI / (H(X_i) + H(X_j)), averaged over
      the partners (P2's factor is 2 / n).
    - `phi` Corr(X_i, X_j); `kappa` (agreement - chance) / (1 - chance); `tetrachoric` the
      correlation of two normal traits cut at the margins, zero cells taken as one half.

    *Rest score*, the mean over the other items that vary and that the model answered:
    `mi_rest`, `rho_rest` and `r2_iso_rest` are mutual information, correlation, and signed
    isotonic R² of the item explained by it.

    *Scale*, with K varying items, v_i the variance of an item (ddof 0) and c_i its mean
    covariance with its partners times K - 1:

    - `z` :math:`\sqrt{N_i - 1}\, c_i / \sqrt{\sum_j v_i v_j}` (Mokken's item Z).
    - `delta_alpha` alpha of the whole less alpha without the item, with alpha
      :math:`= K / (K-1) (1 - \sum v / (\sum v + \sum c))`. `delta_rho` the same for the mean
      correlation.
    - `loevinger_h` :math:`c_i` over the largest that the margins allow.

    *Model*: `d_2pl` difficulty and `a_2pl` discrimination at the posterior mode of P1's
    two-parameter model, before re-centring.

    On graded data `acc`, `f1`, `smc`, `kappa`, `tetrachoric` and the model's are missing. P2's
    "adjusted" variant is not defined in its text and is left out.

    References
    ----------
    P2, Table 1, section 3.5 and appendix C. Loevinger (1948), Psychological Bulletin 45, 507-529,
    doi:10.1037/h0055827.
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    if direction not in ("fit", "tau"):
        raise ValueError(f"direction must be fit or tau, got {direction!r}")
    observed = responses.observed
    counts = responses.item_accuracy()
    if responses.is_binary:
        right = np.asarray(responses.values == 1)
        pairs = binary_pair_sums(right, observed, neighbours=neighbours, group=group)
        columns = {name: pairs.mean(name) for name in INTERITEM}
        notes = _add_slow(columns, right, observed, neighbours, leave_out)
    else:
        scores = responses.values.astype(np.float64)
        pairs = graded_pair_sums(scores, direction=direction, neighbours=neighbours, group=group)
        columns = _graded_columns(pairs, form)
        notes = [f"{', '.join(RIGHT_WRONG)} exist for right/wrong answers only"]
    columns |= _scale_columns(responses, pairs)
    table = pd.DataFrame(
        {
            "n_models": counts["n"],
            "accuracy": counts["accuracy"],
            "n_pairs": pairs.n_pairs,
            "n_negative": pairs.n_negative,
            "n_disagree": pairs.n_disagree,
        }
        | {name: columns.get(name, np.full(responses.n_item, np.nan)) for name in STATISTICS}
    )
    return ItemStatistics(table=table, pairs=pairs, notes=tuple(notes))


def suspicion(table: pd.DataFrame) -> pd.DataFrame:
    """Return the statistics turned so that larger = more suspicious.

    Parameters
    ----------
    table : DataFrame
        With columns out of `STATISTICS`.

    Returns
    -------
    DataFrame
        Those columns alone. The direction is fixed in advance (P2, section 4.2): fit measures
        are negated, difficulty is not. Values have ten digits, so that items that were answered
        alike tie, whatever the order in which their pairs were added.
    """
    names = [name for name in STATISTICS if name in table.columns]
    turned = table[names] * [1.0 if name in SUSPICIOUS_WHEN_LARGE else -1.0 for name in names]
    values = turned.to_numpy(dtype=np.float64)
    size = np.abs(values, out=np.ones_like(values), where=values != 0)
    unit = 10.0 ** (np.floor(np.log10(size)) - DIGITS + 1)
    return pd.DataFrame(np.round(values / unit) * unit, index=table.index, columns=names)


def available_statistics(
    responses: Responses, asked: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which of the statistics asked for the answers allow, and which they do not.

    Parameters
    ----------
    responses : Responses
    asked : sequence of str
        Out of `STATISTICS`.

    Returns
    -------
    tuple of str, tuple of str
        In the order asked for. Graded answers do not allow those of `RIGHT_WRONG`.
    """
    lost = () if responses.is_binary else RIGHT_WRONG
    return tuple(s for s in asked if s not in lost), tuple(s for s in asked if s in lost)


def varying_items(responses: Responses) -> NDArray[np.bool_]:
    """(n_item,) bool: items on which at least two models have different scores."""
    observed, values = responses.observed, responses.values
    if responses.is_binary:
        # int8 as it stands: a float copy of a large benchmark would take half a gigabyte.
        return np.asarray((values == 1).any(axis=1) & (values == 0).any(axis=1))
    largest: NDArray[Any] = np.max(values, axis=1, where=observed, initial=-np.inf)
    smallest: NDArray[Any] = np.min(values, axis=1, where=observed, initial=np.inf)
    return np.asarray(largest > smallest)


def _graded_columns(pairs: PairSums, form: str) -> dict[str, NDArray[np.float64]]:
    predictor, outcome = pairs.mean("predictor"), pairs.mean("outcome")
    fit = {"predictor": predictor, "outcome": outcome, "symmetric": (predictor + outcome) / 2}
    return {"signed_isotonic_r2": fit[form]} | {
        name: pairs.mean(name) for name in ("mi", "phi", "u_sym")
    }


def _add_slow(
    columns: dict[str, NDArray[np.float64]],
    right: NDArray[np.bool_],
    observed: NDArray[np.bool_],
    neighbours: NDArray[np.int64] | None,
    leave_out: frozenset[str],
) -> list[str]:
    """Add the tetrachoric correlation and the model's parameters; return notes."""
    notes = []
    if "tetrachoric" not in leave_out:
        columns["tetrachoric"] = mean_tetrachoric(right, observed, neighbours=neighbours)
    if not {"d_2pl", "a_2pl"} <= leave_out:
        varies = ~np.isnan(columns["phi"])
        mode = None
        if varies.sum() >= FEWEST_MODEL_ITEMS:
            mode = two_pl_mode(right[varies], observed[varies])
        if mode is not None and mode.converged:
            for name, value in (("d_2pl", mode.difficulty), ("a_2pl", mode.discrimination)):
                columns[name] = np.full(len(right), np.nan)
                columns[name][varies] = value
        else:
            why = f"needs at least {FEWEST_MODEL_ITEMS} items" if mode is None else "found no mode"
            notes.append(f"d_2pl and a_2pl are missing: the two-parameter model {why}")
    left = sorted(leave_out & set(SLOW))
    if left:
        notes.append(f"{', '.join(left)} left out")
    return notes


def _scale_columns(responses: Responses, pairs: PairSums) -> dict[str, NDArray[np.float64]]:
    varies = varying_items(responses)
    observed, n_item = responses.observed, responses.n_item
    n_varying = int(varies.sum())
    names = ("z", "delta_alpha", "delta_rho", "loevinger_h", "r2_iso_rest", "rho_rest", "mi_rest")
    columns = {name: np.full(n_item, np.nan) for name in names}
    if n_varying < 2:
        return columns
    rest = rest_statistics(responses.values[varies], observed[varies])
    for position, name in enumerate(("r2_iso_rest", "rho_rest", "mi_rest")):
        columns[name][varies] = rest[:, position]
    variance = np.var(responses.values[varies], axis=1, where=observed[varies], dtype=np.float64)
    n_answers = observed[varies].sum(axis=1)
    mean = {
        name: pairs.mean(name)[varies]
        for name in ("covariance", "variance_product", "largest_covariance", "phi")
    }
    ceiling = mean["largest_covariance"]
    with np.errstate(divide="ignore", invalid="ignore"):
        columns["z"][varies] = (
            np.sqrt((n_answers - 1.0) * (n_varying - 1))
            * mean["covariance"]
            / np.sqrt(mean["variance_product"])
        )
        columns["loevinger_h"][varies] = np.where(ceiling > 0, mean["covariance"] / ceiling, np.nan)
    covariance = np.nan_to_num(mean["covariance"]) * (n_varying - 1)
    columns["delta_alpha"][varies] = _change_of_alpha(variance, covariance)
    columns["delta_rho"][varies] = _change_of_mean_correlation(np.nan_to_num(mean["phi"]))
    return columns


def _change_of_alpha(
    variance: NDArray[np.float64], covariance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return alpha less alpha without each item, from variances and sums of covariances."""
    k = len(variance)
    if k < 3:
        return np.full(k, np.nan)

    def alpha(
        n: int, own: NDArray[np.float64], all_of_it: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return n / (n - 1) * (1 - own / np.where(all_of_it > 0, all_of_it, np.nan))

    own, total = variance.sum(), variance.sum() + covariance.sum()
    whole = alpha(k, np.array(own), np.array(total))
    return whole - alpha(k - 1, own - variance, total - variance - 2 * covariance)


def _change_of_mean_correlation(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean correlation less that without each item, from the items' own means."""
    k = len(mean)
    if k < 3:
        return np.full(k, np.nan)
    sums = mean * (k - 1)
    without = (sums.sum() - 2 * sums) / ((k - 1) * (k - 2))
    return sums.sum() / (k * (k - 1)) - without
