"""The workers that `--dask` names: a Dask scheduler, or processes of this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from neartie.data.dask import Client

LOCAL: Final = "local"
PATIENCE: Final = 10.0

DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS|local",
        help="Spread --robustness and --permuted over the workers of a Dask scheduler, such as "
        "tcp://host:8786, or over the cores of this machine. The results stay the same.",
    ),
]


@contextmanager
def dask_client(where: str | None) -> Iterator[Client | None]:
    """Give a client of the workers that are asked for; None where none are.

    Parameters
    ----------
    where : str or None
        The address of a scheduler, or `local` for a cluster of single-threaded processes that ends
        with the block.

    Yields
    ------
    Client or None

    Raises
    ------
    DataError
        If Dask is not installed, or no scheduler answers.

    Examples
    --------
    >>> with dask_client(None) as client:
    ...     print(client)
    None
    """
    if where is None:
        yield None
        return
    from neartie.data.errors import DataError

    try:
        # an extra, without which types are checked, too
        dask: Any = import_module("dask")
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError as error:
        raise DataError(
            'Dask is not installed: pip install "neartie[dask]", or leave out --dask'
        ) from error
    if where == LOCAL:
        # A worker is one process of one thread, whatever library counts its threads.
        one_thread = {"distributed.nanny.pre-spawn-environ.NUMBA_NUM_THREADS": 1}
        with (
            dask.config.set(one_thread),
            distributed.LocalCluster(threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        # A client that waits in vain complains once more when it is thrown away: knock first.
        place = distributed.comm.parse_address(where)[1]
        socket.create_connection(distributed.comm.parse_host_port(place), PATIENCE).close()
        client = distributed.Client(where, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise DataError(
            f"--dask {where}: no Dask scheduler answers there; give its address, such as "
            "tcp://host:8786, or local for the cores of this machine"
        ) from error
    with client:
        yield client
