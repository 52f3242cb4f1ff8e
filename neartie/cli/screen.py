"""`neartie screen`: which items to review, worst first, and why."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

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
    load_responses,
)
from neartie.cli.progress import show_progress

OUTPUT = Path("neartie-screen")


class Form(StrEnum):
    """Which coefficient of a pair is averaged."""

    symmetric = "symmetric"
    predictor = "predictor"
    outcome = "outcome"


class Direction(StrEnum):
    """What gives the sign of a graded pair."""

    fit = "fit"
    tau = "tau"


class Partners(StrEnum):
    """How partners are chosen where not all pairs are taken."""

    random = "random"
    difficulty = "difficulty"
    correlation = "correlation"


class Which(StrEnum):
    """Whether slow statistics are computed."""

    auto = "auto"
    all = "all"
    fast = "fast"


def screen(
    responses: ResponsesPath,
    items: ItemsOption = None,
    models: ModelsOption = None,
    form: Annotated[
        Form,
        typer.Option(
            "--form",
            help="Mean of both directions, partners explained by the item, or the reverse.",
        ),
    ] = Form.symmetric,
    direction: Annotated[
        Direction, typer.Option("--direction", help="Sign of graded pairs: better fit, or tau.")
    ] = Direction.fit,
    within: Annotated[
        str | None,
        typer.Option("--within", help="Compare items within this column of the item table only."),
    ] = None,
    partners: Annotated[
        int | None,
        typer.Option("--partners", min=1, help="Compare an item with so many others, not all."),
    ] = None,
    partner_choice: Annotated[
        Partners, typer.Option("--partner-choice", help="How to choose them.")
    ] = Partners.random,
    statistics: Annotated[
        Which,
        typer.Option(
            "--statistics",
            help="Tetrachoric correlation and 2PL: where affordable, always, or never.",
        ),
    ] = Which.auto,
    null: Annotated[
        int, typer.Option("--null", min=0, help="Shuffles for the null band; 0 leaves it out.")
    ] = 200,
    without: Annotated[
        Path | None,
        typer.Option("--without", help="File with ids of items to take out first, one a line."),
    ] = None,
    remove_worst: Annotated[
        int,
        typer.Option(
            "--remove-worst", min=0, help="Take out so many of the worst and screen again."
        ),
    ] = 0,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Screen items: which go with the others least, or against them, and deserve a review?"""
    from neartie.audits.screen import ScreenSettings, screen_items
    from neartie.audits.screen_reasons import RANKED
    from neartie.data.files import output_folder, to_json
    from neartie.report.screen_files import write_screen
    from neartie.report.screen_text import screen_text

    settings = ScreenSettings(
        form=form.value,
        direction=direction.value,
        within=within,
        n_partners=partners,
        partner_choice=partner_choice.value,
        statistics=statistics.value,
        n_null=null,
    )
    data = load_responses(
        responses,
        items=items,
        models=models,
        rows=rows,
        scores=scores,
        threshold=threshold,
        repeats=repeats,
    )
    gone = read_ids(without) if without is not None else []
    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    with output_folder(out), show_progress() as say:
        result = screen_items(data, settings, without=gone, rng=seed, progress=say)
        if remove_worst:
            ranked = result.table[result.table["kind"] == RANKED]
            gone = [*gone, *ranked["item"].head(remove_worst).tolist()]
            result = screen_items(data, settings, without=gone, rng=seed, progress=say)
        say("report", 0)
        write_screen(result, out, name=benchmark_name(responses, name))
    if json:
        print(to_json(result.to_dict()))
    else:
        print(screen_text(result))
        print(f"\nReport: {out / 'report.html'} (numbers in {out / 'screen.csv'} beside it)")


def read_ids(path: Path) -> list[str]:
    """Return the ids in a file, one a line; blank lines are passed over.

    Parameters
    ----------
    path : Path

    Returns
    -------
    list of str

    Raises
    ------
    DataError
        If it cannot be read as text.
    """
    from neartie.data.errors import DataError

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as a list of ids: {error}") from error
    return [line.strip() for line in text.splitlines() if line.strip()]
