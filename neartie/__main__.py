"""`python -m neartie`: the same as the command `neartie`."""

from __future__ import annotations

from neartie.cli.app import main

if __name__ == "__main__":
    raise SystemExit(main())
