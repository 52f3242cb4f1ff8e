"""Point estimates held against a posterior: the answer, and its verdicts by a stated rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from neartie.data.wording import counted

#: Of what intervals miss, the share by which they may miss more or fewer and still hold.
TOLERANCE: Final = 0.4
#: A stretch that is further from 1 than this is said.
_UNIT: Final = 0.05


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EstimateComparison:
    """Point engines with every standard error they print, beside a posterior.

    Attributes
    ----------
    estimators : DataFrame
        One row an estimator, standard error and quantity: `estimator`, `label`, `se_name`,
        `quantity` (`ability`, `strength`, `difficulty`, `log_discrimination`), `unit`, `n`;
        `bias_mean`, `bias_rms` in that unit; `bias_rms_sd` in posterior standard deviations;
        `stretch`, how many times as far from the origin as posterior means; `bias_rms_unit`,
        what is left when estimates are divided by it; `se_ratio` (median over posterior standard
        deviations), `se_ratio_low`, `se_ratio_high` (5 and 95%); `overlap`, what the two
        intervals share over what either covers, mean; `mass`, the posterior probability within
        the printed interval, mean; `monte_carlo`, the error of a posterior mean that comes
        from drawing, in posterior standard deviations; `tau_b`, `largest_rank_shift`; `n_pairs`; `pair_se_ratio`,
        `pair_mass`, the same of differences; `n_changed` and of these `n_opposite`,
        `n_estimate_alone`, `n_posterior_alone`, `n_reversed`, and of all `n_close`; `converged`; `verdict`,
        `pair_verdict` and `sentence`. What has no meaning for items is missing there.
    models, items : DataFrame
        One row an estimator, standard error and model, or item and quantity: the columns of
        `neartie.audits.estimate_agreement.compare_values`; for models `rank`, `posterior_rank`
        and `rank_shift` (posterior minus estimate) within the connected set, `component`. No
        rows of items for battles.
    pairs : DataFrame
        The pairs whose verdict differs: the columns of
        `neartie.audits.estimate_pairs.changed_pairs`.
    kind : {'two-pl', 'bradley-terry'}
    engine : str
        Of the posterior.
    level : float in (0, 1)
        Of all intervals.
    n_models, n_items, n_draws, seed : int
    converged, verdict : str
        Of the posterior.
    settings, versions : dict
    warnings : tuple of str
        Caveats, worst first, in sentences.
    """

    estimators: pd.DataFrame
    models: pd.DataFrame
    items: pd.DataFrame
    pairs: pd.DataFrame
    kind: str
    engine: str
    level: float
    n_models: int
    n_items: int
    n_draws: int
    seed: int
    converged: str
    verdict: str
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]

    def estimator(self, name: str, *, se_name: str = "se") -> dict[str, Any]:
        """Return the row of one estimator and standard error.

        Parameters
        ----------
        name, se_name : str
            As in `estimators`.

        Returns
        -------
        dict

        Raises
        ------
        KeyError
            If there is none.
        """
        table = self.estimators
        found = table[(table["estimator"] == name) & (table["se_name"] == se_name)]
        if found.empty:
            known = ", ".join(
                f"{a} ({b})" for a, b in zip(table["estimator"], table["se_name"], strict=True)
            )
            raise KeyError(f"there is no {name!r} with {se_name!r}; there are {known}")
        return {str(key): value for key, value in found.iloc[0].to_dict().items()}

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers and settings: what `summary.json` holds."""
        return {
            "kind": self.kind,
            "engine": self.engine,
            "level": self.level,
            "n_models": self.n_models,
            "n_items": self.n_items,
            "n_draws": self.n_draws,
            "estimators": self.estimators.to_dict("records"),
            "n_pairs_changed": len(self.pairs),
            "converged": self.converged,
            "verdict": self.verdict,
            "rule": rule_of(self.level),
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"Point estimates against the posterior of {self.kind} ({self.engine}, "
            f"{counted(self.n_draws, 'draw')}), {counted(self.n_models, 'model')}"
        )
        yield from (f"warning: {warning}" for warning in self.warnings)
        yield from self.estimators["sentence"]


def rule_of(level: float) -> str:
    """Return the rule of the verdicts in words.

    Examples
    --------
    >>> rule_of(0.95)
    'intervals hold if 93 to 97% of the posterior lie in the printed 95% intervals, on average'
    """
    margin = TOLERANCE * (1 - level)
    low, high = f"{100 * (level - margin):.3g}", f"{100 * (level + margin):.3g}"
    return (
        f"intervals hold if {low} to {high}% of the posterior lie in the printed "
        f"{100 * level:.3g}% intervals, on average"
    )


def verdict_of(mass: float, *, level: float, known: bool) -> str:
    """Return whether printed intervals hold, by the rule of `rule_of`.

    Parameters
    ----------
    mass : float in [0, 1], probability
        Mean posterior probability within the intervals.
    level : float in (0, 1)
    known : bool
        Whether posterior and estimate are converged.

    Returns
    -------
    {'hold', 'hold less', 'hold more', 'cannot say'}

    Examples
    --------
    >>> verdict_of(0.71, level=0.95, known=True), verdict_of(0.94, level=0.95, known=True)
    ('hold less', 'hold')
    """
    margin = TOLERANCE * (1 - level)
    if not known or math.isnan(mass):
        return "cannot say"
    # Beyond rounding: a share that is the limit itself still holds.
    if mass < level - margin - 1e-9:
        return "hold less"
    return "hold more" if mass > level + margin + 1e-9 else "hold"


def sentence_of(row: Mapping[str, Any], *, level: float) -> str:
    """Return the verdict on one row of `EstimateComparison.estimators` in a sentence.

    Parameters
    ----------
    row : mapping
    level : float in (0, 1)

    Returns
    -------
    str
    """
    nominal = f"{100 * level:.3g}%"
    what = str(row["quantity"]).replace("_", " ")
    head = f"{row['estimator']} with {row['se_name']}"
    if row["verdict"] == "cannot say":
        return (
            f"{head}, {what}: cannot say, for estimate or posterior is not converged (more draws "
            "may help)."
        )
    unit = f", stretched by {row['stretch']:.2f}" if abs(row["stretch"] - 1) > _UNIT else ""
    first = (
        f"{head}, {what}: intervals {row['verdict']}: {nominal} intervals hold "
        f"{100 * row['mass']:.1f}% of the posterior (SE {row['se_ratio']:.2f} of its standard "
        f"deviation in the median, estimates {row['bias_rms_sd']:.2f} standard deviations off{unit})"
    )
    parts = [first]
    close = f" ({row['n_close']:,} too close to tell by these draws)" if row["n_close"] else ""
    if row["n_pairs"] and not math.isnan(row["pair_mass"]):
        parts.append(
            f"those of differences {row['pair_verdict']} ({100 * row['pair_mass']:.1f}%), and "
            f"{row['n_changed']:,} of {counted(int(row['n_pairs']), 'pair')} "
            f"{'gets' if row['n_changed'] == 1 else 'get'} another verdict{close}"
        )
    return "; ".join(parts) + "."
