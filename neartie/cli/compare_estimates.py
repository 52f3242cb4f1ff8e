"""`neartie compare-estimates`: point engines held against the posterior of the same model."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from neartie.cli.fit_options import (
    ChainsOption,
    CoresOption,
    DrawsOption,
    FamilyMeansOption,
    HierarchicalOption,
    LevelOption,
    MinEssOption,
    ThinOption,
    Ties,
    TuneOption,
)
from neartie.cli.fit_run import check_level, load_answers
from neartie.cli.idle_options import refuse_idle
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
from neartie.cli.progress import show_progress

if TYPE_CHECKING:
    from neartie.data.battles import Battles
    from neartie.data.responses import Responses

OUTPUT = Path("neartie-estimates")
# What says how the posterior is sampled.
_SAMPLED: Final = ("engine", "draws", "tune", "chains", "thin", "min_ess", "cores")

comparisons = typer.Typer(
    name="compare-estimates",
    no_args_is_help=True,
    help="Hold point estimates against the posterior: bias, errors, ranks, pairs that change.",
)


class Sampler(StrEnum):
    """What samples the posterior."""

    gibbs = "gibbs"
    nuts = "nuts"


SamplerOption = Annotated[
    Sampler,
    typer.Option("--engine", help="What samples the posterior; both have the same one."),
]
PosteriorOption = Annotated[
    Path | None,
    typer.Option(
        "--posterior",
        metavar="FIT",
        help="Folder that `neartie fit` wrote for the same data, or its posterior.nc: nothing is "
        "sampled then.",
    ),
]


@comparisons.command("two-pl")
def compare_two_pl(
    context: typer.Context,
    responses: ResponsesPath,
    items: ItemsOption = None,
    models: ModelsOption = None,
    posterior: PosteriorOption = None,
    engine: SamplerOption = Sampler.gibbs,
    hierarchical: HierarchicalOption = False,
    family_means: FamilyMeansOption = False,
    draws: DrawsOption = 1000,
    tune: TuneOption = 1000,
    chains: ChainsOption = 4,
    thin: ThinOption = 1,
    min_ess: MinEssOption = None,
    cores: CoresOption = None,
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
    """Joint mode of the 2PL, with and without the error of the items, beside the posterior."""
    check_level(level)
    _check(context, posterior, engine, thin, min_ess, draws * chains, hierarchical or family_means)
    data = load_answers(
        responses, items, models, rows, scores, threshold, repeats, families=family_means
    )
    _run(
        data,
        posterior,
        options={"hierarchical": hierarchical, "family_means": family_means},
        engine=engine.value,
        draws=draws,
        tune=tune,
        chains=chains,
        thin=thin,
        min_ess=min_ess,
        cores=cores,
        level=level,
        name=benchmark_name(responses, name),
        seed=seed,
        out=out,
        json=json,
    )


@comparisons.command("bradley-terry")
def compare_bradley_terry(
    context: typer.Context,
    battles: Annotated[
        Path,
        typer.Argument(metavar="BATTLES", help="Table of battles, as for `neartie fit`."),
    ],
    posterior: PosteriorOption = None,
    engine: SamplerOption = Sampler.gibbs,
    ties: Annotated[
        Ties, typer.Option("--ties", help="Half a win for either, or an outcome of their own.")
    ] = Ties.half,
    first_shown: Annotated[
        bool, typer.Option("--first-shown", help="Estimate the advantage of who is shown first.")
    ] = False,
    judge_effects: Annotated[
        bool, typer.Option("--judge-effects", help="Let judges differ, in the posterior only.")
    ] = False,
    hierarchical: HierarchicalOption = False,
    phantom_wins: Annotated[
        float,
        typer.Option(
            "--phantom-wins",
            min=0,
            help="Added to both sides of every pair; 0 leaves these estimates out.",
        ),
    ] = 0.1,
    draws: DrawsOption = 1000,
    tune: TuneOption = 1000,
    chains: ChainsOption = 4,
    thin: ThinOption = 1,
    min_ess: MinEssOption = None,
    cores: CoresOption = None,
    level: LevelOption = 0.95,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Maximum likelihood and phantom wins, by MM and Newton, beside the posterior."""
    from neartie.data.read_battles import read_battles

    check_level(level)
    if not math.isfinite(phantom_wins):
        raise typer.BadParameter(f"--phantom-wins must be a finite number, got {phantom_wins:g}")
    asked = ties is not Ties.half or first_shown or judge_effects or hierarchical
    _check(context, posterior, engine, thin, min_ess, draws * chains, asked)
    _run(
        read_battles(battles),
        posterior,
        options={
            "ties": ties.value,
            "first_shown": first_shown,
            "judge_effects": judge_effects,
            "hierarchical": hierarchical,
        },
        phantom_wins=phantom_wins,
        engine=engine.value,
        draws=draws,
        tune=tune,
        chains=chains,
        thin=thin,
        min_ess=min_ess,
        cores=cores,
        level=level,
        name=benchmark_name(battles, name),
        seed=seed,
        out=out,
        json=json,
    )


def _check(
    context: typer.Context,
    posterior: Path | None,
    engine: Sampler,
    thin: int,
    min_ess: float | None,
    kept: int,
    has_options: bool,
) -> None:
    """Refuse what does not go together."""
    if posterior is not None and has_options:
        raise typer.BadParameter("a posterior that is given has its own options; leave them out")
    if posterior is not None:
        refuse_idle(context, _SAMPLED, "does nothing with --posterior: nothing is sampled then")
    if engine is Sampler.nuts and (thin != 1 or min_ess is not None):
        raise typer.BadParameter("--thin and --min-ess are for the engine gibbs, not for nuts")
    if min_ess is not None and not 0 < min_ess <= kept / 2:
        raise typer.BadParameter(
            f"--min-ess must lie above 0 and be at most {kept // 2:,}, half of the draws that are "
            "kept (--draws times --chains)"
        )


def _run(
    data: Responses | Battles,
    posterior: Path | None,
    *,
    options: dict[str, Any],
    level: float,
    name: str,
    seed: int,
    out: Path,
    json: bool,
    **settings: Any,
) -> None:
    """Compare, write the files, show what was found."""
    from neartie.audits.compare_estimates import compare_estimates
    from neartie.data.files import output_folder, to_json
    from neartie.inference.posterior_file import read_posterior
    from neartie.report.estimates_files import write_estimates
    from neartie.report.estimates_text import estimates_text

    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    with output_folder(out), show_progress() as say:
        found = compare_estimates(
            data,
            posterior=None if posterior is None else read_posterior(posterior),
            options=options if posterior is None else None,
            level=level,
            progress=say,
            rng=seed,
            **settings,
        )
        say("report", 0)
        write_estimates(found, out, name=name)
    if json:
        print(to_json(found.to_dict()))
    else:
        print(estimates_text(found))
        print(f"\nReport: {out / 'report.html'} (numbers in {out / 'estimators.csv'} beside it)")
