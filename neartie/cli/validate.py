"""`neartie validate`: do intervals, ranks and orders hold the truth, for a user's own design?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neartie.cli.fit_options import (
    AcceptOption,
    CoresOption,
    DimensionOption,
    Engine,
    FamilyMeansOption,
    HierarchicalOption,
    Slopes,
    SparseOption,
    TwoPLEngine,
    ZeroSumOption,
    ZeroSums,
)
from neartie.cli.options import (
    JsonOption,
    NameOption,
    Repeats,
    RepeatsOption,
    RowsOption,
    Scores,
    ScoresOption,
    SeedOption,
    ThresholdOption,
    benchmark_name,
)
from neartie.cli.validate_battles import validate_battles
from neartie.cli.validate_options import (
    OUTPUT,
    ChainsOption,
    DaskOption,
    DrawsOption,
    EngineHelp,
    FamiliesOption,
    ItemsOption,
    ItemTableOption,
    LikeOption,
    MissingShareOption,
    ModelsOption,
    ModelTableOption,
    OutOption,
    PriorOption,
    ReplicatesOption,
    ThinOption,
    TruthOption,
    TuneOption,
)
from neartie.cli.validate_run import refuse_idle_validation, run_validation, with_priors

if TYPE_CHECKING:
    from neartie.cli.options import Rows
    from neartie.data.responses import Responses

validations = typer.Typer(
    name="validate",
    no_args_is_help=True,
    help="Do intervals and ranks hold the truth? Simulated data of your own design, fitted.",
)
_PointEngine = Annotated[TwoPLEngine, typer.Option("--engine", help=EngineHelp)]


@validations.command("two-pl")
def validate_two_pl(
    context: typer.Context,
    like: LikeOption = None,
    item_table: ItemTableOption = None,
    model_table: ModelTableOption = None,
    items: ItemsOption = None,
    models: ModelsOption = None,
    families: FamiliesOption = None,
    missing_share: MissingShareOption = None,
    prior: PriorOption = None,
    truth: TruthOption = None,
    slopes: Annotated[
        Slopes, typer.Option("--discrimination", help="One an item, 1 for all, or of either sign.")
    ] = Slopes.free,
    hierarchical: HierarchicalOption = False,
    family_means: FamilyMeansOption = False,
    engine: _PointEngine = TwoPLEngine.gibbs,
    replicates: ReplicatesOption = 100,
    draws: DrawsOption = 500,
    tune: TuneOption = 500,
    chains: ChainsOption = 2,
    thin: ThinOption = None,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    dask: DaskOption = None,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Validate the two-parameter logistic model and its relatives."""
    refuse_idle_validation(context, engine.value, copied=like is not None)
    tables = (item_table, model_table, rows, scores, threshold, repeats)
    options = {
        "discrimination": slopes.value,
        "hierarchical": hierarchical,
        "family_means": family_means,
    }
    run_validation(
        _answers(like, *tables, families=family_means),
        kind="two-pl",
        options=with_priors("two-pl", options, prior),
        sizes=_sizes(items, models, families, missing_share),
        truth=truth,
        engine=engine.value,
        replicates=replicates,
        sampling=_sampling(draws, tune, chains, thin, cores, target_accept),
        dask=dask,
        name=_title(like, name, "the 2PL"),
        seed=seed,
        out=out,
        json=json,
    )


@validations.command("mirt-dif")
def validate_mirt_dif(
    context: typer.Context,
    like: LikeOption = None,
    item_table: ItemTableOption = None,
    model_table: ModelTableOption = None,
    items: ItemsOption = None,
    models: ModelsOption = None,
    families: FamiliesOption = None,
    missing_share: MissingShareOption = None,
    prior: PriorOption = None,
    truth: TruthOption = None,
    dimension: DimensionOption = None,
    zero_sum: ZeroSumOption = ZeroSums.families,
    sparse: SparseOption = False,
    family_means: FamilyMeansOption = False,
    engine: _PointEngine = TwoPLEngine.gibbs,
    replicates: ReplicatesOption = 100,
    draws: DrawsOption = 500,
    tune: TuneOption = 500,
    chains: ChainsOption = 2,
    thin: ThinOption = None,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    dask: DaskOption = None,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Validate the multidimensional model with family effects."""
    refuse_idle_validation(context, engine.value, copied=like is not None)
    tables = (item_table, model_table, rows, scores, threshold, repeats)
    data = _answers(like, *tables, families=True)
    options = {
        "dimension": _dimension(data, dimension, seed, without=2),
        "zero_sum": zero_sum.value,
        "sparse": sparse,
        "family_means": family_means,
    }
    run_validation(
        data,
        kind="mirt-dif",
        options=with_priors("mirt-dif", options, prior),
        sizes=_sizes(items, models, families, missing_share),
        truth=truth,
        engine=engine.value,
        replicates=replicates,
        sampling=_sampling(draws, tune, chains, thin, cores, target_accept),
        dask=dask,
        name=_title(like, name, "MIRT-DIF"),
        seed=seed,
        out=out,
        json=json,
    )


@validations.command("residual-dif")
def validate_residual_dif(
    context: typer.Context,
    like: LikeOption = None,
    item_table: ItemTableOption = None,
    model_table: ModelTableOption = None,
    items: ItemsOption = None,
    models: ModelsOption = None,
    families: FamiliesOption = None,
    missing_share: MissingShareOption = None,
    prior: PriorOption = None,
    truth: TruthOption = None,
    dimension: DimensionOption = None,
    zero_sum: ZeroSumOption = ZeroSums.families,
    hierarchical: HierarchicalOption = False,
    sparse: SparseOption = False,
    engine: Annotated[Engine, typer.Option("--engine", help=EngineHelp)] = Engine.gibbs,
    replicates: ReplicatesOption = 100,
    draws: DrawsOption = 500,
    tune: TuneOption = 500,
    chains: ChainsOption = 2,
    thin: ThinOption = None,
    cores: CoresOption = None,
    target_accept: AcceptOption = 0.9,
    dask: DaskOption = None,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Validate family effects over an offset that is taken as known."""
    from neartie.audits.preparation import without_constant_items

    refuse_idle_validation(context, engine.value, copied=like is not None)
    tables = (item_table, model_table, rows, scores, threshold, repeats)
    data = _answers(like, *tables, families=True)
    if data is not None:
        data = without_constant_items(data)
    options = {
        "dimension": _dimension(data, dimension, seed, without=1),
        "zero_sum": zero_sum.value,
        "hierarchical": hierarchical,
        "sparse": sparse,
    }
    run_validation(
        data,
        kind="residual-dif",
        options=with_priors("residual-dif", options, prior),
        sizes=_sizes(items, models, families, missing_share),
        truth=truth,
        engine=engine.value,
        replicates=replicates,
        sampling=_sampling(draws, tune, chains, thin, cores, target_accept),
        dask=dask,
        name=_title(like, name, "residual DIF"),
        seed=seed,
        out=out,
        json=json,
    )


validations.command("bradley-terry")(validate_battles)


def _answers(
    like: Path | None,
    items: Path | None,
    models: Path | None,
    rows: Rows | None,
    scores: Scores,
    threshold: float | None,
    repeats: Repeats,
    *,
    families: bool,
) -> Responses | None:
    from neartie.cli.fit_run import load_answers

    if like is None:
        if items is not None or models is not None:
            raise typer.BadParameter("--item-table and --model-table go with --like")
        return None
    return load_answers(like, items, models, rows, scores, threshold, repeats, families=families)


def _dimension(data: Responses | None, given: int | None, seed: int, *, without: int) -> int:
    """Return the dimension that is given, or that the data choose, or that of no data."""
    from neartie.cli.fit_run import dimension_of

    if given is not None:
        return given
    return without if data is None else dimension_of(data, seed)


def _sizes(
    items: int | None, models: int | None, families: int | None, missing: float | None
) -> dict[str, float | None]:
    return {"n_items": items, "n_models": models, "n_families": families, "missing": missing}


def _sampling(
    draws: int,
    tune: int,
    chains: int,
    thin: int | None,
    cores: int | None,
    target_accept: float,
) -> dict[str, Any]:
    return {
        "draws": draws,
        "tune": tune,
        "chains": chains,
        "thin": thin,
        "cores": cores,
        "target_accept": target_accept,
    }


def _title(like: Path | None, name: str | None, kind: str) -> str:
    return benchmark_name(like, name) if like is not None else name or kind
