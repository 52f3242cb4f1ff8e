"""What a Bradley–Terry fit says: strengths with their uncertainty, and differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from neartie.data.battle_graph import Separation
from neartie.data.errors import DataError
from neartie.data.wording import counted, listed

type Codes = NDArray[np.int64]
type Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A difference of two strengths.

    Attributes
    ----------
    model_a, model_b : str
    estimate : float, logit
        Strength of model_a minus that of model_b; infinite where one group won every battle.
    se : float, logit
    low, high : float, logit
        Limits of the interval.
    level : float in (0, 1)
    """

    model_a: str
    model_b: str
    estimate: float
    se: float
    low: float
    high: float
    level: float

    @property
    def win_probability(self) -> float:
        """float in [0, 1]: share that model_a wins of the battles where neither is shown first.

        Of all battles with ties as half wins; by Davidson's model, of those that somebody wins; by
        Rao and Kupper's, of all if the threshold of ties were zero.
        """
        return float(stats.logistic.cdf(self.estimate))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BradleyTerryFit:
    """Strengths of models, with covariance, and how they were found.

    Attributes
    ----------
    models : tuple of str
        Ids, in plain order; the order of all arrays.
    strength : (n_model,) float, logit
        Sums to zero over each connected set. Where maximum likelihood has no finite estimate, it
        sums to zero over the largest group of a connected set, and is infinite for groups that
        stand above or below that one, or, if no group of several is the largest, above or below
        all others that they met; it is NaN where nothing orders a group, and for a model without
        battles.
    within : (n_model,) float, logit
        The same, but zero-sum in every group: what differences within a group are taken of.
    covariance : (n_model, n_model) float
        Of `within`: inverse information on the space of zero sums. 0 between groups.
    se_diagonal : (n_model,) float, logit
        P1's printed standard error, one over the root of the diagonal of the information. It
        takes the strengths of all others as known, and is wrong for differences; infinite for a
        model without informative battles.
    component : (n_model,) int
        Connected set of each model; 0 is the largest.
    group : (n_model,) int
        Within a group, differences are finite and estimable. Equal to `component` unless maximum
        likelihood has no finite estimate.
    separation : Separation
        Which models and groups win or lose everything in the data, whatever is done about it.
    n, win_rate : (n_model,) float
        Weight of each model's battles; share won, with half of every tie.
    parameters : DataFrame
        `parameter`, `estimate`, `se`, `note`: the first-shown effect (`first_shown`, logit) and
        the tie parameter (`log_tie`, Davidson's log nu or Rao and Kupper's log theta), where
        fitted.
    log_likelihood : float, nat
        At the estimate, without phantom wins and prior, over the battles within groups.
    engine, ties, phantom_wins, prior_sd
        Settings; `prior_sd` is infinite without a prior.
    first_shown : bool
        Whether the first-shown effect was fitted.
    converged : bool
    n_iterations : int
    largest_step : float, logit
        Largest change of a parameter in the last step.
    notices : tuple of str
        What a user should know.
    """

    models: tuple[str, ...]
    strength: Floats
    within: Floats
    covariance: Floats
    se_diagonal: Floats
    component: Codes
    group: Codes
    separation: Separation
    n: Floats
    win_rate: Floats
    parameters: pd.DataFrame
    log_likelihood: float
    engine: str
    ties: str
    phantom_wins: float
    prior_sd: float
    first_shown: bool
    converged: bool
    n_iterations: int
    largest_step: float
    notices: tuple[str, ...]

    @property
    def se(self) -> Floats:
        """Standard error of `strength`, (n_model,) float, logit; infinite where that is not finite."""
        se = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.where(np.isfinite(self.strength), se, np.inf)

    def table(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return one row a model.

        Parameters
        ----------
        level : float in (0, 1)
            Of the intervals.

        Returns
        -------
        DataFrame, n_model rows
            `model`; `n`; `win_rate`; `strength`; `se`; `low`, `high`: the interval of the
            strength against the mean of its group; `se_diagonal`; `component`; `group`.
        """
        z = _quantile(level)
        finite = np.isfinite(self.strength)
        margin = np.where(finite, z * self.se, np.inf)
        with np.errstate(invalid="ignore"):
            low = np.where(self.strength > -np.inf, self.strength - margin, -np.inf)
            high = np.where(self.strength < np.inf, self.strength + margin, np.inf)
        return pd.DataFrame(
            {
                "model": pd.Series(self.models, dtype="str"),
                "n": self.n,
                "win_rate": self.win_rate,
                "strength": self.strength,
                "se": self.se,
                "low": np.where(self.strength == np.inf, -np.inf, low),
                "high": np.where(self.strength == -np.inf, np.inf, high),
                "se_diagonal": self.se_diagonal,
                "component": self.component,
                "group": self.group,
            }
        )

    def standardised(self) -> pd.DataFrame:
        """Return strengths with mean 0 and standard deviation 1 over each connected set.

        Returns
        -------
        DataFrame, n_model rows
            `model`; `strength`; `se`; `se_diagonal`. The standard deviation has ddof 0, and
            standard errors are divided by it too, which P1 omits. Strengths that are not finite
            stay so and do not count. Missing for a set whose finite strengths are all equal.

        References
        ----------
        P1, "Pairwise Duels", the last paragraph.
        """
        columns = {"strength": self.strength, "se": self.se, "se_diagonal": self.se_diagonal}
        scale = np.full(len(self.models), np.nan)
        for component in range(int(self.component.max()) + 1):
            inside = self.component == component
            finite = self.strength[inside & np.isfinite(self.strength)]
            sd = float(np.std(finite)) if len(finite) else 0.0
            if sd > 1e-12:
                scale[inside] = sd
        values = {name: column / scale for name, column in columns.items()}
        return pd.DataFrame({"model": pd.Series(self.models, dtype="str"), **values})

    def difference(self, model_a: str, model_b: str, *, level: float = 0.95) -> Difference:
        """Return the difference of two strengths with its interval.

        Parameters
        ----------
        model_a, model_b : str
            Two different models.
        level : float in (0, 1)
            Of the interval.

        Returns
        -------
        Difference
            Infinite, and its interval the whole line, where maximum likelihood puts one of the
            models infinitely above the other.

        Raises
        ------
        DataError
            If a model is unknown, or nothing in the data compares the two.
        """
        z = _quantile(level)
        a, b = self._position(model_a), self._position(model_b)
        if self.group[a] == self.group[b]:
            c = self.covariance
            estimate = float(self.within[a] - self.within[b])
            se = float(np.sqrt(max(c[a, a] + c[b, b] - 2 * c[a, b], 0.0)))
            low, high = estimate - z * se, estimate + z * se
        else:
            sign = self._order(a, b)
            estimate, se = sign * np.inf, np.inf
            low, high = -np.inf, np.inf
        return Difference(
            model_a=model_a,
            model_b=model_b,
            estimate=estimate,
            se=se,
            low=low,
            high=high,
            level=level,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return headline numbers and settings, for JSON."""
        return {
            "n_models": len(self.models),
            "n_components": int(self.component.max()) + 1,
            "n_groups": int(self.group.max()) + 1,
            "log_likelihood": self.log_likelihood,
            "parameters": self.parameters.to_dict("records"),
            "converged": self.converged,
            "iterations": self.n_iterations,
            "largest_step": self.largest_step,
            "settings": {
                "engine": self.engine,
                "ties": self.ties,
                "phantom_wins": self.phantom_wins,
                "prior_sd": self.prior_sd,
                "first_shown": self.first_shown,
            },
            "warnings": list(self.notices),
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        state = "converged" if self.converged else "NOT CONVERGED"
        how = f"{self.engine}, ties {self.ties}, {self.phantom_wins:g} phantom wins"
        if np.isfinite(self.prior_sd):
            how += f", prior sd {self.prior_sd:g}"
        iterations = counted(self.n_iterations, "iteration")
        yield f"Bradley-Terry: {counted(len(self.models), 'model')} ({how}), {state} in {iterations}"
        table = self.table().sort_values(
            ["component", "strength", "model"], ascending=[True, False, True]
        )
        yield (
            table[["model", "n", "strength", "se", "low", "high"]]
            .head(20)
            .to_string(index=False, float_format=lambda value: f"{value:.3f}")
        )
        if len(table) > 20:
            yield f"and {len(table) - 20:,} more models"
        for row in self.parameters.itertuples():
            yield f"{row.parameter}: {row.estimate:.3f} (se {row.se:.3f}) {row.note}".rstrip()
        yield from (f"note: {notice}" for notice in self.notices)

    def _position(self, model: str) -> int:
        try:
            return self.models.index(model)
        except ValueError:
            raise DataError(
                f"there is no model {model!r} in these battles; some of them: {listed(self.models)}"
            ) from None

    def _order(self, a: int, b: int) -> int:
        pair = f"{self.models[a]!r} and {self.models[b]!r}"
        if self.component[a] != self.component[b]:
            raise DataError(
                f"{pair} cannot be compared: no chain of battles connects them "
                f"(connected sets {self.component[a]} and {self.component[b]})"
            )
        sign = self.separation.order(int(self.group[a]), int(self.group[b]))
        if not sign:
            raise DataError(
                f"{pair} cannot be compared by maximum likelihood: each stands infinitely far "
                "from the models that connect them; use phantom wins or a prior"
            )
        return sign


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    return float(stats.norm.ppf(0.5 + 0.5 * level))
