"""How much memory there is, so that a matrix that does not fit is refused before it is taken."""

from __future__ import annotations

import os
from pathlib import Path

from neartie.data.errors import DataError

_CONTROL_GROUP = Path("/sys/fs/cgroup")
_MEMORY_INFO = Path("/proc/meminfo")


def available_memory() -> int | None:
    """Return the memory that a process can still take.

    Returns
    -------
    int or None, byte
        What the operating system calls available, or what a container's limit leaves if that is
        less. None where neither can be told.
    """
    found = [size for size in (_system_memory(), _container_memory()) if size is not None]
    return min(found, default=None)


def require_memory(needed: int, *, purpose: str, limit: int | None = None) -> None:
    """Refuse what needs more memory than there is.

    Parameters
    ----------
    needed : int, byte
        Estimate of what will be taken.
    purpose : str
        What takes it, for the message.
    limit : int, byte, optional
        The available memory when left out.

    Raises
    ------
    DataError
        If it does not fit.

    Examples
    --------
    >>> require_memory(3_000_000, purpose="a matrix of 3,000 x 1,000", limit=10**6)
    Traceback (most recent call last):
    neartie.data.errors.DataError: a matrix of 3,000 x 1,000 needs 3 MB of memory; the limit is 1 MB
    """
    allowed = available_memory() if limit is None else limit
    if allowed is not None and needed > allowed:
        said = f"only {_megabytes(allowed)} is free" if limit is None else ""
        raise DataError(
            f"{purpose} needs {_megabytes(needed)} of memory; "
            f"{said or f'the limit is {_megabytes(allowed)}'}"
        )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def _system_memory() -> int | None:
    if _MEMORY_INFO.is_file():
        for line in _MEMORY_INFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _container_memory() -> int | None:
    try:
        limit = (_CONTROL_GROUP / "memory.max").read_text().strip()
        used = (_CONTROL_GROUP / "memory.current").read_text()
    except OSError:
        return None
    return max(0, int(limit) - int(used)) if limit != "max" else None
