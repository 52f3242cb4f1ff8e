"""`neartie compare --simulate N`: how far every rung is off, on leaderboards with known truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neartie.cli.compare_boards import invented_boards
from neartie.cli.compare_options import World
from neartie.cli.dask_client import dask_client
from neartie.cli.progress import show_progress, with_notice

if TYPE_CHECKING:
    from neartie.audits.comparison_boards import Boards
    from neartie.audits.comparison_settings import ComparisonSettings
    from neartie.audits.settings import AuditSettings
    from neartie.data.responses import Responses

# What a folder of a comparison, and no folder of a simulation, holds.
_COMPARISON: Final = ("rungs", "ladder.csv")


def check_request(
    responses: Path | None,
    *,
    simulate: int | None,
    only_simulated: Mapping[str, object],
    only_data: Mapping[str, object],
) -> None:
    """Refuse options that do not go together.

    Parameters
    ----------
    responses : Path or None
    simulate : int or None
        Leaderboards to draw.
    only_simulated, only_data : mapping
        Options by name that go with --simulate, and with RESPONSES; None where left out.

    Raises
    ------
    DataError
        Names the option, and says what it goes with.
    """
    from neartie.data.errors import DataError

    given = [option for option, value in only_simulated.items() if value is not None]
    if simulate is None:
        if given:
            raise DataError(f"{given[0]} goes with --simulate N")
        if responses is None:
            raise DataError(
                "RESPONSES is missing: name a table of answers, or give --simulate N to compare "
                "invented leaderboards"
            )
        return
    if responses is not None:
        for option in ("--design", "--world"):
            if option in given:
                raise DataError(
                    f"{option} is for invented leaderboards: with RESPONSES they are copies of your "
                    "data; leave out one of the two"
                )
        return
    if "--dif-factor" in given:
        raise DataError(
            "--dif-factor scales the effects that are fitted to RESPONSES, which is missing; those "
            "of invented leaderboards are --design dif-effect=... or, with --world model, dif-scale"
        )
    for option, value in only_data.items():
        if value is not None:
            raise DataError(
                f"{option} is for RESPONSES, which is missing; sizes of invented leaderboards are "
                "--design items=200,models=120"
            )


def run_simulation(
    data: Responses | None,
    settings: ComparisonSettings,
    *,
    audit: AuditSettings,
    n: int,
    design: str | None,
    world: World | None,
    dif_factor: float | None,
    dask: str | None,
    cores: int | None,
    seed: int,
    out: Path,
    name: str | None,
    as_json: bool,
) -> None:
    """Draw and compare leaderboards, write the files, show what was found.

    Parameters
    ----------
    data : Responses or None
        To be copied; invented leaderboards without.
    settings : ComparisonSettings
    audit : AuditSettings
    n : int
        Leaderboards.
    design : str or None
        As typed.
    world : World or None
    dif_factor : float or None
        1 where left out.
    dask : str or None
        As typed.
    cores : int or None
        Chains at a time, 1 where left out.
    seed : int
    out : Path
        Finished leaderboards are kept in it, and stay: a longer run finds them.
    name : str or None
        For titles.
    as_json : bool
        Print `summary.json` instead of text.
    """
    from neartie.audits.compare_simulated import simulate_comparison
    from neartie.audits.validation_store import RECORDS
    from neartie.data.errors import DataError
    from neartie.data.files import output_folder, to_json
    from neartie.report.recovery_files import DEFAULT_NAME, write_recovery
    from neartie.report.recovery_text import recovery_text

    boards: Callable[[], Boards]
    if data is None:
        boards = partial(invented_boards, world or World.leaderboard, design)
        boards()  # what is wrong with the options is to be heard of first
    else:
        boards = partial(
            _copies, data, _dimension(settings, audit), dif_factor, audit=audit, seed=seed
        )
    if any((out / part).exists() for part in _COMPARISON):
        raise DataError(f"{out} holds a comparison; name another folder for simulations with --out")
    found_before = (out / RECORDS).exists()
    notice = f"found {out / RECORDS}: going on from there" if found_before else ""
    # opened first: a folder that cannot be written is to be heard of before the work, not after it
    with output_folder(out), dask_client(dask) as client, show_progress() as say:
        if data is not None:
            say("fit of the data", 0)
        found = simulate_comparison(
            boards(),
            settings,
            audit=audit,
            replicates=n,
            folder=out,
            cores=cores or 1,
            client=client,
            progress=with_notice(say, notice, at="leaderboards"),
            rng=seed,
        )
        say("report", 0)
        written = write_recovery(found, out, name=name or DEFAULT_NAME)
    if as_json:
        print(to_json(found.to_dict()))
        return
    print(recovery_text(found))
    tables = sum(path.suffix == ".csv" for path in written)
    print(
        f"\nReport: {out / 'report.html'} (numbers in {out / 'recovery.csv'} and {tables - 1} other "
        "tables)"
    )


def refuse_simulation(out: Path) -> None:
    """Refuse a folder that holds simulations, for a comparison of real answers.

    Raises
    ------
    DataError
        If it does.
    """
    from neartie.audits.validation_store import RECORDS
    from neartie.data.errors import DataError

    if (out / RECORDS).exists():
        raise DataError(f"{out} holds simulations; name another folder with --out")


def _dimension(settings: ComparisonSettings, audit: AuditSettings) -> int:
    """Return K of the fit that leaderboards are copied from."""
    from neartie.data.errors import DataError

    wanted = settings.dimension if settings.dimension is not None else audit.dimension
    if isinstance(wanted, int):
        return wanted
    if wanted is None:
        raise DataError(
            "copies of your data come from a fit with a given K: give --k 4, which fixes that of the "
            "audits, too, or --dimension 4, which leaves it to them; neartie audit says which K the "
            "data choose"
        )
    raise DataError(
        "copies of your data come from one fit of both halves: give --dimension one number, such as "
        f"--dimension {max(wanted)}"
    )


def _copies(
    data: Responses, dimension: int, factor: float | None, *, audit: AuditSettings, seed: int
) -> Boards:
    from neartie.audits.comparison_boards import boards_like
    from neartie.data.errors import DataError

    try:
        return boards_like(
            data,
            dimension=dimension,
            dif_factor=1.0 if factor is None else factor,
            audit=audit,
            rng=seed,
        )
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"the fit that is to be copied: {error}") from error
