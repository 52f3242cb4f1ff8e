"""What the commands of `neartie validate` do once their arguments are known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from neartie.cli.dask_client import dask_client
from neartie.cli.idle_options import SAMPLING, refuse_idle, refuse_idle_sampling
from neartie.cli.progress import show_progress, with_notice

if TYPE_CHECKING:
    from neartie.audits.validation_design import Priors
    from neartie.data.battles import Battles
    from neartie.data.responses import Responses

# How arguments of `validate_design` are called on the command line.
_OPTIONS: Final = {
    "n_items": "--items",
    "n_models": "--models",
    "n_families": "--families",
    "missing": "--missing-share",
    "n_battles": "--battles",
    "n_judges": "--judges",
    "n_data_sets": "--replicates",
    "dimension": "--dimension",
    "draws": "--draws",
    "tune": "--tune",
    "chains": "--chains",
    "thin": "--thin",
    "target_accept": "--target-accept",
}


# Chains of NUTS would compile the density once more for every data set.
_HEEDED: Final = {**SAMPLING, "cores": ("gibbs",)}
# Of data that are copied: how to read them.
_OF_DATA: Final = ("rows", "scores", "threshold", "repeats")


def refuse_idle_validation(context: typer.Context, engine: str, *, copied: bool) -> None:
    """Refuse options that were typed, and that this engine, or a design without data, has no use for.

    Parameters
    ----------
    context : typer.Context
    engine : str
    copied : bool
        Whether there are data.

    Raises
    ------
    typer.BadParameter
    """
    refuse_idle_sampling(context, engine, heeded=_HEEDED)
    if not copied:
        refuse_idle(context, _OF_DATA, "is for data that are read: it goes with --like")


def hyperparameters(option: str, given: Sequence[str] | None) -> dict[str, float]:
    """Return names with their values.

    Examples
    --------
    >>> hyperparameters("--prior", ["difficulty_sd=2", "ability_sd = .5"])
    {'difficulty_sd': 2.0, 'ability_sd': 0.5}
    """
    found = {}
    for text in given or ():
        name, _, value = (part.strip() for part in text.partition("="))
        try:
            found[name] = float(value)
        except ValueError:
            raise typer.BadParameter(
                f"{option} takes NAME=VALUE with a number, such as ability_sd=1, got {text!r}"
            ) from None
    return found


def with_priors(kind: str, options: dict[str, Any], given: Sequence[str] | None) -> dict[str, Any]:
    """Return options of a factory with the priors that are asked for."""
    from neartie.audits.validation_design import PRIORS, check_truth
    from neartie.data.errors import DataError
    from neartie.inference.truths_dif import PLANTED

    asked = hyperparameters("--prior", given)
    try:
        if set(asked) & set(PLANTED):
            raise ValueError(f"{' and '.join(PLANTED)} are for --truth: the fit has priors instead")
        check_truth(kind, PRIORS[kind](), asked)
        return {**options, "priors": PRIORS[kind](**asked)}
    except ValueError as error:
        raise DataError(f"--prior: {error}") from error


def checked_truth(kind: str, priors: Priors, given: Sequence[str] | None) -> dict[str, float]:
    """Return hyperparameters of truths; errors name their option."""
    from neartie.audits.validation_design import check_truth
    from neartie.data.errors import DataError

    try:
        return check_truth(kind, priors, hyperparameters("--truth", given))
    except ValueError as error:
        raise DataError(f"--truth: {error}") from error


def run_validation(
    like: Responses | Battles | None,
    *,
    kind: str,
    options: dict[str, Any],
    sizes: Mapping[str, float | None],
    truth: Sequence[str] | None,
    engine: str,
    replicates: int,
    sampling: dict[str, Any],
    dask: str | None,
    name: str,
    seed: int,
    out: Path,
    json: bool,
) -> None:
    """Validate a design, write its files, show what may be claimed."""
    from neartie.audits.validation import validate_design
    from neartie.audits.validation_store import RECORDS
    from neartie.data.errors import DataError
    from neartie.data.files import output_folder, to_json
    from neartie.report.validation_files import write_validation
    from neartie.report.validation_text import validation_text

    asked = {argument: size for argument, size in sizes.items() if size is not None}
    if like is not None and asked:
        raise DataError(
            f"{_OPTIONS[next(iter(asked))]} is for a design without data: with --like sizes are "
            "those of the data"
        )
    other = checked_truth(kind, options["priors"], truth)
    found = (out / RECORDS).exists()
    notice = f"found {out / RECORDS}: going on from there" if found else ""
    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    with output_folder(out), dask_client(dask) as client, show_progress() as say:
        try:
            result = validate_design(
                like,
                kind=kind,
                options=options,
                truth=other,
                engine=engine,
                n_data_sets=replicates,
                folder=out,
                client=client,
                progress=with_notice(say, notice, at="fitting data sets"),
                rng=seed,
                **asked,  # type: ignore[arg-type]
                **sampling,
            )
        except DataError:
            raise
        except ValueError as error:
            raise DataError(_in_options(str(error))) from error
        say("report", 0)
        write_validation(result, out, name=name)
    if json:
        print(to_json(result.to_dict()))
        return
    print(validation_text(result))
    print(f"\nReport: {out / 'report.html'} (numbers in {out / 'coverage.csv'} beside it)")


def _in_options(message: str) -> str:
    """Name options in place of arguments, for the user at the keyboard."""
    first, gap, rest = message.partition(" ")
    return _OPTIONS.get(first, first) + gap + re.sub(r"\bn_\w+", _option_of, rest)


def _option_of(word: re.Match[str]) -> str:
    return _OPTIONS.get(word[0], word[0])
