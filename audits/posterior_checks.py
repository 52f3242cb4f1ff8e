"""Checks of a model against its data: would draws of its prior or posterior give such data?"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd
import xarray as xr

from neartie.audits.anchors import exact_fraction
from neartie.audits.predictive_result import PredictiveChecks
from neartie.audits.predictive_runs import Run, run_answers, run_battles
from neartie.audits.predictive_tables import (
    accuracy_histogram,
    expected_outside,
    predictive_table,
)
from neartie.data.errors import DataError
from neartie.data.memory import require_memory
from neartie.inference.engine_draws import Progress
from neartie.inference.fit import seed_of
from neartie.inference.prior_draws import draw_prior

DRAWS: Final = 1000
BAND: Final = Fraction("0.01")


def check_posterior(
    posterior: xr.DataTree,
    *,
    models: pd.DataFrame | None = None,
    band: float | str | Fraction = BAND,
    level: float = 0.95,
    draws: int = DRAWS,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> PredictiveChecks:
    r"""Return the data of a fit beside data that draws of its posterior would give.

    Parameters
    ----------
    posterior : DataTree
        As `fit` gives it, of any kind. The data stand in it.
    models : DataFrame, optional
        Column `model` and `family`, `owner` or both: pairs within a family or an owner are no
        near-ties. Families are those of the fit when left out, and all pairs count where it has
        none.
    band : number, proportion
        Of the near ties: a gap of at most this.
    level : float in (0, 1)
        Of the intervals.
    draws : int
        Replicates, one each of so many evenly spaced draws; all of them where there are fewer.
    progress : callable, optional
        Takes (step, share done).
    rng : Generator, int or None
        One whole number is drawn as the seed (an int is the seed itself).

    Returns
    -------
    PredictiveChecks

    Raises
    ------
    DataError
        If the tree holds no data or draws, or a model is missing from the table.
    ValueError
        If a setting is out of its range.

    Notes
    -----
    A replicate draws every answer, or battle, again, where there was one: missing cells stay
    missing. Parameters are the same as behind the data, which the fit has seen: totals of items
    and models, which the parameters were fitted to, lie inside their intervals more often than
    the level says, and p is nearer to 1/2 than a p-value of a test (Robins, van der Vaart and
    Ventura, 2000). They find gross errors. Statistics that no parameter was fitted to, such as
    the spread of the items' correlations for a 1PL, find the subtler ones.

    References
    ----------
    Rubin (1984), Annals of Statistics 12, 1151-1172. doi:10.1214/aos/1176346785
    Gelman, Meng and Stern (1996), Statistica Sinica 6, 733-807.
    Robins, van der Vaart and Ventura (2000), Journal of the American Statistical Association 95,
    1143-1156. doi:10.1080/01621459.2000.10474310
    """
    if "posterior" not in posterior.children:
        raise DataError("this tree has no group 'posterior', so there is no posterior to check")
    return _check(
        posterior,
        group="posterior",
        table=models,
        band=band,
        level=level,
        draws=draws,
        progress=progress,
        seed=seed_of(rng),
    )


def check_prior(
    model: Any,
    *,
    models: pd.DataFrame | None = None,
    band: float | str | Fraction = BAND,
    level: float = 0.95,
    draws: int = DRAWS,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> PredictiveChecks:
    """Return the data of a model beside data that draws of its prior would give.

    Parameters
    ----------
    model : pm.Model
        That a factory of neartie built.
    models, band, level, draws, progress, rng
        As in `check_posterior`.

    Returns
    -------
    PredictiveChecks
        Its intervals are wide, as a prior is for many benchmarks. An observed value outside
        them is one that the prior all but excludes. The totals of single items and models are
        all alike under such a prior; the accuracies of all of them together, in `histogram`, say
        more.

    Raises
    ------
    DataError
        If a prior is flat, or a model is missing from the table.
    TypeError
        If the model was not built by neartie.
    ValueError
        If a setting is out of its range.

    References
    ----------
    Box (1980), Journal of the Royal Statistical Society A 143, 383-430. doi:10.2307/2982063
    """
    from neartie.models.record import record_of

    record_of(model)
    _check_settings(band, level, draws)
    seed = seed_of(rng)
    first = np.random.SeedSequence(seed).spawn(1)[0]
    tree = draw_prior(model, draws=draws, rng=np.random.default_rng(first))
    return _check(
        tree,
        group="prior",
        table=models,
        band=band,
        level=level,
        draws=draws,
        progress=progress,
        seed=seed,
    )


def _check(
    tree: xr.DataTree,
    *,
    group: str,
    table: pd.DataFrame | None,
    band: float | str | Fraction,
    level: float,
    draws: int,
    progress: Progress | None,
    seed: int,
) -> PredictiveChecks:
    epsilon = _check_settings(band, level, draws)
    sizes = tree[group].sizes
    n_total = sizes.get("chain", 1) * sizes.get("draw", 0)
    if not n_total:
        raise DataError(f"the group {group!r} holds no draws")
    n = min(draws, n_total)
    # The middle of n equal parts of the chains in a row, so that every chain is heard.
    positions = ((np.arange(n) + 0.5) * n_total / n).astype(np.intp)
    kept = sum(sizes.get(name, 0) for name in ("item", "model"))
    require_memory(8 * n * kept, purpose=f"totals of {n:,} replicates")
    kind = str(tree.attrs.get("kind", ""))
    run: Callable[..., Run] = run_battles if kind == "bradley-terry" else run_answers
    found = run(
        tree,
        group=group,
        table=table,
        epsilon=epsilon,
        positions=positions,
        progress=progress,
        rng=np.random.default_rng(np.random.SeedSequence(seed)),
    )
    return _assemble(found, tree, group=group, kind=kind, epsilon=epsilon, level=level, seed=seed)


def _assemble(
    run: Run,
    tree: xr.DataTree,
    *,
    group: str,
    kind: str,
    epsilon: Fraction,
    level: float,
    seed: int,
) -> PredictiveChecks:
    tables, coverage, shares = {}, [], {}
    for name, part in (("items", run.items), ("models", run.models)):
        column = name.removesuffix("s")
        made = predictive_table(
            part.observed, part.replicates, ids=part.ids, column=column, level=level
        )
        made.insert(1, "n", part.n)
        # No answer, no total to be right or wrong about.
        made.loc[part.n == 0, ["observed", "predicted", "low", "high", "p"]] = np.nan
        tables[name] = made
        shares[name] = _rates(part.replicates, part.n).ravel()
        shares[f"observed_{name}"] = _rates(part.observed, part.n)
        if some := int((part.n > 0).sum()):
            n_outside = int(made.loc[part.n > 0, "outside"].sum())
            expected = expected_outside(part.replicates[:, part.n > 0], made[part.n > 0])
            coverage.append((name, some, n_outside, n_outside / some, expected))
    statistics = predictive_table(
        run.observed, run.replicates, ids=run.names, column="statistic", level=level
    )
    statistics.insert(1, "meaning", pd.Series(run.meanings, dtype="str"))
    converged = str(tree.attrs.get("converged", "not assessed"))
    verdict = str(tree.attrs.get("verdict", ""))
    notices = [str(text) for text in json.loads(str(tree.attrs.get("notices", "[]")))]
    doubtful = [verdict] if group == "posterior" and converged != "yes" and verdict else []
    return PredictiveChecks(
        source=group,
        kind=kind,
        items=tables["items"],
        models=tables["models"],
        statistics=statistics,
        coverage=pd.DataFrame(
            coverage, columns=["quantity", "n", "n_outside", "share", "expected"]
        ),
        histogram=accuracy_histogram(shares),
        replicates=pd.DataFrame(run.replicates, columns=list(run.names)),
        across=run.across,
        level=level,
        band=float(epsilon),
        n_draws=len(run.replicates),
        seed=seed,
        converged="not assessed" if group == "prior" else converged,
        verdict=verdict,
        settings={
            "engine": str(tree.attrs.get("engine", "")),
            **json.loads(str(tree.attrs.get("options", "{}"))),
        },
        versions=json.loads(str(tree.attrs.get("versions", "{}"))),
        warnings=tuple(dict.fromkeys([*doubtful, *run.notices, *notices])),
    )


def _rates(total: Any, n: Any) -> Any:
    return np.divide(total, n, out=np.full(np.shape(total), np.nan), where=n > 0)


def _check_settings(band: float | str | Fraction, level: float, draws: int) -> Fraction:
    epsilon = exact_fraction(band)
    if not 0 <= epsilon <= 1:
        raise ValueError(f"band must lie in [0, 1], got {band}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise ValueError(f"draws must be a whole number of at least 1, got {draws!r}")
    return epsilon
