"""What stands against a comparison as a whole: fits that failed, too many dimensions, the audit's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from neartie.audits.comparison_base import ComparisonBase
from neartie.audits.comparison_settings import (
    BOOTSTRAP,
    MOST_DIMENSIONS,
    PLUG_IN,
    RESIDUAL,
    ComparisonSettings,
)
from neartie.audits.rung_result import RungResult

# Of a half, for each dimension: with fewer models a dimension describes single ones.
MODELS_A_DIMENSION: Final = 4
_SPECTRAL: Final = (PLUG_IN, RESIDUAL, BOOTSTRAP)


def comparison_caveats(
    base: ComparisonBase, rungs: Sequence[RungResult], settings: ComparisonSettings
) -> tuple[str, ...]:
    """Return the caveats of a comparison, worst first.

    Parameters
    ----------
    base : ComparisonBase
    rungs : sequence of RungResult
    settings : ComparisonSettings

    Returns
    -------
    tuple of str
    """
    found = []
    for rung in rungs:
        for half, facts in enumerate(rung.facts):
            if facts.get("converged") == "no":
                found.append(f"{rung.name}, half {half}: {facts.get('verdict')}")
    found.extend(crowding(base, settings))
    if settings.dimension is None and max(base.audit.k) > MOST_DIMENSIONS:
        found.append(
            f"the audit has {base.audit.k[0]} and {base.audit.k[1]} dimensions; the models that "
            f"are fitted have at most {MOST_DIMENSIONS}: compare with the audit at that dimension"
        )
    return (*found, *base.audit.warnings)


def crowding(base: ComparisonBase, settings: ComparisonSettings) -> tuple[str, ...]:
    """Return which K are too large for the models of a half; known before any rung is run.

    Parameters
    ----------
    base : ComparisonBase
    settings : ComparisonSettings

    Returns
    -------
    tuple of str
        One for the audit's K, one for that of the models that are fitted; none where every
        dimension has four models or more.
    """
    models = [half.responses.n_model for half in base.halves]
    fitted = any(name not in _SPECTRAL for name in settings.ladder)
    own = settings.dimensions(*base.audit.k) if fitted else base.audit.k
    said = [crowding_words("the audit", base.audit.k, models)]
    if own != base.audit.k:
        said.append(crowding_words("the model that is fitted", own, models))
    return tuple(filter(None, said))


def crowding_words(whose: str, k: Sequence[int], models: Sequence[int]) -> str:
    """Return that there are too few models for so many dimensions, or nothing.

    Parameters
    ----------
    whose : str
    k, models : (2,) int
        By half.

    Examples
    --------
    >>> crowding_words("the audit", (2, 20), (40, 41))
    'K of the audit is 20 for the 41 models of half 1: with fewer than 4 models a dimension, \
dimensions describe single models, and take up family effects with them; a smaller K is safer'
    >>> crowding_words("the audit", (2, 2), (40, 41))
    ''
    """
    crowded = [half for half in (0, 1) if MODELS_A_DIMENSION * k[half] > models[half]]
    if not crowded:
        return ""
    where = " and ".join(
        f"{k[half]} for the {models[half]:,} models of half {half}" for half in crowded
    )
    return (
        f"K of {whose} is {where}: with fewer than {MODELS_A_DIMENSION} models a dimension, "
        "dimensions describe single models, and take up family effects with them; a smaller K is "
        "safer"
    )
