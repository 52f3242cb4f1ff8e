"""`neartie audit`: from a response matrix to the near-tie audit."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    Scores,
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


class Rule(StrEnum):
    """How the dimension is chosen from the loss curve."""

    one_se = "one-se"
    paired = "paired"
    minimum = "minimum"


class ConstantItems(StrEnum):
    """Whether constant items may be anchors."""

    keep = "keep"
    drop = "drop"


class Decomposition(StrEnum):
    """How the spectral model is computed."""

    exact = "exact"
    randomized = "randomized"


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
    k: Annotated[
        str | None,
        typer.Option(
            "--k", help="Dimension of the spectral model, such as 8, or 4,8 for halves 0 and 1."
        ),
    ] = None,
    alpha: Annotated[
        str,
        typer.Option(
            "--alpha",
            help="Fraction of items to keep as anchors; more of them, after commas, are "
            "a sensitivity analysis.",
        ),
    ] = "0.5,0.3,0.7",
    controls: Annotated[
        int, typer.Option("--controls", min=0, help="Number of matched random subtests.")
    ] = 1000,
    bootstraps: Annotated[
        int, typer.Option("--bootstraps", min=0, help="Number of recomposed benchmarks.")
    ] = 2000,
    min_family_size: Annotated[
        int, typer.Option("--min-family-size", min=1, help="Drop families with fewer models.")
    ] = 20,
    owner_cap: Annotated[
        int, typer.Option("--owner-cap", min=1, help="Most models of one owner and family.")
    ] = 5,
    missing: MissingOption = Missing.stop,
    constant_items: Annotated[
        ConstantItems,
        typer.Option(
            "--constant-items", help="Whether items answered alike by all can be anchors."
        ),
    ] = ConstantItems.keep,
    rule: Annotated[
        Rule, typer.Option("--rule", help="How to choose K from the held-out losses.")
    ] = Rule.one_se,
    cycles: Annotated[
        int | None,
        typer.Option(
            "--cycles",
            min=1,
            help="Stop the DIF fit after so many cycles (the paper: 5) instead of at its optimum.",
        ),
    ] = None,
    decomposition: Annotated[
        Decomposition, typer.Option("--decomposition", help="Exact, or randomized as in the paper.")
    ] = Decomposition.exact,
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
            scores=Scores.binary,
            threshold=threshold,
            repeats=repeats,
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


def audit_settings(k: str | None, *, alpha: str, **others: Any) -> AuditSettings:
    """Return the settings that options describe.

    Parameters
    ----------
    k, alpha : str
        As typed.
    **others
        Further settings.

    Raises
    ------
    DataError
        If a value is impossible; names the option.
    """
    from neartie.audits.settings import AuditSettings
    from neartie.data.errors import DataError

    fractions = [part for part in alpha.split(",") if part.strip()]
    try:
        return AuditSettings(dimension=_dimension(k), alpha=fractions, **others)
    except ValueError as error:
        raise DataError(_in_options(str(error))) from error


def _in_options(message: str) -> str:
    """Name options in place of settings, for the user at the keyboard."""
    message = re.sub(r"^dimension\b", "--k", message)
    message = re.sub(r"^alpha\b", "--alpha", message)
    # of what is read as a number, only the fraction is typed
    return re.sub(r"^expected a number", "--alpha: expected a number", message)


def _dimension(text: str | None) -> int | tuple[int, int] | None:
    """Return the dimensions that `--k` names.

    Examples
    --------
    >>> _dimension("8"), _dimension("4,8")
    (8, (4, 8))
    """
    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise ValueError(
            f"--k takes one whole number, or two for halves 0 and 1, such as 4,8; got {text!r}"
        )
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
