"""`neartie score`: the scorecard of models, from answers, samples, duels and costs."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from neartie.cli.options import (
    JsonOption,
    NameOption,
    OutOption,
    Rows,
    RowsOption,
    SeedOption,
    benchmark_name,
)
from neartie.cli.progress import show_progress

OUTPUT = Path("neartie-score")


class ConfidenceScale(StrEnum):
    """What stated confidences are."""

    auto = "auto"
    percent = "percent"
    proportion = "proportion"


class Closed(StrEnum):
    """Side on which bins of confidence are closed."""

    right = "right"
    left = "left"


class Binning(StrEnum):
    """How bins of confidence are made."""

    width = "width"
    mass = "mass"


class Rescale(StrEnum):
    """What becomes of ready scores."""

    none = "none"
    min_max = "min-max"


class AbilityUnit(StrEnum):
    """Unit of abilities."""

    mode = "mode"
    posterior = "posterior"


def score(
    answers: Annotated[
        Path | None,
        typer.Argument(
            metavar="ANSWERS",
            help="Answers: long (item, model, score; domain, confidence, anchor) or wide. CSV, gzip "
            "CSV or Parquet, as all tables.",
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            "--items", help="Item table: 'item', and 'domain' (or 'source'), 'anchor' (1 or 0)."
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option("--samples", help="Repeated answers: 'item', 'model', 'answer'."),
    ] = None,
    duels: Annotated[
        Path | None,
        typer.Option(
            "--duels",
            help="Verdicts: 'model_a', 'model_b', 'winner' or 'verdict'; 'judge', 'prompt', "
            "'swapped', 'domain'.",
        ),
    ] = None,
    judges: Annotated[
        Path | None,
        typer.Option("--judges", help="Who may judge: 'judge', 'provider'."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", help="Labels of items, a column a judge: only their agreement."),
    ] = None,
    abilities: Annotated[
        Path | None,
        typer.Option("--abilities", help="Ready estimates: 'model', 'ability', 'se', 'domain'."),
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option("--tasks", help="Ready scores of domains: 'model', and a column a domain."),
    ] = None,
    economics: Annotated[
        Path | None,
        typer.Option(
            "--economics", help="'model', 'cost' of 1,000 items, 'latency' (median, seconds)."
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="A,C,K,R",
            help="Of accuracy, consistency, calibration, resistance: .60,.15,.10,.15.",
        ),
    ] = None,
    domain_weight: Annotated[
        list[str] | None,
        typer.Option(
            "--domain-weight",
            metavar="DOMAIN=W",
            help="Weight of a domain, 1 for all others; may be repeated.",
        ),
    ] = None,
    gap_limit: Annotated[
        float, typer.Option("--gap-limit", help="Advantage on anchors that leaves no resistance.")
    ] = 0.2,
    bins: Annotated[int, typer.Option("--bins", min=1, help="Bins of confidence.")] = 10,
    closed: Annotated[
        Closed, typer.Option("--closed", help="Side on which bins are closed.")
    ] = Closed.right,
    binning: Annotated[
        Binning, typer.Option("--binning", help="Bins of equal width, or of equal mass.")
    ] = Binning.width,
    confidence_scale: Annotated[
        ConfidenceScale,
        typer.Option("--confidence-scale", help="Of the whole column; auto: per cent if above 1."),
    ] = ConfidenceScale.auto,
    unit: Annotated[
        AbilityUnit,
        typer.Option(
            "--unit",
            help="Of abilities: the posterior's, in which intervals hold, or the mode's, as printed.",
        ),
    ] = AbilityUnit.posterior,
    phantom_wins: Annotated[
        float, typer.Option("--phantom-wins", min=0, help="To each side of every pair in duels.")
    ] = 0.1,
    fewest_judges: Annotated[
        int,
        typer.Option("--fewest-judges", min=1, help="Discard duels with fewer eligible judges."),
    ] = 2,
    rescale: Annotated[
        Rescale, typer.Option("--rescale", help="Ready scores as they are, or from worst to best.")
    ] = Rescale.none,
    resamples: Annotated[
        int,
        typer.Option("--resamples", min=0, help="Behind intervals that count all terms; 0: none."),
    ] = 400,
    rows: RowsOption = None,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Score models: domains, global index, judges, items, and quality beside cost."""
    from neartie.audits.scorecard import make_scorecard
    from neartie.audits.scorecard_settings import ScoreSettings
    from neartie.data.errors import DataError
    from neartie.data.files import output_folder, to_json
    from neartie.data.read_score_inputs import read_score_inputs
    from neartie.report.score_files import write_scorecard
    from neartie.report.score_text import score_text

    chosen = dict(zip(_WEIGHTS, parsed_weights(weights), strict=True)) if weights else {}
    try:
        settings = ScoreSettings(
            **chosen,
            domain_weights=parsed_domain_weights(domain_weight or []),
            gap_limit=gap_limit,
            n_bins=bins,
            closed=closed.value,
            binning=binning.value,
            unit=unit.value,
            phantom_wins=phantom_wins,
            fewest_judges=fewest_judges,
            rescale=rescale.value,
            n_resamples=resamples,
        )
    except ValueError as error:
        raise DataError(str(error)) from error
    first = next((p for p in (answers, duels, tasks, abilities, labels) if p is not None), None)
    if first is None:
        raise DataError(
            "there is nothing to score: name a table of answers, or --duels, --abilities, --tasks "
            "or --labels"
        )
    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    with output_folder(out), show_progress() as say:
        say("reading", 0)
        inputs = read_score_inputs(
            answers,
            items=items,
            samples=samples,
            duels=duels,
            judges=judges,
            labels=labels,
            abilities=abilities,
            tasks=tasks,
            economics=economics,
            confidence_scale=confidence_scale.value,
            rows=None if rows is None else Rows(rows).value,
        )
        card = make_scorecard(inputs, settings, rng=seed, progress=say)
        say("report", 0)
        write_scorecard(card, out, name=benchmark_name(first, name))
    if json:
        print(to_json(card.to_dict()))
    else:
        print(score_text(card))
        print(
            f"\nReport: {out / 'report.html'} (numbers in CSV and {out / 'summary.json'} beside it)"
        )


_WEIGHTS = ("accuracy_weight", "consistency_weight", "calibration_weight", "resistance_weight")


def parsed_weights(text: str) -> list[float]:
    """Return the four weights that an option names.

    Parameters
    ----------
    text : str
        Numbers with commas between: accuracy, consistency, calibration, resistance.

    Returns
    -------
    list of float

    Raises
    ------
    DataError
        If these are not four numbers.

    Examples
    --------
    >>> parsed_weights(".6,.15,.1,.15")
    [0.6, 0.15, 0.1, 0.15]
    """
    from neartie.data.errors import DataError

    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if len(found) != len(_WEIGHTS):
        raise DataError(
            "--weights takes four numbers with commas between, of accuracy, consistency, "
            f"calibration and resistance, got {text!r}"
        )
    return found


def parsed_domain_weights(texts: list[str]) -> dict[str, float]:
    """Return the weights of domains that options name.

    Parameters
    ----------
    texts : list of str
        Each `DOMAIN=WEIGHT`; what stands before the last equals sign is the domain.

    Returns
    -------
    dict of str to float

    Raises
    ------
    DataError
        If one is not of this form, or a domain is named twice.

    Examples
    --------
    >>> parsed_domain_weights(["code=2", "math=0.5"])
    {'code': 2.0, 'math': 0.5}
    """
    from neartie.data.errors import DataError

    found: dict[str, float] = {}
    for text in texts:
        domain, sign, weight = text.rpartition("=")
        try:
            number = float(weight)
        except ValueError:
            number = float("nan")
        if not sign or not domain or math.isnan(number):
            raise DataError(f"--domain-weight takes DOMAIN=NUMBER, got {text!r}")
        if domain in found:
            raise DataError(f"--domain-weight names {domain!r} twice")
        found[domain] = number
    return found
