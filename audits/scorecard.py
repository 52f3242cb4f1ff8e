"""The scorecard of P1: domain composites, global index, judges, items, efficiency frontier."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import Final

import numpy as np
import pandas as pd

from neartie.audits.composite import HALF_WIDTHS, global_indices
from neartie.audits.confidence import calibrate_confidence
from neartie.audits.index_gaps import index_covariance, with_gaps
from neartie.audits.panel_agreement import COLUMNS as AGREEMENT
from neartie.audits.panel_agreement import panel_agreement
from neartie.audits.pareto import pareto_set
from neartie.audits.scorecard_abilities import DomainAbilities, fitted_abilities, given_abilities
from neartie.audits.scorecard_caveats import scorecard_caveats
from neartie.audits.scorecard_domains import COLUMNS, domain_rows, task_rows
from neartie.audits.scorecard_duels import duelled_abilities
from neartie.audits.scorecard_judges import duel_row, judge_rows
from neartie.audits.scorecard_result import Scorecard
from neartie.audits.scorecard_settings import SCALE, ScoreSettings
from neartie.data.errors import DataError
from neartie.data.labels import natural_key
from neartie.data.score_inputs import ScoreInputs
from neartie.data.wording import listed

type Progress = Callable[[str, float], None]

LIBRARIES: Final = ("neartie", "numpy", "scipy", "pandas", "numba")
#: The "domain" of the agreement of labels.
LABELS: Final = "labels"


def make_scorecard(
    inputs: ScoreInputs,
    settings: ScoreSettings | None = None,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> Scorecard:
    """Return the scorecard of some models.

    Parameters
    ----------
    inputs : ScoreInputs
    settings : ScoreSettings, optional
        P1's by default.
    rng : Generator or int, optional
        Of the resamples behind half-widths that count all terms, and of what calibrated answers
        would show. Nothing else is drawn.
    progress : callable, optional
        Called with what is done and its share.

    Returns
    -------
    Scorecard

    Raises
    ------
    DataError
        If a domain has several kinds of data, a weight names no domain, or ready scores lie
        outside [0, 1] and are not rescaled.

    Notes
    -----
    Economics stand beside quality and never enter a score (P1, principle P6).

    References
    ----------
    P1, "Item hygiene" to "The efficiency frontier".

    Examples
    --------
    >>> tasks = pd.DataFrame({"model": ["a", "b"], "domain": "math", "value": [0.4, 0.7]})
    >>> print(make_scorecard(ScoreInputs.build(tasks=tasks)))
    scorecard, rules 1.0.0: 2 models
       1   700.0 ±   nan  b
       2   400.0 ±   nan  a
    """
    chosen = ScoreSettings() if settings is None else settings
    say = progress or _silent
    seed = _seed(rng)
    found: list[DomainAbilities] = []
    ability_rng, term_rng = np.random.default_rng(seed).spawn(2)
    for abilities in _abilities(inputs, chosen, ability_rng):
        say("abilities", 0.0)
        found.append(abilities)
    parts, bins = [], []
    streams = term_rng.spawn(len(found))
    for k, (abilities, stream) in enumerate(zip(found, streams, strict=True)):
        say("terms", k / len(found))
        rows, own_bins = domain_rows(abilities, inputs, chosen, stream)
        parts.append(rows)
        bins += own_bins
    notices: list[str] = []
    if not inputs.tasks.empty:
        _refuse_shared(found, inputs.tasks)
        rows, notices = task_rows(inputs.tasks, chosen)
        parts.append(rows)
    domains = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    _refuse_unknown_weights(chosen, domains)
    models = _models(domains, inputs.economics, chosen, notices)
    covariance = index_covariance(found, domains, models, chosen)
    models = with_gaps(models, covariance, chosen)
    judges, duels, agreement = _judges(found, inputs)
    card = Scorecard(
        models=models.assign(version=chosen.stamp),
        domains=domains.assign(version=chosen.stamp),
        items=_items(found),
        bins=_bins(bins, inputs, chosen),
        duels=duels,
        judges=judges,
        agreement=agreement,
        covariance=covariance,
        stamp=chosen.stamp,
        seed=seed,
        converged=all(abilities.converged for abilities in found),
        settings=chosen.to_dict(),
        versions={"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
        warnings=(),
    )
    caveats = scorecard_caveats(card, found, notices, inputs.notices)
    return replace(card, warnings=caveats)


def _abilities(
    inputs: ScoreInputs, settings: ScoreSettings, rng: np.random.Generator
) -> Iterator[DomainAbilities]:
    """Yield the abilities of each domain, in the natural order of domains."""
    given = set(inputs.abilities["domain"])
    answered, duelled = set(inputs.answers["domain"]), set(inputs.verdicts["domain"])
    for first, second, what in (
        (answered, duelled, "answers and duels"),
        (given, duelled, "given abilities and duels"),
    ):
        both = sorted(first & second)
        if both:
            raise DataError(f"domain {both[0]!r} has both {what}; name them differently")
    names = sorted(given | answered | duelled, key=natural_key)
    for domain, stream in zip(names, rng.spawn(len(names)), strict=True):
        if domain in given:
            yield given_abilities(domain, inputs)
        elif domain in answered:
            yield fitted_abilities(domain, inputs.answers, settings)
        else:
            yield duelled_abilities(domain, inputs, settings, stream)


def _refuse_shared(found: list[DomainAbilities], tasks: pd.DataFrame) -> None:
    both = sorted({abilities.domain for abilities in found} & set(tasks["domain"]))
    if both:
        raise DataError(
            f"domain {both[0]!r} has both a ready score and data to score; name them differently"
        )


def _refuse_unknown_weights(settings: ScoreSettings, domains: pd.DataFrame) -> None:
    unknown = sorted(set(settings.domain_weights) - set(domains["domain"]))
    if unknown:
        raise DataError(
            f"weights name domains that are not there: {listed(unknown)}; there are "
            f"{listed(sorted(set(domains['domain'])), limit=12)}"
        )


def _models(
    domains: pd.DataFrame, economics: pd.DataFrame, settings: ScoreSettings, notices: list[str]
) -> pd.DataFrame:
    """Return the global table, the best first and incomplete models last."""
    table = global_indices(domains, settings=settings)
    widest = table["half_width_all"].fillna(table["half_width"])
    table["low"] = (table["global_index"] - widest).clip(lower=0)
    table["high"] = (table["global_index"] + widest).clip(upper=SCALE)
    strange = sorted(set(economics["model"]) - set(table["model"]))
    if strange:
        notices.append(f"costs of models without a score are left out: {listed(strange)}")
    measured = economics.set_index("model").reindex(table["model"])
    for axis in ("cost", "latency"):
        table[axis] = measured[axis].to_numpy(dtype=np.float64)
        # The frontier compares qualities, so that an incomplete one has no place on it.
        quality = table["global_index"].where(table["complete"] == 1)
        on = pareto_set(quality, table[axis])
        known = quality.notna() & table[axis].notna()
        table[f"{axis}_frontier"] = pd.array(on.astype(int), dtype="Int64")
        table.loc[~known, f"{axis}_frontier"] = pd.NA
    order = ["model", "global_index", *HALF_WIDTHS, "low", "high", "rank", "n_domains", "missing"]
    order += ["complete", "shared_index", "shared_rank", "cost", "latency"]
    table = table[[*order, "cost_frontier", "latency_frontier"]]
    place = table["rank"].fillna(len(table) + 1).astype(int)
    by = pd.DataFrame({"place": place, "index": -table["global_index"], "model": table["model"]})
    return table.loc[by.sort_values(["place", "index", "model"]).index].reset_index(drop=True)


def _items(found: list[DomainAbilities]) -> pd.DataFrame:
    parts = [part.items.assign(domain=part.domain) for part in found if len(part.items)]
    columns = ["domain", "item", "n", "discrimination", "difficulty", "flag"]
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)[columns]


def _bins(parts: list[pd.DataFrame], inputs: ScoreInputs, settings: ScoreSettings) -> pd.DataFrame:
    """Return the bins by domain, and those of all domains together under a blank domain."""
    if not parts:
        names = ("domain", "model", "bin", "low", "high", "n", "accuracy", "confidence", "error")
        return pd.DataFrame(columns=list(names))
    together = []
    for model, rows in inputs.answers.groupby("model"):
        pooled = calibrate_confidence(
            rows["confidence"],
            rows["score"],
            n_bins=settings.n_bins,
            closed=settings.closed,
            binning=settings.binning,
        )
        bins = pooled.bins[pooled.bins["n"] > 0].reset_index(drop=True)
        bins.insert(0, "model", model)
        bins.insert(0, "domain", "")
        if len(bins):
            together.append(bins)
    return pd.concat([*together, *parts], ignore_index=True)


def _judges(
    found: list[DomainAbilities], inputs: ScoreInputs
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    judges, duels, agreement = [], [], []
    for part in found:
        if part.panel is not None:
            own = inputs.verdicts[inputs.verdicts["domain"] == part.domain]
            judges.append(judge_rows(part.domain, part.panel, own, inputs.providers))
            duels.append(duel_row(part.domain, part.panel, own, inputs.providers))
            agreement.append(part.panel.agreement.assign(domain=part.domain))
    if not inputs.labels.empty:
        agreement.append(panel_agreement(inputs.labels).assign(domain=LABELS))
    columns = ["domain", *AGREEMENT]
    return (
        pd.concat(judges, ignore_index=True)
        if judges
        else pd.DataFrame(columns=["domain", "judge"]),
        pd.DataFrame(duels),
        pd.concat(agreement, ignore_index=True)[columns]
        if agreement
        else pd.DataFrame(columns=columns),
    )


def _silent(step: str, share: float) -> None:
    """Report nothing."""


def _seed(rng: np.random.Generator | int | None) -> int:
    if isinstance(rng, (int, np.integer)):
        if rng < 0:
            raise ValueError(f"a seed is a whole number of at least 0, got {rng}")
        return int(rng)
    return int(np.random.default_rng(rng).integers(2**53))
