"""The rows of a scorecard, one a model and domain: terms, composite, intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neartie.audits.composite import accuracy_slope, composites, rescaled
from neartie.audits.confidence import calibrate_confidence, expected_error_if_calibrated
from neartie.audits.score_resampling import ItemTerms, spread_of_terms
from neartie.audits.scorecard_abilities import DomainAbilities
from neartie.audits.scorecard_settings import SCALE, ScoreSettings
from neartie.audits.stability import contamination_gap, modal_shares
from neartie.data.errors import DataError
from neartie.data.labels import natural_key
from neartie.data.score_inputs import ScoreInputs
from neartie.data.wording import listed

type Floats = NDArray[np.float64]

#: Columns of a scorecard's domains, in this order.
COLUMNS: Final = (
    "domain", "model", "source", "n", "n_possible", "accuracy", "ability", "se", "se_printed",
    "ability_share", "consistency", "n_consistency", "calibration", "n_confidence", "ece",
    "ece_if_calibrated", "max_error", "brier", "overconfidence", "contamination_gap", "gap_low",
    "gap_high", "n_anchor", "n_fresh", "resistance", "measured", "composite", "score",
    "half_width", "half_width_printed", "half_width_all", "low", "high", "reason",
)  # fmt: skip
_WHOLE: Final = ("n", "n_possible", "n_consistency", "n_confidence", "n_anchor", "n_fresh")


def domain_rows(
    abilities: DomainAbilities,
    inputs: ScoreInputs,
    settings: ScoreSettings,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """Return one row a model of a domain, and the bins of their confidences.

    Parameters
    ----------
    abilities : DomainAbilities
    inputs : ScoreInputs
    settings : ScoreSettings
    rng : Generator

    Returns
    -------
    rows : DataFrame
        Models in plain order; columns `COLUMNS`.
    bins : list of DataFrame
        With `domain` and `model` first.
    """
    domain = abilities.domain
    answers = inputs.answers[inputs.answers["domain"] == domain]
    samples = modal_shares(inputs.samples[inputs.samples["domain"] == domain])
    table = abilities.table.set_index("model")
    models = sorted({*table.index, *answers["model"], *samples["model"]})
    items = sorted({*answers["item"], *samples["item"]}, key=natural_key)
    place = _Places.of(models, items)
    columns = {
        "correct": place.fill(answers, "score"),
        "confidence": place.fill(answers, "confidence"),
        "anchor": place.fill(answers, "anchor"),
        "share": place.fill(samples, "share"),
        "influence": place.fill(abilities.influence, "influence"),
    }
    rows, bins = [], []
    for m, (model, stream) in enumerate(zip(models, rng.spawn(len(models)), strict=True)):
        terms = ItemTerms(**{name: matrix[m] for name, matrix in columns.items()})
        row, own_bins = _measure(terms, settings, stream)
        known = table.loc[model] if model in table.index else None
        row |= {
            "model": model,
            "n": np.nan if known is None else known["n"],
            "ability": np.nan if known is None else known["ability"],
            "se": np.nan if known is None else known["se"],
            "se_printed": np.nan if known is None else known["se_printed"],
            "reason": "no scored answer" if known is None else known["reason"],
        }
        rows.append(row)
        if own_bins is not None:
            own_bins.insert(0, "model", model)
            own_bins.insert(0, "domain", domain)
            bins.append(own_bins)
    frame = pd.DataFrame(rows).assign(domain=domain, source=abilities.source)
    return _scored(frame, settings), bins


def task_rows(tasks: pd.DataFrame, settings: ScoreSettings) -> tuple[pd.DataFrame, list[str]]:
    """Return one row a model and domain of ready scores, and what to say about them.

    Parameters
    ----------
    tasks : DataFrame
        `domain`, `model`, `value`.
    settings : ScoreSettings
        `rescale`.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`; no intervals, because nothing is known of the errors.
    notices : list of str

    Raises
    ------
    DataError
        If scores that are not rescaled lie outside [0, 1].
    """
    wide = tasks.pivot(index="model", columns="domain", values="value").sort_index()
    values = {str(name): wide[name].to_numpy(dtype=np.float64) for name in wide}
    notices, reason = [], {}
    if settings.rescale == "min-max":
        known, tied = rescaled(values)
        values = {name: known.get(name, np.full(len(wide), np.nan)) for name in values}
        reason = dict.fromkeys(tied, "all models are equal on it")
        if tied:
            notices.append(
                f"{'task' if len(tied) == 1 else 'tasks'} {listed(sorted(tied))} left out for all "
                "models, which are equal there: rescaling to worst and best would divide zero by "
                "zero"
            )
    for name, column in values.items():
        outside = np.flatnonzero((column < 0) | (column > 1))
        if len(outside):
            raise DataError(
                f"task {name!r}: the score of {wide.index[outside[0]]!r} is {column[outside[0]]:g}, "
                "outside 0 to 1; divide by its maximum, or rescale by min-max (--rescale min-max)"
            )
    models = wide.index.astype("str")
    parts = [
        pd.DataFrame(
            {
                "domain": name,
                "model": models,
                "composite": column,
                "reason": np.where(np.isnan(column), reason.get(name, "no score"), ""),
            }
        )
        for name, column in values.items()
    ]
    frame = pd.concat(parts, ignore_index=True).assign(source="task")
    frame["score"] = SCALE * frame["composite"]
    return _in_order(frame), notices


@dataclass(frozen=True, kw_only=True, slots=True)
class _Places:
    """Rows of models and columns of items."""

    models: dict[str, int]
    items: dict[str, int]

    @classmethod
    def of(cls, models: list[str], items: list[str]) -> Self:
        return cls(
            models={model: k for k, model in enumerate(models)},
            items={item: k for k, item in enumerate(items)},
        )

    def fill(self, table: pd.DataFrame, name: str) -> Floats:
        """Return a column of a table as a matrix, models by items, NaN where there is no row."""
        matrix = np.full((len(self.models), len(self.items)), np.nan)
        row = table["model"].map(self.models).to_numpy(dtype=np.intp)
        column = table["item"].map(self.items).to_numpy(dtype=np.intp)
        matrix[row, column] = table[name].to_numpy(dtype=np.float64)
        return matrix


def _measure(
    terms: ItemTerms, settings: ScoreSettings, rng: np.random.Generator
) -> tuple[dict[str, Any], pd.DataFrame | None]:
    """Return the terms of one model in one domain, and the bins of its confidences."""
    null_rng, spread_rng = rng.spawn(2)
    shape: dict[str, Any] = {
        "n_bins": settings.n_bins,
        "closed": settings.closed,
        "binning": settings.binning,
    }
    calibration = calibrate_confidence(terms.confidence, terms.correct, **shape)
    scored = ~np.isnan(terms.correct)
    stated = np.where(scored, terms.confidence, np.nan)
    gap = contamination_gap(terms.correct, terms.anchor, gap_limit=settings.gap_limit)
    shares = terms.share[~np.isnan(terms.share)]
    if_calibrated = variance = covariance = np.nan
    if settings.n_resamples > 1:
        if_calibrated = expected_error_if_calibrated(
            stated, **shape, n_draws=settings.n_resamples, rng=null_rng
        )
        variance, covariance = spread_of_terms(terms, settings, spread_rng)
    row = {
        "n_possible": len(terms.correct) or np.nan,
        "accuracy": float(terms.correct[scored].mean()) if scored.any() else np.nan,
        "consistency": float(shares.mean()) if len(shares) else np.nan,
        "n_consistency": len(shares),
        "calibration": 1 - calibration.ece,
        "n_confidence": calibration.n,
        "ece": calibration.ece,
        "ece_if_calibrated": if_calibrated,
        "max_error": calibration.max_error,
        "brier": calibration.brier,
        "overconfidence": calibration.overconfidence,
        "contamination_gap": gap.gap,
        "gap_low": gap.low,
        "gap_high": gap.high,
        "n_anchor": gap.n_anchor,
        "n_fresh": gap.n_fresh,
        "resistance": gap.resistance,
        "variance": variance,
        "covariance": covariance,
    }
    bins = calibration.bins[calibration.bins["n"] > 0].reset_index(drop=True)
    return row, bins if len(bins) else None


def _scored(frame: pd.DataFrame, settings: ScoreSettings) -> pd.DataFrame:
    """Add composite, score and intervals."""
    ability = frame["ability"].to_numpy(dtype=np.float64)
    composite, measured = composites(
        ability,
        consistency=frame["consistency"],
        calibration=frame["calibration"],
        resistance=frame["resistance"],
        settings=settings,
    )
    slope = accuracy_slope(ability, measured, settings=settings)
    frame["ability_share"] = 1 / (1 + np.exp(-ability))
    frame["measured"] = measured / sum(settings.weights.values())
    frame["composite"], frame["score"] = composite, SCALE * composite
    se = frame["se"].to_numpy(dtype=np.float64)
    frame["half_width"] = settings.critical * slope * se
    frame["half_width_printed"] = settings.critical * slope * frame["se_printed"]
    other = np.divide(SCALE, measured, out=np.full(len(measured), np.nan), where=measured > 0)
    variance = (
        np.square(slope * se)
        + np.square(other) * frame["variance"]
        + 2 * slope * other * frame["covariance"]
    )
    frame["half_width_all"] = settings.critical * np.sqrt(np.maximum(variance, 0.0))
    widest = frame["half_width_all"].fillna(frame["half_width"])
    frame["low"] = (frame["score"] - widest).clip(lower=0)
    frame["high"] = (frame["score"] + widest).clip(upper=SCALE)
    return _in_order(frame)


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.reindex(columns=list(COLUMNS))
    whole = {name: frame[name].astype("Float64").astype("Int64") for name in _WHOLE}
    numbers = [n for n in COLUMNS if n not in ("domain", "model", "source", "reason", *_WHOLE)]
    return frame.assign(**whole).astype(dict.fromkeys(numbers, np.float64))
