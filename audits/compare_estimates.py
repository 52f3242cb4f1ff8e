"""Point engines held against the posterior of the same model: bias, errors, ranks, verdicts."""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import xarray as xr

from neartie.audits.estimate_reference import Reference, reference_of
from neartie.audits.estimate_tables import comparison_tables
from neartie.audits.estimates_result import EstimateComparison
from neartie.audits.point_estimates import (
    PrintedEstimates,
    bradley_terry_estimates,
    left_out_options,
    two_pl_estimates,
)
from neartie.audits.preparation import without_constant_items
from neartie.data.battles import Battles
from neartie.data.errors import CaveatWarning, DataError
from neartie.data.responses import Responses
from neartie.data.wording import counted, listed
from neartie.inference.bradley_terry import PHANTOM_WINS
from neartie.inference.engine_draws import Progress
from neartie.inference.engines import SAMPLERS
from neartie.inference.fit import fit, seed_of
from neartie.inference.two_pl_place import MOST_MODELS
from neartie.models.bradley_terry_priors import BradleyTerryPriors
from neartie.models.priors import TwoPLPriors

LIBRARIES: Final = ("neartie", "numpy", "scipy", "pandas", "numba", "pymc")
KINDS: Final = ("two-pl", "bradley-terry")


def compare_estimates(
    data: Responses | Battles,
    *,
    kind: str | None = None,
    options: Mapping[str, Any] | None = None,
    posterior: xr.DataTree | None = None,
    engine: str = "gibbs",
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    thin: int = 1,
    min_ess: float | None = None,
    phantom_wins: float = PHANTOM_WINS,
    level: float = 0.95,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> EstimateComparison:
    r"""Return point estimates and every standard error they print, beside a posterior.

    Parameters
    ----------
    data : Responses or Battles
        Right/wrong answers, or battles. The order of rows and columns changes nothing.
    kind : {'two-pl', 'bradley-terry'}, optional
        What the data are for, when left out.
    options : mapping, optional
        Of the posterior's model, as in `build_two_pl` and `build_bradley_terry`. Point engines
        take `priors` (2PL), `ties` and `first_shown` over; others are said in the warnings.
    posterior : DataTree, optional
        What `fit` gave for these data. Sampled when left out.
    engine : {'gibbs', 'nuts'}
        What samples it.
    draws, tune, chains, cores, thin, min_ess
        As in `fit`.
    phantom_wins : float, battles
        Of the estimates with phantom wins, on each side of every pair: P1's 0.1. 0 leaves them
        out.
    level : float in (0, 1)
        Of all intervals and verdicts.
    progress : callable, optional
        Takes (step, share done).
    rng : Generator, int or None
        Of the sampler; one whole number is drawn as the seed (an int is the seed itself).

    Returns
    -------
    EstimateComparison

    Raises
    ------
    DataError
        If data do not allow it, or the posterior is one of other data.
    ValueError
        If a setting is out of range, or the point engine knows no such model.
    TypeError
        If kind and data do not go together.

    Notes
    -----
    Compared are: for the 2PL, the joint mode in the posterior's unit (`map`) and in its own
    (`map-mode-unit`, as printed), with `se` and P1's `se_items_known`, and its items; for
    battles, maximum likelihood (`-ml`), phantom wins (`-phantom`) and the mode under the
    posterior's prior (`newton-prior`), with the `se` of the full covariance and P1's
    `se_diagonal`.

    **Origin.** Estimates have mean zero over the models with answers, or over each connected set
    of battles. So has every draw, after its mean is taken off (difficulties move along). **Unit.**
    Estimates are compared in their own unit; `stretch` is the factor by which they lie further
    from the origin than posterior means, and `bias_rms_unit` what is left without it. Items
    without two different answers are left out of posterior and estimates alike, unless a
    posterior that holds them is given.

    **Verdicts.** A pair is resolved if the interval of its difference is all on one side of zero:
    from quantiles of the posterior, and from estimates with their covariance; for printed
    standard errors without one, from the root of the sum of their squares, as a reader would. A verdict
    is *close* if the posterior's own limit is within two errors of drawing of zero.
    Printed intervals *hold* if what they miss of the posterior is within 40 % of what they
    should (93 to 97 % at a level of 95 %).

    References
    ----------
    P1, equations `eq:map` and `eq:se`, and "Pairwise Duels and the Bradley-Terry Layer".

    Examples
    --------
    >>> battles = Battles.build(["owl"] * 10, ["ant"] * 10, ["a"] * 7 + ["b"] * 3)
    >>> found = compare_estimates(battles, draws=500, tune=200, rng=1)
    >>> row = found.estimator("newton-ml", se_name="se_diagonal")
    >>> row["n_pairs"], row["verdict"]
    (1, 'hold more')
    """
    chosen = _kind(data, kind)
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    if engine not in SAMPLERS:
        raise ValueError(
            f"engine must be one of {', '.join(SAMPLERS)}, got {engine!r}: the reference is sampled"
        )
    if not (np.isfinite(phantom_wins) and phantom_wins >= 0):
        raise ValueError(f"phantom_wins must be finite and not negative, got {phantom_wins}")
    said = _options(posterior, options)
    if isinstance(data, Responses):
        data, _ = data.canonical()
        data = without_constant_items(data) if posterior is None else _items_of(data, posterior)
    seed = seed_of(rng)
    say = progress or _silent
    # First what takes no time: an option that it does not know is said before the sampling.
    printed, notices = _printed(data, said, phantom_wins, given=posterior is not None)
    if posterior is None:
        posterior = _sampled(
            data,
            kind=chosen,
            options=said,
            sampling={
                "engine": engine,
                "draws": draws,
                "tune": tune,
                "chains": chains,
                "cores": cores,
                "thin": thin,
                "min_ess": min_ess,
            },
            progress=say,
            seed=seed,
        )
    reference = reference_of(posterior, data, printed, kind=chosen)
    tables = comparison_tables(
        reference, printed, level=level, progress=lambda share: say("comparing", share)
    )
    return EstimateComparison(
        **tables,
        kind=chosen,
        engine=str(posterior.attrs.get("engine", "given")),
        level=level,
        n_models=len(reference.models),
        n_items=data.n_item if isinstance(data, Responses) else 0,
        n_draws=len(reference.main.draws),
        seed=int(posterior.attrs.get("seed", seed)),
        converged=reference.main.converged,
        verdict=reference.main.verdict,
        settings={
            "options": {name: str(value) for name, value in said.items() if name != "priors"},
            "sampler": json.loads(str(posterior.attrs.get("settings", "{}"))),
            "phantom_wins": phantom_wins,
            "level": level,
        },
        versions={"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
        warnings=tuple(_caveats(reference, printed, notices, left_out_options(chosen, said), data)),
    )


def _kind(data: Responses | Battles, kind: str | None) -> str:
    if not isinstance(data, Responses | Battles):
        raise TypeError(f"compare_estimates takes responses or battles, got {type(data).__name__}")
    own = "two-pl" if isinstance(data, Responses) else "bradley-terry"
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind not in (None, own):
        needed = "responses" if kind == "two-pl" else "battles"
        raise TypeError(f"{kind} takes {needed}, got {type(data).__name__}")
    return own


def _options(posterior: xr.DataTree | None, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of the posterior's model, with its priors."""
    if posterior is None:
        return dict(options or {})
    if options is not None:
        raise ValueError(
            "options go with a posterior that is sampled; one that is given has its own"
        )
    found = json.loads(str(posterior.attrs.get("options", "{}")))
    priors = json.loads(str(posterior.attrs.get("priors", "{}")))
    if priors:
        battles = posterior.attrs.get("kind") == "bradley-terry"
        cls: Any = BradleyTerryPriors if battles else TwoPLPriors
        known = {field.name for field in fields(cls)}
        found["priors"] = cls(**{name: priors[name] for name in known & set(priors)})
    return dict(found)


def _items_of(data: Responses, posterior: xr.DataTree) -> Responses:
    """Return the answers to the items of a posterior, which may be all but constant ones."""
    if "posterior" not in posterior.children or "item" not in posterior["posterior"].coords:
        raise DataError("the posterior given holds no items, and is none of these answers")
    held = {str(label) for label in posterior["posterior"]["item"].to_numpy()}
    inside = np.array([name in held for name in data.item_ids])
    if set(without_constant_items(data).item_ids) - held or not inside.any():
        lost = [name for name in data.item_ids if name not in held]
        raise DataError(f"the posterior is one of other data: it has no item {listed(lost)}")
    return data.take(items=inside)


def _printed(
    data: Responses | Battles, options: Mapping[str, Any], phantom_wins: float, *, given: bool
) -> tuple[list[PrintedEstimates], list[str]]:
    """Return what point engines print of the model nearest to the posterior's."""
    priors = options.get("priors")
    if isinstance(data, Battles):
        scale = (priors or BradleyTerryPriors()).strength_sd
        return bradley_terry_estimates(
            data,
            ties=options.get("ties", "half"),
            first_shown=bool(options.get("first_shown", False)),
            phantom_wins=phantom_wins,
            prior_sd=None if options.get("hierarchical") else scale,
        )
    slopes = options.get("discrimination", "free")
    if slopes != "free":
        raise ValueError(
            f"the joint mode is one of free discriminations, and there is nothing to compare "
            f"discrimination {slopes!r} with"
        )
    # Items that a given posterior holds count in the estimates too.
    return two_pl_estimates(data, priors=priors, constant_items="keep" if given else "drop")


def _sampled(
    data: Responses | Battles,
    *,
    kind: str,
    options: dict[str, Any],
    sampling: dict[str, Any],
    progress: Progress,
    seed: int,
) -> xr.DataTree:
    with warnings.catch_warnings():
        # The verdict says the same, and leads the caveats.
        warnings.simplefilter("ignore", CaveatWarning)
        return fit(data, kind=kind, options=options, progress=progress, rng=seed, **sampling)


def _caveats(
    reference: Reference,
    printed: list[PrintedEstimates],
    notices: list[str],
    options: list[str],
    data: Responses | Battles,
) -> list[str]:
    found = []
    for name, one in reference.quantities.items():
        if one.converged != "yes":
            what = name.replace("_", " ")
            found.append(
                f"of the posterior of {what}, {counted(one.n_lost, 'value')} of "
                f"{one.draws.shape[1]:,} did not converge; means over all of them count these in"
                if one.is_usable
                else f"the posterior of {what} is not to be relied on. {one.verdict}"
            )
    lost = sorted({one.estimator for one in printed if not one.converged})
    if lost:
        found.append(f"not converged: {', '.join(lost)}")
    if options:
        found.append(
            f"point engines know nothing of {', '.join(options)}: what follows holds that against "
            "them too"
        )
    n = len(reference.models)
    if n > MOST_MODELS:
        found.append(f"pairs of {n:,} models (more than {MOST_MODELS:,}) are not compared")
    every = data.models if isinstance(data, Battles) else data.model_ids
    silent = [name for name in every if name not in set(reference.models)]
    if silent:
        found.append(f"left out, with nothing to compare: {listed(silent)}")
    return list(dict.fromkeys([*found, *notices, *data.notices, *reference.notices]))


def _silent(_step: str, _share: float) -> None:
    """Say nothing."""
