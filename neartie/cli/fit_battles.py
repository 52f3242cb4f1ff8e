"""`neartie fit bradley-terry`: strengths of models from battles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neartie.cli.fit_options import (
    OUTPUT,
    AcceptOption,
    Backend,
    BackendOption,
    BattleEngine,
    ChainsOption,
    CoresOption,
    DrawsOption,
    Engine,
    HierarchicalOption,
    LevelOption,
    LogLikelihoodOption,
    MinEssOption,
    Start,
    StartOption,
    ThinOption,
    Ties,
    TuneOption,
    WorkersOption,
)
from neartie.cli.fit_run import (
    check_level,
    read_covariates,
    refuse_by_mm,
    refuse_without_posterior,
    run_estimates,
    run_posterior,
    sampling_of,
)
from neartie.cli.idle_options import refuse_idle_sampling
from neartie.cli.options import (
    JsonOption,
    NameOption,
    OutOption,
    SeedOption,
    benchmark_name,
)


def fit_battles(
    context: typer.Context,
    battles: Annotated[
        Path,
        typer.Argument(
            metavar="BATTLES",
            help="Table of battles: CSV, Parquet or JSON (lines); model_a, model_b, winner, "
            "or counts win_a, win_b (and tie).",
        ),
    ],
    engine: Annotated[
        BattleEngine,
        typer.Option(
            "--engine",
            help="newton and mm: estimates with their covariance; the others: posteriors, exact by "
            "nuts and gibbs.",
        ),
    ] = BattleEngine.nuts,
    ties: Annotated[
        Ties, typer.Option("--ties", help="Half a win for either, or an outcome of their own.")
    ] = Ties.half,
    first_shown: Annotated[
        bool, typer.Option("--first-shown", help="Estimate the advantage of who is shown first.")
    ] = False,
    judge_effects: Annotated[
        bool, typer.Option("--judge-effects", help="Let judges differ (posteriors only).")
    ] = False,
    hierarchical: HierarchicalOption = False,
    covariates: Annotated[
        Path | None,
        typer.Option(
            "--covariates",
            help="Table with 'model' and columns of numbers to explain strengths by "
            "(posteriors only).",
        ),
    ] = None,
    phantom_wins: Annotated[
        float | None,
        typer.Option(
            "--phantom-wins", min=0, help="Added to both sides of every pair (newton and mm)."
        ),
    ] = None,
    draws: DrawsOption = 1000,
    tune: TuneOption = 1000,
    chains: ChainsOption = 4,
    thin: ThinOption = 1,
    min_ess: MinEssOption = None,
    start: StartOption = Start.dispersed,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    backend: BackendOption = Backend.numba,
    dask: WorkersOption = None,
    log_likelihood: LogLikelihoodOption = False,
    level: LevelOption = 0.95,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Strengths of models from battles between them."""
    from neartie.data.read_battles import read_battles

    check_level(level)
    refuse_idle_sampling(context, engine.value)
    data = read_battles(battles)
    title = benchmark_name(battles, name)
    if engine in (BattleEngine.newton, BattleEngine.mm):
        refuse_without_posterior(
            engine,
            judge_effects=judge_effects,
            hierarchical=hierarchical,
            covariates=covariates is not None,
            log_likelihood=log_likelihood,
            thin=thin != 1,
            min_ess=min_ess is not None,
            start=start is not Start.dispersed,
            backend=backend is not Backend.numba,
            dask=dask is not None,
        )
        refuse_by_mm(engine, ties=ties.value, first_shown=first_shown, phantom_wins=phantom_wins)
        run_estimates(
            data,
            engine=engine.value,
            ties=ties.value,
            first_shown=first_shown,
            phantom_wins=phantom_wins,
            level=level,
            name=title,
            out=out,
            json=json,
        )
        return
    if phantom_wins is not None:
        raise typer.BadParameter(
            "--phantom-wins is for the engines newton and mm; a posterior has a prior instead"
        )
    run_posterior(
        data,
        kind="bradley-terry",
        options={
            "ties": ties.value,
            "first_shown": first_shown,
            "judge_effects": judge_effects,
            "hierarchical": hierarchical,
            "covariates": None if covariates is None else read_covariates(covariates),
        },
        sampling=sampling_of(
            Engine(engine.value),
            draws,
            tune,
            chains,
            cores,
            target_accept,
            log_likelihood,
            thin=thin,
            min_ess=min_ess,
            start=start,
            backend=backend,
            dask=dask,
        ),
        level=level,
        name=title,
        seed=seed,
        out=out,
        json=json,
    )
