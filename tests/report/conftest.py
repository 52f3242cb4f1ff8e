"""A small audit made by hand: consistent tables, no fitting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from neartie.audits.near_tie import audit_near_ties
from neartie.audits.result import NearTieAudit
from neartie.audits.settings import AuditSettings
from neartie.data.example import load_example

mpl.use("Agg")

N_ITEMS = 200
BANDS = (0.0025, 0.005, 0.01, 0.02, 0.03, 0.05)
CONTROLS = 99
HOSTILE = """<script>alert("x")</script> & 'q' $a_b$ 50%_#{}~^\\ é漢"""


def make_audit(
    families: tuple[str, ...] = ("Qwen", "Llama", "Gemma"), **changes: Any
) -> NearTieAudit:
    rng = np.random.default_rng(7)
    scores = _scores(families, rng)
    pairs = _pairs(scores)
    thresholds, random_rates = _thresholds(pairs, rng)
    primary = pairs[(pairs["gap_full"].abs() <= 0.01) & (pairs["gap_anchor"] != 0)]
    population = scores[["model", "owner", "family", "half"]].assign(
        representative=1, n_correct=(scores["full"] * N_ITEMS).round().astype(int)
    )
    grouped = scores.groupby(["family", "half"])
    fields: dict[str, Any] = {
        "population": population,
        "excluded": pd.DataFrame(
            {
                "model": [f"x{i}/m{i}" for i in range(9)],
                "reason": ["no family name"] * 6 + ["over the owner cap"] * 3,
            }
        ),
        "families": grouped.agg(
            n_models=("model", "size"),
            n_owners=("owner", "nunique"),
            mean_accuracy=("full", "mean"),
        )
        .assign(n_representatives=grouped.size())
        .reset_index(),
        "items": _items(rng),
        "dif": pd.DataFrame({"item": [], "half": [], "family": [], "effect": []}),
        "dimension": _dimension(),
        "rounds": _rounds(),
        "scores": scores,
        "pairs": primary.reset_index(drop=True),
        "thresholds": thresholds,
        "fractions": pd.DataFrame(
            {
                "alpha": [0.5, 0.3, 0.7],
                "tau_b": [0.912, 0.8234, 0.95],
                "n_eligible": [len(primary), 40, 44],
                "reversal_rate": [primary["reversed"].mean(), 0.51, 0.333],
                "primary": [1, 0, 0],
            }
        ),
        "random_rates": random_rates,
        "k": (4, 8),
        "tau_b": 0.912,
        "all_pairs_rate": 0.0345,
        "n_items": N_ITEMS,
        "n_eligible": len(primary),
        "seed": 12345,
        "primary_epsilon": 0.01,
        "jaccard": ((0.71, 0.85), (0.8, 1.0)),
        "settings": {"alpha": [0.5, 0.3, 0.7], "rule": "one-se", "cycles": None, "penalty": 1.0},
        "versions": {"neartie": "9.8.7", "numpy": "2.5.0"},
        "warnings": ("The first caveat.", "The second caveat."),
    }
    return NearTieAudit(**(fields | changes))


def _scores(families: tuple[str, ...], rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for half in (0, 1):
        for number in range(24):
            family = families[number % len(families)]
            full = int(rng.integers(110, 135))
            anchor = full + (number % len(families)) - 1 + rng.integers(-4, 5) / 2
            owner = f"owner{half}{number}"
            rows.append((f"{owner}/{family}-{number}", owner, family, half, full, anchor))
    table = pd.DataFrame(rows, columns=["model", "owner", "family", "half", "full", "anchor"])
    return table.assign(full=table["full"] / N_ITEMS, anchor=table["anchor"] / N_ITEMS)


def _pairs(scores: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for half, part in scores.groupby("half"):
        models = part.to_dict("records")
        for i, a in enumerate(models):
            for b in models[i + 1 :]:
                gap = round((a["full"] - b["full"]) * N_ITEMS) / N_ITEMS
                if a["family"] != b["family"] and abs(gap) > 0:
                    anchor = round(a["anchor"] - b["anchor"], 10)
                    rows.append((a["model"], b["model"], half, gap, anchor, int(gap * anchor < 0)))
    columns = ["model_a", "model_b", "half", "gap_full", "gap_anchor", "reversed"]
    return pd.DataFrame(rows, columns=columns)


def _thresholds(pairs: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows, rates = [], []
    for band in BANDS:
        inside = pairs[pairs["gap_full"].abs() <= band + 1e-12]
        eligible = inside[inside["gap_anchor"] != 0]
        n = len(eligible)
        row: dict[str, Any] = {
            "epsilon": band,
            "n_band": len(inside),
            "n_tied": len(inside) - n,
            "n_eligible": n,
            "n_random_undefined": 0,
            "n_bootstrap_undefined": 0,
        }
        if n:
            rate = eligible["reversed"].mean()
            random = rng.binomial(n, max(0.05, rate - 0.12), CONTROLS) / n
            median = float(np.median(random))
            row |= {
                "rate": rate,
                "random_median": median,
                "random_low": float(np.quantile(random, 0.025)),
                "random_high": float(np.quantile(random, 0.975)),
                "excess_pp": 100 * (rate - median),
                "p_value": (1 + (random >= rate).sum()) / (CONTROLS + 1),
                "range_low": max(0.0, rate - 0.1),
                "range_high": rate + 0.08,
            }
            rates.append(
                pd.DataFrame({"replicate": range(CONTROLS), "epsilon": band, "rate": random})
            )
        rows.append(row)
    return pd.DataFrame(rows), pd.concat(rates, ignore_index=True)


def _items(rng: np.random.Generator) -> pd.DataFrame:
    parts = []
    for half in (0, 1):
        n = 40
        constant = np.zeros(n, dtype=int)
        constant[:2] = 1 - half
        easiness = np.where(constant == 1, np.nan, rng.normal(size=n))
        parts.append(
            pd.DataFrame(
                {
                    "item": [f"q{i}" for i in range(n)],
                    "source": "s",
                    "half": half,
                    "cell": "s|0",
                    "easiness": easiness,
                    "dif_range": np.where(constant == 1, 0.0, rng.gamma(3, 0.3, n)),
                    "anchor": np.arange(n) % 2,
                    "weight": 2.0 * (np.arange(n) % 2),
                    "constant": constant,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _dimension() -> pd.DataFrame:
    k = np.array([1, 2, 4, 8, 16])
    loss = np.array([0.60, 0.57, 0.552, 0.55, 0.551])
    curve = pd.DataFrame({"k": k, "loss": loss, "se": 0.004})
    curve = curve.assign(difference=loss - loss.min(), difference_se=0.001)
    return pd.concat(
        [
            curve.assign(half=half, selected=(k == chosen).astype(int))
            for half, chosen in ((0, 4), (1, 8))
        ],
        ignore_index=True,
    )


def _rounds() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "half": half,
                "round": number,
                "k": (4, 8)[half],
                "n_anchor": 100,
                "jaccard": overlap,
                "n_iteration": 10 + number,
                "largest_update": 2.5e-9,
                "converged": 1,
                "n_constant": 2 - 2 * half,
            }
            for half, overlaps in enumerate(((np.nan, 0.71, 0.85), (np.nan, 0.8, 1.0)))
            for number, overlap in enumerate((*overlaps, np.nan), start=1)
        ]
    )


def without_pairs(audit: NearTieAudit) -> NearTieAudit:
    """The same audit where no pair lies in any band."""
    undefined = {
        name: np.nan
        for name in audit.thresholds.columns
        if not name.startswith("n_") and name != "epsilon"
    }
    return replace(
        audit,
        thresholds=audit.thresholds.assign(n_band=0, n_tied=0, n_eligible=0, **undefined),
        pairs=audit.pairs.iloc[:0],
        random_rates=audit.random_rates.assign(rate=np.nan),
        n_eligible=0,
        tau_b=None,
        all_pairs_rate=None,
    )


@pytest.fixture(scope="session")
def audit() -> NearTieAudit:
    return make_audit()


@pytest.fixture(scope="session")
def real_audit() -> NearTieAudit:
    """The bundled example, with few replicates."""
    return audit_near_ties(load_example(), AuditSettings(controls=60, bootstraps=40), rng=3)


@pytest.fixture(scope="session")
def audit_without_pairs(audit: NearTieAudit) -> NearTieAudit:
    return without_pairs(audit)


@pytest.fixture(scope="session")
def audit_given_dimension(audit: NearTieAudit) -> NearTieAudit:
    return replace(audit, dimension=audit.dimension.iloc[:0], settings={"dimension": [4, 8]})


@pytest.fixture(scope="session")
def audit_without_controls(audit: NearTieAudit) -> NearTieAudit:
    names = ["random_median", "random_low", "random_high", "excess_pp", "p_value"]
    names += ["range_low", "range_high"]
    empty = pd.DataFrame({"replicate": [], "epsilon": [], "rate": []})
    return replace(
        audit,
        thresholds=audit.thresholds.assign(**dict.fromkeys(names, np.nan)),
        random_rates=empty,
    )


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="session")
def audit_hostile(hostile: str) -> NearTieAudit:
    """Every text that can come from data is hostile."""
    made = make_audit(families=(hostile, "_hidden $x$", "Llama"))
    return replace(
        made,
        excluded=pd.DataFrame({"model": [hostile], "reason": [f"because {hostile}"]}),
        warnings=(f"Caveat about {hostile}.",),
        settings=made.settings | {hostile: [hostile]},
        versions={"neartie": "9.8.7", hostile: hostile},
        items=made.items.assign(source=hostile),
    )
