"""`neartie audit` on several benchmarks: a folder each, and what holds over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from neartie.cli.audit_checks import checked, forget_unfinished
from neartie.cli.dask_client import dask_client
from neartie.cli.progress import show_progress
from neartie.cli.screen_first import ScreenFirst, screen_first, write_anchor_screen

if TYPE_CHECKING:
    from neartie.audits.collection_checks import CollectionChecks
    from neartie.audits.further_checks import CheckChoices
    from neartie.audits.settings import AuditSettings
    from neartie.data.responses import Responses

DEFAULT_TITLE = "several benchmarks"


def run_collection(
    benchmarks: Mapping[str, Responses],
    settings: AuditSettings,
    choices: CheckChoices,
    *,
    screen: ScreenFirst,
    common_models: bool,
    seed: int,
    out: Path,
    name: str | None = None,
    as_json: bool = False,
    dask: str | None = None,
) -> CollectionChecks:
    """Audit every benchmark into a folder of its own, then write and print what holds over all.

    Parameters
    ----------
    benchmarks : mapping of str to Responses
    settings : AuditSettings
    choices : CheckChoices
    screen : ScreenFirst
    common_models : bool
        Cut all benchmarks to the models that they share, before anything else.
    seed : int
        The same for all.
    out : Path
    name : str, optional
        Of the collection, for titles.
    as_json : bool
        Print `summary.json` instead of text.
    dask : str, optional
        Where further checks find workers; see `dask_client`.

    Returns
    -------
    CollectionChecks
    """
    from neartie.audits.collection import exact_common_models
    from neartie.audits.collection_checks import check_collection
    from neartie.audits.further_checks import FurtherChecks
    from neartie.audits.near_tie import audit_near_ties
    from neartie.data.errors import DataError
    from neartie.data.files import output_folder, to_json
    from neartie.report.audit_files import write_audit
    from neartie.report.collection_files import collection_text, write_collection

    audits, checks = {}, {}
    parts = dict(benchmarks)
    sentences: list[str] = []
    with output_folder(out) as temporary, dask_client(dask) as client, show_progress() as say:
        if common_models:
            parts = exact_common_models(parts, settings, rng=seed)
        for benchmark, responses in parts.items():

            def step(text: str, share: float, benchmark: str = benchmark) -> None:
                say(f"{benchmark}: {text}", share)

            data, screened = responses, None
            try:
                if screen is not ScreenFirst.no:
                    data, screened = screen_first(data, drop=screen is ScreenFirst.drop, seed=seed)
                audit = audit_near_ties(data, settings, rng=seed, progress=step)
            except DataError as error:
                raise DataError(f"{benchmark}: {error}") from error
            found = FurtherChecks()
            if choices.any:
                found = checked(
                    data, audit, choices, out=out / benchmark, client=client, progress=step
                )
            # complete when it is there, whatever becomes of the benchmarks after it
            with output_folder(out / benchmark) as place:
                write_audit(audit, place, name=benchmark, checks=found)
                if screened is not None:
                    lines = write_anchor_screen(audit, screened, place)
                    sentences += [f"{benchmark}: {line}" for line in lines]
            forget_unfinished(out / benchmark)
            audits[benchmark], checks[benchmark] = audit, found
        say("report", 0)
        whole = check_collection(audits, checks, seed=seed)
        write_collection(whole, temporary, name=name or DEFAULT_TITLE)
    if as_json:
        print(to_json(whole.to_dict()))
    else:
        print(collection_text(whole))
        for sentence in sentences:
            print(f"\n{sentence}")
        print(f"\nReport: {out / 'report.html'} (each benchmark has a folder beside it)")
    return whole
