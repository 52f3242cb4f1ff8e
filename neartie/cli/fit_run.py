"""What the commands of `neartie fit` do once their arguments are known."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from neartie.cli.dask_client import dask_client
from neartie.cli.fit_options import Backend, BattleEngine, Engine, Start, TwoPLEngine
from neartie.cli.options import Repeats, Rows, Scores, load_responses
from neartie.cli.progress import show_progress

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from neartie.data.battles import Battles
    from neartie.data.responses import Responses
    from neartie.inference.fit_summary import FitSummary

# Of a Gibbs sampler that was cut off, in the folder that its files are to be written to.
CHECKPOINT: Final = "gibbs-checkpoint.npz"


def load_answers(
    path: Path,
    items: Path | None,
    models: Path | None,
    rows: Rows | None,
    scores: Scores,
    threshold: float | None,
    repeats: Repeats,
    *,
    families: bool,
) -> Responses:
    """Return the responses; with families, those of the models that have one."""
    from neartie.audits.preparation import with_families

    data = load_responses(
        path,
        items=items,
        models=models,
        rows=rows,
        scores=scores,
        threshold=threshold,
        repeats=repeats,
        binary_only=True,
    )
    return with_families(data) if families else data


def dimension_of(data: Responses, seed: int) -> int:
    """Return the dimension that predicts held-out owners on held-out items best."""
    from neartie.audits.preparation import choose_dimension

    k = choose_dimension(data, rng=seed).k
    typer.echo(
        f"dimension {k}, chosen on held-out owners and items (--dimension sets it)", err=True
    )
    return k


def sampling_of(
    engine: Engine,
    draws: int,
    tune: int,
    chains: int,
    cores: int | None,
    target_accept: float,
    log_likelihood: bool,
    *,
    thin: int,
    min_ess: float | None,
    start: Start,
    backend: Backend,
    dask: str | None,
    keep: list[str] | None = None,
) -> dict[str, Any]:
    """Return the arguments of `fit` that say how to sample."""
    if not 0 < target_accept < 1:
        raise typer.BadParameter(f"--target-accept must lie between 0 and 1, got {target_accept:g}")
    if min_ess is not None and not 0 < min_ess <= draws * chains / 2:
        raise typer.BadParameter(
            f"--min-ess must lie above 0 and be at most {draws * chains // 2:,}, half of the draws "
            "that are kept (--draws times --chains)"
        )
    if backend is Backend.jax and engine is Engine.gibbs:
        raise typer.BadParameter("--backend jax is for the other engines, not for gibbs")
    for option, given in (
        ("--thin", thin != 1),
        ("--min-ess", min_ess is not None),
        ("--start", start is not Start.dispersed),
        ("--dask", dask is not None),
        ("--keep", bool(keep)),
    ):
        if given and engine is not Engine.gibbs:
            raise typer.BadParameter(f"{option} is for the engine gibbs, not for {engine.value}")
    if keep and log_likelihood:
        raise typer.BadParameter(
            "--log-likelihood needs the draws of all variables, without --keep"
        )
    return {
        "engine": engine.value,
        "keep": keep or None,
        "thin": thin,
        "min_ess": min_ess,
        "start": start.value,
        "backend": backend.value,
        "dask": dask,
        "draws": draws,
        "tune": tune,
        "chains": chains,
        "cores": cores,
        "target_accept": target_accept,
        "log_likelihood": log_likelihood,
    }


def check_level(level: float) -> None:
    """Refuse a level out of range."""
    if not 0 < level < 1:
        raise typer.BadParameter(f"--level must lie between 0 and 1, got {level:g}")


def refuse_without_posterior(engine: BattleEngine | TwoPLEngine, **asked: bool) -> None:
    """Refuse options that only a posterior has."""
    for option, wanted in asked.items():
        if wanted:
            raise typer.BadParameter(
                f"--{option.replace('_', '-')} needs a posterior; {engine.value} gives estimates "
                "without it"
            )


def refuse_but_for_map(**asked: bool) -> None:
    """Refuse options that only the joint mode has."""
    for option, wanted in asked.items():
        if wanted:
            raise typer.BadParameter(f"--{option.replace('_', '-')} is for the engine map")


def refuse_mode_of_scales(engine: TwoPLEngine) -> None:
    """Refuse a search for the mode of a model whose scales are always estimated."""
    if engine is TwoPLEngine.laplace:
        raise typer.BadParameter(
            "the scales of mirt-dif are estimated, and its mode lies where they vanish or nowhere, "
            "so that laplace would say nothing of the data; use --engine map, which holds them, for "
            "a first look, or nuts"
        )


def refuse_by_mm(
    engine: BattleEngine, *, ties: str, first_shown: bool, phantom_wins: float | None
) -> None:
    """Refuse what estimates by minorisation do not have, and an infinite number of phantoms."""
    if engine is BattleEngine.mm and (ties != "half" or first_shown):
        raise typer.BadParameter(
            "engine mm takes ties as half wins and knows no first-shown effect; use --engine newton"
        )
    if phantom_wins is not None and not math.isfinite(phantom_wins):
        raise typer.BadParameter(f"--phantom-wins must be a finite number, got {phantom_wins:g}")


def read_covariates(path: Path) -> pd.DataFrame:
    """Return a model table whose other columns are numbers; NaN where a cell is none."""
    import pandas as pd

    from neartie.data.tables import read_model_table

    table = read_model_table(path)
    for column in table.columns.drop("model"):
        table[column] = pd.to_numeric(table[column], errors="coerce")
    return table


def run_posterior(
    data: Responses | Battles,
    *,
    kind: str,
    options: dict[str, Any],
    sampling: dict[str, Any],
    level: float,
    name: str,
    seed: int,
    out: Path,
    json: bool,
) -> None:
    """Find a posterior, write its files, show the verdict."""
    from neartie.data.errors import CaveatWarning
    from neartie.data.files import output_folder
    from neartie.inference.fit import fit
    from neartie.inference.fit_summary import summarise_posterior

    check_level(level)
    sampling = dict(sampling)
    if sampling["engine"] == "gibbs":
        sampling |= {"checkpoint": out / CHECKPOINT}
        if (out / CHECKPOINT).exists():
            typer.echo(f"found {out / CHECKPOINT} of a run that was cut off", err=True)
    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    dask = sampling.pop("dask")
    with (
        output_folder(out),
        dask_client(dask) as client,
        show_progress() as say,
        warnings.catch_warnings(),
    ):
        # The verdict says the same, where the reader looks.
        warnings.simplefilter("ignore", CaveatWarning)
        posterior = fit(
            data, kind=kind, options=options, client=client, progress=say, rng=seed, **sampling
        )
        say("report", 0)
        summary = summarise_posterior(posterior, data, level=level)
        _write(summary, out, name=name, posterior=posterior)
    _show(summary, out, json=json)


def run_estimates(
    data: Battles,
    *,
    engine: str,
    ties: str,
    first_shown: bool,
    phantom_wins: float | None,
    level: float,
    name: str,
    out: Path,
    json: bool,
) -> None:
    """Find estimates with their covariance, write their files, show them."""
    from neartie.data.errors import CaveatWarning
    from neartie.data.files import output_folder
    from neartie.inference.bradley_terry import fit_bradley_terry
    from neartie.inference.fit_summary import summarise_bradley_terry

    with output_folder(out), warnings.catch_warnings():
        warnings.simplefilter("ignore", CaveatWarning)
        found = fit_bradley_terry(
            data,
            engine=engine,
            ties=ties,  # type: ignore[arg-type]
            first_shown=first_shown,
            phantom_wins=phantom_wins,
        )
        summary = summarise_bradley_terry(found, data, level=level)
        _write(summary, out, name=name, posterior=None)
    _show(summary, out, json=json)


def run_map(
    data: Responses,
    *,
    optimiser: str,
    unit: str | None,
    items_from: Path | None,
    level: float,
    name: str,
    out: Path,
    json: bool,
) -> None:
    """Find the joint mode of the 2PL, or scores on known items, write the files, show them."""
    from neartie.data.errors import CaveatWarning
    from neartie.data.files import output_folder
    from neartie.inference.score_models import score_models
    from neartie.inference.two_pl_map import fit_two_pl_map
    from neartie.inference.two_pl_summary import summarise_scored, summarise_two_pl

    known = None if items_from is None else read_known_items(items_from)
    with output_folder(out), warnings.catch_warnings():
        warnings.simplefilter("ignore", CaveatWarning)
        if known is None:
            found = fit_two_pl_map(data, optimiser=optimiser, unit=unit)  # type: ignore[arg-type]
            summary = summarise_two_pl(found, data, level=level)
        else:
            table, mean, sd = known
            scored = score_models(data, table, prior_mean=mean, prior_sd=sd, level=level)
            summary = summarise_scored(scored, data, table, source=str(items_from))
        _write(summary, out, name=name, posterior=None)
    _show(summary, out, json=json)


def run_mirt_map(
    data: Responses,
    *,
    dimension: int,
    zero_sum: str,
    scales: str,
    level: float,
    name: str,
    out: Path,
    json: bool,
) -> None:
    """Find the joint mode of the multidimensional model, write its files, show it."""
    from neartie.data.errors import CaveatWarning
    from neartie.data.files import output_folder
    from neartie.inference.mirt_dif_map import fit_mirt_dif_map
    from neartie.inference.mirt_dif_summary import summarise_mirt_dif

    with output_folder(out), warnings.catch_warnings():
        warnings.simplefilter("ignore", CaveatWarning)
        found = fit_mirt_dif_map(
            data,
            dimension=dimension,
            scales=scales,  # type: ignore[arg-type]
            zero_sum=zero_sum,  # type: ignore[arg-type]
        )
        summary = summarise_mirt_dif(found, data, level=level)
        _write(summary, out, name=name, posterior=None)
    _show(summary, out, json=json)


def read_known_items(source: Path) -> tuple[pd.DataFrame, float, float]:
    """Return items taken as known, and mean and sd of the prior of ability on their scale.

    Those of a fit of the 2PL from its folder, which says how they were fitted; else those of a
    table, whose abilities are standard normal.
    """
    from json import loads

    from neartie.data.errors import DataError
    from neartie.data.tables import read_item_table

    place = source / "items.csv" if source.is_dir() else source
    if not place.is_file():
        raise DataError(
            f"{place} does not exist; name the folder of a fit of the 2PL, or a table with item, "
            "discrimination and difficulty"
        )
    table = read_item_table(place)
    summary = place.with_name("summary.json")
    if not source.is_dir() or not summary.is_file():
        return table, 0.0, 1.0
    try:
        settings = loads(summary.read_text(encoding="utf-8"))["settings"]
        mean = -float(settings.get("unit", 1.0)) * float(settings.get("shift", 0.0))
        return table, mean, float(settings.get("prior_ability_sd", 1.0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{summary} does not say how the items were fitted: {error}") from None


def _write(summary: FitSummary, out: Path, *, name: str, posterior: xr.DataTree | None) -> None:
    from neartie.report.fit_files import write_fit

    write_fit(summary, out, name=name, posterior=posterior)


def _show(summary: FitSummary, out: Path, *, json: bool) -> None:
    from neartie.data.files import to_json
    from neartie.report.fit_text import fit_text

    if json:
        print(to_json(summary.to_dict()))
        return
    print(fit_text(summary))
    print(f"\nReport: {out / 'report.html'} (numbers in {out / 'models.csv'} beside it)")
    if summary.can_be_ranked:
        print(f"Which orderings can be believed: neartie rank {out}")
