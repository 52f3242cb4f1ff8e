"""The files of a fit: the contract that users script against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

import xarray as xr

from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic, write_text_atomic
from neartie.inference.fit_summary import FitSummary
from neartie.inference.posterior_file import write_posterior
from neartie.report.fit_html import render_fit

POSTERIOR: Final = "posterior.nc"
_OPTIONAL: Final = ("items", "dif", "parameters", "diagnostics", "covariance")


def write_fit(
    summary: FitSummary,
    folder: str | PathLike[str],
    *,
    name: str,
    posterior: xr.DataTree | None = None,
) -> list[Path]:
    """Write summary, tables, posterior and report; all of them, or none.

    Parameters
    ----------
    summary : FitSummary
    folder : path
        Made if need be. Of an earlier fit in it, files that this one does not have are removed;
        other files stay.
    name : str
        What was fitted, for titles.
    posterior : DataTree, optional
        The draws.

    Returns
    -------
    list of Path
        `summary.json`, `models.csv`, `report.html`; where the fit has them `items.csv`,
        `dif.csv`, `parameters.csv`, `diagnostics.csv`, `covariance.csv`, `posterior.nc`.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    tables = {name_of_table: getattr(summary, name_of_table) for name_of_table in _OPTIONAL}
    with output_folder(folder) as temporary:
        write_json_atomic(summary.to_dict(), temporary / "summary.json")
        write_csv_atomic(summary.models, temporary / "models.csv")
        for name_of_table, table in tables.items():
            if not table.empty:
                write_csv_atomic(table, temporary / f"{name_of_table}.csv")
        if posterior is not None:
            write_posterior(posterior, temporary / POSTERIOR)
        write_text_atomic(render_fit(summary, name=name), temporary / "report.html")
        written = sorted(path.name for path in temporary.iterdir())
    for stale in [*(f"{name_of_table}.csv" for name_of_table in _OPTIONAL), POSTERIOR]:
        if stale not in written:
            (Path(folder) / stale).unlink(missing_ok=True)
    return [Path(folder) / path for path in written]
