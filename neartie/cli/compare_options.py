"""Options of `neartie compare`, and the settings that they describe."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from neartie.cli.audit_options import given_dimension
from neartie.cli.idle_options import refuse_idle

if TYPE_CHECKING:
    from neartie.audits.comparison_settings import ComparisonSettings

# Where files go without --out.
OUTPUT: Final = Path("neartie-compare")
RUNGS: Final = "residual,residual-bootstrap,laplace,advi,full"
HEADLINE: Final = "draws,latent"
_POINTS: Final = 100
# Options by the rungs that heed them.
_HEEDED: Final = {
    ("full",): ("engine", "chains", "tune", "thin", "min_ess", "cores"),
    ("residual-bootstrap",): ("offsets",),
    ("pathfinder", "advi", "full"): ("sparse", "zero_sum", "family_means"),
    ("laplace", "pathfinder", "advi", "full"): ("dimension",),
}


class World(StrEnum):
    """Where invented leaderboards come from."""

    leaderboard = "leaderboard"
    model = "model"


class Sampler(StrEnum):
    """What samples the full posterior."""

    gibbs = "gibbs"
    nuts = "nuts"


OptionalResponses = Annotated[
    Path | None,
    typer.Argument(
        metavar="RESPONSES",
        show_default=False,
        help="Table of answers: CSV, gzip CSV or Parquet; long (item, model, score) or wide. With "
        "--simulate they are copied, and may be left out.",
    ),
]
SimulateOption = Annotated[
    int | None,
    typer.Option(
        "--simulate",
        metavar="N",
        min=1,
        help="Draw N leaderboards whose truth is known, and say how far every rung is off it: copies "
        "of RESPONSES from a fit with K of --k or --dimension, or invented ones without.",
    ),
]
DesignOption = Annotated[
    str | None,
    typer.Option(
        "--design",
        metavar="NAME=VALUE,...",
        help="Of invented leaderboards, such as items=200,models=120: items, models, owners, "
        "families, unclassified, dimensions, sources, impact, dif-share, dif-effect, direction and "
        "others, as in neartie simulate.",
    ),
]
WorldOption = Annotated[
    World | None,
    typer.Option(
        "--world",
        help="Invented leaderboards come from neartie simulate, or from the full model itself, with "
        "--design items, models, owners, families, sources, dimension, loading-scale, easiness-mean, "
        "easiness-scale, dif-scale.",
    ),
]
DifFactorOption = Annotated[
    float | None,
    typer.Option(
        "--dif-factor",
        help="Copies of RESPONSES: what the fitted family effects are multiplied with, 1 where left "
        "out; 0 for none.",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS|local",
        help="Spread simulated leaderboards over the workers of a Dask scheduler, or over the cores "
        "of this machine. The results stay the same.",
    ),
]
RungsOption = Annotated[
    str,
    typer.Option(
        "--rungs",
        metavar="RUNG,...",
        help="What is held against the plug-in, which is always there: residual, "
        "residual-bootstrap, laplace, pathfinder, advi, full.",
    ),
]
DrawsOption = Annotated[
    int, typer.Option("--draws", min=20, help="Draws that every rung is compared by.")
]
OffsetsOption = Annotated[
    int,
    typer.Option(
        "--offsets",
        min=1,
        help="Times that residual-bootstrap estimates the offset anew; it divides --draws.",
    ),
]
DimensionOption = Annotated[
    str | None,
    typer.Option(
        "--dimension",
        metavar="K",
        help="Dimensions of the models that are fitted, such as 8, or 4,8 for halves 0 and 1; those "
        "of the audit where left out.",
    ),
]
SamplerOption = Annotated[
    Sampler, typer.Option("--engine", help="What samples the full posterior; both have the same.")
]
ChainsOption = Annotated[
    int, typer.Option("--chains", min=1, help="Chains of the full posterior; they share --draws.")
]
TuneOption = Annotated[
    int, typer.Option("--tune", min=1, help="Tuning draws of every chain, which are dropped.")
]
ThinOption = Annotated[int, typer.Option("--thin", min=1, help="Every how manieth draw is kept.")]
MinEssOption = Annotated[
    float | None,
    typer.Option(
        "--min-ess",
        help="Sample until the smallest effective sample size reaches it (gibbs): at most half of "
        "--draws.",
    ),
]
MarginOption = Annotated[
    float,
    typer.Option(
        "--margin", metavar="POINTS", help="Differences from the plug-in that are held for none."
    ),
]
SubtestsOption = Annotated[
    int,
    typer.Option(
        "--subtests",
        min=1,
        help="Random subtests that draws are compared with, scored as the draws are.",
    ),
]
HeadlineOption = Annotated[
    str,
    typer.Option(
        "--headline",
        metavar="ANCHORS,SCORES",
        help="What stands for a rung in lists of pairs: plug-in, draws, mean or inclusion; "
        "observed, latent or predictive.",
    ),
]
SparseOption = Annotated[
    bool,
    typer.Option("--sparse", help="Most items without family effects, some with large ones."),
]


def comparison_settings(
    rungs: str,
    *,
    dimension: str | None,
    margin: float,
    headline: str,
    options: dict[str, Any],
    draws: int,
    min_ess: float | None,
    **others: Any,
) -> ComparisonSettings:
    """Return the settings that options describe.

    Parameters
    ----------
    rungs, dimension, headline : str
        As typed.
    margin : float, percentage points
    options : dict
        Of the models that are fitted.
    draws, min_ess, **others
        Further settings.

    Raises
    ------
    DataError
        If a value is impossible; names the option.
    """
    from neartie.audits.comparison_settings import ComparisonSettings
    from neartie.data.errors import DataError

    if not (math.isfinite(margin) and 0 < margin < _POINTS):
        raise DataError(f"--margin takes points between 0 and 100, such as 2, got {margin:g}")
    if min_ess is not None and not 0 < min_ess <= draws / 2:
        raise DataError(
            f"--min-ess must lie above 0 and be at most {draws // 2:,}, half of --draws"
        )
    cell = _parts(headline)
    if len(cell) != 2:
        raise DataError(
            f"--headline takes anchors and scores, such as {HEADLINE}, got {headline!r}"
        )
    names = _parts(rungs)
    if not names:
        raise DataError(f"--rungs takes names after commas, such as {RUNGS}")
    try:
        return ComparisonSettings(
            rungs=tuple(names),
            dimension=given_dimension("--dimension", dimension),
            # a decimal of points is not always that of the proportion
            margin=round(margin / _POINTS, 12),
            headline=(cell[0], cell[1]),
            options=options,
            draws=draws,
            min_ess=min_ess,
            **others,
        )
    except ValueError as error:
        raise DataError(_in_options(str(error))) from error


def refuse_idle_rungs(
    context: typer.Context, settings: ComparisonSettings, *, copies: bool
) -> None:
    """Refuse options that were typed, and that no rung heeds.

    Parameters
    ----------
    context : typer.Context
    settings : ComparisonSettings
    copies : bool
        Whether leaderboards are copies of data, from a fit with a dimension of its own.

    Raises
    ------
    typer.BadParameter
        Names the option, and the rungs that it is for.
    """
    for rungs, names in _HEEDED.items():
        if not set(rungs) & set(settings.ladder):
            heeded = [name for name in names if not (copies and name == "dimension")]
            few = f"the rung{'s' if len(rungs) > 1 else ''} {', '.join(rungs)}"
            refuse_idle(context, heeded, f"does nothing here: it is for {few}, left out of --rungs")


def _parts(text: str) -> list[str]:
    """Return what stands between commas.

    Examples
    --------
    >>> _parts("plug-in, full,")
    ['plug-in', 'full']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def _in_options(message: str) -> str:
    """Name options in place of settings, for the user at the keyboard.

    Examples
    --------
    >>> _in_options("min_ess goes with the engine gibbs")
    '--min-ess goes with the engine gibbs'
    """
    names = "rungs|draws|offsets|dimension|engine|chains|tune|thin|min_ess|subtests|headline"
    return re.sub(
        rf"^(?:{names})\b", lambda found: "--" + found[0].replace("_", "-"), message
    ).replace("a rung is named twice", "--rungs names a rung twice")
