"""The audit's answer as tables, from the results of its steps."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np
import pandas as pd

from neartie.audits.anchors import exact_fraction
from neartie.audits.caveats import collect_caveats
from neartie.audits.controls import RandomComparison, compare_with_random
from neartie.audits.population import Population
from neartie.audits.purification import Purification
from neartie.audits.ranking import shared_rank
from neartie.audits.replicates import ReplicateCounts
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.audits.targets import Target, mean_tau_b, pooled
from neartie.inference.dimension import DimensionChoice

LIBRARIES = ("neartie", "numpy", "scipy", "pandas", "numba")


def assemble(
    *,
    population: Population,
    source: list[str],
    choices: list[DimensionChoice | None],
    purified: list[Purification],
    targets: list[Target],
    fractions: pd.DataFrame,
    random: ReplicateCounts | None,
    recomposed: ReplicateCounts | None,
    settings: AuditSettings,
    seed: int,
    reader_notices: tuple[str, ...],
) -> NearTieAudit:
    """Return the audit's answer.

    Parameters
    ----------
    population : Population
    source : list of str, n_item
    choices, purified, targets : list
        One a half.
    fractions : DataFrame
    random, recomposed : ReplicateCounts or None
        Pooled over the halves; None where they were left out.
    settings : AuditSettings
    seed : int
    reader_notices : tuple of str

    Returns
    -------
    NearTieAudit
    """
    # Where nothing is left out, random subtests are the whole test too: there is no comparison.
    nothing_left_out = all(bool(p.subtest.selected.all()) for p in purified)
    compared = None if nothing_left_out else random
    thresholds = threshold_table(targets, compared, recomposed, settings)
    k = tuple(int(p.rounds["k"].iloc[0]) for p in purified)
    primary = float(exact_fraction(settings.primary_band))
    overall = pooled(targets)
    return NearTieAudit(
        population=population.table,
        excluded=population.excluded,
        families=population.families(),
        items=pd.concat(
            [_items(population, source, h, p) for h, p in enumerate(purified)]
        ).reset_index(drop=True),
        dif=pd.concat([_dif(population, h, p) for h, p in enumerate(purified)]).reset_index(
            drop=True
        ),
        dimension=_dimension(choices),
        rounds=pd.concat(
            [p.rounds.assign(half=h) for h, p in enumerate(purified)], ignore_index=True
        )[["half", *purified[0].rounds.columns]],
        scores=pd.concat([_scores(population, t) for t in targets]).reset_index(drop=True),
        pairs=pd.concat([_pairs(population, t, settings) for t in targets]).reset_index(drop=True),
        thresholds=thresholds,
        fractions=fractions.astype({"tau_b": float, "reversal_rate": float}),
        random_rates=_random_rates(random, settings),
        k=(k[0], k[1]),
        tau_b=mean_tau_b(targets),
        all_pairs_rate=overall.rate,
        n_items=population.responses.n_item,
        n_eligible=pooled(targets, settings.primary_band).n_eligible,
        seed=seed,
        primary_epsilon=primary,
        jaccard=(_jaccard(purified[0], settings), _jaccard(purified[1], settings)),
        settings=settings.to_dict() | {"frozen_population": population.frozen},
        versions={"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
        warnings=collect_caveats(
            population=population,
            choices=choices,
            purified=purified,
            thresholds=thresholds,
            settings=settings,
            reader_notices=reader_notices,
        ),
    )


def threshold_table(
    targets: list[Target],
    random: ReplicateCounts | None,
    recomposed: ReplicateCounts | None,
    settings: AuditSettings,
) -> pd.DataFrame:
    """Return one row a band: counts, rate, matched-random comparison, recomposition range."""
    rows = []
    for column, epsilon in enumerate(settings.exact_bands):
        count = pooled(targets, epsilon)
        compared = (
            compare_with_random(count, random, column)
            if random is not None
            else RandomComparison(
                median=None, low=None, high=None, excess_pp=None, p_value=None, n_undefined=0
            )
        )
        low, high, undefined = _range(recomposed, column)
        rows.append(
            {
                "epsilon": float(epsilon),
                "n_band": count.n_band,
                "n_tied": count.n_tied,
                "n_eligible": count.n_eligible,
                "rate": count.rate,
                "random_median": compared.median,
                "excess_pp": compared.excess_pp,
                "p_value": compared.p_value,
                "range_low": low,
                "range_high": high,
                "random_low": compared.low,
                "random_high": compared.high,
                "n_random_undefined": compared.n_undefined,
                "n_bootstrap_undefined": undefined,
            }
        )
    table = pd.DataFrame(rows)
    counts = ["n_band", "n_tied", "n_eligible", "n_random_undefined", "n_bootstrap_undefined"]
    return table.astype({name: int if name in counts else float for name in table.columns})


def _range(
    recomposed: ReplicateCounts | None, column: int
) -> tuple[float | None, float | None, int]:
    if recomposed is None:
        return None, None, 0
    rates = recomposed.rate[:, column]
    defined = rates[~np.isnan(rates)]
    if not len(defined):
        return None, None, len(rates)
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high), int(len(rates) - len(defined))


def _items(
    population: Population, source: list[str], half: int, purified: Purification
) -> pd.DataFrame:
    names = np.array(purified.cells.names, dtype=object)
    fit = purified.selecting
    return pd.DataFrame(
        {
            "item": population.responses.item_ids,
            "source": source,
            "half": half,
            "cell": names[purified.cells.code],
            "easiness": fit.easiness,
            "dif_range": fit.dif_range,
            "anchor": purified.subtest.selected.astype(int),
            "weight": [float(weight) for weight in purified.subtest.weights()],
            "constant": (fit.constant != 0).astype(int),
            "easiness_refit": purified.signature.easiness,
        }
    )


def _dif(population: Population, half: int, purified: Purification) -> pd.DataFrame:
    fit = purified.signature
    n_item, n_family = fit.effects.shape
    return pd.DataFrame(
        {
            "item": np.repeat(np.array(population.responses.item_ids, dtype=object), n_family),
            "half": half,
            "family": np.tile(np.array(fit.families, dtype=object), n_item),
            "effect": fit.effects.ravel(),
        }
    )


def _dimension(choices: list[DimensionChoice | None]) -> pd.DataFrame:
    parts = [c.table.assign(half=h) for h, c in enumerate(choices) if c is not None]
    columns = ["half", "k", "loss", "se", "selected", "difference", "difference_se"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _scores(population: Population, target: Target) -> pd.DataFrame:
    table = population.table.iloc[target.positions][["model", "owner", "family", "half"]]
    scores = target.scores
    return table.assign(
        full=scores.full / scores.n_items,
        anchor=[float(score) for score in scores.anchor],
        rank_full=shared_rank(scores.full),
        rank_anchor=shared_rank(scores.anchor_level),
    )


def _pairs(population: Population, target: Target, settings: AuditSettings) -> pd.DataFrame:
    product = np.sign(target.pairs.gap) * target.signs
    mask = target.pairs.within(settings.primary_band) & (product != 0)
    pairs = target.pairs.take(mask)
    model = np.array(population.table["model"].tolist(), dtype=object)[target.positions]
    anchor = target.scores.anchor
    return pd.DataFrame(
        {
            "model_a": model[pairs.first],
            "model_b": model[pairs.second],
            "half": target.half,
            "gap_full": pairs.gap / pairs.n_items,
            "gap_anchor": [
                float(anchor[a] - anchor[b]) for a, b in zip(pairs.first, pairs.second, strict=True)
            ],
            "reversed": (product[mask] < 0).astype(int),
        }
    )


def _random_rates(random: ReplicateCounts | None, settings: AuditSettings) -> pd.DataFrame:
    if random is None:
        return pd.DataFrame({"replicate": [], "epsilon": [], "rate": []})
    n, n_band = random.rate.shape
    return pd.DataFrame(
        {
            "replicate": np.repeat(np.arange(n), n_band),
            "epsilon": np.tile([float(band) for band in settings.exact_bands], n),
            "rate": random.rate.ravel(),
        }
    )


def _jaccard(purified: Purification, settings: AuditSettings) -> tuple[float, ...]:
    return tuple(float(v) for v in purified.rounds["jaccard"].iloc[1 : settings.rounds])
