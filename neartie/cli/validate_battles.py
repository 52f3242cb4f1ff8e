"""`neartie validate bradley-terry`: strengths from battles of a user's own design."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neartie.cli.fit_options import (
    AcceptOption,
    BattleEngine,
    CoresOption,
    HierarchicalOption,
    Ties,
)
from neartie.cli.fit_run import read_covariates
from neartie.cli.options import JsonOption, NameOption, SeedOption, benchmark_name
from neartie.cli.validate_options import (
    OUTPUT,
    ChainsOption,
    DaskOption,
    DrawsOption,
    EngineHelp,
    LikeOption,
    ModelsOption,
    OutOption,
    PriorOption,
    ReplicatesOption,
    ThinOption,
    TruthOption,
    TuneOption,
)
from neartie.cli.validate_run import refuse_idle_validation, run_validation, with_priors


def validate_battles(
    context: typer.Context,
    like: LikeOption = None,
    models: ModelsOption = None,
    battles: Annotated[
        int | None,
        typer.Option("--battles", help="Number of battles, 3000 where left out."),
    ] = None,
    judges: Annotated[
        int | None,
        typer.Option("--judges", help="Number of judges, 4 with --judge-effects."),
    ] = None,
    prior: PriorOption = None,
    truth: TruthOption = None,
    ties: Annotated[
        Ties, typer.Option("--ties", help="Half a win for either, or an outcome of their own.")
    ] = Ties.half,
    first_shown: Annotated[
        bool, typer.Option("--first-shown", help="Estimate the advantage of who is shown first.")
    ] = False,
    judge_effects: Annotated[
        bool, typer.Option("--judge-effects", help="Let judges differ.")
    ] = False,
    hierarchical: HierarchicalOption = False,
    covariates: Annotated[
        Path | None,
        typer.Option(
            "--covariates",
            help="Table with 'model' and columns of numbers to explain strengths by (with --like).",
        ),
    ] = None,
    engine: Annotated[BattleEngine, typer.Option("--engine", help=EngineHelp)] = BattleEngine.gibbs,
    replicates: ReplicatesOption = 100,
    draws: DrawsOption = 500,
    tune: TuneOption = 500,
    chains: ChainsOption = 2,
    thin: ThinOption = None,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    dask: DaskOption = None,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Validate strengths from battles between models."""
    from neartie.data.read_battles import read_battles

    refuse_idle_validation(context, engine.value, copied=like is not None)
    options = {
        "ties": ties.value,
        "first_shown": first_shown,
        "judge_effects": judge_effects,
        "hierarchical": hierarchical,
        "covariates": None if covariates is None else read_covariates(covariates),
    }
    run_validation(
        None if like is None else read_battles(like),
        kind="bradley-terry",
        options=with_priors("bradley-terry", options, prior),
        sizes={"n_models": models, "n_battles": battles, "n_judges": judges},
        truth=truth,
        engine=engine.value,
        replicates=replicates,
        sampling={
            "draws": draws,
            "tune": tune,
            "chains": chains,
            "thin": thin,
            "cores": cores,
            "target_accept": target_accept,
        },
        dask=dask,
        name=benchmark_name(like, name) if like is not None else name or "Bradley–Terry",
        seed=seed,
        out=out,
        json=json,
    )
