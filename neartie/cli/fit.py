"""`neartie fit`: posteriors, or estimates with their covariance, of the models of the toolkit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neartie.cli.fit_options import (
    AcceptOption,
    BattleEngine,
    ChainsOption,
    CoresOption,
    DimensionOption,
    DrawsOption,
    Engine,
    EngineOption,
    FamilyMeansOption,
    HierarchicalOption,
    ItemsFromOption,
    LevelOption,
    LogLikelihoodOption,
    Optimiser,
    OptimiserOption,
    Slopes,
    SparseOption,
    Ties,
    TuneOption,
    TwoPLEngine,
    TwoPLEngineOption,
    Unit,
    UnitOption,
    ZeroSumOption,
    ZeroSums,
)
from neartie.cli.fit_run import (
    check_level,
    dimension_of,
    load_answers,
    read_covariates,
    refuse_but_for_map,
    refuse_by_mm,
    refuse_without_posterior,
    run_estimates,
    run_map,
    run_posterior,
    sampling_of,
)
from neartie.cli.options import (
    ItemsOption,
    JsonOption,
    ModelsOption,
    NameOption,
    OutOption,
    Repeats,
    RepeatsOption,
    ResponsesPath,
    RowsOption,
    Scores,
    ScoresOption,
    SeedOption,
    ThresholdOption,
    benchmark_name,
)

OUTPUT = Path("neartie-fit")


fits = typer.Typer(
    name="fit",
    no_args_is_help=True,
    help="Fit a model: posterior or estimates, tables, diagnostics, a report.",
)


@fits.command("two-pl")
def fit_two_pl(
    responses: ResponsesPath,
    items: ItemsOption = None,
    models: ModelsOption = None,
    engine: TwoPLEngineOption = TwoPLEngine.nuts,
    slopes: Annotated[
        Slopes,
        typer.Option(
            "--discrimination",
            help="One an item, 1 for all (Rasch), or of either sign (to find reversed keys).",
        ),
    ] = Slopes.free,
    hierarchical: HierarchicalOption = False,
    family_means: FamilyMeansOption = False,
    optimiser: OptimiserOption = Optimiser.newton,
    unit: UnitOption = Unit.mode,
    items_from: ItemsFromOption = None,
    draws: DrawsOption = 1000,
    tune: TuneOption = 1000,
    chains: ChainsOption = 4,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    log_likelihood: LogLikelihoodOption = False,
    level: LevelOption = 0.95,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Abilities, difficulties and discriminations: the two-parameter logistic model."""
    check_level(level)
    is_map = engine is TwoPLEngine.map
    if is_map:
        refuse_without_posterior(
            engine,
            discrimination=slopes is not Slopes.free,
            hierarchical=hierarchical,
            family_means=family_means,
            log_likelihood=log_likelihood,
        )
    else:
        refuse_but_for_map(
            optimiser=optimiser is not Optimiser.newton,
            unit=unit is not Unit.mode,
            items_from=items_from is not None,
        )
    data = load_answers(
        responses, items, models, rows, scores, threshold, repeats, families=family_means
    )
    if is_map:
        run_map(
            data,
            optimiser=optimiser.value,
            unit=unit.value,
            items_from=items_from,
            level=level,
            name=benchmark_name(responses, name),
            out=out,
            json=json,
        )
        return
    run_posterior(
        data,
        kind="two-pl",
        options={
            "discrimination": slopes.value,
            "hierarchical": hierarchical,
            "family_means": family_means,
        },
        sampling=sampling_of(
            Engine(engine.value), draws, tune, chains, cores, target_accept, log_likelihood
        ),
        level=level,
        name=benchmark_name(responses, name),
        seed=seed,
        out=out,
        json=json,
    )


@fits.command("mirt-dif")
def fit_mirt_dif(
    responses: ResponsesPath,
    items: ItemsOption = None,
    models: ModelsOption = None,
    dimension: DimensionOption = None,
    engine: EngineOption = Engine.nuts,
    zero_sum: ZeroSumOption = ZeroSums.families,
    sparse: SparseOption = False,
    family_means: FamilyMeansOption = False,
    draws: DrawsOption = 1000,
    tune: TuneOption = 1000,
    chains: ChainsOption = 4,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    log_likelihood: LogLikelihoodOption = False,
    level: LevelOption = 0.95,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Several abilities, and effects of families on items: the multidimensional model."""
    data = load_answers(responses, items, models, rows, scores, threshold, repeats, families=True)
    k = dimension if dimension is not None else dimension_of(data, seed)
    run_posterior(
        data,
        kind="mirt-dif",
        options={
            "dimension": k,
            "zero_sum": zero_sum.value,
            "sparse": sparse,
            "family_means": family_means,
        },
        sampling=sampling_of(engine, draws, tune, chains, cores, target_accept, log_likelihood),
        level=level,
        name=benchmark_name(responses, name),
        seed=seed,
        out=out,
        json=json,
    )


@fits.command("residual-dif")
def fit_residual_dif(
    responses: ResponsesPath,
    items: ItemsOption = None,
    models: ModelsOption = None,
    dimension: DimensionOption = None,
    engine: EngineOption = Engine.nuts,
    zero_sum: ZeroSumOption = ZeroSums.families,
    hierarchical: HierarchicalOption = False,
    sparse: SparseOption = False,
    draws: DrawsOption = 1000,
    tune: TuneOption = 1000,
    chains: ChainsOption = 4,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    log_likelihood: LogLikelihoodOption = False,
    level: LevelOption = 0.95,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Effects of families on items, over the spectral offset of the near-tie audit."""
    from neartie.audits.preparation import offset_of, without_constant_items

    # in the order of ids, so that the offset is the same to the last bit for every file order
    data, _ = without_constant_items(
        load_answers(responses, items, models, rows, scores, threshold, repeats, families=True)
    ).canonical()
    k = dimension if dimension is not None else dimension_of(data, seed)
    run_posterior(
        data,
        kind="residual-dif",
        options={
            "offset": offset_of(data, dimension=k),
            "zero_sum": zero_sum.value,
            "hierarchical": hierarchical,
            "sparse": sparse,
        },
        sampling=sampling_of(engine, draws, tune, chains, cores, target_accept, log_likelihood),
        level=level,
        name=benchmark_name(responses, name),
        seed=seed,
        out=out,
        json=json,
    )


@fits.command("bradley-terry")
def fit_battles(
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
            help="newton and mm: estimates with their covariance; the others: posteriors.",
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
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
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
    data = read_battles(battles)
    title = benchmark_name(battles, name)
    if engine in (BattleEngine.newton, BattleEngine.mm):
        refuse_without_posterior(
            engine,
            judge_effects=judge_effects,
            hierarchical=hierarchical,
            covariates=covariates is not None,
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
            Engine(engine.value), draws, tune, chains, cores, target_accept, log_likelihood
        ),
        level=level,
        name=title,
        seed=seed,
        out=out,
        json=json,
    )
