"""Simulations of the content audit: annotators' labels, drawn; p-values, by replicate."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neartie.audits.content_analysis import analyse_content
from neartie.audits.content_axes import ContentAxes
from neartie.audits.content_families import associate_families
from neartie.audits.signed_ranks import signed_rank_test


def content_study(
    replicates: int, *, difference: float = 0.0, seed: int = 1, n_pairs: int = 250
) -> pd.DataFrame:
    """Return, by replicate, smallest p and q, Wilcoxon's p, and whether an axis was confirmed.

    Two annotators see the same true label and err in one label of ten. `difference` is how much
    more often high items truly have the first axis.
    """
    axes, rng = ContentAxes(), np.random.default_rng(seed)
    key = content_key(n_pairs)
    high = (key["group"] == "high").to_numpy()
    rows = []
    for _ in range(replicates):
        truth = {}
        for i, axis in enumerate(axes.binary):
            chance = np.where(high & (i == 0), 0.3 + difference, 0.3)
            truth[axis] = rng.random(len(key)) < chance
        score = {axis: rng.integers(0, 4, size=len(key)) for axis in axes.ordinal}
        labels = {}
        for name in ("A", "B"):
            binary = {a: (t ^ (rng.random(len(key)) < 0.1)).astype(float) for a, t in truth.items()}
            ordinal = {a: s.astype(float) for a, s in score.items()}
            labels[name] = key[["blind_id"]].assign(**binary, **ordinal)
        found = analyse_content(key, labels)
        mine = found.binary[found.binary["annotator"] == "A"].set_index("axis")
        rows.append(
            {
                "mcnemar": mine["p_value"].iloc[1],
                "any_q": mine["q_value"].min(),
                "planted_q": mine["q_value"].iloc[0],
                "wilcoxon": found.ordinal["p_value"].iloc[0],
                "confirmed": found.passes,
            }
        )
    return pd.DataFrame(rows)


def wilcoxon_study(replicates: int, *, n_pairs: int = 250, seed: int = 77) -> np.ndarray:
    """Return p-values of Wilcoxon's test of paired scores of 0 to 3 without a difference."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, size=(replicates, 2, n_pairs))
    return np.array([signed_rank_test(high - control).p_value for high, control in scores])


def family_study(
    replicates: int, *, lean: float = 0.0, permutations: int = 199, seed: int = 1
) -> np.ndarray:
    """Return p-values of the family association of one axis.

    Families are uneven, and so are benchmarks in their families and in the share of the label;
    `lean` adds to that share in the first family.
    """
    axes = ContentAxes(binary={"code": "holds code"}, ordinal={})
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(replicates):
        key = content_key(250)
        bench = key["benchmark"].str[-1].astype(int).to_numpy()
        favour = np.where(rng.random(len(key)) < 0.2 + 0.1 * bench, "Ash", "Birch").astype(object)
        favour[rng.random(len(key)) < 0.2] = "Cedar"
        favour[rng.random(len(key)) < 0.37] = ""
        key = key.assign(advantaged=favour)
        share = 0.1 + 0.12 * bench + lean * (favour == "Ash")
        label = (rng.random(len(key)) < share).astype(float)
        labels = {"A": key[["blind_id"]].assign(code=label)}
        table = associate_families(key, labels, axes=axes, permutations=permutations, rng=rng).table
        found.append(table["p_value"].iloc[0])
    return np.array(found)


def content_key(n_pairs: int) -> pd.DataFrame:
    """Return a key of five benchmarks."""
    pair = np.repeat(np.arange(n_pairs), 2)
    return pd.DataFrame(
        {
            "blind_id": [f"b{i:04d}" for i in range(2 * n_pairs)],
            "benchmark": [f"bench{p % 5}" for p in pair],
            "pair": pair,
            "group": ["high", "control"] * n_pairs,
            "item": [f"q{i}" for i in range(2 * n_pairs)],
            "advantaged": "",
        }
    )
