"""Who was audited and how: families, models left out, purification rounds, settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.result import NearTieAudit
from neartie.data.labels import natural_key
from neartie.report.formatting import MISSING, correlation, count, is_missing, percent
from neartie.report.table import Column, Table

REASONS_SHOWN = 12


def population(audit: NearTieAudit) -> Table:
    """Return families by half: models, owners, representatives, mean accuracy."""
    table = audit.families.assign(
        order=audit.families["family"].map(lambda family: natural_key(str(family)))
    ).sort_values(["order", "half"])
    rows = [
        (
            str(row["family"]),
            str(int(row["half"])),
            count(row["n_models"]),
            count(row["n_owners"]),
            count(row["n_representatives"]),
            percent(row["mean_accuracy"]),
        )
        for row in table.to_dict("records")
    ]
    return Table(
        caption="Models by family and half",
        columns=(
            Column(head="Family", numeric=False),
            Column(head="Half"),
            Column(head="Models"),
            Column(head="Owners"),
            Column(head="Representatives"),
            Column(head="Mean accuracy (%)"),
        ),
        rows=tuple(rows),
    )


def excluded(audit: NearTieAudit) -> Table:
    """Return the reasons for leaving models out, most frequent first, with some of the names."""
    groups = sorted(
        audit.excluded.groupby("reason", sort=True)["model"],
        key=lambda group: (-len(group[1]), str(group[0])),
    )
    rows = []
    for reason, models in groups[:REASONS_SHOWN]:
        names = sorted(map(str, models), key=natural_key)
        more = f", and {len(names) - 3:,} more" if len(names) > 3 else ""
        rows.append((str(reason), count(len(names)), ", ".join(names[:3]) + more))
    if len(groups) > REASONS_SHOWN:
        rest = groups[REASONS_SHOWN:]
        n_models = sum(len(models) for _, models in rest)
        rows.append((f"{len(rest):,} further reasons", count(n_models), MISSING))
    return Table(
        caption="Models left out",
        columns=(
            Column(head="Reason", numeric=False, long=True),
            Column(head="Models"),
            Column(head="Among them", numeric=False, long=True),
        ),
        rows=tuple(rows),
    )


def rounds(audit: NearTieAudit) -> Table:
    """Return the purification rounds of each half, with overlap and convergence."""
    table = audit.rounds.sort_values(["half", "round"])
    n_rounds = 1 + len(audit.jaccard[0])
    return Table(
        caption="Purification rounds",
        note=(
            "Each round fits the dimensions on the anchors of the round before and chooses anew; "
            "the refit on the final anchors gives the stored effects."
        ),
        columns=(
            Column(head="Half"),
            Column(head="Round", numeric=False),
            Column(head="K", symbol="$K$"),
            Column(head="Anchors"),
            Column(head="Jaccard with the round before"),
            Column(head="Iterations"),
            Column(head="Largest last update"),
            Column(head="Converged", numeric=False),
            Column(head="Constant items"),
        ),
        rows=tuple(
            (
                str(int(row["half"])),
                str(int(row["round"])) if int(row["round"]) <= n_rounds else "refit",
                count(row["k"]),
                count(row["n_anchor"]),
                correlation(row["jaccard"]),
                count(row["n_iteration"]),
                _scientific(row["largest_update"]),
                "yes" if int(row["converged"]) else "no",
                count(row["n_constant"]),
            )
            for row in table.to_dict("records")
        ),
    )


def settings(audit: NearTieAudit) -> Table:
    """Return every setting as text, in the order the audit holds them, and the seed."""
    rows = [(str(key), _value(value)) for key, value in audit.settings.items()]
    if "seed" not in audit.settings:
        rows.append(("seed", str(audit.seed)))
    return Table(
        caption="Settings",
        columns=(
            Column(head="Setting", numeric=False),
            Column(head="Value", numeric=False, long=True),
        ),
        rows=tuple(rows),
    )


def versions(audit: NearTieAudit) -> Table:
    """Return program and library versions."""
    return Table(
        caption="Versions",
        columns=(Column(head="Program", numeric=False), Column(head="Version", numeric=False)),
        rows=tuple((str(key), str(value)) for key, value in audit.versions.items()),
    )


def _scientific(value: Any) -> str:
    if is_missing(value):
        return MISSING
    return "0" if float(value) == 0 else f"{float(value):.1e}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_value(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list | tuple | set | frozenset | pd.Index | np.ndarray):
        inner = sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)
        return ", ".join(_value(part) for part in inner) or "none"
    if value is None:
        return "not set"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{float(value):.12g}"
    return str(value)
