"""`neartie rank`: which ranks and orderings are credible."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neartie.cli.options import JsonOption, OutOption, SeedOption
from neartie.cli.progress import show_progress

if TYPE_CHECKING:
    import pandas as pd

    from neartie.audits.rank_deciders import GapDeciders
    from neartie.audits.rank_result import ModelRanking
    from neartie.audits.rank_source import Scores

OUTPUT = Path("neartie-rank")


class Sets(StrEnum):
    """What the joint rank sets are made from."""

    differences = "differences"
    ranks = "ranks"


def rank(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="Folder of a fit (posterior.nc, or models.csv with covariance.csv), a posterior, "
            "or a CSV or Parquet table of draws with a column a model.",
        ),
    ],
    level: Annotated[
        float, typer.Option("--level", help="Level of all intervals and sets, between 0 and 1.")
    ] = 0.95,
    top: Annotated[
        int, typer.Option("--top", min=1, metavar="K", help="Give the probability of the first K.")
    ] = 3,
    models: Annotated[
        str | None,
        typer.Option(
            "--models", help="Rank these only: ids with commas between, or a file, one id a line."
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without", help="Leave these out, such as models whose strength is infinite."
        ),
    ] = None,
    variable: Annotated[
        str | None,
        typer.Option("--variable", help="Variable of the posterior to rank by, if not its own."),
    ] = None,
    sets: Annotated[
        Sets,
        typer.Option(
            "--sets", help="Joint rank sets from differences, or from ranks of draws (narrower)."
        ),
    ] = Sets.differences,
    items: Annotated[
        int | None,
        typer.Option(
            "--items", min=1, help="Number of items behind the scores, where it is not known."
        ),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            "--pair",
            metavar="A,B",
            help="Show the items that carry the gap of these two; may be repeated.",
        ),
    ] = None,
    responses: Annotated[
        Path | None,
        typer.Option("--responses", help="Answers to look for them in, where SOURCE has no items."),
    ] = None,
    item_table: Annotated[
        Path | None,
        typer.Option("--item-table", help="Item table of the answers, with 'source'."),
    ] = None,
    draws: Annotated[
        int, typer.Option("--draws", min=100, help="Draws to make where there are none.")
    ] = 4000,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of what is ranked, for titles.")
    ] = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Rank models: intervals of ranks, sets that hold for all at once, tiers, every pair."""
    from neartie.audits.rank_reading import read_scores
    from neartie.audits.ranks import rank_models
    from neartie.data.errors import DataError
    from neartie.data.files import output_folder, to_json
    from neartie.report.rank_files import write_ranking
    from neartie.report.rank_text import rank_text

    if not 0 < level < 1:
        raise DataError(f"--level must lie between 0 and 1, got {level}")
    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    with output_folder(out), show_progress() as say:
        say("reading", 0)
        scores = read_scores(source, variable=variable)
        ranking = rank_models(
            scores,
            among=_chosen(scores, models, without),
            level=level,
            top=top,
            sets=sets.value,
            n_draws=draws,
            rng=seed,
            progress=say,
        )
        unit, needs = _needs(ranking, scores, items)
        deciders = _deciders(source, pair or [], responses, item_table, seed)
        say("report", 0)
        title = name or source.resolve().name.split(".")[0]
        write_ranking(ranking, out, name=title, needs=needs, unit=unit, deciders=deciders)
    if json:
        print(to_json(ranking.to_dict()))
    else:
        print(rank_text(ranking))
        print(f"\nReport: {out / 'report.html'} (numbers in {out / 'ranks.csv'} beside it)")


def chosen_ids(text: str) -> list[str]:
    """Return the ids that an option names, in a file or with commas between.

    Parameters
    ----------
    text : str
        A file if there is one of this name.

    Returns
    -------
    list of str

    Examples
    --------
    >>> chosen_ids("ant, bee")
    ['ant', 'bee']
    """
    from neartie.cli.screen import read_ids

    if Path(text).is_file():
        return read_ids(Path(text))
    return [part.strip() for part in text.split(",") if part.strip()]


def _chosen(scores: Scores, models: str | None, without: str | None) -> list[str] | None:
    """Return the models to rank; None for all."""
    from neartie.data.errors import DataError
    from neartie.data.wording import listed

    if models is None and without is None:
        return None
    wanted = list(scores.models) if models is None else chosen_ids(models)
    left_out = [] if without is None else chosen_ids(without)
    unknown = [name for name in left_out if name not in scores.models]
    if unknown:
        raise DataError(
            f"there is no model {listed(unknown)} to leave out; some of them: "
            f"{listed(scores.models)}"
        )
    return [name for name in wanted if name not in left_out]


def _deciders(
    source: Path, pairs: list[str], responses: Path | None, item_table: Path | None, seed: int
) -> list[GapDeciders]:
    from neartie.audits.rank_deciders import who_decides
    from neartie.audits.rank_reading import POSTERIOR
    from neartie.data.errors import DataError
    from neartie.data.read import read_responses
    from neartie.inference.posterior_file import read_posterior

    if not pairs:
        return []
    named = [chosen_ids(text) for text in pairs]
    for text, names in zip(pairs, named, strict=True):
        if len(names) != 2:
            raise DataError(f"--pair takes two ids with a comma between, got {text!r}")
    if responses is not None:
        data = read_responses(responses, items=item_table)
        return [who_decides(data, a, b, rng=seed) for a, b in named]
    place = source / POSTERIOR if source.is_dir() else source
    if not place.exists() or place.suffix != ".nc":
        raise DataError(
            "--pair looks for items in a posterior or in answers; name these by --responses"
        )
    posterior = read_posterior(place)
    return [who_decides(posterior, a, b, rng=seed) for a, b in named]


def _needs(
    ranking: ModelRanking, scores: Scores, items: int | None
) -> tuple[str, pd.DataFrame | None]:
    from neartie.audits.rank_needs import what_would_it_take

    n_items = items or scores.n_items
    if n_items:
        return "items", what_would_it_take(ranking, unit="items", n_items=n_items)
    if ranking.label == "strength":
        return "battles", what_would_it_take(ranking, unit="battles")
    return "", None
