"""Arguments of `neartie fit` that its commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

# Where files go without --out.
OUTPUT = Path("neartie-fit")


class Engine(StrEnum):
    """How a posterior is found."""

    nuts = "nuts"
    gibbs = "gibbs"
    laplace = "laplace"
    pathfinder = "pathfinder"
    advi = "advi"


class TwoPLEngine(StrEnum):
    """How abilities are found."""

    nuts = "nuts"
    gibbs = "gibbs"
    laplace = "laplace"
    pathfinder = "pathfinder"
    advi = "advi"
    map = "map"


class Backend(StrEnum):
    """What computes densities."""

    numba = "numba"
    jax = "jax"


class Optimiser(StrEnum):
    """How the joint mode is found."""

    newton = "newton"
    adam = "adam"


class Scales(StrEnum):
    """Where the scales of priors come from, at the joint mode."""

    answers = "answers"
    prior = "prior"


class Unit(StrEnum):
    """Of ability, at the joint mode."""

    mode = "mode"
    posterior = "posterior"


class BattleEngine(StrEnum):
    """How strengths are found."""

    nuts = "nuts"
    gibbs = "gibbs"
    laplace = "laplace"
    pathfinder = "pathfinder"
    advi = "advi"
    newton = "newton"
    mm = "mm"


class Slopes(StrEnum):
    """Discriminations of the 2PL."""

    free = "free"
    one = "one"
    signed = "signed"


class ZeroSums(StrEnum):
    """Over what family effects sum to zero."""

    families = "families"
    families_and_items = "families_and_items"


class Start(StrEnum):
    """Where chains of the Gibbs sampler start."""

    dispersed = "dispersed"
    map = "map"


class Ties(StrEnum):
    """What a tie is."""

    half = "half"
    davidson = "davidson"
    rao_kupper = "rao-kupper"


EngineOption = Annotated[
    Engine,
    typer.Option(
        "--engine",
        help="nuts is the reference, gibbs the same for large data; the others approximate.",
    ),
]
TwoPLEngineOption = Annotated[
    TwoPLEngine,
    typer.Option(
        "--engine",
        help="nuts is the reference, gibbs the same for large data; map the joint mode with "
        "errors; the others approximate.",
    ),
]
OptimiserOption = Annotated[
    Optimiser,
    typer.Option("--optimiser", help="The exact optimum, or Adam as P1 prints it (map)."),
]
UnitOption = Annotated[
    Unit | None,
    typer.Option(
        "--unit",
        help="Of ability: the posterior's, in which intervals hold (default), or the mode's, as "
        "printed (default of adam) (map).",
    ),
]
ScalesOption = Annotated[
    Scales,
    typer.Option(
        "--scales",
        help="At what the priors' scales are held: found from the answers, or medians (map).",
    ),
]
ItemsFromOption = Annotated[
    Path | None,
    typer.Option(
        "--items-from",
        metavar="DIR",
        help="Score models on the items of an earlier fit, or of a table, taken as known (map).",
    ),
]
DrawsOption = Annotated[int, typer.Option("--draws", min=4, help="Kept draws of each chain.")]
TuneOption = Annotated[
    int, typer.Option("--tune", min=0, help="Tuning draws of each chain (nuts, gibbs).")
]
ChainsOption = Annotated[int, typer.Option("--chains", min=1, help="Chains (nuts, gibbs).")]
ThinOption = Annotated[int, typer.Option("--thin", min=1, help="Sweeps a kept draw (gibbs).")]
BackendOption = Annotated[
    Backend,
    typer.Option(
        "--backend",
        help="What computes densities; jax uses an accelerator where it finds one (all but gibbs).",
    ),
]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS|local",
        help="Run the chains on the workers of a Dask scheduler, or on processes of this machine "
        "(gibbs). The draws stay the same.",
    ),
]
StartOption = Annotated[
    Start,
    typer.Option(
        "--start",
        help="Of chains: dispersed, or about the joint mode, for large data (gibbs).",
    ),
]
MinEssOption = Annotated[
    float | None,
    typer.Option(
        "--min-ess",
        help="Sample until the smallest effective sample size reaches it (gibbs); --draws is "
        "then the most that is kept of a chain.",
    ),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="VARIABLE",
        help="Keep the draws of this variable, and of what models are ranked by; of all others "
        "means and standard deviations (gibbs). Repeat it for more.",
    ),
]
CoresOption = Annotated[
    int | None,
    typer.Option("--cores", min=1, help="Chains at a time (nuts, gibbs); the draws stay the same."),
]
AcceptOption = Annotated[
    float,
    typer.Option(
        "--target-accept", help="Closer to 1 takes smaller steps, against divergences (nuts)."
    ),
]
LogLikelihoodOption = Annotated[
    bool,
    typer.Option(
        "--log-likelihood", help="Keep it for every answer, to compare models by PSIS-LOO."
    ),
]
LevelOption = Annotated[
    float, typer.Option("--level", help="Level of all intervals, between 0 and 1.")
]
HierarchicalOption = Annotated[
    bool, typer.Option("--hierarchical", help="Estimate the scales of the priors.")
]
FamilyMeansOption = Annotated[
    bool, typer.Option("--family-means", help="Let the mean ability differ between families.")
]
ZeroSumOption = Annotated[
    ZeroSums, typer.Option("--zero-sum", help="Over what family effects sum to zero.")
]
SparseOption = Annotated[
    bool, typer.Option("--sparse", help="Most items without family effects, some with large ones.")
]
DimensionOption = Annotated[
    int | None,
    typer.Option(
        "--dimension",
        "-k",
        min=1,
        metavar="K",
        help="Dimensions of ability; by held-out owners and items where left out.",
    ),
]
