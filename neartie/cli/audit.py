"""`neartie audit`: from a response matrix to the near-tie audit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neartie.cli.audit_checks import (
    AttributionFlag,
    FullFlag,
    PermutedOption,
    ReplicationFlag,
    RobustnessFlag,
    check_choices,
    checked,
    forget_unfinished,
)
from neartie.cli.audit_collection import run_collection
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
from neartie.cli.benchmarks import find_benchmarks
from neartie.cli.dask_client import DaskOption, dask_client
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
    load_responses,
)
from neartie.cli.progress import show_progress
from neartie.cli.screen_first import ScreenFirst, screen_first, write_anchor_screen

if TYPE_CHECKING:
    from neartie.audits.further_checks import CheckChoices
    from neartie.audits.result import NearTieAudit
    from neartie.audits.screen_result import ItemScreen
    from neartie.audits.settings import AuditSettings
    from neartie.data.responses import Responses

OUTPUT = Path("neartie-report")


def audit(
    responses: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESPONSES...",
            help="Table of answers: CSV, gzip CSV or Parquet; long (item, model, score) or wide. "
            "Or a folder with responses, items and models, or one of such folders. Several are "
            "audited together.",
        ),
    ],
    items: ItemsOption = None,
    models: ModelsOption = None,
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
    screen: Annotated[
        ScreenFirst,
        typer.Option(
            "--screen",
            help="Screen items first: say how many anchors are suspicious, or also leave out the "
            "items that go against the others.",
        ),
    ] = ScreenFirst.no,
    robustness: RobustnessFlag = False,
    replication: ReplicationFlag = False,
    attribution: AttributionFlag = False,
    permuted: PermutedOption = None,
    full: FullFlag = False,
    dask: DaskOption = None,
    common_models: Annotated[
        bool,
        typer.Option(
            "--common-models", help="Of several benchmarks, keep the models that all of them have."
        ),
    ] = False,
    rows: RowsOption = None,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Audit near ties: do they reverse when items with family-dependent functioning are left out?"""
    from neartie.data.errors import DataError

    settings = audit_settings(
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
    choices = check_choices(
        robustness=robustness,
        replication=replication,
        attribution=attribution,
        permuted=permuted,
        full=full,
    )
    if dask is not None and not (choices.robustness or choices.permutations):
        raise DataError(
            "--dask spreads --robustness and --permuted: ask for one of them, or --full"
        )
    benchmarks = find_benchmarks(responses)
    several = len(benchmarks) > 1
    if several and items is not None:
        raise DataError(
            "--items describes one benchmark; for several, give folders that hold "
            "responses.csv and items.csv"
        )
    if common_models and not several:
        raise DataError("--common-models needs at least two benchmarks")
    loaded = {
        one.name: load_responses(
            one.responses,
            items=items or one.items,
            models=models or one.models,
            rows=rows,
            threshold=threshold,
            repeats=repeats,
            binary_only=True,
        )
        for one in benchmarks
    }
    if several:
        run_collection(
            loaded,
            settings,
            choices,
            screen=screen,
            common_models=common_models,
            seed=seed,
            out=out,
            name=name,
            as_json=json,
            dask=dask,
        )
        return
    data, screened = next(iter(loaded.values())), None
    if screen is not ScreenFirst.no:
        data, screened = screen_first(data, drop=screen is ScreenFirst.drop, seed=seed)
    run_audit(
        data,
        settings,
        seed=seed,
        out=out,
        name=name or benchmarks[0].name,
        as_json=json,
        screened=screened,
        choices=choices,
        dask=dask,
    )


def run_audit(
    data: Responses,
    settings: AuditSettings,
    *,
    seed: int,
    out: Path,
    name: str,
    as_json: bool = False,
    screened: ItemScreen | None = None,
    choices: CheckChoices | None = None,
    dask: str | None = None,
) -> NearTieAudit:
    """Audit, write the files, and print the summary.

    Parameters
    ----------
    data : Responses
    settings : AuditSettings
    seed : int
    out : Path
    name : str
        Of the benchmark.
    as_json : bool
        Print `summary.json` instead of text.
    screened : ItemScreen, optional
        A screen of the items, to be written beside the audit and compared with its anchors.
    choices : CheckChoices, optional
        Further checks to make.
    dask : str, optional
        Where further checks find workers; see `dask_client`.

    Returns
    -------
    NearTieAudit
    """
    from neartie.audits.further_checks import FurtherChecks
    from neartie.audits.near_tie import audit_near_ties
    from neartie.data.files import output_folder, to_json
    from neartie.report.audit_files import audit_summary, write_audit
    from neartie.report.further_text import checks_text
    from neartie.report.text import audit_text

    # opened first: a folder or scheduler that is not there is to be heard of before the work
    with output_folder(out) as temporary, dask_client(dask) as client, show_progress() as say:
        result = audit_near_ties(data, settings, rng=seed, progress=say)
        checks = FurtherChecks()
        if choices is not None and choices.any:
            checks = checked(data, result, choices, out=out, client=client, progress=say)
        say("report", 0)
        write_audit(result, temporary, name=name, checks=checks)
        sentences = () if screened is None else write_anchor_screen(result, screened, temporary)
    forget_unfinished(out)
    if as_json:
        print(to_json(audit_summary(result, checks)))
    else:
        print(audit_text(result, name=name))
        for paragraph in checks_text(checks):
            print(f"\n{paragraph}")
        for sentence in sentences:
            print(f"\n{sentence}")
        print(
            f"\nReport: {out / 'report.html'} (numbers in {out / 'summary.json'} and CSV beside it)"
        )
    return result
