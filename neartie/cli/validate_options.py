"""Arguments of `neartie validate` that its commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neartie.cli.options import output_path

# Where files go without --out.
OUTPUT = Path("neartie-validate")

LikeOption = Annotated[
    Path | None,
    typer.Option(
        "--like",
        metavar="DATA",
        help="Copy the design of these data: items, models, families, missing cells, or pairs and "
        "numbers of battles. Their answers are not used.",
    ),
]
ItemTableOption = Annotated[
    Path | None, typer.Option("--item-table", help="Item table of --like, as in neartie fit.")
]
ModelTableOption = Annotated[
    Path | None, typer.Option("--model-table", help="Model table of --like, as in neartie fit.")
]
ItemsOption = Annotated[
    int | None, typer.Option("--items", help="Number of items, 100 where left out.")
]
ModelsOption = Annotated[
    int | None, typer.Option("--models", help="Number of models, 30 where left out.")
]
FamiliesOption = Annotated[
    int | None, typer.Option("--families", help="Number of families, 4 where left out.")
]
MissingShareOption = Annotated[
    float | None, typer.Option("--missing-share", help="Share of the answers that is missing.")
]
PriorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        metavar="NAME=VALUE",
        help="A hyperparameter of the fit's priors, such as difficulty_sd=1. Can be repeated.",
    ),
]
TruthOption = Annotated[
    list[str] | None,
    typer.Option(
        "--truth",
        metavar="NAME=VALUE",
        help="A hyperparameter that truths are drawn with in its place; with family effects also "
        "dif_share and dif_effect, which plant effects. Can be repeated.",
    ),
]
ReplicatesOption = Annotated[
    int, typer.Option("--replicates", min=2, help="Data sets to draw and to fit.")
]
DrawsOption = Annotated[int, typer.Option("--draws", min=100, help="Kept draws of each chain.")]
TuneOption = Annotated[
    int, typer.Option("--tune", min=0, help="Tuning draws of each chain (nuts, gibbs).")
]
ChainsOption = Annotated[int, typer.Option("--chains", min=1, help="Chains (nuts, gibbs).")]
ThinOption = Annotated[
    int | None,
    typer.Option("--thin", min=1, help="Every how manieth draw is kept (4 of gibbs, 1 of nuts)."),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS|local",
        help="Spread data sets over the workers of a Dask scheduler, or over the cores of this "
        "machine. The results stay the same.",
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        parser=output_path,
        metavar="FOLDER",
        help="Folder to write to, and to go on from after a kill.",
    ),
]
EngineHelp = (
    "What is validated: gibbs and nuts sample, laplace, pathfinder and advi approximate; map, newton "
    "and mm give estimates with standard errors."
)
