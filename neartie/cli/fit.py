"""`neartie fit`: posteriors, or estimates with their covariance, of the models of the toolkit."""

from __future__ import annotations

from typing import Annotated

import typer

from neartie.cli.fit_battles import fit_battles
from neartie.cli.fit_options import (
    OUTPUT,
    AcceptOption,
    Backend,
    BackendOption,
    ChainsOption,
    CoresOption,
    DimensionOption,
    DrawsOption,
    Engine,
    EngineOption,
    FamilyMeansOption,
    HierarchicalOption,
    ItemsFromOption,
    KeepOption,
    LevelOption,
    LogLikelihoodOption,
    MinEssOption,
    Optimiser,
    OptimiserOption,
    Scales,
    ScalesOption,
    Slopes,
    SparseOption,
    Start,
    StartOption,
    ThinOption,
    TuneOption,
    TwoPLEngine,
    TwoPLEngineOption,
    UnitOption,
    WorkersOption,
    ZeroSumOption,
    ZeroSums,
)
from neartie.cli.fit_run import (
    check_level,
    dimension_of,
    load_answers,
    refuse_but_for_map,
    refuse_mode_of_scales,
    refuse_without_posterior,
    run_map,
    run_mirt_map,
    run_posterior,
    sampling_of,
)
from neartie.cli.idle_options import refuse_idle_sampling
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

fits = typer.Typer(
    name="fit",
    no_args_is_help=True,
    help="Fit a model: posterior or estimates, tables, diagnostics, a report.",
)


@fits.command("two-pl")
def fit_two_pl(
    context: typer.Context,
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
    unit: UnitOption = None,
    items_from: ItemsFromOption = None,
    draws: DrawsOption = 1000,
    tune: TuneOption = 1000,
    chains: ChainsOption = 4,
    thin: ThinOption = 1,
    min_ess: MinEssOption = None,
    start: StartOption = Start.dispersed,
    keep: KeepOption = None,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    backend: BackendOption = Backend.numba,
    dask: WorkersOption = None,
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
    refuse_idle_sampling(context, engine.value)
    is_map = engine is TwoPLEngine.map
    if is_map:
        refuse_without_posterior(
            engine,
            discrimination=slopes is not Slopes.free,
            hierarchical=hierarchical,
            family_means=family_means,
            log_likelihood=log_likelihood,
            thin=thin != 1,
            min_ess=min_ess is not None,
            start=start is not Start.dispersed,
            keep=bool(keep),
            backend=backend is not Backend.numba,
            dask=dask is not None,
        )
    else:
        refuse_but_for_map(
            optimiser=optimiser is not Optimiser.newton,
            unit=unit is not None,
            items_from=items_from is not None,
        )
    data = load_answers(
        responses, items, models, rows, scores, threshold, repeats, families=family_means
    )
    if is_map:
        run_map(
            data,
            optimiser=optimiser.value,
            unit=None if unit is None else unit.value,
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
            keep=keep,
        ),
        level=level,
        name=benchmark_name(responses, name),
        seed=seed,
        out=out,
        json=json,
    )


@fits.command("mirt-dif")
def fit_mirt_dif(
    context: typer.Context,
    responses: ResponsesPath,
    items: ItemsOption = None,
    models: ModelsOption = None,
    dimension: DimensionOption = None,
    engine: TwoPLEngineOption = TwoPLEngine.nuts,
    zero_sum: ZeroSumOption = ZeroSums.families,
    sparse: SparseOption = False,
    family_means: FamilyMeansOption = False,
    scales: ScalesOption = Scales.answers,
    draws: DrawsOption = 1000,
    tune: TuneOption = 1000,
    chains: ChainsOption = 4,
    thin: ThinOption = 1,
    min_ess: MinEssOption = None,
    start: StartOption = Start.dispersed,
    keep: KeepOption = None,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    backend: BackendOption = Backend.numba,
    dask: WorkersOption = None,
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
    check_level(level)
    refuse_idle_sampling(context, engine.value)
    is_map = engine is TwoPLEngine.map
    if is_map:
        refuse_without_posterior(
            engine,
            sparse=sparse,
            family_means=family_means,
            log_likelihood=log_likelihood,
            thin=thin != 1,
            min_ess=min_ess is not None,
            start=start is not Start.dispersed,
            keep=bool(keep),
            backend=backend is not Backend.numba,
            dask=dask is not None,
        )
    else:
        refuse_mode_of_scales(engine)
        refuse_but_for_map(scales=scales is not Scales.answers)
    data = load_answers(responses, items, models, rows, scores, threshold, repeats, families=True)
    k = dimension if dimension is not None else dimension_of(data, seed)
    if is_map:
        run_mirt_map(
            data,
            dimension=k,
            zero_sum=zero_sum.value,
            scales=scales.value,
            level=level,
            name=benchmark_name(responses, name),
            out=out,
            json=json,
        )
        return
    run_posterior(
        data,
        kind="mirt-dif",
        options={
            "dimension": k,
            "zero_sum": zero_sum.value,
            "sparse": sparse,
            "family_means": family_means,
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
            keep=keep,
        ),
        level=level,
        name=benchmark_name(responses, name),
        seed=seed,
        out=out,
        json=json,
    )


@fits.command("residual-dif")
def fit_residual_dif(
    context: typer.Context,
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
    thin: ThinOption = 1,
    min_ess: MinEssOption = None,
    start: StartOption = Start.dispersed,
    keep: KeepOption = None,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    backend: BackendOption = Backend.numba,
    dask: WorkersOption = None,
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

    refuse_idle_sampling(context, engine.value)
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
        sampling=sampling_of(
            engine,
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
            keep=keep,
        ),
        level=level,
        name=benchmark_name(responses, name),
        seed=seed,
        out=out,
        json=json,
    )


fits.command("bradley-terry")(fit_battles)
