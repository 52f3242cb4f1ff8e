"""`neartie demo`: the audit of the bundled example."""

from __future__ import annotations

from neartie.cli.audit import OUTPUT, run_audit
from neartie.cli.options import OutOption, SeedOption


def demo(
    seed: SeedOption = 0,
    out: OutOption = OUTPUT,
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
