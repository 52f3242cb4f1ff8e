"""`neartie demo`: the audit of the bundled example."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neartie.cli.audit import OUTPUT, run_audit
from neartie.cli.options import SeedOption


def demo(
    seed: SeedOption = 0,
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = OUTPUT,
) -> None:
    """Audit the bundled example, a small simulated leaderboard; needs no network."""
    from neartie.audits.settings import AuditSettings
    from neartie.data.example import load_example

    data = load_example()
    print(
        f"The bundled example is simulated: {data.n_item} items, {data.n_model} models, "
        "with family effects planted in a quarter of the items.\n"
    )
    run_audit(data, AuditSettings(), seed=seed, out=out, name="example (simulated)")
