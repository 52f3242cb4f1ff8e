"""Tables of the documentation from simulated comparisons; see comparison_recovery.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

TABLE = Path(__file__).parents[1] / "docs" / "tables"


def write(found: dict[Any, Any], rungs: tuple[str, ...], scored: list[dict[str, Any]]) -> None:
    """Write all tables from the recoveries of the settings that are finished.

    `scored` are the lines of `comparison_recovery.run_fixed`.
    """
    _save("comparison_prior.md", _prior(scored))
    own_k = {
        setting: recovery
        for setting, recovery in found.items()
        if setting.k is None and not setting.sparse
    }
    _save("comparison_coverage.md", _coverage(own_k, rungs))
    _save("comparison_bias.md", _bias(own_k))
    _save("comparison_anchors.md", _anchors(own_k, rungs))
    _save("comparison_claims.md", _claims(own_k))
    _save("comparison_dimension.md", _dimension(found))


def _save(name: str, lines: list[str]) -> None:
    (TABLE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{name}\n" + "\n".join(lines), flush=True)


def _cells(recovery: Any, rung: str, anchors: str, scores: str) -> Any:
    table = recovery.table
    wanted = (table["rung"] == rung) & (table["anchors"] == anchors) & (table["scores"] == scores)
    return table[wanted].iloc[0]


def _percent(value: float, error: float = np.nan, *, digits: int = 0) -> str:
    if np.isnan(value):
        return ""
    text = f"{100 * value:.{digits}f}"
    return text if np.isnan(error) else f"{text} ± {100 * error:.{digits}f}"


def _error(share: float, n: float) -> float:
    """Return the standard error of a share, of two more cases of either kind, so that none is 0."""
    middle = (share * n + 2) / (n + 4)
    return float(np.sqrt(middle * (1 - middle) / (n + 4)))


def _prior(scored: list[dict[str, Any]]) -> list[str]:
    """Return what the full posterior's latent rates are worth where nothing is misspecified."""
    lines = [
        (
            "| items x models | anchors | n | 95 % intervals that hold the truth | bias, points "
            "| mean width, points | p of uniform places |"
        ),
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    table = pd.DataFrame(scored)
    if table.empty:
        return lines
    table = table.drop_duplicates(["setting", "board", "anchors"], keep="last")
    for (setting, anchors), own in table.groupby(["setting", "anchors"], sort=False):
        held = own["true"].between(own["low"] - 1e-9, own["high"] + 1e-9)
        off = 100 * (own["rate"] - own["true"])
        size = " ".join(str(setting).split()[1:4])
        lines.append(
            f"| {size} | {anchors} | {len(own)} | "
            f"{_percent(held.mean(), _error(held.mean(), len(own)), digits=1)} | "
            f"{off.mean():+.1f} ± {off.std(ddof=1) / np.sqrt(len(own)):.1f} | "
            f"{100 * (own['high'] - own['low']).mean():.1f} | "
            f"{stats.kstest(own['place'], 'uniform').pvalue:.2f} |"
        )
    return lines


def _coverage(found: dict[Any, Any], rungs: tuple[str, ...]) -> list[str]:
    """Return the share of 95 % intervals that hold the true rate, by rung."""
    shown = [(r, "plug-in", "latent") for r in rungs]
    shown += [
        ("full", "draws", "latent"),
        ("full", "mean", "latent"),
        ("full", "draws", "observed"),
    ]
    head = [f"{rung}, {anchors} x {scores}" for rung, anchors, scores in shown]
    lines = [
        f"| world, items x models, effects | n | {' | '.join(head)} |",
        "|---|---:|" + "---:|" * len(head),
    ]
    for setting, recovery in found.items():
        cells = [_cells(recovery, *key) for key in shown]
        n = int(cells[0]["n_replicates"])
        texts = [_percent(c["coverage"], _error(c["coverage"], n)) for c in cells]
        lines.append(
            f"| {setting.world}, {setting.size}, {setting.effects} | {n} | {' | '.join(texts)} |"
        )
    for world in ("model", "leaderboard"):
        parts = [r for s, r in found.items() if s.world == world]
        if not parts:
            continue
        texts = []
        for key in shown:
            n = np.array([_cells(r, *key)["n_replicates"] for r in parts])
            share = np.array([_cells(r, *key)["coverage"] for r in parts])
            mean = float((n * share).sum() / n.sum())
            texts.append(_percent(mean, _error(mean, float(n.sum())), digits=1))
        total = int(sum(_cells(r, *shown[0])["n_replicates"] for r in parts))
        lines.append(f"| **{world}, all** | {total} | {' | '.join(texts)} |")
    return lines


def _bias(found: dict[Any, Any]) -> list[str]:
    """Return the mean of rate less target, in points."""
    shown = [
        ("plug-in", "plug-in", "observed"),
        ("residual", "draws", "observed"),
        ("full", "draws", "observed"),
        ("full", "mean", "observed"),
        ("full", "inclusion", "observed"),
        ("full", "plug-in", "latent"),
        ("full", "draws", "latent"),
        ("full", "mean", "latent"),
        ("full", "inclusion", "latent"),
    ]
    head = [f"{rung}, {anchors} x {scores}" for rung, anchors, scores in shown]
    lines = [
        f"| world, items x models, effects | true rate, observed | random | {' | '.join(head)} |",
        "|---|---:|---:|" + "---:|" * len(head),
    ]
    for setting, recovery in found.items():
        cells = [_cells(recovery, *key) for key in shown]
        texts = [f"{100 * c['bias']:+.1f} ± {100 * c['bias_se']:.1f}" for c in cells]
        target = cells[0]["target"]
        random = target - cells[0]["excess_target_pp"] / 100
        lines.append(
            f"| {setting.world}, {setting.size}, {setting.effects} | {_percent(target, digits=1)} | "
            f"{_percent(random, digits=1)} | {' | '.join(texts)} |"
        )
    return lines


def _anchors(found: dict[Any, Any], rungs: tuple[str, ...]) -> list[str]:
    """Return how much of the avoidable DIF anchors avoid."""
    shown = [("plug-in", "plug-in")]
    shown += [(rung, kind) for rung in rungs for kind in ("draws", "mean", "inclusion")]
    head = [rung if rung == kind else f"{rung}, {kind}" for rung, kind in shown]
    lines = [
        f"| world, items x models, effects | {' | '.join(head)} |",
        "|---|" + "---:|" * len(head),
    ]
    for setting, recovery in found.items():
        if setting.effects == "no":
            continue
        table = recovery.anchors.set_index(["rung", "anchors"])
        texts = [_percent(table.loc[key, "gain"], table.loc[key, "gain_se"]) for key in shown]
        lines.append(
            f"| {setting.world}, {setting.size}, {setting.effects} | {' | '.join(texts)} |"
        )
    return lines


def _claims(found: dict[Any, Any]) -> list[str]:
    """Return the share of leaderboards of which an excess over random subtests is claimed."""
    shown = [("plug-in", "plug-in", "observed"), ("residual", "plug-in", "latent")]
    shown += [("laplace", "plug-in", "latent"), ("full", "draws", "observed")]
    shown += [
        ("full", "plug-in", "latent"),
        ("full", "draws", "latent"),
        ("full", "mean", "latent"),
    ]
    head = [f"{rung}, {anchors} x {scores}" for rung, anchors, scores in shown]
    lines = [
        f"| world, items x models, effects | n | {' | '.join(head)} |",
        "|---|---:|" + "---:|" * len(head),
    ]
    for setting, recovery in found.items():
        cells = [_cells(recovery, *key) for key in shown]
        texts = [_percent(c["claims"], _error(c["claims"], c["n_replicates"])) for c in cells]
        n = int(cells[0]["n_replicates"])
        lines.append(
            f"| {setting.world}, {setting.size}, {setting.effects} | {n} | {' | '.join(texts)} |"
        )
    return lines


def _dimension(found: dict[Any, Any]) -> list[str]:
    """Return what a K that is too small or too large does."""
    lines = [
        "| effects | K (true: 2) | n | plug-in: rate | excess, points | claimed | "
        + "full, plug-in x latent: rate | true rate | excess | true excess | claimed | "
        + "gain of anchors, plug-in | full, mean |",
        "|---|---:|---:|" + "---:|" * 10,
    ]
    for setting, recovery in sorted(
        found.items(), key=lambda pair: (pair[0].effects, pair[0].dimension)
    ):
        if (setting.world, setting.size) != ("leaderboard", "240 x 200"):
            continue
        plug_in = _cells(recovery, "plug-in", "plug-in", "observed")
        full = _cells(recovery, "full", "plug-in", "latent")
        gain = recovery.anchors.set_index(["rung", "anchors"])["gain"]
        lines.append(
            f"| {setting.effects} | {setting.dimension}{', sparse' if setting.sparse else ''} | {int(plug_in['n_replicates'])} | "
            f"{_percent(plug_in['rate'], digits=1)} | {plug_in['excess_pp']:+.1f} | "
            f"{_percent(plug_in['claims'])} | {_percent(full['rate'], digits=1)} | "
            f"{_percent(full['target'], digits=1)} | {full['excess_pp']:+.1f} | "
            f"{full['excess_target_pp']:+.1f} | {_percent(full['claims'])} | "
            f"{_percent(gain['plug-in', 'plug-in'])} | {_percent(gain['full', 'mean'])} |"
        )
    return lines
