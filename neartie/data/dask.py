"""What neartie asks of a Dask client, so that Dask itself stays an extra."""

from __future__ import annotations

from typing import Any, Protocol


class Client(Protocol):
    """A client of workers that calls are sent to."""

    def scatter(self, data: Any, *, hash: bool) -> Any:
        """Send data to a worker."""

    def submit(self, function: Any, *args: Any, pure: bool) -> Any:
        """Return the future result of a call."""
