"""`neartie screen-experiment`: how the screen's statistics do when data are few (P2)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neartie.cli.options import (
    ItemsOption,
    Repeats,
    RepeatsOption,
    ResponsesPath,
    RowsOption,
    Scores,
    ScoresOption,
    SeedOption,
    ThresholdOption,
    load_responses,
    output_path,
)
from neartie.cli.progress import show_progress

if TYPE_CHECKING:
    import pandas as pd

OUTPUT = Path("neartie-screen-experiment")
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        parser=output_path,
        metavar="FOLDER",
        help="Folder to write to, and to go on from after a kill.",
    ),
]
ResamplesOption = Annotated[int, typer.Option("--resamples", min=1, help="Resamples a size.")]
BadOption = Annotated[
    int, typer.Option("--fewest-bad", min=1, help="Bad items that a resample must hold.")
]
StatisticsOption = Annotated[
    str | None, typer.Option("--statistics", help="Which, separated by commas.")
]

experiments = typer.Typer(
    name="screen-experiment",
    no_args_is_help=True,
    help="Which statistics find known bad items when items or models are few?",
)


@experiments.command()
def subsample(
    responses: ResponsesPath,
    items: ItemsOption = None,
    n_items: Annotated[int, typer.Option("--n-items", min=3, help="Items a subsample.")] = 200,
    n_models: Annotated[int, typer.Option("--n-models", min=2, help="Models a subsample.")] = 50,
    resamples: ResamplesOption = 20,
    fewest_bad: BadOption = 5,
    statistics: StatisticsOption = None,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
) -> None:
    """Draw subsamples of a benchmark's size (P2, experiment 2)."""
    from neartie.audits.screen_experiments import subsample_experiment
    from neartie.audits.screen_statistics import STATISTICS

    data = load_responses(
        responses, items=items, rows=rows, scores=scores, threshold=threshold, repeats=repeats
    )
    with show_progress() as say:
        results = subsample_experiment(
            data,
            n_items=n_items,
            n_models=n_models,
            n_resamples=resamples,
            fewest_bad=fewest_bad,
            statistics=_names(statistics, STATISTICS),
            rng=seed,
            folder=out,
            progress=say,
        )
    _write(results, out, {"experiment": "subsample", "seed": seed, "fewest_bad": fewest_bad})


@experiments.command()
def grid(
    responses: ResponsesPath,
    items: ItemsOption = None,
    item_counts: Annotated[
        str, typer.Option("--item-counts", help="Numbers of items, separated by commas.")
    ] = "8,16,32,64,128,256,512",
    model_shares: Annotated[
        str, typer.Option("--model-shares", help="Shares of the models, separated by commas.")
    ] = "0.4,0.5,0.6,0.7,0.8,0.9,1.0,1.1",
    resamples: ResamplesOption = 100,
    fewest_bad: BadOption = 1,
    statistics: StatisticsOption = None,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
) -> None:
    """Go through a grid of items x models, with Borda counts (P2, experiment 3)."""
    from neartie.audits.screen_experiments import grid_experiment
    from neartie.audits.screen_statistics import INTERITEM

    counts, shares = _counts(item_counts), _numbers(model_shares, "--model-shares")
    data = load_responses(
        responses, items=items, rows=rows, scores=scores, threshold=threshold, repeats=repeats
    )
    with show_progress() as say:
        results = grid_experiment(
            data,
            item_counts=counts,
            model_shares=shares,
            n_resamples=resamples,
            fewest_bad=fewest_bad,
            statistics=_names(statistics, INTERITEM),
            rng=seed,
            folder=out,
            progress=say,
        )
    _write(results, out, {"experiment": "grid", "seed": seed, "fewest_bad": fewest_bad})
    passed_over = sorted(set(counts) - set(results["n_items"]))
    if passed_over:
        print(f"Passed over, for want of items: {', '.join(map(str, passed_over))}")


def _write(results: pd.DataFrame, out: Path, settings: dict[str, object]) -> None:
    from neartie.audits.screen_experiments import summarise
    from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic

    summary = summarise(results)
    cells = results.groupby(["n_items", "n_models", "statistic"], sort=False)["auc"]
    with output_folder(out) as folder:
        write_csv_atomic(results, folder / "resamples.csv")
        write_csv_atomic(summary, folder / "statistics.csv")
        write_csv_atomic(cells.agg(["mean", "std", "count"]).reset_index(), folder / "cells.csv")
        write_json_atomic(
            settings
            | {"left_out": results.attrs["left_out"]}
            | {"statistics": summary.to_dict("records")},
            folder / "summary.json",
        )
    if results.attrs["left_out"]:
        print(
            f"Left out, for they need right/wrong answers and these are graded: "
            f"{', '.join(results.attrs['left_out'])}\n"
        )
    shown = summary.drop(columns=["missing"]).round(3)
    print(shown.to_string(index=False))
    print(f"\nWritten to {out}: statistics.csv, cells.csv, resamples.csv")


def _names(text: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    from neartie.audits.screen_statistics import STATISTICS
    from neartie.data.errors import DataError

    if text is None:
        return default
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [name for name in names if name not in STATISTICS]
    if unknown or not names:
        raise DataError(f"--statistics takes names out of {', '.join(STATISTICS)}; got {text!r}")
    return names


def _numbers(text: str, option: str) -> list[float]:
    from neartie.data.errors import DataError

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise DataError(f"{option} takes numbers separated by commas, got {text!r}") from error
    if not all(0 < number < math.inf for number in numbers):
        raise DataError(f"{option} takes positive numbers, got {text!r}")
    return numbers


def _counts(text: str) -> list[int]:
    from neartie.data.errors import DataError

    numbers = _numbers(text, "--item-counts")
    if not all(number.is_integer() for number in numbers):
        raise DataError(f"--item-counts takes whole numbers, got {text!r}")
    return [int(number) for number in numbers]
