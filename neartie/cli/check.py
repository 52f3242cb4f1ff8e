"""`neartie check`: would the fitted model give such data, and does another predict better?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neartie.cli.options import JsonOption, SeedOption
from neartie.cli.progress import show_progress

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

OUTPUT = Path("neartie-check")


def check(
    fit: Annotated[
        Path,
        typer.Argument(metavar="FIT", help="Folder that `neartie fit` wrote, or its posterior.nc."),
    ],
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            help="Another fit of the same data, to be compared by left-out answers; both made "
            "with --log-likelihood. Can be repeated.",
        ),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(
            "--models",
            help="Model table with family or owner: pairs within one are no near ties.",
        ),
    ] = None,
    band: Annotated[
        str, typer.Option("--band", help="Largest gap of a near tie, as a proportion.")
    ] = "0.01",
    level: Annotated[float, typer.Option("--level", help="Level of the intervals.")] = 0.95,
    draws: Annotated[
        int, typer.Option("--draws", min=20, help="Replicates, each from a draw of its own.")
    ] = 1000,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of what was fitted, for titles.")
    ] = None,
    seed: SeedOption = 0,
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = OUTPUT,
    json: JsonOption = False,
) -> None:
    """Compare a fit with its data: totals, near ties, other fits."""
    from neartie.audits.posterior_checks import check_posterior
    from neartie.data.errors import DataError
    from neartie.data.files import output_folder, to_json
    from neartie.data.tables import read_model_table
    from neartie.inference.posterior_file import read_posterior
    from neartie.report.check_files import write_checks
    from neartie.report.check_text import check_text

    if not 0 < level < 1:
        raise DataError(f"--level must lie between 0 and 1, got {level}")
    try:
        share = float(band)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise DataError(f"--band must be a number between 0 and 1, got {band!r}")
    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    with output_folder(out), show_progress() as say:
        say("reading", 0)
        posterior = read_posterior(fit)
        table = None if models is None else read_model_table(models)
        comparison = _compared(posterior, fit, against) if against else None
        checks = check_posterior(
            posterior, models=table, band=band, level=level, draws=draws, progress=say, rng=seed
        )
        say("report", 0)
        title = name or fit.resolve().name.split(".")[0]
        write_checks(checks, out, name=title, comparison=comparison)
    if json:
        print(to_json(checks.to_dict()))
    else:
        print(check_text(checks, comparison))
        print(f"\nReport: {out / 'report.html'} (numbers in {out / 'statistics.csv'} beside it)")


def _compared(posterior: xr.DataTree, fit: Path, against: list[Path]) -> pd.DataFrame:
    """Return the comparison of all fits, each under the name of its folder where that is enough."""
    from neartie.data.errors import DataError
    from neartie.inference.compare_loo import compare_models
    from neartie.inference.posterior_file import read_posterior

    paths = [fit, *against]
    if len({path.resolve() for path in paths}) < len(paths):
        raise DataError("--against names a fit that is compared already; name another one")
    short = [path.resolve().name for path in paths]
    names = short if len(set(short)) == len(paths) else [str(path) for path in paths]
    trees = [posterior, *(read_posterior(path) for path in against)]
    for path, tree in zip(paths, trees, strict=True):
        if "log_likelihood" not in tree.children:
            raise DataError(
                f"{path} holds no log-likelihood of the answers, which a comparison needs: "
                "make the fit again with --log-likelihood"
            )
    return compare_models(dict(zip(names, trees, strict=True)))
