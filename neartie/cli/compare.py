"""`neartie compare`: the plug-in's reversal rate held against posteriors, rung by rung."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neartie.cli.audit_options import (
    ALPHA,
    AlphaOption,
    BootstrapsOption,
    ConstantItems,
    ConstantItemsOption,
    ControlsOption,
    CyclesOption,
    Decomposition,
    DecompositionOption,
    KOption,
    MinFamilySizeOption,
    OwnerCapOption,
    Rule,
    RuleOption,
    audit_settings,
)
from neartie.cli.compare_options import (
    HEADLINE,
    OUTPUT,
    RUNGS,
    ChainsOption,
    DaskOption,
    DesignOption,
    DifFactorOption,
    DimensionOption,
    DrawsOption,
    HeadlineOption,
    MarginOption,
    MinEssOption,
    OffsetsOption,
    OptionalResponses,
    RungsOption,
    Sampler,
    SamplerOption,
    SimulateOption,
    SparseOption,
    SubtestsOption,
    ThinOption,
    TuneOption,
    WorldOption,
    comparison_settings,
    refuse_idle_rungs,
)
from neartie.cli.compare_simulate import check_request, refuse_simulation, run_simulation
from neartie.cli.fit_options import CoresOption, FamilyMeansOption, ZeroSumOption, ZeroSums
from neartie.cli.options import (
    ItemsOption,
    JsonOption,
    Missing,
    MissingOption,
    ModelsOption,
    NameOption,
    OutOption,
    Repeats,
    RepeatsOption,
    RowsOption,
    SeedOption,
    ThresholdOption,
    benchmark_name,
    load_responses,
)
from neartie.cli.progress import show_progress, with_notice

if TYPE_CHECKING:
    from neartie.audits.comparison_settings import ComparisonSettings
    from neartie.audits.settings import AuditSettings
    from neartie.data.responses import Responses


def compare(
    context: typer.Context,
    responses: OptionalResponses = None,
    items: ItemsOption = None,
    models: ModelsOption = None,
    rungs: RungsOption = RUNGS,
    draws: DrawsOption = 400,
    offsets: OffsetsOption = 50,
    dimension: DimensionOption = None,
    engine: SamplerOption = Sampler.gibbs,
    chains: ChainsOption = 2,
    tune: TuneOption = 500,
    thin: ThinOption = 2,
    min_ess: MinEssOption = None,
    sparse: SparseOption = False,
    zero_sum: ZeroSumOption = ZeroSums.families,
    family_means: FamilyMeansOption = False,
    margin: MarginOption = 2.0,
    subtests: SubtestsOption = 200,
    headline: HeadlineOption = HEADLINE,
    k: KOption = None,
    alpha: AlphaOption = ALPHA,
    controls: ControlsOption = 1000,
    bootstraps: BootstrapsOption = 2000,
    min_family_size: MinFamilySizeOption = 20,
    owner_cap: OwnerCapOption = 5,
    missing: MissingOption = Missing.stop,
    constant_items: ConstantItemsOption = ConstantItems.keep,
    rule: RuleOption = Rule.one_se,
    cycles: CyclesOption = None,
    decomposition: DecompositionOption = Decomposition.exact,
    rows: RowsOption = None,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    simulate: SimulateOption = None,
    design: DesignOption = None,
    world: WorldOption = None,
    dif_factor: DifFactorOption = None,
    dask: DaskOption = None,
    name: NameOption = None,
    seed: SeedOption = 0,
    cores: CoresOption = None,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Do posteriors say what the near-tie audit says? A stopped run goes on where it was."""
    check_request(
        responses,
        simulate=simulate,
        only_simulated={
            "--design": design,
            "--world": world,
            "--dif-factor": dif_factor,
            "--dask": dask,
        },
        only_data={
            "--items": items,
            "--models": models,
            "--rows": rows,
            "--threshold": threshold,
            "--repeats": None if repeats is Repeats.stop else repeats,
        },
    )
    audit = audit_settings(
        k,
        alpha=alpha,
        controls=controls,
        bootstraps=bootstraps,
        min_family_size=min_family_size,
        owner_cap=owner_cap,
        missing=missing.value,
        constant_items=constant_items.value,
        rule=rule.value,
        cycles=cycles,
        decomposition=decomposition.value,
    )
    asked = {
        "sparse": sparse,
        "family_means": family_means,
        "zero_sum": None if zero_sum is ZeroSums.families else zero_sum.value,
    }
    settings = comparison_settings(
        rungs,
        draws=draws,
        offsets=offsets,
        dimension=dimension,
        engine=engine.value,
        chains=chains,
        tune=tune,
        thin=thin,
        min_ess=min_ess,
        margin=margin,
        subtests=subtests,
        headline=headline,
        options={option: value for option, value in asked.items() if value},
    )
    refuse_idle_rungs(context, settings, copies=responses is not None and simulate is not None)
    data = None
    if responses is not None:
        data = load_responses(
            responses,
            items=items,
            models=models,
            rows=rows,
            threshold=threshold,
            repeats=repeats,
            binary_only=True,
        )
        name = benchmark_name(responses, name)
    # without a table the request was checked to have --simulate
    if data is None or simulate is not None:
        run_simulation(
            data,
            settings,
            audit=audit,
            n=simulate or 1,
            design=design,
            world=world,
            dif_factor=dif_factor,
            dask=dask,
            cores=cores,
            seed=seed,
            out=out,
            name=name,
            as_json=json,
        )
        return
    run_comparison(
        data, settings, audit=audit, cores=cores, seed=seed, out=out, name=name or "", as_json=json
    )


def run_comparison(
    data: Responses,
    settings: ComparisonSettings,
    *,
    audit: AuditSettings,
    cores: int | None = None,
    seed: int,
    out: Path,
    name: str,
    as_json: bool = False,
) -> None:
    """Compare, write the files, show what was found.

    Parameters
    ----------
    data : Responses
    settings : ComparisonSettings
    audit : AuditSettings
    cores : int, optional
    seed : int
    out : Path
        Finished rungs are kept below it, and stay: a rung that is added later finds the others.
    name : str
        Of the benchmark.
    as_json : bool
        Print `summary.json` instead of text.
    """
    from neartie.audits.compare import compare as compare_rungs
    from neartie.audits.comparison_settings import PLUG_IN
    from neartie.audits.comparison_store import FOLDER
    from neartie.data.files import output_folder, to_json
    from neartie.report.comparison_files import write_comparison
    from neartie.report.comparison_text import comparison_text

    refuse_simulation(out)
    found = any((out / FOLDER).glob("*"))
    notice = f"found {out / FOLDER} of a run before: going on from there" if found else ""
    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    with output_folder(out), show_progress() as say:
        compared = compare_rungs(
            data,
            settings,
            audit=audit,
            folder=out,
            cores=cores,
            progress=with_notice(say, notice, at=PLUG_IN),
            rng=seed,
        )
        say("report", 0)
        written = write_comparison(compared, out, name=name)
    if as_json:
        print(to_json(compared.to_dict()))
        return
    print(comparison_text(compared, name=name))
    tables = sum(path.suffix == ".csv" for path in written)
    print(
        f"\nReport: {out / 'report.html'} (numbers in {out / 'ladder.csv'} and {tables - 1} other "
        f"tables, text for a methods section in {out / 'methods.txt'})"
    )
